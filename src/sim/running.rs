//! The plan that runs, and the reason if its execution differs from the chosen one.

use crate::schedule::plan::{FEW_PINS, Pass, Plan};
use crate::schedule::plan_inputs::PlanInputs;
use crate::settings::{ColorOrder, Execution, Sweep};
use crate::sim::contact_params::least_radius;
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
    pub fn make_plan(&mut self) {
        self.plan = self.plan_with(self.pins.len());
    }

    fn plan_with(&self, pins: usize) -> Plan {
        let (any, several) = (!self.colliders.is_empty(), self.colliders.are_several());
        let elements = &self.compiled.contact_elements;
        let meets_triangles =
            self.colliders.meet_triangles(elements.radii[2].most, least_radius(&self.scene, elements));
        let (bounce, attaches) = (any && self.restitutes(), self.attachments.capacity > 0);
        let skinned = !self.scene.skinned.rows.is_empty();
        let inputs = PlanInputs { any, several, meets_triangles, bounce, pins, attaches, skinned };
        Plan::new(&self.compiled, &self.settings, inputs)
    }

    /// The plans for all numbers of pins, which change often. Without tethers there is one.
    pub fn plans(&self) -> Vec<Plan> {
        let has_tethers = self.compiled.most_tethers > 0 && self.settings.tethers;
        let pins: &[usize] = if has_tethers { &[0, 1, FEW_PINS + 1] } else { &[0] };
        pins.iter().map(|&pins| self.plan_with(pins)).collect()
    }

    /// Restitution, and contacts of triangles with colliders. Forces on colliders are 0 until the next step if one of them begins.
    pub fn collider_contacts(&self) -> [bool; 2] {
        [self.restitutes(), self.plan.contains(&Pass::CollideTriangles)]
    }

    /// Returns true if one of [`Self::collider_contacts`] is new.
    pub fn has_begun_since(&self, before: [bool; 2]) -> bool {
        self.collider_contacts().into_iter().zip(before).any(|(now, before)| now && !before)
    }

    /// Returns true if any contact material has restitution.
    pub fn restitutes(&self) -> bool {
        self.scene.contact_materials.iter().any(|material| material.restitution > 0.0)
    }

    /// Returns true if the GPU stores λ. Trees read λ of the last substep.
    pub fn keeps_lambdas(&self) -> bool {
        self.settings.keeps_lambdas(self.compiled.has_groups())
            || self.compiled.kinds.iter().any(|kind| !kind.trees.is_empty())
    }

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
