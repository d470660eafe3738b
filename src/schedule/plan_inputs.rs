//! The state of the simulation that a plan depends on, beside the compiled scene and the settings.

use super::compiled::CompiledScene;
use super::pass::Pass;
use crate::settings::Settings;

/// State of the simulation that a plan depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlanInputs {
    /// True if there are colliders.
    pub any: bool,
    /// True if there are several colliders.
    pub several: bool,
    /// True if there are colliders other than half-spaces, into which no triangle is deeper than its corners.
    pub meets_triangles: bool,
    /// True if a contact material has restitution.
    pub bounce: bool,
    /// Number of pins. Without pins no tether is solved.
    pub pins: usize,
    /// True if the scene has or reserves attachments.
    pub attaches: bool,
    /// True if there are skinned particles.
    pub skinned: bool,
}

impl PlanInputs {
    /// True if `SolveTethers` has an effect.
    pub fn tether(self, compiled: &CompiledScene, settings: &Settings) -> bool {
        settings.tethers && compiled.most_tethers > 0 && self.pins > 0
    }

    /// The pass that ends a substep; with `predicts` it also begins the next one.
    pub fn integrate(self, predicts: bool) -> Pass {
        match (self.bounce, predicts) {
            (true, predicts) => Pass::ApplyRestitution { predicts },
            (false, true) => Pass::IntegrateAndPredict,
            (false, false) => Pass::Velocity,
        }
    }
}
