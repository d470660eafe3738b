//! Which edges of surfaces pass through which triangles, exactly: the judge of how well contacts hold surfaces apart.
//!
//! The signs of all determinants are exact (Shewchuk's predicates, by the `robust` crate), and none is ever 0: where one would be,
//! each particle counts as moved by an infinitesimal (simulation of simplicity, Edelsbrunner and Mücke 1990). So an edge passes
//! through a triangle or it does not, there is no third case, and all tests agree about the same slightly moved surfaces. Rejected:
//! a sign of 0 as a miss (a curtain that stands with a row of particles in the plane of a sheet would pass through it
//! unseen) and as a hit (whatever lies in one plane would cross).

use super::{Scene, too_large};
use crate::error::{Error, Result, check_finite};
use robust::{Coord, Coord3D, orient2d, orient3d};

/// How many pairs [`Intersections`] lists.
const LISTED_PAIRS: usize = 1000;

/// Triangles in a leaf of the tree: with fewer the tree is walked longer, with more there are more boxes to compare.
const LEAF_TRIANGLES: usize = 8;

/// How many edges are sought at once: on a grid a particle has 3 or 4 of its own; those of a hub lie far apart.
const FAN_EDGES: usize = 8;

/// The edges of surfaces that pass through triangles; see [`count_intersections`] for what counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Intersections {
    /// How many pairs of an edge and a triangle there are.
    pub count: usize,
    /// The first of them, up to 1000, in ascending order.
    pub pairs: Vec<EdgeTriangle>,
}

/// An edge that passes through a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeTriangle {
    /// The particles of the edge, the lower index first.
    pub edge: [u32; 2],
    /// The triangle in the list of triangles, [`Scene::triangles`] for a scene.
    pub triangle: u32,
}

impl Scene {
    /// Which edges of the surfaces pass through which triangles, of their own surface or another, at the given positions \[m\].
    /// [`count_intersections`] says what counts.
    ///
    /// # Errors
    /// The positions must be as many as the particles, and finite.
    pub fn intersections(&self, positions: &[[f32; 3]]) -> Result<Intersections> {
        if positions.len() != self.particle_count() {
            let (left, right) = (positions.len(), self.particle_count());
            return Err(Error::LengthMismatch { what: "positions and particles", left, right });
        }
        count_intersections(positions, &self.triangles)
    }
}

/// Which edges of the triangles pass through which triangles, at the given positions \[m\] of their particles.
///
/// Each edge, once, is held against each triangle that shares no particle with it.
///
/// - **Crossing**: an edge that passes through the inside of a triangle, its ends on either side, counts.
/// - **Apart**: an edge at any distance from a triangle, however small, does not count.
/// - **Touching**: an edge that runs through the border or a corner of a triangle, or ends on it, counts or not as it would if every
///   particle were moved by an infinitesimal along all axes, by much less the later it comes in the order of x, y, z and (only at the
///   same place) index. The same displacement holds for all pairs, so no crossing falls between two triangles: an edge
///   that passes from one side of a surface to the other exactly through an edge or a particle of it counts an odd number of
///   times (once, unless the surface is creased like a saddle there), and surfaces that such a displacement cannot part count at
///   least once. Surfaces that only touch, at a distance of exactly 0, can count or not.
/// - **Without area**: triangles that have no area, and edges that have no length, never count. Only where an edge passes exactly through
///   a triangle that has collapsed to a line can a crossing be missed.
///
/// Particles at the same place are still different ones: the two sides of a seam that is not welded touch all along it.
///
/// The time is that of sorting, about, and of the pairs whose bounding boxes overlap; memory is linear.
///
/// # Errors
/// Positions must be finite, the particles of the triangles must exist.
pub fn count_intersections(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<Intersections> {
    for (index, &position) in positions.iter().enumerate() {
        check_finite(|| format!("position of particle {index}"), position)?;
    }
    if triangles.len() as u64 > u64::from(u32::MAX) {
        return Err(too_large("triangles", triangles.len() as u64));
    }
    for (index, triangle) in triangles.iter().enumerate() {
        if let Some(&particle) = triangle.iter().find(|&&particle| particle as usize >= positions.len()) {
            return Err(Error::IndexOutOfRange {
                what: format!("triangle {index}"),
                target: "particle",
                index: particle.into(),
                count: positions.len() as u64,
            });
        }
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
    // The edges of one particle lie near each other: the tree is walked once for all of them.
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
            // The edges ascend already; what the tree yields does not.
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

/// Positions and the exact predicates on them. No sum or product of three coordinates of `f32` leaves the range of `f64`, at
/// neither end, which is all that the predicates ask.
struct Points<'a>(&'a [[f32; 3]]);

impl Points<'_> {
    fn at(&self, particle: u32) -> Coord3D<f64> {
        let [x, y, z] = self.0[particle as usize].map(f64::from);
        Coord3D { x, y, z }
    }

    /// A particle without one or two of its axes.
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

    /// Whether an edge passes through a triangle that has an area; no two of the five particles are the same.
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

    /// Whether an edge lies beyond one side of a triangle, seen along an axis: quick, and all that most neighbours in one plane need.
    fn apart(&self, edge: [u32; 2], triangle: [u32; 3]) -> bool {
        [[0, 1], [1, 2], [2, 0]].into_iter().any(|axes| {
            let [a, b, c] = triangle.map(|particle| self.flat(particle, axes));
            let turn = orient2d(a, b, c);
            let ends = edge.map(|particle| self.flat(particle, axes));
            let beyond = |a, b| ends.iter().all(|&end| orient2d(a, b, end) * turn < 0.0);
            turn != 0.0 && (beyond(a, b) || beyond(b, c) || beyond(c, a))
        })
    }

    /// Whether the determinant with the rows (x, y, z, 1) of four different particles is positive; otherwise it is negative.
    fn is_positive(&self, particles: [u32; 4]) -> bool {
        let [a, b, c, d] = particles.map(|particle| self.at(particle));
        let determinant = orient3d(a, b, c, d);
        if determinant == 0.0 { self.is_positive_when_moved(particles) } else { determinant > 0.0 }
    }

    /// The same where the determinant is 0, each particle moved by an infinitesimal.
    ///
    /// With ε(r, c) added to row r and column c the determinant is a polynomial, whose first term that is not 0 has its sign. Each ε is
    /// much smaller than any product of those before it, so the terms stand in the order of the numbers `moved` below, whose
    /// digits say which ε each row gives to the product. The 27th is a product of ε alone and ends the search.
    fn is_positive_when_moved(&self, mut rows: [u32; 4]) -> bool {
        let mut odd = false;
        for end in (1..4).rev() {
            for k in 0..end {
                let [a, b] = [rows[k], rows[k + 1]];
                // The place comes first, so that the numbering of the particles does not matter.
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

    /// The coefficient of a product of infinitesimals, of right sign: one of column `moved[r]` − 1 from each row r where that is not 0.
    /// What is left when these rows and columns are struck out is again exact.
    fn term(&self, rows: [u32; 4], moved: [usize; 4]) -> f64 {
        let (mut columns, mut left) = ([0, 1, 2], 3);
        let mut sign = 1.0;
        // From the last row, so that the rows before still stand at their places.
        for r in (0..4).rev().filter(|&r| moved[r] > 0) {
            let Some(at) = columns[..left].iter().position(|&column| column + 1 == moved[r]) else {
                return 0.0; // Two rows cannot give the same column.
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

/// A box along the axes \[m\], its faces included: what touches overlaps.
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
        // Without a branch for each face: it takes two thirds of the time.
        (0..3).fold(true, |all, axis| all & (self.low[axis] <= other.high[axis]) & (other.low[axis] <= self.high[axis]))
    }

    /// Halved before they are added: the sum could leave the range of `f32`.
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
    /// The first node that is not below this one.
    next: u32,
    /// Its triangles; none, unless it is at the bottom.
    first: u32,
    count: u32,
}

/// Bounding boxes of triangles, each node before what is below it. A tree rather than a grid of cells: neither one huge triangle nor
/// particles that are far astray cost it more than a few boxes.
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

/// Appends the tree of some triangles, of which `first` is the index of the first: halves of equal count along the axis in which their
/// middles are spread most, so it is never deeper than the logarithm of their number.
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
