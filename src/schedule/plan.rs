//! The schedule of a step, as data. Both players play it: [`crate::Reference`] on the CPU, [`crate::Solver`] on the GPU.
//!
//! A step of `dt` is `begin`, then `substeps` times `substep` with `between` after each but the last, then `end`:
//!
//! ```text
//! begin     Targets  Start  Predict
//! substep   Tether  Project … Project  (Split GatherChunks GatherHubs)      Project: once an iteration, kind, colour
//! between   Advance                                                         Velocity and Predict in one sweep
//! end       Velocity  (BodyDamping)  Finish  (Follow)  Normals
//! ```
//!
//! With tethers, and pins that they lead to, `IntegrateTethered` stands in the place of `IntegrateAndPredict` and of `SolveTethers`, which then ends `begin`;
//! `IntegrateFree` `IntegratePinned` where there are many pins. That takes pins that stay where they are set, so not where surfaces touch, as
//! `TruncateDisplacements` may cut short the ways of pins too.
//!
//! With wind, fields or forces, `Accelerations` stands before each `Predict`, and `IntegrateAndPredict` is taken apart.
//!
//! With [`Settings::mean_forces`], `ClearForceSums` stands in `begin`, and `AddForceSums` follows the constraints of each substep.
//!
//! With contacts a substep is
//!
//! ```text
//! Carry  Tether  Project …  (Collide)  Watch  Search …  Contacts  (Untangle)  (Separate Settle) …  Collide  (Divide Truncate) …
//! ```
//!
//! where the passes of `Search` do nothing while the list of pairs holds, nor those of `BuildDivisionPlanes` and `TruncateDisplacements` while nothing is forced through
//! anything; these, and the first `Collide`, are there between surfaces. `ResolveIntersections` looks at the crossings that `SortForIntersections` … `ClearIntersections`
//! `FindIntersections` at the end of the step before have found; `ApplyRestitution` follows `Velocity` where anything has restitution, and between
//! surfaces. Where `IntegrateAndPredict` would come right after `Collide`, `CollideAndPredict` stands in `between` in place of both, and the last `Collide` in
//! `end`. Colliders `CommitColliders` at the end, and the forces on them are summed from `ClearColliderContacts` in `begin` to `ColliderForces`.

use crate::collision::SelfCollisionLevel;
use crate::schedule::coloring::Span;
use crate::schedule::compiled::CompiledScene;
use crate::settings::{ColorOrder, Field, Settings, Sweep};

/// One pass over particles or constraints; every pass is one GPU dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pass {
    /// Kinematic particles: the velocity that reaches the target within the step.
    Targets,
    /// The displacement that each velocity means: d = h v.
    Start,
    /// The accelerations by wind and air drag, fields and forces.
    Accelerations,
    /// d += h² a: from here on x + d is the predicted position.
    Predict,
    /// The constraints of one colour.
    Project {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
        /// The colour.
        color: u32,
        /// Its records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// The constraints of the tiles of one phase.
    Tiles {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
        /// The phase.
        phase: u32,
        /// Their records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// The links of the stars of one colour: crowded particles, each with its links as one system.
    Stars {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
        /// The colour.
        color: u32,
        /// Their records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// The constraints of the clusters of one layer.
    Clusters {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
        /// The layer.
        layer: u32,
        /// Their records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// The constraints that no colour took, each with its share of its particles' masses.
    Split {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
        /// Their records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// Sums the impulses of `Split` in chunks.
    GatherChunks {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Moves the particles of `Split` by the sum of their chunks.
    GatherHubs {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Sets the sums of λ of a kind to 0.
    ClearForceSums {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// Adds the λ of a kind to their sums over the step.
    AddForceSums {
        /// Place in [`crate::constraints::KINDS`].
        kind: usize,
    },
    /// No particle farther from its pins than the material between is long.
    SolveTethers,
    /// Whether any particle has moved so far that the list of pairs no longer holds.
    ValidatePairs,
    /// A part of the search for pairs, where the list no longer holds.
    Search(SearchPass),
    /// The pairs that meet in this substep.
    FindContacts,
    /// What pushes edges out of triangles that they pass through; then all contacts are known, and how large `SolveContacts` is.
    ResolveIntersections,
    /// The corrections of contacts.
    SolveContacts,
    /// Moves the particles by the sum of their corrections.
    ApplyCorrections {
        /// Whether it is the last in the substep.
        is_last: bool,
    },
    /// Planes between what would pass through each other nonetheless.
    BuildDivisionPlanes {
        /// Which round; those after the first do nothing where the one before found nothing.
        round: u32,
    },
    /// Cuts the ways of particles before these planes.
    TruncateDisplacements {
        /// Which round.
        round: u32,
    },
    /// The impulses on colliders of the last step.
    ClearColliderContacts,
    /// Where colliders are at the start and at the end of the substep.
    InterpolateColliders,
    /// No particle within a collider; friction.
    Collide,
    /// `Collide`, then `IntegrateAndPredict`.
    CollideAndPredict,
    /// Restitution, and what took particles out of colliders between surfaces; after `Velocity`.
    ApplyRestitution,
    /// Colliders are where they were to be.
    CommitColliders,
    /// The forces on colliders.
    ColliderForces,
    /// A part of the sort of surfaces by where they are at the end of the step, for the crossings.
    SortForIntersections(SearchPass),
    /// Forgets the crossings of the last step.
    ClearIntersections,
    /// The edges that pass through triangles.
    FindIntersections,
    /// x += d; the displacement stays as the new velocity.
    Velocity,
    /// `Velocity`, then `Predict` of the next substep.
    IntegrateAndPredict,
    /// `IntegrateAndPredict`, and `SolveTethers` of what is free, which sees the few pins where they will be.
    IntegrateTethered,
    /// `IntegrateAndPredict` of what is free, then `SolveTethers`, which sees the pins where they will be.
    IntegrateFree,
    /// `IntegrateAndPredict` of what is pinned.
    IntegratePinned,
    /// Takes from each body a share of its motion against itself.
    BodyDamping,
    /// v = d/h, for the world outside.
    Finish,
    /// Particles that follow others.
    Follow,
    /// The normals of the surfaces.
    Normals,
}

/// The most pins that [`Pass::IntegrateTethered`] is for: where the substep began, they stand once more beside the particles.
pub(crate) const FEW_PINS: usize = 8;

impl Pass {
    /// The place in [`crate::constraints::KINDS`] of the kind whose constraints the pass solves.
    pub(crate) fn kind(self) -> Option<usize> {
        match self {
            Self::Project { kind, .. }
            | Self::Tiles { kind, .. }
            | Self::Stars { kind, .. }
            | Self::Clusters { kind, .. }
            | Self::Split { kind, .. }
            | Self::GatherChunks { kind }
            | Self::GatherHubs { kind }
            | Self::ClearForceSums { kind }
            | Self::AddForceSums { kind } => Some(kind),
            _ => None,
        }
    }
}

/// Rounds of [`Pass::BuildDivisionPlanes`].
pub(crate) const ROUNDS: u32 = 8;

/// The parts of a search: a counting sort of the elements by the cells of a grid, and a look around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPass {
    /// Empties the cells; of surfaces, takes note of where the particles are.
    ClearCells,
    /// Which particles look for others anew, and which are near those; how those in each cell of a coarse grid move. Where nothing else touches.
    MarkStale,
    /// Takes what they are to find from the list. Where nothing but particles touches.
    RemoveStalePairs,
    /// How fast the particles of surfaces are, and how large and fast the elements in each cell of a coarse grid; which larger ones come into it.
    MeasureMotion,
    /// How differently what is near moves; of surfaces, how large and fast it is, and which larger ones there are.
    SetHorizons,
    /// Counts the elements in each cell.
    CountCells,
    /// Sums the counts in blocks.
    SumBlocks,
    /// Where each block begins: the prefix sum of the blocks.
    ScanBlocks,
    /// Where each cell begins.
    CellOffsets,
    /// Puts the elements into their cells.
    SortIntoCells,
    /// Lists the pairs of particles.
    ParticlePairs,
    /// Those of vertices and triangles.
    VertexPairs,
    /// Those of edges.
    EdgePairs,
    /// Takes note of how many there are; also where the list held.
    FinishSearch,
}

impl SearchPass {
    /// In order.
    pub const ALL: [Self; 14] = [
        Self::ClearCells,
        Self::MarkStale,
        Self::RemoveStalePairs,
        Self::MeasureMotion,
        Self::SetHorizons,
        Self::CountCells,
        Self::SumBlocks,
        Self::ScanBlocks,
        Self::CellOffsets,
        Self::SortIntoCells,
        Self::ParticlePairs,
        Self::VertexPairs,
        Self::EdgePairs,
        Self::FinishSearch,
    ];

    /// Those that sort elements, whatever is then looked for among them.
    pub const SORT: [Self; 6] =
        [Self::ClearCells, Self::CountCells, Self::SumBlocks, Self::ScanBlocks, Self::CellOffsets, Self::SortIntoCells];

    /// Whether it is played where surfaces touch, or where nothing but particles does.
    pub(crate) fn is_of(self, level: SelfCollisionLevel) -> bool {
        match self {
            Self::MarkStale | Self::RemoveStalePairs => level == SelfCollisionLevel::Particles,
            Self::MeasureMotion | Self::VertexPairs | Self::EdgePairs => level == SelfCollisionLevel::Surfaces,
            _ => true,
        }
    }
}

/// The passes of a step. See the [module documentation](self).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Once, first.
    pub begin: Vec<Pass>,
    /// Once a substep.
    pub substep: Vec<Pass>,
    /// After each substep but the last.
    pub between: Vec<Pass>,
    /// Once, last.
    pub end: Vec<Pass>,
    /// In which order the colours of a kind are played; `substep` has them in the fixed one.
    pub color_order: ColorOrder,
    /// For each pass of `substep` the run of colours of one kind and iteration that it belongs to.
    runs: Vec<Run>,
}

/// What a plan needs to know of colliders, and of pins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlanInputs {
    /// There are some colliders.
    pub any: bool,
    /// Some impact has restitution.
    pub bounce: bool,
    /// How many pins there are: without any every tether is slack.
    pub pins: usize,
}

impl PlanInputs {
    /// Whether anything is tethered to pins.
    fn tether(self, compiled: &CompiledScene, settings: &Settings) -> bool {
        settings.tethers && compiled.most_tethers > 0 && self.pins > 0
    }
}

/// Consecutive passes that may be played in any order.
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
        // Between surfaces, what takes particles out of colliders is on their way.
        let inputs = PlanInputs { bounce: inputs.bounce || apart && inputs.any, ..inputs };
        let mut plan =
            Self { begin: vec![Pass::Targets, Pass::Start], color_order: settings.color_order, ..Self::default() };
        let sums_forces = inputs.any && settings.collider_forces;
        plan.begin.extend(sums_forces.then_some(Pass::ClearColliderContacts));
        let predict: &[Pass] = if accelerated { &[Pass::Accelerations, Pass::Predict] } else { &[Pass::Predict] };
        plan.begin.extend(predict);
        plan.begin.extend(summed_kinds(compiled, settings).map(|kind| Pass::ClearForceSums { kind }));
        plan.push_substeps(compiled, settings, inputs, predict);
        plan.end.push(Pass::Velocity);
        plan.end.extend(inputs.bounce.then_some(Pass::ApplyRestitution));
        plan.end.extend(inputs.any.then_some(Pass::CommitColliders));
        plan.end.extend(sums_forces.then_some(Pass::ColliderForces));
        if settings.body_damping > 0.0 && !compiled.bodies.is_empty() {
            plan.end.push(Pass::BodyDamping);
        }
        let [.., triangle_first, end] = compiled.contact_elements.firsts;
        if apart && triangle_first < end {
            plan.end.extend(SearchPass::SORT.map(Pass::SortForIntersections));
            plan.end.extend([Pass::ClearIntersections, Pass::FindIntersections]);
        }
        plan.end.push(Pass::Finish);
        if !compiled.followers.is_empty() {
            plan.end.push(Pass::Follow);
        }
        if surfaces {
            plan.end.push(Pass::Normals);
        }
        plan
    }

    /// What is played in each substep, and between two.
    fn push_substeps(&mut self, compiled: &CompiledScene, settings: &Settings, inputs: PlanInputs, predict: &[Pass]) {
        let apart = settings.keeps_surfaces_apart();
        let tethers = inputs.tether(compiled, settings);
        self.substep.extend(inputs.any.then_some(Pass::InterpolateColliders));
        let mut collides_last = inputs.any;
        // First in a substep, so that the local constraints smooth what the tethers have pulled: at 316 × 316 the worst edge keeps 10 %
        // of strain instead of 16 %.
        if predict.len() > 1 || inputs.bounce || tethers && (apart || settings.tether_forces) {
            self.between.push(Pass::Velocity);
            self.between.extend(inputs.bounce.then_some(Pass::ApplyRestitution));
            self.between.extend(predict);
            self.substep.extend(tethers.then_some(Pass::SolveTethers));
        } else if tethers {
            self.begin.push(Pass::SolveTethers);
            let ways: &[Pass] = if inputs.pins > FEW_PINS {
                &[Pass::IntegrateFree, Pass::IntegratePinned]
            } else {
                &[Pass::IntegrateTethered]
            };
            self.between.extend(ways);
        } else if inputs.any {
            // `bounce` has told of surfaces that are kept apart.
            self.between.push(Pass::CollideAndPredict);
            self.end.push(Pass::Collide);
            collides_last = false;
        } else {
            self.between.push(Pass::IntegrateAndPredict);
        }
        self.push_rest();
        for iteration in 0..settings.iterations {
            self.push_iteration(compiled, settings.sweep, iteration);
        }
        self.substep.extend(summed_kinds(compiled, settings).map(|kind| Pass::AddForceSums { kind }));
        if let Some(own) = settings.self_collision {
            // What moving colliders push is where the search sees it, and pushes others in turn.
            self.substep.extend((apart && inputs.any).then_some(Pass::Collide));
            // After the constraints, so that the list holds for where they have moved things.
            self.substep.push(Pass::ValidatePairs);
            let parts = SearchPass::ALL.into_iter().filter(|part| part.is_of(own.level));
            self.substep.extend(parts.map(Pass::Search));
            self.substep.push(Pass::FindContacts);
            self.substep.extend(apart.then_some(Pass::ResolveIntersections));
            let settle = |iteration| Pass::ApplyCorrections { is_last: iteration + 1 == own.iterations };
            self.substep.extend((0..own.iterations).flat_map(|iteration| [Pass::SolveContacts, settle(iteration)]));
        }
        // Last, so that at the end of a substep nothing is within a collider.
        self.substep.extend(collides_last.then_some(Pass::Collide));
        if apart {
            self.substep.extend(
                (0..ROUNDS)
                    .flat_map(|round| [Pass::BuildDivisionPlanes { round }, Pass::TruncateDisplacements { round }]),
            );
        }
        self.push_rest();
    }

    fn push_iteration(&mut self, compiled: &CompiledScene, sweep: Sweep, iteration: u32) {
        let first_iteration = iteration == 0;
        for (kind, constraints) in compiled.kinds.iter().enumerate() {
            if sweep == Sweep::GaussSeidel {
                let stars = (0..).zip(&constraints.stars.records);
                self.substep.extend(stars.map(|(color, &span)| Pass::Stars { kind, color, span, first_iteration }));
                let records = (0..).zip(&constraints.tiling.records);
                self.substep.extend(records.map(|(phase, &span)| Pass::Tiles { kind, phase, span, first_iteration }));
                let records = (0..).zip(&constraints.clustering.records);
                self.substep.extend(records.map(|(layer, &span)| Pass::Clusters {
                    kind,
                    layer,
                    span,
                    first_iteration,
                }));
                self.push_rest();
                let (first, count) = (self.substep.len(), constraints.coloring.colors.len());
                for (color, &span) in (0..).zip(&constraints.coloring.colors) {
                    self.substep.push(Pass::Project { kind, color, span, first_iteration });
                    self.runs.push(Run { first, count, iteration });
                }
            }
            if !constraints.split.is_empty() {
                let span = constraints.split.span;
                self.substep.push(Pass::Split { kind, span, first_iteration });
                self.substep.extend([Pass::GatherChunks { kind }, Pass::GatherHubs { kind }]);
            }
            self.push_rest();
        }
    }

    /// What was pushed since the last run stays where it is.
    fn push_rest(&mut self) {
        let alone = (self.runs.len()..self.substep.len()).map(|first| Run { first, count: 1, iteration: 0 });
        self.runs.extend(alone);
    }

    /// All passes of a step of so many substeps, in order. `step` counts the steps since the start; it changes the order of alternating and
    /// shuffled colours only.
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

    /// The pass that is played at a place of the substep with the given number since the start.
    fn ordered(&self, place: usize, substep: u32) -> Pass {
        let Run { first, count, iteration } = self.runs[place];
        let turn = place - first;
        let turn = match self.color_order {
            // By substep too, so that the last sweep, which counts most, alternates even where their number is even.
            ColorOrder::Alternating if substep.wrapping_add(iteration) % 2 == 1 => count - 1 - turn,
            ColorOrder::Shuffled { seed } if count > 1 => {
                shuffled(turn, count, mix(mix(seed) ^ substep) ^ first as u32)
            }
            _ => turn,
        };
        self.substep[first + turn]
    }

    /// Whether the pass stands anywhere in the plan.
    pub fn contains(&self, pass: &Pass) -> bool {
        [&self.begin, &self.substep, &self.between, &self.end].iter().any(|passes| passes.contains(pass))
    }

    /// How many dispatches one further substep costs.
    pub fn dispatches_per_substep(&self) -> usize {
        self.substep.len() + self.between.len()
    }
}

/// The kinds whose forces are averaged over a step.
fn summed_kinds(compiled: &CompiledScene, settings: &Settings) -> impl Iterator<Item = usize> {
    let count = if settings.mean_forces { compiled.kinds.len() } else { 0 };
    (0..count).filter(|&kind| compiled.kinds[kind].len() > 0)
}

/// Element `turn` of a random permutation of 0 .. `count` (Fisher, Yates); a colouring has at most 64 colours.
fn shuffled(turn: usize, count: usize, seed: u32) -> usize {
    let mut order: [u8; 64] = std::array::from_fn(|place| place as u8);
    let mut random = seed;
    for left in (1..count.min(order.len())).rev() {
        random = mix(random);
        order.swap(left, (random % (left as u32 + 1)) as usize);
    }
    order.get(turn).map_or(turn, |&place| usize::from(place))
}

/// A number that looks random, one for each number (Wellons 2018, `lowbias32`).
fn mix(number: u32) -> u32 {
    let mut mixed = number.wrapping_add(0x9e37_79b9);
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x7feb_352d);
    mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x846c_a68b);
    mixed ^ (mixed >> 16)
}
