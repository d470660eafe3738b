//! The CPU player: the method itself, readable beside the papers, and the oracle of the tests.
//!
//! It plays the same [`Plan`] as the GPU with the same arithmetic in the same order, in `f32`, one thread, no
//! SIMD; each pass is a method named like its shader. It is not made for speed.
//!
//! # State
//! A particle is at x + d: x is its position at the start of the substep, d its displacement since then. Constraints
//! move d. At the end of the substep x takes d up, and d/h *is* the velocity. So velocity is never recovered as a
//! difference of rounded positions, which at small substeps drowns in rounding: a particle 10 m up would not even begin to
//! fall at 100 substeps a frame. What the roundings of x + d and of d + h² g lose is kept in two residuals (Kahan's sum).
//!
//! From predict to velocity d also includes the residual r of x. So the constraints, which read x and d alone, evaluate x + r + d: with x + d,
//! whose rounding changes from substep to substep, velocities would tremble by ulp(x)/h. Damping and friction between particles read d as the
//! motion in the substep; they err by r, half an ulp(x) at most.

mod bodies;
mod colliders;
mod constraints;
mod contacts;
mod crossings;
mod exits;
mod forces;
mod particles;
mod search;
mod stars;

pub(crate) use bodies::normal;

use crate::collide::{ColliderRow, ContactParams};
use crate::controls::{Controls, Params};
use crate::cooked::CookedKind;
use crate::error::Result;
use crate::kinds::group::Rotation;
use crate::kinds::{Kind, ShapeMatching, kind_index};
use crate::plan::{Pass, Plan, SearchPass};
use crate::running::Running;
use crate::scene::{Material, MaterialId, Scene, TetherForce};
use crate::settings::Settings;
use crate::xpbd::{ScaledMaterial, kept_of_position, two_sum};
use colliders::Touch;
use contacts::Contacts;
use glam::Vec3;

/// Plays a scene on the CPU. See the [module documentation](self).
#[derive(Debug, Clone)]
pub struct Reference {
    controls: Controls,
    params: Params,
    materials: Vec<ScaledMaterial>,
    positions: Vec<Vec3>,
    displacements: Vec<Vec3>,
    position_residuals: Vec<Vec3>,
    displacement_residuals: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// Whether a velocity was set from outside and has yet to become a displacement.
    fresh: Vec<bool>,
    accelerations: Vec<Vec3>,
    /// By the user \[N\].
    forces: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// λ of every record, per kind; three of a vector.
    lambdas: Vec<Vec<f32>>,
    /// How every group is turned, per kind.
    rotations: Vec<Vec<Rotation>>,
    /// w ∇C Δλ without the w, of every particle of every record that is split, per kind; and their sums by chunk.
    impulses: Vec<Vec<Vec3>>,
    /// The sum of the impulses that each member of each group has been given in this substep, per kind.
    given: Vec<Vec<Vec3>>,
    chunk_sums: Vec<Vec3>,
    /// The displacement of each member of each skin before the constraints within it.
    saved_displacements: Vec<Vec3>,
    /// How far each tether has pulled in the last substep \[m\]; empty where that is not kept.
    pulls: Vec<f32>,
    /// The substep of the last step that was played \[s\].
    last_h: f32,
    steps: u32,
    /// Which particles were held at their last good place in this step.
    held: Vec<bool>,
    non_finite_count: u32,
    contact_params: ContactParams,
    /// As they are now, their targets being those of the controls.
    colliders: Vec<ColliderRow>,
    touches: Vec<Touch>,
    /// Force \[N\] and torque \[N m\] in the last step.
    collider_forces: Vec<[Vec3; 2]>,
    contacts: Contacts,
    lost_touches: u32,
}

impl Reference {
    /// Cooks a scene.
    ///
    /// # Errors
    /// As [`crate::Solver::new`], but for the device.
    pub fn new(scene: &Scene, settings: Settings) -> Result<Self> {
        let controls = Controls::new(scene, settings)?;
        let count = scene.particle_count();
        let zeros = vec![Vec3::ZERO; count];
        let mut reference = Self {
            params: controls.params(),
            contact_params: controls.contact_params(),
            colliders: Vec::new(),
            touches: vec![Touch::default(); count],
            collider_forces: Vec::new(),
            contacts: Contacts::new(count),
            lost_touches: 0,
            materials: controls.scaled_materials(),
            positions: zeros.clone(),
            displacements: zeros.clone(),
            position_residuals: zeros.clone(),
            displacement_residuals: zeros.clone(),
            velocities: zeros.clone(),
            fresh: vec![true; count],
            accelerations: zeros.clone(),
            forces: zeros.clone(),
            normals: zeros,
            lambdas: controls
                .cooked
                .kinds
                .iter()
                .map(|kind| vec![0.0; kind.len() * kind.info.lambda_count()])
                .collect(),
            rotations: Vec::new(),
            impulses: Vec::new(),
            given: Vec::new(),
            chunk_sums: Vec::new(),
            saved_displacements: Vec::new(),
            pulls: Vec::new(),
            last_h: 0.0,
            steps: 0,
            held: vec![false; count],
            non_finite_count: 0,
            controls,
        };
        reference.make_impulses();
        reference.reset();
        Ok(reference)
    }

    /// Plays so many steps of `dt`.
    pub fn step(&mut self, steps: u32) {
        for _ in 0..steps {
            let plan = std::mem::take(&mut self.controls.plan);
            for pass in plan.step(self.controls.settings.substeps, self.steps) {
                self.play_planned(pass);
            }
            self.controls.plan = plan;
        }
    }

    /// Plays one pass of the plan, and none that is not in it. [`Reference::step`] plays a whole plan; this is for those who
    /// compare stage by stage.
    pub fn play(&mut self, pass: Pass) {
        if self.controls.plan.contains(&pass) {
            self.play_planned(pass);
        }
    }

    fn play_planned(&mut self, pass: Pass) {
        let particles = 0..self.positions.len();
        match pass {
            Pass::Targets => self.targets(),
            Pass::Start => particles.for_each(|i| self.start(i)),
            Pass::Accelerations => particles.for_each(|i| self.accelerate(i)),
            Pass::Predict => particles.for_each(|i| self.predict(i)),
            // In a tile one after another, in a patch by rounds; between tiles or patches the order is of no account.
            Pass::Project { kind, span, first_iteration, .. }
            | Pass::Tiles { kind, span, first_iteration, .. }
            | Pass::Patches { kind, span, first_iteration, .. } => {
                span.range().for_each(|place| self.project(kind, place, first_iteration));
            }
            Pass::Stars { kind, color, first_iteration, .. } => {
                let rows = self.controls.cooked.kinds[kind].stars.colors[color as usize];
                rows.range().for_each(|row| self.project_star(kind, row, first_iteration));
            }
            // Body by body in the shader, which share nothing.
            Pass::Whole => {
                for substep in 0..self.controls.settings.substeps {
                    if substep > 0 {
                        self.play_planned(Pass::AdvanceFree);
                        self.play_planned(Pass::AdvancePinned);
                    }
                    (0..self.controls.settings.iterations).for_each(|iteration| self.sweep(iteration == 0));
                }
            }
            Pass::WholeSweep { first_iteration } => self.sweep(first_iteration),
            // Core by core in the shader, to the same bits.
            Pass::Halos { is_first, .. } => {
                let plan = &self.controls.plan;
                let between: &[Pass] = if is_first { &[] } else { &plan.between };
                let passes = [between, &plan.substep].concat();
                passes.into_iter().for_each(|pass| self.play_planned(pass));
            }
            Pass::Split { kind, span, first_iteration } => {
                span.range().for_each(|place| self.split(kind, place, first_iteration));
            }
            Pass::GatherChunks { kind } => self.gather_chunks(kind),
            Pass::GatherHubs { kind } => self.gather_hubs(kind),
            Pass::SaveDisplacements => self.save_displacements(),
            Pass::RestoreMomentum => {
                (0..self.controls.cooked.skins.rows.len()).for_each(|skin| self.restore_momentum(skin))
            }
            Pass::Tether => particles.for_each(|i| self.tether(i, false)),
            Pass::Velocity => particles.for_each(|i| self.velocity(i)),
            Pass::Advance => particles.for_each(|i| {
                self.velocity(i);
                self.predict(i);
            }),
            Pass::AdvanceTethered => {
                self.play_planned(Pass::AdvanceFree);
                self.play_planned(Pass::AdvancePinned);
            }
            Pass::AdvanceFree => {
                for i in particles {
                    if self.controls.inverse_masses[i] != 0.0 {
                        self.velocity(i);
                        self.predict(i);
                        // Whole bodies advance so even where tethers are slack.
                        if self.controls.settings.tethers {
                            self.tether(i, true);
                        }
                    }
                }
            }
            Pass::AdvancePinned => {
                for place in 0..self.controls.pins.len() {
                    let pin = self.controls.pins[place] as usize;
                    self.velocity(pin);
                    self.predict(pin);
                }
            }
            Pass::Watch => particles.for_each(|i| self.watch(i)),
            // All of it at once; what the passes of the GPU make of it in parts is the same set of pairs.
            Pass::Search(SearchPass::Pairs) => self.search(),
            Pass::Search(SearchPass::Ready) => self.ready(),
            Pass::Search(_) => {}
            Pass::Contacts => self.find_contacts(),
            Pass::Untangle => self.untangle(),
            Pass::Separate => self.separate(),
            Pass::Settle { .. } => particles.for_each(|i| self.settle(i)),
            Pass::Divide { round } => self.divide(round),
            Pass::Truncate { .. } => particles.for_each(|i| self.truncate(i)),
            Pass::ForgetTouches => self.forget_touches(),
            Pass::Carry => self.carry(),
            Pass::Collide => particles.for_each(|i| self.collide(i)),
            Pass::CollideAdvance => {
                self.play_planned(Pass::Collide);
                self.play_planned(Pass::Advance);
            }
            Pass::Bounce => particles.for_each(|i| self.bounce(i)),
            Pass::Arrive => self.arrive(),
            Pass::ColliderForces => (0..self.colliders.len()).for_each(|index| self.collider_force(index)),
            Pass::Sort(_) | Pass::ClearCrossings => {}
            Pass::FindCrossings => self.find_crossings(),
            Pass::Finish => {
                particles.for_each(|i| self.velocities[i] = self.displacements[i] / self.params.h);
                let held = self.held.iter_mut().map(std::mem::take);
                self.non_finite_count += held.filter(|held| *held).count() as u32;
                self.last_h = self.params.h;
                self.steps = self.steps.wrapping_add(1);
            }
            Pass::BodyDamping => (0..self.controls.cooked.bodies.len()).for_each(|body| self.damp_body(body)),
            Pass::Follow => (0..self.controls.cooked.followers.len()).for_each(|row| self.follow(row)),
            Pass::Normals => particles.for_each(|i| self.normal(i)),
        }
    }

    /// All constraints once, kind by kind.
    fn sweep(&mut self, first_iteration: bool) {
        for kind in 0..self.controls.cooked.kinds.len() {
            let count = self.controls.cooked.kinds[kind].len();
            (0..count).for_each(|place| self.project(kind, place, first_iteration));
        }
    }

    /// Back to the scene's start; the settings stay.
    pub fn reset(&mut self) {
        self.controls.reset();
        self.upload();
        for i in 0..self.positions.len() {
            self.positions[i] = self.controls.scene.positions[i].into();
            self.velocities[i] = self.controls.scene.velocities[i].into();
            self.displacements[i] = Vec3::ZERO;
            self.position_residuals[i] = Vec3::ZERO;
            self.displacement_residuals[i] = Vec3::ZERO;
            self.fresh[i] = true;
        }
        self.forces.fill(Vec3::ZERO);
        self.make_pulls();
        self.reset_contacts();
        let positions = &self.controls.scene.positions;
        self.rotations = self.controls.cooked.kinds.iter().map(|kind| kind.initial_rotations(positions)).collect();
        self.steps = 0;
        self.held.fill(false);
        self.non_finite_count = 0;
        if !self.controls.cooked.rings.is_empty() {
            self.play(Pass::Normals);
        }
    }

    /// Computes followers and normals from the positions.
    fn derive(&mut self) {
        let passes: Vec<Pass> = self.controls.plan.derived().collect();
        passes.into_iter().for_each(|pass| self.play_planned(pass));
    }

    fn upload(&mut self) {
        self.params = self.controls.params();
        self.materials = self.controls.scaled_materials();
        let contact_params = self.controls.contact_params();
        if std::mem::replace(&mut self.contact_params, contact_params) != contact_params {
            self.mark_stale();
        }
    }

    /// What was listed by other figures may not hold.
    fn mark_stale(&mut self) {
        self.contacts.stale = search::Staleness::All;
    }

    fn make_pulls(&mut self) {
        let count = if self.controls.settings.tether_forces { self.controls.tether_rows.len() } else { 0 };
        self.pulls = vec![0.0; count];
    }

    fn make_impulses(&mut self) {
        let room = |kind: &CookedKind| vec![Vec3::ZERO; kind.impulse_count()];
        self.impulses = self.controls.cooked.kinds.iter().map(room).collect();
        let members = |kind: &CookedKind| vec![Vec3::ZERO; kind.slot_count as usize];
        self.given = self.controls.cooked.kinds.iter().map(members).collect();
    }

    /// The schedule that it plays.
    pub fn plan(&self) -> &Plan {
        &self.controls.plan
    }

    /// See [`crate::Solver::execution`]. Constraints are solved one after another in the order of what is named.
    pub fn execution(&self) -> Running {
        self.controls.running()
    }

    /// How it simulates.
    pub fn settings(&self) -> &Settings {
        &self.controls.settings
    }

    /// See [`crate::Solver::set_settings`].
    ///
    /// # Errors
    /// See there.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        if settings.forces && !self.controls.settings.forces {
            self.forces.fill(Vec3::ZERO);
        }
        let before = self.controls.settings;
        let changed = settings.self_collision != before.self_collision;
        let spread = settings.spreads_unlike(&self.controls.settings);
        self.controls.set_settings(settings)?;
        if changed {
            self.contacts = contacts::Contacts::new(self.positions.len());
        }
        if changed || settings.collider_forces != before.collider_forces {
            self.forget_collider_forces();
        }
        if spread {
            // They stood in the old order.
            self.lambdas.iter_mut().for_each(|lambdas| lambdas.fill(0.0));
        }
        if settings.tether_forces != before.tether_forces {
            self.make_pulls();
        }
        self.make_impulses();
        self.upload();
        self.mark_stale();
        Ok(())
    }

    /// See [`crate::Solver::set_material`].
    ///
    /// # Errors
    /// See there.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.controls.set_material(id, material)?;
        self.upload();
        self.mark_stale();
        Ok(())
    }

    /// See [`crate::Solver::set_constraint`].
    ///
    /// # Errors
    /// See there.
    pub fn set_constraint<K: Kind>(&mut self, index: u32, constraint: K) -> Result<()> {
        self.controls.set_constraint(index, constraint).map(drop)
    }

    /// See [`crate::Solver::pin`].
    ///
    /// # Errors
    /// See there.
    pub fn pin(&mut self, particles: &[u32]) -> Result<()> {
        for particle in self.controls.set_pinned(particles, true)? {
            self.velocities[particle as usize] = Vec3::ZERO;
            self.fresh[particle as usize] = true;
        }
        self.derive();
        self.make_pulls();
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::release`].
    ///
    /// # Errors
    /// See there.
    pub fn release(&mut self, particles: &[u32]) -> Result<()> {
        self.controls.set_pinned(particles, false)?;
        self.make_pulls();
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_target`].
    ///
    /// # Errors
    /// See there.
    pub fn set_target(&mut self, particle: u32, position: [f32; 3]) -> Result<()> {
        self.controls.set_target(particle, position)?;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_positions`].
    ///
    /// # Errors
    /// See there.
    pub fn set_positions(&mut self, first: u32, positions: &[[f32; 3]]) -> Result<()> {
        self.controls.check_state("position", first, positions)?;
        self.controls.move_targets(first, positions);
        for (i, &position) in (first as usize..).zip(positions) {
            self.positions[i] = position.into();
            self.position_residuals[i] = Vec3::ZERO;
            self.held[i] = false;
            self.displacement_residuals[i] = Vec3::ZERO;
        }
        self.derive();
        Ok(())
    }

    /// See [`crate::Solver::shift_origin`].
    ///
    /// # Errors
    /// See there.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        self.controls.shift_origin(offset)?;
        for (x, rest) in self.positions.iter_mut().zip(&mut self.position_residuals) {
            let (sum, lost) = two_sum(*x, offset.into());
            if sum.is_finite() {
                (*x, *rest) = (sum, kept_of_position(*rest + lost));
            }
        }
        for (own, row) in self.colliders.iter_mut().zip(&self.controls.colliders.rows) {
            (own.position, own.target_position) = (row.position, row.target_position);
        }
        self.upload();
        self.mark_stale();
        Ok(())
    }

    /// See [`crate::Solver::set_velocities`].
    ///
    /// # Errors
    /// See there.
    pub fn set_velocities(&mut self, first: u32, velocities: &[[f32; 3]]) -> Result<()> {
        self.controls.check_state("velocity", first, velocities)?;
        for (i, &velocity) in (first as usize..).zip(velocities) {
            self.velocities[i] = velocity.into();
            self.fresh[i] = true;
        }
        self.derive();
        Ok(())
    }

    /// See [`crate::Solver::set_masses`].
    ///
    /// # Errors
    /// See there.
    pub fn set_masses(&mut self, first: u32, masses: &[f32]) -> Result<()> {
        self.controls.set_masses(first, masses).map(drop)
    }

    /// See [`crate::Solver::set_forces`].
    ///
    /// # Errors
    /// See there.
    pub fn set_forces(&mut self, first: u32, forces: &[[f32; 3]]) -> Result<()> {
        self.controls.check_forces(first, forces)?;
        for (i, &force) in (first as usize..).zip(forces) {
            self.forces[i] = force.into();
        }
        Ok(())
    }

    /// Positions x \[m\].
    pub fn positions(&self) -> Vec<[f32; 3]> {
        self.positions.iter().map(|&x| x.into()).collect()
    }

    /// Displacements d over the substep \[m\], for comparing stage by stage.
    pub fn displacements(&self) -> Vec<[f32; 3]> {
        self.displacements.iter().map(|&d| d.into()).collect()
    }

    /// Velocities [m/s] after the last step.
    pub fn velocities(&self) -> Vec<[f32; 3]> {
        self.velocities.iter().map(|&v| v.into()).collect()
    }

    /// Unit normals of the surfaces.
    pub fn normals(&self) -> Vec<[f32; 3]> {
        self.normals.iter().map(|&n| n.into()).collect()
    }

    /// See [`crate::Solver::read_lambdas`]; the kind's place in [`crate::kinds::KINDS`].
    pub fn lambdas(&self, kind: usize) -> Vec<f32> {
        let cooked = &self.controls.cooked.kinds[kind];
        cooked.coloring.unsort(&cooked.info.lambdas(&self.lambdas[kind]))
    }

    /// See [`crate::Solver::read_constraint_forces`]; the kind's place in [`crate::kinds::KINDS`].
    pub fn constraint_forces(&self, kind: usize) -> Vec<f32> {
        let square = self.last_h * self.last_h;
        self.lambdas(kind).into_iter().map(|lambda| lambda / square).collect()
    }

    /// See [`crate::Solver::read_tether_forces`].
    pub fn tether_forces(&self) -> Vec<TetherForce> {
        self.controls.tether_forces(&self.pulls, self.last_h)
    }

    /// See [`crate::Solver::read_rotations`].
    pub fn rotations(&self) -> Vec<[f32; 4]> {
        let kind = kind_index(ShapeMatching::INFO);
        let rows: Vec<[f32; 4]> = self.rotations[kind].iter().map(|&(axis, w)| axis.extend(w).into()).collect();
        self.controls.cooked.kinds[kind].coloring.unsort(&rows)
    }

    /// See [`crate::gpu::Diagnostics::non_finite_count`].
    pub fn non_finite_count(&self) -> u32 {
        self.non_finite_count
    }
}
