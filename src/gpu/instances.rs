//! Instances of one asset on the GPU: spawning, runtime changes, recording, readback.

use super::guarded;
use super::instance_colliders::InstanceColliders;
use super::instance_pool::{Buffers, WorkgroupLayout, required_limits};
use super::maker::Maker;
use super::real_time::RealTime;
use super::recorder::Recorder;
use super::shift::ShiftPass;
use super::stage::Stage;
use super::store::PipelineStore;
use crate::error::{Error, Result};
use crate::instancing::pool::InstancePool;
use crate::instancing::{Instance, InstanceId, Placement};
use crate::scene::{Material, MaterialId, Scene};
use crate::settings::Settings;
use std::sync::atomic::{AtomicBool, Ordering};
use wgpu::BufferUsages;

/// Maximum number of particles whose initial state is written at once; limits the staging memory on the host.
const MOST_WRITTEN: usize = 1 << 18;

/// Instances of one asset: thousands of flags, ropes or leaves that are compiled once.
///
/// One workgroup runs all substeps of a step of an instance, or of several small ones. A step takes two dispatches for
/// any number of instances.
///
/// The asset is a [`Scene`] of at most 1024 particles in any number of bodies. Its data is stored once. An instance
/// takes 64 bytes per particle, 80 with surfaces, plus memory for λ if that is kept and for its own pins and targets.
/// Each instance has a position, a rotation, a scale ([`Placement`]), and a wind that is added to that of the settings.
///
/// Particle k of the instance in slot s is row s · n + k of [`Instances::positions`], n being
/// [`Instances::particle_count`]. One call draws all instances. Bind positions and [`Instances::live`], use the
/// triangles of the asset as the index buffer, and call `draw_indexed(0..3 * triangles, 0, 0..instances.len())`; the
/// vertex shader reads `positions[live[instance_index] * n + vertex_index]`.
///
/// Constraints are solved as by [`crate::Execution::Tiles`] for all settings, without trees and mass splitting. The
/// order of the passes is that of a plan with accelerations (`src/schedule/plan.rs`); the CPU counterpart is
/// [`crate::Reference::of_asset`].
///
/// Colliders are in world space and act on all instances ([`Instances::add_collider`]). Their contact materials are
/// those of the asset. Thickness and margin are in metres of the world at any scale of an instance. Forces on colliders
/// are not reported.
///
/// An asset has no groups (pressure, shape matching), followers, attachments, skinned particles, rods, tearable cloths, plastic
/// constraints or colliders. Settings have no self-collision, contact events, forces, mean forces, tether forces or damping of bodies. The
/// sweep is Gauss-Seidel in the fixed order of colours.
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
    pub(super) store: PipelineStore,
    pub(super) queue: wgpu::Queue,
    pub(super) pool: InstancePool,
    pub(super) run: Stage,
    pub(super) normals_stage: Stage,
    pub(super) buffers: Buffers,
    pub(super) bindings: [wgpu::BindGroup; 2],
    pub(super) keep_lambdas: bool,
    pub(super) workgroup: WorkgroupLayout,
    pub(super) shift: Option<ShiftPass>,
    /// `None` before the first collider.
    pub(super) colliders: Option<InstanceColliders>,
    /// True if a step was recorded since the host last moved the colliders to their targets.
    pub(super) colliders_moved: AtomicBool,
    pub(super) real_time: RealTime,
}

impl Instances {
    /// The device limits that `capacity` instances of an asset require, with any pins of their own: the defaults,
    /// raised if a buffer is larger. The defaults if [`Instances::new`] would fail.
    pub fn required_limits(asset: &Scene, capacity: u32, settings: &Settings) -> wgpu::Limits {
        required_limits(asset, capacity, settings)
    }

    /// Adds an instance. It may reuse the slot of a removed instance, whose state is overwritten.
    ///
    /// # Errors
    /// [`Error::CapacityExceeded`] if the capacity is reached; [`Error::LimitExceeded`] if the memory for its own pins exceeds
    /// the limits of the device. The values must be in range, and the pinned particles must exist.
    pub fn spawn(&mut self, instance: &Instance) -> Result<InstanceId> {
        let ids = self.spawn_many(std::slice::from_ref(instance))?;
        ids.first().copied().ok_or(Error::Empty { what: "the list of spawned instances" })
    }

    /// Adds several instances; faster than single calls.
    ///
    /// # Errors
    /// As [`Instances::spawn`]; then none is added.
    pub fn spawn_many(&mut self, instances: &[Instance]) -> Result<Vec<InstanceId>> {
        self.pool.check(instances)?;
        self.make_blocks(self.pool.blocks_short(instances))?;
        let first = self.pool.live.len();
        let ids: Vec<InstanceId> = instances.iter().map(|instance| self.pool.spawn(instance)).collect();
        self.write_live(first..self.pool.live.len());
        // Consecutive slots share a write: every write allocates a staging buffer.
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

    /// Removes an instance; the last entry of [`Instances::live`] replaces its entry. Removed instances take no GPU
    /// time.
    ///
    /// # Errors
    /// [`Error::NoInstance`].
    pub fn remove(&mut self, id: InstanceId) -> Result<()> {
        let slot = self.pool.slot(id)?;
        let place = self.pool.remove(slot);
        if place < self.pool.live.len() {
            self.write_live(place..place + 1);
        }
        self.upload_pool_params();
        Ok(())
    }

    /// Moves an instance to another placement at the start of the next step. Its current shape moves as a rigid body
    /// with the scale, its velocities are rotated and keep their magnitude, its targets move along. The jump itself
    /// adds no velocity.
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

    /// Restores the asset's shape at the instance's placement, with the velocities of its spawn; λ is 0. Pins, wind
    /// and materials stay, targets are removed.
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

    /// The pipelines of the instances, for other instances and solvers on the device.
    pub fn pipeline_store(&self) -> &PipelineStore {
        &self.store
    }

    /// The current settings. The execution is always [`crate::Execution::Tiles`].
    pub fn settings(&self) -> &Settings {
        &self.pool.controls.settings
    }

    /// Changes an entry of the asset's material table, for all instances.
    ///
    /// # Errors
    /// The entry must exist, and its values must be in range.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.pool.controls.set_material(id, material)?;
        self.upload_settings();
        Ok(())
    }

    /// Records steps of `dt` into the encoder, as one compute pass with two dispatches per step, or a few more with
    /// colliders. It neither submits nor blocks.
    ///
    /// The recording contains the number of instances. All changes are queued writes, which run before every later
    /// submission. So submit recorded steps before any change.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, steps: u32) {
        self.encode_timed(encoder, steps, None);
    }

    /// Records steps as [`Instances::encode`] does, with timestamps at the beginning and the end of the pass.
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
        let [run, normals] = &self.bindings;
        // The second dispatch also advances the clock.
        let surfaces = if self.has_surfaces() { self.len().max(1) } else { 1 };
        let colliders = self.active_colliders();
        for _ in 0..steps {
            match colliders {
                Some(colliders) => colliders.record(&mut recorder, self.len()),
                None => {
                    recorder.dispatch_workgroups(&self.run, run, &[], self.len().div_ceil(self.workgroup.instances))
                }
            }
            recorder.dispatch_workgroups(&self.normals_stage, normals, &[], surfaces);
        }
        if steps > 0 {
            self.colliders_moved.store(true, Ordering::Relaxed);
        }
    }

    /// Number of dispatches of a step: 2 without colliders.
    pub fn dispatches_per_step(&self) -> u32 {
        1 + self.active_colliders().map_or(1, InstanceColliders::dispatches)
    }

    /// The passes of colliders, if any collider is left.
    fn active_colliders(&self) -> Option<&InstanceColliders> {
        self.colliders.as_ref().filter(|_| self.pool.controls.colliders.are_any_left())
    }

    /// Number of instances.
    pub fn len(&self) -> u32 {
        self.pool.live.len() as u32
    }

    /// Returns true if there are no instances.
    pub fn is_empty(&self) -> bool {
        self.pool.live.is_empty()
    }

    /// Maximum number of instances.
    pub fn capacity(&self) -> u32 {
        self.pool.capacity
    }

    /// Number of particles of the asset.
    pub fn particle_count(&self) -> u32 {
        self.pool.particle_count() as u32
    }

    /// Ids of all instances, in the order of [`Instances::live`].
    pub fn ids(&self) -> impl Iterator<Item = InstanceId> {
        self.pool.live.iter().filter_map(|&slot| self.pool.id(slot))
    }

    /// Returns true if the instance exists.
    pub fn contains(&self, id: InstanceId) -> bool {
        self.pool.slot(id).is_ok()
    }

    /// The instance and the particle of a row of [`Instances::positions`], such as [`crate::Diagnostics::first_non_finite`].
    pub fn owner(&self, row: u32) -> Option<(InstanceId, u32)> {
        let count = self.particle_count();
        self.pool.id(row / count).map(|id| (id, row % count))
    }

    /// The last placement of an instance that was set by a call.
    ///
    /// # Errors
    /// [`Error::NoInstance`].
    pub fn placement(&self, id: InstanceId) -> Result<Placement> {
        Ok(self.pool.placement(self.pool.slot(id)?))
    }

    /// Positions: per particle a `vec4<f32>` of x, y, z \[m\] and the inverse mass [1/kg], for all slots. STORAGE,
    /// VERTEX, COPY_SRC.
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.buffers.positions
    }

    /// Velocities after the last step, one `vec4<f32>` per particle [m/s]. STORAGE, VERTEX, COPY_SRC.
    pub fn velocities(&self) -> &wgpu::Buffer {
        &self.buffers.velocities
    }

    /// Unit normals of the surfaces after the last step, one `vec4<f32>` per particle. For an asset without
    /// surfaces a buffer of 16 bytes: do not bind it. STORAGE, VERTEX, COPY_SRC.
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.buffers.normals
    }

    /// The slots of all instances, one `u32` each, [`Instances::len`] of them. STORAGE, VERTEX, COPY_SRC.
    pub fn live(&self) -> &wgpu::Buffer {
        &self.buffers.live
    }

    /// Allocates further blocks.
    pub(super) fn make_blocks(&mut self, more: u32) -> Result<()> {
        if more == 0 {
            return Ok(());
        }
        let make = |count: u32| {
            let (size, maker) = (self.pool.bytes_with(count)?, Maker::new(&self.device));
            guarded(&self.device, || maker.empty("instances.asset", size, BufferUsages::STORAGE))
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

    pub(super) fn has_surfaces(&self) -> bool {
        !self.pool.controls.compiled.rings.is_empty()
    }

    pub(super) fn rebind(&mut self) {
        self.bindings = self.buffers.bind(&self.device, &self.run, &self.normals_stage);
        if let Some(colliders) = &mut self.colliders {
            colliders.bind(&self.device, &self.buffers);
        }
    }
}
