//! supple, through its public API.

use crate::common::run_frame;
use crate::drape::{DT, Drape, Simulation, Ready, SUBSTEPS, State};
use anyhow::Result;
use supple::gpu::{Context, Timestamps};
use supple::{ClothGrid, Distance, Material, Particle, Scene, Settings, Solver};

/// The exact workload, without tethers; particles and constraints are added one by one. Only the order is that of
/// supple's colouring, which assigns other colours at the border.
pub fn same(drape: &Drape) -> Result<Ready> {
    let mut scene = Scene::new();
    for (position, inverse_mass) in drape.positions().into_iter().zip(drape.inverse_masses()) {
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() })?;
    }
    for link in drape.links() {
        let distance = Distance { particles: link.particles, rest_length: link.rest_length };
        scene.add(distance, Material::compliant(link.compliance))?;
    }
    let settings = Settings { dt: DT, substeps: SUBSTEPS, iterations: 1, ..Settings::default() };
    ready(&scene, settings, "the workload to the letter")
}

/// The cloth of supple with its own settings. Compliances, substeps and sweeps are those of the workload. It has two
/// tethers per particle in addition, and border particles have half the mass.
pub fn default(drape: &Drape) -> Result<Ready> {
    cloth(drape, Settings::default(), "its cloth and settings at their defaults: two tethers per particle")
}

/// As [`default`], with the 50 substeps of the example `cloth`.
pub fn demo(drape: &Drape) -> Result<Ready> {
    let settings = Settings { substeps: 50, ..Settings::default() };
    cloth(drape, settings, "as in the example `cloth`: two tethers per particle")
}

fn cloth(drape: &Drape, settings: Settings, note: &str) -> Result<Ready> {
    let rest = drape.rest_positions();
    let n = drape.n as usize;
    let [origin, column_end, row_end] = [rest[0], rest[n - 1], rest[n * (n - 1)]];
    let axis = |end: [f32; 3]| std::array::from_fn(|k| end[k] - origin[k]);
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid {
        columns: drape.n,
        rows: drape.n,
        origin,
        column_axis: axis(column_end),
        row_axis: axis(row_end),
        ..ClothGrid::default()
    })?;
    for (particle, position) in cloth.particles.zip(drape.positions()) {
        scene.set_position(particle, position)?;
    }
    for pin in drape.pins() {
        scene.pin(pin)?;
    }
    ready(&scene, settings, note)
}

fn ready(scene: &Scene, settings: Settings, note: &str) -> Result<Ready> {
    let gpu = Context::new(supple::required_limits_with(scene, &settings))?;
    let solver = Solver::new(&gpu.device, &gpu.queue, scene, settings)?;
    let dispatches = solver.plan().dispatches_per_substep();
    Ok(Ready {
        constraints: scene.constraint_count(),
        substeps: settings.substeps,
        iterations: settings.iterations,
        note: format!("{note}; {dispatches} dispatches a substep; {}", gpu.adapter_name()),
        simulation: Box::new(Cloth { timestamps: Timestamps::new(&gpu.device, &gpu.queue, 1).ok(), gpu, solver }),
    })
}

struct Cloth {
    gpu: Context,
    solver: Solver,
    timestamps: Option<Timestamps>,
}

impl Simulation for Cloth {
    fn run_frame(&mut self) -> Result<Option<f64>> {
        let Self { gpu, solver, timestamps } = self;
        let frame = run_frame(gpu, timestamps.as_ref(), |encoder, timestamps| solver.encode_timed(encoder, 1, timestamps));
        Ok(frame.map_err(anyhow::Error::from_boxed)?.gpu)
    }

    fn state(&mut self) -> Result<State> {
        Ok(State { positions: self.solver.read_positions()?, velocities: Some(self.solver.read_velocities()?) })
    }
}
