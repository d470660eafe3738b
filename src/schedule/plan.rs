//! The plan of a step, as data. Both backends run it: [`crate::Reference`] on the CPU, [`crate::Solver`] on the GPU.
//!
//! A step of `dt` runs `begin` once, `substep` `substeps` times with `between` after each but the last, then `end`
//! once:
//!
//! ```text
//! begin     Targets Start Predict
//! substep   SolveTethers Project … (Split GatherChunks GatherHubs)    Project: once per iteration, kind and colour
//! between   IntegrateAndPredict                                       = Velocity, then Predict
//! end       Velocity (BodyDamping) Finish (Follow) Normals
//! ```
//!
//! Options change the plan as follows:
//! - With wind, fields or forces, `Accelerations` precedes each `Predict`. `Velocity` and `Predict` are then separate
//!   passes in `between`.
//! - With plastic constraints, `begin` starts with `Flow`, once per kind, that of joints of rods last.
//! - With closed surfaces of pressure constraints, the constraints within them, of all kinds, end an iteration. They are
//!   between `SaveDisplacements` and `RestoreMomentum`.
//! - With [`Settings::mean_forces`], `begin` has `ClearForceSums`, and `AddForceSums` follows the constraints and
//!   contacts of each substep.
//! - With restitution, and with colliders at the surface level, `ApplyRestitution` replaces `Velocity` and
//!   `IntegrateAndPredict`.
//! - With tethers and pins, `SolveTethers` moves from `substep` to the end of `begin`, and `IntegrateTethered` replaces
//!   `IntegrateAndPredict`. With many pins, `IntegrateFree` and `IntegratePinned` do.
//! - `SolveTethers` stays in `substep` with accelerations or `ApplyRestitution`, if tether forces are recorded, or at the
//!   surface level, where pins may be truncated.
//! - If the scene has or reserves attachments, `SolveAttachments` ends each iteration, and `end` has `FinishAttachments`,
//!   after `AddAttachmentForces` if collider forces are summed.
//! - With skinned particles, `StartSkinned` precedes `Start`, `LimitSkinned` follows the constraints and each
//!   `ApplyCorrections`, and `end` has `FinishSkinned`.
//! - With orientations, `StartOrientations` follows `Start`, `IntegrateOrientations` ends `between`, and
//!   `FinishOrientations` precedes `Finish`.
//! - With rods, `LinearizeChains` of both kinds and `SolveChains`, per colour, precede the stretch-shear constraints outside of chains.
//! - With colliders, `CommitColliders` runs in `end`; with several, `MarkSlabs` runs in `begin`. To sum collider forces, `begin` has
//!   `ClearColliderContacts`, and `end` has `MarkTouchedColliders` and `ColliderForces`.
//! - With contact events, `begin` has `ClearContactEvents`, `NoteContacts` follows the iterations of contacts, and `end` has
//!   `NoteColliderContacts` and `CollectContactEvents`. `ClearColliderContacts` then runs without collider forces too.
//! - With triangles and colliders, `CollideTriangles` and `ApplyTriangleContacts` follow the constraints.
//! - If `IntegrateAndPredict` directly follows `Collide`, `CollideAndPredict` in `between` replaces both. The last
//!   `Collide` is then in `end`.
//!
//! A substep with self-collision and colliders is
//!
//! ```text
//! InterpolateColliders SolveTethers Project … (Collide) ValidatePairs Search … FindContacts (ResolveIntersections)
//! (Project … SolveContacts (ApplyCorrections) (Collide)) … BuildDivisionPlanes … TruncateDisplacements
//! ```
//!
//! The first `Collide`, `ResolveIntersections`, `BuildDivisionPlanes` and `TruncateDisplacements` exist at the surface
//! level only. `Project` in the iterations of contacts is that of groups, after the first iteration. `Collide` ends every
//! second iteration; with groups it ends each. `ApplyCorrections` precedes it, and ends the last iteration and every
//! eighth; with groups or skinned particles it ends each. The `Search` passes return at once while the pair list is
//! valid. Later rounds of `BuildDivisionPlanes` return at once if the previous round truncated nothing.
//!
//! `ResolveIntersections` reads the intersections of the end of the previous step. There, `GridsForIntersections`,
//! `ClearIntersections` and `FindIntersections` find them.

pub(crate) use super::pass::{DIVISION_ROUNDS, MOST_SUMMED};
pub use super::pass::{Pass, SearchPass};

use crate::collision::SelfCollision;
use crate::constraints::{Kind, Measure, ShapeMatching, kind_index};
use crate::schedule::chains::chain_kinds;
use crate::schedule::compiled::CompiledScene;
use crate::schedule::compiled_kind::CompiledKind;
use crate::schedule::plan_inputs::PlanInputs;
use crate::schedule::shuffle::{mix, shuffled};
use crate::settings::{ColorOrder, Field, Settings, Sweep};
use std::ops::Range;

/// Maximum number of pins for [`Pass::IntegrateTethered`], which needs a copy of their positions before the substep.
pub(crate) const FEW_PINS: usize = 8;

/// The passes of a step. See the [module documentation](self).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Runs once, first.
    pub begin: Vec<Pass>,
    /// Runs once per substep.
    pub substep: Vec<Pass>,
    /// Runs after each substep but the last.
    pub between: Vec<Pass>,
    /// Runs once, last.
    pub end: Vec<Pass>,
    /// The order of the colours of a kind; `substep` lists them in the fixed order.
    pub color_order: ColorOrder,
    /// For each pass of `substep`, the range of colours of its kind and iteration.
    runs: Vec<Run>,
}

/// Consecutive passes that may run in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: usize,
    count: usize,
    iteration: u32,
}

impl Plan {
    pub(crate) fn new(compiled: &CompiledScene, settings: &Settings, inputs: PlanInputs) -> Self {
        let surfaces = !compiled.rings.is_empty();
        let fields = settings.fields.iter().any(|field| *field != Field::None);
        let accelerated = surfaces && settings.wind.is_some() || fields || settings.forces;
        let apart = settings.keeps_surfaces_apart();
        // At the surface level, displacements include the recovery from collider overlap until `ApplyRestitution`.
        let inputs = PlanInputs { bounce: inputs.bounce || apart && inputs.any, ..inputs };
        let mut plan = Self { begin: vec![Pass::Targets], color_order: settings.color_order, ..Self::default() };
        plan.begin.extend(inputs.skinned.then_some(Pass::StartSkinned));
        plan.begin.push(Pass::Start);
        let is_plastic = |kind: &usize| !compiled.kinds[*kind].plastic.is_empty();
        let mut plastic: Vec<usize> = (0..compiled.kinds.len()).filter(is_plastic).collect();
        // The joints of rods flow last: they break with their segments.
        plastic.sort_by_key(|&kind| compiled.kinds[kind].info.plastic == Some(Measure::Rotation));
        plan.begin.splice(0..0, plastic.into_iter().map(|kind| Pass::Flow { kind }));
        let has_orientations = compiled.orientation_count > 0;
        plan.begin.extend(has_orientations.then_some(Pass::StartOrientations));
        let lists_events = settings.contact_events > 0;
        plan.begin.extend(lists_events.then_some(Pass::ClearContactEvents));
        plan.begin.extend(inputs.several.then_some(Pass::MarkSlabs));
        plan.begin.extend((inputs.any && settings.keeps_collider_impulses()).then_some(Pass::ClearColliderContacts));
        let predict: &[Pass] = if accelerated { &[Pass::Accelerations, Pass::Predict] } else { &[Pass::Predict] };
        plan.begin.extend(predict);
        plan.begin.extend(summed_kinds(compiled, settings).map(|kind| Pass::ClearForceSums { kind }));
        plan.push_substeps(compiled, settings, inputs, predict);
        plan.between.extend(has_orientations.then_some(Pass::IntegrateOrientations));
        plan.end.push(inputs.integrate(false));
        plan.end.extend(inputs.any.then_some(Pass::CommitColliders));
        if inputs.any && settings.collider_forces {
            plan.end.extend([Pass::MarkTouchedColliders, Pass::ColliderForces]);
            plan.end.extend(inputs.attaches.then_some(Pass::AddAttachmentForces));
        }
        plan.end.extend(inputs.attaches.then_some(Pass::FinishAttachments));
        plan.end.extend(inputs.skinned.then_some(Pass::FinishSkinned));
        plan.end.extend((inputs.any && lists_events).then_some(Pass::NoteColliderContacts));
        plan.end.extend(lists_events.then_some(Pass::CollectContactEvents));
        if settings.body_damping > 0.0 && !compiled.bodies.is_empty() {
            plan.end.push(Pass::BodyDamping);
        }
        let [.., triangle_first, end] = compiled.contact_elements.firsts;
        if apart && triangle_first < end {
            plan.end.extend(SearchPass::GRIDS.map(Pass::GridsForIntersections));
            plan.end.extend([Pass::ClearIntersections, Pass::FindIntersections]);
        }
        plan.end.extend(has_orientations.then_some(Pass::FinishOrientations));
        plan.end.push(Pass::Finish);
        plan.end.extend((!compiled.followers.is_empty()).then_some(Pass::Follow));
        if surfaces {
            plan.end.push(Pass::Normals);
        }
        plan
    }

    /// Adds the passes of each substep and those between two substeps.
    fn push_substeps(&mut self, compiled: &CompiledScene, settings: &Settings, inputs: PlanInputs, predict: &[Pass]) {
        let apart = settings.keeps_surfaces_apart();
        let contacts = settings.self_collision.is_some();
        let tethers = inputs.tether(compiled, settings);
        self.substep.extend(inputs.any.then_some(Pass::InterpolateColliders));
        let mut collides_last = inputs.any;
        // Tethers come first in a substep, so that the local constraints smooth their displacements.
        let accelerates = predict.len() > 1;
        if accelerates || inputs.bounce || tethers && (apart || settings.tether_forces) {
            self.between.push(inputs.integrate(!accelerates));
            self.between.extend(predict.iter().filter(|_| accelerates));
            self.substep.extend(tethers.then_some(Pass::SolveTethers));
        } else if tethers {
            self.begin.push(Pass::SolveTethers);
            let ways: &[Pass] = if inputs.pins > FEW_PINS {
                &[Pass::IntegrateFree, Pass::IntegratePinned]
            } else {
                &[Pass::IntegrateTethered]
            };
            self.between.extend(ways);
        } else if inputs.any && !contacts {
            // At the surface level `bounce` is true: this branch needs no truncation after `Collide`.
            self.between.push(Pass::CollideAndPredict);
            self.end.push(Pass::Collide { is_first: true });
            collides_last = false;
        } else {
            self.between.push(Pass::IntegrateAndPredict);
        }
        self.push_rest();
        for iteration in 0..settings.iterations {
            self.push_iteration(compiled, settings.sweep, iteration);
            let first_iteration = iteration == 0;
            self.substep.extend(inputs.attaches.then_some(Pass::SolveAttachments { first_iteration }));
            self.push_rest();
        }
        self.substep.extend(inputs.skinned.then_some(Pass::LimitSkinned { is_first: true }));
        if inputs.meets_triangles && settings.triangle_contacts && compiled.contact_elements.has_triangles() {
            self.substep.extend([Pass::CollideTriangles, Pass::ApplyTriangleContacts]);
        }
        if let Some(own) = settings.self_collision {
            self.push_contacts(compiled, settings, own, inputs);
        } else if collides_last {
            self.substep.push(Pass::Collide { is_first: true });
        }
        self.substep.extend(summed_kinds(compiled, settings).map(|kind| Pass::AddForceSums { kind }));
        if apart {
            self.substep.extend((0..DIVISION_ROUNDS).map(|round| Pass::BuildDivisionPlanes { round }));
            self.substep.push(Pass::TruncateDisplacements);
        }
        self.push_rest();
    }

    /// Adds the search for contacts and their iterations.
    fn push_contacts(&mut self, compiled: &CompiledScene, settings: &Settings, own: SelfCollision, inputs: PlanInputs) {
        let apart = settings.keeps_surfaces_apart();
        let collide = |is_first| inputs.any.then_some(Pass::Collide { is_first });
        // Particles that moving colliders push are at their places before the search, and push others in turn.
        self.substep.extend(collide(true).filter(|_| apart));
        // After the constraints: the list must cover the positions that they lead to.
        self.substep.push(Pass::ValidatePairs);
        self.substep.extend(SearchPass::ALL.map(Pass::Search));
        self.substep.push(Pass::FindContacts);
        self.substep.extend(apart.then_some(Pass::ResolveIntersections));
        // Colliders come last in an iteration, so that no particle is within one at the end of a substep. Groups need
        // them in each iteration to rest.
        let stride = if compiled.has_groups() { 1 } else { 2 };
        // Groups, skinned particles and colliders need the displacements.
        let together = if inputs.any { stride } else { MOST_SUMMED };
        let summed = if inputs.skinned || compiled.has_groups() { 1 } else { together };
        let sweeps = own.sweeps(compiled.kinds[kind_index(ShapeMatching::INFO)].len() > 0);
        for iteration in 0..sweeps {
            let left = sweeps - 1 - iteration;
            // Groups converge with the contacts: a contact moves single particles of a rigid body.
            if iteration > 0 {
                self.push_groups(compiled, settings.sweep, settings.iterations + iteration);
            }
            let continues = iteration > 0 && !(left + 1).is_multiple_of(summed);
            self.substep.push(Pass::SolveContacts { is_last: left == 0, sum: left % summed % 2, continues });
            self.substep.extend(left.is_multiple_of(summed).then_some(Pass::ApplyCorrections));
            self.substep.extend(inputs.skinned.then_some(Pass::LimitSkinned { is_first: false }));
            if left.is_multiple_of(stride) {
                self.substep.extend(collide(!apart && iteration < stride));
            }
        }
        self.substep.extend((settings.contact_events > 0).then_some(Pass::NoteContacts));
    }

    fn push_iteration(&mut self, compiled: &CompiledScene, sweep: Sweep, iteration: u32) {
        let [_, segments] = chain_kinds();
        for kind in 0..compiled.kinds.len() {
            if kind == segments {
                self.push_chains(compiled, iteration == 0);
            }
            self.push_kind(compiled, kind, sweep, iteration);
        }
        if sweep == Sweep::GaussSeidel && compiled.kinds.iter().any(CompiledKind::has_skins) {
            self.push_skins(compiled, iteration);
        }
    }

    /// Adds the chains of rods.
    fn push_chains(&mut self, compiled: &CompiledScene, first_iteration: bool) {
        for (color, &span) in (0..).zip(&compiled.chains.colors) {
            for (kind, records) in chain_kinds().into_iter().zip(&compiled.chains.records) {
                let span = records[color as usize];
                self.substep.push(Pass::LinearizeChains { kind, color, span, first_iteration });
            }
            self.substep.push(Pass::SolveChains { color, span, first_iteration });
        }
        self.push_rest();
    }

    /// Adds the kinds whose constraints are groups.
    fn push_groups(&mut self, compiled: &CompiledScene, sweep: Sweep, iteration: u32) {
        for (kind, constraints) in compiled.kinds.iter().enumerate() {
            if constraints.info.is_group() {
                self.push_kind(compiled, kind, sweep, iteration);
            }
        }
    }

    /// Adds an iteration of a kind, without the constraints within skins.
    fn push_kind(&mut self, compiled: &CompiledScene, kind: usize, sweep: Sweep, iteration: u32) {
        let (constraints, first_iteration) = (&compiled.kinds[kind], iteration == 0);
        if sweep == Sweep::GaussSeidel {
            self.push_trees(kind, constraints, 0..constraints.outside.trees, first_iteration);
            let records = (0..).zip(&constraints.tiling.records);
            self.substep.extend(records.map(|(phase, &span)| Pass::Tiles { kind, phase, span, first_iteration }));
            let records = (0..).zip(&constraints.clustering.records);
            self.substep.extend(records.map(|(layer, &span)| Pass::Clusters { kind, layer, span, first_iteration }));
            self.push_colors(kind, constraints, 0..constraints.outside.constraints, iteration);
        }
        if !constraints.split.is_empty() {
            let span = constraints.split.span;
            self.substep.push(Pass::Split { kind, span, first_iteration });
            self.substep.extend([Pass::GatherChunks { kind }, Pass::GatherHubs { kind }]);
        }
        self.push_rest();
    }

    /// Adds the constraints within skins, of all kinds.
    fn push_skins(&mut self, compiled: &CompiledScene, iteration: u32) {
        self.substep.push(Pass::SaveDisplacements);
        for (kind, constraints) in compiled.kinds.iter().enumerate() {
            let (trees, colors) = (constraints.trees.colors.len(), constraints.coloring.colors.len());
            self.push_trees(kind, constraints, constraints.outside.trees..trees, iteration == 0);
            self.push_colors(kind, constraints, constraints.outside.constraints..colors, iteration);
        }
        self.substep.push(Pass::RestoreMomentum);
        self.push_rest();
    }

    fn push_trees(&mut self, kind: usize, constraints: &CompiledKind, colors: Range<usize>, first_iteration: bool) {
        for color in colors {
            let span = constraints.trees.records[color];
            self.substep.push(Pass::Trees { kind, color: color as u32, span, first_iteration });
        }
    }

    /// Adds a run of colours.
    fn push_colors(&mut self, kind: usize, constraints: &CompiledKind, colors: Range<usize>, iteration: u32) {
        self.push_rest();
        let (first, count, first_iteration) = (self.substep.len(), colors.len(), iteration == 0);
        for color in colors {
            let span = constraints.coloring.colors[color];
            self.substep.push(Pass::Project { kind, color: color as u32, span, first_iteration });
            self.runs.push(Run { first, count, iteration });
        }
    }

    /// Passes since the last run of colours keep their places.
    fn push_rest(&mut self) {
        let alone = (self.runs.len()..self.substep.len()).map(|first| Run { first, count: 1, iteration: 0 });
        self.runs.extend(alone);
    }

    /// All passes of a step, in order. `step` is the number of steps since the start; it selects the order of
    /// alternating and shuffled colours.
    pub fn step(&self, substeps: u32, step: u32) -> impl Iterator<Item = Pass> {
        let body = (0..substeps).flat_map(move |substep| {
            let between: &[Pass] = if substep + 1 < substeps { &self.between } else { &[] };
            let count = step.wrapping_mul(substeps).wrapping_add(substep);
            let passes = (0..self.substep.len()).map(move |place| self.ordered(place, count));
            passes.chain(between.iter().copied())
        });
        self.begin.iter().copied().chain(body).chain(self.end.iter().copied())
    }

    /// The passes that compute followers and normals from positions.
    pub(crate) fn derived(&self) -> impl Iterator<Item = Pass> {
        self.end.iter().copied().filter(|pass| matches!(pass, Pass::Follow | Pass::Normals))
    }

    /// The pass at index `place` of a substep; `substep` is the number of substeps since the start.
    fn ordered(&self, place: usize, substep: u32) -> Pass {
        let Run { first, count, iteration } = self.runs[place];
        let rank = place - first;
        let rank = match self.color_order {
            // Alternate by substep too: with an even number of iterations the last sweep, which has the most effect,
            // still alternates.
            ColorOrder::Alternating if substep.wrapping_add(iteration) % 2 == 1 => count - 1 - rank,
            ColorOrder::Shuffled { seed } if count > 1 => {
                shuffled(rank, count, mix(mix(seed) ^ substep) ^ first as u32)
            }
            _ => rank,
        };
        self.substep[first + rank]
    }

    /// True if the plan contains the pass.
    pub fn contains(&self, pass: &Pass) -> bool {
        [&self.begin, &self.substep, &self.between, &self.end].iter().any(|passes| passes.contains(pass))
    }

    /// Number of dispatches of one further substep.
    pub fn dispatches_per_substep(&self) -> usize {
        self.substep.len() + self.between.len()
    }
}

/// The kinds whose mean forces are recorded.
fn summed_kinds(compiled: &CompiledScene, settings: &Settings) -> impl Iterator<Item = usize> {
    let count = if settings.mean_forces { compiled.kinds.len() } else { 0 };
    (0..count).filter(|&kind| compiled.kinds[kind].len() > 0)
}
