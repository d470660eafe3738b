//! The contact of a triangle with a collider: the deepest point of the triangle, and the direction in which it leaves.
//! `shaders/collision/collide/triangle.wgsl` is the counterpart, operation by operation.

use super::colliders::ColliderRow;
use super::pair::{PairKind, closest};
use super::shape::{CAPSULE, FIELD, HALF_SPACE, HEIGHTFIELD, SPHERE, Sample, sample};
use crate::geometry::vector::{dot, length};
use glam::Vec3;

/// A search for the deepest point: number of steps, length of the first as a share of the triangle's radius, and ratio of
/// each length to the one before.
type Steps = (u32, f32, f32);

/// The search from the center. The last step has 4.5 % of the radius.
const SEARCH: Steps = (7, 0.6, 0.65);

/// The search from the deepest point of a triangle that was shifted.
const SEARCH_AGAIN: Steps = (3, 0.2, 0.5);

/// The shift that shows on which side of the triangle the collider lies, as a share of the triangle's radius.
const SHIFT: f32 = 0.1;

/// Steps of the way out of the collider, and the least slope of the distance for which the first ones are made.
const EXIT_STEPS: u32 = 6;
const LEAST_SLOPE: f32 = 0.1;

/// A triangle is in contact if its deepest point is deeper than its corners, or than the contact distance, by more than this
/// share of the contact distance.
const SLACK: f32 = 0.05;

/// The way out ends within this share of the contact distance.
const TOLERANCE: f32 = 0.02;

/// Weights below this count as 0: the deepest point is on an edge, or at a corner.
const NO_WEIGHT: f32 = 0.02;

/// A collider, and the parameters of its contact with a triangle, in the frame of the collider.
#[derive(Clone, Copy)]
pub(crate) struct TriangleView<'a> {
    pub collider: &'a ColliderRow,
    pub data: &'a [f32],
    /// Distance that the triangle keeps \[m\].
    pub keep: f32,
    /// −1 on the inner side of a two-sided collider, else 1.
    pub side: f32,
    /// Bit k is 1 if the edge opposite of corner k is a border of the surface.
    pub borders: u32,
}

/// The deepest point of a triangle in contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DeepestPoint {
    /// Barycentric weights.
    pub weights: Vec3,
    /// Outward unit vector, and the displacement along it that ends the contact \[m\].
    pub normal: Vec3,
    pub depth: f32,
}

/// Returns false if no triangle can be deeper than its corners by more than the slack. This holds for half-spaces, and for
/// spheres and capsules of a radius r for which the sag s²/(2 r) is less. `size` is the largest distance of a corner from the center of
/// a triangle at rest \[m\]; s is twice that, for stretched cloth. `radius` is the least half thickness of a particle \[m\].
pub(crate) fn meets_triangles(collider: &ColliderRow, size: f32, radius: f32) -> bool {
    match collider.shape {
        HALF_SPACE => false,
        SPHERE | CAPSULE => 2.0 * size * size > SLACK * (radius + collider.margin) * collider.size[0],
        _ => true,
    }
}

/// Returns Σ b e.
pub(crate) fn mixed(weights: Vec3, e: [Vec3; 3]) -> Vec3 {
    (e[0] * weights.x + e[1] * weights.y) + e[2] * weights.z
}

impl TriangleView<'_> {
    fn at(&self, p: Vec3) -> Sample {
        let own = sample(self.collider, self.data, p, self.keep);
        if self.side < 0.0 {
            return Sample { normal: -own.normal, distance: -own.distance, sure: -own.distance };
        }
        own
    }

    /// The deepest point of a triangle; `None` without a contact. Contacts at a corner are those of the particle.
    ///
    /// A triangle resolves only what its corners leave: it moves to the distance of its deepest corner.
    pub fn deepest(&self, e: [Vec3; 3]) -> Option<DeepestPoint> {
        let center = ((e[0] + e[1]) + e[2]) * (1.0 / 3.0);
        let radius = e.map(|corner| length(corner - center)).into_iter().fold(0.0, f32::max);
        let first = self.at(center);
        if first.sure >= self.keep + radius {
            return None;
        }
        let goal = e.map(|corner| self.at(corner).distance).into_iter().fold(self.keep, f32::min);
        let limit = goal - SLACK * self.keep;
        // A convex distance is nowhere less than its tangent at the center.
        let is_convex = self.side > 0.0 && !matches!(self.collider.shape, HEIGHTFIELD | FIELD);
        let least = e.map(|corner| dot(first.normal, corner - center)).into_iter().fold(0.0, f32::min);
        let bound = if is_convex { first.distance + least } else { first.sure - radius };
        if bound >= limit {
            return None;
        }
        let face = direction((e[1] - e[0]).cross(e[2] - e[0]));
        let (deepest, weights) = self.search(e, Vec3::splat(1.0 / 3.0), (face, radius), SEARCH);
        let at_corner = weights.x.max(weights.y).max(weights.z) > 1.0 - NO_WEIGHT;
        if at_corner || deepest.distance >= limit {
            return None;
        }
        let (normal, depth) = self.way_out(e, (weights, deepest), (face, radius), goal);
        Some(DeepestPoint { weights, normal, depth })
    }

    /// The deepest point of a triangle from the point with `weights` on: projected subgradient descent on the signed
    /// distance, which is convex for convex shapes.
    fn search(&self, e: [Vec3; 3], weights: Vec3, (face, radius): (Vec3, f32), steps: Steps) -> (Sample, Vec3) {
        let mut p = mixed(weights, e);
        let mut near = self.at(p);
        let (count, first, ratio) = steps;
        let (mut deepest, mut step) = ((near, weights), first * radius);
        for _ in 0..count {
            let along = near.normal - face * dot(face, near.normal);
            let l = length(along);
            if l < 1e-4 {
                break;
            }
            let own = closest(PairKind::VertexTriangle, [p - along * (step / l), e[0], e[1], e[2]]).weights;
            let own = Vec3::new(-own.y, -own.z, -own.w);
            p = mixed(own, e);
            near = self.at(p);
            if near.distance < deepest.0.distance {
                deepest = (near, own);
            }
            step *= ratio;
        }
        deepest
    }

    /// The displacement along `normal` at which the deepest point has the distance `goal`; `at` returns the deepest point
    /// after a displacement. Newton's method, then the regula falsi: the distance is convex, so a chord does not lead too
    /// far.
    fn root(&self, start: Sample, goal: f32, normal: Vec3, at: impl Fn(f32) -> Sample) -> f32 {
        let (mut low, mut near) = (0.0, start);
        let mut high: Option<(f32, f32)> = None;
        for _ in 0..EXIT_STEPS {
            let gap = goal - near.distance;
            if gap <= TOLERANCE * self.keep {
                break;
            }
            let slope = match high {
                Some((high, distance)) => (distance - near.distance) / (high - low),
                None => dot(near.normal, normal).max(LEAST_SLOPE),
            };
            let depth = low + gap / slope;
            let there = at(depth);
            if there.distance > goal + TOLERANCE * self.keep {
                high = Some((depth, there.distance));
            } else {
                (low, near) = (depth, there);
            }
        }
        low
    }

    /// The way to the distance `goal`: across the triangle, or beside it from a border of the surface if that is
    /// shorter. Any other way would leave the collider on the other side of the surface. The collider lies on the side
    /// on which the triangle would be deeper.
    fn way_out(
        &self,
        e: [Vec3; 3],
        (weights, deepest): (Vec3, Sample),
        (face, radius): (Vec3, f32),
        goal: f32,
    ) -> (Vec3, f32) {
        if face == Vec3::ZERO {
            return (deepest.normal, goal - deepest.distance);
        }
        let shifted =
            |offset: Vec3| self.search(e.map(|corner| corner + offset), weights, (face, radius), SEARCH_AGAIN).0;
        let shift = face * (SHIFT * radius);
        let ahead = shifted(shift).distance >= shifted(-shift).distance;
        let normal = if ahead { face } else { -face };
        let depth = self.root(deepest, goal, normal, |depth| shifted(normal * depth));
        let opposite = if weights.x < NO_WEIGHT {
            0
        } else if weights.y < NO_WEIGHT {
            1
        } else {
            2
        };
        if weights[opposite] < NO_WEIGHT && self.borders >> opposite & 1 == 1 {
            let edge = direction(e[(opposite + 2) % 3] - e[(opposite + 1) % 3]);
            let beside = direction(deepest.normal - edge * dot(edge, deepest.normal));
            let beside_depth = (goal - deepest.distance) / dot(beside, deepest.normal);
            if beside_depth < depth {
                return (beside, beside_depth);
            }
        }
        (normal, depth)
    }
}

/// v/|v|, or 0.
fn direction(v: Vec3) -> Vec3 {
    let l = length(v);
    if l > 0.0 { v / l } else { Vec3::ZERO }
}
