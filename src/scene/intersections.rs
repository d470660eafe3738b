//! Exact test for edges of surfaces that pass through triangles; the tests of contacts use it.
//!
//! The signs of all determinants are exact (Shewchuk's predicates, by the `robust` crate) and never 0. If a determinant
//! is 0, each particle counts as moved by an infinitesimal (simulation of simplicity, Edelsbrunner and Mücke 1990). All
//! tests therefore agree on the same slightly moved surfaces. A sign of 0 as a miss would overlook a surface that
//! crosses exactly at its particles; as a hit, it would report every coplanar pair.

use super::{Scene, too_large};
use crate::error::{Error, Result, check_finite};
use crate::geometry::check_exists;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// The greatest number of pairs that [`Intersections`] lists.
const LISTED_PAIRS: usize = 1000;

/// Triangles per leaf of the tree: a trade-off between depth and box tests.
const LEAF_TRIANGLES: usize = 8;

/// Edges per query. On a grid, a particle has 3 or 4 edges to higher indices; edges of a hub are too far apart for one
/// query.
const FAN_EDGES: usize = 8;

/// Edges of surfaces that pass through triangles; for the definition see [`count_intersections`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Intersections {
    /// The number of pairs of an edge and a triangle.
    pub count: usize,
    /// The first 1000 of them, in ascending order.
    pub pairs: Vec<EdgeTriangle>,
}

/// An edge that passes through a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeTriangle {
    /// The particles of the edge, the lower index first.
    pub edge: [u32; 2],
    /// The index of the triangle, in [`Scene::triangles`] for a scene.
    pub triangle: u32,
}

impl Scene {
    /// Finds the edges of the surfaces that pass through triangles of any surface, at the given positions \[m\]. For
    /// the definition see [`count_intersections`].
    ///
    /// # Errors
    /// The number of positions differs from the number of particles, or a position is not finite.
    pub fn intersections(&self, positions: &[[f32; 3]]) -> Result<Intersections> {
        if positions.len() != self.particle_count() {
            let (left, right) = (positions.len(), self.particle_count());
            return Err(Error::LengthMismatch { what: "positions and particles", left, right });
        }
        count_intersections(positions, &self.triangles)
    }
}

/// Finds the edges of triangles that pass through other triangles, at the given positions \[m\] of their particles.
///
/// Each edge is tested once against each triangle that shares no particle with it.
///
/// - **Crossing**: an edge through the inside of a triangle, with its ends on opposite sides, counts.
/// - **Apart**: an edge at any positive distance from a triangle does not count.
/// - **Touching**: an edge may pass through the border or a corner of a triangle, or end on it. Then an infinitesimal
///   displacement of every particle decides. The displacement is along all axes; its order
///   of magnitude falls with each particle in the order of x, y, z and, for equal positions, index.
/// - **No area**: triangles without area and edges without length never count. A crossing can be missed only if an edge
///   passes exactly through a triangle that has collapsed to a line.
///
/// The displacement is the same for all pairs, so no crossing between two triangles is missed. An edge that passes from
/// one side of a surface to the other exactly through an edge or a particle counts an odd number of times. This number is
/// 1 unless the surface is saddle-shaped there. Surfaces that the displacement does not separate count at least once. Surfaces
/// that only touch may or may not count.
///
/// Particles at the same position are different: the two sides of a seam that is not welded touch along the seam.
///
/// Time is O(n log n) plus the pairs with overlapping bounding boxes; memory is linear.
///
/// # Errors
/// A position is not finite, or a particle of a triangle does not exist.
pub fn count_intersections(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<Intersections> {
    for (index, &position) in positions.iter().enumerate() {
        check_finite(|| format!("position of particle {index}"), position)?;
    }
    if triangles.len() as u64 > u64::from(u32::MAX) {
        return Err(too_large("triangles", triangles.len() as u64));
    }
    for (index, triangle) in triangles.iter().enumerate() {
        check_exists(|| format!("triangle {index}"), "particle", triangle, positions.len())?;
    }

    let points = Points(positions);
    let mut leaves: Vec<Leaf> = (0u32..)
        .zip(triangles)
        .filter(|&(_, &particles)| points.has_area(particles))
        .map(|(triangle, &particles)| Leaf { bounds: points.bounds(particles), particles, triangle })
        .collect();
    let tree = Tree::new(&mut leaves);

    let mut found = Intersections::default();
    let (mut near, mut hits) = (Vec::new(), Vec::new());
    let edges = edges(triangles);
    // The edges of one particle are close to each other, so they share a query.
    for fan in edges.chunk_by(|a, b| a[0] == b[0]).flat_map(|fan| fan.chunks(FAN_EDGES)) {
        let bounds = fan.iter().fold(Bounds::EMPTY, |bounds, &edge| bounds.joined(&points.bounds(edge)));
        near.clear();
        tree.overlapping(&bounds, &mut near);
        for &edge in fan.iter().filter(|edge| positions[edge[0] as usize] != positions[edge[1] as usize]) {
            let bounds = points.bounds(edge);
            let apart = |leaf: &Leaf| !edge.iter().any(|particle| leaf.particles.contains(particle));
            let through = near
                .iter()
                .filter(|leaf| leaf.bounds.overlaps(&bounds) && apart(leaf) && points.cross(edge, leaf.particles));
            hits.extend(through.map(|leaf| leaf.triangle));
            found.count += hits.len();
            // Edges are in ascending order, the results of a query are not.
            hits.sort_unstable();
            let room = LISTED_PAIRS - found.pairs.len();
            found.pairs.extend(hits.drain(..).take(room).map(|triangle| EdgeTriangle { edge, triangle }));
        }
    }
    Ok(found)
}

/// Every edge once, the lower index first, in ascending order.
fn edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> =
        triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

// ------------------------------------------------------------------------------------------------------ predicates

/// Positions and the exact predicates on them. Sums and products of three `f32` coordinates neither overflow nor
/// underflow in `f64`, as the predicates require.
struct Points<'a>(&'a [[f32; 3]]);

impl Points<'_> {
    fn at(&self, particle: u32) -> Coord3D<f64> {
        let [x, y, z] = self.0[particle as usize].map(f64::from);
        Coord3D { x, y, z }
    }

    /// The projection of a particle on two axes.
    fn flat(&self, particle: u32, [x, y]: [usize; 2]) -> Coord<f64> {
        let position = self.0[particle as usize].map(f64::from);
        Coord { x: position[x], y: position[y] }
    }

    fn bounds<const N: usize>(&self, particles: [u32; N]) -> Bounds {
        particles.iter().fold(Bounds::EMPTY, |bounds, &particle| {
            let position = self.0[particle as usize];
            bounds.joined(&Bounds { low: position, high: position })
        })
    }

    fn has_area(&self, triangle: [u32; 3]) -> bool {
        [[0, 1], [1, 2], [2, 0]].into_iter().any(|axes| {
            let [a, b, c] = triangle.map(|particle| self.flat(particle, axes));
            orient2d(a, b, c) != 0.0
        })
    }

    /// Returns true if an edge passes through a triangle that has an area; all five particles must differ.
    fn cross(&self, [p, q]: [u32; 2], [a, b, c]: [u32; 3]) -> bool {
        if self.apart([p, q], [a, b, c]) {
            return false;
        }
        if self.is_positive([a, b, c, p]) == self.is_positive([a, b, c, q]) {
            return false;
        }
        let turn = self.is_positive([p, q, a, b]);
        turn == self.is_positive([p, q, b, c]) && turn == self.is_positive([p, q, c, a])
    }

    /// Returns true if an edge lies beyond one side of a triangle, seen along an axis. This fast test rejects most
    /// coplanar neighbours.
    fn apart(&self, edge: [u32; 2], triangle: [u32; 3]) -> bool {
        [[0, 1], [1, 2], [2, 0]].into_iter().any(|axes| {
            let [a, b, c] = triangle.map(|particle| self.flat(particle, axes));
            let turn = orient2d(a, b, c);
            let ends = edge.map(|particle| self.flat(particle, axes));
            let beyond = |a, b| ends.iter().all(|&end| orient2d(a, b, end) * turn < 0.0);
            turn != 0.0 && (beyond(a, b) || beyond(b, c) || beyond(c, a))
        })
    }

    /// Returns true if the determinant with the rows (x, y, z, 1) of four different particles is positive, false if
    /// negative.
    fn is_positive(&self, particles: [u32; 4]) -> bool {
        let [a, b, c, d] = particles.map(|particle| self.at(particle));
        let determinant = orient3d(a, b, c, d);
        if determinant == 0.0 { self.is_positive_when_moved(particles) } else { determinant > 0.0 }
    }

    /// The sign of a determinant that is 0, with each particle moved by an infinitesimal.
    ///
    /// If ε(r, c) is added to row r and column c, the determinant is a polynomial; its first nonzero term has its sign.
    /// Each ε is much smaller than any product of the previous ones, so the terms are ordered by `moved`, whose base-4
    /// digits select the ε of each row. The 27th term is a product of ε alone and ends the search.
    fn is_positive_when_moved(&self, mut rows: [u32; 4]) -> bool {
        let mut odd = false;
        for end in (1..4).rev() {
            for k in 0..end {
                let [a, b] = [rows[k], rows[k + 1]];
                // Sorting by position first makes the result independent of the numbering of particles.
                if (self.0[a as usize], a) > (self.0[b as usize], b) {
                    rows.swap(k, k + 1);
                    odd = !odd;
                }
            }
        }
        let sign =
            (1..=27).map(|moved| self.term(rows, [moved & 3, moved >> 2 & 3, moved >> 4, 0])).find(|&t| t != 0.0);
        sign.is_some_and(|sign| (sign > 0.0) != odd)
    }

    /// The signed coefficient of a product of infinitesimals: one of column `moved[r]` − 1 from each row r with a
    /// nonzero entry. The remaining minor, without these rows and columns, is exact.
    fn term(&self, rows: [u32; 4], moved: [usize; 4]) -> f64 {
        let (mut columns, mut left) = ([0, 1, 2], 3);
        let mut sign = 1.0;
        // From the last row on, so that earlier rows keep their index.
        for r in (0..4).rev().filter(|&r| moved[r] > 0) {
            let Some(at) = columns[..left].iter().position(|&column| column + 1 == moved[r]) else {
                return 0.0; // Two rows cannot contribute the same column.
            };
            columns.copy_within(at + 1..left, at);
            left -= 1;
            sign = if (r + at) % 2 == 0 { sign } else { -sign };
        }
        let mut kept = [0; 3];
        kept.iter_mut().zip((0..4).filter(|&r| moved[r] == 0)).for_each(|(kept, r)| *kept = rows[r]);
        let axes = [columns[0], columns[1]];
        let [a, b, c] = kept.map(|particle| self.flat(particle, axes));
        sign * match left {
            2 => orient2d(a, b, c),
            1 => a.x - b.x,
            _ => 1.0,
        }
    }
}

// ------------------------------------------------------------------------------------------------------ bounding boxes

/// An axis-aligned box \[m\] including its faces: boxes that touch overlap.
#[derive(Clone, Copy)]
struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
}

impl Bounds {
    const EMPTY: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    fn joined(&self, other: &Self) -> Self {
        Self {
            low: std::array::from_fn(|axis| self.low[axis].min(other.low[axis])),
            high: std::array::from_fn(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        // Evaluated without branches for speed.
        (0..3).fold(true, |all, axis| all & (self.low[axis] <= other.high[axis]) & (other.low[axis] <= self.high[axis]))
    }

    /// Halved before the addition, because the sum could overflow.
    fn middle(&self, axis: usize) -> f32 {
        0.5 * self.low[axis] + 0.5 * self.high[axis]
    }
}

struct Leaf {
    bounds: Bounds,
    particles: [u32; 3],
    triangle: u32,
}

struct Node {
    bounds: Bounds,
    /// The next node outside this subtree.
    next: u32,
    /// The triangles of a leaf; `count` is 0 in other nodes.
    first: u32,
    count: u32,
}

/// A bounding volume hierarchy of triangles in depth-first order. Unlike a grid, it handles huge triangles and distant
/// particles at low cost.
struct Tree<'a> {
    nodes: Vec<Node>,
    leaves: &'a [Leaf],
}

impl<'a> Tree<'a> {
    fn new(leaves: &'a mut [Leaf]) -> Self {
        let mut nodes = Vec::with_capacity(leaves.len());
        if !leaves.is_empty() {
            grow(&mut nodes, leaves, 0);
        }
        Self { nodes, leaves }
    }

    fn overlapping(&self, bounds: &Bounds, found: &mut Vec<&'a Leaf>) {
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            if node.bounds.overlaps(bounds) {
                let range = node.first as usize..(node.first + node.count) as usize;
                found.extend(self.leaves[range].iter().filter(|leaf| leaf.bounds.overlaps(bounds)));
                index += 1;
            } else {
                index = node.next as usize;
            }
        }
    }
}

/// Appends the subtree of a range of triangles that starts at index `first`. It splits at the median along the axis of
/// greatest spread of the centres, so its depth is logarithmic.
fn grow(nodes: &mut Vec<Node>, leaves: &mut [Leaf], first: u32) {
    let index = nodes.len();
    let bounds = leaves.iter().fold(Bounds::EMPTY, |bounds, leaf| bounds.joined(&leaf.bounds));
    let bottom = leaves.len() <= LEAF_TRIANGLES;
    nodes.push(Node { bounds, next: 0, first, count: if bottom { leaves.len() as u32 } else { 0 } });
    if !bottom {
        let middles = leaves.iter().fold(Bounds::EMPTY, |bounds, leaf| {
            let middle = [0, 1, 2].map(|axis| leaf.bounds.middle(axis));
            bounds.joined(&Bounds { low: middle, high: middle })
        });
        let spread = |axis: usize| middles.high[axis] - middles.low[axis];
        let axis = (1..3).fold(0, |best, axis| if spread(axis) > spread(best) { axis } else { best });
        let half = leaves.len() / 2;
        leaves.select_nth_unstable_by(half, |a, b| a.bounds.middle(axis).total_cmp(&b.bounds.middle(axis)));
        let (left, right) = leaves.split_at_mut(half);
        grow(nodes, left, first);
        grow(nodes, right, first + half as u32);
    }
    nodes[index].next = nodes.len() as u32;
}
