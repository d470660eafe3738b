//! Soft bodies of rapier3d, on the CPU with its threads.
//!
//! Its constraints are springs of frequency f and damping ratio ζ, relative to the effective mass 1/(w₀ + w₁). With ζ =
//! 0 a spring has the compliance α with (2π f)² = (w₀ + w₁)/α. rapier solves for velocities, warm-started from the
//! previous substep.

use crate::drape::{DT, Drape, Simulation, Ready, SUBSTEPS, State};
use anyhow::{Context as _, Result};
use rapier3d::prelude::{PhysicsWorld, SoftBodyBuilder, SoftBodyHandle, SpringCoefficients, Vector};

/// A frequency \[Hz\] that is rigid in `f32` at any substep: its compliance is far below rounding.
const RIGID: f32 = 1e7;

/// The constraints of the workload, with 20 substeps of one sweep.
pub fn same(drape: &Drape) -> Result<Ready> {
    let (links, inverse_masses) = (drape.links(), drape.inverse_masses());
    let softness = links.iter().zip(0..).map(|(link, index)| {
        let w: f32 = link.particles.iter().map(|&particle| inverse_masses[particle as usize]).sum();
        let frequency = (w / link.compliance).sqrt() / std::f32::consts::TAU;
        (index, SpringCoefficients::new(frequency.min(RIGID), 0.0))
    });
    let mut builder = SoftBodyBuilder::new(drape.rest_positions().into_iter().map(Vector::from).collect())
        .edges(links.iter().map(|link| link.particles).collect())
        .additional_pgs_iterations(0);
    builder.edge_softness = softness.collect();
    let mut world = PhysicsWorld::new();
    world.integration_parameters.num_solver_iterations = SUBSTEPS as usize;
    // Disables the second sweep over strained constraints.
    world.integration_parameters.soft_bodies.resweep_strain = f32::MAX;
    ready(drape, world, builder, "the constraints of the workload")
}

/// The cloth of rapier with its own material and settings.
pub fn default(drape: &Drape) -> Result<Ready> {
    let rest = drape.rest_positions();
    let n = drape.n as usize;
    let [origin, column_end, row_end] = [rest[0], rest[n - 1], rest[n * (n - 1)]].map(Vector::from);
    let step = |end: Vector| (end - origin) / (n - 1) as f32;
    let builder = SoftBodyBuilder::cloth(origin, step(row_end), step(column_end), n, n);
    ready(drape, PhysicsWorld::new(), builder, "its cloth, material and settings at their defaults")
}

fn ready(drape: &Drape, mut world: PhysicsWorld, builder: SoftBodyBuilder, note: &str) -> Result<Ready> {
    world.integration_parameters.dt = DT;
    let parameters = &world.integration_parameters;
    let substeps = parameters.num_solver_iterations as u32;
    let sweeps = parameters.num_internal_pgs_iterations + builder.particle_settings.additional_pgs_iterations;
    let constraints = builder.edges.len() + builder.bend_edges.len();
    // No collision and no sleeping.
    let mut builder = builder.no_surface_collider().can_sleep(false);
    builder.particle_mass = drape.mass() as f32;
    builder.pinned = drape.pins().into();
    let handle = world.insert_soft_body(builder);
    let body = world.soft_bodies.get_mut(handle).context("the soft body that was just inserted")?;
    for (particle, position) in drape.positions().into_iter().enumerate() {
        body.set_particle_position(particle, position.into());
    }
    let note = format!("rapier3d 0.36 on the CPU: {note}; {} colours", body.num_solver_colors());
    Ok(Ready { simulation: Box::new(Cloth { world, handle }), constraints, substeps, iterations: sweeps as u32, note })
}

struct Cloth {
    world: PhysicsWorld,
    handle: SoftBodyHandle,
}

impl Simulation for Cloth {
    fn run_frame(&mut self) -> Result<Option<f64>> {
        self.world.step();
        Ok(None)
    }

    fn state(&mut self) -> Result<State> {
        let body = &self.world.soft_bodies[self.handle];
        let positions = body.particle_positions().map(Into::into).collect();
        Ok(State { positions, velocities: Some(body.particle_velocities().map(Into::into).collect()) })
    }
}
