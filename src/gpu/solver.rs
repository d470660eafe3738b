//! The solver: records a plan into the caller's encoder.

use super::buffers::{Buffers, Status};
use super::guarded;
use super::pipelines::{Pipelines, Stage, WORKGROUP_SIZE};
use super::readback::{Readback, decode_scalars, decode_vectors};
use crate::coloring::Coloring;
use crate::controls::Controls;
use crate::error::{Error, Result};
use crate::kinds::{Kind, kind_index};
use crate::plan::{Pass, Plan};
use crate::reference::normal;
use crate::scene::{Material, MaterialId, Scene};
use crate::settings::Settings;

/// The most steps that one call of [`Solver::advance`] asks for: a program that cannot keep up falls behind real time
/// instead of falling ever further behind itself.
const MAX_STEPS_PER_ADVANCE: u32 = 4;

/// Storage buffers that the widest pass binds.
const STORAGE_BUFFERS: u32 = 7;

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
    device: wgpu::Device,
    queue: wgpu::Queue,
    controls: Controls,
    pipelines: Pipelines,
    buffers: Buffers,
    bindings: Bindings,
    target_room: usize,
    keep_lambdas: bool,
    /// Real time that no step has used yet \[s\].
    accumulator: f32,
}

/// What the GPU has counted since the start or the last reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagnostics {
    /// Steps played.
    pub steps: u32,
    /// How often a position would have become NaN or infinite; the particle was held at its last good place instead.
    pub non_finite_count: u32,
    /// The lowest index of a particle that was held.
    pub first_non_finite: Option<u32>,
}

#[derive(Debug)]
struct Bindings {
    targets: wgpu::BindGroup,
    start: wgpu::BindGroup,
    aerodynamics: wgpu::BindGroup,
    predict: wgpu::BindGroup,
    velocity: wgpu::BindGroup,
    advance: wgpu::BindGroup,
    finish: wgpu::BindGroup,
    tether: wgpu::BindGroup,
    normals: wgpu::BindGroup,
    kinds: Vec<KindBindings>,
}

#[derive(Debug)]
struct KindBindings {
    project: wgpu::BindGroup,
    split: wgpu::BindGroup,
    gather_chunks: wgpu::BindGroup,
    gather_hubs: wgpu::BindGroup,
}

impl Bindings {
    fn new(device: &wgpu::Device, pipelines: &Pipelines, buffers: &Buffers, keep_lambdas: bool) -> Self {
        let b = buffers;
        let bind = |stage: &Stage, buffers: &[&wgpu::Buffer]| stage.bind(device, buffers);
        let motion = [&b.params, &b.positions, &b.displacements, &b.residuals, &b.status];
        let kinds = pipelines.kinds.iter().zip(&b.kinds).map(|(stages, k)| {
            let variant = usize::from(keep_lambdas);
            let project = [&b.positions, &b.displacements, &k.records, &b.materials, &k.lambdas];
            let split = [project.as_slice(), &[&k.shares, &k.impulses]].concat();
            let gather = [&b.positions, &b.displacements, &k.impulses, &k.slots, &k.chunks, &k.sums, &k.hubs];
            KindBindings {
                project: stages.project[variant].bind_span(device, &b.spans, &project),
                split: stages.split[variant].bind_span(device, &b.spans, &split),
                gather_chunks: pipelines.gather_chunks.bind_span(device, &b.spans, &gather),
                gather_hubs: pipelines.gather_hubs.bind_span(device, &b.spans, &gather),
            }
        });
        Self {
            targets: bind(&pipelines.targets, &[&b.params, &b.targets, &b.positions, &b.velocities]),
            start: bind(&pipelines.start, &[&b.params, &b.velocities, &b.displacements, &b.residuals, &b.status]),
            aerodynamics: bind(
                &pipelines.aerodynamics,
                &[
                    &b.params,
                    &b.positions,
                    &b.displacements,
                    &b.ring_offsets,
                    &b.ring_corners,
                    &b.accelerations,
                    &b.status,
                ],
            ),
            predict: bind(
                &pipelines.predict,
                &[&b.params, &b.positions, &b.accelerations, &b.displacements, &b.residuals],
            ),
            velocity: bind(&pipelines.velocity, &motion),
            advance: bind(&pipelines.advance, &motion),
            finish: bind(&pipelines.finish, &[&b.params, &b.displacements, &b.velocities, &b.status]),
            tether: bind(&pipelines.tether, &[&b.params, &b.positions, &b.displacements, &b.tethered, &b.tethers]),
            normals: bind(&pipelines.normals, &[&b.params, &b.positions, &b.ring_offsets, &b.ring_corners, &b.normals]),
            kinds: kinds.collect(),
        }
    }
}

impl Solver {
    /// Cooks a scene and uploads it. The uploads travel with the queue's next submission.
    ///
    /// # Errors
    /// [`Error::Empty`] for a scene without particles, [`Error::LimitExceeded`] where the device's limits are too small for
    /// it (see [`crate::required_limits`]), [`Error::InvalidValue`] for settings out of range, [`Error::TooLarge`],
    /// [`Error::Gpu`].
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, scene: &Scene, settings: Settings) -> Result<Self> {
        let limits = device.limits();
        let demands = [
            ("max_storage_buffers_per_shader_stage", STORAGE_BUFFERS, limits.max_storage_buffers_per_shader_stage),
            ("max_compute_invocations_per_workgroup", WORKGROUP_SIZE, limits.max_compute_invocations_per_workgroup),
            ("max_compute_workgroups_per_dimension", 65_535, limits.max_compute_workgroups_per_dimension),
        ];
        for (limit, needed, available) in demands {
            if needed > available {
                let (needed, available) = (needed.into(), available.into());
                return Err(Error::LimitExceeded { what: "the solver".into(), limit, needed, available });
            }
        }
        let controls = Controls::new(scene, settings)?;
        let keep_lambdas = needs_lambdas(&settings);
        let (pipelines, buffers, bindings) = guarded(device, || {
            let pipelines = Pipelines::new(device);
            let buffers = Buffers::new(device, queue, &controls, keep_lambdas)?;
            let bindings = Bindings::new(device, &pipelines, &buffers, keep_lambdas);
            Ok((pipelines, buffers, bindings))
        })?;
        let solver = Self {
            device: device.clone(),
            queue: queue.clone(),
            controls,
            pipelines,
            buffers,
            bindings,
            target_room: 16,
            keep_lambdas,
            accumulator: 0.0,
        };
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
        if steps == 0 && timestamps.is_none() {
            return;
        }
        let plan = &self.controls.plan;
        let substeps = self.controls.settings.substeps;
        self.record(encoder, (0..steps).flat_map(|_| plan.step(substeps)), timestamps);
    }

    /// Records any passes, as one compute pass: for those who compare stage by stage, or time a stage.
    /// In any order but that of [`Solver::plan`] they mean nothing.
    pub fn encode_passes(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        passes: impl IntoIterator<Item = Pass>,
        timestamps: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        self.record(encoder, passes.into_iter(), timestamps);
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        passes: impl Iterator<Item = Pass>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let descriptor = wgpu::ComputePassDescriptor { label: Some("supple.step"), timestamp_writes };
        let mut recorder = Recorder { pass: encoder.begin_compute_pass(&descriptor), last: None };
        for pass in passes {
            self.play(&mut recorder, pass);
        }
    }

    /// The GPU's side of [`crate::Reference::play`].
    fn play<'a>(&'a self, recorder: &mut Recorder<'a>, pass: Pass) {
        let (p, b) = (&self.pipelines, &self.bindings);
        let particles = self.controls.scene.particle_count() as u32;
        let variant = usize::from(self.keep_lambdas);
        match pass {
            Pass::Targets => recorder.dispatch(&p.targets, &b.targets, &[], self.controls.targets.len() as u32),
            Pass::Start => recorder.dispatch(&p.start, &b.start, &[], particles),
            Pass::Aerodynamics => recorder.dispatch(&p.aerodynamics, &b.aerodynamics, &[], particles),
            Pass::Predict => recorder.dispatch(&p.predict, &b.predict, &[], particles),
            Pass::Project { kind, color, span, first_iteration } => {
                let offset = self.buffers.kinds[kind].span_offset(color, first_iteration);
                recorder.dispatch(&p.kinds[kind].project[variant], &b.kinds[kind].project, &[offset], span.count);
            }
            Pass::Split { kind, span, first_iteration } => {
                let offset = self.buffers.kinds[kind].overflow_offset(first_iteration);
                recorder.dispatch(&p.kinds[kind].split[variant], &b.kinds[kind].split, &[offset], span.count);
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
            Pass::Tether => recorder.dispatch(&p.tether, &b.tether, &[], self.controls.cooked.tethered.len() as u32),
            Pass::Velocity => recorder.dispatch(&p.velocity, &b.velocity, &[], particles),
            Pass::Advance => recorder.dispatch(&p.advance, &b.advance, &[], particles),
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

    /// The schedule that it plays.
    pub fn plan(&self) -> &Plan {
        &self.controls.plan
    }

    /// How the constraints of a kind are coloured.
    pub fn coloring<K: Kind>(&self) -> &Coloring {
        &self.controls.cooked.kinds[kind_index(K::INFO)].coloring
    }

    /// How it simulates.
    pub fn settings(&self) -> &Settings {
        &self.controls.settings
    }

    /// Simulates otherwise from the next submission on.
    ///
    /// # Errors
    /// See [`Settings::check`]; [`Error::LimitExceeded`] where λ is to be kept and does not fit.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        settings.check()?;
        let keep_lambdas = needs_lambdas(&settings);
        if keep_lambdas && !self.keep_lambdas {
            let sizes = self.controls.cooked.kinds.iter().map(|kind| kind.len() as u64);
            let made = guarded(&self.device, || Buffers::make_lambdas(&self.device, sizes))?;
            for (kind, lambdas) in self.buffers.kinds.iter_mut().zip(made) {
                kind.lambdas = lambdas;
            }
        }
        if keep_lambdas != self.keep_lambdas {
            self.keep_lambdas = keep_lambdas;
            self.rebind();
        }
        self.controls.set_settings(settings)?;
        self.accumulator = self.accumulator.min(settings.dt);
        self.upload_settings();
        Ok(())
    }

    /// Changes an entry of the material table.
    ///
    /// # Errors
    /// The entry must exist, its figures must be in range.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.controls.set_material(id, material)?;
        self.upload_settings();
        Ok(())
    }

    /// Whether a particle is pinned now.
    ///
    /// # Errors
    /// The particle must exist.
    pub fn is_pinned(&self, particle: u32) -> Result<bool> {
        self.controls.scene.check_particle("is_pinned", particle)?;
        Ok(self.controls.is_pinned(particle))
    }

    /// Pins particles where they are. Tethers are tied anew, which takes about as long as one frame of 100 000 particles.
    ///
    /// # Errors
    /// The particles must exist.
    pub fn pin(&mut self, particles: &[u32]) -> Result<()> {
        let changed = self.controls.set_pinned(particles, true)?;
        for &particle in &changed {
            self.write_velocity(particle, &[[0.0; 3]]);
        }
        self.upload_pins(&changed);
        Ok(())
    }

    /// Releases pinned particles; each flies on with the velocity of its last step. Tethers are tied anew.
    ///
    /// # Errors
    /// The particles must exist, and have had a mass in the scene.
    pub fn release(&mut self, particles: &[u32]) -> Result<()> {
        let changed = self.controls.set_pinned(particles, false)?;
        self.upload_pins(&changed);
        Ok(())
    }

    /// Sets where \[m\] a pinned particle is to be after the next step. It moves there at constant velocity through the
    /// substeps, and stays until it gets another target or is released.
    ///
    /// # Errors
    /// The particle must exist and be pinned, the position must be finite.
    pub fn set_target(&mut self, particle: u32, position: [f32; 3]) -> Result<()> {
        let place = self.controls.set_target(particle, position)?;
        if self.controls.targets.len() > self.target_room {
            let room = self.controls.targets.len() * 2;
            match guarded(&self.device, || Buffers::make_targets(&self.device, room)) {
                Ok(targets) => self.buffers.targets = targets,
                Err(error) => {
                    self.controls.remove_target(particle);
                    return Err(error);
                }
            }
            self.target_room = room;
            self.rebind();
            self.upload_targets(0);
        } else {
            self.upload_targets(place);
        }
        Ok(())
    }

    /// Sets the positions \[m\] of the particles from `first` on.
    ///
    /// # Errors
    /// The particles must exist, the positions must be finite.
    pub fn set_positions(&mut self, first: u32, positions: &[[f32; 3]]) -> Result<()> {
        self.controls.check_values("position", first, positions)?;
        self.write_positions(first, positions);
        Ok(())
    }

    /// Sets the velocities [m/s] of the particles from `first` on. A pinned particle without a target moves at its velocity.
    ///
    /// # Errors
    /// The particles must exist, the velocities must be finite.
    pub fn set_velocities(&mut self, first: u32, velocities: &[[f32; 3]]) -> Result<()> {
        self.controls.check_values("velocity", first, velocities)?;
        self.write_velocity(first, velocities);
        Ok(())
    }

    /// Back to the scene's start: positions, velocities, pins, materials, clock. The settings stay.
    pub fn reset(&mut self) {
        self.controls.reset();
        self.accumulator = 0.0;
        self.upload_state();
    }

    /// Asks for the positions \[m\] as they are at this place in the encoder.
    pub fn request_positions(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<[f32; 3]>> {
        self.request_vectors(encoder, &self.buffers.positions)
    }

    /// Asks for the velocities [m/s].
    pub fn request_velocities(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<[f32; 3]>> {
        self.request_vectors(encoder, &self.buffers.velocities)
    }

    /// Asks for what the GPU has counted.
    pub fn request_diagnostics(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Diagnostics> {
        let decode = |bytes: &[u8]| {
            let status: Status = bytemuck::pod_read_unaligned(&bytes[..size_of::<Status>()]);
            let first_non_finite = (status.first_non_finite != u32::MAX).then_some(status.first_non_finite);
            Diagnostics { steps: status.steps, non_finite_count: status.non_finite_count, first_non_finite }
        };
        Readback::new(&self.device, encoder, &self.buffers.status, size_of::<Status>() as u64, decode)
    }

    /// Waits for all submitted work and reads the positions \[m\].
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Timeout`].
    pub fn read_positions(&self) -> Result<Vec<[f32; 3]>> {
        self.read(|encoder| self.request_positions(encoder))
    }

    /// Waits for all submitted work and reads the velocities [m/s].
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_velocities(&self) -> Result<Vec<[f32; 3]>> {
        self.read(|encoder| self.request_velocities(encoder))
    }

    /// Waits for all submitted work and reads the displacements d of the last substep \[m\].
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_displacements(&self) -> Result<Vec<[f32; 3]>> {
        self.read(|encoder| self.request_vectors(encoder, &self.buffers.displacements))
    }

    /// Waits for all submitted work and reads the normals; empty in a scene without surfaces.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_normals(&self) -> Result<Vec<[f32; 3]>> {
        if self.index_count() == 0 {
            return Ok(Vec::new());
        }
        self.read(|encoder| self.request_vectors(encoder, &self.buffers.normals))
    }

    /// Waits for all submitted work and reads what the GPU has counted.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    pub fn read_diagnostics(&self) -> Result<Diagnostics> {
        self.read(|encoder| self.request_diagnostics(encoder))
    }

    /// Waits for all submitted work and reads λ of every constraint of a kind after the last substep, in the order in which
    /// they were added; λ/h² is the force along ∇C, in N for a distance.
    ///
    /// # Errors
    /// As [`Solver::read_positions`]; [`Error::InvalidValue`] where λ is not kept ([`Settings::keep_lambdas`]).
    pub fn read_lambdas<K: Kind>(&self) -> Result<Vec<f32>> {
        if !self.keep_lambdas {
            return Err(Error::invalid("keep_lambdas", 0.0, "true, or more than one iteration"));
        }
        let kind = kind_index(K::INFO);
        let order = &self.controls.cooked.kinds[kind].coloring.order;
        if order.is_empty() {
            return Ok(Vec::new());
        }
        let buffer = &self.buffers.kinds[kind].lambdas;
        let size = order.len() as u64 * 4;
        let sorted = self.read(|encoder| Readback::new(&self.device, encoder, buffer, size, decode_scalars))?;
        let mut lambdas = vec![0.0; order.len()];
        for (&constraint, lambda) in order.iter().zip(sorted) {
            lambdas[constraint as usize] = lambda;
        }
        Ok(lambdas)
    }

    fn request_vectors(&self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer) -> Readback<Vec<[f32; 3]>> {
        Readback::new(&self.device, encoder, source, u64::from(self.particle_count()) * 16, decode_vectors)
    }

    fn read<T>(&self, request: impl FnOnce(&mut wgpu::CommandEncoder) -> Readback<T>) -> Result<T> {
        let readback = guarded(&self.device, || {
            let mut encoder = self.device.create_command_encoder(&Default::default());
            let readback = request(&mut encoder);
            self.queue.submit([encoder.finish()]);
            Ok(readback)
        })?;
        readback.wait(&self.device)
    }

    fn rebind(&mut self) {
        self.bindings = Bindings::new(&self.device, &self.pipelines, &self.buffers, self.keep_lambdas);
    }

    fn upload_state(&self) {
        let scene = &self.controls.scene;
        self.write_positions(0, &scene.positions);
        self.write_velocity(0, &scene.velocities);
        self.upload_settings();
        self.upload_tethers();
        self.write(&self.buffers.status, 0, &[Status::NEW]);
        let rings = &self.controls.cooked.rings;
        if !rings.is_empty() {
            // Something to draw before the first step.
            let position = |particle: usize| glam::Vec3::from(scene.positions[particle]);
            let normals = (0..scene.particle_count()).map(|i| normal(rings, i, position).extend(0.0).to_array());
            self.write(&self.buffers.normals, 0, &normals.collect::<Vec<_>>());
        }
    }

    fn upload_settings(&self) {
        self.write(&self.buffers.params, 0, &[self.controls.params()]);
        self.write(&self.buffers.materials, 0, &self.controls.scaled_materials());
    }

    fn upload_tethers(&self) {
        self.write(&self.buffers.tethers, 0, &self.controls.tether_rows);
    }

    /// The targets from `place` on, and how many there are.
    fn upload_targets(&self, place: usize) {
        self.write(&self.buffers.targets, place, &self.controls.targets[place..]);
        self.write(&self.buffers.params, 0, &[self.controls.params()]);
    }

    fn upload_pins(&self, changed: &[u32]) {
        if changed.is_empty() {
            return;
        }
        for &particle in changed {
            self.write(
                &self.buffers.positions,
                particle as usize * 4 + 3,
                &[self.controls.inverse_masses[particle as usize]],
            );
        }
        self.upload_targets(0);
        self.upload_tethers();
    }

    fn write_positions(&self, first: u32, positions: &[[f32; 3]]) {
        let start = first as usize;
        let masses = &self.controls.inverse_masses[start..start + positions.len()];
        let rows: Vec<[f32; 4]> = positions.iter().zip(masses).map(|(&[x, y, z], &w)| [x, y, z, w]).collect();
        self.write(&self.buffers.positions, start, &rows);
        self.write(&self.buffers.residuals, start, &vec![[0.0f32; 8]; positions.len()]);
    }

    fn write_velocity(&self, first: u32, velocities: &[[f32; 3]]) {
        let rows: Vec<[f32; 4]> = velocities.iter().map(|&[x, y, z]| [x, y, z, 1.0]).collect();
        self.write(&self.buffers.velocities, first as usize, &rows);
    }

    /// Queues a write of rows from row `place` on.
    fn write<T: bytemuck::Pod>(&self, buffer: &wgpu::Buffer, place: usize, rows: &[T]) {
        if !rows.is_empty() {
            self.queue.write_buffer(buffer, (place * size_of::<T>()) as u64, bytemuck::cast_slice(rows));
        }
    }
}

/// A compute pass, and the stage that is set in it.
struct Recorder<'a> {
    pass: wgpu::ComputePass<'a>,
    last: Option<&'a Stage>,
}

impl<'a> Recorder<'a> {
    fn dispatch(&mut self, stage: &'a Stage, bindings: &wgpu::BindGroup, offsets: &[u32], threads: u32) {
        if threads == 0 {
            return;
        }
        if !self.last.is_some_and(|last| std::ptr::eq(last, stage)) {
            self.pass.set_pipeline(&stage.pipeline);
            self.last = Some(stage);
        }
        self.pass.set_bind_group(0, bindings, offsets);
        let groups = threads.div_ceil(WORKGROUP_SIZE);
        // Rows of 65 535 workgroups, as `thread_index` in the prelude counts them.
        self.pass.dispatch_workgroups(groups.min(65_535), groups.div_ceil(65_535), 1);
    }
}

fn needs_lambdas(settings: &Settings) -> bool {
    settings.keep_lambdas || settings.iterations > 1
}
