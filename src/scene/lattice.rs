//! Tetrahedral lattice around a closed triangle surface. The lattice is simulated with few, well-shaped elements; the
//! surface of any resolution follows it.
//!
//! Cubes of equal size cover the bounding box of the surface. Cubes that the surface passes through, and cubes inside,
//! are kept. Each is cut into five tetrahedra: a regular one in the middle, whose corners are the vertices of even
//! index sum, and one at each other corner. Parity is global, so the diagonals of neighbouring cubes match.
//!
//! Five tetrahedra instead of Kuhn's six give fewer elements (5 : 6) and edges (6 : 7 per vertex), better shapes, and
//! no common body diagonal that would be stiffer. Vertices have either 18 or 6 edges.
//!
//! Embedding a fine surface in a coarse lattice: Sederberg and Parry, "Free-Form Deformation of Solid Geometric Models"
//! (1986); Müller and Gross, "Interactive Virtual Materials" (2004).

#[cfg(test)]
mod tests;
mod volume;

use crate::error::{Error, Result, check_finite, check_positive};
use crate::geometry::{check_closed, check_indices};
use glam::DVec3;
use std::collections::{HashMap, HashSet};

/// The greatest number of cubes over the bounding box of a surface, including removed ones.
const CUBE_LIMIT: u64 = 20_000_000;

/// The least spacing relative to the largest coordinate; a smaller one would distort the lattice by `f32` rounding.
const LEAST_SPACING: f64 = 1e-5;

/// The corners of the five tetrahedra of a cube whose lowest corner has an even index sum (`[0]`) or an odd one
/// (`[1]`), all positively oriented. Bit 0 of a corner is its step along x, bit 1 along y, bit 2 along z. The first
/// four tetrahedra lie at their first corner, the two at the bottom (low z) before the two at the top; the fifth is the
/// middle one.
const CUTS: [[[usize; 4]; 5]; 2] = [
    [[1, 0, 5, 3], [2, 3, 6, 0], [4, 5, 0, 6], [7, 6, 3, 5], [0, 5, 3, 6]],
    [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]],
];

/// A tetrahedral lattice that encloses a closed surface, and the embedding of the surface.
///
/// Vertices, cubes and tetrahedra are sorted by position, x first, z last. The same input gives a bitwise identical
/// lattice.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    /// The lattice vertices \[m\]; each is a corner of a tetrahedron.
    pub positions: Vec<[f32; 3]>,
    /// The tetrahedra, as lattice vertex indices, five consecutive ones per cube. All are positively oriented: (x1 −
    /// x0) · ((x2 − x0) × (x3 − x0)) > 0.
    pub tetrahedra: Vec<[u32; 4]>,
    /// The embedding of each surface vertex in the lattice.
    pub embedding: Vec<Embedded>,
    /// The fraction of each tetrahedron's volume inside the surface, in [`Lattice::LEAST_FILL`]..=1. Exact except for
    /// rounding and the lower bound.
    pub fill: Vec<f32>,
    /// The volume that the surface encloses \[m³\]. The sum of fill · volume over the tetrahedra is slightly greater
    /// because of [`Lattice::LEAST_FILL`]; masses can be scaled accordingly.
    pub volume: f32,
}

/// The embedding of a surface vertex in a [`Lattice`]: Σ weights\[i\] · positions\[particles\[i\]\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Embedded {
    /// The lattice vertices of the tetrahedron that contains it.
    pub particles: [u32; 4],
    /// Its barycentric coordinates, each in 0..=1; their sum is 1 except for rounding.
    pub weights: [f32; 4],
}

impl Lattice {
    /// The lower bound of [`Lattice::fill`]. It prevents massless lattice vertices, whose tetrahedra all lie outside
    /// the body. Small masses remain: about one in ten vertices of a sphere has less than 0.01 of the mean mass. If
    /// contacts act on lattice vertices, use fills of at least 0.1, scaled to [`Lattice::volume`].
    pub const LEAST_FILL: f32 = 1e-4;

    /// Builds a lattice of cubes of `spacing` \[m\] around the surface of `positions` \[m\] and `triangles`.
    ///
    /// - The lattice is centred on the bounding box.
    /// - A point is inside if the winding number of the surface is positive there. Cavities with inward-facing walls
    ///   stay empty, and overlapping parts count once (except for tetrahedra at the rim of an overlap).
    /// - A surface of negative volume is treated as reversed. All components should face the same way.
    /// - Parts that share a cube move together, so parts less than a cube apart may fuse. Cubes that share only an edge
    ///   or a vertex are hinged there.
    /// - Cubes that the surface enters by less than the rounding of `f32` coordinates do not count as entered.
    /// - A vertex of no triangle is tied to the first lattice vertex.
    ///
    /// Time is proportional to the cubes over the bounding box plus the cubes of each triangle.
    ///
    /// # Errors
    /// - The mesh has no vertices or triangles, a position is not finite, an index is out of range, or a triangle
    ///   repeats an index.
    /// - [`Error::OpenSurface`]: an edge does not have exactly one triangle in each direction. Weld vertices that are
    ///   duplicated along seams first.
    /// - The surface encloses no volume.
    /// - `spacing` is not positive or is less than 1e-5 of the largest coordinate, or more than 20 million cubes cover
    ///   the bounding box.
    pub fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]], spacing: f32) -> Result<Self> {
        check_positive("spacing of a lattice", spacing)?;
        check_surface(positions, triangles)?;
        let grid = Grid::new(positions, spacing)?;
        let volume = enclosed_volume(positions, triangles, grid.centre)?;
        let points: Vec<DVec3> = positions.iter().map(|&position| grid.place(position)).collect();
        let mut cubes = volume::inside_cubes(&grid, &points, triangles, volume.signum());

        let homes = keep_homes(&grid, &points, triangles, &mut cubes);
        let mut numbers = vec![u32::MAX; grid.vertex_count()];
        for cube in &cubes {
            for corner in 0..8 {
                numbers[grid.vertex(cube.at, corner)] = 0;
            }
        }
        let mut vertices = Vec::new();
        for (vertex, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number == 0) {
            *number = vertices.len() as u32;
            vertices.push(grid.vertex_position(vertex));
        }

        let tetrahedra = cubes.iter().flat_map(|cube| {
            let numbers = &numbers;
            CUTS[cube_parity(cube.at)].iter().map(move |cut| cut.map(|corner| numbers[grid.vertex(cube.at, corner)]))
        });
        let embedding = points.iter().zip(homes).map(|(&point, home)| match home {
            None => Embedded { particles: [0; 4], weights: [1.0, 0.0, 0.0, 0.0] },
            Some(home) => {
                let (cut, weights) = embed(point - DVec3::from(home.map(f64::from)), cube_parity(home));
                Embedded { particles: cut.map(|corner| numbers[grid.vertex(home, corner)]), weights }
            }
        });
        Ok(Self {
            tetrahedra: tetrahedra.collect(),
            embedding: embedding.collect(),
            fill: cubes.iter().flat_map(|cube| cube.fill).map(|fill| fill.clamp(Self::LEAST_FILL, 1.0)).collect(),
            positions: vertices,
            volume: volume.abs() as f32,
        })
    }
}

/// The edges of tetrahedra, each once, lower index first, in order of first use.
pub fn edges(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let mut seen = HashSet::with_capacity(tetrahedra.len() * 3 / 2);
    let named = tetrahedra.iter().flat_map(|&[a, b, c, d]| [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]);
    named.map(|[a, b]| [a.min(b), a.max(b)]).filter(|&edge| seen.insert(edge)).collect()
}

/// The faces of exactly one tetrahedron, in the order of the tetrahedra. Faces of positively oriented tetrahedra are
/// counterclockwise seen from outside.
pub fn boundary_triangles(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let faces = || tetrahedra.iter().flat_map(|&[a, b, c, d]| [[b, c, d], [a, d, c], [a, b, d], [a, c, b]]);
    let key = |mut face: [u32; 3]| {
        face.sort_unstable();
        face
    };
    let mut counts: HashMap<[u32; 3], u32> = HashMap::with_capacity(tetrahedra.len() * 5 / 2);
    for face in faces() {
        *counts.entry(key(face)).or_default() += 1;
    }
    faces().filter(|&face| counts.get(&key(face)) == Some(&1)).collect()
}

/// The grid of cubes over the bounding box. In grid coordinates, cube (i, j, k) extends from (i, j, k) to (i + 1, j +
/// 1, k + 1).
#[derive(Debug, Clone, Copy)]
struct Grid {
    centre: DVec3,
    spacing: f64,
    /// Cubes along each axis; at least 1.
    cells: [u32; 3],
    /// The error of coordinates by `f32` rounding, in cubes; below 0.01.
    tolerance: f64,
}

impl Grid {
    fn new(positions: &[[f32; 3]], spacing: f32) -> Result<Self> {
        let points = positions.iter().map(|position| DVec3::from(position.map(f64::from)));
        let (low, high) =
            points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), point| (low.min(point), high.max(point)));
        let largest = low.abs().max(high.abs()).max_element();
        let size = f64::from(spacing);
        if size < LEAST_SPACING * largest {
            let expected =
                "at least 1e-5 of the largest coordinate; move the surface to the origin or use larger cubes";
            return Err(Error::invalid("spacing of a lattice", spacing, expected));
        }
        let tolerance = 2.0 * f64::from(f32::EPSILON) * largest / size + 1e-9;
        // A surface of a whole number of cubes must not get an extra cube by rounding.
        let cells = ((high - low) / size - tolerance).ceil().max(DVec3::ONE);
        let count = cells.x * cells.y * cells.z;
        if count > CUBE_LIMIT as f64 {
            return Err(Error::TooLarge { what: "cubes of a lattice", count: count as u64, limit: CUBE_LIMIT });
        }
        let grid =
            Self { centre: 0.5 * (low + high), spacing: size, cells: cells.to_array().map(|n| n as u32), tolerance };
        for vertex in [0, grid.vertex_count() - 1] {
            check_finite(|| "corner of a lattice".into(), grid.vertex_position(vertex))?;
        }
        Ok(grid)
    }

    fn cells_f64(&self) -> DVec3 {
        DVec3::from(self.cells.map(f64::from))
    }

    /// The position of a surface vertex in grid coordinates, clamped to the grid.
    fn place(&self, position: [f32; 3]) -> DVec3 {
        let cells = self.cells_f64();
        let point = (DVec3::from(position.map(f64::from)) - self.centre) / self.spacing + 0.5 * cells;
        point.clamp(DVec3::ZERO, cells)
    }

    /// The cube along `axis` that contains a coordinate: the upper one at a common face, except at the end of the grid.
    fn cell(&self, axis: usize, coordinate: f64) -> u32 {
        (coordinate.max(0.0) as u32).min(self.cells[axis] - 1)
    }

    fn vertex_count(&self) -> usize {
        self.cells.iter().map(|&n| n as usize + 1).product()
    }

    fn vertex(&self, cube: [u32; 3], corner: usize) -> usize {
        let [x, y, z] = [0, 1, 2].map(|axis| cube[axis] as usize + (corner >> axis & 1));
        (x * (self.cells[1] as usize + 1) + y) * (self.cells[2] as usize + 1) + z
    }

    fn vertex_position(&self, vertex: usize) -> [f32; 3] {
        let [y_count, z_count] = [self.cells[1] as usize + 1, self.cells[2] as usize + 1];
        let at = DVec3::new(
            (vertex / z_count / y_count) as f64,
            (vertex / z_count % y_count) as f64,
            (vertex % z_count) as f64,
        );
        (self.centre + self.spacing * (at - 0.5 * self.cells_f64())).as_vec3().into()
    }
}

/// The index of the cut of a cube in [`CUTS`].
fn cube_parity([i, j, k]: [u32; 3]) -> usize {
    (i ^ j ^ k) as usize & 1
}

/// The tetrahedron of a cube that contains the point `local` of the unit cube, and its barycentric coordinates.
fn embed(local: DVec3, parity: usize) -> ([usize; 4], [f32; 4]) {
    let local = local.clamp(DVec3::ZERO, DVec3::ONE);
    let away = |corner: usize| (local - DVec3::from([0, 1, 2].map(|axis| (corner >> axis & 1) as f64))).abs();
    // The tetrahedron at a corner contains the points with a sum of axis distances of at most 1.
    for cut in &CUTS[parity][..4] {
        let steps = away(cut[0]);
        if steps.element_sum() <= 1.0 {
            let weight =
                |corner| if corner == cut[0] { 1.0 - steps.element_sum() } else { steps[(corner ^ cut[0]) / 2] };
            return (*cut, cut.map(|corner| weight(corner) as f32));
        }
    }
    // Opposite each corner of the middle tetrahedron is a face that it shares with the tetrahedron at the opposite cube
    // corner. The sum of axis distances from that corner is 1 on this face and 3 at the middle tetrahedron's own
    // corner.
    let cut = CUTS[parity][4];
    (cut, cut.map(|corner| (0.5 * (away(7 ^ corner).element_sum() - 1.0)) as f32))
}

/// The kept cube of each surface vertex; `None` for vertices of no triangle. Cubes that the surface only touches are
/// not yet kept; they are added if a vertex lies in no other cube.
fn keep_homes(
    grid: &Grid,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    cubes: &mut Vec<volume::Cube>,
) -> Vec<Option<[u32; 3]>> {
    let mut kept: HashSet<[u32; 3]> = cubes.iter().map(|cube| cube.at).collect();
    let mut homes = vec![None; points.len()];
    for &vertex in triangles.as_flattened() {
        let home = &mut homes[vertex as usize];
        if home.is_some() {
            continue;
        }
        // A vertex on a lattice plane lies in the cubes on both sides, one of which may not be kept.
        let choices = [0, 1, 2].map(|axis| {
            let coordinate = points[vertex as usize][axis];
            let [below, above] = [coordinate - grid.tolerance, coordinate + grid.tolerance].map(|x| grid.cell(axis, x));
            let nearest = grid.cell(axis, coordinate);
            [nearest, if below == nearest { above } else { below }]
        });
        let candidates = (0..8).map(|sides| [0, 1, 2].map(|axis| choices[axis][sides >> axis & 1]));
        let found = candidates.clone().find(|cube| kept.contains(cube));
        let cube = found.unwrap_or(choices.map(|[nearest, _]| nearest));
        *home = Some(cube);
        if kept.insert(cube) {
            cubes.push(volume::Cube { at: cube, fill: [0.0; 5] });
        }
    }
    cubes.sort_unstable_by_key(|cube| cube.at);
    homes
}

fn check_surface(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<()> {
    for (what, empty) in
        [("vertex list of a surface", positions.is_empty()), ("triangle list of a surface", triangles.is_empty())]
    {
        if empty {
            return Err(Error::Empty { what });
        }
    }
    for (vertex, &position) in positions.iter().enumerate() {
        check_finite(|| format!("position of surface vertex {vertex}"), position)?;
    }
    for (index, triangle) in triangles.iter().enumerate() {
        check_indices(|| format!("surface triangle {index}"), "vertex", triangle, positions.len())?;
    }
    check_closed(triangles)
}

/// The volume inside a closed surface \[m³\]; negative if the surface faces inwards.
fn enclosed_volume(positions: &[[f32; 3]], triangles: &[[u32; 3]], centre: DVec3) -> Result<f64> {
    let (mut volume, mut scale) = (0.0, 0.0);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| DVec3::from(positions[vertex as usize].map(f64::from)) - centre);
        let normal = (b - a).cross(c - a);
        volume += a.dot(normal) / 6.0;
        scale += a.length() * normal.length() / 6.0;
    }
    // Relative to the sum of absolute terms, so rounding of a flat surface counts as 0.
    if volume.abs() > 1e-12 * scale && (volume as f32).is_normal() {
        Ok(volume)
    } else {
        Err(Error::invalid("volume of a closed surface", volume, "different from 0 and within the range of f32"))
    }
}
