//! What solves the constraints, where that is not what was asked for.

use crate::controls::Controls;
use crate::plan::Pass;
use crate::settings::{ColorOrder, Execution, Settings, Sweep};

/// What solves the constraints of a solver now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// What [`Settings::execution`](crate::Settings::execution) asks for; for [`Execution::Auto`] on a GPU, what it stands for there.
    pub chosen: Execution,
    /// What runs.
    pub execution: Execution,
    /// Why something other than `chosen` runs; `None` where it does not.
    pub reason: Option<&'static str>,
}

impl Controls {
    /// What the plan runs, and why it is not what was asked for.
    pub fn running(&self) -> Running {
        let chosen = self.settings.execution;
        let has = |is: fn(&Pass) -> bool| self.plan.begin.iter().chain(&self.plan.substep).any(is);
        let tiles = has(|pass| matches!(pass, Pass::Tiles { .. }));
        let patches = has(|pass| matches!(pass, Pass::Patches { .. }));
        let execution = if self.plan.fused {
            Execution::Halos
        } else if has(|pass| matches!(pass, Pass::Whole | Pass::WholeSweep { .. })) {
            Execution::Whole
        } else {
            match (tiles, patches) {
                (true, true) => Execution::Clusters,
                (true, false) => Execution::Tiles,
                (false, true) => Execution::Patches,
                (false, false) => Execution::Colors,
            }
        };
        let as_chosen = execution == chosen || chosen == Execution::Auto;
        let reason = (!as_chosen).then(|| self.why_not(chosen));
        Running { chosen, execution, reason }
    }

    /// Why an execution does not run.
    fn why_not(&self, chosen: Execution) -> &'static str {
        let Settings { sweep, color_order, iterations, substeps, keep_lambdas, mean_forces, self_collision, .. } =
            self.settings;
        if sweep == Sweep::Jacobi {
            return "Settings::sweep is Jacobi, which solves all constraints of a kind at once";
        }
        if color_order != ColorOrder::Fixed {
            return "Settings::color_order is not Fixed, so constraints are solved by colours";
        }
        if chosen != Execution::Halos {
            return "the scene has no constraints that it applies to, or has some that it cannot solve";
        }
        let halos_need = [
            (iterations > 1, "halos solve one iteration a substep, and Settings::iterations is more"),
            (substeps == 1, "halos solve pairs of substeps, and Settings::substeps is 1"),
            (keep_lambdas, "halos keep no multipliers, and Settings::keep_lambdas is true"),
            (mean_forces, "halos keep no multipliers, and Settings::mean_forces is true"),
            (self_collision.is_some(), "self-collision is on"),
            (!self.colliders.is_empty(), "the scene has colliders"),
            (self.plan.begin.contains(&Pass::Accelerations), "wind, fields or forces act"),
            (!self.can_fuse(), "the scene has groups, or particles with more constraints than there are colours"),
        ];
        halos_need.into_iter().find(|(applies, _)| *applies).map_or(self.no_halos, |(_, reason)| reason)
    }
}
