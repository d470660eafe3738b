//! The workload drape-N, a square cloth that hangs by two corners, and its measurement; the same for each peer.
//!
//! `README.md` specifies the workload; `programs/drape.py` and the C programs implement it as well.

use crate::common::measure;
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The length of a frame \[s\].
pub const DT: f32 = 1.0 / 60.0;
/// Substeps per frame, with one sweep each.
pub const SUBSTEPS: u32 = 20;
/// The side of the cloth \[m\].
const SIZE: f64 = 2.0;
/// The mass per area [kg/m²].
const DENSITY: f64 = 0.2;
/// Warm-up frames, which are not timed.
const WARM_UP: u32 = 5;

/// The initial state of the cloth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Init {
    /// Vertical, below its pins.
    Hang,
    /// Horizontal; it swings down.
    Flat,
}

/// The size and initial state of the cloth.
#[derive(Debug, Clone, Copy)]
pub struct Drape {
    /// Particles per side.
    pub n: u32,
    pub init: Init,
}

/// A distance constraint.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub particles: [u32; 2],
    /// Rest length \[m\].
    pub rest_length: f32,
    /// Compliance [m/N].
    pub compliance: f32,
}

impl Drape {
    pub fn spacing(&self) -> f64 {
        SIZE / f64::from(self.n - 1)
    }

    /// The mass of each particle \[kg\].
    pub fn mass(&self) -> f64 {
        DENSITY * SIZE * SIZE / f64::from(self.n * self.n)
    }

    /// The two upper corners.
    pub fn pins(&self) -> [u32; 2] {
        [0, self.n - 1]
    }

    /// The inverse mass of each particle [1/kg]; 0 for the pins.
    pub fn inverse_masses(&self) -> Vec<f32> {
        let mut inverse_masses = vec![(1.0 / self.mass()) as f32; (self.n * self.n) as usize];
        for pin in self.pins() {
            inverse_masses[pin as usize] = 0.0;
        }
        inverse_masses
    }

    /// The initial positions: the plane of the cloth with a bump of 2 mm, which determines the direction of folds.
    pub fn positions(&self) -> Vec<[f32; 3]> {
        self.places(0.002)
    }

    /// The plane of the cloth, which defines the rest lengths.
    pub fn rest_positions(&self) -> Vec<[f32; 3]> {
        self.places(0.0)
    }

    fn places(&self, bump: f64) -> Vec<[f32; 3]> {
        use std::f64::consts::PI;
        let (n, spacing) = (self.n, self.spacing());
        let place = |r: u32, c: u32| {
            let [u, v] = [c, r].map(|index| f64::from(index) / f64::from(n - 1));
            let (across, down) = (f64::from(c) * spacing - SIZE / 2.0, f64::from(r) * spacing);
            let out = bump * (3.0 * PI * u).sin() * (2.0 * PI * v).sin();
            match self.init {
                Init::Hang => [across, -down, out],
                Init::Flat => [across, out, down],
            }
            .map(|x| x as f32)
        };
        (0..n).flat_map(|r| (0..n).map(move |c| place(r, c))).collect()
    }

    /// Structural constraints along rows, then columns; shear along one diagonal, then the other; bending along rows,
    /// then columns. Greedy colouring in this order gives the twelve colours of the workload.
    pub fn links(&self) -> Vec<Link> {
        let n = i64::from(self.n);
        let families = [(0, 1, 0.0), (1, 0, 0.0), (1, 1, 1e-6), (1, -1, 1e-6), (0, 2, 1e-4), (2, 0, 1e-4)];
        let family = |(down, across, compliance): (i64, i64, f32)| {
            let rest_length = (self.spacing() * ((down * down + across * across) as f64).sqrt()) as f32;
            (0..n - down).flat_map(move |r| {
                (0..n).filter(move |c| (0..n).contains(&(c + across))).map(move |c| {
                    let particles = [r * n + c, (r + down) * n + c + across].map(|index| index as u32);
                    Link { particles, rest_length, compliance }
                })
            })
        };
        families.into_iter().flat_map(family).collect()
    }

    /// Computes the quality measures of a state.
    fn quality(&self, State { positions, velocities }: &State) -> Result<Quality> {
        let n = self.n as usize;
        ensure!(positions.len() == n * n, "{} positions of {} particles", positions.len(), n * n);
        let strain = |a: usize, b: usize| {
            let squares = (0..3).map(|k| (f64::from(positions[a][k]) - f64::from(positions[b][k])).powi(2));
            (squares.sum::<f64>().sqrt() / self.spacing() - 1.0).abs()
        };
        let rows = (0..n * n).filter(|a| a % n + 1 < n).map(|a| strain(a, a + 1));
        let columns = (0..n * (n - 1)).map(|a| strain(a, a + n));
        let strains: Vec<f64> = rows.chain(columns).collect();
        let finite = |value: f64| value.is_finite().then_some(value);
        let square = |v: &[f32; 3]| v.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        let kinetic = |velocities: &Vec<[f32; 3]>| 0.5 * self.mass() * velocities.iter().map(square).sum::<f64>();
        Ok(Quality {
            mean_strain: finite(strains.iter().sum::<f64>() / strains.len() as f64),
            // Unlike `f64::max`, this propagates NaN.
            max_strain: finite(strains.iter().fold(0.0, |most, &strain| if strain <= most { most } else { strain })),
            kinetic_energy: velocities.as_ref().map(kinetic).and_then(finite),
            lowest_y: finite(positions.iter().map(|position| f64::from(position[1])).fold(f64::INFINITY, f64::min)),
        })
    }
}

/// The positions, and the velocities if the peer exposes them.
pub struct State {
    pub positions: Vec<[f32; 3]>,
    pub velocities: Option<Vec<[f32; 3]>>,
}

/// Quality measures: structural strain |l/l₀ − 1|; `None` if the simulation diverged.
struct Quality {
    mean_strain: Option<f64>,
    max_strain: Option<f64>,
    kinetic_energy: Option<f64>,
    lowest_y: Option<f64>,
}

/// A solver that holds the cloth.
pub trait Simulation {
    /// Runs one frame and waits for it. Returns the GPU time \[ms\] if it is known.
    fn run_frame(&mut self) -> Result<Option<f64>>;
    fn state(&mut self) -> Result<State>;
}

/// A solver that is ready to start, with its description.
pub struct Ready {
    pub simulation: Box<dyn Simulation>,
    pub constraints: usize,
    pub substeps: u32,
    pub iterations: u32,
    pub note: String,
}

/// The line of JSON that each peer prints. Strains of `None` or below 0 mean that the simulation diverged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    pub peer: String,
    pub n: u32,
    pub particles: u64,
    pub constraints: u64,
    pub substeps: u32,
    pub iterations: u32,
    pub ms_per_frame_median: f64,
    pub ms_min: f64,
    pub ms_max: f64,
    /// GPU time, by timestamps around each frame or over many frames in sequence.
    pub gpu_ms_per_frame: Option<f64>,
    /// User-mode CPU time, which is least sensitive to other load on the machine.
    pub user_ms_per_frame: Option<f64>,
    pub projections_per_s: f64,
    /// After the last frame.
    pub mean_strain: Option<f64>,
    pub max_strain: Option<f64>,
    /// The mean of the means and the maximum of the maxima over frames 60, 65, …, because the cloth oscillates.
    pub mean_strain_late: Option<f64>,
    pub max_strain_late: Option<f64>,
    pub kinetic_energy: Option<f64>,
    pub lowest_y: Option<f64>,
    pub rss_mb: Option<f64>,
    pub threads: Option<u32>,
    pub frames: u32,
    pub note: String,
    /// Other fields that a program prints.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

/// Runs and measures `frames` frames.
pub fn measure(name: &str, drape: &Drape, frames: u32, ready: Ready) -> Result<Line> {
    let Ready { mut simulation, constraints, substeps, iterations, note } = ready;
    let (mut times, mut gpu_times, mut user_ms, mut late) = (Vec::new(), Vec::new(), Some(0.0), Vec::new());
    for frame in 1..=frames {
        let (start, user_start) = (Instant::now(), user_time_ms());
        let gpu_ms = simulation.run_frame()?;
        if frame > WARM_UP {
            gpu_times.extend(gpu_ms);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            user_ms = user_ms.zip(user_time_ms()).zip(user_start).map(|((sum, end), start)| sum + end - start);
        }
        if frame >= 60 && frame % 5 == 0 {
            late.push(drape.quality(&simulation.state()?)?);
        }
    }
    let last = drape.quality(&simulation.state()?)?;
    let means: Option<Vec<f64>> = late.iter().map(|quality| quality.mean_strain).collect();
    let maxima: Option<Vec<f64>> = late.iter().map(|quality| quality.max_strain).collect();
    let median = measure::median(times.clone());
    Ok(Line {
        peer: name.into(),
        n: drape.n,
        particles: u64::from(drape.n * drape.n),
        constraints: constraints as u64,
        substeps,
        iterations,
        ms_per_frame_median: median,
        ms_min: times.iter().copied().fold(f64::INFINITY, f64::min),
        ms_max: times.iter().copied().fold(0.0, f64::max),
        gpu_ms_per_frame: (!gpu_times.is_empty()).then(|| measure::median(gpu_times)),
        user_ms_per_frame: user_ms.map(|sum: f64| sum / times.len() as f64),
        projections_per_s: constraints as f64 * f64::from(substeps * iterations) / (median * 1e-3),
        mean_strain: last.mean_strain,
        max_strain: last.max_strain,
        mean_strain_late: means.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64),
        max_strain_late: maxima.and_then(|all| all.into_iter().reduce(f64::max)),
        kinetic_energy: last.kinetic_energy,
        lowest_y: last.lowest_y,
        rss_mb: measure::peak_memory_mib(),
        threads: std::thread::available_parallelism().ok().map(|count| count.get() as u32),
        frames,
        note,
        more: serde_json::Map::new(),
    })
}

/// The user-mode CPU time of all threads of this process [ms], if the system reports it.
fn user_time_ms() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Fields are counted after the name, which may contain any character; Linux counts in hundredths of a second.
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse().ok()?;
    Some(ticks * 10.0)
}
