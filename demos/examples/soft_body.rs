//! Two soft bodies: a ball that is squeezed between plates and released, and a torus (or any closed surface) that
//! swings by a few pins.
//!
//! ```text
//! cargo run --release --example soft_body                                     a window
//! cargo run --release --example soft_body -- --headless --json                a line of JSON
//! cargo run --release --example soft_body -- --mesh bunny.obj --spacing 0.06  another body
//! ```

use anyhow::ensure;
use clap::Parser;
use glam::{Quat, Vec3};
use serde_json::json;
use std::ops::Range;
use std::path::PathBuf;
use supple::scene::Lattice;
use supple::{ClothGrid, Elasticity, Fabric, Material, Scene, SoftBody, Solver};
use supple_demos::camera::Camera;
use supple_demos::shapes::{Surface, Volume, blob, icosphere, load_obj, placed, torus};
use supple_demos::{Demo, Figures, Options, Script, choice};

#[derive(Parser, Debug)]
#[command(about = "A ball that is squeezed and a torus that swings")]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Young's modulus [Pa]
    #[arg(long, default_value_t = 2e4)]
    young: f32,
    /// Bulk modulus of the volume constraints, in addition to that of the springs [Pa]
    #[arg(long, default_value_t = 2e4)]
    bulk: f32,
    /// Damping time of the springs [s]
    #[arg(long, default_value_t = 0.005)]
    damping_time: f32,
    /// Mass per volume [kg/m³]
    #[arg(long, default_value_t = 200.0)]
    density: f32,
    /// The edge of a lattice cube [m]
    #[arg(long, default_value_t = 0.08)]
    spacing: f32,
    /// The elasticity model
    #[arg(long, default_value = "elastic", value_parser = choice(KINDS))]
    elasticity: Kind,
    /// The swinging body
    #[arg(long, default_value = "torus", value_parser = choice(&[("torus", Hung::Torus), ("blob", Hung::Blob)]))]
    body: Hung,
    /// A closed surface that replaces the swinging body
    #[arg(long, value_name = "FILE.obj")]
    mesh: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Elastic,
    Rigid,
    Regions,
}

#[derive(Debug, Clone, Copy)]
enum Hung {
    Torus,
    Blob,
}

const KINDS: &[(&str, Kind)] = &[("elastic", Kind::Elastic), ("rigid", Kind::Rigid), ("regions", Kind::Regions)];
const RADIUS: f32 = 0.3;
const BALL: Vec3 = Vec3::new(-0.5, 0.0, 0.0);
/// The largest displacement of the upper plate [m]: down, up, down again, and away.
const SQUEEZE: f32 = 0.16;
/// Steps of one cycle of its motion, down and up.
const PERIOD: u32 = 60;
/// Step at which it moves away.
const RELEASE: u32 = PERIOD + PERIOD / 2;

struct Bodies {
    volumes: Vec<(&'static str, Volume, [f64; 2])>,
    simulated: usize,
    tetrahedra: usize,
    /// The ball particles that the upper plate holds, with their initial positions, and the particles of the plate.
    held: Vec<(u32, Vec3)>,
    plate: Vec<(u32, Vec3)>,
}

impl Script for Bodies {
    fn drive(&mut self, solver: &mut Solver, step: u32) -> supple::Result<()> {
        let phase = (step + 1) as f32 / PERIOD as f32 * std::f32::consts::TAU;
        if step == RELEASE {
            solver.release(&self.held.iter().map(|held| held.0).collect::<Vec<_>>())?;
        }
        let holds = step < RELEASE;
        // The plate leaves before the ball expands.
        let height = if holds { -SQUEEZE * (0.5 - 0.5 * phase.cos()) } else { SQUEEZE };
        for &(particle, start) in self.held.iter().filter(|_| holds).chain(&self.plate) {
            if solver.is_pinned(particle)? {
                solver.set_target(particle, (start + Vec3::Y * height).into())?;
            }
        }
        Ok(())
    }

    fn observe(&mut self, positions: &[[f32; 3]]) -> supple::Result<()> {
        for (_, volume, [least, most]) in &mut self.volumes {
            let ratio = volume.ratio(positions);
            (*least, *most) = (least.min(ratio), most.max(ratio));
        }
        Ok(())
    }

    fn panel(&mut self, ui: &mut egui::Ui) {
        for (name, _, [least, most]) in &self.volumes {
            ui.label(format!("volume of the {name}: {least:.3} to {most:.3}"));
        }
    }

    fn figures(&mut self, solver: &Solver) -> supple::Result<Figures> {
        let positions = solver.read_positions()?;
        let mut figures = Figures::new();
        figures.insert("simulated_particles".into(), json!(self.simulated));
        figures.insert("tetrahedra".into(), json!(self.tetrahedra));
        for (name, volume, range) in &self.volumes {
            figures.insert(format!("volume_ratio_of_{name}"), json!(volume.ratio(&positions)));
            figures.insert(format!("volume_range_of_{name}"), json!(range));
        }
        Ok(figures)
    }
}

fn position(scene: &Scene, particle: u32) -> Vec3 {
    scene.positions()[particle as usize].into()
}

/// Pins the ball at its lower end, and at its upper end if it is squeezed. Returns the upper particles with their positions.
fn pin_ball(scene: &mut Scene, ball: Range<u32>, spacing: f32, is_squeezed: bool) -> supple::Result<Vec<(u32, Vec3)>> {
    let mut held = Vec::new();
    for particle in ball {
        let start = position(scene, particle);
        let height = start.y - BALL.y;
        let is_upper = height > 0.0 && is_squeezed;
        if height.abs() > RADIUS - spacing && (height < 0.0 || is_upper) {
            scene.pin(particle)?;
            held.extend(is_upper.then_some((particle, start)));
        }
    }
    Ok(held)
}

/// Pins the particles whose z is less than `distance` [m] above the smallest z.
fn pin_back(scene: &mut Scene, body: Range<u32>, distance: f32) -> supple::Result<()> {
    let back = body.clone().map(|particle| position(scene, particle).z).fold(f32::INFINITY, f32::min);
    for particle in body {
        if position(scene, particle).z < back + distance {
            scene.pin(particle)?;
        }
    }
    Ok(())
}

/// A pinned plate at a height [m].
fn add_plate(scene: &mut Scene, height: f32) -> supple::Result<Range<u32>> {
    let plate = scene.add_cloth_grid(&ClothGrid {
        columns: 2,
        rows: 2,
        origin: [BALL.x - 0.3, height, -0.3],
        column_axis: [0.6, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.6],
        fabric: Fabric::default(),
        tethers: None,
    })?;
    plate.particles.clone().try_for_each(|particle| scene.pin(particle))?;
    Ok(plate.particles)
}

fn main() -> anyhow::Result<()> {
    let Arguments { options, young, bulk, damping_time, density, spacing, elasticity: kind, body, mesh } =
        Arguments::parse();
    let shape = Material { damping_time, ..Material::compliant(2e-4) };
    let elasticity = match kind {
        Kind::Elastic => Elasticity::Elastic { young, bulk, damping_time },
        Kind::Rigid => Elasticity::Rigid { shape: Material::RIGID },
        Kind::Regions => Elasticity::Regions { rings: 1, shape },
    };
    let hung = match (&mesh, body) {
        (Some(path), _) => load_obj(path, 0.9)?,
        (None, Hung::Torus) => torus(0.34, 0.12, 96, 36),
        (None, Hung::Blob) => blob(4, 0.38),
    };
    // It hangs by its rim and falls from the horizontal.
    let hung = placed(hung, Quat::from_rotation_x(0.2), Vec3::new(0.5, 0.45, 0.3));
    let ball = placed(icosphere(4, RADIUS), Quat::IDENTITY, BALL);

    let mut scene = Scene::new();
    let mut bodies = Bodies { volumes: Vec::new(), simulated: 0, tetrahedra: 0, held: Vec::new(), plate: Vec::new() };
    let mut tints = Vec::new();
    let mut edges = Vec::new();
    let mut add = |name, (positions, triangles): Surface, tint| -> anyhow::Result<Range<u32>> {
        let (positions, triangles) = (&positions, &triangles);
        let parts = scene.add_soft_body(&SoftBody { positions, triangles, spacing, density, elasticity })?;
        let drawn = &scene.triangles()[parts.triangles.start as usize..parts.triangles.end as usize];
        bodies.volumes.push((name, Volume::new(drawn, scene.positions())?, [1.0; 2]));
        bodies.simulated += parts.particles.len();
        bodies.tetrahedra += Lattice::new(positions, triangles, spacing)?.tetrahedra.len();
        tints.push((parts.surface, tint));
        edges.push(parts.edges);
        Ok(parts.particles)
    };
    let ball = add("ball", ball, [0.03, 0.12, 0.26])?;
    let hung = add("hung", hung, [0.45, 0.12, 0.02])?;

    // Rigid bodies are not squeezed.
    bodies.held = pin_ball(&mut scene, ball, spacing, kind != Kind::Rigid)?;
    pin_back(&mut scene, hung, 1.6 * spacing)?;
    let gap = RADIUS + 0.008;
    let (lower, upper) = (add_plate(&mut scene, -gap)?, add_plate(&mut scene, gap)?);
    tints.extend([lower, upper.clone()].map(|plate| (plate, [0.06, 0.07, 0.08])));
    bodies.plate = upper.map(|particle| (particle, position(&scene, particle))).collect();
    let demo = Demo {
        title: "soft_body",
        settings: options.settings(),
        edges: edges[0].start..edges[1].end,
        tints,
        script: Some(Box::new(bodies)),
        camera: Camera { target: Vec3::new(-0.1, 0.0, 0.0), distance: 2.4, yaw: 0.35, pitch: 0.1 },
        ground: -0.8,
        scene,
        ..Demo::default()
    };
    supple_demos::run(demo, &options, |report| {
        ensure!(report.non_finite_count == 0, "{} positions were not finite", report.non_finite_count);
        let ratio = |name: &str| report.figures[name].as_f64().unwrap_or(f64::NAN);
        for name in ["volume_ratio_of_ball", "volume_ratio_of_hung"] {
            ensure!((0.7..1.3).contains(&ratio(name)), "{name} is {}", ratio(name));
        }
        Ok(())
    })
}
