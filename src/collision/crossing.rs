//! Edges that pass through triangles, and the direction that resolves the intersection. `shaders/common/crossing.wgsl`
//! is the counterpart, operation by operation.
//!
//! The first two of five points are an edge, the others a triangle.

use crate::geometry::vector::{dot, length};
use glam::{Vec3, Vec4};

/// Stands for the third corner of the missing second triangle at a boundary edge.
pub(crate) const NO_WING: u32 = u32::MAX;

/// The bit that marks particles of an intersection with a body. Two bodies may share a bit.
pub(crate) fn mark(body: u32) -> u32 {
    1 << (body.wrapping_mul(2_654_435_769) >> 27)
}

/// The point where an edge passes through a triangle, as weights of the triangle's corners.
///
/// Arithmetic is rounded, so the result is unreliable within the rounding error; [`crate::count_intersections`] is
/// exact.
pub(crate) fn edge_crossing(p: [Vec3; 5]) -> Option<[f32; 3]> {
    let [ab, ac, first, second] = [p[3] - p[2], p[4] - p[2], p[0] - p[2], p[1] - p[2]];
    let normal = ab.cross(ac);
    let (above, below) = (dot(normal, first), dot(normal, second));
    if (above > 0.0) == (below > 0.0) {
        return None;
    }
    let q = first + (p[1] - p[0]) * (above / (above - below));
    let square = dot(normal, normal);
    let v = dot(q.cross(ac), normal) / square;
    let w = dot(ab.cross(q), normal) / square;
    (v >= 0.0 && w >= 0.0 && v + w <= 1.0).then_some([1.0 - (v + w), v, w])
}

/// The direction in which an edge that passes through a triangle must move to shorten the intersection contour. It is
/// twice the edge's share of the gradient of the contour length (Volino, Magnenat-Thalmann 2006, *Resolving Surface
/// Collisions through Intersection Contour Minimization*). `wings` are the third corners of the one or two triangles at
/// the edge.
///
/// The contour continues from the edge into each of these triangles, along a direction r in the plane of the
/// intersected triangle, of normal n. If the edge, of direction e, moves by δ, its intersection moves by δ − e
/// (n·δ)/(n·e). Over the edges of both surfaces, each relative to the other, Σ r appears twice, so the sum of r − 2 n
/// (e·r)/(n·e) is twice the gradient.
pub(crate) fn exit_direction(p: [Vec3; 5], wings: impl Iterator<Item = Vec3>) -> Vec3 {
    let normal = (p[3] - p[2]).cross(p[4] - p[2]);
    let normal = normal / length(normal);
    let edge = p[1] - p[0];
    let edge = edge / length(edge);
    let steepness = dot(edge, normal);
    let mut sum = Vec3::ZERO;
    for wing in wings {
        let side = wing - p[0];
        let line = normal.cross(edge.cross(side));
        let l = length(line);
        if l > 0.0 {
            let into = side - edge * dot(edge, side);
            let line = if dot(line, into) < 0.0 { -line } else { line } / l;
            sum += line - normal * (2.0 * (dot(edge, line) / steepness));
        }
    }
    sum
}

/// The weights of the constraint that pushes a particle of an edge out of a triangle: the particle, then the corners.
pub(crate) fn push(weights: [f32; 3]) -> Vec4 {
    let [u, v, w] = weights;
    Vec4::new(1.0, -u, -v, -w)
}
