//! Rods with bending and twist: a coil spring with a weight, a cable whose end is twisted until it forms loops, and
//! curly strands.
//!
//! ```text
//! cargo run --release --example rods                                          a window
//! cargo run --release --example rods -- --headless --frames 240 --json        a line of JSON
//! ```

use anyhow::ensure;
use clap::Parser;
use glam::{Quat, Vec3};
use serde_json::json;
use std::f32::consts::{FRAC_PI_2, TAU};
use supple::{
    ContactMaterial, OrientationId, Rod, RodMaterial, RodParts, RodRest, Scene, SelfCollision, Settings, Solver,
};
use supple_demos::camera::Camera;
use supple_demos::{Demo, Figures, Options, Script};

#[derive(Parser, Debug)]
#[command(about = "A coil spring, a twisted cable and curly strands")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Turns of the end of the cable
    #[arg(long, default_value_t = 9.0, allow_negative_numbers = true)]
    turns: f32,
    /// Number of strands
    #[arg(long, default_value_t = 24)]
    strands: u32,
}

/// The length of the cable [m].
const CABLE: f32 = 1.2;
/// The part of its length by which its ends approach.
const APPROACH: f32 = 0.45;

/// Twists the end of the cable for 3 s, then moves it towards the other end for 2 s.
struct Twister {
    turns: f32,
    clamp: OrientationId,
    end: u32,
    start: Vec3,
    /// The rod whose sag is reported: its last particle, and the height at the start [m].
    spring: (u32, f32),
    sag: f64,
}

impl Script for Twister {
    fn drive(&mut self, solver: &mut Solver, step: u32) -> supple::Result<()> {
        let seconds = (step + 1) as f32 / 60.0;
        let angle = TAU * self.turns * (seconds / 3.0).min(1.0);
        let frame = Quat::from_rotation_x(angle) * Quat::from_rotation_y(FRAC_PI_2);
        solver.set_orientation_target(self.clamp, frame.into())?;
        let approach = APPROACH * CABLE * ((seconds - 3.0) / 2.0).clamp(0.0, 1.0);
        // The window can release pins.
        if solver.is_pinned(self.end)? {
            solver.set_target(self.end, (self.start - Vec3::X * approach).into())?;
        }
        Ok(())
    }

    fn observe(&mut self, positions: &[[f32; 3]]) -> supple::Result<()> {
        let (particle, height) = self.spring;
        self.sag = f64::from(height - positions[particle as usize][1]);
        Ok(())
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        ui.add(egui::Slider::new(&mut self.turns, -20.0..=20.0).text("turns of the cable"));
        ui.label(format!("sag of the spring: {:.3} m", self.sag));
    }

    fn figures(&mut self, _: &Solver) -> supple::Result<Figures> {
        Ok([("sag".into(), json!(self.sag))].into_iter().collect())
    }
}

/// Adds a rod, its contact material and its colour.
fn add(scene: &mut Scene, demo: &mut Demo, rod: &Rod, color: [f32; 3]) -> supple::Result<RodParts> {
    let parts = scene.add_rod(rod)?;
    let radius = rod.material.radii[0];
    let material = ContactMaterial { thickness: 2.0 * radius, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material)?;
    scene.set_particle_contact(parts.particles.clone(), material)?;
    demo.rods.push((parts.particles.clone().collect(), radius));
    demo.tints.push((parts.particles.clone(), color));
    Ok(parts)
}

/// A spring of six turns with a weight of 0.3 kg.
fn spring(scene: &mut Scene, demo: &mut Demo) -> supple::Result<RodParts> {
    let at = |k: u32| {
        let angle = TAU * k as f32 / 20.0;
        [-0.5 + 0.08 * angle.cos(), 0.75 - 0.05 / TAU * angle, 0.08 * angle.sin()]
    };
    let points: Vec<[f32; 3]> = (0..=120).map(at).collect();
    let steel = RodMaterial { damping_time: 1e-3, ..RodMaterial::round(0.008, 2e8, 0.3, 1000.0) };
    let rod = Rod { rest: RodRest::Shape, clamped: [true, false], ..Rod::new(&points, steel) };
    let parts = add(scene, demo, &rod, [0.35, 0.35, 0.40])?;
    let end = parts.particles.end - 1;
    scene.set_mass(end, 0.3)?;
    demo.balls.push((end, 0.05));
    Ok(parts)
}

/// Strands that are curly at rest, along an arc.
fn strands(scene: &mut Scene, demo: &mut Demo, count: u32) -> supple::Result<()> {
    let hair = RodMaterial { damping_time: 5e-3, ..RodMaterial::round(0.003, 8e6, 0.4, 1000.0) };
    for strand in 0..count {
        let share = (strand as f32 + 0.5) / count as f32;
        let (sin, cos) = (1.6 * (share - 0.5)).sin_cos();
        let (root, along) = (Vec3::new(0.35 + 0.25 * sin, 0.5 + 0.25 * cos, 0.0), Vec3::new(sin, 0.4 * cos, 0.25));
        let along = along.normalize();
        let points: Vec<[f32; 3]> = (0..=60).map(|k| (root + along * 0.01 * k as f32).into()).collect();
        let rest = RodRest::Darboux([0.0, 45.0, 15.0 + 5.0 * (7.0 * share).sin()]);
        let rod = Rod { clamped: [true, false], rest, normal: Some([cos, -sin, 0.3]), ..Rod::new(&points, hair) };
        add_strand(scene, demo, &rod, share)?;
    }
    Ok(())
}

/// Adds a strand. It has the default contact material, whose thickness is half the distance of its particles, so that strands may pass
/// through each other.
fn add_strand(scene: &mut Scene, demo: &mut Demo, rod: &Rod, share: f32) -> supple::Result<()> {
    let parts = scene.add_rod(rod)?;
    demo.rods.push((parts.particles.clone().collect(), rod.material.radii[0]));
    demo.tints.push((parts.particles, [0.10 + 0.08 * share, 0.03 + 0.02 * share, 0.01]));
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let Arguments { options, turns, strands: count } = supple_demos::parse(&[("frames", "330"), ("damping", "0.5")]);
    let (mut scene, mut demo) = (Scene::new(), Demo { title: "rods", ..Demo::default() });
    let spring = spring(&mut scene, &mut demo)?;
    let rubber = RodMaterial { damping_time: 2e-3, ..RodMaterial::round(0.01, 1e6, 0.45, 1100.0) };
    let points: Vec<[f32; 3]> =
        (0..=60).map(|k| [CABLE * (k as f32 / 60.0 - 0.5), -0.1, 0.25 + 1e-3 * (k % 5) as f32]).collect();
    let cable = Rod { clamped: [true; 2], ..Rod::new(&points, rubber) };
    let cable = add(&mut scene, &mut demo, &cable, [0.40, 0.02, 0.03])?;
    strands(&mut scene, &mut demo, count)?;
    let end = spring.particles.end - 1;
    let (height, last) = (scene.positions()[end as usize][1], cable.particles.end - 1);
    let clamp = cable.clamps[1].ok_or_else(|| anyhow::anyhow!("the end of the cable has no clamp"))?;
    let start = scene.positions()[last as usize].into();
    demo.settings = Settings { self_collision: Some(SelfCollision::default()), ..options.settings() };
    demo.script = Some(Box::new(Twister { turns, clamp, end: last, start, spring: (end, height), sag: 0.0 }));
    demo.camera = Camera { target: Vec3::new(0.0, 0.1, 0.0), distance: 2.0, yaw: 0.25, pitch: 0.15 };
    demo.ground = -0.8;
    demo.scene = scene;
    supple_demos::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        let sag = report.figures["sag"].as_f64().unwrap_or(f64::NAN);
        ensure!((0.05..1.0).contains(&sag), "the weight hangs {sag} m below its start");
        Ok(())
    })
}
