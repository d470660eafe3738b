//! Dragging of a cloth by the pointer.

use super::Demo;
use super::camera::Ray;
use glam::{Vec2, Vec3};
use supple::Solver;

/// Minimum radius of the dragged patch at rest [m].
const RADIUS: f32 = 0.05;

/// Minimum radius of the patch in mean lengths of the edges.
const EDGES: f32 = 2.3;

/// Maximum number of particles of the patch.
const MOST_PARTICLES: usize = 200;

/// Maximum displacement of the patch per step [m].
const STEP: f32 = 0.02;

/// The patch moves back above this strain, or above 1.2 times the strain at the start of dragging.
const MOST_STRAIN: f64 = 0.07;

/// A patch of particles that follows the pointer, unless that would stretch the cloth too far.
pub struct Grip {
    /// The particles, and their positions relative to the grabbed one.
    patch: Vec<(u32, Vec3)>,
    /// The particles among them that were free before.
    free: Vec<u32>,
    /// Position of the pointer, of the grabbed particle, and of that particle when it was grabbed.
    target: Vec3,
    position: Vec3,
    start: Vec3,
    most_strain: f64,
}

impl Grip {
    /// Pins the patch around the particle that the ray meets; `None` if it meets none.
    pub fn grab(demo: &Demo, solver: &mut Solver, positions: &[[f32; 3]], ray: Ray) -> supple::Result<Option<Self>> {
        // Followers and particles in reserve, which have an inverse mass of 0, cannot be grabbed.
        let inverse_masses = demo.scene.inverse_masses();
        let has_mass = |&(particle, _): &(usize, [f32; 3])| inverse_masses[particle] > 0.0;
        let Some(grabbed) = ray.nearest(positions.iter().copied().enumerate().filter(has_mass)) else {
            return Ok(None);
        };
        let rest = demo.scene.positions();
        let lengths = demo.scene.distances(demo.edges.clone()).map(|edge| edge.rest_length);
        let radius = RADIUS.max(EDGES * lengths.sum::<f32>() / demo.edges.len().max(1) as f32);
        let distance = |&(particle, _): &(usize, [f32; 3])| Vec3::from(rest[particle]).distance(rest[grabbed].into());
        let mut near: Vec<_> = positions.iter().copied().enumerate().filter(has_mass).collect();
        near.retain(|particle| distance(particle) <= radius);
        near.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let start = Vec3::from(positions[grabbed]);
        let (mut patch, mut free) = (Vec::new(), Vec::new());
        for (particle, position) in near.into_iter().take(MOST_PARTICLES) {
            let index = particle as u32;
            if !solver.is_pinned(index)? {
                free.push(index);
            } else if particle != grabbed {
                continue;
            }
            patch.push((index, Vec3::from(position) - start));
        }
        solver.pin(&free)?;
        let strain = largest_strain(demo, positions)?;
        let most_strain = MOST_STRAIN.max(1.2 * strain);
        Ok(Some(Self { patch, free, target: start, position: start, start, most_strain }))
    }

    /// Moves the target to the ray of the pointer, in the plane that faces the camera.
    pub fn aim(&mut self, demo: &Demo, pointer: Vec2, aspect: f32) {
        let camera = demo.camera;
        if let Some(target) = camera.ray(pointer, aspect).meet(self.target, camera.eye() - camera.target) {
            self.target = target;
        }
    }

    /// Moves the patch towards the target. Its speed decreases with the strain of the cloth in the positions, which were just
    /// read. Above the maximum strain the patch moves back to its start.
    pub fn pull(&mut self, demo: &Demo, solver: &mut Solver, positions: &[[f32; 3]]) -> supple::Result<()> {
        let strain = largest_strain(demo, positions)?;
        let speed = (1.0 - strain / self.most_strain).max(-1.0) as f32;
        let next = if speed > 0.0 { self.target } else { self.start };
        self.position += (next - self.position).clamp_length_max(STEP * speed.abs());
        for &(particle, offset) in &self.patch {
            solver.set_target(particle, (self.position + offset).into())?;
        }
        Ok(())
    }

    /// The height of the grabbed particle [m].
    pub fn height(&self) -> f32 {
        self.position.y
    }

    /// Releases the particles that were free before.
    pub fn release(self, solver: &mut Solver) -> supple::Result<()> {
        solver.release(&self.free)
    }
}

/// The largest strain of the cloth. It is 0 for a cloth that can tear, because edges across a tear are no edges of the cloth.
fn largest_strain(demo: &Demo, positions: &[[f32; 3]]) -> supple::Result<f64> {
    if demo.scene.can_tear() { Ok(0.0) } else { Ok(demo.scene.strain(demo.edges.clone(), positions)?.max) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hung::{breeze, hung_cloth};
    use supple::gpu::Context;
    use supple::{ClothGrid, Settings, Tethers};

    #[test]
    fn a_dragged_cloth_is_stretched_by_at_most_a_tenth() -> anyhow::Result<()> {
        let tethers = Some(Tethers { per_particle: 2, scale: 1.0 });
        let grid = ClothGrid { columns: 40, rows: 40, tethers, ..ClothGrid::default() };
        let settings = Settings { substeps: 50, damping: 0.5, wind: Some(breeze(1.5)), ..Settings::default() };
        let demo = hung_cloth(&grid, 3, settings)?;
        let gpu = Context::new(supple::required_limits_with(&demo.scene, &demo.settings))?;
        let mut solver = Solver::new(&gpu.device, &gpu.queue, &demo.scene, demo.settings)?;
        let step = |solver: &mut Solver| -> anyhow::Result<_> {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            solver.encode(&mut encoder, 1);
            gpu.queue.submit([encoder.finish()]);
            Ok(solver.read_positions()?)
        };
        let mut positions = step(&mut solver)?;
        for _ in 0..40 {
            positions = step(&mut solver)?;
        }
        // The middle of the cloth, then places far beyond its reach on each side.
        let middle = Vec3::from(positions[20 * 40 + 20]);
        let place = demo.camera.view_projection(1.6).project_point3(middle);
        let ray = demo.camera.ray(place.truncate(), 1.6);
        let grip = Grip::grab(&demo, &mut solver, &positions, ray)?;
        let Some(mut grip) = grip else { anyhow::bail!("the pointer meets no particle") };
        let (mut most, start) = (0.0f64, grip.position);
        let mut reach = 0.0f32;
        for pointer in [Vec2::new(0.95, -0.9), Vec2::new(-0.95, -0.9), Vec2::new(0.0, 0.95)] {
            for _ in 0..60 {
                grip.aim(&demo, pointer, 1.6);
                grip.pull(&demo, &mut solver, &positions)?;
                positions = step(&mut solver)?;
                most = most.max(demo.scene.strain(demo.edges.clone(), &positions)?.max);
                reach = reach.max(grip.position.distance(start));
            }
        }
        assert!(reach > 0.3, "the patch has moved by {reach} m");
        assert!(most <= 0.1, "{most}");
        grip.release(&mut solver)?;
        assert!(!solver.is_pinned(20 * 40 + 20)?);
        Ok(())
    }
}
