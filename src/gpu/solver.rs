//! The solver: records a plan into the caller's encoder.

use super::bindings::Bindings;
use super::buffers::Buffers;
use super::contacts::Contacts;
use super::context::is_software;
use super::guarded;
use super::halos::HaloPass;
use super::pipelines::{Pipelines, SPAN_STRIDE, WORKGROUP_SIZE};
use super::recorder::{Projection, Recorder, Sides};
use super::shift::ShiftPass;
use super::skins::SkinPasses;
use super::suited::suited;
use crate::collide::ContactParams;
use crate::coloring::Coloring;
use crate::controls::Controls;
use crate::cooked::Cooked;
use crate::error::{Error, Result};
use crate::kinds::{Kind, kind_index};
use crate::plan::{Pass, Plan};
use crate::running::Running;
use crate::scene::Scene;
use crate::settings::{Execution, Settings};
use crate::whole::MOST_PARTICLES;

/// The most steps that one call of [`Solver::advance`] asks for: a program that cannot keep up falls behind real time
/// instead of falling ever further behind itself.
const MAX_STEPS_PER_ADVANCE: u32 = 4;

/// Storage buffers that the widest pass binds.
pub(super) const STORAGE_BUFFERS: u32 = 8;

/// Plays a scene on the GPU.
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
    pub(super) queue: wgpu::Queue,
    pub(super) controls: Controls,
    pub(super) pipelines: Pipelines,
    pub(super) buffers: Buffers,
    pub(super) bindings: Bindings,
    pub(super) contacts: Contacts,
    pub(super) contact_params: ContactParams,
    pub(super) target_room: usize,
    pub(super) keep_lambdas: bool,
    /// Steps recorded since the start or the last reset.
    pub(super) steps: u32,
    /// What [`Execution::Auto`] is for this scene on this adapter.
    pub(super) auto: Execution,
    /// What plays whole substeps, where that is asked for and the scene and the device are for it.
    pub(super) halos: Option<HaloPass>,
    /// Whether that has been looked into since the constraints were spread.
    pub(super) tried_halos: bool,
    /// The momentum of skins, where there are any.
    pub(super) skins: Option<SkinPasses>,
    /// Which buffers the next pass reads, by what was recorded last.
    sides: Sides,
    /// The substep h \[s\] of what was recorded last.
    pub(super) recorded_substep: f32,
    /// Real time that no step has used yet \[s\].
    pub(super) accumulator: f32,
    /// Whether followers and normals are older than the positions: the next [`Solver::encode`] records the passes that compute them.
    pub(super) derived_is_stale: bool,
    pub(super) shift: Option<ShiftPass>,
    /// The settings of the user; those of the controls have an execution in the place of [`Execution::Auto`].
    pub(super) asked: Settings,
}

/// What the GPU has counted since the start or the last reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagnostics {
    /// Steps played.
    pub steps: u32,
    /// How often a position would have become NaN or infinite: particles, counted once in each step in which this happened to them. They were
    /// held at their last good place instead.
    pub non_finite_count: u32,
    /// The lowest index of a particle that was held.
    pub first_non_finite: Option<u32>,
    /// Touches of a particle with more than two colliders in a step: the forces on the third are not counted. One a substep and collider, or two
    /// where surfaces are kept apart.
    pub lost_touches: u32,
}

impl Solver {
    /// Cooks a scene and uploads it. The uploads travel with the queue's next submission.
    ///
    /// # Errors
    /// [`Error::Empty`] for a scene without particles, [`Error::LimitExceeded`] where the device's limits are too small for
    /// it (see [`crate::required_limits`]), [`Error::InvalidValue`] for settings out of range, [`Error::TooLarge`],
    /// [`Error::Gpu`].
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, scene: &Scene, settings: Settings) -> Result<Self> {
        if settings.execution != Execution::Auto || is_software(&device.adapter_info()) {
            return Self::playing(device, queue, Controls::new(scene, settings)?);
        }
        for &execution in suited(scene) {
            let controls = Controls::new(scene, Settings { execution, ..settings })?;
            if execution == Execution::Halos && !controls.can_fuse() {
                continue;
            }
            match Self::playing(device, queue, controls) {
                Ok(solver) if execution != Execution::Halos || solver.controls.plan.fused => {
                    return Ok(Self { auto: execution, asked: settings, ..solver });
                }
                // What needs the least memory, if it is a grid, comes last: where even that is too large, its error says so.
                Err(error) if execution == Execution::Tiles => return Err(error),
                Ok(_) | Err(Error::LimitExceeded { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let controls = Controls::new(scene, Settings { execution: Execution::Tiles, ..settings })?;
        Ok(Self { auto: Execution::Tiles, asked: settings, ..Self::playing(device, queue, controls)? })
    }

    fn playing(device: &wgpu::Device, queue: &wgpu::Queue, controls: Controls) -> Result<Self> {
        let limits = device.limits();
        let demands = [
            ("max_storage_buffers_per_shader_stage", STORAGE_BUFFERS, limits.max_storage_buffers_per_shader_stage),
            ("max_compute_invocations_per_workgroup", WORKGROUP_SIZE, limits.max_compute_invocations_per_workgroup),
            ("max_compute_workgroups_per_dimension", 65_535, limits.max_compute_workgroups_per_dimension),
            (
                "max_dynamic_uniform_buffers_per_pipeline_layout",
                1,
                limits.max_dynamic_uniform_buffers_per_pipeline_layout,
            ),
        ];
        for (limit, needed, available) in demands {
            if needed > available {
                let (needed, available) = (needed.into(), available.into());
                return Err(Error::LimitExceeded { what: "the solver".into(), limit, needed, available });
            }
        }
        let settings = controls.settings;
        check_workgroup_memory(device, &controls.cooked)?;
        let keep_lambdas = needs_lambdas(&settings);
        let (pipelines, buffers, bindings, contacts, skins) = guarded(device, || {
            let pipelines = Pipelines::new(device, &controls, keep_lambdas);
            let buffers = Buffers::new(device, queue, &controls, keep_lambdas)?;
            let bindings = Bindings::new(device, &pipelines, &buffers);
            let contacts = Contacts::new(device, queue, &controls, &buffers)?;
            let skins = SkinPasses::new(device, queue, &controls.cooked.skins, &buffers)?;
            Ok((pipelines, buffers, bindings, contacts, skins))
        })?;
        // If that is asked for later.
        let auto = if is_software(&device.adapter_info()) { Execution::Auto } else { suited(&controls.scene)[0] };
        let mut solver = Self {
            device: device.clone(),
            queue: queue.clone(),
            contact_params: controls.contact_params(),
            controls,
            pipelines,
            buffers,
            bindings,
            contacts,
            target_room: 16,
            keep_lambdas,
            steps: 0,
            auto,
            halos: None,
            tried_halos: false,
            skins,
            sides: Sides::default(),
            recorded_substep: settings.substep(),
            accumulator: 0.0,
            derived_is_stale: false,
            shift: None,
            asked: settings,
        };
        solver.make_halos();
        solver.upload_state();
        Ok(solver)
    }

    /// How many steps of `dt` are due after another `real_seconds`, at most 4; what is left over is kept for the next call,
    /// see [`Solver::interpolation`]. A NaN, infinite or negative time counts as none.
    #[must_use = "encode as many steps"]
    pub fn advance(&mut self, real_seconds: f32) -> u32 {
        let dt = self.controls.settings.dt;
        self.accumulator += if real_seconds.is_finite() { real_seconds.max(0.0) } else { 0.0 };
        let due = (self.accumulator / dt).floor();
        let steps = (due as u32).min(MAX_STEPS_PER_ADVANCE);
        // What is too much to catch up is dropped, the fraction is not.
        self.accumulator = (self.accumulator - due * dt).clamp(0.0, dt);
        steps
    }

    /// How far real time is into the next step, 0 to 1. To draw without judder, draw at x − (1 − f) dt v.
    pub fn interpolation(&self) -> f32 {
        self.accumulator / self.controls.settings.dt
    }

    /// Records so many steps of `dt` into the encoder, as one compute pass. It neither submits nor waits.
    ///
    /// If positions, velocities or pins were changed since the last call, it first records the passes that compute followers and normals from
    /// them; `encode(encoder, 0)` records only these. A program that draws while the simulation is paused calls it so.
    ///
    /// The number of passes is fixed here, while `set_…`, `pin`, `release` and `reset` are queued writes, which come before
    /// everything that is submitted after them. So submit what is recorded before you change anything: steps recorded
    /// under other settings would run with a mixture of both. A program that drops an encoder calls [`Solver::set_recorded_steps`].
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
        let plan = &self.controls.plan;
        let (substeps, first) = (self.controls.settings.substeps, self.steps);
        let derived = self.derived_is_stale.then(|| plan.derived());
        let passes = (0..steps).flat_map(|step| plan.step(substeps, first.wrapping_add(step)));
        self.sides = self.record(encoder, derived.into_iter().flatten().chain(passes), timestamps);
        self.derived_is_stale = false;
        self.steps = first.wrapping_add(steps);
        if steps > 0 {
            self.controls.colliders.arrive();
        }
        self.recorded_substep = self.controls.settings.substep();
    }

    /// Records passes of the plan, as one compute pass, and none that is not in it: for those who compare stage by stage, or
    /// time a stage. In any order but that of [`Solver::plan`] they mean nothing.
    pub fn encode_passes(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        passes: impl IntoIterator<Item = Pass>,
        timestamps: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let plan = &self.controls.plan;
        let (mut arrives, mut finished) = (false, 0);
        let passes = passes.into_iter().filter(|pass| plan.contains(pass)).inspect(|pass| {
            arrives |= *pass == Pass::Arrive;
            finished += u32::from(*pass == Pass::Finish);
        });
        self.sides = self.record(encoder, passes, timestamps);
        self.steps = self.steps.wrapping_add(finished);
        if arrives {
            self.controls.colliders.arrive();
        }
    }

    /// Returns which buffers are to be read next.
    pub(super) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        passes: impl Iterator<Item = Pass>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> Sides {
        let mut recorder = Recorder::new(encoder, timestamp_writes);
        recorder.sides = self.sides;
        for pass in passes {
            self.play(&mut recorder, pass);
        }
        recorder.sides
    }

    /// The passes that keep the momentum of skins.
    fn play_skins<'a>(&'a self, recorder: &mut Recorder<'a>, pass: Pass) {
        let Some(SkinPasses { save, restore, bindings, .. }) = &self.skins else { return };
        let skins = &self.controls.cooked.skins;
        if pass == Pass::SaveDisplacements {
            recorder.dispatch(save, &bindings[0], &[], skins.members.len() as u32);
        } else {
            recorder.dispatch_groups(restore, &bindings[1], &[], skins.rows.len() as u32);
        }
    }

    /// The GPU's side of [`crate::Reference::play`].
    fn play<'a>(&'a self, recorder: &mut Recorder<'a>, pass: Pass) {
        let (p, b) = (&self.pipelines, &self.bindings);
        let particles = self.controls.scene.particle_count() as u32;
        match pass {
            Pass::Targets => recorder.dispatch(&p.targets, &b.targets, &[], self.controls.targets.len() as u32),
            Pass::Start => {
                recorder.sides.halos = 0;
                recorder.dispatch(&p.start, &b.start, &[], particles);
            }
            Pass::Accelerations => recorder.dispatch(&p.accelerations, &b.accelerations, &[], particles),
            Pass::Predict => recorder.dispatch(&p.predict, &b.predict, &[], particles),
            Pass::Project { kind, color, span, first_iteration } => {
                let offset = self.buffers.kinds[kind].span_offset(color, first_iteration);
                recorder.dispatch_kind(&p.kinds[kind], Projection::Project, &b.kinds[kind], offset, span.count);
            }
            Pass::Stars { kind, color, first_iteration, .. } => {
                let offset = self.buffers.kinds[kind].stars_offset(color, first_iteration);
                let count = self.controls.cooked.kinds[kind].stars.colors[color as usize].count;
                recorder.dispatch_kind(&p.kinds[kind], Projection::Stars, &b.kinds[kind], offset, count);
            }
            Pass::Tiles { kind, phase, first_iteration, .. } => {
                let offset = self.buffers.kinds[kind].tiles_offset(phase, first_iteration);
                let count = self.controls.cooked.kinds[kind].tiling.phases[phase as usize].count;
                recorder.dispatch_kind(&p.kinds[kind], Projection::Tiles, &b.kinds[kind], offset, count);
            }
            Pass::Patches { kind, layer, first_iteration, .. } => {
                let offset = self.buffers.kinds[kind].patches_offset(layer, first_iteration);
                let count = self.controls.cooked.kinds[kind].patching.layers[layer as usize].count;
                recorder.dispatch_kind(&p.kinds[kind], Projection::Patches, &b.kinds[kind], offset, count);
            }
            Pass::Whole | Pass::WholeSweep { .. } => {
                let row = match pass {
                    Pass::WholeSweep { first_iteration } => 2 - u32::from(first_iteration),
                    _ => 0,
                };
                let count = self.controls.cooked.whole.as_ref().map_or(0, |whole| whole.batch_count);
                if let (Some(stage), Some(bindings)) = (&p.whole, &b.whole) {
                    recorder.dispatch_groups(stage, bindings, &[row * SPAN_STRIDE], count);
                }
            }
            Pass::Halos { is_first, tethers } => {
                if let Some(halos) = &self.halos {
                    let bindings = &halos.bindings[recorder.sides.halos];
                    recorder.dispatch_groups(
                        &halos.stage,
                        bindings,
                        &[HaloPass::offset(is_first, tethers)],
                        halos.batch_count,
                    );
                    recorder.sides.halos = 1 - recorder.sides.halos;
                }
            }
            Pass::Split { kind, span, first_iteration } => {
                let offset = self.buffers.kinds[kind].split_offset(first_iteration);
                recorder.dispatch_kind(&p.kinds[kind], Projection::Split, &b.kinds[kind], offset, span.count);
            }
            Pass::GatherChunks { kind } => {
                let count = self.controls.cooked.kinds[kind].split.chunks.len() as u32;
                let offset = self.buffers.kinds[kind].chunks_offset();
                recorder.dispatch(&p.gather_chunks, &b.kinds[kind].gather_chunks, &[offset], count);
            }
            Pass::GatherHubs { kind } => {
                let count = self.controls.cooked.kinds[kind].split.hubs.len() as u32;
                let offset = self.buffers.kinds[kind].hubs_offset();
                recorder.dispatch(&p.gather_hubs, &b.kinds[kind].gather_hubs, &[offset], count);
            }
            Pass::SaveDisplacements | Pass::RestoreMomentum => self.play_skins(recorder, pass),
            Pass::Tether => {
                recorder.sides.anchors = 0;
                recorder.dispatch(&p.tether, &b.tether, &[], particles);
            }
            Pass::Velocity => recorder.dispatch(&p.velocities.velocity, &b.velocity, &[], particles),
            Pass::Advance => recorder.dispatch(&p.velocities.advance, &b.advance, &[], particles),
            Pass::AdvanceTethered | Pass::AdvanceFree => {
                if let (Some([stage, _]), Some(bindings)) = (&p.velocities.advance_tethered, &b.advance_tethered) {
                    recorder.dispatch(stage, &bindings[recorder.sides.anchors], &[], particles);
                    recorder.sides.anchors = 1 - recorder.sides.anchors;
                }
            }
            Pass::AdvancePinned => {
                if let (Some([_, stage]), Some(bindings)) = (&p.velocities.advance_tethered, &b.advance_pinned) {
                    recorder.dispatch(stage, bindings, &[], self.controls.pins.len() as u32);
                }
            }
            Pass::BodyDamping => {
                let count = self.controls.cooked.bodies.len() as u32;
                recorder.dispatch_groups(&p.body_damping, &b.body_damping, &[], count);
            }
            Pass::Follow => {
                recorder.dispatch(&p.follow, &b.follow, &[], self.controls.cooked.followers.len() as u32);
            }
            Pass::Watch
            | Pass::Search(_)
            | Pass::Contacts
            | Pass::Untangle
            | Pass::Separate
            | Pass::Settle { .. }
            | Pass::Divide { .. }
            | Pass::Truncate { .. }
            | Pass::ForgetTouches
            | Pass::Carry
            | Pass::Collide
            | Pass::CollideAdvance
            | Pass::Bounce
            | Pass::Arrive
            | Pass::ColliderForces
            | Pass::Sort(_)
            | Pass::ClearCrossings
            | Pass::FindCrossings => {
                if let Some((bound, size)) = self.contacts.dispatch(pass, &self.controls, &self.contact_params) {
                    recorder.dispatch_sized(bound, size);
                }
            }
            Pass::Finish => recorder.dispatch(&p.finish, &b.finish, &[], particles),
            Pass::Normals => recorder.dispatch(&p.normals, &b.normals, &[], particles),
        }
    }

    /// Positions, one `vec4<f32>` a particle: x, y, z \[m\] and the inverse mass [1/kg]. STORAGE, VERTEX, COPY_SRC.
    pub fn positions(&self) -> &wgpu::Buffer {
        &self.buffers.positions
    }

    /// Velocities after the last step, one `vec4<f32>` a particle [m/s]. STORAGE, VERTEX, COPY_SRC.
    pub fn velocities(&self) -> &wgpu::Buffer {
        &self.buffers.velocities
    }

    /// Forces \[N\], one `vec4<f32>` a particle, for a pass of the caller's to write; where [`Settings::forces`] is off it holds
    /// nothing. It is another buffer once that is turned on. STORAGE, COPY_DST.
    pub fn forces(&self) -> &wgpu::Buffer {
        &self.buffers.forces
    }

    /// Unit normals of the surfaces after the last step, one `vec4<f32>` a particle. STORAGE, VERTEX, COPY_SRC.
    /// In a scene without surfaces it holds nothing.
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.buffers.normals
    }

    /// The triangles, three `u32` each, [`Solver::index_count`] in all. INDEX, STORAGE, COPY_SRC.
    pub fn indices(&self) -> &wgpu::Buffer {
        &self.buffers.indices
    }

    /// How many indices to draw.
    pub fn index_count(&self) -> u32 {
        self.controls.scene.triangles.len() as u32 * 3
    }

    /// How many particles there are.
    pub fn particle_count(&self) -> u32 {
        self.controls.scene.particle_count() as u32
    }

    /// How many steps have been recorded since the start or the last reset: the number of the next step, by which
    /// [`crate::ColorOrder::Alternating`] and [`crate::ColorOrder::Shuffled`] choose the order of its colours.
    pub fn recorded_steps(&self) -> u32 {
        self.steps
    }

    /// Sets the number of the next step, for a program that has recorded steps and dropped the encoder: call it with
    /// [`Solver::recorded_steps`] of before that recording. The next [`Solver::encode`] then also computes followers and normals anew. The clock of
    /// the wind counts on the GPU the steps that have run.
    pub fn set_recorded_steps(&mut self, steps: u32) {
        self.steps = steps;
        self.derived_is_stale = true;
    }

    /// What solves the constraints, which may differ from [`Settings::execution`], and why.
    pub fn execution(&self) -> Running {
        self.controls.running()
    }

    /// The schedule that it plays.
    pub fn plan(&self) -> &Plan {
        &self.controls.plan
    }

    /// How the constraints of a kind are coloured.
    pub fn coloring<K: Kind>(&self) -> &Coloring {
        &self.controls.cooked.kinds[kind_index(K::INFO)].coloring
    }

    /// The settings that were asked for; [`Solver::execution`] says what runs.
    pub fn settings(&self) -> &Settings {
        &self.asked
    }
}

/// Whether a workgroup has the memory that whole bodies take.
pub(super) fn check_workgroup_memory(device: &wgpu::Device, cooked: &Cooked) -> Result<()> {
    let limit = "max_compute_workgroup_storage_size";
    let available = device.limits().max_compute_workgroup_storage_size.into();
    let needed = if cooked.whole.is_some() { MOST_PARTICLES as u64 * 16 } else { 0 };
    if needed <= available {
        return Ok(());
    }
    Err(Error::LimitExceeded { what: "a scene that is solved body by body".into(), limit, needed, available })
}

/// Whether anything reads λ after its constraint was projected.
pub(super) fn needs_lambdas(settings: &Settings) -> bool {
    settings.keep_lambdas || settings.iterations > 1
}
