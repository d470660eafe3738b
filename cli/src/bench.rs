//! `supple bench`: the time of a step of a hanging cloth.

use crate::console;
use anyhow::ensure;
use std::time::Instant;
use supple::gpu::{Context, Timestamps};
use supple::{ClothGrid, Scene, Settings, Solver, wgpu};

/// Steps before the first measurement: drivers compile pipelines at their first use.
const WARM_UP: u32 = 5;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
The scene is a square cloth hung by two corners, with tethers, without self-collision. A step is 1/60 s. Each step is \
submitted alone and waited for. Wall-clock time runs from recording to the end of the work; GPU time comes from timestamps. \
`cargo bench` measures other executions, meshes and kinds of constraint.")]
pub struct Arguments {
    /// Particles, rounded to a square number
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(4..=16_000_000))]
    particles: u32,
    /// Substeps per step
    #[arg(long, default_value_t = 20)]
    substeps: u32,
    /// Steps to measure
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let side = f64::from(arguments.particles).sqrt().round() as u32;
    let settings = Settings { substeps: arguments.substeps, ..Settings::default() };
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: side, rows: side, ..ClothGrid::default() })?;
    let [left, right, ..] = cloth.corners()?;
    scene.pin(left)?;
    scene.pin(right)?;
    let gpu = Context::new(supple::required_limits_with(&scene, &settings))?;
    let start = Instant::now();
    let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, settings)?;
    let set_up = milliseconds(start);
    let timestamps = Timestamps::new(&gpu.device, &gpu.queue, 1).ok();
    let (mut wall, mut on_gpu) = (Vec::new(), Vec::new());
    for step in 0..WARM_UP + arguments.steps {
        let (time, gpu_time) = measure(&gpu, &mut solver, timestamps.as_ref())?;
        if step >= WARM_UP {
            wall.push(time);
            on_gpu.extend(gpu_time);
        }
    }
    let diagnostics = solver.read_diagnostics()?;
    ensure!(diagnostics.non_finite_count == 0, "{} positions were not finite", diagnostics.non_finite_count);
    let count = scene.particle_count();
    console::print(format_args!("adapter: {}", gpu.adapter_name()))?;
    console::print(format_args!(
        "scene: {count} particles, {} constraints, {} substeps",
        scene.constraint_count(),
        settings.substeps
    ))?;
    console::print(format_args!("execution: {:?}", solver.execution().execution))?;
    console::print(format_args!("set-up: {set_up:.1} ms"))?;
    console::print(format_args!("steps: {} after {WARM_UP} of warm-up", arguments.steps))?;
    print_times("wall-clock", wall, count, settings.substeps)?;
    if on_gpu.is_empty() {
        console::print(format_args!("GPU: the adapter has no timestamps"))?;
    } else {
        print_times("GPU", on_gpu, count, settings.substeps)?;
    }
    Ok(())
}

/// Runs a step and returns its wall-clock time and its GPU time \[ms\].
fn measure(gpu: &Context, solver: &mut Solver, timestamps: Option<&Timestamps>) -> anyhow::Result<(f64, Option<f64>)> {
    let start = Instant::now();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    solver.encode_timed(&mut encoder, 1, timestamps.map(|timestamps| timestamps.writes(0)));
    let commands = encoder.finish();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let request = timestamps.map(|timestamps| timestamps.request(&mut encoder));
    gpu.queue.submit([commands, encoder.finish()]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let wall = milliseconds(start);
    let intervals = request.map(|mut request| request.try_take()).transpose()?.flatten();
    Ok((wall, intervals.map(|intervals| intervals[0].milliseconds())))
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Prints the median, the least and the greatest time of a step \[ms\], and the median per particle and substep \[ns\].
fn print_times(what: &str, mut times: Vec<f64>, particles: usize, substeps: u32) -> anyhow::Result<()> {
    times.sort_by(f64::total_cmp);
    let (median, least, greatest) = (times[times.len() / 2], times[0], times[times.len() - 1]);
    let each = median * 1e6 / (particles as f64 * f64::from(substeps));
    console::print(format_args!(
        "{what}: {median:.3} ms per step (median; {least:.3} to {greatest:.3}), {each:.3} ns per particle and substep"
    ))
}
