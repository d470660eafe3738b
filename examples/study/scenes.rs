//! Shared by the figures: backends, springs and chains, and running to rest.

use std::ops::Range;
use supple::gpu::Context;
use supple::{Distance, Material, Particle, Reference, Result, Scene, Settings, Simulation, Solver};

pub const G: f64 = 9.81;

/// The options of the study.
pub struct Lab {
    pub quick: bool,
    pub gpu: Option<Context>,
}

impl Lab {
    /// Returns `quick` or `full`, by the option `--quick`.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    pub fn backend(&self, scene: &Scene, settings: Settings) -> Result<Backend> {
        Ok(Backend(match &self.gpu {
            None => Box::new(Reference::new(scene, settings)?),
            Some(gpu) => Box::new(Solver::new(&gpu.device, &gpu.queue, scene, settings)?),
        }))
    }
}

/// A simulation on the CPU reference or on the GPU.
pub struct Backend(Box<dyn Simulation>);

impl Backend {
    pub fn step(&mut self, steps: u32) {
        self.0.step(steps);
    }

    /// Waits until all steps are done.
    pub fn wait(&self) -> Result<()> {
        self.0.read_diagnostics().map(drop)
    }

    pub fn positions(&self) -> Result<Vec<[f64; 3]>> {
        Ok(self.0.read_positions()?.into_iter().map(|position| position.map(f64::from)).collect())
    }

    /// The mean |l/L₀ − 1| of the given springs [%].
    pub fn strain(&self, scene: &Scene, springs: Range<u32>) -> Result<f64> {
        Ok(100.0 * scene.strain(springs, &self.0.read_positions()?)?.mean)
    }

    /// Runs in intervals of 0.1 s until no particle moves by more than `tolerance` [m] in one, or until `limit` [s].
    pub fn settle(&mut self, dt: f32, tolerance: f64, limit: f64) -> Result<Vec<[f64; 3]>> {
        let steps = (0.1 / dt).round().max(1.0) as u32;
        let mut before = self.positions()?;
        for _ in 0..(10.0 * limit) as u32 {
            self.step(steps);
            let after = self.positions()?;
            let still = before.iter().zip(&after).all(|(before, after)| distance(*before, *after) < tolerance);
            before = after;
            if still {
                break;
            }
        }
        Ok(before)
    }
}

/// No gravity, no tethers, one substep of 1/60 s.
pub fn weightless() -> Settings {
    Settings { gravity: [0.0; 3], tethers: false, substeps: 1, ..Settings::default() }
}

/// A mass of 1 kg on a distance constraint of 1 m below a pin, stretched by `stretch` [m].
pub fn spring(stretch: f32, material: Material) -> Result<Scene> {
    let mut scene = Scene::new();
    scene.add_particle(Particle::default())?;
    scene.add_particle(Particle { position: [0.0, -1.0 - stretch, 0.0], ..Particle::default() })?;
    scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, material)?;
    scene.pin(0)?;
    Ok(scene)
}

/// Particles of 1 kg with distance constraints of `spacing` [m], hanging straight from a pin, stretched by the factor
/// `stretch`.
pub fn chain(links: u32, spacing: f32, stretch: f32, material: Material) -> Result<Scene> {
    let mut scene = Scene::new();
    for particle in 0..=links {
        let y = -spacing * stretch * particle as f32;
        scene.add_particle(Particle { position: [0.0, y, 0.0], ..Particle::default() })?;
    }
    for link in 0..links {
        scene.add(Distance { particles: [link, link + 1], rest_length: spacing }, material)?;
    }
    scene.pin(0)?;
    Ok(scene)
}

pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}
