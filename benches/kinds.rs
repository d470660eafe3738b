//! Measures each constraint kind with each execution, at about 10 000 and 100 000 constraints.
//!
//! `cargo bench --bench kinds` prints the table and writes it to `benches/results/<adapter>-kinds.md`. Kinds that tiles
//! or clusters do not support have no value there. `benches/step.rs` measures whole frames, `benches/bodies.rs` many
//! bodies.

mod common;

use common::measure::median;
use common::{Fault, figure, run_frame};
use std::fmt::Write as _;
use supple::constraints::KINDS;
use supple::gpu::{Context, Timestamps};
use supple::internals::Pass;
use supple::{
    Area, Balloon, Bending, ClothGrid, CosineBend, Distance, DistanceLimit, Elasticity, Execution, Fabric, Limit,
    Material, Orthotropic, Scene, Settings, SoftBody, Solver, Stiffening, Sweep, TensionPiece,
};

/// Measurements per value, and sweeps per measurement.
const ROUNDS: usize = 5;
const REPEATS: usize = 3;
/// Scale factors relative to about 100 000 constraints.
const SIZES: [f64; 2] = [0.1, 1.0];
/// The sweeps and executions of the columns.
const WAYS: [(&str, Sweep, Execution); 4] = [
    ("by colours", Sweep::GaussSeidel, Execution::Colors),
    ("in tiles", Sweep::GaussSeidel, Execution::Tiles),
    ("in clusters", Sweep::GaussSeidel, Execution::Clusters),
    ("all at once", Sweep::Jacobi, Execution::Colors),
];

fn main() {
    let test = std::env::args().any(|argument| argument == "--test");
    if let Err(error) = run(if test { &[0.02] } else { &SIZES }, !test) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run(sizes: &[f64], write: bool) -> Result<(), Fault> {
    let mut table = format!("| kind | constraints | colours | {} |\n|---|---|---|", WAYS.map(|way| way.0).join(" | "));
    table += &"---|".repeat(WAYS.len());
    let mut adapter = String::new();
    for (name, scene) in sizes.iter().map(|&size| scenes(size)).collect::<supple::Result<Vec<_>>>()?.concat() {
        let kind = KINDS.iter().position(|info| info.name == name).ok_or("a name that is not in the list")?;
        let count = scene.constraint_count_of(KINDS[kind]);
        let mut colors = 0;
        let mut figures = Vec::new();
        for (_, sweep, execution) in WAYS {
            let settings = Settings { sweep, tethers: false, execution, ..Settings::default() };
            let gpu = Context::new(supple::required_limits_with(&scene, &settings))?;
            adapter = gpu.adapter_name();
            let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, settings)?;
            let of_kind = |pass: &Pass| match *pass {
                Pass::Project { kind: of, .. }
                | Pass::Tiles { kind: of, .. }
                | Pass::Clusters { kind: of, .. }
                | Pass::Split { kind: of, .. }
                | Pass::GatherChunks { kind: of }
                | Pass::GatherHubs { kind: of } => of == kind,
                _ => false,
            };
            let passes: Vec<Pass> = solver.plan().substep.iter().copied().filter(of_kind).collect();
            let as_asked = |pass: &Pass| match execution {
                Execution::Tiles => matches!(pass, Pass::Tiles { .. }),
                Execution::Clusters => matches!(pass, Pass::Clusters { .. }),
                _ => true,
            };
            if !passes.iter().any(as_asked) {
                figures.push("–".to_owned());
                continue;
            }
            if (sweep, execution) == (Sweep::GaussSeidel, Execution::Colors) {
                colors = passes.iter().filter(|pass| matches!(pass, Pass::Project { .. })).count();
            }
            let timestamps = Timestamps::new(&gpu.device, &gpu.queue, 1).ok();
            let mut times = Vec::new();
            for round in 0..=ROUNDS {
                let repeated = (0..REPEATS).flat_map(|_| passes.iter().copied());
                let frame = run_frame(&gpu, timestamps.as_ref(), |encoder, timestamps| {
                    solver.encode_passes(encoder, repeated, timestamps)
                })?;
                if round > 0 {
                    times.push(frame.gpu.unwrap_or(frame.wall) / REPEATS as f64);
                }
            }
            figures.push(figure(median(times) * 1e6 / count as f64));
        }
        write!(table, "\n| {name} | {count} | {colors} | {} |", figures.join(" | "))?;
    }
    let text = format!("Adapter: {adapter}. One sweep over all constraints of the kind; ns a constraint.\n\n{table}\n");
    println!("{text}");
    if write {
        common::write_results("-kinds", &adapter, &text)?;
    }
    Ok(())
}

/// One scene per kind; `size` scales the number of constraints.
fn scenes(size: f64) -> supple::Result<Vec<(&'static str, Scene)>> {
    let side = |cells: f64| ((cells * size).sqrt() as u32).max(4);
    let cloth = |bending: Bending, side: u32| {
        let fabric = Fabric { bending, ..Fabric::default() };
        let mut scene = Scene::new();
        scene.add_cloth_grid(&ClothGrid {
            columns: side,
            rows: side,
            fabric,
            tethers: None,
            ..ClothGrid::default()
        })?;
        Ok::<_, supple::Error>(scene)
    };
    let mut limits = cloth(Bending::None, side(25_000.0))?;
    let distances: Vec<Distance> = limits.distances(0..limits.constraint_count() as u32).collect();
    for Distance { particles, rest_length } in distances {
        limits.add(DistanceLimit { particles, length: 1.1 * rest_length, limit: Limit::AtMost }, Material::RIGID)?;
    }
    let edge = side(50_000.0);
    let mut cosines = cloth(Bending::None, edge)?;
    for line in 0..edge {
        for place in 1..edge - 1 {
            let (a, b) = (line * edge + place, place * edge + line);
            for particles in [[a - 1, a + 1, a], [b - edge, b + edge, b]] {
                cosines.add(CosineBend { particles, rest_angle: std::f32::consts::PI }, Material::compliant(1e-3))?;
            }
        }
    }
    let mut areas = cloth(Bending::None, edge)?;
    for particles in areas.triangles().to_vec() {
        areas.add(Area { particles, rest_area: 1e-4 }, Material::compliant(1e-3))?;
    }

    // Five tetrahedra per cube.
    let spacing = (1.0 / (20_000.0 * size).cbrt()).min(0.4) as f32;
    let (positions, triangles) = block();
    let body = |elasticity| {
        let mut scene = Scene::new();
        let (positions, triangles) = (&positions[..], &triangles[..]);
        scene.add_soft_body(&SoftBody { positions, triangles, spacing, density: 1e3, elasticity })?;
        Ok::<_, supple::Error>(scene)
    };
    let (positions, triangles) = ring(side(50_000.0), side(50_000.0));
    let skin = Balloon {
        positions: &positions,
        triangles: &triangles,
        fabric: Fabric::default(),
        pressure: 1.2,
        gas: Material::RIGID,
    };
    let mut balloon = Scene::new();
    balloon.add_balloon(&skin)?;
    Ok(vec![
        ("distance", cloth(Bending::None, side(25_000.0))?),
        ("distance_limit", limits),
        ("line_bend", cloth(Bending::Isometric, side(50_000.0))?),
        ("cosine_bend", cosines),
        ("hinge", cloth(Bending::Hinges, side(33_000.0))?),
        ("isometric_bend", cloth(Bending::Isometric, side(100_000.0))?),
        ("area", areas),
        ("membrane", sheet(side(17_000.0), Stiffening::NONE)?),
        ("membrane_limit", sheet(side(25_000.0), limits_of_both())?),
        ("neo_hookean", body(Elasticity::NeoHookean { young: 1e5, poisson_ratio: 0.3, damping_time: 0.0 })?),
        ("volume", body(Elasticity::Elastic { young: 1e5, bulk: 1e6, damping_time: 0.0 })?),
        ("shape_matching", body(Elasticity::Regions { rings: 1, shape: Material::RIGID })?),
        ("pressure", balloon),
    ])
}

/// One limit per thread and triangle.
fn limits_of_both() -> Stiffening {
    let piece = [Some(TensionPiece { strain: 0.01, modulus: 2e3 }), None];
    Stiffening { warp: piece, weft: piece }
}

/// A square sheet of `side` × `side` particles with membranes.
fn sheet(side: u32, stiffening: Stiffening) -> supple::Result<Scene> {
    let membrane = Orthotropic { stiffening, ..Orthotropic::isotropic(1e3, 0.3) };
    let fabric = Fabric { membrane: Some(membrane), ..Fabric::default() };
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: side, rows: side, fabric, tethers: None, ..ClothGrid::default() })?;
    Ok(scene)
}

type Surface = (Vec<[f32; 3]>, Vec<[u32; 3]>);

/// A cube with sides of 1 m.
fn block() -> Surface {
    let positions = (0..8u8).map(|corner| [corner & 1, corner >> 1 & 1, corner >> 2].map(f32::from)).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    (positions, sides.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

/// A torus with `around` vertices around its axis and `across` around its tube.
fn ring(around: u32, across: u32) -> Surface {
    let angle = |step: u32, steps: u32| std::f32::consts::TAU * step as f32 / steps as f32;
    let vertex = |i: u32, j: u32| (i % around) * across + j % across;
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..around {
        for j in 0..across {
            let ((sin_u, cos_u), (sin_v, cos_v)) = (angle(i, around).sin_cos(), angle(j, across).sin_cos());
            let out = 1.0 + 0.4 * cos_v;
            positions.push([out * cos_u, 0.4 * sin_v, -out * sin_u]);
            let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (positions, triangles)
}
