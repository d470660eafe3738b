//! The CPU reference: the method in readable form, to compare with the papers, and the oracle of the tests.
//!
//! It runs the same `Plan` as the GPU with the same `f32` arithmetic in the same order, on one thread without SIMD.
//! Each pass is a method. It is not optimised for speed.
//!
//! # State
//! The current position of a particle is x + d: x is its position at the start of the substep, d its displacement since
//! then. Constraints change d. At the end of the substep d is added to x, and d/h *is* the velocity. The velocity is
//! not computed as a difference of rounded positions: at small substeps, rounding would dominate it. Two residuals
//! store the rounding errors of x + d and of d + h² g (Kahan summation).
//!
//! From predict to velocity, d includes the residual r of x. Constraints read only x and d, and so evaluate x + r + d.
//! Without r, the rounding of x + d would change from substep to substep, and velocities would jitter by ulp(x)/h.
//! Damping and friction between particles read d as the motion in the substep; their error is r, at most half an
//! ulp(x).

mod attachments;
mod bodies;
mod chains;
mod collider_state;
mod colliders;
mod constraints;
mod contact_sides;
mod contacts;
mod crossings;
mod events;
mod exits;
mod forces;
mod friction;
mod orientations;
mod particles;
mod plasticity;
mod reading;
mod replacing;
mod search;
mod skinned;
mod state;
mod tearing;
mod trees;
mod triangles;

use crate::collision::ColliderRow;
use crate::constraints::group::Rotation;
use crate::constraints::plasticity::PlasticState;
use crate::constraints::xpbd::ScaledMaterial;
use crate::error::Result;
use crate::scene::Scene;
use crate::schedule::compiled::Purpose;
use crate::schedule::compiled_kind::CompiledKind;
use crate::schedule::plan::{Pass, SearchPass};
use crate::settings::{Execution, Settings};
use crate::sim::contact_params::ContactParams;
use crate::sim::controls::Controls;
use crate::sim::params::Params;
use attachments::Attached;
use colliders::ColliderContact;
use contacts::Contacts;
use events::Events;
use glam::Vec3;
use skinned::SkinnedRows;
use triangles::TriangleContacts;

/// Runs a scene on the CPU. See the [module documentation](self).
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
    /// True if a velocity was set by the user and is not yet converted to a displacement.
    fresh: Vec<bool>,
    accelerations: Vec<Vec3>,
    /// Set by the user \[N\].
    forces: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// λ of every record, per kind; three per record of vector kinds.
    lambdas: Vec<Vec<f32>>,
    /// The sum of λ over the substeps of the last step, per kind; empty if mean forces are off.
    lambda_sums: Vec<Vec<f32>>,
    /// Rotation of every group, per kind.
    rotations: Vec<Vec<Rotation>>,
    /// By kind, the states of its plastic constraints.
    plastic: Vec<Vec<PlasticState>>,
    /// ∇C Δλ of every particle of every split record, per kind.
    impulses: Vec<Vec<Vec3>>,
    /// The sum of the impulses on each member of each group in this substep, per kind.
    given: Vec<Vec<Vec3>>,
    chunk_sums: Vec<Vec3>,
    /// The links of chains of rods.
    chain_links: Vec<chains::Link>,
    tree_nodes: Vec<trees::Node>,
    /// The displacement of each member of each skin before the constraints within skins.
    saved_displacements: Vec<Vec3>,
    /// Displacement by each tether in the last substep \[m\]; empty if tether forces are off.
    tether_displacements: Vec<f32>,
    /// The substep of the last step \[s\].
    last_h: f32,
    /// Number of substeps of the last step.
    last_substeps: u32,
    steps: u32,
    air: [u32; 4], // As `Status::air` in src/gpu/buffers.rs.
    /// True for particles that were quarantined in this step: reset to their last finite position.
    quarantined: Vec<bool>,
    non_finite_count: u32,
    first_non_finite: Option<u32>,
    contact_params: ContactParams,
    /// Current state of the colliders; their targets are those of the controls.
    colliders: Vec<ColliderRow>,
    collider_contacts: Vec<ColliderContact>,
    /// Force \[N\] and torque \[N m\] in the last step.
    collider_forces: Vec<[Vec3; 2]>,
    contacts: Contacts,
    triangle_contacts: TriangleContacts,
    attached: Attached,
    skinned: SkinnedRows,
    lost_collider_contacts: u32,
    events: Events,
}

impl Reference {
    /// Compiles a scene.
    ///
    /// # Errors
    /// As [`crate::Solver::new`], without the errors of the device.
    pub fn new(scene: &Scene, settings: Settings) -> Result<Self> {
        Self::of(Controls::new(scene, settings)?)
    }

    /// Compiles a scene as the asset of [`crate::Instances`], whose CPU counterpart this is. Constraints are solved in
    /// tiles and by colours, without trees and mass splitting. Colliders act on particles, not on triangles.
    ///
    /// # Errors
    /// As [`Reference::new`].
    pub fn of_asset(scene: &Scene, settings: Settings) -> Result<Self> {
        let settings = Settings { execution: Execution::Tiles, triangle_contacts: false, ..settings };
        Self::of(Controls::made_for(scene, settings, Purpose::Asset)?)
    }

    fn of(controls: Controls) -> Result<Self> {
        let (count, entities) = (controls.scene.particle_count(), controls.scene.entity_count());
        let zeros = vec![Vec3::ZERO; entities];
        let mut reference = Self {
            params: controls.params(),
            contact_params: controls.contact_params(),
            colliders: Vec::new(),
            collider_contacts: vec![ColliderContact::default(); count],
            collider_forces: Vec::new(),
            contacts: Contacts::new(count),
            triangle_contacts: TriangleContacts::default(),
            attached: Attached::default(),
            skinned: SkinnedRows { binds: controls.skinned_binds(), ..SkinnedRows::default() },
            lost_collider_contacts: 0,
            events: Events::default(),
            materials: controls.scaled_materials(),
            positions: zeros.clone(),
            displacements: zeros.clone(),
            position_residuals: zeros.clone(),
            displacement_residuals: zeros.clone(),
            velocities: zeros.clone(),
            fresh: vec![true; entities],
            accelerations: zeros.clone(),
            forces: zeros,
            normals: vec![Vec3::ZERO; count],
            lambdas: controls
                .compiled
                .kinds
                .iter()
                .map(|kind| vec![0.0; kind.len() * kind.info.lambda_count()])
                .collect(),
            lambda_sums: Vec::new(),
            rotations: Vec::new(),
            plastic: Vec::new(),
            impulses: Vec::new(),
            given: Vec::new(),
            chunk_sums: Vec::new(),
            chain_links: Vec::new(),
            tree_nodes: Vec::new(),
            saved_displacements: Vec::new(),
            tether_displacements: Vec::new(),
            last_h: 0.0,
            last_substeps: 0,
            steps: 0,
            air: [0; 4],
            quarantined: vec![false; entities],
            non_finite_count: 0,
            first_non_finite: None,
            controls,
        };
        reference.make_impulses();
        reference.make_lambda_sums();
        reference.reset();
        Ok(reference)
    }

    /// Runs steps of `dt`.
    pub fn step(&mut self, steps: u32) {
        self.grow_contacts();
        for _ in 0..steps {
            let plan = std::mem::take(&mut self.controls.plan);
            for pass in plan.step(self.controls.settings.substeps, self.steps) {
                self.run_planned(pass);
            }
            self.controls.plan = plan;
        }
    }

    /// Runs one pass if it is in the plan, to compare backends pass by pass.
    #[doc(hidden)]
    pub fn run(&mut self, pass: Pass) {
        if self.controls.plan.contains(&pass) {
            self.run_planned(pass);
        }
    }

    fn run_planned(&mut self, pass: Pass) {
        match pass.kind() {
            Some(kind) => self.run_over_constraints(pass, kind),
            None => self.run_over_particles(pass),
        }
    }

    /// Runs a pass over the constraints of a kind. Within a tile and a cluster they are solved sequentially; the order between tiles, and between
    /// clusters, has no effect.
    fn run_over_constraints(&mut self, pass: Pass, kind: usize) {
        match pass {
            Pass::Project { span, first_iteration, .. }
            | Pass::Tiles { span, first_iteration, .. }
            | Pass::Clusters { span, first_iteration, .. } => {
                span.range().for_each(|place| self.project(kind, place, first_iteration));
            }
            Pass::Trees { color, first_iteration, .. } => {
                let rows = self.controls.compiled.kinds[kind].trees.colors[color as usize];
                rows.range().for_each(|row| self.solve_tree(kind, row, first_iteration));
            }
            Pass::Split { span, first_iteration, .. } => {
                span.range().for_each(|place| self.split(kind, place, first_iteration));
            }
            Pass::LinearizeChains { span, first_iteration, .. } => self.linearize_chains(kind, span, first_iteration),
            Pass::GatherChunks { .. } => self.gather_chunks(kind),
            Pass::GatherHubs { .. } => self.gather_hubs(kind),
            Pass::Flow { .. } => self.flow(kind),
            Pass::ClearForceSums { .. } => self.lambda_sums[kind].fill(0.0),
            _ => self.lambda_sums[kind].iter_mut().zip(&self.lambdas[kind]).for_each(|(sum, lambda)| *sum += lambda),
        }
    }

    fn run_over_particles(&mut self, pass: Pass) {
        let particles = 0..self.particle_count();
        match pass {
            Pass::Targets => self.targets(),
            Pass::StartSkinned => self.start_skinned(),
            Pass::LimitSkinned { is_first } => self.limit_skinned(is_first),
            Pass::FinishSkinned => self.finish_skinned(),
            Pass::Start => particles.for_each(|i| self.start(i)),
            Pass::Accelerations => particles.for_each(|i| self.accelerate(i)),
            Pass::Predict => particles.for_each(|i| self.predict(i)),
            Pass::SaveDisplacements => self.save_displacements(),
            Pass::RestoreMomentum => {
                (0..self.controls.compiled.skins.rows.len()).for_each(|skin| self.restore_momentum(skin));
            }
            Pass::SolveAttachments { first_iteration } => self.solve_attachments(first_iteration),
            Pass::AddAttachmentForces => self.add_attachment_forces(),
            Pass::FinishAttachments => self.finish_attachments(),
            Pass::SolveTethers => particles.for_each(|i| self.tether(i, false)),
            Pass::Velocity => particles.for_each(|i| self.velocity(i)),
            Pass::IntegrateAndPredict => particles.for_each(|i| self.integrate(i)),
            Pass::IntegrateTethered => {
                self.run_planned(Pass::IntegrateFree);
                self.run_planned(Pass::IntegratePinned);
            }
            Pass::IntegrateFree => {
                for i in particles.filter(|&i| self.controls.inverse_masses[i] != 0.0).collect::<Vec<_>>() {
                    self.integrate(i);
                    self.tether(i, true);
                }
            }
            Pass::IntegratePinned => {
                (0..self.controls.pins.len()).for_each(|place| self.integrate(self.controls.pins[place] as usize));
            }
            Pass::Finish => self.finish(),
            Pass::SolveChains { span, first_iteration, .. } => {
                span.range().for_each(|chain| self.solve_chain(chain, first_iteration));
            }
            Pass::StartOrientations => self.orientations().for_each(|i| self.start_orientation(i)),
            Pass::IntegrateOrientations => self.orientations().for_each(|i| self.integrate_orientation(i)),
            Pass::FinishOrientations => self.orientations().for_each(|i| {
                self.turn(i);
                self.finish_entity(i);
            }),
            Pass::BodyDamping => (0..self.controls.compiled.bodies.len()).for_each(|body| self.damp_body(body)),
            Pass::Follow => (0..self.controls.compiled.followers.len()).for_each(|row| self.follow(row)),
            Pass::Normals => particles.for_each(|i| self.normal(i)),
            _ => self.run_contacts(pass),
        }
    }

    fn run_contacts(&mut self, pass: Pass) {
        let particles = 0..self.particle_count();
        match pass {
            Pass::ValidatePairs => particles.for_each(|i| self.validate_pairs(i)),
            // The CPU searches in one pass; the passes of the GPU find the same set of pairs.
            Pass::Search(SearchPass::FindPairs) => self.search(),
            Pass::Search(SearchPass::FinishSearch) => self.finish_search(),
            Pass::FindContacts => self.find_contacts(),
            Pass::ResolveIntersections => self.resolve_intersections(),
            Pass::SolveContacts { is_last, sum, continues } => self.solve_contacts(is_last, sum as usize, continues),
            Pass::ApplyCorrections => self.apply_corrections(),
            Pass::BuildDivisionPlanes { round } => self.build_division_planes(round),
            Pass::TruncateDisplacements => particles.for_each(|i| self.truncate_displacement(i)),
            Pass::ClearContactEvents => self.clear_contact_events(),
            Pass::NoteContacts => self.note_contacts(),
            Pass::NoteColliderContacts => self.note_collider_contacts(),
            Pass::CollectContactEvents => self.collect_contact_events(),
            Pass::ClearColliderContacts => self.clear_collider_contacts(),
            Pass::InterpolateColliders => self.interpolate_colliders(),
            Pass::CollideTriangles => self.collide_triangles(),
            Pass::ApplyTriangleContacts => self.apply_triangle_contacts(),
            Pass::Collide { is_first } => particles.for_each(|i| self.collide(i, is_first)),
            Pass::CollideAndPredict => {
                self.run_planned(Pass::Collide { is_first: true });
                self.run_planned(Pass::IntegrateAndPredict);
            }
            Pass::ApplyRestitution { predicts } => particles.for_each(|i| self.apply_restitution(i, predicts)),
            Pass::CommitColliders => self.commit_colliders(),
            Pass::ColliderForces => self.sum_collider_forces(),
            Pass::FindIntersections => self.find_intersections(),
            _ => {}
        }
    }

    /// Restores the initial state of the scene; the settings stay.
    pub fn reset(&mut self) {
        self.controls.reset();
        self.upload();
        self.positions = self.controls.scene.entity_places().map(Vec3::from).collect();
        self.velocities = self.controls.scene.entity_velocities().map(Vec3::from).collect();
        for i in 0..self.positions.len() {
            self.displacements[i] = Vec3::ZERO;
            self.position_residuals[i] = Vec3::ZERO;
            self.displacement_residuals[i] = Vec3::ZERO;
            self.fresh[i] = true;
        }
        self.forces.fill(Vec3::ZERO);
        // Trees read λ of the last substep.
        self.lambdas.iter_mut().chain(&mut self.lambda_sums).for_each(|own| own.fill(0.0));
        self.make_tether_displacements();
        self.reset_contacts();
        self.attached.states = self.controls.attachment_states();
        self.reset_skinned();
        let positions = &self.controls.scene.positions;
        self.rotations = self.controls.compiled.kinds.iter().map(|kind| kind.initial_rotations(positions)).collect();
        self.plastic =
            self.controls.compiled.kinds.iter().map(|kind| vec![PlasticState::default(); kind.plastic.len()]).collect();
        (self.steps, self.air) = (0, [0; 4]);
        self.quarantined.fill(false);
        self.non_finite_count = 0;
        self.first_non_finite = None;
        if !self.controls.compiled.rings.is_empty() {
            self.run(Pass::Normals);
        }
    }

    /// Computes followers and normals from positions and velocities.
    fn derive(&mut self) {
        let passes: Vec<Pass> = self.controls.plan.derived().collect();
        passes.into_iter().for_each(|pass| self.run_planned(pass));
    }

    fn upload(&mut self) {
        self.params = self.controls.params();
        self.materials = self.controls.scaled_materials();
        self.attached.rows = self.controls.attachment_rows();
        let contact_params = self.controls.contact_params();
        if std::mem::replace(&mut self.contact_params, contact_params) != contact_params {
            self.mark_stale();
        }
    }

    /// Invalidates the pair list, which was built with other parameters.
    fn mark_stale(&mut self) {
        self.contacts.stale = search::Staleness::Reset;
    }

    fn make_lambda_sums(&mut self) {
        let kept = self.controls.settings.mean_forces;
        self.lambda_sums = self.lambdas.iter().map(|own| vec![0.0; if kept { own.len() } else { 0 }]).collect();
    }

    fn make_impulses(&mut self) {
        let zeros = |kind: &CompiledKind| vec![Vec3::ZERO; kind.impulse_count()];
        self.impulses = self.controls.compiled.kinds.iter().map(zeros).collect();
        let members = |kind: &CompiledKind| vec![Vec3::ZERO; kind.slot_count as usize];
        self.given = self.controls.compiled.kinds.iter().map(members).collect();
        self.chain_links = vec![chains::Link::default(); self.controls.compiled.chains.links.len()];
    }
}
