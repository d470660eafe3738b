//! Which execution is the fastest for a scene on an adapter: measured, as no rule knows every driver.

use super::solver::Solver;
use crate::error::{Error, Result};
use crate::scene::{Grid, Scene};
use crate::schedule::plan::Plan;
use crate::settings::{Execution, Settings};
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// All that can be told apart.
const CANDIDATES: [Execution; 3] = [Execution::Colors, Execution::Tiles, Execution::Clusters];

/// Steps of each that are timed, at least; the fastest counts.
const FEWEST_STEPS: u32 = 3;

/// For how long each is timed, if that takes longer.
const LONG_ENOUGH: Duration = Duration::from_millis(50);

/// What it has found, so that it does not look again while the program runs.
static FOUND: Mutex<Vec<(Key, Execution)>> = Mutex::new(Vec::new());

/// Adapter, scene and settings as far as time depends on them.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    adapter: (String, u32, u32),
    /// By which there is room for an execution or not.
    limits: wgpu::Limits,
    particles: usize,
    pins: usize,
    tethered_bodies: usize,
    grids: Vec<Grid>,
    /// Of each kind.
    constraints: Vec<usize>,
    /// A hash of which particles they tie: how many bodies there are, how large, and how many constraints a particle has.
    ties: u64,
    colliders: usize,
    settings: Settings,
}

impl Key {
    fn new(device: &wgpu::Device, scene: &Scene, settings: &Settings) -> Self {
        let info = device.adapter_info();
        let mut ties = DefaultHasher::new();
        for set in &scene.constraints {
            set.records().flat_map(|record| set.info.particles(record, &set.rows)).for_each(|k| ties.write_u32(k));
        }
        Self {
            adapter: (info.name, info.vendor, info.device),
            limits: device.limits(),
            particles: scene.particle_count(),
            pins: scene.pinned_particles().count(),
            tethered_bodies: scene.tethered_bodies.len(),
            grids: scene.grids.clone(),
            constraints: scene.constraints.iter().map(|set| set.len()).collect(),
            ties: ties.finish(),
            colliders: scene.colliders().len(),
            settings: Settings { execution: Execution::Auto, ..*settings },
        }
    }
}

/// Times a step of each execution and returns the fastest, to be put into [`Settings::execution`].
///
/// It plays a few steps of the scene, a copy of it, on the queue, and waits for them: that takes as long as making the solver once for each
/// execution. What it has found holds for as long as the program runs, for the same adapter and settings, and scenes of the same sizes in which constraints
/// tie the same particles. The result is a matter of time, so it may be another in another run, and with it the order in which constraints are solved: write it down where runs
/// are to be repeated bit by bit.
///
/// # Errors
/// As [`Solver::new`] and [`Solver::read_positions`]. An execution that the device has no room for is left out; where there is room for none,
/// [`Error::LimitExceeded`].
pub fn fastest_execution(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    scene: &Scene,
    settings: Settings,
) -> Result<Execution> {
    let key = Key::new(device, scene, &settings);
    let lock = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = lock().iter().find(|(known, _)| *known == key) {
        return Ok(*found);
    }
    let mut timed: Vec<(Plan, Execution, Duration)> = Vec::new();
    let mut too_large = None;
    for execution in CANDIDATES {
        let mut solver = match Solver::new(device, queue, scene, Settings { execution, ..settings }) {
            Ok(solver) => solver,
            // Another may need less, as tiles need no records.
            Err(error @ Error::LimitExceeded { .. }) => {
                too_large = Some(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        // Where a scene has no grids, or nothing else, or a body that is too large, two of them are the same.
        if timed.iter().all(|(plan, ..)| plan != solver.plan()) {
            timed.push((solver.plan().clone(), execution, time_of_a_step(device, queue, &mut solver)?));
        }
    }
    if let (true, Some(error)) = (timed.is_empty(), too_large) {
        return Err(error);
    }
    let fastest = timed.iter().min_by_key(|(.., time)| *time).map_or(Execution::Auto, |(_, execution, _)| *execution);
    lock().push((key, fastest));
    Ok(fastest)
}

fn time_of_a_step(device: &wgpu::Device, queue: &wgpu::Queue, solver: &mut Solver) -> Result<Duration> {
    let mut step = || {
        let start = Instant::now();
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        solver.encode(&mut encoder, 1);
        queue.submit([encoder.finish()]);
        solver.read_diagnostics()?;
        Ok(start.elapsed())
    };
    // The first makes drivers compile.
    step()?;
    let (start, mut fastest, mut steps) = (Instant::now(), Duration::MAX, 0);
    while steps < FEWEST_STEPS || start.elapsed() < LONG_ENOUGH {
        fastest = fastest.min(step()?);
        steps += 1;
    }
    Ok(fastest)
}
