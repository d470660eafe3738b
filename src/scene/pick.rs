//! Picking: the first triangle or particle on a ray.

use super::{ParticlePoint, Scene};
use crate::error::{Error, Result, check_finite, check_non_negative};
use glam::DVec3;

/// Tolerance of barycentric weights, so that a ray through an edge misses neither triangle.
const WEIGHT_TOLERANCE: f64 = 1e-9;

/// A ray, for example from the eye through the pointer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Its origin \[m\].
    pub origin: [f32; 3],
    /// Its direction, of any length except 0.
    pub direction: [f32; 3],
    /// Particles that belong to no triangle, such as those of ropes and rods, are hit within this distance from the ray \[m\], at least 0.
    /// With 0 only triangles are hit.
    pub radius: f32,
}

impl Ray {
    /// The point at a distance from the origin \[m\]: with [`RayHit::distance`], the point of a triangle that is hit, or the point of the ray nearest to
    /// the particle that is hit. Not finite for a direction of 0.
    pub fn at(&self, distance: f64) -> [f32; 3] {
        let [origin, direction] = [self.origin, self.direction].map(|vector| DVec3::from(vector.map(f64::from)));
        (origin + direction.normalize() * distance).as_vec3().into()
    }
}

/// The first triangle or particle on a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// The distance from the origin of the ray \[m\]; [`Ray::at`] returns the point.
    pub distance: f64,
    /// The point that is hit, for an [`crate::Attachment`]: a point of a triangle with its weights, or a particle.
    pub point: ParticlePoint,
    /// The particle that is hit, or the corner of the triangle with the greatest weight.
    pub particle: u32,
    /// The index of the triangle ([`Scene::triangles`]); `None` for a particle.
    pub triangle: Option<u32>,
}

impl Scene {
    /// The nearest hit of a ray, at the given positions \[m\]: a triangle from either side, or a particle of no triangle. `None` if
    /// there is none. Of equal distances the lowest index counts, and triangles before particles.
    ///
    /// Positions are those of a recent [`crate::Solver::request_positions`]; [`crate::Solver::pick`] reads them. A hit of the
    /// surface of a soft body names followers, which can be neither pinned nor attached. The search tests all
    /// triangles (Möller, Trumbore 1997).
    ///
    /// # Errors
    /// The origin or the direction is not finite, the direction is 0, the radius is negative or not finite, or the number of
    /// positions differs from the number of particles.
    pub fn pick(&self, ray: &Ray, positions: &[[f32; 3]]) -> Result<Option<RayHit>> {
        check_finite(|| "origin of a ray".into(), ray.origin)?;
        check_finite(|| "direction of a ray".into(), ray.direction)?;
        check_non_negative("radius of a ray", ray.radius)?;
        let [origin, direction] = [ray.origin, ray.direction].map(|vector| DVec3::from(vector.map(f64::from)));
        let Some(direction) = direction.try_normalize() else {
            return Err(Error::invalid("length of the direction of a ray", 0.0, "greater than 0"));
        };
        if positions.len() != self.particle_count() {
            let (left, right) = (positions.len(), self.particle_count());
            return Err(Error::LengthMismatch { what: "positions and particles", left, right });
        }
        let place = |particle: u32| DVec3::from(positions[particle as usize].map(f64::from)) - origin;
        let mut nearest: Option<RayHit> = None;
        let mut offer = |hit: RayHit| {
            if nearest.is_none_or(|nearest| hit.distance < nearest.distance) {
                nearest = Some(hit);
            }
        };
        let mut has_triangle = vec![false; positions.len()];
        for (index, &corners) in (0..).zip(&self.triangles) {
            corners.iter().for_each(|&corner| has_triangle[corner as usize] = true);
            if let Some((distance, weights)) = crossing(corners.map(place), direction) {
                let greatest = if weights[1] > weights[0] { 1 } else { 0 };
                let greatest = if weights[2] > weights[greatest] { 2 } else { greatest };
                let point = ParticlePoint::Triangle(corners, weights.map(|weight| weight as f32));
                offer(RayHit { distance, point, particle: corners[greatest], triangle: Some(index) });
            }
        }
        let single = (0..).zip(&has_triangle).filter(|(_, has)| !**has).map(|(particle, _)| particle);
        for particle in single.filter(|&particle| !self.is_in_reserve(particle)) {
            let x = place(particle);
            let distance = x.dot(direction);
            let is_near = ray.radius > 0.0 && (x - direction * distance).length() <= f64::from(ray.radius);
            if distance >= 0.0 && is_near {
                offer(RayHit { distance, point: ParticlePoint::Particle(particle), particle, triangle: None });
            }
        }
        Ok(nearest)
    }
}

/// Distance and weights of the intersection of a triangle with a ray from 0 of unit direction.
fn crossing([a, b, c]: [DVec3; 3], direction: DVec3) -> Option<(f64, [f64; 3])> {
    let (side, other) = (b - a, c - a);
    let across = direction.cross(other);
    let determinant = side.dot(across);
    // Seen from its edge, or degenerate.
    if determinant.abs() <= 1e-12 * side.length() * other.length() {
        return None;
    }
    let v = -a.dot(across) / determinant;
    let q = (-a).cross(side);
    let (w, distance) = (direction.dot(q) / determinant, other.dot(q) / determinant);
    let u = 1.0 - v - w;
    ([u, v, w].iter().all(|&weight| weight >= -WEIGHT_TOLERANCE) && distance >= 0.0).then_some((distance, [u, v, w]))
}
