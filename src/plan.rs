//! The schedule of a step, as data. Both players play it: [`crate::Reference`] on the CPU, [`crate::Solver`] on the GPU.
//!
//! A step of `dt` is `begin`, then `substeps` times `substep` with `between` after each but the last, then `end`:
//!
//! ```text
//! begin     Targets  Start  Predict
//! substep   Tether  Project … Project  (Split GatherChunks GatherHubs)      Project: once an iteration, kind, colour
//! between   Advance                                                         Velocity and Predict in one sweep
//! end       Velocity  Finish  Normals
//! ```
//!
//! With wind, `Aerodynamics` stands before each `Predict`, and `Advance` is taken apart.

use crate::coloring::Span;
use crate::cooked::Cooked;
use crate::settings::Settings;

/// One pass over particles or constraints; every pass is one GPU dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pass {
    /// Kinematic particles: the velocity that reaches the target within the step.
    Targets,
    /// The displacement that each velocity means: d = h v.
    Start,
    /// The acceleration by wind and air drag.
    Aerodynamics,
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
    /// No particle farther from its pins than the material between is long.
    Tether,
    /// x += d; the displacement stays as the new velocity.
    Velocity,
    /// `Velocity`, then `Predict` of the next substep.
    Advance,
    /// v = d/h, for the world outside.
    Finish,
    /// The normals of the surfaces.
    Normals,
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
}

impl Plan {
    pub(crate) fn new(cooked: &Cooked, settings: &Settings) -> Self {
        let surfaces = !cooked.rings.is_empty();
        let wind = surfaces && settings.wind.is_some();
        let mut plan = Self { begin: vec![Pass::Targets, Pass::Start], ..Self::default() };
        let predict: &[Pass] = if wind { &[Pass::Aerodynamics, Pass::Predict] } else { &[Pass::Predict] };
        plan.begin.extend(predict);
        if wind {
            plan.between.push(Pass::Velocity);
            plan.between.extend(predict);
        } else {
            plan.between.push(Pass::Advance);
        }
        // First, so that the local constraints smooth what the tethers have pulled: at 316 × 316 the worst edge keeps 10 %
        // of strain instead of 16 %.
        if settings.tethers && !cooked.tethered.is_empty() {
            plan.substep.push(Pass::Tether);
        }
        for iteration in 0..settings.iterations {
            plan.push_iteration(cooked, iteration == 0);
        }
        plan.end.extend([Pass::Velocity, Pass::Finish]);
        if surfaces {
            plan.end.push(Pass::Normals);
        }
        plan
    }

    fn push_iteration(&mut self, cooked: &Cooked, first_iteration: bool) {
        for (kind, constraints) in cooked.kinds.iter().enumerate() {
            for (color, &span) in (0..).zip(&constraints.coloring.colors) {
                self.substep.push(Pass::Project { kind, color, span, first_iteration });
            }
            if !constraints.split.is_empty() {
                let span = constraints.coloring.overflow;
                self.substep.push(Pass::Split { kind, span, first_iteration });
                self.substep.extend([Pass::GatherChunks { kind }, Pass::GatherHubs { kind }]);
            }
        }
    }

    /// All passes of a step of so many substeps, in order.
    pub fn step(&self, substeps: u32) -> impl Iterator<Item = Pass> {
        let body = (0..substeps).flat_map(move |substep| {
            let between: &[Pass] = if substep + 1 < substeps { &self.between } else { &[] };
            self.substep.iter().chain(between)
        });
        self.begin.iter().chain(body).chain(&self.end).copied()
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
