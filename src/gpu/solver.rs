//! The solver: records a plan into the caller's encoder.

use super::bindings::Bindings;
use super::buffers::Buffers;
use super::contacts::Contacts;
use super::passes::{Count, PASSES, row_of};
use super::pipelines::{Pipelines, Projection};
use super::real_time::RealTime;
use super::recorder::{PingPong, Recorder};
use super::shift::ShiftPass;
use super::store::PipelineStore;
use super::vertex_output::VertexOutputs;
use crate::constraints::{Kind, kind_index};
use crate::schedule::coloring::Coloring;
use crate::schedule::plan::{Pass, Plan};
use crate::settings::{Execution, Settings};
use crate::sim::Running;
use crate::sim::contact_params::ContactParams;
use crate::sim::controls::Controls;

/// Runs a scene on the GPU.
///
/// ```no_run
/// # fn main() -> supple::Result<()> {
/// let mut scene = supple::Scene::new();
/// let cloth = scene.add_cloth_grid(&supple::ClothGrid::default())?;
/// scene.pin(cloth.particles.start)?;
/// let gpu = supple::gpu::Context::new(supple::required_limits(&scene))?;
/// let mut solver = supple::Solver::new(&gpu.device, &gpu.queue, &scene, supple::Settings::default())?;
/// let mut encoder = gpu.device.create_command_encoder(&Default::default());
/// solver.encode(&mut encoder, 60);
/// gpu.queue.submit([encoder.finish()]);
/// println!("{:?}", solver.read_positions()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Solver {
    pub(super) device: wgpu::Device,
    pub(super) store: PipelineStore,
    pub(super) queue: wgpu::Queue,
    pub(super) controls: Controls,
    pub(super) pipelines: Pipelines,
    pub(super) buffers: Buffers,
    pub(super) bindings: Bindings,
    pub(super) contacts: Contacts,
    pub(super) contact_params: ContactParams,
    pub(super) target_capacity: usize,
    pub(super) keep_lambdas: bool,
    /// Steps recorded since creation or the last reset.
    pub(super) steps: u32,
    /// The execution that [`Execution::Auto`] stands for.
    pub(super) auto: Execution,
    /// The buffers that the next pass reads, after all that was recorded.
    pub(super) ping_pong: PingPong,
    /// The substep h \[s\] of the last recorded step.
    pub(super) recorded_substep: f32,
    /// The number of its substeps.
    pub(super) recorded_substeps: u32,
    pub(super) real_time: RealTime,
    /// True if followers and normals are older than the positions; the next [`Solver::encode`] records their passes.
    pub(super) derived_is_stale: bool,
    pub(super) shift: Option<ShiftPass>,
    pub(super) vertex_outputs: VertexOutputs,
    /// The settings of the user. The settings of the controls have an execution instead of
    /// [`Execution::Auto`].
    pub(super) user_settings: Settings,
}

impl Solver {
    /// Records a number of steps of `dt` into the encoder, as one compute pass. It neither submits nor waits. With self-collision it also
    /// copies counters, and lists that grow. Drivers may end a submission of many steps; [`Solver::step`] splits them.
    ///
    /// If positions, velocities or pins were changed since the last call, it first records the passes that compute followers and normals;
    /// `encode(encoder, 0)` records only these. A program that draws while the simulation is paused calls it so. Vertex outputs
    /// ([`Solver::add_vertex_output`]) come last.
    ///
    /// The number of passes is fixed here. `set_…`, `pin`, `release` and `reset` are queued writes, which run before everything that is submitted
    /// after them. So submit what is recorded before you change anything; otherwise recorded steps run with a mixture of old and new values. A
    /// program that drops an encoder calls [`Solver::set_recorded_steps`].
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder, steps: u32) {
        self.encode_timed(encoder, steps, None);
    }

    /// The same, with timestamps at the beginning and the end of the pass.
    pub fn encode_timed(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        steps: u32,
        timestamps: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        if steps == 0 && timestamps.is_none() && !self.derived_is_stale {
            return;
        }
        if steps > 0 {
            self.grow_contacts(encoder);
        }
        self.ping_pong = self.record_with_outputs(encoder, self.passes_of(steps), timestamps);
        self.finish_steps(encoder, steps);
    }

    /// The passes of the next steps, after those that compute stale followers and normals.
    pub(super) fn passes_of(&self, steps: u32) -> impl Iterator<Item = Pass> {
        let (plan, substeps, first) = (&self.controls.plan, self.controls.settings.substeps, self.steps);
        let derived = self.derived_is_stale.then(|| plan.derived());
        let of_steps = (0..steps).flat_map(move |step| plan.step(substeps, first.wrapping_add(step)));
        derived.into_iter().flatten().chain(of_steps)
    }

    /// Notes that steps have been recorded with all of their passes.
    pub(super) fn finish_steps(&mut self, encoder: &mut wgpu::CommandEncoder, steps: u32) {
        self.derived_is_stale = false;
        if steps > 0 {
            self.steps = self.steps.wrapping_add(steps);
            self.controls.colliders.commit_targets();
            self.controls.attachments.commit_targets();
            self.watch_contacts(encoder);
            self.recorded_substep = self.controls.settings.substep();
            self.recorded_substeps = self.controls.settings.substeps;
        }
    }

    /// Records single passes as one compute pass, for tests and measurements. Passes that are not in [`Solver::plan`] are skipped; in another order than
    /// that of the plan the result has no meaning.
    #[doc(hidden)]
    pub fn encode_passes(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        passes: impl IntoIterator<Item = Pass>,
        timestamps: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let plan = &self.controls.plan;
        let (mut commits, mut finished) = (false, 0);
        let passes = passes.into_iter().filter(|pass| plan.contains(pass)).inspect(|pass| {
            commits |= *pass == Pass::CommitColliders;
            finished += u32::from(*pass == Pass::Finish);
        });
        self.ping_pong = self.record(encoder, passes, timestamps);
        self.steps = self.steps.wrapping_add(finished);
        if finished > 0 {
            self.controls.attachments.commit_targets();
        }
        if commits {
            self.controls.colliders.commit_targets();
        }
    }

    /// Returns the buffers that the next pass reads.
    pub(super) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        passes: impl Iterator<Item = Pass>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> PingPong {
        self.recorded(encoder, passes, timestamp_writes).ping_pong
    }

    /// The same, and the vertex outputs after the passes.
    pub(super) fn record_with_outputs(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        passes: impl Iterator<Item = Pass>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> PingPong {
        let mut recorder = self.recorded(encoder, passes, timestamp_writes);
        self.vertex_outputs.iter().for_each(|output| output.record(&mut recorder));
        recorder.ping_pong
    }

    fn recorded<'a>(
        &'a self,
        encoder: &'a mut wgpu::CommandEncoder,
        passes: impl Iterator<Item = Pass>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> Recorder<'a> {
        let mut recorder = Recorder::new(encoder, timestamp_writes);
        recorder.ping_pong = self.ping_pong;
        for pass in passes {
            self.record_pass(&mut recorder, pass);
        }
        recorder
    }

    /// Records one pass; the counterpart of [`crate::Reference::run`].
    fn record_pass<'a>(&'a self, recorder: &mut Recorder<'a>, pass: Pass) {
        let (pipelines, bindings, controls) = (&self.pipelines, &self.bindings, &self.controls);
        if pass == Pass::SolveTethers {
            recorder.ping_pong.anchors = 0;
        }
        if let Some(kind) = pass.kind() {
            self.record_constraints(recorder, pass, kind);
        } else if matches!(pass, Pass::IntegrateTethered | Pass::IntegrateFree) {
            if let (Some(tethered), Some(sides)) = (&pipelines.tethered, &bindings.tethered) {
                let particles = controls.scene.particle_count() as u32;
                recorder.dispatch(&tethered.stage, &sides[recorder.ping_pong.anchors], &[], particles);
                recorder.ping_pong.anchors = 1 - recorder.ping_pong.anchors;
            } else {
                debug_assert!(false, "{pass:?} is in the plan, but not compiled");
            }
        } else if let Pass::SolveChains { color, span, first_iteration } = pass {
            if let (Some(stage), Some(bound)) = (&pipelines.chains, &bindings.chains) {
                let offset = self.buffers.chains.offset(color, first_iteration);
                recorder.dispatch(stage, bound, &[offset], span.count);
            } else {
                debug_assert!(false, "{pass:?} is in the plan, but not compiled");
            }
        } else if let Some(row) = row_of(pass) {
            let (Some(stage), Some(bound)) = (&pipelines.fixed[row], &bindings.fixed[row]) else {
                debug_assert!(false, "{pass:?} is in the plan, but not compiled");
                return;
            };
            match PASSES[row].count {
                Count::Threads(count) => recorder.dispatch(stage, bound, &[], count(controls)),
                Count::Workgroups(count) => recorder.dispatch_workgroups(stage, bound, &[], count(controls)),
            }
        } else if let Some((bound, size)) = self.contacts.dispatch(pass, controls, &self.contact_params) {
            recorder.dispatch_sized(bound, size);
        } else {
            debug_assert!(false, "{pass:?} is in the plan, but not compiled");
        }
    }

    /// Records a pass over the constraints of a kind.
    fn record_constraints<'a>(&'a self, recorder: &mut Recorder<'a>, pass: Pass, kind: usize) {
        let (compiled, buffers) = (&self.controls.compiled.kinds[kind], &self.buffers.kinds[kind]);
        let (stages, bindings) = (&self.pipelines.kinds[kind], &self.bindings.kinds[kind]);
        let (projection, index, count, first_iteration) = match pass {
            Pass::Project { color, span, first_iteration, .. } => {
                (Projection::Project, color, span.count, first_iteration)
            }
            Pass::Trees { color, first_iteration, .. } => {
                (Projection::Trees, color, compiled.trees.colors[color as usize].count, first_iteration)
            }
            Pass::Tiles { phase, first_iteration, .. } => {
                (Projection::Tiles, phase, compiled.tiling.phases[phase as usize].count, first_iteration)
            }
            Pass::Clusters { layer, first_iteration, .. } => {
                (Projection::Clusters, layer, compiled.clustering.layers[layer as usize].count, first_iteration)
            }
            Pass::Split { span, first_iteration, .. } => (Projection::Split, 0, span.count, first_iteration),
            Pass::Flow { .. } => {
                if let (Some(stage), Some(bindings)) = (&stages.flow, &bindings.flow) {
                    let [offset, _] = buffers.gather_offsets();
                    recorder.dispatch(stage, bindings, &[offset], compiled.plastic.len() as u32);
                }
                return;
            }
            Pass::LinearizeChains { color, span, first_iteration, .. } => {
                (Projection::Linearize, color, span.count, first_iteration)
            }
            Pass::GatherChunks { .. } | Pass::GatherHubs { .. } => {
                let place = usize::from(matches!(pass, Pass::GatherHubs { .. }));
                let count = [compiled.split.chunks.len(), compiled.split.hubs.len()][place] as u32;
                if let (Some(stages), Some(bindings)) = (&self.pipelines.gather, &bindings.gather) {
                    let offset = buffers.gather_offsets()[place];
                    recorder.dispatch(&stages[place], &bindings[place], &[offset], count);
                }
                return;
            }
            _ => {
                let place = usize::from(matches!(pass, Pass::AddForceSums { .. }));
                if let (Some(stages), Some(bindings)) = (&self.pipelines.force_sums, &bindings.force_sums) {
                    recorder.dispatch(&stages[place], &bindings[place], &[], compiled.lambda_count() as u32);
                }
                return;
            }
        };
        let offset = buffers.offset(projection, index, first_iteration);
        recorder.dispatch_kind(stages, projection, bindings, offset, count);
    }

    /// Positions, one `vec4<f32>` a particle: x, y, z \[m\] and the inverse mass [1/kg], 0 for pinned particles, followers, and particles in
    /// reserve for tears. Rows from [`Solver::particle_count`] on belong to orientations of rods: do not draw them. STORAGE, VERTEX, COPY_SRC.
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.buffers.positions
    }

    /// Velocities after the last step, one `vec4<f32>` a particle [m/s]; the fourth component is internal. Rows from
    /// [`Solver::particle_count`] on belong to orientations of rods. STORAGE, VERTEX, COPY_SRC.
    pub fn velocities(&self) -> &wgpu::Buffer {
        &self.buffers.velocities
    }

    /// Forces \[N\], one `vec4<f32>` a particle, for a compute pass of the caller to write. 16 bytes until [`Settings::forces`]
    /// is first turned on, which creates another buffer; turning it on again sets it to 0. STORAGE, COPY_DST.
    pub fn forces(&self) -> &wgpu::Buffer {
        &self.buffers.forces
    }

    /// Unit vertex normals of the surfaces after the last step, one `vec4<f32>` a particle, (0, 1, 0) for a particle of no triangle. For a scene without
    /// surfaces a buffer of 16 bytes: do not bind it. STORAGE, VERTEX, COPY_SRC.
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.buffers.normals
    }

    /// The triangles, three `u32` each, [`Solver::index_count`] indices in all; [`Solver::apply_tears`] changes them. INDEX, STORAGE, COPY_SRC.
    pub fn indices(&self) -> &wgpu::Buffer {
        &self.buffers.indices
    }

    /// Number of indices to draw.
    pub fn index_count(&self) -> u32 {
        self.controls.scene.triangles.len() as u32 * 3
    }

    /// Number of particles.
    pub fn particle_count(&self) -> u32 {
        self.controls.scene.particle_count() as u32
    }

    /// Number of steps recorded since creation or the last reset, which is the number of the next step. [`crate::ColorOrder::Alternating`] and
    /// [`crate::ColorOrder::Shuffled`] choose the order of the colours by it.
    pub fn recorded_steps(&self) -> u32 {
        self.steps
    }

    /// Sets the number of the next step. A program that has recorded steps and dropped the encoder passes the value that [`Solver::recorded_steps`]
    /// had before. Colliders and attachments that move count as arrived in recorded steps, dropped or not: after [`Solver::shift_origin`] or a
    /// change of the list of colliders they are at their targets without a motion. The next [`Solver::encode`] then also computes followers and normals. The clock of the wind counts the steps that have run on the
    /// GPU.
    pub fn set_recorded_steps(&mut self, steps: u32) {
        self.steps = steps;
        self.derived_is_stale = true;
    }

    /// The pipelines of the solver. Other solvers on the device can share them: see [`Solver::with_store`].
    pub fn pipeline_store(&self) -> &PipelineStore {
        &self.store
    }

    /// The execution that runs, and why it differs from [`Settings::execution`] if it does.
    pub fn execution(&self) -> Running {
        self.controls.running()
    }

    /// The plan that runs.
    #[doc(hidden)]
    pub fn plan(&self) -> &Plan {
        &self.controls.plan
    }

    /// The colouring of the constraints of a kind.
    #[doc(hidden)]
    pub fn coloring<K: Kind>(&self) -> &Coloring {
        &self.controls.compiled.kinds[kind_index(K::INFO)].coloring
    }

    /// The settings as given; [`Solver::execution`] reports the execution that runs.
    pub fn settings(&self) -> &Settings {
        &self.user_settings
    }
}
