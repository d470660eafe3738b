//! Time per stage of the hanging cloth, at 10 000, 100 000 and 1 000 000 particles.
//!
//! `cargo bench` prints the tables and writes them to `benches/results/<adapter>.md`; the README shows them. Sizes can be named:
//! `cargo bench -- 100 316`. GPU times are by timestamp queries, wall-clock times run from recording to the end of the work.
//! Each figure is a median; each stage is recorded many times over in one pass.

mod common;

use common::measure::{median, peak_memory_mb};
use std::fmt::Write as _;
use std::time::Instant;
use supple::gpu::Context;
use supple::{ClothGrid, Pass, Scene, Settings, Solver, wgpu};

/// Particles a side.
const SIZES: [u32; 3] = [100, 316, 1000];
/// How often a figure is taken.
const ROUNDS: usize = 7;

fn main() {
    // `cargo bench` adds `--bench`, `cargo test --benches` adds `--test`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    if arguments.iter().any(|argument| argument == "--test") {
        sizes = vec![16];
    } else if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    if let Err(error) = run(&sizes) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run(sizes: &[u32]) -> Result<(), Box<dyn std::error::Error>> {
    let mut whole = String::from(
        "| particles | constraints | ms a frame | ns a particle and substep | million projections a second | cooking ms | recording ms | peak memory MB |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let mut stages =
        String::from("| particles | stage | dispatches a substep | ms a substep | share |\n|---|---|---|---|---|\n");
    let mut adapter = String::new();
    for &size in sizes {
        let bench = Bench::new(size)?;
        adapter = bench.gpu.adapter_name();
        bench.rows(&mut whole, &mut stages)?;
    }
    let text = format!(
        "Adapter: {adapter}. Cloth hung by two corners, two tethers a particle, 20 substeps of one sweep a frame of 1/60 s.\n\n{whole}\n{stages}"
    );
    println!("{text}");
    if sizes == SIZES {
        common::write_results("", &adapter, &text)?;
    }
    Ok(())
}

struct Bench {
    gpu: Context,
    scene: Scene,
    solver: Solver,
    cook_ms: f64,
}

impl Bench {
    fn new(size: u32) -> supple::Result<Self> {
        let start = Instant::now();
        let mut scene = Scene::new();
        scene.add_cloth_grid(&ClothGrid { columns: size, rows: size, ..ClothGrid::default() })?;
        scene.pin(0)?;
        scene.pin(size - 1)?;
        let scene_ms = start.elapsed().as_secs_f64() * 1e3;
        let gpu = Context::new(supple::required_limits(&scene))?;
        let start = Instant::now();
        let solver = Solver::new(&gpu.device, &gpu.queue, &scene, Settings::default())?;
        let cook_ms = scene_ms + start.elapsed().as_secs_f64() * 1e3;
        Ok(Self { gpu, scene, solver, cook_ms })
    }

    fn rows(mut self, whole: &mut String, stages: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let particles = self.scene.particle_count() as f64;
        let constraints = self.scene.constraint_count() as f64;
        let substeps = f64::from(self.solver.settings().substeps);
        let rounds = if particles > 5e5 { 3 } else { ROUNDS };
        // A few frames of falling first: a cloth at rest on its grid is a special case.
        let warm_up = if particles > 5e5 { 1 } else { 10 };
        let mut recording = Vec::new();
        let mut frames = Vec::new();
        for round in 0..warm_up + rounds {
            let start = Instant::now();
            let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
            self.solver.encode(&mut encoder, 1);
            let commands = encoder.finish();
            let recorded = start.elapsed().as_secs_f64() * 1e3;
            self.gpu.queue.submit([commands]);
            self.gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
            if round >= warm_up {
                recording.push(recorded);
                frames.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        let frame = median(frames);
        writeln!(
            whole,
            "| {particles} | {constraints} | {frame:.1} | {:.1} | {:.1} | {:.0} | {:.2} | {} |",
            frame * 1e6 / (particles * substeps),
            constraints * substeps / frame / 1e3,
            self.cook_ms,
            median(recording),
            peak_memory_mb().map_or("–".into(), |megabytes| format!("{megabytes:.0}")),
        )?;

        let plan = self.solver.plan().clone();
        let project: Vec<Pass> =
            plan.substep.iter().copied().filter(|pass| matches!(pass, Pass::Project { .. })).collect();
        let named = [("project", project), ("tether", vec![Pass::Tether]), ("advance", vec![Pass::Advance])];
        let repeats = if particles > 5e5 { 1 } else { 20 };
        let times = named.map(|(name, passes)| {
            let taken = (0..rounds).map(|_| common::time(&self.gpu, &mut self.solver, &passes, repeats)).collect();
            (name, passes.len(), median(taken))
        });
        let sum: f64 = times.iter().map(|(_, _, time)| time).sum();
        for (name, count, time) in times {
            writeln!(stages, "| {particles} | {name} | {count} | {time:.3} | {:.0} % |", time / sum * 100.0)?;
        }
        Ok(())
    }
}
