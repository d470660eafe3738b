//! `supple view`: a scene file in the window of the demos.

use crate::export::geometry::{is_closed, is_curve};
use crate::save;
use anyhow::{Context as _, bail};
use clap::Parser as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use supple::scene_file::{Part, SceneFile};
use supple::{Pose, Scene, Settings, Shape, Solver};
use supple_demos::camera::Camera;
use supple_demos::{Demo, Figures, Options, Script, headless, window};

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Drag to pull the cloth or to orbit; scroll to zoom. Space pauses, N runs one step, R resets, P toggles the pins, W the wind, \
C changes the colours (strain, constraints), Q closes the window. The panel shows pins and contacts. \
\"save settings\" or Ctrl+S writes its settings to the scene file. Colliders of triangle meshes are not drawn.")]
pub struct Arguments {
    /// The scene file; docs/scene.md describes the format
    scene: PathBuf,
    /// Write a picture instead of opening a window
    #[arg(long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// The number of steps before the picture
    #[arg(long, default_value_t = 120, requires = "png", value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Width and height of the window or of the picture
    #[arg(long, value_names = ["WIDTH", "HEIGHT"], num_args = 2, default_values_t = [1280, 800])]
    size: Vec<u32>,
}

/// The options of a demo with their defaults.
#[derive(clap::Parser)]
struct Defaults {
    #[command(flatten)]
    options: Options,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let file = SceneFile::read(&arguments.scene).with_context(|| arguments.scene.display().to_string())?;
    for hint in &file.hints {
        crate::console::warn(hint);
    }
    let Defaults { mut options } = Defaults::parse_from(["supple"]);
    options.size.clone_from(&arguments.size);
    let mut demo = demo(file, &arguments.scene);
    if let Some(path) = &arguments.png {
        (options.png, options.frames) = (Some(path.clone()), arguments.frames);
        headless::run(&mut demo, &options)?;
        return Ok(());
    }
    match window::run(demo, &options)? {
        window::Outcome::Closed => Ok(()),
        window::Outcome::NoDisplay { reason, .. } => {
            bail!("no window can be opened ({reason}); --png writes a picture")
        }
    }
}

fn demo(file: SceneFile, path: &Path) -> Demo {
    let (scene, settings) = (file.scene.clone(), file.settings);
    let mut demo = Demo { title: "scene", scene, settings, wind: settings.wind, ..Demo::default() };
    demo.edges = hull(file.parts.iter().map(|part| part.edges.clone()));
    (demo.camera, demo.ground) = camera(file.scene.positions(), floor(&file.scene));
    // Ropes and rods stay visible in large scenes.
    let radius = (0.002 * demo.camera.distance).max(0.006);
    demo.rods = file.parts.iter().filter_map(|part| Some((line(part)?, radius))).collect();
    demo.script = Some(Box::new(Motion {
        tears: file.scene.can_tear(),
        dt: f64::from(file.settings.dt),
        file,
        moved: Vec::new(),
        path: path.into(),
        saved: None,
    }));
    demo
}

/// The particles along a rope or a rod; a closed one ends at its first particle.
fn line(part: &Part) -> Option<Vec<u32>> {
    let closing = is_closed(part).then_some(part.particles.start);
    is_curve(part).then(|| part.particles.clone().chain(closing).collect())
}

/// The smallest range that contains the ranges that are not empty.
fn hull(ranges: impl Iterator<Item = Range<u32>>) -> Range<u32> {
    let join = |a: Range<u32>, b: Range<u32>| a.start.min(b.start)..a.end.max(b.end);
    ranges.filter(|range| !range.is_empty()).reduce(join).unwrap_or(0..0)
}

/// A camera that shows all particles and a floor near below them, and the height of the ground.
fn camera(positions: &[[f32; 3]], floor: Option<f32>) -> (Camera, f32) {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for position in positions {
        for axis in 0..3 {
            low[axis] = low[axis].min(position[axis]);
            high[axis] = high[axis].max(position[axis]);
        }
    }
    if positions.is_empty() {
        (low, high) = ([-1.0; 3], [1.0; 3]);
    }
    let size = |low: [f32; 3]| (0..3).map(|axis| (high[axis] - low[axis]).powi(2)).sum::<f32>().sqrt();
    // A hanging cloth falls below its start.
    let ground = floor.unwrap_or(low[1] - 0.75 * size(low));
    if let Some(floor) = floor {
        low[1] = floor.max(low[1] - size(low)).min(low[1]);
    }
    let center = [0, 1, 2].map(|axis| 0.5 * (low[axis] + high[axis]));
    let distance = (1.6 * size(low)).max(0.5);
    (Camera { target: center.into(), distance, yaw: 0.6, pitch: 0.35 }, ground)
}

/// The height of the lowest horizontal half-space.
fn floor(scene: &Scene) -> Option<f32> {
    // The normal of a half-space is its y axis, of height 1 - 2 (x² + z²).
    let is_level = |&Pose { rotation: [x, _, z, _], .. }: &Pose| x * x + z * z < 5e-5;
    let floors = scene.colliders().iter().filter(|collider| matches!(collider.shape, Shape::HalfSpace));
    floors.map(|floor| floor.pose).filter(is_level).map(|pose| pose.position[1]).reduce(f32::min)
}

/// The targets, colliders and forces of a scene file.
struct Motion {
    file: SceneFile,
    /// True if a cloth tears.
    tears: bool,
    dt: f64,
    moved: Vec<(usize, Pose)>,
    path: PathBuf,
    /// The result of the last save.
    saved: Option<anyhow::Result<String>>,
}

impl Script for Motion {
    fn drive(&mut self, solver: &mut Solver, step: u32) -> supple::Result<()> {
        if step == 0 && !self.file.forces.is_empty() {
            solver.set_forces(0, &self.file.forces)?;
        }
        if self.tears {
            solver.tear()?;
        }
        let time = f64::from(step + 1) * self.dt;
        for (particle, position) in self.file.targets_at(time) {
            // The window can release pins.
            if solver.is_pinned(particle)? {
                solver.set_target(particle, position)?;
            }
        }
        self.moved.clear();
        for (collider, pose) in self.file.collider_poses_at(time) {
            solver.move_collider(collider, pose)?;
            self.moved.push((collider.index(), pose));
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.moved.clear();
    }

    fn moved_colliders(&self) -> &[(usize, Pose)] {
        &self.moved
    }

    fn save(&mut self, settings: &Settings) {
        let names = save::save(&self.path, &self.file.settings, settings);
        if names.is_ok() {
            self.file.settings = *settings;
        }
        self.saved = Some(names.map(|names| match names[..] {
            [] => "no setting has changed".to_owned(),
            _ => format!("saved {}", names.join(", ")),
        }));
    }

    fn settings_panel(&mut self, ui: &mut egui::Ui, settings: &Settings) {
        if ui.button("save settings").clicked() {
            self.save(settings);
        }
        match &self.saved {
            Some(Ok(message)) => _ = ui.label(message),
            Some(Err(error)) => _ = ui.colored_label(ui.visuals().error_fg_color, format!("{error:#}")),
            None => {}
        }
    }

    fn figures(&mut self, _: &Solver) -> supple::Result<Figures> {
        Ok(Figures::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::gpu::Context;

    #[test]
    fn pins_with_targets_can_be_released() -> anyhow::Result<()> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/scenes/animated_target.json");
        let mut demo = demo(SceneFile::read(&path)?, &path);
        let gpu = Context::new(supple::required_limits_with(&demo.scene, &demo.settings))?;
        let mut solver = Solver::new(&gpu.device, &gpu.queue, &demo.scene, demo.settings)?;
        let Some(script) = &mut demo.script else { bail!("the scene has no script") };
        script.drive(&mut solver, 0)?;
        let pins: Vec<u32> = demo.scene.pinned_particles().collect();
        assert!(!pins.is_empty());
        solver.release(&pins)?;
        script.drive(&mut solver, 1)?;
        solver.pin(&pins)?;
        Ok(script.drive(&mut solver, 2)?)
    }
}
