//! Two rows of bodies, each pinned at one or a few particles, in a vortex field: rigid ones behind, soft ones in front.
//!
//! ```text
//! cargo run --release --example shape_matching                           a window
//! cargo run --release --example shape_matching -- --headless --json      a line of JSON
//! ```

use anyhow::ensure;
use clap::Parser;
use glam::{DQuat, Quat, Vec3};
use serde_json::{Value, json};
use std::ops::Range;
use supple::{Elasticity, Field, Material, Scene, Settings, SoftBody, Solver};
use supple_demos::camera::Camera;
use supple_demos::shapes::{Surface, blob, icosphere, placed, rounded_cube, shape_errors, torus};
use supple_demos::{Demo, Figures, Options, Script};

#[derive(Parser, Debug)]
#[command(about = "Rigid and soft bodies by shape matching")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The edge of a lattice cube [m]
    #[arg(long, default_value_t = 0.07)]
    spacing: f32,
    /// Radius of the groups of the soft bodies, in edges
    #[arg(long, default_value_t = 1)]
    rings: u32,
    /// Compliance of these groups [s²]
    #[arg(long, default_value_t = 1e-3)]
    compliance: f32,
    /// Acceleration of the vortex near its axis [m/s²]
    #[arg(long, default_value_t = 12.0, allow_negative_numbers = true)]
    vortex: f32,
}

struct Body {
    name: String,
    particles: Range<u32>,
    /// The pinned particles.
    pins: Vec<u32>,
    rotation: DQuat,
    /// The largest errors so far: of free particles, and of pins.
    errors: [f64; 2],
}

struct Bodies {
    bodies: Vec<Body>,
    rest: Vec<[f32; 3]>,
    inverse_masses: Vec<f32>,
}

impl Script for Bodies {
    fn observe(&mut self, positions: &[[f32; 3]]) -> supple::Result<()> {
        for Body { particles, pins, rotation, errors, .. } in &mut self.bodies {
            let range = particles.start as usize..particles.end as usize;
            let [rest, positions] = [&self.rest, positions].map(|points| &points[range.clone()]);
            let is_pinned = |particle: usize| pins.contains(&(particles.start + particle as u32));
            let now = shape_errors(rest, positions, &self.inverse_masses[range], is_pinned, rotation);
            *errors = [0, 1].map(|part| errors[part].max(now[part]));
        }
        Ok(())
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        for Body { name, errors: [shape, pin], .. } in &self.bodies {
            ui.label(format!("{name}: shape {:.2} %, pins {:.2} %", shape * 100.0, pin * 100.0));
        }
    }

    fn figures(&mut self, _: &Solver) -> supple::Result<Figures> {
        let body = |Body { name, particles, errors: [shape, pin], .. }: &Body| json!({ "name": name, "particles": particles.len(), "shape_error": shape, "pin_error": pin });
        let bodies: Vec<Value> = self.bodies.iter().map(body).collect();
        Ok([("bodies".into(), json!(bodies))].into_iter().collect())
    }
}

/// The topmost particles among the heaviest of a body: the fit is by mass, so light pins would not hold a group.
fn top(scene: &Scene, particles: &Range<u32>, count: usize) -> Vec<u32> {
    let mass = |particle: u32| 1.0 / scene.inverse_masses()[particle as usize];
    let heaviest = particles.clone().map(mass).fold(0.0, f32::max);
    let mut heavy: Vec<u32> = particles.clone().filter(|&particle| mass(particle) > 0.5 * heaviest).collect();
    let height = |particle: u32| scene.positions()[particle as usize][1];
    heavy.sort_by(|&a, &b| height(b).total_cmp(&height(a)));
    heavy.truncate(count);
    heavy
}

fn main() -> anyhow::Result<()> {
    let Arguments { options, spacing, rings, compliance, vortex } = Arguments::parse();
    let shapes: [(&str, Surface, [f32; 3]); 4] = [
        ("torus", placed(torus(0.15, 0.06, 64, 24), Quat::from_rotation_x(1.3), Vec3::ZERO), [0.45, 0.12, 0.02]),
        ("cube", placed(rounded_cube(4, 0.3), Quat::from_rotation_x(0.6), Vec3::ZERO), [0.03, 0.12, 0.26]),
        ("ball", icosphere(4, 0.17), [0.40, 0.02, 0.03]),
        ("blob", blob(4, 0.18), [0.04, 0.16, 0.05]),
    ];
    let soft = Material { damping_time: 2e-3, ..Material::compliant(compliance) };
    let rows = [
        ("rigid", Elasticity::Rigid { shape: Material::RIGID }, -0.4, 1),
        ("soft", Elasticity::Regions { rings, shape: soft }, 0.4, 4),
    ];
    let mut scene = Scene::new();
    let (mut bodies, mut tints) = (Vec::new(), Vec::new());
    for (row, elasticity, z, pins) in rows {
        for (place, (name, surface, tint)) in shapes.iter().enumerate() {
            let offset = Vec3::new(0.55 * (place as f32 - 1.5) - 0.3 * z, 0.0, z);
            let (positions, triangles) = &placed(surface.clone(), Quat::IDENTITY, offset);
            let body = scene.add_soft_body(&SoftBody { positions, triangles, spacing, density: 300.0, elasticity })?;
            let pins = top(&scene, &body.particles, pins);
            for &pin in &pins {
                scene.pin(pin)?;
            }
            tints.push((body.surface, *tint));
            let (name, particles) = (format!("{row} {name}"), body.particles);
            bodies.push(Body { name, particles, pins, rotation: DQuat::IDENTITY, errors: [0.0; 2] });
        }
    }
    let field = Field::Vortex { position: [0.0; 3], axis: [0.0, 1.0, 0.0], strength: vortex, radius: 1.0 };
    let settings = Settings { fields: Field::slots(&[field]), ..options.settings() };
    let (rest, inverse_masses) = (scene.positions().to_vec(), scene.inverse_masses().to_vec());
    let demo = Demo {
        title: "shape_matching",
        settings,
        tints,
        script: Some(Box::new(Bodies { bodies, rest, inverse_masses })),
        camera: Camera { target: Vec3::new(0.0, -0.05, 0.0), distance: 2.3, yaw: 0.2, pitch: 0.35 },
        ground: -0.6,
        scene,
        ..Demo::default()
    };
    supple_demos::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        for body in report.figures["bodies"].as_array().into_iter().flatten() {
            let bound = if body["name"].as_str().is_some_and(|name| name.starts_with("rigid")) { 2e-3 } else { 1.0 };
            ensure!(body["shape_error"].as_f64().is_some_and(|value| value < bound), "out of shape: {body}");
        }
        Ok(())
    })
}
