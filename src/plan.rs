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
//! With tethers, and pins that they lead to, `AdvanceTethered` stands in the place of `Advance` and of `Tether`, which then ends `begin`;
//! `AdvanceFree` `AdvancePinned` where there are many pins. That takes pins that stay where they are set, so not where surfaces touch, as
//! `Truncate` may cut short the ways of pins too.
//!
//! Where every body fits a workgroup ([`crate::Execution::Whole`]), and nothing but constraints and tethers acts, `Whole` ends `begin` and plays
//! all substeps; `substep` and `between` are empty. What it plays in place of `Advance` is `AdvanceFree` `AdvancePinned`, which without
//! tethers is the same. With anything else, `WholeSweep` stands in the place of the `Project`s of an iteration.
//!
//! Where a scene is played core by core ([`crate::Execution::Halos`]), `Halos` stands in the place of `substep` and `between`, wherever these are
//! colours and motion alone.
//!
//! With closed surfaces of pressure constraints, the constraints within them end an iteration, of all kinds, between `SaveDisplacements` and
//! `RestoreMomentum`.
//!
//! With wind, fields or forces, `Accelerations` stands before each `Predict`, and `Advance` is taken apart.
//!
//! With contacts a substep is
//!
//! ```text
//! Carry  Tether  Project …  (Collide)  Watch  Search …  Contacts  (Untangle)  (Separate Settle) …  Collide  (Divide Truncate) …
//! ```
//!
//! where the passes of `Search` do nothing while the list of pairs holds, nor those of `Divide` and `Truncate` while nothing is forced through
//! anything; these, and the first `Collide`, are there between surfaces. `Untangle` looks at the crossings that `Sort` … `ClearCrossings`
//! `FindCrossings` at the end of the step before have found; `Bounce` follows `Velocity` where anything has restitution, and between
//! surfaces. Where `Advance` would come right after `Collide`, `CollideAdvance` stands in `between` in place of both, and the last `Collide` in
//! `end`. Colliders `Arrive` at the end, and the forces on them are summed from `ForgetTouches` in `begin` to `ColliderForces`.

use crate::collide::SelfCollisionLevel;
use crate::coloring::Span;
use crate::cooked::{Cooked, CookedKind};
use crate::settings::{ColorOrder, Field, Settings, Sweep};
use crate::whole::Whole;
use std::ops::Range;

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
        /// Place in [`crate::kinds::KINDS`].
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
        /// Place in [`crate::kinds::KINDS`].
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
        /// Place in [`crate::kinds::KINDS`].
        kind: usize,
        /// The colour.
        color: u32,
        /// Their records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// The constraints of the patches of one layer.
    Patches {
        /// Place in [`crate::kinds::KINDS`].
        kind: usize,
        /// The layer.
        layer: u32,
        /// Their records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// All substeps, body by body, but for what begins the first and ends the last.
    Whole,
    /// The constraints of all kinds, body by body.
    WholeSweep {
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// A whole substep of a coloured scene, core by core: unless it is the first, what stands between substeps, and then the constraints of
    /// all colours. These come in pairs, of which the first leaves its results where only the second looks.
    Halos {
        /// Whether it is the first of the step.
        is_first: bool,
        /// Whether tethers hold.
        tethers: bool,
    },
    /// The constraints that no colour took, each with its share of its particles' masses.
    Split {
        /// Place in [`crate::kinds::KINDS`].
        kind: usize,
        /// Their records.
        span: Span,
        /// Whether λ starts at 0 here.
        first_iteration: bool,
    },
    /// Sums the impulses of `Split` in chunks.
    GatherChunks {
        /// Place in [`crate::kinds::KINDS`].
        kind: usize,
    },
    /// Moves the particles of `Split` by the sum of their chunks.
    GatherHubs {
        /// Place in [`crate::kinds::KINDS`].
        kind: usize,
    },
    /// Copies the displacements of skins, before the constraints within them.
    SaveDisplacements,
    /// Removes from each skin the angular momentum that the constraints within it have created since `SaveDisplacements`.
    RestoreMomentum,
    /// No particle farther from its pins than the material between is long.
    Tether,
    /// Whether any particle has moved so far that the list of pairs no longer holds.
    Watch,
    /// A part of the search for pairs, where the list no longer holds.
    Search(SearchPass),
    /// The pairs that meet in this substep.
    Contacts,
    /// What pushes edges out of triangles that they pass through; then all contacts are known, and how large `Separate` is.
    Untangle,
    /// The corrections of contacts.
    Separate,
    /// Moves the particles by the sum of their corrections.
    Settle {
        /// Whether it is the last in the substep.
        is_last: bool,
    },
    /// Planes between what would pass through each other nonetheless.
    Divide {
        /// Which round; those after the first do nothing where the one before found nothing.
        round: u32,
    },
    /// Cuts the ways of particles before these planes.
    Truncate {
        /// Which round.
        round: u32,
    },
    /// The impulses on colliders of the last step.
    ForgetTouches,
    /// Where colliders are at the start and at the end of the substep.
    Carry,
    /// No particle within a collider; friction.
    Collide,
    /// `Collide`, then `Advance`.
    CollideAdvance,
    /// Restitution, and what took particles out of colliders between surfaces; after `Velocity`.
    Bounce,
    /// Colliders are where they were to be.
    Arrive,
    /// The forces on colliders.
    ColliderForces,
    /// A part of the sort of surfaces by where they are at the end of the step, for the crossings.
    Sort(SearchPass),
    /// Forgets the crossings of the last step.
    ClearCrossings,
    /// The edges that pass through triangles.
    FindCrossings,
    /// x += d; the displacement stays as the new velocity.
    Velocity,
    /// `Velocity`, then `Predict` of the next substep.
    Advance,
    /// `Advance`, and `Tether` of what is free, which sees the few pins where they will be.
    AdvanceTethered,
    /// `Advance` of what is free, then `Tether`, which sees the pins where they will be.
    AdvanceFree,
    /// `Advance` of what is pinned.
    AdvancePinned,
    /// Takes from each body a share of its motion against itself.
    BodyDamping,
    /// v = d/h, for the world outside.
    Finish,
    /// Particles that follow others.
    Follow,
    /// The normals of the surfaces.
    Normals,
}

/// The most pins that [`Pass::AdvanceTethered`] is for: where the substep began, they stand once more beside the particles.
pub(crate) const FEW_PINS: usize = 8;

/// Rounds of [`Pass::Divide`].
pub(crate) const ROUNDS: u32 = 8;

/// The parts of a search: a counting sort of the elements by the cells of a grid, and a look around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPass {
    /// Empties the cells; of surfaces, takes note of where the particles are.
    Clear,
    /// Which particles look for others anew, and which are near those; how those in each cell of a coarse grid move. Where nothing else touches.
    Gather,
    /// Takes what they are to find from the list. Where nothing but particles touches.
    Prune,
    /// How fast the particles of surfaces are, and how large and fast the elements in each cell of a coarse grid; which larger ones come into it.
    Bound,
    /// How differently what is near moves; of surfaces, how large and fast it is, and which larger ones there are.
    Horizon,
    /// Counts the elements in each cell.
    Count,
    /// Sums the counts in blocks.
    SumBlocks,
    /// Where each block begins: the prefix sum of the blocks.
    ScanBlocks,
    /// Where each cell begins.
    Starts,
    /// Puts the elements into their cells.
    Fill,
    /// Lists the pairs of particles.
    Pairs,
    /// Those of vertices and triangles.
    VertexPairs,
    /// Those of edges.
    EdgePairs,
    /// Takes note of how many there are; also where the list held.
    Ready,
}

impl SearchPass {
    /// In order.
    pub const ALL: [Self; 14] = [
        Self::Clear,
        Self::Gather,
        Self::Prune,
        Self::Bound,
        Self::Horizon,
        Self::Count,
        Self::SumBlocks,
        Self::ScanBlocks,
        Self::Starts,
        Self::Fill,
        Self::Pairs,
        Self::VertexPairs,
        Self::EdgePairs,
        Self::Ready,
    ];

    /// Those that sort elements, whatever is then looked for among them.
    pub const SORT: [Self; 6] = [Self::Clear, Self::Count, Self::SumBlocks, Self::ScanBlocks, Self::Starts, Self::Fill];

    /// Whether it is played where surfaces touch, or where nothing but particles does.
    pub(crate) fn is_of(self, level: SelfCollisionLevel) -> bool {
        match self {
            Self::Gather | Self::Prune => level == SelfCollisionLevel::Particles,
            Self::Bound | Self::VertexPairs | Self::EdgePairs => level == SelfCollisionLevel::Surfaces,
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
    /// Whether [`Pass::Halos`] stands in the place of `substep` and what is between two of them: in all substeps, or, as they come in pairs, in all but the
    /// first.
    pub fused: bool,
    /// For each pass of `substep` the run of colours of one kind and iteration that it belongs to.
    runs: Vec<Run>,
}

/// What a plan needs to know of colliders, and of pins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Obstacles {
    /// There are some colliders.
    pub any: bool,
    /// Some impact has restitution.
    pub bounce: bool,
    /// How many pins there are: without any every tether is slack.
    pub pins: usize,
}

impl Obstacles {
    /// Whether anything is tethered to pins.
    fn tether(self, cooked: &Cooked, settings: &Settings) -> bool {
        settings.tethers && cooked.most_tethers > 0 && self.pins > 0
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
    pub(crate) fn new(cooked: &Cooked, settings: &Settings, obstacles: Obstacles) -> Self {
        let surfaces = !cooked.rings.is_empty();
        let fields = settings.fields.iter().any(|field| *field != Field::None);
        let accelerated = surfaces && settings.wind.is_some() || fields || settings.forces;
        let apart = settings.keeps_surfaces_apart();
        // Between surfaces, what takes particles out of colliders is on their way.
        let obstacles = Obstacles { bounce: obstacles.bounce || apart && obstacles.any, ..obstacles };
        let mut plan =
            Self { begin: vec![Pass::Targets, Pass::Start], color_order: settings.color_order, ..Self::default() };
        let sums_forces = obstacles.any && settings.collider_forces;
        plan.begin.extend(sums_forces.then_some(Pass::ForgetTouches));
        let predict: &[Pass] = if accelerated { &[Pass::Accelerations, Pass::Predict] } else { &[Pass::Predict] };
        plan.begin.extend(predict);
        let tethers = obstacles.tether(cooked, settings);
        let alone = !accelerated && !obstacles.any && settings.self_collision.is_none();
        let fits = |whole: &Whole| whole.fits_a_step(settings, cooked.most_tethers);
        let noted = tethers && settings.tether_forces;
        if alone && !noted && cooked.whole.as_ref().is_some_and(fits) {
            plan.begin.extend(tethers.then_some(Pass::Tether));
            plan.begin.push(Pass::Whole);
        } else {
            plan.push_substeps(cooked, settings, obstacles, predict);
        }
        plan.end.push(Pass::Velocity);
        plan.end.extend(obstacles.bounce.then_some(Pass::Bounce));
        plan.end.extend(obstacles.any.then_some(Pass::Arrive));
        plan.end.extend(sums_forces.then_some(Pass::ColliderForces));
        if settings.body_damping > 0.0 && !cooked.bodies.is_empty() {
            plan.end.push(Pass::BodyDamping);
        }
        let [.., triangle_first, end] = cooked.contacting.firsts;
        if apart && triangle_first < end {
            plan.end.extend(SearchPass::SORT.map(Pass::Sort));
            plan.end.extend([Pass::ClearCrossings, Pass::FindCrossings]);
        }
        plan.end.push(Pass::Finish);
        if !cooked.followers.is_empty() {
            plan.end.push(Pass::Follow);
        }
        if surfaces {
            plan.end.push(Pass::Normals);
        }
        plan
    }

    /// What is played in each substep, and between two.
    fn push_substeps(&mut self, cooked: &Cooked, settings: &Settings, obstacles: Obstacles, predict: &[Pass]) {
        let apart = settings.keeps_surfaces_apart();
        let tethers = obstacles.tether(cooked, settings);
        self.substep.extend(obstacles.any.then_some(Pass::Carry));
        let mut collides_last = obstacles.any;
        // First in a substep, so that the local constraints smooth what the tethers have pulled: at 316 × 316 the worst edge keeps 10 %
        // of strain instead of 16 %.
        if predict.len() > 1 || obstacles.bounce || tethers && (apart || settings.tether_forces) {
            self.between.push(Pass::Velocity);
            self.between.extend(obstacles.bounce.then_some(Pass::Bounce));
            self.between.extend(predict);
            self.substep.extend(tethers.then_some(Pass::Tether));
        } else if tethers {
            self.begin.push(Pass::Tether);
            let ways: &[Pass] = if obstacles.pins > FEW_PINS {
                &[Pass::AdvanceFree, Pass::AdvancePinned]
            } else {
                &[Pass::AdvanceTethered]
            };
            self.between.extend(ways);
        } else if obstacles.any {
            // `bounce` has told of surfaces that are kept apart.
            self.between.push(Pass::CollideAdvance);
            self.end.push(Pass::Collide);
            collides_last = false;
        } else {
            self.between.push(Pass::Advance);
        }
        self.push_rest();
        for iteration in 0..settings.iterations {
            self.push_iteration(cooked, settings.sweep, iteration);
        }
        if let Some(own) = settings.self_collision {
            // What moving colliders push is where the search sees it, and pushes others in turn.
            self.substep.extend((apart && obstacles.any).then_some(Pass::Collide));
            // After the constraints, so that the list holds for where they have moved things.
            self.substep.push(Pass::Watch);
            let parts = SearchPass::ALL.into_iter().filter(|part| part.is_of(own.level));
            self.substep.extend(parts.map(Pass::Search));
            self.substep.push(Pass::Contacts);
            self.substep.extend(apart.then_some(Pass::Untangle));
            let settle = |iteration| Pass::Settle { is_last: iteration + 1 == own.iterations };
            self.substep.extend((0..own.iterations).flat_map(|iteration| [Pass::Separate, settle(iteration)]));
        }
        // Last, so that at the end of a substep nothing is within a collider.
        self.substep.extend(collides_last.then_some(Pass::Collide));
        if apart {
            self.substep.extend((0..ROUNDS).flat_map(|round| [Pass::Divide { round }, Pass::Truncate { round }]));
        }
        self.push_rest();
    }

    fn push_iteration(&mut self, cooked: &Cooked, sweep: Sweep, iteration: u32) {
        let first_iteration = iteration == 0;
        if let Some(whole) = &cooked.whole {
            let sweep = Pass::WholeSweep { first_iteration };
            self.substep.extend((!whole.kinds.is_empty()).then_some(sweep));
            return self.push_rest();
        }
        for (kind, constraints) in cooked.kinds.iter().enumerate() {
            if sweep == Sweep::GaussSeidel {
                self.push_stars(kind, constraints, 0..constraints.outside.stars, first_iteration);
                let records = (0..).zip(&constraints.tiling.records);
                self.substep.extend(records.map(|(phase, &span)| Pass::Tiles { kind, phase, span, first_iteration }));
                let records = (0..).zip(&constraints.patching.records);
                self.substep.extend(records.map(|(layer, &span)| Pass::Patches { kind, layer, span, first_iteration }));
                self.push_colors(kind, constraints, 0..constraints.outside.constraints, iteration);
            }
            if !constraints.split.is_empty() {
                let span = constraints.split.span;
                self.substep.push(Pass::Split { kind, span, first_iteration });
                self.substep.extend([Pass::GatherChunks { kind }, Pass::GatherHubs { kind }]);
            }
            self.push_rest();
        }
        if sweep == Sweep::GaussSeidel && cooked.kinds.iter().any(CookedKind::has_skins) {
            self.push_skins(cooked, iteration);
        }
    }

    /// The constraints within skins, of all kinds.
    fn push_skins(&mut self, cooked: &Cooked, iteration: u32) {
        self.substep.push(Pass::SaveDisplacements);
        for (kind, constraints) in cooked.kinds.iter().enumerate() {
            let (stars, colors) = (constraints.stars.colors.len(), constraints.coloring.colors.len());
            self.push_stars(kind, constraints, constraints.outside.stars..stars, iteration == 0);
            self.push_colors(kind, constraints, constraints.outside.constraints..colors, iteration);
        }
        self.substep.push(Pass::RestoreMomentum);
        self.push_rest();
    }

    fn push_stars(&mut self, kind: usize, constraints: &CookedKind, colors: Range<usize>, first_iteration: bool) {
        for color in colors {
            let span = constraints.stars.records[color];
            self.substep.push(Pass::Stars { kind, color: color as u32, span, first_iteration });
        }
    }

    /// A run of colours.
    fn push_colors(&mut self, kind: usize, constraints: &CookedKind, colors: Range<usize>, iteration: u32) {
        self.push_rest();
        let (first, count, first_iteration) = (self.substep.len(), colors.len(), iteration == 0);
        for color in colors {
            let span = constraints.coloring.colors[color];
            self.substep.push(Pass::Project { kind, color: color as u32, span, first_iteration });
            self.runs.push(Run { first, count, iteration });
        }
    }

    /// What was pushed since the last run stays where it is.
    fn push_rest(&mut self) {
        let alone = (self.runs.len()..self.substep.len()).map(|first| Run { first, count: 1, iteration: 0 });
        self.runs.extend(alone);
    }

    /// All passes of a step of so many substeps, in order. `step` counts the steps since the start; only alternating and
    /// shuffled colours look at it. [`Pass::Whole`] is played once, and plays as many substeps as the settings have.
    pub fn step(&self, substeps: u32, step: u32) -> impl Iterator<Item = Pass> {
        let tethers = self.tethers_between();
        let body = (0..substeps).flat_map(move |substep| {
            let fused = self.fused && (substep > 0 || substeps.is_multiple_of(2));
            let halos = fused.then_some(Pass::Halos { is_first: substep == 0, tethers });
            let between: &[Pass] = if substep + 1 < substeps && !self.fused { &self.between } else { &[] };
            let count = step.wrapping_mul(substeps).wrapping_add(substep);
            let places = if fused { 0 } else { self.substep.len() };
            let passes = (0..places).map(move |place| self.ordered(place, count));
            halos.into_iter().chain(passes).chain(between.iter().copied())
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

    /// Whether a substep is nothing but constraints in a fixed order of colours, solved once, and between two nothing but motion and tethers: then
    /// [`Pass::Halos`] can do both.
    pub(crate) fn can_fuse(&self) -> bool {
        let first = |pass: &Pass| matches!(pass, Pass::Project { first_iteration: true, .. });
        let advances = self.between.iter().all(|pass| {
            matches!(pass, Pass::Advance | Pass::AdvanceTethered | Pass::AdvanceFree | Pass::AdvancePinned)
        });
        !self.substep.is_empty() && self.substep.iter().all(first) && advances && self.color_order == ColorOrder::Fixed
    }

    /// Whether tethers hold between substeps that are nothing but colours and motion.
    fn tethers_between(&self) -> bool {
        self.between.first() != Some(&Pass::Advance)
    }

    /// Whether the pass stands anywhere in the plan.
    pub fn contains(&self, pass: &Pass) -> bool {
        if let Pass::Halos { tethers, .. } = pass {
            return self.fused && *tethers == self.tethers_between();
        }
        [&self.begin, &self.substep, &self.between, &self.end].iter().any(|passes| passes.contains(pass))
    }

    /// How many dispatches one further substep costs.
    pub fn dispatches_per_substep(&self) -> usize {
        if self.fused { 1 } else { self.substep.len() + self.between.len() }
    }
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
