//! Measures many small, equal bodies: as one scene with each execution, and as instances of one asset.
//!
//! `cargo bench --bench bodies` prints the table and writes it to `benches/results/<adapter>-bodies.md`. An argument
//! sets the number of flags: `cargo bench --bench bodies -- 100`. With `instances` only the instances are measured, and
//! the table is not written.

mod common;

use common::measure::median;
use common::{Fault, figure, median_gpu, run_frame};
use std::fmt::Write as _;
use std::time::Instant;
use supple::gpu::{Context, Timestamps};
use supple::{
    ClothGrid, Collider, Execution, Instance, Instances, Placement, Scene, Settings, Shape, Solver, Wind, wgpu,
};

/// The number of flags, and of particles per side of a flag.
const COUNT: u32 = 1000;
const SIDE: u32 = 32;
/// Measurements per value.
const ROUNDS: usize = 3;
const EXECUTIONS: [(&str, Execution); 3] =
    [("by colours", Execution::Colors), ("in tiles", Execution::Tiles), ("in clusters", Execution::Clusters)];

fn main() {
    // Skips the arguments `--bench` of `cargo bench` and `--test` of `cargo test --benches`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = arguments.iter().find_map(|argument| argument.parse().ok());
    let count = if arguments.iter().any(|argument| argument == "--test") { 2 } else { named.unwrap_or(COUNT) };
    let executions = if arguments.iter().any(|argument| argument == "instances") { &[] } else { EXECUTIONS.as_slice() };
    if let Err(error) = run(count, executions) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

type Result<T> = std::result::Result<T, Fault>;

fn run(count: u32, executions: &[(&str, Execution)]) -> Result<()> {
    let mut table = String::from(
        "| | | dispatches a frame | ms a frame | of these on the GPU | ready after ms | bytes a particle |\n|---|---|---|---|---|---|---|\n",
    );
    let mut adapter = String::new();
    let breeze = Wind { velocity: [4.0, 0.0, 1.0], gust: 0.4, ..Wind::default() };
    for (air, wind) in [("in no air", None), ("in wind", Some(breeze))] {
        for &(name, execution) in executions {
            let settings = Settings { execution, wind, ..Settings::default() };
            let mut scene = Scene::new();
            (0..count).try_for_each(|flag| add_flag(&mut scene, place(flag)))?;
            let gpu = Context::new(supple::required_limits_with(&scene, &settings))?;
            let start = Instant::now();
            let mut solver = Solver::new(&gpu.device, &gpu.queue, &scene, settings)?;
            let compile_ms = start.elapsed().as_secs_f64() * 1e3;
            let bytes = solver.memory_bytes() as f64 / f64::from(solver.particle_count());
            let plan = solver.plan();
            let dispatches = plan.step(settings.substeps, 0).count();
            let time = time(&gpu, |encoder, timestamps| solver.encode_timed(encoder, 1, timestamps))?;
            writeln!(table, "| {name} | {air} | {dispatches} | {time} | {compile_ms:.0} | {bytes:.0} |")?;
        }
        let (of_instances, rows) = instance_rows(count, wind)?;
        adapter = of_instances;
        for row in rows {
            writeln!(table, "| {} | {air} | {} |", row[0], row[1])?;
        }
    }
    let text = format!(
        "Adapter: {adapter}. {count} flags of {SIDE} × {SIDE} particles that hang by one side, two tethers a particle, 20 substeps of one sweep a \
         frame of 1/60 s.\n\n{table}"
    );
    println!("{text}");
    if count == COUNT && !executions.is_empty() {
        common::write_results("-bodies", &adapter, &text)?;
    }
    Ok(())
}

/// Instances without colliders, with a sphere among them, and with the ground just below all of them: names and values.
/// Their frames alternate.
fn instance_rows(count: u32, wind: Option<Wind>) -> Result<(String, Vec<[String; 2]>)> {
    let settings = Settings { wind, ..Settings::default() };
    let mut flag = Scene::new();
    add_flag(&mut flag, [0.0; 3])?;
    let gpu = Context::new(Instances::required_limits(&flag, count, &settings))?;
    let [x, _, z] = place(count / 2);
    let sphere = Collider::new(Shape::Sphere { radius: 0.2 }, [x + 0.3, -0.2, z + 0.25]);
    let ground = Collider::new(Shape::HalfSpace, [0.0, -0.305, 0.0]);
    let mut pools = Vec::new();
    for (name, collider) in
        [("instances", None), ("instances and a sphere", Some(sphere)), ("instances on the ground", Some(ground))]
    {
        let start = Instant::now();
        let mut flags = Instances::new(&gpu.device, &gpu.queue, &flag, count, settings)?;
        let at = |flag| Instance {
            placement: Placement { position: place(flag), ..Placement::default() },
            ..Instance::default()
        };
        flags.spawn_many(&(0..count).map(at).collect::<Vec<_>>())?;
        collider.iter().try_for_each(|collider| flags.add_collider(collider).map(drop))?;
        pools.push((name, flags, start.elapsed().as_secs_f64() * 1e3, Vec::new()));
    }
    let timestamps = Timestamps::new(&gpu.device, &gpu.queue, 1).ok();
    // The first round is warm-up.
    for round in 0..=ROUNDS {
        for (_, flags, _, frames) in &mut pools {
            let frame = run_frame(&gpu, timestamps.as_ref(), |encoder, timestamps| {
                flags.encode_timed(encoder, 1, timestamps);
            })?;
            frames.extend((round > 0).then_some(frame));
        }
    }
    let row = |(name, flags, compile_ms, frames): &(&str, Instances, f64, Vec<_>)| {
        let wall = median(frames.iter().map(|frame: &common::Frame| frame.wall).collect());
        let bytes = flags.memory_bytes() as f64 / f64::from(count * flags.particle_count());
        let dispatches = flags.dispatches_per_step();
        let times = format!("{} | {}", figure(wall), figure(median_gpu(frames)));
        [(*name).to_owned(), format!("{dispatches} | {times} | {compile_ms:.0} | {bytes:.0}")]
    };
    Ok((gpu.adapter_name(), pools.iter().map(row).collect()))
}

fn place(flag: u32) -> [f32; 3] {
    [flag % 40, 0, flag / 40].map(|place| 0.6 * place as f32)
}

/// Adds a flag of 45 cm by 30 cm.
fn add_flag(scene: &mut Scene, origin: [f32; 3]) -> supple::Result<()> {
    let [column_axis, row_axis] = [[0.45, 0.0, 0.0], [0.0, -0.3, 0.0]];
    let cloth = scene.add_cloth_grid(&ClothGrid {
        columns: SIDE,
        rows: SIDE,
        origin,
        column_axis,
        row_axis,
        ..ClothGrid::default()
    })?;
    (0..SIDE).try_for_each(|row| scene.pin(cloth.particles.start + row * SIDE))
}

/// The median wall-clock and GPU times of a frame \[ms\], after one warm-up frame.
fn time(
    gpu: &Context,
    mut encode: impl FnMut(&mut wgpu::CommandEncoder, Option<wgpu::ComputePassTimestampWrites<'_>>),
) -> Result<String> {
    let timestamps = Timestamps::new(&gpu.device, &gpu.queue, 1).ok();
    let mut frame = || run_frame(gpu, timestamps.as_ref(), &mut encode);
    frame()?;
    let frames = (0..ROUNDS).map(|_| frame()).collect::<std::result::Result<Vec<_>, _>>()?;
    let wall = median(frames.iter().map(|frame| frame.wall).collect());
    Ok(format!("{} | {}", figure(wall), figure(median_gpu(&frames))))
}
