//! Measures the hanging cloth at 10 000, 100 000 and 1 000 000 particles: whole frames and single passes, with each
//! execution.
//!
//! `cargo bench` prints the tables and writes them to `benches/results/<adapter>.md`. Arguments select sizes (`cargo
//! bench -- 100 316`) and executions (`cargo bench -- 316 tiles clusters`). GPU times come from timestamp queries;
//! wall-clock times run from recording to the end of the work. Rates per particle and per second use the GPU time if
//! there is one. Each value is a median.

mod common;

use common::measure::{median, peak_memory_mb};
use common::{Fault, figure, median_gpu, play};
use std::fmt::Write as _;
use std::time::Instant;
use supple::gpu::{Context, Profile, Timestamps};
use supple::{ClothGrid, Execution, Scene, Settings, Solver, wgpu};

/// Particles per side.
const SIZES: [u32; 3] = [100, 316, 1000];
/// Measurements per value.
const ROUNDS: usize = 7;
/// The executions, by name.
const EXECUTIONS: [(&str, Execution); 3] =
    [("colours", Execution::Colors), ("tiles", Execution::Tiles), ("clusters", Execution::Clusters)];

fn main() {
    // Skips the arguments `--bench` of `cargo bench` and `--test` of `cargo test --benches`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut sizes: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    if arguments.iter().any(|argument| argument == "--test") {
        sizes = vec![16];
    } else if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    let named = |(name, _): &&(&str, Execution)| arguments.iter().any(|argument| argument == name);
    let mut executions: Vec<_> = EXECUTIONS.iter().filter(named).copied().collect();
    if executions.is_empty() {
        executions = EXECUTIONS.to_vec();
    }
    if let Err(error) = run(&sizes, &executions) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn run(sizes: &[u32], executions: &[(&str, Execution)]) -> Result<(), Fault> {
    let mut whole = String::from(
        "| particles | constraints | execution | dispatches a substep | ms a frame | of these on the GPU | ns a particle and substep | million projections a second | cooking ms | recording ms | bytes a particle | peak memory so far MB |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut stages = String::from("| particles | execution | passes | ms a frame | share |\n|---|---|---|---|---|\n");
    let mut adapter = String::new();
    for &size in sizes {
        for &(name, execution) in executions {
            let bench = Bench::new(size, execution)?;
            adapter = bench.gpu.adapter_name();
            bench.rows(name, &mut whole, &mut stages)?;
        }
    }
    let text = format!(
        "Adapter: {adapter}. Cloth hung by two corners, two tethers a particle, 20 substeps of one sweep a frame of 1/60 s.\n\n{whole}\n{stages}"
    );
    println!("{text}");
    if sizes == SIZES && executions.len() == EXECUTIONS.len() {
        common::write_results("", &adapter, &text)?;
    }
    Ok(())
}

struct Bench {
    gpu: Context,
    scene: Scene,
    solver: Solver,
    compile_ms: f64,
}

impl Bench {
    fn new(size: u32, execution: Execution) -> supple::Result<Self> {
        let start = Instant::now();
        let mut scene = Scene::new();
        scene.add_cloth_grid(&ClothGrid { columns: size, rows: size, ..ClothGrid::default() })?;
        scene.pin(0)?;
        scene.pin(size - 1)?;
        let scene_ms = start.elapsed().as_secs_f64() * 1e3;
        let settings = Settings { execution, ..Settings::default() };
        let gpu = Context::new(supple::required_limits_with(&scene, &settings))?;
        let start = Instant::now();
        let solver = Solver::new(&gpu.device, &gpu.queue, &scene, settings)?;
        let compile_ms = scene_ms + start.elapsed().as_secs_f64() * 1e3;
        Ok(Self { gpu, scene, solver, compile_ms })
    }

    fn rows(mut self, execution: &str, whole: &mut String, stages: &mut String) -> Result<(), Fault> {
        let particles = self.scene.particle_count() as f64;
        let constraints = self.scene.constraint_count() as f64;
        let substeps = f64::from(self.solver.settings().substeps);
        let rounds = if particles > 5e5 { 3 } else { ROUNDS };
        // Warm-up frames, because a cloth at rest on its grid is a special case.
        let warm_up = if particles > 5e5 { 1 } else { 10 };
        let timestamps = Timestamps::new(&self.gpu.device, &self.gpu.queue, 1).ok();
        let mut frames = Vec::new();
        for round in 0..warm_up + rounds {
            let frame = play(&self.gpu, timestamps.as_ref(), |encoder, timestamps| {
                self.solver.encode_timed(encoder, 1, timestamps)
            })?;
            if round >= warm_up {
                frames.push(frame);
            }
        }
        let on_gpu = median_gpu(&frames);
        let wall = median(frames.iter().map(|frame| frame.wall).collect());
        let frame = on_gpu.unwrap_or(wall);
        writeln!(
            whole,
            "| {particles} | {constraints} | {execution} | {} | {} | {} | {} | {} | {:.0} | {:.2} | {:.0} | {} |",
            self.solver.plan().dispatches_per_substep(),
            figure(wall),
            figure(on_gpu),
            figure(frame * 1e6 / (particles * substeps)),
            figure(constraints * substeps / frame / 1e3),
            self.compile_ms,
            median(frames.iter().map(|frame| frame.recording).collect()),
            self.solver.memory_bytes() as f64 / particles,
            peak_memory_mb().map_or("–".into(), |megabytes| format!("{megabytes:.0}")),
        )?;

        if timestamps.is_none() {
            // Without timestamps the passes cannot be timed.
            return Ok(());
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
        Ok(())
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
