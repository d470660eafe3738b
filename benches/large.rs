//! Measures large scenes of one material each: springs, plastic springs, membranes, neo-Hookean solids, hair, attachments.
//!
//! `cargo bench --bench large` prints the table and writes it to `benches/results/<adapter>-large.md`. An argument scales the scenes:
//! `cargo bench --bench large -- 0.1`; then nothing is written. `benches/kinds.rs` measures single kinds by execution.

mod common;

use common::measure::median;
use common::{Fault, figure, run_frame};
use std::fmt::Write as _;
use supple::constraints::Plasticity;
use supple::gpu::{Context, Timestamps};
use supple::internals::Pass;
use supple::{
    Attachment, AttachmentTarget, Bending, ClothGrid, Distance, Elasticity, Fabric, Material, Orthotropic, Particle,
    ParticlePoint, Reference, Rod, RodMaterial, Scene, Settings, SoftBody, Solver,
};

/// Measurements per value, and sweeps per measurement.
const ROUNDS: usize = 5;
const REPEATS: usize = 3;
/// Human hair of 5 cm: radius 50 µm, Young's modulus 4 GPa.
const HAIR: RodMaterial = RodMaterial::round(5e-5, 4e9, 0.4, 1300.0);
const HAIR_LENGTH: f32 = 0.05;
const SEGMENTS: u32 = 32;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = arguments.iter().find_map(|argument| argument.parse().ok());
    let size = if arguments.iter().any(|argument| argument == "--test") { Some(0.01) } else { named };
    if let Err(error) = run(size.unwrap_or(1.0), size.is_none()) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// `size` scales the numbers of particles, tetrahedra and strands.
fn run(size: f64, write: bool) -> Result<(), Fault> {
    let mut table =
        "| scene | particles | constraints | ms a frame | ns a constraint and sweep |\n|---|---|---|---|---|"
            .to_owned();
    let mut adapter = String::new();
    for (name, scene) in scenes(size)? {
        let settings = Settings { tethers: false, ..Settings::default() };
        let count = scene.constraint_count() + scene.attachments().len();
        write!(table, "\n| {name} | {} | {count} |", scene.particle_count())?;
        let gpu = match Context::new(supple::required_limits_with(&scene, &settings)) {
            Ok(gpu) => gpu,
            Err(error) => {
                write!(table, " – | {error} |")?;
                continue;
            }
        };
        adapter = gpu.adapter_name();
        let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, settings)?;
        let timestamps = Timestamps::new(&gpu.device, &gpu.queue, 1).ok();
        let sweep: Vec<Pass> = solver.plan().substep.iter().copied().filter(is_of_constraints).collect();
        let (mut frames, mut sweeps) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let frame = run_frame(&gpu, timestamps.as_ref(), |encoder, timestamps| {
                solver.encode_timed(encoder, 1, timestamps)
            })?;
            let repeated = (0..REPEATS).flat_map(|_| sweep.iter().copied());
            let passes = run_frame(&gpu, timestamps.as_ref(), |encoder, timestamps| {
                solver.encode_passes(encoder, repeated, timestamps)
            })?;
            if round > 0 {
                frames.push(frame.wall);
                sweeps.push(passes.gpu.unwrap_or(passes.wall) / REPEATS as f64);
            }
        }
        write!(table, " {} | {} |", figure(median(frames)), figure(median(sweeps) * 1e6 / count as f64))?;
    }
    let [sag, law] = hair_sag()?;
    let text = format!(
        "Adapter: {adapter}. Default settings: frames of 1/60 s, 20 substeps of one sweep; no tethers.\n\n{table}\n\nHair: a strand of \
         {SEGMENTS} segments, clamped horizontally, at rest: the tip sags by {:.3} mm, the elastica by {:.3} mm ({:+.2} %).\n",
        1e3 * sag,
        1e3 * law,
        100.0 * (sag / law - 1.0)
    );
    println!("{text}");
    if write {
        common::write_results("-large", &adapter, &text)?;
    }
    Ok(())
}

fn is_of_constraints(pass: &Pass) -> bool {
    matches!(
        pass,
        Pass::Project { .. }
            | Pass::Tiles { .. }
            | Pass::Clusters { .. }
            | Pass::Trees { .. }
            | Pass::Split { .. }
            | Pass::GatherChunks { .. }
            | Pass::GatherHubs { .. }
            | Pass::LinearizeChains { .. }
            | Pass::SolveChains { .. }
            | Pass::SolveAttachments { .. }
    )
}

fn scenes(size: f64) -> supple::Result<Vec<(&'static str, Scene)>> {
    let side = (99_856.0 * size).sqrt() as u32;
    let thread = Fabric { structural: Material::compliant(1e-4), bending: Bending::None, ..Fabric::default() };
    let springs = sheet(side, thread)?;
    let mut plastic = springs.clone();
    let all = 0..plastic.constraint_count() as u32;
    plastic.set_plasticity::<Distance>(all, Plasticity { yield_strain: 0.05, ..Plasticity::default() })?;
    let membrane = Fabric { membrane: Some(Orthotropic::isotropic(1e3, 0.3)), bending: Bending::None, ..thread };
    Ok(vec![
        ("cloth of springs", springs),
        ("cloth of plastic springs", plastic),
        ("cloth of membranes", sheet(side, membrane)?),
        ("neo-Hookean block", block(size)?),
        ("hair, 5000 strands", hair((5_000.0 * size) as u32)?),
        ("hair, 10 000 strands", hair((10_000.0 * size) as u32)?),
        ("attachments", attachments()?),
    ])
}

/// A square cloth hung by two corners.
fn sheet(side: u32, fabric: Fabric) -> supple::Result<Scene> {
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: side, rows: side, fabric, tethers: None, ..ClothGrid::default() };
    let [left, right, ..] = scene.add_cloth_grid(&grid)?.corners()?;
    scene.pin(left)?;
    scene.pin(right)?;
    Ok(scene)
}

/// A cube with sides of 1 m, of about 100 000 tetrahedra, five per lattice cube.
fn block(size: f64) -> supple::Result<Scene> {
    let positions: Vec<[f32; 3]> =
        (0..8u8).map(|corner| [corner & 1, corner >> 1 & 1, corner >> 2].map(f32::from)).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[u32; 3]> = sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mut scene = Scene::new();
    scene.add_soft_body(&SoftBody {
        positions: &positions,
        triangles: &triangles,
        spacing: (1.0 / (20_000.0 * size).cbrt()) as f32,
        density: 1e3,
        elasticity: Elasticity::NeoHookean { young: 1e5, poisson_ratio: 0.3, damping_time: 0.0 },
    })?;
    Ok(scene)
}

/// Strands in rows of 100, 1 mm apart, clamped at one end.
fn hair(count: u32) -> supple::Result<Scene> {
    let mut scene = Scene::new();
    for strand in 0..count {
        let [x, z] = [strand % 100, strand / 100].map(|place| 1e-3 * place as f32);
        let points: Vec<[f32; 3]> =
            (0..=SEGMENTS).map(|k| [x + HAIR_LENGTH * k as f32 / SEGMENTS as f32, 0.0, z]).collect();
        scene.add_rod(&Rod { clamped: [true, false], ..Rod::new(&points, HAIR) })?;
    }
    Ok(scene)
}

/// Weights, each tied to a point in space, of the greatest number of attachments.
fn attachments() -> supple::Result<Scene> {
    let mut scene = Scene::new();
    for weight in 0..Scene::MOST_ATTACHMENTS {
        let position = [0.01 * weight as f32, 0.0, 0.0];
        let particle = scene.add_particle(Particle { position, inverse_mass: 1.0, ..Particle::default() })?;
        scene.add_attachment(Attachment::new(ParticlePoint::Particle(particle), AttachmentTarget::Space(position)))?;
    }
    Ok(scene)
}

/// The sag of the tip of a strand at rest, at the default settings, and that of the elastica \[m\].
fn hair_sag() -> supple::Result<[f64; 2]> {
    let scene = hair(1)?;
    let mut reference = Reference::new(&scene, Settings { damping: 30.0, ..Settings::default() })?;
    reference.step(240);
    let sag = reference.read_positions()?.last().map_or(f64::NAN, |tip| -f64::from(tip[1]));
    let length = f64::from(HAIR_LENGTH);
    let load = 9.81 * f64::from(HAIR.linear_density()) * length.powi(3) / f64::from(HAIR.stiffness().bend[0]);
    Ok([sag, elastica(load) * length])
}

/// The sag of a clamped beam of length 1 under its weight w L³/EI = `load`: θ'' = −load (1 − s) cos θ, θ(0) = θ'(1) = 0. Midpoint steps,
/// and bisection for θ'(0).
fn elastica(load: f64) -> f64 {
    const STEPS: u32 = 4000;
    let h = 1.0 / f64::from(STEPS);
    let shoot = |curvature: f64| {
        (0..STEPS).fold([0.0, curvature, 0.0], |[angle, curvature, sag]: [f64; 3], step| {
            let middle = angle + 0.5 * h * curvature;
            let rate = -load * (1.0 - (f64::from(step) + 0.5) * h) * middle.cos();
            [angle + h * (curvature + 0.5 * h * rate), curvature + h * rate, sag + h * middle.sin()]
        })
    };
    let (mut low, mut high) = (0.0, 0.5 * load);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] > 0.0 { high = middle } else { low = middle }
    }
    shoot(low)[2]
}
