//! Dragging of a cloth by the pointer.

use super::Demo;
use super::camera::Ray;
use glam::{Vec2, Vec3};
use supple::Solver;

/// The radius of the patch that is held at rest: in m, and in edges of the cloth if that is more. The most particles in it.
const RADIUS: f32 = 0.05;
const EDGES: f32 = 2.3;
const MOST_HELD: usize = 200;

/// The most that the patch moves per step [m].
const REACH: f32 = 0.02;

/// Stretch beyond which the patch follows the pointer no further, unless the cloth was stretched so far before.
const MOST_STRAIN: f64 = 0.07;

/// A patch of particles that follows the pointer, unless that would stretch the cloth too far.
pub struct Grip {
    /// The particles, and their places relative to the grabbed one.
    held: Vec<(u32, Vec3)>,
    /// The particles among them that were free before.
    free: Vec<u32>,
    /// The place under the pointer, that of the grabbed particle, and the last one without too much strain.
    wanted: Vec3,
    place: Vec3,
    safe: Vec3,
    most_strain: f64,
}

impl Grip {
    /// Holds the patch around the particle that the ray meets; `None` if it meets none.
    pub fn grab(demo: &Demo, solver: &mut Solver, positions: &[[f32; 3]], ray: Ray) -> supple::Result<Option<Self>> {
        // Massless particles cannot be grabbed: they may follow others.
        let masses = demo.scene.inverse_masses();
        let has_mass = |&(particle, _): &(usize, [f32; 3])| masses[particle] > 0.0;
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
        let place = Vec3::from(positions[grabbed]);
        let (mut held, mut free) = (Vec::new(), Vec::new());
        for (particle, position) in near.into_iter().take(MOST_HELD) {
            let index = particle as u32;
            if !solver.is_pinned(index)? {
                free.push(index);
            } else if particle != grabbed {
                continue;
            }
            held.push((index, Vec3::from(position) - place));
        }
        solver.pin(&free)?;
        let strain = demo.scene.strain(demo.edges.clone(), positions)?.max;
        let most_strain = MOST_STRAIN.max(1.2 * strain);
        Ok(Some(Self { held, free, wanted: place, place, safe: place, most_strain }))
    }

    /// Moves the wanted place to the ray of the pointer, in the plane that faces the camera.
    pub fn aim(&mut self, demo: &Demo, pointer: Vec2, aspect: f32) {
        let camera = demo.camera;
        if let Some(place) = camera.ray(pointer, aspect).meet(self.wanted, camera.eye() - camera.target) {
            self.wanted = place;
        }
    }

    /// Moves the patch: towards the wanted place, or back if the positions, which were just read, are stretched too far.
    pub fn pull(&mut self, demo: &Demo, solver: &mut Solver, positions: &[[f32; 3]]) -> supple::Result<()> {
        let strain = demo.scene.strain(demo.edges.clone(), positions)?.max;
        let next = if strain <= self.most_strain {
            self.safe = self.place;
            self.wanted
        } else {
            self.safe
        };
        self.place += (next - self.place).clamp_length_max(REACH);
        for &(particle, offset) in &self.held {
            solver.set_target(particle, (self.place + offset).into())?;
        }
        Ok(())
    }

    /// The height of the grabbed particle [m].
    pub fn height(&self) -> f32 {
        self.place.y
    }

    /// Releases the particles that were free before.
    pub fn let_go(self, solver: &mut Solver) -> supple::Result<()> {
        solver.release(&self.free)
    }
}
