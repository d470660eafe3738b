//! A thousand flags as instances of one asset, which is compiled once. Each has its own wind, size and pins. A step
//! takes two dispatches and drawing one call. In each frame some flags are removed, spawned and teleported. `--balls 8`
//! adds balls that roll between the rows and push the flags.
//!
//! ```text
//! cargo run --release --example crowd                                          a window: drag to orbit, scroll to zoom
//! cargo run --release --example crowd -- --headless --frames 60 --json         a line of JSON
//! cargo run --release --example crowd -- --headless --frames 60 --png crowd.png
//! ```

mod draw;
mod window;

use clap::Parser;
use glam::{Quat, Vec3};
use std::path::PathBuf;
use std::time::Instant;
use supple::gpu::{Context, Timestamps};
use supple::wgpu;
use supple::{
    ClothGrid, Collider, ColliderId, Instance, InstanceId, Instances, Placement, Pose, Scene, Settings, Shape, Wind,
};
use supple_demos::camera::Camera;
use supple_demos::measure::median;
use supple_demos::outputs::check_file;

/// Particles per row of a flag, and rows.
const SIDE: u32 = 32;

/// Width and height of a flag at scale 1 [m], and the distance between poles [m].
const SIZE: [f32; 2] = [0.45, 0.3];
const APART: f32 = 0.9;

/// Radius of a ball [m], its height, and its speed [m/s].
const BALL: f32 = 0.36;
const BALL_HEIGHT: f32 = 0.9;
const BALL_SPEED: f32 = 1.5;

/// Flags that are replaced, and flags that are teleported, in each frame.
const CHANGES: u32 = 3;

#[derive(Parser, Debug)]
#[command(about = "A thousand flags, all instances of one")]
struct Arguments {
    /// Run without a window
    #[arg(long)]
    headless: bool,
    /// Frames of 1/60 s when headless
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Number of flags
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=30_000))]
    count: u32,
    /// Substeps per frame
    #[arg(long, default_value_t = 20)]
    substeps: u32,
    /// Mean speed of the wind [m/s]; 0 for no air
    #[arg(long, default_value_t = 4.0, allow_negative_numbers = true, value_parser = supple_demos::finite)]
    wind: f32,
    /// Balls that push the flags
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    balls: u32,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
    /// Write a picture of the last frame
    #[arg(long)]
    png: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if !arguments.headless {
        match window::run(&arguments)? {
            window::Outcome::Closed => return Ok(()),
            window::Outcome::NoDisplay(reason) => eprintln!("no window ({reason}): running headless"),
        }
    }
    arguments.png.as_deref().map_or(Ok(()), check_file)?;
    let start = Instant::now();
    let (flag, settings) = (flag()?, arguments.settings());
    let gpu = Context::new(Instances::required_limits(&flag, arguments.count, &settings))?;
    let mut crowd = Crowd::new(&gpu, flag, settings, [arguments.count, arguments.balls])?;
    gpu.queue.submit([]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let compile_ms = start.elapsed().as_secs_f64() * 1e3;

    let timestamps = Timestamps::new(&gpu.device, &gpu.queue, 1).ok();
    let (mut whole, mut recording, mut gpu_times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.frames {
        crowd.change()?;
        let start = Instant::now();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        crowd.flags.encode_timed(&mut encoder, 1, timestamps.as_ref().map(|timestamps| timestamps.writes(0)));
        let commands = encoder.finish();
        recording.push(start.elapsed().as_secs_f64() * 1e3);
        // The readback request is not part of the frame.
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let asked = timestamps.as_ref().map(|timestamps| timestamps.request(&mut encoder));
        gpu.queue.submit([commands, encoder.finish()]);
        gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
        whole.push(start.elapsed().as_secs_f64() * 1e3);
        let taken = asked.map(|mut asked| asked.try_take()).transpose()?.flatten();
        gpu_times.extend(taken.map(|intervals| intervals[0].milliseconds()));
    }
    let strains = crowd.strains()?;
    let mean_strain = strains.iter().sum::<f64>() / strains.len() as f64;
    let flags = &crowd.flags;
    let max_strain = strains.iter().copied().fold(0.0, f64::max);
    let particles = u64::from(flags.len()) * u64::from(flags.particle_count());
    let non_finite_count = flags.read_diagnostics()?.non_finite_count;
    let report = serde_json::json!({
        "adapter": gpu.adapter_name(),
        "particles": particles,
        "instances": flags.len(),
        "balls": arguments.balls,
        "frames": arguments.frames,
        "substeps": arguments.substeps,
        "ms_per_frame_median": median(whole),
        "gpu_ms_per_frame_median": (!gpu_times.is_empty()).then(|| median(gpu_times)),
        "recording_ms_median": median(recording),
        "compile_ms": compile_ms,
        "bytes_per_particle": flags.memory_bytes() as f64 / particles as f64,
        "mean_strain": mean_strain,
        "max_strain": max_strain,
        "non_finite_count": non_finite_count,
    });
    supple_demos::print(if arguments.json { report.to_string() } else { serde_json::to_string_pretty(&report)? })?;
    if let Some(path) = &arguments.png {
        draw::render_to_file(&gpu, &crowd, path)?;
    }
    anyhow::ensure!(non_finite_count == 0, "{non_finite_count} positions were not finite");
    anyhow::ensure!(mean_strain < 0.05, "flags are stretched by {:.1} %", mean_strain * 100.0);
    Ok(())
}

impl Arguments {
    fn settings(&self) -> Settings {
        let wind = Wind { velocity: [self.wind, 0.0, 0.25 * self.wind], gust: 0.4, ..Wind::default() };
        let wind = (self.wind != 0.0).then_some(wind);
        Settings { substeps: self.substeps, wind, ..Settings::default() }
    }
}

/// The asset: a flag that hangs by one side.
fn flag() -> supple::Result<Scene> {
    let mut flag = Scene::new();
    let [column_axis, row_axis] = [[SIZE[0], 0.0, 0.0], [0.0, -SIZE[1], 0.0]];
    let grid = ClothGrid { columns: SIDE, rows: SIDE, column_axis, row_axis, ..ClothGrid::default() };
    let cloth = flag.add_cloth_grid(&grid)?;
    (0..SIDE).try_for_each(|row| flag.pin(cloth.particles.start + row * SIDE))?;
    Ok(flag)
}

/// The instances of all flags.
struct Crowd {
    flag: Scene,
    flags: Instances,
    /// The instance id of each flag.
    ids: Vec<InstanceId>,
    balls: Vec<ColliderId>,
    frame: u32,
}

impl Crowd {
    fn new(gpu: &Context, flag: Scene, settings: Settings, [count, balls]: [u32; 2]) -> supple::Result<Self> {
        let mut flags = Instances::new(&gpu.device, &gpu.queue, &flag, count, settings)?;
        let all: Vec<Instance> = (0..count).map(|number| raised(number, count)).collect();
        let ids = flags.spawn_many(&all)?;
        let ball = |k| Collider::new(Shape::Sphere { radius: BALL }, ball_position(k, 0.0, count));
        let balls = flags.add_colliders(&(0..balls).map(ball).collect::<Vec<_>>())?;
        Ok(Self { flag, flags, ids, balls, frame: 0 })
    }

    /// A camera that shows all flags.
    fn camera(&self) -> Camera {
        let side = APART * (self.ids.len() as f32).sqrt();
        Camera { target: Vec3::new(0.0, 0.6, 0.0), distance: (0.8 * side + 1.0).min(30.0), yaw: 0.5, pitch: 0.3 }
    }

    /// The positions of the balls at the end of the current frame.
    fn ball_positions(&self) -> impl Iterator<Item = [f32; 3]> {
        let time = self.frame as f32 * self.flags.settings().dt;
        (0..self.balls.len() as u32).map(move |k| ball_position(k, time, self.ids.len() as u32))
    }

    /// Replaces some flags and teleports others by a small distance. Moves the balls.
    fn change(&mut self) -> supple::Result<()> {
        let count = self.ids.len() as u32;
        for change in 0..CHANGES {
            let number = (self.frame * CHANGES + change) % count;
            self.flags.remove(self.ids[number as usize])?;
            self.ids[number as usize] = self.flags.spawn(&raised(number, count))?;
            let other = self.ids[((number + count / 2) % count) as usize];
            let mut placement = self.flags.placement(other)?;
            placement.position[1] += 0.05;
            self.flags.teleport(other, placement)?;
        }
        self.frame += 1;
        let positions: Vec<_> = self.ball_positions().collect();
        for (&ball, position) in self.balls.iter().zip(positions) {
            self.flags.move_collider(ball, Pose { position, ..Pose::default() })?;
        }
        Ok(())
    }

    /// The strains of the edges of some flags, relative to the rest lengths of each instance.
    fn strains(&self) -> supple::Result<Vec<f64>> {
        let mut strains = Vec::new();
        let apart =
            |points: &[[f32; 3]], a: usize, b: usize| f64::from(Vec3::from(points[a]).distance(points[b].into()));
        for &id in self.ids.iter().step_by(self.ids.len().div_ceil(16)) {
            let (points, scale) = (self.flags.read_positions(id)?, f64::from(self.flags.placement(id)?.scale));
            let side = SIDE as usize;
            for i in 0..side * side {
                let across = ((i + 1) % side != 0).then_some(i + 1);
                let down = (i + side < side * side).then_some(i + side);
                let rest = |other: usize| scale * apart(self.flag.positions(), i, other);
                strains.extend(across.into_iter().chain(down).map(|j| (apart(&points, i, j) / rest(j) - 1.0).abs()));
            }
        }
        Ok(strains)
    }
}

/// The position of a flag in a square arrangement.
fn place(number: u32, count: u32) -> [f32; 3] {
    let across = (count as f32).sqrt().ceil() as u32;
    let [x, z] = [number % across, number / across].map(|k| APART * (k as f32 - 0.5 * (across - 1) as f32));
    [x, 1.0, z]
}

/// The position of a ball, which moves to and fro between two rows of poles.
fn ball_position(ball: u32, time: f32, count: u32) -> [f32; 3] {
    let across = (count as f32).sqrt().ceil();
    let lane = (0.618 * ball as f32 + 0.5).fract() * (across - 1.0).max(1.0);
    let z = APART * (lane.floor() + 0.5 - 0.5 * (across - 1.0));
    let side = 0.5 * APART * across;
    let phase = (time * BALL_SPEED / side + 0.37 * ball as f32).rem_euclid(4.0);
    [side * (phase - 2.0).abs() - side, BALL_HEIGHT, z]
}

fn raised(number: u32, count: u32) -> Instance {
    let turn = (number as f32 * 0.618).fract() - 0.5;
    let rotation = Quat::from_rotation_y(turn).to_array();
    let placement = Placement { position: place(number, count), rotation, scale: 1.0 + 0.5 * turn };
    // Each fifth flag hangs by its corners only.
    let pinned = number.is_multiple_of(5).then(|| vec![0, SIDE * (SIDE - 1)]);
    Instance { placement, wind: [turn, 0.0, -2.0 * turn], pinned, ..Instance::default() }
}
