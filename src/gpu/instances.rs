//! Instances of one asset: spawned, changed while they run, recorded, and read back.

use super::guarded;
use super::instance_pool::{
    Buffers, PoolParams, WorkgroupLayout, check_limits, lambda_room, make_lambdas, make_normals, make_play,
    required_limits,
};
use super::maker::Maker;
use super::readback::{Readback, decode_scalars, decode_vectors};
use super::reading::{read, request_status};
use super::recorder::Recorder;
use super::shift::ShiftPass;
use super::solver::{Diagnostics, needs_lambdas};
use super::stage::Stage;
use crate::constraints::{Kind, kind_index};
use crate::error::{Error, Result};
use crate::instancing::pool::InstancePool;
use crate::instancing::{Instance, InstanceId, Placement};
use crate::scene::{Material, MaterialId, Scene};
use crate::schedule::rings::normal;
use crate::settings::Settings;
use glam::Vec4;
use wgpu::BufferUsages;

/// The most particles of which the start is written at once: so much is on its way to the GPU in memory of the host.
const MOST_WRITTEN: usize = 1 << 18;

/// Instances of one asset: thousands of flags, ropes or leaves that are compiled once. Each is kept by one workgroup, small ones by one together, which
/// plays all substeps of a step, so that a step takes two dispatches however many there are.
///
/// The asset is a [`Scene`] of 1024 particles at most in all, of any number of bodies. What it is stands in the GPU's memory once; an instance takes
/// 64 bytes a particle, 80 with surfaces, and some more for λ where that is kept and for an instance that has pins or targets of its own. Each has a
/// place, a turn, a size ([`Placement`]), and a wind on top of that of the settings.
///
/// Particle k of the instance in slot s is row s · n + k of [`Instances::positions`], n being [`Instances::particle_count`]. All are drawn by one
/// call: bind positions and [`Instances::live`], use the triangles of the asset as the index buffer, and
/// `draw_indexed(0..3 * triangles, 0, 0..instances.len())`; the vertex shader reads
/// `positions[live[instance_index] * n + vertex_index]`.
///
/// Constraints are solved as by [`crate::Execution::Tiles`], whatever the settings say, but one by one: without stars and mass splitting. The order
/// of the passes is that of a plan with accelerations ([`crate::schedule::plan`]); [`crate::Reference::of_asset`] is the counterpart on the CPU. Not to be had: groups (pressure, shape matching), followers, colliders, self-collision, forces, damping of bodies, other sweeps.
///
/// ```no_run
/// # fn main() -> supple::Result<()> {
/// use supple::{ClothGrid, Instance, Instances, Placement, Scene, Settings};
/// let mut flag = Scene::new();
/// let cloth = flag.add_cloth_grid(&ClothGrid { columns: 32, rows: 32, ..ClothGrid::default() })?;
/// flag.pin(cloth.particles.start)?;
/// let settings = Settings::default();
/// let gpu = supple::gpu::Context::new(Instances::required_limits(&flag, 1000, &settings))?;
/// let mut flags = Instances::new(&gpu.device, &gpu.queue, &flag, 1000, settings)?;
/// for k in 0..1000 {
///     flags.spawn(&Instance { placement: Placement::at([2.0 * k as f32, 0.0, 0.0]), ..Instance::default() })?;
/// }
/// let mut encoder = gpu.device.create_command_encoder(&Default::default());
/// flags.encode(&mut encoder, 1);
/// gpu.queue.submit([encoder.finish()]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Instances {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) pool: InstancePool,
    play: Stage,
    normals_stage: Stage,
    pub(super) buffers: Buffers,
    bindings: [wgpu::BindGroup; 2],
    keep_lambdas: bool,
    workgroup: WorkgroupLayout,
    pub(super) shift: Option<ShiftPass>,
}

impl Instances {
    /// Cooks an asset, and makes room for so many instances of it. The uploads travel with the queue's next submission.
    ///
    /// # Errors
    /// [`Error::Empty`] for an asset without particles; [`Error::TooLarge`] for more than 1024, more than 48 constraints of a kind at one of them,
    /// more than 4096 materials, or settings of so many substeps and iterations that a thread would turn more than 60 000 times in a step;
    /// [`Error::NotInstanced`] for groups, followers and colliders; [`Error::InvalidValue`] for settings out of range, [`Error::NotEnabled`] for settings that instances cannot have; [`Error::InvalidValue`] for no
    /// capacity, or a particle beyond 1e6 m or faster than 1e6 m/s; [`Error::LimitExceeded`] where the device's limits are too small (see [`Instances::required_limits`]); [`Error::Gpu`].
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        asset: &Scene,
        capacity: u32,
        settings: Settings,
    ) -> Result<Self> {
        let mut pool = InstancePool::new(asset, capacity, settings)?;
        let workgroup = WorkgroupLayout::new(device, &pool);
        check_limits(&pool, workgroup, &device.limits())?;
        let keep_lambdas = needs_lambdas(&settings);
        let (play, normals_stage, buffers) = guarded(device, || {
            let buffers = Buffers::new(device, queue, &pool, keep_lambdas)?;
            Ok((make_play(device, &pool, keep_lambdas, workgroup), make_normals(device, &pool), buffers))
        })?;
        // Now that the device has room for them.
        pool.grow(0);
        let bindings = buffers.bind(device, &play, &normals_stage);
        let (device, queue) = (device.clone(), queue.clone());
        let instances =
            Self { device, queue, pool, play, normals_stage, buffers, bindings, keep_lambdas, workgroup, shift: None };
        instances.write_words(0..instances.pool.words.len());
        instances.upload_settings();
        Ok(instances)
    }

    /// The limits that a device needs for so many instances of an asset, whatever pins they have of their own: the defaults, raised where a buffer is
    /// larger. The defaults alone for what [`Instances::new`] does not take.
    pub fn required_limits(asset: &Scene, capacity: u32, settings: &Settings) -> wgpu::Limits {
        required_limits(asset, capacity, settings)
    }

    /// Adds an instance, in the slot of a removed one where there is any; nothing of that is left in it.
    ///
    /// # Errors
    /// [`Error::NoRoom`] where there are as many as the capacity; its figures must be in range, its pinned particles must exist;
    /// [`Error::LimitExceeded`] where pins of its own need more room than the device has.
    pub fn spawn(&mut self, instance: &Instance) -> Result<InstanceId> {
        let ids = self.spawn_many(std::slice::from_ref(instance))?;
        ids.first().copied().ok_or(Error::Empty { what: "the list of what was spawned" })
    }

    /// Adds instances at once, which is much faster for many.
    ///
    /// # Errors
    /// As [`Instances::spawn`]; then none is added.
    pub fn spawn_many(&mut self, instances: &[Instance]) -> Result<Vec<InstanceId>> {
        self.pool.check(instances)?;
        self.make_blocks(self.pool.blocks_short(instances))?;
        let first = self.pool.live.len();
        let ids: Vec<InstanceId> = instances.iter().map(|instance| self.pool.spawn(instance)).collect();
        self.write(&self.buffers.live, first, &self.pool.live[first..]);
        // Neighbours are written together: every write costs a buffer.
        let most = MOST_WRITTEN.div_ceil(self.pool.particle_count());
        let runs = self.pool.live[first..].chunk_by(|a, b| a + 1 == *b);
        for run in runs.flat_map(|run| run.chunks(most)) {
            self.write_start(run);
            if let [start, .., end] | [start @ end] = *run {
                self.write_words(self.pool.row_words(start).start..self.pool.row_words(end).end);
            }
            run.iter().for_each(|&slot| self.write_words(self.pool.own_words(slot)));
        }
        self.upload_pool_params();
        Ok(ids)
    }

    /// Removes an instance; the last of [`Instances::live`] takes its place there. It costs nothing any more.
    ///
    /// # Errors
    /// [`Error::NoInstance`].
    pub fn remove(&mut self, id: InstanceId) -> Result<()> {
        let slot = self.pool.slot(id)?;
        let place = self.pool.remove(slot);
        if let Some(moved) = self.pool.live.get(place) {
            self.write(&self.buffers.live, place, &[*moved]);
        }
        self.upload_pool_params();
        Ok(())
    }

    /// Puts an instance elsewhere, turned and scaled, at the start of the next step: its momentary shape is carried along as a rigid body, velocities
    /// are turned and keep their size, and the jump makes none. Its targets are carried along.
    ///
    /// # Errors
    /// [`Error::NoInstance`]; the placement must be in range.
    pub fn teleport(&mut self, id: InstanceId, placement: Placement) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.teleport(slot, placement)?;
        self.write_words(self.pool.own_words(slot));
        self.write_words(self.pool.row_words(slot));
        Ok(())
    }

    /// Back to the shape of the asset at the instance's placement, with the velocities that it was spawned with; λ is 0. Pins and wind stay,
    /// targets are forgotten.
    ///
    /// # Errors
    /// [`Error::NoInstance`].
    pub fn reset(&mut self, id: InstanceId) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.clear_targets(slot);
        self.write_words(self.pool.own_words(slot));
        self.write_start(&[slot]);
        Ok(())
    }

    /// Pins particles of an instance where they are; `particles` count within the asset. Its tethers are tied anew.
    ///
    /// # Errors
    /// [`Error::NoInstance`]; the particles must exist; [`Error::LimitExceeded`] as of [`Instances::spawn`].
    pub fn pin(&mut self, id: InstanceId, particles: &[u32]) -> Result<()> {
        self.set_pinned(id, particles, true)
    }

    /// Releases pinned particles of an instance; each flies on with the velocity of its last step. Its tethers are tied anew.
    ///
    /// # Errors
    /// As [`Instances::pin`]; the particles must have had a mass in the asset.
    pub fn release(&mut self, id: InstanceId, particles: &[u32]) -> Result<()> {
        self.set_pinned(id, particles, false)
    }

    fn set_pinned(&mut self, id: InstanceId, particles: &[u32], pinned: bool) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.controls.check_pins(particles, pinned)?;
        if particles.iter().all(|&particle| self.pool.is_pinned(slot, particle) == pinned) {
            return Ok(());
        }
        self.make_blocks(self.pool.block_short(slot))?;
        for particle in self.pool.set_pinned(slot, particles, pinned) {
            let place = slot as usize * self.pool.particle_count() + particle as usize;
            self.write(&self.buffers.positions, 4 * place + 3, &[self.pool.inverse_mass(slot, particle)]);
            if pinned {
                self.write(&self.buffers.velocities, place, &[[0.0f32, 0.0, 0.0, 1.0]]);
            }
        }
        self.write_words(self.pool.own_words(slot));
        self.write_words(self.pool.row_words(slot));
        Ok(())
    }

    /// Whether a particle of an instance is pinned now.
    ///
    /// # Errors
    /// [`Error::NoInstance`]; the particle must exist.
    pub fn is_pinned(&self, id: InstanceId, particle: u32) -> Result<bool> {
        let slot = self.pool.slot(id)?;
        self.pool.controls.scene.check_particle("is_pinned", particle)?;
        Ok(self.pool.is_pinned(slot, particle))
    }

    /// Sets where \[m\] a pinned particle of an instance is to be after the next step, as [`crate::Solver::set_target`] does.
    ///
    /// # Errors
    /// [`Error::NoInstance`]; the particle must exist and be pinned, the position must be finite; [`Error::LimitExceeded`] as of
    /// [`Instances::spawn`].
    pub fn set_target(&mut self, id: InstanceId, particle: u32, position: [f32; 3]) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.check_target(slot, particle, position)?;
        self.make_blocks(self.pool.block_short(slot))?;
        let is_first = self.pool.own_words(slot).is_empty();
        let words = self.pool.set_target(slot, particle, position);
        if is_first {
            self.write_words(self.pool.own_words(slot));
            self.write_words(self.pool.row_words(slot));
        } else {
            self.write_words(words);
        }
        Ok(())
    }

    /// Sets the wind that an instance has on top of [`Settings::wind`] [m/s].
    ///
    /// # Errors
    /// [`Error::NoInstance`]; at most 1e6 either way.
    pub fn set_wind(&mut self, id: InstanceId, wind: [f32; 3]) -> Result<()> {
        let slot = self.pool.slot(id)?;
        self.pool.set_wind(slot, wind)?;
        self.write_words(self.pool.row_words(slot));
        Ok(())
    }

    /// Simulates otherwise in what is encoded from now on. Submit what was encoded before; see [`crate::Solver::encode`].
    ///
    /// # Errors
    /// See [`Settings::check`] and [`Instances::new`].
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        let before = self.pool.controls.settings;
        self.pool.set_settings(settings)?;
        let keep_lambdas = needs_lambdas(&settings);
        let workgroup = WorkgroupLayout::new(&self.device, &self.pool);
        let other_lambdas = keep_lambdas != self.keep_lambdas;
        if other_lambdas || workgroup != self.workgroup {
            let (device, pool) = (&self.device, &self.pool);
            let made = guarded(device, || {
                let make = || make_lambdas(&Maker::new(device), pool, keep_lambdas);
                Ok((make_play(device, pool, keep_lambdas, workgroup), other_lambdas.then(make).transpose()?))
            });
            match made {
                Ok((play, lambdas)) => {
                    self.play = play;
                    self.buffers.lambdas = lambdas.unwrap_or_else(|| self.buffers.lambdas.clone());
                }
                Err(error) => {
                    self.pool.set_settings(before)?;
                    return Err(error);
                }
            }
            (self.keep_lambdas, self.workgroup) = (keep_lambdas, workgroup);
            self.rebind();
        }
        self.upload_settings();
        // The winds of all.
        let places = self.pool.places;
        self.write_words(places.slots..places.blocks);
        Ok(())
    }

    /// How it simulates.
    pub fn settings(&self) -> &Settings {
        &self.pool.controls.settings
    }

    /// Changes an entry of the asset's material table, for all instances.
    ///
    /// # Errors
    /// The entry must exist, its figures must be in range.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.pool.controls.set_material(id, material)?;
        self.upload_settings();
        Ok(())
    }

    /// Records so many steps of `dt` into the encoder, as one compute pass of two dispatches a step. It neither submits nor waits.
    ///
    /// How many instances there are is fixed here, while all changes are queued writes, which come before everything that is submitted after
    /// them. So submit what is recorded before you change anything.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, steps: u32) {
        self.encode_timed(encoder, steps, None);
    }

    /// The same, with timestamps at the beginning and the end of the pass.
    pub fn encode_timed(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        steps: u32,
        timestamps: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        if steps == 0 && timestamps.is_none() {
            return;
        }
        let mut recorder = Recorder::new(encoder, timestamps);
        let [play, normals] = &self.bindings;
        // The second keeps the clock, too.
        let surfaces = if self.has_surfaces() { self.len().max(1) } else { 1 };
        for _ in 0..steps {
            recorder.dispatch_groups(&self.play, play, &[], self.len().div_ceil(self.workgroup.instances));
            recorder.dispatch_groups(&self.normals_stage, normals, &[], surfaces);
        }
    }

    /// How many instances there are.
    pub fn len(&self) -> u32 {
        self.pool.live.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pool.live.is_empty()
    }

    /// How many there may be at once.
    pub fn capacity(&self) -> u32 {
        self.pool.capacity
    }

    /// Particles of the asset.
    pub fn particle_count(&self) -> u32 {
        self.pool.particle_count() as u32
    }

    /// Names of all instances, in the order of [`Instances::live`].
    pub fn ids(&self) -> impl Iterator<Item = InstanceId> {
        self.pool.live.iter().filter_map(|&slot| self.pool.id(slot))
    }

    /// Whether an instance is still there.
    pub fn contains(&self, id: InstanceId) -> bool {
        self.pool.slot(id).is_ok()
    }

    /// To which instance a row of [`Instances::positions`] belongs, and which of its particles it is: for [`Diagnostics::first_non_finite`].
    pub fn owner(&self, row: u32) -> Option<(InstanceId, u32)> {
        let count = self.particle_count();
        self.pool.id(row / count).map(|id| (id, row % count))
    }

    /// Where an instance was put last.
    ///
    /// # Errors
    /// [`Error::NoInstance`].
    pub fn placement(&self, id: InstanceId) -> Result<Placement> {
        Ok(self.pool.placement(self.pool.slot(id)?))
    }

    /// Positions, one `vec4<f32>` a particle: x, y, z \[m\] and the inverse mass [1/kg]; capacity · particles of the asset. STORAGE, VERTEX, COPY_SRC.
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.buffers.positions
    }

    /// Velocities after the last step, one `vec4<f32>` a particle [m/s]. STORAGE, VERTEX, COPY_SRC.
    pub fn velocities(&self) -> &wgpu::Buffer {
        &self.buffers.velocities
    }

    /// Unit normals of the surfaces after the last step, one `vec4<f32>` a particle; nothing for an asset without surfaces. STORAGE, VERTEX, COPY_SRC.
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.buffers.normals
    }

    /// The slots of all instances, one `u32` each, [`Instances::len`] of them. STORAGE, VERTEX, COPY_SRC.
    pub fn live(&self) -> &wgpu::Buffer {
        &self.buffers.live
    }

    /// Asks for the positions \[m\] of an instance as they are at this place in the encoder.
    ///
    /// # Errors
    /// [`Error::NoInstance`].
    pub fn request_positions(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        id: InstanceId,
    ) -> Result<Readback<Vec<[f32; 3]>>> {
        let slot = self.pool.slot(id)?;
        Ok(self.request_vectors(encoder, &self.buffers.positions, slot))
    }

    /// Waits for all submitted work and reads the positions \[m\] of an instance.
    ///
    /// # Errors
    /// [`Error::NoInstance`], [`Error::DeviceLost`], [`Error::Timeout`].
    pub fn read_positions(&self, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        self.read_vectors(&self.buffers.positions, id)
    }

    /// The same of velocities [m/s].
    ///
    /// # Errors
    /// As [`Instances::read_positions`].
    pub fn read_velocities(&self, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        self.read_vectors(&self.buffers.velocities, id)
    }

    /// The same of normals; empty for an asset without surfaces.
    ///
    /// # Errors
    /// As [`Instances::read_positions`].
    pub fn read_normals(&self, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        if !self.has_surfaces() {
            return self.pool.slot(id).map(|_| Vec::new());
        }
        self.read_vectors(&self.buffers.normals, id)
    }

    /// Waits for all submitted work and reads λ of every constraint of a kind in an instance, as [`crate::Solver::read_lambdas`] does: at the size
    /// of the asset, so that the force along a distance is scale · λ/h².
    ///
    /// # Errors
    /// As [`Instances::read_positions`]; [`Error::NotEnabled`] where λ is not kept ([`Settings::keep_lambdas`]).
    pub fn read_lambdas<K: Kind>(&self, id: InstanceId) -> Result<Vec<f32>> {
        let slot = self.pool.slot(id)?;
        if !self.keep_lambdas {
            let needed = "Settings::keep_lambdas = true, or more than one iteration";
            return Err(Error::NotEnabled { what: "read_lambdas", needed });
        }
        let kind = kind_index(K::INFO);
        let compiled = &self.pool.controls.compiled;
        let (coloring, lambdas) = (&compiled.kinds[kind].coloring, K::INFO.lambda_count());
        if coloring.order.is_empty() {
            return Ok(Vec::new());
        }
        let first = slot as usize * lambda_room(&self.pool) + self.pool.asset.first_places[kind] as usize * lambdas;
        let (first, size) = (first as u64 * 4, (coloring.order.len() * lambdas) as u64 * 4);
        let sorted = read(&self.device, &self.queue, |encoder| {
            Readback::of_part(&self.device, encoder, &self.buffers.lambdas, first, size, decode_scalars)
        })?;
        Ok(coloring.unsort(&K::INFO.lambdas(&sorted)))
    }

    /// Asks for what the GPU has counted since the start; [`Instances::owner`] says of which instance the first particle is that was held.
    pub fn request_diagnostics(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Diagnostics> {
        request_status(&self.device, encoder, &self.buffers.status)
    }

    /// Waits for all submitted work and reads what the GPU has counted since the start.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Timeout`].
    pub fn read_diagnostics(&self) -> Result<Diagnostics> {
        read(&self.device, &self.queue, |encoder| self.request_diagnostics(encoder))
    }

    /// Size of all its buffers on the GPU \[bytes\].
    pub fn memory_bytes(&self) -> u64 {
        self.buffers.bytes()
    }

    fn request_vectors(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::Buffer,
        slot: u32,
    ) -> Readback<Vec<[f32; 3]>> {
        let size = u64::from(self.particle_count()) * 16;
        Readback::of_part(&self.device, encoder, source, u64::from(slot) * size, size, decode_vectors)
    }

    fn read_vectors(&self, source: &wgpu::Buffer, id: InstanceId) -> Result<Vec<[f32; 3]>> {
        let slot = self.pool.slot(id)?;
        read(&self.device, &self.queue, |encoder| self.request_vectors(encoder, source, slot))
    }

    /// Makes room for more blocks.
    fn make_blocks(&mut self, more: u32) -> Result<()> {
        if more == 0 {
            return Ok(());
        }
        let make = |count: u32| {
            let (size, maker) = (self.pool.bytes_with(count)?, Maker::new(&self.device));
            guarded(&self.device, || maker.empty("instances.batches", size, BufferUsages::STORAGE))
        };
        let [generous, least] = self.pool.larger(more);
        let (count, batches) = match make(generous) {
            Ok(batches) => (generous, batches),
            Err(_) => (least, make(least)?),
        };
        self.pool.grow(count);
        self.buffers.asset = batches;
        self.write_words(0..self.pool.words.len());
        self.rebind();
        Ok(())
    }

    fn has_surfaces(&self) -> bool {
        !self.pool.controls.compiled.rings.is_empty()
    }

    fn rebind(&mut self) {
        self.bindings = self.buffers.bind(&self.device, &self.play, &self.normals_stage);
    }

    /// Writes the state of new instances in slots that follow one another.
    fn write_start(&self, slots: &[u32]) {
        let Some(&first) = slots.first() else { return };
        let (first, count) = (first as usize, self.pool.particle_count());
        let (mut positions, mut velocities) = (Vec::new(), Vec::new());
        let (mut normals, mut put): (Vec<[f32; 4]>, Vec<[f32; 4]>) = (Vec::new(), Vec::new());
        for &slot in slots {
            let begin = positions.len();
            self.pool.push_start(slot, &mut positions, &mut velocities);
            if self.has_surfaces() {
                // Something to draw before the first step.
                let own = &positions[begin..];
                let position = |particle: usize| Vec4::from(own[particle]).truncate();
                let rings = &self.pool.controls.compiled.rings;
                normals.extend((0..count).map(|k| normal(rings, k, position).extend(0.0).to_array()));
            }
            let [[x, y, z, scale], rotation] = self.pool.placement(slot).rows();
            // New: whatever else the slot holds is of another.
            put.extend([[x, y, z, -scale], rotation]);
        }
        self.write(&self.buffers.positions, first * count, &positions);
        self.write(&self.buffers.velocities, first * count, &velocities);
        self.write(&self.buffers.normals, first * count, &normals);
        self.write(&self.buffers.motions, 2 * (self.pool.capacity as usize * count + first), &put);
        let room = if self.keep_lambdas { lambda_room(&self.pool) } else { 0 };
        self.write(&self.buffers.lambdas, first * room, &vec![0.0f32; slots.len() * room]);
    }

    pub(super) fn write_words(&self, words: std::ops::Range<usize>) {
        self.write(&self.buffers.asset, words.start, &self.pool.words[words]);
    }

    pub(super) fn upload_settings(&self) {
        self.write(&self.buffers.params, 0, &[self.pool.controls.params()]);
        self.write(&self.buffers.materials, 0, &self.pool.controls.scaled_materials());
        self.upload_pool_params();
    }

    /// What is played, and how many there are.
    fn upload_pool_params(&self) {
        let Settings { substeps, iterations, tethers, .. } = *self.settings();
        let row = PoolParams { substeps, iterations, tethers: u32::from(tethers), count: self.len() };
        self.write(&self.buffers.pool, 0, &[row]);
    }

    /// Queues a write of rows from row `place` on.
    fn write<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer, place: usize, rows: &[T]) {
        if !rows.is_empty() {
            self.queue.write_buffer(buffer, (place * size_of::<T>()) as u64, bytemuck::cast_slice(rows));
        }
    }
}
