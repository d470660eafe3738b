//! A scene with the data that the window and the browser draw.

use super::camera::Camera;
use super::shapes;
use std::ops::Range;
use supple::{MaterialId, Pose, Scene, Settings, Wind};
#[cfg(not(target_arch = "wasm32"))]
use supple::{Solver, wgpu};

/// Callbacks of a demo that run with its scene.
#[cfg(not(target_arch = "wasm32"))]
pub trait Script {
    /// Called before each step; `step` counts from 0 and restarts at 0 after a reset.
    fn drive(&mut self, _solver: &mut Solver, _step: u32) -> supple::Result<()> {
        Ok(())
    }

    /// Called after a step is recorded; readbacks requested here see the state after the step.
    fn request(&mut self, _solver: &Solver, _encoder: &mut wgpu::CommandEncoder) {}

    /// Called after a reset of the solver.
    fn reset(&mut self) {}

    /// The colliders that the script has moved, by their index in [`Scene::colliders`]; the others are at their start.
    fn moved_colliders(&self) -> &[(usize, Pose)] {
        &[]
    }

    /// Receives positions: after each step when headless, or the last ones read back in a window.
    fn observe(&mut self, _positions: &[[f32; 3]]) -> supple::Result<()> {
        Ok(())
    }

    /// Adds its own controls to the panel.
    fn panel(&mut self, _ui: &mut egui::Ui) {}

    /// Called for Ctrl+S.
    fn save(&mut self, _settings: &Settings) {}

    /// Adds controls below the settings of the panel.
    fn settings_panel(&mut self, _ui: &mut egui::Ui, _settings: &Settings) {}

    /// The values that it adds to the final report.
    fn figures(&mut self, solver: &Solver) -> supple::Result<Figures>;
}

/// Values by name.
#[cfg(not(target_arch = "wasm32"))]
pub type Figures = serde_json::Map<String, serde_json::Value>;

/// A scene with the presentation data of a demo.
#[derive(Default)]
pub struct Demo {
    pub title: &'static str,
    pub scene: Scene,
    pub settings: Settings,
    /// The wind that the panel scales to a speed; `None` selects a breeze of 4 m/s.
    pub wind: Option<Wind>,
    /// The distance constraints whose strain is shown and reported.
    pub edges: Range<u32>,
    /// Materials with a slider.
    pub materials: Vec<(&'static str, MaterialId)>,
    /// The distance constraints that are drawn as cords.
    pub ropes: Range<u32>,
    /// The drawn thickness of cords [m]; 0 selects 12 mm.
    pub rope_thickness: f32,
    /// Lines through particles that are drawn as tubes, with their radii [m]; a closed line ends with its first particle.
    pub rods: Vec<(Vec<u32>, f32)>,
    /// Particles drawn as balls, with their radii [m].
    pub balls: Vec<(u32, f32)>,
    /// Linear colours of particles; the default is red, and yellow on the back.
    pub tints: Vec<(Range<u32>, [f32; 3])>,
    /// Meshes of colliders, by their index in [`Scene::colliders`].
    pub meshes: Vec<(usize, shapes::Surface)>,
    /// Texture coordinates of the particles \[m\]; without them the cloth has no pattern.
    pub texture: Vec<[f32; 2]>,
    #[cfg(not(target_arch = "wasm32"))]
    pub script: Option<Box<dyn Script>>,
    /// Builds the demo with another number of columns, for a window on a software adapter.
    #[cfg(not(target_arch = "wasm32"))]
    pub resized: Option<super::software::Resized>,
    /// A line of the panel.
    pub note: String,
    pub camera: Camera,
    /// Height of the drawn ground [m].
    pub ground: f32,
}

impl Demo {
    /// The current pose of each collider.
    pub fn collider_poses(&self) -> Vec<Pose> {
        #[cfg_attr(target_arch = "wasm32", expect(unused_mut, reason = "no script moves colliders"))]
        let mut poses: Vec<Pose> = self.scene.colliders().iter().map(|collider| collider.pose).collect();
        #[cfg(not(target_arch = "wasm32"))]
        for &(index, pose) in self.script.iter().flat_map(|script| script.moved_colliders()) {
            poses[index] = pose;
        }
        poses
    }
}
