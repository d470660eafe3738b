//! Time per stage of the hanging cloth, at 10 000, 100 000 and 1 000 000 particles.
//!
//! `cargo bench` prints the tables and writes them to `benches/results/<adapter>.md`; the README shows them. Sizes can be named:
//! `cargo bench -- 100 316`. GPU times are by timestamp queries, wall-clock times run from recording to the end of the work.
//! Each figure is a median; each stage is recorded many times over in one pass.

#[path = "../examples/common/measure.rs"]
mod measure;

use measure::{median, peak_memory_mb};
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
        let name: String =
            adapter.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
        let name = name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results");
        std::fs::create_dir_all(folder)?;
        let path = format!("{folder}/{name}.md");
        std::fs::write(&path, text)?;
        println!("wrote benches/results/{name}.md");
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
            let taken = (0..rounds).map(|_| self.time(&passes, repeats)).collect();
            (name, passes.len(), median(taken))
        });
        let sum: f64 = times.iter().map(|(_, _, time)| time).sum();
        for (name, count, time) in times {
            writeln!(stages, "| {particles} | {name} | {count} | {time:.3} | {:.0} % |", time / sum * 100.0)?;
        }
        Ok(())
    }

    /// Milliseconds of the passes, by timestamps where the adapter has them.
    fn time(&mut self, passes: &[Pass], repeats: usize) -> f64 {
        let device = &self.gpu.device;
        let timed = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let set = timed.then(|| {
            device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 })
        });
        let writes = set.as_ref().map(|query_set| wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let start = Instant::now();
        let mut encoder = device.create_command_encoder(&Default::default());
        self.solver.encode_passes(&mut encoder, (0..repeats).flat_map(|_| passes.iter().copied()), writes);
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: false })
        };
        let staging = set.as_ref().map(|set| {
            let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
            let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
            encoder.resolve_query_set(set, 0..2, &resolved, 0);
            encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, 16);
            encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| {});
            staging
        });
        self.gpu.queue.submit([encoder.finish()]);
        let waited = device.poll(wgpu::PollType::wait_indefinitely()).is_ok();
        let wall = start.elapsed().as_secs_f64() * 1e3;
        let ticks = staging.filter(|_| waited).and_then(|staging| {
            let view = staging.get_mapped_range(..).ok()?;
            let [begin, end]: [u64; 2] = bytemuck::pod_read_unaligned(&view);
            Some(end.saturating_sub(begin) as f64 * f64::from(self.gpu.queue.get_timestamp_period()) * 1e-6)
        });
        ticks.unwrap_or(wall) / repeats as f64
    }
}
