//! Measures irregular meshes and a grid with equally many particles, by bending model and execution.
//!
//! The mesh is a tube of cloth with jittered vertices and random cell diagonals. Its vertices are in random order or
//! renumbered. `cargo bench --bench meshes` prints the table and writes it to `benches/results/<adapter>-meshes.md`.
//! Arguments select the rows: numbers of vertices around the tube, bending models (`springs`, `hinges`, `quadratic`) and scenes (`grid`,
//! `shuffled`, `renumbered`). Example: `cargo bench --bench meshes -- 96 hinges renumbered`. Only the default table is written to a file.

mod common;

use common::measure::median;
use common::{Fault, figure, median_gpu, named, run_frame};
use std::f32::consts::TAU;
use std::fmt::Write as _;
use supple::gpu::{Context, Timestamps};
use supple::internals::Pass;
use supple::{Bending, ClothGrid, ClothMesh, Execution, Fabric, Scene, Settings, Solver};

/// Vertices around the tube and along it. The first size is about that of a shirt.
const SIZES: [u32; 2] = [96, 141];
/// Timed frames, and warm-up frames before them.
const ROUNDS: usize = 5;
const WARM_UP: usize = 3;
const EXECUTIONS: [(&str, Execution); 2] = [("colours", Execution::Colors), ("clusters", Execution::Clusters)];
const BENDINGS: [(&str, Bending); 3] =
    [("springs", Bending::Springs), ("hinges", Bending::Hinges), ("quadratic", Bending::Isometric)];

/// Makes a scene of `size` × `size` particles.
type Make = fn(u32, Fabric) -> supple::Result<Scene>;

/// The grid, and the mesh with its vertices in random order and renumbered.
const SCENES: [(&str, Make); 3] = [("grid", grid), ("shuffled", tube), ("renumbered", renumbered_tube)];

fn main() {
    // Skips the arguments `--bench` of `cargo bench` and `--test` of `cargo test --benches`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    if arguments.iter().any(|argument| argument == "--test") {
        sizes = vec![12];
    } else if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    let bendings = named(&arguments, &BENDINGS).unwrap_or(BENDINGS.to_vec());
    let scenes = named(&arguments, &SCENES).unwrap_or(SCENES.to_vec());
    if let Err(error) = run(&sizes, &bendings, &scenes) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run(sizes: &[u32], bendings: &[(&str, Bending)], scenes: &[(&str, Make)]) -> Result<(), Fault> {
    let mut table = String::from(
        "| scene | particles | bending | execution | constraints | dispatches a substep | of these colours, trees, clusters or tiles, mass splitting | ms a frame | of these on the GPU | ns a particle and substep | ns a constraint and substep |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut adapter = String::new();
    for &size in sizes {
        for &(bending_name, bending) in bendings {
            let fabric = Fabric { bending, ..Fabric::COTTON };
            for &(scene_name, make) in scenes {
                let scene = make(size, fabric)?;
                let grid_too = if scene_name == "grid" { &[("tiles", Execution::Tiles)][..] } else { &[] };
                for &(name, execution) in EXECUTIONS.iter().chain(grid_too) {
                    let (values, gpu) = time(&scene, execution)?;
                    adapter = gpu.adapter_name();
                    let particles = scene.particle_count();
                    writeln!(table, "| {scene_name} | {particles} | {bending_name} | {name} | {values} |")?;
                }
            }
        }
    }
    let text = format!("Adapter: {adapter}. 20 substeps of one sweep a frame of 1/60 s, no tethers.\n\n{table}");
    println!("{text}");
    if sizes == SIZES && bendings.len() == BENDINGS.len() && scenes.len() == SCENES.len() {
        common::write_results("-meshes", &adapter, &text)?;
    }
    Ok(())
}

fn time(scene: &Scene, execution: Execution) -> Result<(String, Context), Fault> {
    let settings = Settings { execution, ..Settings::default() };
    let gpu = Context::new(supple::required_limits_with(scene, &settings))?;
    let mut solver = Solver::new(&gpu.device, &gpu.queue, scene, settings)?;
    let timestamps = Timestamps::new(&gpu.device, &gpu.queue, 1).ok();
    let mut frames = Vec::new();
    for _ in 0..WARM_UP + ROUNDS {
        frames.push(run_frame(&gpu, timestamps.as_ref(), |encoder, timestamps| {
            solver.encode_timed(encoder, 1, timestamps)
        })?);
    }
    let frames = frames.split_off(WARM_UP);
    let (wall, on_gpu) = (median(frames.iter().map(|frame| frame.wall).collect()), median_gpu(&frames));
    let constraints = scene.constraint_count();
    let nanoseconds_per =
        |count: usize| figure(1e6 * on_gpu.unwrap_or(wall) / (count as f64 * f64::from(settings.substeps)));
    let values = format!(
        "{constraints} | {} | {} | {} | {} | {} | {}",
        solver.plan().dispatches_per_substep(),
        projection_passes(&solver.plan().substep),
        figure(wall),
        figure(on_gpu),
        nanoseconds_per(scene.particle_count()),
        nanoseconds_per(constraints)
    );
    Ok((values, gpu))
}

/// The numbers of passes that project constraints: colours, trees, clusters or tiles, mass splitting.
fn projection_passes(substep: &[Pass]) -> String {
    let [mut colors, mut trees, mut local, mut split] = [0; 4];
    for pass in substep {
        match pass {
            Pass::Project { .. } => colors += 1,
            Pass::Trees { .. } => trees += 1,
            Pass::Clusters { .. } | Pass::Tiles { .. } => local += 1,
            Pass::Split { .. } | Pass::GatherChunks { .. } | Pass::GatherHubs { .. } => split += 1,
            _ => {}
        }
    }
    format!("{colors}, {trees}, {local}, {split}")
}

fn grid(size: u32, fabric: Fabric) -> supple::Result<Scene> {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: size, rows: size, fabric, tethers: None, ..ClothGrid::default() })?;
    (0..size).try_for_each(|column| scene.pin(column))?;
    Ok(scene)
}

/// The tube, which hangs by its upper rim.
fn tube(size: u32, fabric: Fabric) -> supple::Result<Scene> {
    let mut state = 1u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1u32 << 24) as f32
    };
    let count = size * size;
    // A random permutation of the vertex indices.
    let mut place: Vec<u32> = (0..count).collect();
    for k in (1..place.len()).rev() {
        place.swap(k, (random() * (k + 1) as f32) as usize);
    }
    let vertex = |column: u32, row: u32| place[(row * size + column % size) as usize];
    let mut positions = vec![[0.0; 3]; count as usize];
    for row in 0..size {
        for column in 0..size {
            let (along, around) = (row as f32 + 0.4 * (random() - 0.5), column as f32 + 0.4 * (random() - 0.5));
            let (sin, cos) = (TAU * around / size as f32).sin_cos();
            positions[vertex(column, row) as usize] = [0.3 * cos, -0.7 * along / size as f32, 0.3 * sin];
        }
    }
    let mut triangles = Vec::new();
    for row in 0..size - 1 {
        for column in 0..size {
            let [a, b] = [vertex(column, row), vertex(column + 1, row)];
            let [c, d] = [vertex(column, row + 1), vertex(column + 1, row + 1)];
            triangles.extend(if random() < 0.5 { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] });
        }
    }
    let mut scene = Scene::new();
    scene.add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None })?;
    (0..size).try_for_each(|column| scene.pin(vertex(column, 0)))?;
    Ok(scene)
}

fn renumbered_tube(size: u32, fabric: Fabric) -> supple::Result<Scene> {
    let mut scene = tube(size, fabric)?;
    scene.renumber();
    Ok(scene)
}
