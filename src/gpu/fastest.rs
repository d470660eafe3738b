//! Measures which execution is the fastest for a scene on an adapter.

use super::opening::{free_failed, is_too_large};
use super::solver::Solver;
use super::store::PipelineStore;
use crate::error::Result;
use crate::scene::{Grid, Scene};
use crate::schedule::plan::Plan;
use crate::settings::{Execution, Settings};
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The executions that are timed.
const CANDIDATES: [Execution; 3] = [Execution::Colors, Execution::Tiles, Execution::Clusters];

/// Minimum number of timed steps of each execution; the fastest step counts.
const FEWEST_STEPS: u32 = 3;

/// Minimum duration of the timed steps of each execution.
const LONG_ENOUGH: Duration = Duration::from_millis(50);

/// Cache of the results in this process.
static FOUND: Mutex<Vec<(Key, Execution)>> = Mutex::new(Vec::new());

/// Adapter, scene and settings, as far as the time depends on them.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    adapter: (String, u32, u32),
    /// The limits exclude some executions.
    limits: wgpu::Limits,
    particles: usize,
    pins: usize,
    tethered_bodies: usize,
    grids: Vec<Grid>,
    /// Number of constraints of each kind.
    constraints: Vec<usize>,
    /// Hash of the particles of all constraints.
    ties: u64,
    colliders: usize,
    settings: Settings,
}

impl Key {
    fn new(device: &wgpu::Device, scene: &Scene, settings: &Settings) -> Self {
        let info = device.adapter_info();
        let mut ties = DefaultHasher::new();
        for set in &scene.constraints {
            set.records().flat_map(|record| set.info.entities(record, &set.rows)).for_each(|k| ties.write_u32(k));
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

/// Times steps of each execution and returns the fastest one, for [`Settings::execution`].
///
/// The function runs a few steps of a copy of the scene on the queue and waits for them. It takes about as long as
/// creating a solver for each execution. The result is cached in the process for the same adapter, the same settings,
/// and scenes of the same size whose constraints connect the same particles.
///
/// The result depends on timing and may differ between runs, and with it the order of the constraints. To reproduce
/// results bit by bit, store the returned execution.
///
/// # Errors
/// As [`Solver::new`] and [`Solver::read_positions`]. Executions that exceed the limits or the memory of the device are skipped; if
/// all do, the error of the last one.
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
    let store = PipelineStore::new(device);
    let mut timed: Vec<(Plan, Execution, Duration)> = Vec::new();
    let mut too_large = None;
    for execution in CANDIDATES {
        let mut solver = match Solver::with_store(&store, queue, scene, Settings { execution, ..settings }) {
            Ok(solver) => solver,
            // Another execution may need less: tiles may need no records.
            Err(error) if is_too_large(&error) => {
                free_failed(device, queue);
                too_large = Some(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        // Executions may have the same plan, as in a scene without grids.
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
    // Drivers compile pipelines in the first step.
    step()?;
    let (start, mut fastest, mut steps) = (Instant::now(), Duration::MAX, 0);
    while steps < FEWEST_STEPS || start.elapsed() < LONG_ENOUGH {
        fastest = fastest.min(step()?);
        steps += 1;
    }
    Ok(fastest)
}
