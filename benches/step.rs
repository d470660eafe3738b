//! Measures the hanging cloth at 10 000, 100 000 and 1 000 000 particles: whole frames and single passes, with each
//! execution.
//!
//! `cargo bench` prints the tables and writes them to `benches/results/<adapter>.md`. Arguments select the rows: sizes
//! (particles per side), executions (`colours`, `tiles`, `clusters`) and variants (`plain`, the default; `wind`;
//! `collider`, a ball under the cloth; `contacts`, self-collision of particles). Example:
//! `cargo bench --bench step -- 316 tiles plain wind contacts`. Only the default table is written to a file. If a solver
//! cannot be made, its row shows the error.
//!
//! GPU times come from timestamp queries; wall-clock times run from recording to the end of the work. Rates per particle
//! and per second use the GPU time if there is one. Each value is a median.

mod common;

use common::measure::{median, peak_memory_mib};
use common::{Fault, figure, median_gpu, named, run_frame};
use std::fmt::Write as _;
use std::time::Instant;
use supple::gpu::{Context, PipelineStore, Profile, Timestamps};
use supple::{
    ClothGrid, Collider, ContactMaterial, Error, Execution, Pose, Scene, SelfCollision, Settings, Shape, Solver, Wind,
    wgpu,
};

/// Particles per side.
const SIZES: [u32; 3] = [100, 316, 1000];
/// Measurements per value.
const ROUNDS: usize = 7;
/// The executions, by name.
const EXECUTIONS: [(&str, Execution); 3] =
    [("colours", Execution::Colors), ("tiles", Execution::Tiles), ("clusters", Execution::Clusters)];
/// The forces or contacts of a row, beside the constraints.
#[derive(Clone, Copy, PartialEq)]
enum Variant {
    Plain,
    Wind,
    Collider,
    Contacts,
}

const VARIANTS: [(&str, Variant); 4] = [
    ("plain", Variant::Plain),
    ("wind", Variant::Wind),
    ("collider", Variant::Collider),
    ("contacts", Variant::Contacts),
];

/// The executions and variants of a table, by name.
struct Rows {
    executions: Vec<(&'static str, Execution)>,
    variants: Vec<(&'static str, Variant)>,
}

fn main() {
    // Skips the arguments `--bench` of `cargo bench` and `--test` of `cargo test --benches`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    if arguments.iter().any(|argument| argument == "--test") {
        sizes = vec![16];
    } else if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    let executions = named(&arguments, &EXECUTIONS).unwrap_or(EXECUTIONS.to_vec());
    let variants = named(&arguments, &VARIANTS).unwrap_or(vec![VARIANTS[0]]);
    if let Err(error) = run(&sizes, &Rows { executions, variants }) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run(sizes: &[u32], rows: &Rows) -> Result<(), Fault> {
    let adapter = Context::new(wgpu::Limits::default())?.adapter_name();
    let head = format!(
        "Adapter: {adapter}. Cloth hung by two corners, two tethers a particle, 20 substeps of one sweep a frame of 1/60 s.\n\n\
         | particles | constraints | execution | dispatches per substep | ms per frame | of these on the GPU | ns per particle and substep | million projections per second | compile ms | recording ms | bytes per particle | peak memory so far MiB | second solver ms |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    let mut stages = String::from("| particles | execution | passes | ms per frame | share |\n|---|---|---|---|---|\n");
    let mut lines = vec![head];
    // Each line is printed at once: a time limit keeps the rows that are complete.
    println!("{}", lines[0]);
    let mut failed = false;
    for &size in sizes {
        let start = Instant::now();
        let scene = hanging_cloth(size)?;
        let scene_ms = start.elapsed().as_secs_f64() * 1e3;
        for &(variant_name, variant) in &rows.variants {
            for &(name, execution) in &rows.executions {
                let name = if variant == Variant::Plain { name.into() } else { format!("{name}, {variant_name}") };
                let row = Bench::new(&scene, execution, variant)
                    .map_err(Fault::from)
                    .and_then(|bench| bench.row(&name, scene_ms, &mut stages));
                let line = row.unwrap_or_else(|error| {
                    failed |= !is_limit(&error);
                    let reason = error.to_string().replace('\n', " ");
                    format!("| {} | | {name} | not run: {reason} | | | | | | | | | |", scene.particle_count())
                });
                println!("{line}");
                lines.push(line);
            }
        }
    }
    println!("\n{stages}");
    if sizes == SIZES && rows.executions == EXECUTIONS && rows.variants == VARIANTS[..1] {
        common::write_results("", &adapter, &format!("{}\n\n{stages}", lines.join("\n")))?;
    }
    if failed { Err("some rows have an error".into()) } else { Ok(()) }
}

/// Returns true if the scene is too large for the device.
fn is_limit(error: &Fault) -> bool {
    matches!(error.downcast_ref(), Some(Error::AdapterLimit { .. } | Error::LimitExceeded { .. }))
}

fn hanging_cloth(size: u32) -> supple::Result<Scene> {
    let grid = ClothGrid { columns: size, rows: size, ..ClothGrid::default() };
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&grid)?;
    // The thickness is the spacing of the particles. Only the variant `contacts` uses it.
    let thickness = grid.column_axis[0] / (size - 1) as f32;
    let material = scene.add_contact_material(ContactMaterial { thickness, ..ContactMaterial::default() })?;
    scene.set_particle_contact(cloth.particles, material)?;
    scene.pin(0)?;
    scene.pin(size - 1)?;
    Ok(scene)
}

fn settings(execution: Execution, variant: Variant) -> Settings {
    let wind = Wind { velocity: [1.0, 0.6, -3.8], gust: 0.6, ..Wind::default() };
    // A cloth lists about a quarter of a pair a particle.
    let particles = SelfCollision { pairs_per_particle: 4, ..SelfCollision::default() };
    Settings {
        execution,
        wind: (variant == Variant::Wind).then_some(wind),
        self_collision: (variant == Variant::Contacts).then_some(particles),
        ..Settings::default()
    }
}

/// A ball under the middle of the cloth.
fn ball() -> Collider {
    Collider {
        shape: Shape::Sphere { radius: 0.3 },
        pose: Pose { position: [0.0, -0.3, 0.0], ..Pose::default() },
        ..Collider::default()
    }
}

struct Bench<'a> {
    gpu: Context,
    scene: &'a Scene,
    solver: Solver,
    compile_ms: f64,
    /// The time to make a second solver with the pipelines of the first; `None` for large scenes.
    second_ms: Option<f64>,
}

impl<'a> Bench<'a> {
    fn new(scene: &'a Scene, execution: Execution, variant: Variant) -> supple::Result<Self> {
        let settings = settings(execution, variant);
        let gpu = Context::new(supple::required_limits_with(scene, &settings))?;
        let store = PipelineStore::new(&gpu.device);
        let make = || {
            let start = Instant::now();
            let mut solver = Solver::with_store(&store, &gpu.queue, scene, settings)?;
            if variant == Variant::Collider {
                solver.add_collider(&ball())?;
            }
            supple::Result::Ok((solver, start.elapsed().as_secs_f64() * 1e3))
        };
        let (solver, compile_ms) = make()?;
        let second = (scene.particle_count() <= 200_000).then(&make).transpose()?;
        let second_ms = second.map(|(_, taken)| taken);
        Ok(Self { gpu, scene, solver, compile_ms, second_ms })
    }

    /// Measures a row of the table; adds the times of the passes to `stages`.
    fn row(mut self, execution: &str, scene_ms: f64, stages: &mut String) -> Result<String, Fault> {
        let particles = self.scene.particle_count() as f64;
        let constraints = self.scene.constraint_count() as f64;
        let substeps = f64::from(self.solver.settings().substeps);
        let rounds = if particles > 5e5 { 3 } else { ROUNDS };
        // A few frames of falling first: a cloth at rest on its grid is a special case.
        let warm_up = if particles > 5e5 { 1 } else { 10 };
        let timestamps = Timestamps::new(&self.gpu.device, &self.gpu.queue, 1).ok();
        let mut frames = Vec::new();
        for round in 0..warm_up + rounds {
            let frame = run_frame(&self.gpu, timestamps.as_ref(), |encoder, timestamps| {
                self.solver.encode_timed(encoder, 1, timestamps)
            })?;
            if round >= warm_up {
                frames.push(frame);
            }
        }
        let on_gpu = median_gpu(&frames);
        let wall = median(frames.iter().map(|frame| frame.wall).collect());
        let frame = on_gpu.unwrap_or(wall);
        let row = format!(
            "| {particles} | {constraints} | {execution} | {} | {} | {} | {} | {} | {:.0} | {:.2} | {:.0} | {} | {} |",
            self.solver.plan().dispatches_per_substep(),
            figure(wall),
            figure(on_gpu),
            figure(frame * 1e6 / (particles * substeps)),
            figure(constraints * substeps / frame / 1e3),
            scene_ms + self.compile_ms,
            median(frames.iter().map(|frame| frame.recording).collect()),
            self.solver.memory_bytes() as f64 / particles,
            peak_memory_mib().map_or("–".into(), |mebibytes| format!("{mebibytes:.0}")),
            figure(self.second_ms),
        );

        if timestamps.is_none() {
            return Ok(row);
        }
        let profiles = (0..rounds).map(|_| self.profile()).collect::<Result<Vec<_>, _>>()?;
        let sums: Vec<_> = profiles.iter().flatten().map(Profile::by_name).collect();
        let taken = |place: usize| median(sums.iter().map(|names| names[place].1).collect());
        let times: Vec<_> =
            sums.first().into_iter().flatten().enumerate().map(|(place, (name, _))| (name, taken(place))).collect();
        let sum: f64 = times.iter().map(|(_, time)| time).sum();
        for (name, time) in times {
            let (time, share) = (figure(time), time / sum * 100.0);
            writeln!(stages, "| {particles} | {execution} | {name} | {time} | {share:.0} % |")?;
        }
        Ok(row)
    }

    /// The times of the passes of a frame; the plan is the same in each frame.
    fn profile(&mut self) -> Result<Option<Profile>, Fault> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let mut asked = self.solver.encode_profiled(&mut encoder, 1)?;
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(asked.try_take()?)
    }
}
