//! Compilation of the pipelines of later changes.

use super::contacts::Contacts;
use super::pipelines::{Pipelines, TetheredStage};
use super::shift::{shift_skinned_stage, shift_stage};
use super::solver::Solver;
use crate::collision::Collider;
use crate::error::Result;
use crate::settings::{Execution, Settings};

impl Solver {
    /// Compiles the pipelines that the solver needs after a later call of [`Solver::set_settings`] with these settings, and
    /// after the `colliders` are then added in this order. These calls then compile nothing, nor do pins and
    /// [`Solver::shift_origin`]. The pipelines are put in [`Solver::pipeline_store`]; the simulation does not change.
    ///
    /// Pass [`Solver::settings`] to prepare colliders for the present settings. Of the colliders only shapes and number
    /// matter: there is a variant for one collider, one for more, and one for each set of shapes.
    ///
    /// The call takes as long as the change would, and allocates the buffers of contacts for its duration. It runs where
    /// a pause does not matter, such as while a level is loaded. In a browser the compilation continues after it returns.
    ///
    /// # Errors
    /// As [`Solver::set_settings`] and [`Solver::add_collider`], except that buffers other than those of contacts are not tested
    /// against the limits of the device.
    pub fn prepare(&self, settings: &Settings, colliders: &[Collider]) -> Result<()> {
        let mut settings = *settings;
        if settings.execution == Execution::Auto {
            settings.execution = self.auto;
        }
        let mut controls = self.controls.clone();
        controls.set_settings(settings)?;
        let (store, queue, buffers) = (&self.store, &self.queue, &self.buffers);
        store.guarded(|| {
            let mut pipelines = Pipelines::new(store, &controls, controls.keeps_lambdas());
            if pipelines.tethered.is_some() {
                TetheredStage::prepare(store, &controls);
            }
            shift_stage(store);
            if !controls.scene.skinned().is_empty() {
                shift_skinned_stage(store);
            }
            Contacts::new(store, queue, &controls, buffers)?;
            for collider in colliders {
                controls.add_collider(collider)?;
                pipelines.add(pipelines.missing(&controls).compile(store, &controls));
                Contacts::new(store, queue, &controls, buffers)?;
            }
            Ok(())
        })
    }
}
