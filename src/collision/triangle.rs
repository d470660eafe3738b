//! The contact of a triangle with a collider: the deepest point of the triangle, and its exit from the collider.
//! `shaders/collision/collide/triangle.wgsl` is the counterpart, operation by operation.

use super::colliders::ColliderRow;
use super::pair::{PairKind, closest};
use super::shape::{CAPSULE, FIELD, HALF_SPACE, HEIGHTFIELD, SPHERE, Sample, sample};
use crate::geometry::vector::{dot, length};
use glam::Vec3;

/// A search for the deepest point.
#[derive(Clone, Copy)]
struct Steps {
    count: u32,
    /// Length of the first step, as a share of the triangle's radius.
    first: f32,
    /// Ratio of the length of each step to that of the step before.
    ratio: f32,
}

/// The search from the center. The last step has 4.5 % of the radius.
const SEARCH: Steps = Steps { count: 7, first: 0.6, ratio: 0.65 };

/// The search from the deepest point of a triangle that was shifted.
const SEARCH_AGAIN: Steps = Steps { count: 3, first: 0.2, ratio: 0.5 };

/// The shift that shows on which side of the triangle the collider lies, as a share of the triangle's radius.
const SHIFT: f32 = 0.1;

/// Steps of the search for the depth of the exit, and the least slope of the distance for which the first ones are made.
const EXIT_STEPS: u32 = 6;
const LEAST_SLOPE: f32 = 0.1;

/// A triangle is in contact if its deepest point is deeper than its corners, or than the contact distance, by more than this
/// share of the contact distance. The exit ends there: a contact that moved the triangle farther would end and begin again every few
/// substeps.
const SLACK: f32 = 0.05;

/// The depth of the exit is determined within this share of the contact distance, unless it is 0.
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

type Corners = [Vec3; 3];

/// A triangle in the frame of the collider.
#[derive(Clone, Copy)]
struct Face {
    e: Corners,
    /// Unit normal; 0 if the area is 0.
    normal: Vec3,
    /// Largest distance of a corner from the center \[m\].
    radius: f32,
}

/// A point of a triangle: the distance from the collider there, and its barycentric weights.
#[derive(Clone, Copy)]
struct Found {
    near: Sample,
    weights: Vec3,
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
pub(crate) fn mixed(weights: Vec3, e: Corners) -> Vec3 {
    (e[0] * weights.x + e[1] * weights.y) + e[2] * weights.z
}

impl TriangleView<'_> {
    fn sample_at(&self, p: Vec3) -> Sample {
        let own = sample(self.collider, self.data, p, self.keep);
        if self.side < 0.0 {
            return Sample { normal: -own.normal, distance: -own.distance, sure: -own.distance };
        }
        own
    }

    /// The deepest point of a triangle; `None` without a contact. Contacts at a corner are those of the particle.
    ///
    /// A triangle resolves only what its corners leave: it moves to the distance of its deepest corner, less the slack.
    pub fn deepest_point(&self, e: Corners) -> Option<DeepestPoint> {
        let center = ((e[0] + e[1]) + e[2]) * (1.0 / 3.0);
        let radius = e.map(|corner| length(corner - center)).into_iter().fold(0.0, f32::max);
        let first = self.sample_at(center);
        if first.sure >= self.keep + radius {
            return None;
        }
        let goal = e.map(|corner| self.sample_at(corner).distance).into_iter().fold(self.keep, f32::min);
        let limit = goal - SLACK * self.keep;
        // A convex distance is nowhere less than its tangent at the center.
        let is_convex = self.side > 0.0 && !matches!(self.collider.shape, HEIGHTFIELD | FIELD);
        let least = e.map(|corner| dot(first.normal, corner - center)).into_iter().fold(0.0, f32::min);
        let bound = if is_convex { first.distance + least } else { first.sure - radius };
        if bound >= limit {
            return None;
        }
        let face = Face { e, normal: direction((e[1] - e[0]).cross(e[2] - e[0])), radius };
        let found = self.search_deepest(face, Vec3::ZERO, Vec3::splat(1.0 / 3.0), SEARCH);
        let weights = found.weights;
        let at_corner = weights.x.max(weights.y).max(weights.z) > 1.0 - NO_WEIGHT;
        if at_corner || found.near.distance >= limit {
            return None;
        }
        Some(self.with_exit(face, found, limit))
    }

    /// The deepest point of a triangle, shifted by `shift`, from the point with `weights` on: projected subgradient descent
    /// on the signed distance, which is convex for convex shapes.
    fn search_deepest(&self, face: Face, shift: Vec3, weights: Vec3, steps: Steps) -> Found {
        let e = face.e.map(|corner| corner + shift);
        let mut p = mixed(weights, e);
        let mut near = self.sample_at(p);
        let (mut deepest, mut step) = (Found { near, weights }, steps.first * face.radius);
        for _ in 0..steps.count {
            let along = near.normal - face.normal * dot(face.normal, near.normal);
            let l = length(along);
            if l < 1e-4 {
                break;
            }
            let own = closest(PairKind::VertexTriangle, [p - along * (step / l), e[0], e[1], e[2]]).weights;
            let weights = Vec3::new(-own.y, -own.z, -own.w);
            p = mixed(weights, e);
            near = self.sample_at(p);
            if near.distance < deepest.near.distance {
                deepest = Found { near, weights };
            }
            step *= steps.ratio;
        }
        deepest
    }

    /// The displacement along `normal` at which the deepest point has the distance `goal`. Newton's method, then the regula
    /// falsi: the distance is convex, so a chord does not lead too far.
    fn exit_depth(&self, face: Face, start: Found, normal: Vec3, goal: f32) -> f32 {
        let (mut low, mut near) = (0.0, start.near);
        let mut high: Option<(f32, f32)> = None;
        for _ in 0..EXIT_STEPS {
            let gap = goal - near.distance;
            if low > 0.0 && gap <= TOLERANCE * self.keep {
                break;
            }
            let slope = match high {
                Some((high, distance)) => (distance - near.distance) / (high - low),
                None => dot(near.normal, normal).max(LEAST_SLOPE),
            };
            let depth = low + gap / slope;
            let there = self.search_deepest(face, normal * depth, start.weights, SEARCH_AGAIN).near;
            if there.distance <= goal {
                (low, near) = (depth, there);
                continue;
            }
            if there.distance <= goal + TOLERANCE * self.keep {
                return low + gap * ((depth - low) / (there.distance - near.distance));
            }
            high = Some((depth, there.distance));
        }
        low
    }

    /// The deepest point with its exit to the distance `goal`: across the triangle, or beside it from a border of the surface
    /// if that is shorter. In any other direction the collider would end on the other side of the surface. The collider lies
    /// on the side on which the triangle would be deeper.
    fn with_exit(&self, face: Face, found: Found, goal: f32) -> DeepestPoint {
        let Found { near, weights } = found;
        let gap = goal - near.distance;
        if face.normal == Vec3::ZERO {
            return DeepestPoint { weights, normal: near.normal, depth: gap };
        }
        let shift = face.normal * (SHIFT * face.radius);
        let distance = |shift| self.search_deepest(face, shift, weights, SEARCH_AGAIN).near.distance;
        let normal = if distance(shift) >= distance(-shift) { face.normal } else { -face.normal };
        let depth = self.exit_depth(face, found, normal, goal);
        let opposite = if weights.x < NO_WEIGHT {
            0
        } else if weights.y < NO_WEIGHT {
            1
        } else {
            2
        };
        if weights[opposite] < NO_WEIGHT && self.borders >> opposite & 1 == 1 {
            let edge = direction(face.e[(opposite + 2) % 3] - face.e[(opposite + 1) % 3]);
            let beside = direction(near.normal - edge * dot(edge, near.normal));
            let beside_depth = gap / dot(beside, near.normal);
            if beside_depth < depth {
                return DeepestPoint { weights, normal: beside, depth: beside_depth };
            }
        }
        DeepestPoint { weights, normal, depth }
    }
}

/// v/|v|, or 0.
fn direction(v: Vec3) -> Vec3 {
    let l = length(v);
    if l > 0.0 { v / l } else { Vec3::ZERO }
}
