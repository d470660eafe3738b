//! A scene made ready to run: records sorted by colour, what is solved at once split, triangles gathered per particle.
//!
//! Cooking happens once; both players read the result. What changes while running (pins, targets, materials, settings)
//! lives in [`crate::controls`].

use crate::collide::Contacting;
use crate::coloring::{Coloring, Span};
use crate::error::{Error, Result};
use crate::kinds::{KindInfo, group};
use crate::patches::Patching;
use crate::scene::{ConstraintSet, Follower, Scene, Skins, TetherGraph, grouped, rows_of};
use crate::settings::{Execution, Settings, Sweep};
use crate::stars::Stars;
use crate::tiling::Tiling;
use crate::whole::{Batches, Whole};

/// The constraints of a kind that a Gauss-Seidel sweep solves by mass splitting, besides the overflow: inequalities at crowded particles, which
/// no star can solve.
pub(crate) fn split_at_once(set: &ConstraintSet, scene: &Scene) -> Vec<u32> {
    if set.info.unilateral { Stars::new(set, scene, 0, &[]).order } else { Vec::new() }
}

/// The longest loop that one GPU thread may run: Mesa's software driver ends every loop of an invocation after 65 535
/// turns in all, without a word.
pub(crate) const MAX_LOOP: u64 = 60_000;

/// The fewest constraints for which [`Execution::Auto`] makes tiles: their shaders take a second or so to compile.
const WORTH_TILING: usize = 4096;

/// What 28 bits can name.
const MOST_TETHERS: u64 = 1 << 28;

/// How many contributions one thread sums for a hub.
const CHUNK: u32 = 64;

/// What both players read.
#[derive(Debug, Clone)]
pub(crate) struct Cooked {
    /// One entry a kind of [`crate::kinds::KINDS`].
    pub kinds: Vec<CookedKind>,
    /// Where all constraints are solved body by body.
    pub whole: Option<Whole>,
    /// What bodies that are solved whole belong to.
    batches: Batches,
    pub rings: Rings,
    /// The most tethers that a particle has.
    pub most_tethers: u32,
    /// For each particle its first tether · 16 + how many it has.
    pub tether_runs: Vec<u32>,
    /// Whether every particle has so many, one after another.
    pub all_tethered: bool,
    /// First particle and particle count of each body.
    pub bodies: Vec<[u32; 2]>,
    pub followers: Vec<Follower>,
    pub skins: Skins,
    pub contacting: Contacting,
}

/// The constraints of one kind, sorted by colour.
#[derive(Debug, Clone)]
pub(crate) struct CookedKind {
    pub info: &'static KindInfo,
    pub records: Vec<u32>,
    /// Of groups: the rows of their members, and how many members there are.
    pub rows: Vec<[u32; 4]>,
    pub slot_count: u32,
    /// How many threads solve one group: 1, or [`group::LANES`].
    pub lanes: usize,
    /// What is solved in tiles; its records come first, but for what is solved body by body, which leaves nothing else.
    pub tiling: Tiling,
    /// The links that are solved in stars; their records come next.
    pub stars: Stars,
    /// What is solved in patches; its records come next.
    pub patching: Patching,
    /// What is in neither.
    pub coloring: Coloring,
    /// How many colours of stars and of constraints come before those within skins.
    pub outside: Colors,
    pub split: Split,
}

/// Numbers of colours.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Colors {
    pub stars: usize,
    pub constraints: usize,
}

/// How constraints are solved at once: *mass splitting* (Tonge, Benevolenski, Voroshilov 2012). For the overflow of a
/// colouring, or for all constraints of a kind in a Jacobi sweep.
///
/// A particle with n of these constraints counts as n particles of an n-th of its mass, one in each constraint. All
/// constraints are then independent and projected at once; the particle moves to the mean of its parts. The whole keeps
/// momentum, cannot overshoot, and takes three dispatches for any number of constraints: project the parts, sum the
/// impulses in chunks, sum the chunks. A fixed order of summation keeps it deterministic.
#[derive(Debug, Clone, Default)]
pub(crate) struct Split {
    /// The records that are split: all from the first of them on.
    pub span: Span,
    /// n for each particle of each of these records; groups have it in the rows of their members.
    pub shares: Vec<f32>,
    /// Places in the impulses, grouped by particle.
    pub slots: Vec<u32>,
    /// Runs of `slots`: first, count.
    pub chunks: Vec<[u32; 2]>,
    /// Particle, first chunk, chunk count, 0.
    pub hubs: Vec<[u32; 4]>,
}

/// The triangles around each particle: the other two corners of each, in the triangle's direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rings {
    /// Particle p has the corners `offsets[p]..offsets[p + 1]`.
    pub offsets: Vec<u32>,
    pub corners: Vec<[u32; 2]>,
}

impl Cooked {
    pub fn new(scene: &Scene, settings: &Settings, batches: Batches) -> Result<Self> {
        let particle_count = scene.particle_count();
        let mut tether_runs = vec![0; particle_count];
        let (mut next, mut most_tethers) = (0u32, 0);
        for (first, count, per_particle) in TetherGraph::runs(scene) {
            let rows = rows_of(per_particle);
            most_tethers = per_particle.max(most_tethers);
            for particle in first..first + count {
                tether_runs[particle as usize] = next << 4 | per_particle;
                next += rows;
            }
        }
        let run_of = |particle: usize| (particle as u32 * rows_of(most_tethers)) << 4 | most_tethers;
        let all_tethered = tether_runs.iter().enumerate().all(|(particle, &run)| run == run_of(particle));
        let bodies: Vec<[u32; 2]> = scene.bodies.iter().map(|body| [body.start, body.len() as u32]).collect();
        let rings = Rings::new(&scene.triangles, particle_count)?;
        let skins = Skins::new(&scene.constraints, particle_count);
        let (kinds, whole) = Self::cook_kinds(&scene.constraints, scene, settings, (&skins, &tether_runs), batches)?;
        Ok(Self {
            kinds,
            whole,
            batches,
            rings,
            most_tethers,
            tether_runs,
            all_tethered,
            bodies,
            followers: scene.followers.clone(),
            skins,
            contacting: Contacting::new(scene),
        })
    }
}

impl Cooked {
    /// Spreads the constraints of all kinds over the threads.
    fn cook_kinds(
        sets: &[ConstraintSet],
        scene: &Scene,
        settings: &Settings,
        (skins, tether_runs): (&Skins, &[u32]),
        batches: Batches,
    ) -> Result<(Vec<CookedKind>, Option<Whole>)> {
        let has_stars = || sets.iter().any(|set| !Stars::new(set, scene, 0, &[]).is_empty());
        let fits = settings.whole() && (batches == Batches::Asset || !has_stars());
        let make = || Whole::new(sets, scene.particle_count(), &scene.grids, tether_runs, batches);
        let whole = fits.then(make).flatten();
        let orders = |kind: usize| whole.as_ref().map_or(&[][..], |whole| &whole.orders[kind]);
        let cook = |(kind, set): (usize, &ConstraintSet)| {
            let is_swept = settings.sweep == Sweep::GaussSeidel && whole.is_none();
            let split = if is_swept { split_at_once(set, scene) } else { Vec::new() };
            let skin = if is_swept { skins.constraints_of(set) } else { Vec::new() };
            CookedKind::new(set, scene, settings, orders(kind), [&skin, &split])
        };
        Ok((sets.iter().enumerate().map(cook).collect::<Result<_>>()?, whole))
    }

    /// The same for other settings, with the parameters that the constraints have now.
    pub fn spread_anew(&mut self, scene: &Scene, settings: &Settings) -> Result<()> {
        let sets: Vec<_> = self.kinds.iter().map(CookedKind::constraints).collect();
        (self.kinds, self.whole) =
            Self::cook_kinds(&sets, scene, settings, (&self.skins, &self.tether_runs), self.batches)?;
        Ok(())
    }

    /// The most rows of two tethers that any particle has.
    pub fn tether_rows(&self) -> u32 {
        rows_of(self.most_tethers) / 2
    }

    /// Whether there is room for the tethers of a scene.
    pub fn check_tethers(scene: &Scene) -> Result<()> {
        let rows = TetherGraph::runs(scene)
            .map(|(_, count, per_particle)| u64::from(count) * u64::from(rows_of(per_particle)));
        let (count, limit) = (rows.sum(), MOST_TETHERS);
        if count <= limit { Ok(()) } else { Err(Error::TooLarge { what: "tethers", count, limit }) }
    }

    /// Whether no thread that damps a body or restores the momentum of a skin turns more often than it may: three rounds over the particles.
    pub fn check_bodies(&self, settings: &Settings) -> Result<()> {
        let damped = if settings.body_damping > 0.0 { &self.bodies[..] } else { &[] };
        let limit = MAX_LOOP / 3 * group::LANES as u64;
        for (what, rows) in
            [("particles of a body that is damped", damped), ("particles of closed surfaces", &self.skins.rows)]
        {
            let count = rows.iter().map(|&[_, count]| u64::from(count)).max().unwrap_or(0);
            if count > limit {
                return Err(Error::TooLarge { what, count, limit });
            }
        }
        Ok(())
    }
}

impl CookedKind {
    /// Those of `whole` are solved body by body, and come first; those of `skin` by colours and stars of their own; those of `split` by mass
    /// splitting, and come last.
    pub fn new(
        set: &ConstraintSet,
        scene: &Scene,
        settings: &Settings,
        whole: &[u32],
        [skin, split]: [&[u32]; 2],
    ) -> Result<Self> {
        let info = set.info;
        let mut tiling = if settings.tiles() { Tiling::new(set, &scene.grids) } else { Tiling::default() };
        let is_small = settings.execution == Execution::Auto && tiling.order.len() < WORTH_TILING;
        let apart = [skin, split].concat();
        let mut is_apart = vec![false; set.len()];
        apart.iter().for_each(|&constraint| is_apart[constraint as usize] = true);
        if is_small || tiling.order.iter().any(|&constraint| is_apart[constraint as usize]) {
            tiling = Tiling::default();
        }
        let mut clustered = [whole, &tiling.order].concat();
        let (mut stars, mut outside) = (Stars::default(), Colors::default());
        if settings.sweep == Sweep::GaussSeidel && whole.is_empty() && !info.unilateral {
            stars = Stars::new(set, scene, clustered.len() as u32, &[&clustered[..], &apart].concat());
            outside.stars = stars.colors.len();
            if !skin.is_empty() {
                let taken: Vec<u32> =
                    (0..set.len() as u32).filter(|index| skin.binary_search(index).is_err()).collect();
                stars.extend(Stars::new(set, scene, (clustered.len() + stars.order.len()) as u32, &taken));
            }
        }
        clustered.extend(&stars.order);
        let patching = if settings.patches() {
            Patching::new(set, scene.particle_count(), clustered.len(), &[&clustered[..], &apart].concat())
        } else {
            Patching::default()
        };
        clustered.extend(&patching.order);
        let (coloring, constraints) = set.coloring(scene.particle_count(), &clustered, skin, split);
        outside.constraints = constraints;
        let mut records = Vec::with_capacity(set.words.len());
        for &constraint in &coloring.order {
            let first = constraint as usize * info.record_words;
            records.extend_from_slice(&set.words[first..first + info.record_words]);
        }
        let lanes = lanes(set);
        let (rows, slot_count) = (set.rows.clone(), set.slot_count);
        let mut kind = Self {
            info,
            records,
            rows,
            slot_count,
            lanes,
            tiling,
            stars,
            patching,
            coloring,
            outside,
            split: Split::default(),
        };
        if info.is_group() {
            kind.check_loops()?;
        }
        kind.split(scene.particle_count(), settings.sweep)?;
        Ok(kind)
    }

    /// The constraints in the order in which they were added, with the parameters that they have now.
    pub fn constraints(&self) -> ConstraintSet {
        let size = self.info.record_words;
        let mut words = vec![0; self.records.len()];
        for (place, &constraint) in self.coloring.order.iter().enumerate() {
            words[constraint as usize * size..][..size].copy_from_slice(self.record(place));
        }
        ConstraintSet { info: self.info, words, rows: self.rows.clone(), slot_count: self.slot_count }
    }

    /// Whether any constraint is solved by its colour.
    pub fn has_colors(&self) -> bool {
        !self.coloring.colors.is_empty() && self.split.span.count < self.len() as u32
    }

    /// Whether any is solved in a tile.
    pub fn has_tiles(&self) -> bool {
        !self.tiling.is_empty() && self.split.span.count < self.len() as u32
    }

    /// Whether any colour is of constraints within skins.
    pub fn has_skins(&self) -> bool {
        self.outside.stars < self.stars.colors.len() || self.outside.constraints < self.coloring.colors.len()
    }

    /// Whether any pass reads the records.
    pub fn needs_records(&self) -> bool {
        self.split.span.count > 0 || !self.tiling.holds_all(self.len())
    }

    /// Whether any is solved in a patch.
    pub fn has_patches(&self) -> bool {
        !self.patching.is_empty() && self.split.span.count < self.len() as u32
    }

    pub fn len(&self) -> usize {
        self.coloring.order.len()
    }

    pub fn record(&self, place: usize) -> &[u32] {
        &self.records[place * self.info.record_words..][..self.info.record_words]
    }

    /// The places in the impulses that belong to a record, in the order of its particles.
    pub fn slots(&self, place: usize) -> std::ops::Range<usize> {
        let (first, count) = if self.info.is_group() {
            (self.record(place)[2] as usize, self.record(place)[1] as usize)
        } else {
            ((place - self.split.span.first as usize) * self.info.arity, self.info.arity)
        };
        first..first + count
    }

    /// How many impulses there are room for.
    pub fn impulse_count(&self) -> usize {
        if self.info.is_group() { self.slot_count as usize } else { self.split.shares.len() }
    }

    /// How groups are turned at the start, one a record; none for other kinds.
    pub fn initial_rotations(&self, positions: &[[f32; 3]]) -> Vec<group::Rotation> {
        let groups = if self.info.is_group() { 0..self.len() } else { 0..0 };
        groups.map(|place| group::initial_rotation(self.record(place), &self.rows, positions)).collect()
    }

    /// Splits what the sweep solves at once.
    pub fn split(&mut self, particle_count: usize, sweep: Sweep) -> Result<()> {
        self.split = Split::default();
        self.split.span = match sweep {
            Sweep::GaussSeidel => self.coloring.overflow,
            Sweep::Jacobi => Span { first: 0, count: self.len() as u32 },
        };
        if self.split.span.count == 0 && !self.info.is_group() {
            return Ok(());
        }
        // Counting sort of the slots by particle.
        let mut counts = vec![0u32; particle_count];
        self.each_slot(|particle, _| counts[particle as usize] += 1);
        let mut next: Vec<u32> =
            counts.iter().scan(0, |sum, &count| Some(std::mem::replace(sum, *sum + count))).collect();
        let firsts = next.clone();
        let mut slots = vec![0; counts.iter().sum::<u32>() as usize];
        self.each_slot(|particle, slot| {
            slots[next[particle as usize] as usize] = slot;
            next[particle as usize] += 1;
        });
        let mut split = std::mem::take(&mut self.split);
        split.slots = slots;
        for (particle, (&first, &count)) in (0..).zip(firsts.iter().zip(&counts)).filter(|(_, (_, count))| **count > 0)
        {
            let first_chunk = split.chunks.len() as u32;
            split.chunks.extend((0..count).step_by(CHUNK as usize).map(|at| [first + at, CHUNK.min(count - at)]));
            let chunk_count = split.chunks.len() as u32 - first_chunk;
            check_loop("constraints at one particle", chunk_count.into(), CHUNK.into())?;
            split.hubs.push([particle, first_chunk, chunk_count, 0]);
        }
        self.split = split;
        self.write_shares(&counts);
        Ok(())
    }

    /// Calls for every particle of every record that is split, with the particle and its slot.
    fn each_slot(&self, mut each: impl FnMut(u32, u32)) {
        for place in self.split.span.range() {
            let particles = self.info.particles(self.record(place), &self.rows);
            particles.zip(self.slots(place)).for_each(|(particle, slot)| each(particle, slot as u32));
        }
    }

    fn write_shares(&mut self, counts: &[u32]) {
        if !self.info.is_group() {
            let mut shares = vec![0.0; self.split.span.count as usize * self.info.arity];
            self.each_slot(|particle, slot| shares[slot as usize] = counts[particle as usize] as f32);
            self.split.shares = shares;
            return;
        }
        let split = self.split.span.range();
        for place in 0..self.len() {
            let members = group::member_rows(self.record(place));
            for row in self.rows[members].iter_mut().step_by(group::MEMBER_ROWS) {
                let share = if split.contains(&place) { counts[row[0] as usize] as f32 } else { 1.0 };
                row[1] = share.to_bits();
            }
        }
    }

    /// Whether no thread turns more often than it may: three rounds over its members and their details, and two over the lanes.
    fn check_loops(&self) -> Result<()> {
        for place in 0..self.len() {
            let members = &self.rows[group::member_rows(self.record(place))];
            let mut turns = vec![2 * self.lanes as u64 + group::ROTATION_STEPS as u64; self.lanes];
            for (index, member) in members.chunks_exact(group::MEMBER_ROWS).enumerate() {
                turns[index % self.lanes] += 3 + u64::from(member[1][3]);
            }
            check_loop("members and details of a group", turns.into_iter().max().unwrap_or(0), self.lanes as u64)?;
        }
        Ok(())
    }
}

/// How many threads solve one group of a set: many where its large groups outweigh what small ones waste by it, or where one alone
/// could not.
fn lanes(set: &ConstraintSet) -> usize {
    if !set.info.is_group() {
        return 1;
    }
    let sizes = || set.records().map(|record| record[1] as usize);
    let large: usize = sizes().filter(|&size| size > group::SMALL).sum();
    let alone = sizes().max().unwrap_or(0) > group::MOST_ALONE;
    if alone || large > 0 && sizes().count() * group::SMALL <= 4 * large { group::LANES } else { 1 }
}

impl Split {
    pub fn is_empty(&self) -> bool {
        self.hubs.is_empty()
    }
}

impl Rings {
    fn new(triangles: &[[u32; 3]], particle_count: usize) -> Result<Self> {
        if triangles.is_empty() {
            return Ok(Self::default());
        }
        let around = |&[a, b, c]: &[u32; 3]| [(a, [b, c]), (b, [c, a]), (c, [a, b])];
        let (offsets, corners) = grouped(particle_count, triangles.iter().flat_map(around));
        let most = offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        check_loop("triangles at one particle", most.into(), 1)?;
        Ok(Self { offsets, corners })
    }

    /// The corners around a particle.
    pub fn around(&self, particle: usize) -> std::ops::Range<usize> {
        self.offsets[particle] as usize..self.offsets[particle + 1] as usize
    }

    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }
}

fn check_loop(what: &'static str, turns: u64, each: u64) -> Result<()> {
    if turns <= MAX_LOOP { Ok(()) } else { Err(Error::TooLarge { what, count: turns * each, limit: MAX_LOOP * each }) }
}
