//! Triangulation of the polygons of an OBJ: convex or concave, with collinear corners, planar or slightly warped.
//!
//! The polygon is projected along the dominant axis of its Newell normal. The projection drops one coordinate, so
//! corners that are collinear in space stay exactly collinear, and the orientation tests are exact. If the projected
//! polygon is not simple, the polygon is projected onto the Newell plane instead. The triangulation uses all corners
//! and no other points. No triangle edge passes through a collinear corner, so adjacent faces share whole edges.

use crate::geometry::is_degenerate;
use glam::{DVec2, DVec3};
use robust::{Coord, orient2d};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};
use std::collections::HashMap;

/// A triangle of three corners of a quad is well shaped if its area is greater than this, in units of the square of its
/// longest edge. Thinner triangles come from corners that are collinear up to rounding.
const LEAST_AREA: f64 = 1e-3;

/// Returns n − 2 triangles of an n-gon, as corner indices from 0, with the winding of the polygon.
pub(super) fn triangulate(positions: &[[f32; 3]], face: &[u32]) -> Result<Vec<[u32; 3]>, String> {
    check_distinct(positions, face)?;
    // The area of a triangle of the file is not checked here, because lattices accept degenerate triangles.
    if face.len() == 3 {
        return Ok(vec![[0, 1, 2]]);
    }
    let corners: Vec<DVec3> =
        face.iter().map(|&vertex| DVec3::from(positions[vertex as usize].map(f64::from))).collect();
    let normal = newell_normal(&corners);
    if normal == DVec3::ZERO {
        return Err(Fault::Flat.of(face));
    }
    let triangles = triangulate_simple(&along_axis(&corners, normal))
        .or_else(|fault| triangulate_simple(&along_normal(&corners, normal)).map_err(|_| fault))
        .map_err(|fault| fault.of(face))?;
    for &triangle in &triangles {
        let vertices = triangle.map(|corner| face[corner as usize]);
        if is_degenerate(vertices.map(|vertex| positions[vertex as usize])) {
            return Err(format!("the vertices {} have no area between them", numbers(&vertices)));
        }
    }
    Ok(triangles)
}

/// The vertex numbers as in the file, from 1.
fn numbers(vertices: &[u32]) -> String {
    let numbers: Vec<String> = vertices.iter().map(|vertex| (vertex + 1).to_string()).collect();
    numbers.join(", ")
}

/// Returns an error if a vertex occurs twice or, in a face of more than three corners, a position occurs twice.
fn check_distinct(positions: &[[f32; 3]], face: &[u32]) -> Result<(), String> {
    let repeated = |vertex: u32| Err(format!("a face names vertex {} twice", vertex + 1));
    if let &[a, b, c] = face {
        return if a == b || a == c {
            repeated(a)
        } else if b == c {
            repeated(b)
        } else {
            Ok(())
        };
    }
    let mut seen = HashMap::with_capacity(face.len());
    for &vertex in face {
        // +0 and −0 are the same coordinate.
        let place = positions[vertex as usize].map(|coordinate| (coordinate + 0.0).to_bits());
        match seen.insert(place, vertex) {
            None => {}
            Some(other) if other == vertex => return repeated(vertex),
            Some(other) => {
                return Err(format!("a face names vertices {} and {} at the same position", other + 1, vertex + 1));
            }
        }
    }
    Ok(())
}

/// Twice the vector area of the polygon (Newell), relative to its first corner.
fn newell_normal(corners: &[DVec3]) -> DVec3 {
    let from_first = |corner: usize| corners[corner] - corners[0];
    (1..corners.len() - 1).map(|corner| from_first(corner).cross(from_first(corner + 1))).sum()
}

/// Projects by dropping the coordinate in which the normal is largest; the result is counterclockwise.
fn along_axis(corners: &[DVec3], normal: DVec3) -> Vec<DVec2> {
    let axis = normal.abs().max_position();
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let (u, v) = if normal[axis] < 0.0 { (v, u) } else { (u, v) };
    corners.iter().map(|corner| DVec2::new(corner[u], corner[v])).collect()
}

/// Projects onto the Newell plane; the result is counterclockwise.
fn along_normal(corners: &[DVec3], normal: DVec3) -> Vec<DVec2> {
    let (u, v) = normal.try_normalize().unwrap_or(DVec3::Z).any_orthonormal_pair();
    corners.iter().map(|corner| DVec2::new((corner - corners[0]).dot(u), (corner - corners[0]).dot(v))).collect()
}

/// The reason why a polygon has no triangulation, with corner indices.
enum Fault {
    Flat,
    Overlap(u32, u32),
    OnVertex([u32; 2]),
    Crossing([u32; 2]),
    /// A coordinate is outside of the range of the triangulation; the message is spade's.
    OutOfRange(String),
}

impl Fault {
    fn of(self, face: &[u32]) -> String {
        let name = |corner: u32| face[corner as usize] + 1;
        match self {
            Self::Flat => "a face has no area, or crosses itself".into(),
            Self::Overlap(a, b) => {
                format!("a face is folded: vertices {} and {} coincide in its plane", name(a), name(b))
            }
            Self::OnVertex([a, b]) => {
                format!("a face crosses itself: a vertex lies on its edge between vertices {} and {}", name(a), name(b))
            }
            Self::Crossing([a, b]) => {
                format!("a face crosses itself at its edge between vertices {} and {}", name(a), name(b))
            }
            Self::OutOfRange(message) => format!("a face has no triangulation: {message}"),
        }
    }
}

/// Triangulates a simple counterclockwise polygon.
fn triangulate_simple(points: &[DVec2]) -> Result<Vec<[u32; 3]>, Fault> {
    if points.len() == 4 && is_plain_quad(points) {
        return Ok(vec![[0, 1, 2], [0, 2, 3]]);
    }
    delaunay(points)
}

/// Twice the signed area of a triangle, with the exact sign.
fn orientation(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    orient2d(coord(a), coord(b), coord(c))
}

/// Returns true if the four triangles of three corners each are well shaped; the quad is then convex.
fn is_plain_quad(points: &[DVec2]) -> bool {
    let well_shaped = |[a, b, c]: [usize; 3]| {
        let [a, b, c] = [a, b, c].map(|corner| points[corner]);
        let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
        0.5 * orientation(a, b, c) > LEAST_AREA * longest
    };
    [[0, 1, 2], [0, 2, 3], [1, 2, 3], [3, 0, 1]].into_iter().all(well_shaped)
}

/// The constrained Delaunay triangulation of the interior of the polygon.
fn delaunay(points: &[DVec2]) -> Result<Vec<[u32; 3]>, Fault> {
    // The smallest f32 values are below the range that spade accepts. Scaling by a power of two is exact.
    const SCALE: f64 = (1u64 << 40) as f64;
    let count = points.len();
    let vertices: Vec<Point2<f64>> = points.iter().map(|p| Point2::new(p.x * SCALE, p.y * SCALE)).collect();
    let edges: Vec<[usize; 2]> = (0..count).map(|corner| [corner, (corner + 1) % count]).collect();
    if let Some((a, b)) = coincident(points) {
        return Err(Fault::Overlap(a, b));
    }
    let mut crossing = None;
    let on_conflict = |edge: [usize; 2]| crossing = crossing.or(Some(edge.map(|corner| corner as u32)));
    let cdt = ConstrainedDelaunayTriangulation::<Point2<f64>>::try_bulk_load_cdt(vertices, edges.clone(), on_conflict)
        .map_err(|error| Fault::OutOfRange(error.to_string()))?;
    if let Some(edge) = crossing {
        return Err(Fault::Crossing(edge));
    }
    let handle = spade::handles::FixedVertexHandle::from_index;
    let mut stack = Vec::with_capacity(count);
    for [from, to] in edges {
        // If the edge passes through a vertex, the triangulation has split it into two edges.
        let edge = cdt.get_edge_from_neighbors(handle(from), handle(to)).filter(|edge| edge.is_constraint_edge());
        let edge = edge.ok_or(Fault::OnVertex([from as u32, to as u32]))?;
        stack.push(edge.fix());
    }
    // The interior is on the left of each edge.
    let mut inside = vec![false; cdt.num_all_faces()];
    let mut triangles = Vec::with_capacity(count - 2);
    while let Some(edge) = stack.pop() {
        let Some(face) = cdt.directed_edge(edge).face().as_inner() else { return Err(Fault::Flat) };
        if std::mem::replace(&mut inside[face.fix().index()], true) {
            continue;
        }
        triangles.push(face.vertices().map(|vertex| vertex.fix().index() as u32));
        stack.extend(
            face.adjacent_edges().iter().filter(|edge| !edge.is_constraint_edge()).map(|edge| edge.rev().fix()),
        );
    }
    if triangles.len() != count - 2 {
        return Err(Fault::Flat);
    }
    // The result does not depend on the order in which the faces were visited.
    triangles.iter_mut().for_each(|triangle| {
        let least = (0..3).min_by_key(|&corner| triangle[corner]).unwrap_or(0);
        triangle.rotate_left(least);
    });
    triangles.sort_unstable();
    Ok(triangles)
}

/// Finds two corners at the same point of the plane.
fn coincident(points: &[DVec2]) -> Option<(u32, u32)> {
    let mut seen = HashMap::with_capacity(points.len());
    (0..).zip(points).find_map(|(corner, point)| {
        let place = [point.x + 0.0, point.y + 0.0].map(f64::to_bits);
        seen.insert(place, corner).map(|other| (other, corner))
    })
}
