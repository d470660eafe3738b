//! Host state of the instances of one asset: placements, pins, targets, and the GPU data
//! (`shaders/instancing/instances.wgsl`).
//!
//! The asset is compiled once. Each instance has a row of [`ROW_WORDS`] words. An instance with its own pins or targets
//! also has a block of words with its tethers and targets. [`crate::gpu::Instances`] owns an [`InstancePool`] and
//! uploads its changes.

use crate::error::{Error, Result};
use crate::instancing::asset::{Asset, MOST_THREADS};
use crate::instancing::checks::{check_asset, check_settings, check_words, in_tiles, most_constraints};
use crate::instancing::{Instance, InstanceId, Placement};
use crate::scene::{Scene, TetherRow};
use crate::schedule::coloring::HUB_DEGREE;
use crate::schedule::compiled::{MAX_LOOP, Purpose};
use crate::schedule::plan::Pass;
use crate::settings::{Settings, Wind, check_moderate};
use crate::sim::controls::Controls;
use crate::sim::params::gust_wave;
use glam::Vec3;
use std::sync::atomic::{AtomicU32, Ordering};

/// Words of the row of an instance: position, scale; rotation; wind velocity, offset of its tethers; wave vector of its
/// gusts, offset of its targets or 0.
pub(crate) const ROW_WORDS: usize = 16;

/// Words of a target: position, 1 if it is set.
pub(super) const TARGET_WORDS: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Slot {
    generation: u32,
    /// Index in `live`; `None` if the slot is free.
    place: Option<u32>,
    pub(super) placement: Placement,
    velocity: [f32; 3],
    wind: [f32; 3],
    pub(super) own: Option<Own>,
}

/// State of an instance with its own pins or targets.
#[derive(Debug)]
pub(super) struct Own {
    block: u32,
    pub(super) pinned: Vec<bool>,
}

/// Offsets of the sections of the words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub tethers: usize,
    pub rings: usize,
    pub corners: usize,
    /// The contact material of each particle, then its scales if there are any.
    pub contacts: usize,
    /// The slots of all instances, as in `live`.
    pub live: usize,
    pub slots: usize,
    pub blocks: usize,
    /// Number of words of a block, and of the tethers at its begin.
    pub block: usize,
    pub block_tethers: usize,
}

/// See the [module documentation](self).
#[derive(Debug)]
pub(crate) struct InstancePool {
    /// Number of this pool; its ids contain it.
    owner: u32,
    /// State of the asset.
    pub controls: Controls,
    pub asset: Asset,
    pub capacity: u32,
    pub(super) slots: Vec<Slot>,
    free: Vec<u32>,
    /// The slots of all instances.
    pub live: Vec<u32>,
    /// All words of the GPU buffer; before the first `grow`, those of the asset alone.
    pub words: Vec<u32>,
    pub places: Places,
    free_blocks: Vec<u32>,
    block_count: u32,
}

impl InstancePool {
    pub fn new(asset: &Scene, capacity: u32, settings: Settings) -> Result<Self> {
        check_asset(asset)?;
        check_settings(&settings)?;
        let controls = Controls::made_for(asset, in_tiles(settings), Purpose::Asset)?;
        let count = asset.particle_count();
        // Factor 2: the shader also numbers two rows per particle.
        let all = u64::from(capacity) * (count as u64 + 1);
        if capacity == 0 || all >= 1 << 31 {
            let range = "at least 1, with fewer than 2³¹ particles in all instances";
            return Err(Error::invalid(format!("capacity of instances of {count} particles each"), capacity, range));
        }
        if controls.compiled.kinds.iter().any(|kind| !kind.split.is_empty()) {
            return Err(Error::TooLarge {
                what: "constraints of a kind at one particle of an asset that is instanced",
                count: most_constraints(asset),
                limit: HUB_DEGREE as u64,
            });
        }
        let asset = Asset::new(&controls.compiled);
        let mut words = asset.words.clone();
        let tethers = words.len();
        let rows: &[u32] = bytemuck::cast_slice(&controls.tether_rows);
        words.extend(rows);
        let rings = words.len();
        words.extend(&controls.compiled.rings.offsets);
        let corners = words.len();
        words.extend(controls.compiled.rings.corners.iter().flatten());
        let contacts = words.len();
        words.extend((0..count as u32).map(|particle| controls.compiled.contact_elements.material(particle)));
        words.extend(&controls.scene.contact_scales);
        let live = words.len();
        let slots = live + capacity as usize;
        let blocks = slots + capacity as usize * ROW_WORDS;
        let block = rows.len() + count * TARGET_WORDS;
        let places =
            Places { tethers, rings, corners, contacts, live, slots, blocks, block, block_tethers: rows.len() };
        static OWNERS: AtomicU32 = AtomicU32::new(0);
        let pool = Self {
            owner: OWNERS.fetch_add(1, Ordering::Relaxed),
            controls,
            asset,
            capacity,
            slots: Vec::new(),
            free: Vec::new(),
            live: Vec::new(),
            words,
            places,
            free_blocks: Vec::new(),
            block_count: 0,
        };
        pool.check_loop_iterations()?;
        Ok(pool)
    }

    pub fn particle_count(&self) -> usize {
        self.controls.scene.particle_count()
    }

    /// True if any constraint is solved in a tile.
    pub fn has_tiles(&self) -> bool {
        Asset::has_tiles(&self.controls.compiled)
    }

    /// Number of threads of an instance, for this subgroup width.
    pub fn threads(&self, subgroup: usize) -> usize {
        self.asset.threads(self.has_tiles(), subgroup, |threads| {
            self.loop_iterations(threads, self.controls.settings.substeps, 0)
        })
    }

    /// Maximum number of loop iterations of a thread in a dispatch of this number of substeps, with `threads` threads per
    /// instance and `extra` iterations per substep.
    pub(super) fn loop_iterations(&self, threads: usize, substeps: u32, extra: u64) -> u64 {
        let Controls { settings, compiled, .. } = &self.controls;
        let settings = &Settings { substeps, ..*settings };
        let accelerated = self.controls.plan.begin.contains(&Pass::Accelerations);
        // The noise loop of turbulence.
        let noise = if settings.wind.is_some_and(|wind| wind.turbulence > 0.0) { 5 } else { 0 };
        let fields = 1 + u64::from(self.controls.params().field_count);
        // The threads of a subgroup iterate as often as the slowest of them, for each particle.
        let iterations_of = |particle: usize| {
            let corners = if compiled.rings.is_empty() { 0 } else { compiled.rings.around(particle).len() as u64 };
            2 + fields + corners * (1 + noise)
        };
        let count = if accelerated { self.particle_count() } else { 0 };
        let most_iterations = |first: usize| (first..count.min(first + threads)).map(iterations_of).max().unwrap_or(0);
        // The loop over pins, and that of the accelerations.
        let more = 1 + count.div_ceil(threads) as u64 + (0..count).step_by(threads).map(most_iterations).sum::<u64>();
        self.asset.loop_iterations(threads, settings, compiled.most_tethers, more + extra)
    }

    /// `Ok` if the loop iterations of a thread are within the limit.
    fn check_loop_iterations(&self) -> Result<()> {
        let iterations = self.loop_iterations(MOST_THREADS, self.controls.settings.substeps, 0);
        if iterations <= MAX_LOOP {
            return Ok(());
        }
        let what = "loop iterations of a thread that runs a step of an instance";
        Err(Error::TooLarge { what, count: iterations, limit: MAX_LOOP })
    }

    /// Also rewrites the rows of all instances, which contain the wind.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        check_settings(&settings)?;
        let before = self.controls.settings;
        self.controls.set_settings(in_tiles(settings))?;
        if let Err(error) = self.check_loop_iterations().and_then(|()| self.check_collider_iterations()) {
            self.controls.set_settings(before)?;
            return Err(error);
        }
        for place in 0..self.live.len() {
            self.write_row(self.live[place]);
        }
        Ok(())
    }

    pub fn id(&self, slot: u32) -> Option<InstanceId> {
        let found = self.slots.get(slot as usize)?;
        found.place.map(|_| InstanceId { slot, generation: found.generation, owner: self.owner })
    }

    /// The slot of an existing instance.
    pub fn slot(&self, id: InstanceId) -> Result<u32> {
        if self.id(id.slot) == Some(id) {
            return Ok(id.slot);
        }
        Err(Error::NoInstance { slot: id.slot, generation: id.generation })
    }

    pub fn placement(&self, slot: u32) -> Placement {
        self.slots[slot as usize].placement
    }

    /// `Ok` if the instances can be spawned; `number` in errors is their index in `instances`.
    pub fn check(&self, instances: &[Instance]) -> Result<()> {
        if instances.len() > self.capacity as usize - self.live.len() {
            let (count, capacity) = (self.live.len() as u64 + instances.len() as u64, self.capacity);
            return Err(Error::CapacityExceeded { count, capacity });
        }
        for (number, instance) in instances.iter().enumerate() {
            let of = |what: &str| format!("{what} of instance {number} to be spawned");
            instance.placement.check(&format!("instance {number} to be spawned"))?;
            check_moderate(&of("velocity"), instance.velocity)?;
            check_moderate(&of("wind"), instance.wind)?;
            self.controls.check_pins(instance.pinned.as_deref().unwrap_or_default(), true)?;
        }
        Ok(())
    }

    /// Number of blocks that the instances need beyond the free ones.
    pub fn blocks_short(&self, instances: &[Instance]) -> u32 {
        let needed = instances.iter().filter(|instance| self.pins_of(instance).is_some()).count() as u32;
        needed.saturating_sub(self.free_blocks.len() as u32)
    }

    /// 1 if the instance needs a block and none is free, else 0.
    pub fn block_short(&self, slot: u32) -> u32 {
        u32::from(self.slots[slot as usize].own.is_none() && self.free_blocks.is_empty())
    }

    /// New numbers of blocks for at least `more` further ones: doubled if possible, and the minimum.
    pub fn larger(&self, more: u32) -> [u32; 2] {
        let least = self.block_count + more;
        [least.max(2 * self.block_count).max(4).min(self.capacity).max(least), least]
    }

    pub fn words_with(&self, block_count: u32) -> usize {
        self.places.blocks + block_count as usize * self.places.block
    }

    /// Size of the words [bytes]; an error if the shader cannot index them.
    pub fn bytes_with(&self, block_count: u32) -> Result<u64> {
        check_words("words of all rows of instances and of their own pins", self.words_with(block_count) as u64)
    }

    /// Resizes the words to the rows and this number of blocks.
    pub fn grow(&mut self, block_count: u32) {
        self.words.resize(self.words_with(block_count), 0);
        // The last entry, the lowest block, is taken first.
        self.free_blocks.splice(0..0, (self.block_count..block_count).rev());
        self.block_count = block_count;
    }

    /// Pinned particles of an instance; `None` if they are those of the asset.
    fn pins_of(&self, instance: &Instance) -> Option<Vec<bool>> {
        let given = instance.pinned.as_ref()?;
        let scene = &self.controls.scene;
        let mut pinned: Vec<bool> = scene.inverse_masses.iter().map(|&w| w == 0.0).collect();
        given.iter().for_each(|&particle| pinned[particle as usize] = true);
        let other = (0..).zip(&pinned).any(|(particle, &pinned)| pinned != scene.is_pinned(particle));
        other.then_some(pinned)
    }

    /// Puts an instance in a slot and appends the slot to `live`. The caller has validated it and provided blocks.
    pub fn spawn(&mut self, instance: &Instance) -> InstanceId {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        if slot as usize == self.slots.len() {
            self.slots.push(Slot::default());
        }
        let pinned = self.pins_of(instance);
        let place = self.live.len() as u32;
        self.live.push(slot);
        self.words[self.places.live + place as usize] = slot;
        let generation = self.slots[slot as usize].generation;
        let Instance { placement, velocity, wind, .. } = *instance;
        self.slots[slot as usize] = Slot { generation, place: Some(place), placement, velocity, wind, own: None };
        if let Some(pinned) = pinned {
            self.make_own(slot, pinned);
            self.tie(slot, None);
        }
        self.write_row(slot);
        InstanceId { slot, generation, owner: self.owner }
    }

    /// Removes an instance; returns its index in `live`, where the last one is moved.
    pub fn remove(&mut self, slot: u32) -> usize {
        let gone = &mut self.slots[slot as usize];
        gone.generation = gone.generation.wrapping_add(1);
        self.free_blocks.extend(gone.own.take().map(|own| own.block));
        let place = gone.place.take().unwrap_or_default() as usize;
        self.live.swap_remove(place);
        if let Some(&moved) = self.live.get(place) {
            self.slots[moved as usize].place = Some(place as u32);
            self.words[self.places.live + place] = moved;
        }
        self.free.push(slot);
        place
    }

    pub(super) fn make_own(&mut self, slot: u32, pinned: Vec<bool>) {
        // The caller has provided a block.
        let Some(block) = self.free_blocks.pop() else { return };
        let at = self.words_with(block);
        let asset = self.places.tethers..self.places.tethers + self.places.block_tethers;
        self.words.copy_within(asset, at);
        self.words[at + self.places.block_tethers..at + self.places.block].fill(0);
        self.slots[slot as usize].own = Some(Own { block, pinned });
    }

    /// The range of an instance's block; empty if it has none.
    pub fn own_words(&self, slot: u32) -> std::ops::Range<usize> {
        let own = self.slots[slot as usize].own.as_ref();
        own.map_or(0..0, |own| self.words_with(own.block)..self.words_with(own.block + 1))
    }

    pub fn row_words(&self, slot: u32) -> std::ops::Range<usize> {
        let at = self.places.slots + slot as usize * ROW_WORDS;
        at..at + ROW_WORDS
    }

    /// Recomputes the tethers of an instance for its own pins: all, or those of the bodies of `changed` particles.
    pub(super) fn tie(&mut self, slot: u32, changed: Option<&[u32]>) {
        let words = self.own_words(slot);
        let words = words.start..(words.start + self.places.block_tethers).min(words.end);
        let Some(own) = &self.slots[slot as usize].own else { return };
        let rows: &mut [TetherRow] = bytemuck::cast_slice_mut(&mut self.words[words]);
        let graph = &self.controls.tether_graph;
        let is_pinned = |particle: u32| own.pinned[particle as usize];
        match changed {
            Some(changed) => graph.retie(rows, changed, is_pinned),
            None => rows.copy_from_slice(&graph.tie(is_pinned)),
        }
    }

    pub(super) fn write_row(&mut self, slot: u32) {
        let words = self.row_words(slot);
        let (own, found) = (self.own_words(slot).start, &self.slots[slot as usize]);
        let [place, rotation] = found.placement.rows();
        let wind = self.controls.settings.wind.map_or(Wind::default(), |wind| {
            let velocity = (Vec3::from(wind.velocity) + Vec3::from(found.wind)).into();
            Wind { velocity, ..wind }
        });
        let [x, y, z] = wind.velocity.map(f32::to_bits);
        let [a, b, c] = gust_wave(&wind).map(f32::to_bits);
        let ends = if own == 0 { [self.places.tethers, 0] } else { [own, own + self.places.block_tethers] };
        let [tethers, targets] = ends.map(|word| word as u32);
        let rows = [place.map(f32::to_bits), rotation.map(f32::to_bits), [x, y, z, tethers], [a, b, c, targets]];
        self.words[words].copy_from_slice(rows.as_flattened());
    }

    pub fn set_wind(&mut self, slot: u32, wind: [f32; 3]) -> Result<()> {
        check_moderate(&format!("wind of the instance in slot {slot}"), wind)?;
        self.slots[slot as usize].wind = wind;
        self.write_row(slot);
        Ok(())
    }

    /// Appends the initial positions with inverse masses, and the initial velocities, marked as set by the user.
    pub fn push_start(&self, slot: u32, positions: &mut Vec<[f32; 4]>, velocities: &mut Vec<[f32; 4]>) {
        let Slot { placement, velocity, .. } = &self.slots[slot as usize];
        let (rotation, scale) = (placement.rotation(), placement.scale);
        let (origin, common) = (Vec3::from(placement.position), Vec3::from(*velocity));
        let scene = &self.controls.scene;
        for (particle, (&x, &v)) in (0..).zip(scene.positions.iter().zip(&scene.velocities)) {
            let x = origin + rotation * (Vec3::from(x) * scale);
            positions.push(x.extend(self.inverse_mass(slot, particle)).into());
            // A pinned particle would keep moving at this velocity.
            let common = if self.is_pinned(slot, particle) { Vec3::ZERO } else { common };
            velocities.push((rotation * (Vec3::from(v) * scale) + common).extend(1.0).into());
        }
    }
}
