//! The schedule that runs, and the reason if it differs from the chosen one.

use crate::schedule::plan::Pass;
use crate::settings::{ColorOrder, Execution, Sweep};
use crate::sim::controls::Controls;

/// The schedule that a solver runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// [`Settings::execution`](crate::Settings::execution). On a GPU, [`Execution::Auto`] is resolved to the execution
    /// that it selects.
    pub chosen: Execution,
    /// The execution that runs.
    pub execution: Execution,
    /// Why `execution` differs from `chosen`; `None` if it does not.
    pub reason: Option<&'static str>,
}

impl Controls {
    /// The execution that the plan runs, and the reason if it is not the chosen one.
    pub fn running(&self) -> Running {
        let chosen = self.settings.execution;
        let has = |is: fn(&Pass) -> bool| self.plan.substep.iter().any(is);
        let execution = if has(|pass| matches!(pass, Pass::Tiles { .. })) {
            Execution::Tiles
        } else if has(|pass| matches!(pass, Pass::Clusters { .. })) {
            Execution::Clusters
        } else {
            Execution::Colors
        };
        let as_chosen = execution == chosen || chosen == Execution::Auto;
        let reason = (!as_chosen).then(|| self.why_colors());
        Running { chosen, execution, reason }
    }

    /// The reason why constraints are solved by colours although tiles or clusters were chosen.
    fn why_colors(&self) -> &'static str {
        if self.settings.sweep == Sweep::Jacobi {
            "Settings::sweep is Jacobi, which solves all constraints of a kind at once"
        } else if self.settings.color_order != ColorOrder::Fixed {
            "Settings::color_order is not Fixed"
        } else {
            "the scene has no constraints that the chosen execution can solve"
        }
    }
}
