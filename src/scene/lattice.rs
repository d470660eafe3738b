//! A lattice of tetrahedra around a closed triangle surface, so that a soft body of any shape can be simulated with few
//! and well-shaped elements while the surface itself, however fine, only follows.
//!
//! Cubes of one size are laid over the bounding box of the surface and kept where the surface passes through them or
//! where they lie inside. Each is cut into five tetrahedra: a regular one in the middle, whose corners are the lattice
//! vertices of even index sum, and one at each of the other four corners. As "even" is meant across the lattice, the
//! diagonals of neighbouring cubes match by themselves. Five rather than the six of Kuhn's cut: fewer elements (5 : 6)
//! and edges (6 : 7 a vertex), better shapes, and no body diagonal along which all cubes are cut, which would make the
//! body stiffer in that one direction. The price is two sorts of vertices, of 18 and 6 edges.
//!
//! Embedding a fine surface in a coarse lattice: Sederberg and Parry, "Free-Form Deformation of Solid Geometric Models"
//! (1986); Müller and Gross, "Interactive Virtual Materials" (2004).

#[cfg(test)]
mod tests;
mod volume;

use crate::error::{Error, Result, check_finite, check_positive};
use glam::DVec3;
use std::collections::{HashMap, HashSet};

/// The most cubes that may cover the bounding box of a surface, kept or not.
const CUBE_LIMIT: u64 = 20_000_000;

/// The least spacing, as a part of the largest coordinate: below it the rounding of `f32` bends the lattice.
const LEAST_SPACING: f64 = 1e-5;

/// The corners of the five tetrahedra of a cube whose lowest corner has an even index sum (`[0]`) or an odd one
/// (`[1]`), all positively oriented. Bit 0 of a corner is its step along x, bit 1 along y, bit 2 along z. The first
/// four each sit at the corner that they name first, the two at the bottom (low z) before the two at the top; the fifth
/// is the middle.
const CUTS: [[[usize; 4]; 5]; 2] = [
    [[1, 0, 5, 3], [2, 3, 6, 0], [4, 5, 0, 6], [7, 6, 3, 5], [0, 5, 3, 6]],
    [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]],
];

/// A tetrahedral lattice that encloses a closed surface, and the surface's place in it.
///
/// Vertices, cubes and tetrahedra are in ascending order of their place: x first, z last. The same input gives the same
/// lattice, bit by bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    /// The lattice vertices \[m\]; every one is a corner of a tetrahedron.
    pub positions: Vec<[f32; 3]>,
    /// The tetrahedra, as indices of lattice vertices, five in a row for each cube. All are positively oriented:
    /// (x1 − x0) · ((x2 − x0) × (x3 − x0)) > 0.
    pub tetrahedra: Vec<[u32; 4]>,
    /// For each surface vertex the place that it has in the lattice.
    pub embedding: Vec<Embedded>,
    /// For each tetrahedron the part of its volume that lies inside the surface, in [`Lattice::LEAST_FILL`]..=1. Exact
    /// but for rounding and for that lower bound.
    pub fill: Vec<f32>,
    /// The volume that the surface encloses \[m³\]. The sum of fill · volume over the tetrahedra is this and a little
    /// more, from [`Lattice::LEAST_FILL`]; masses from it can be scaled back.
    pub volume: f32,
}

/// The place of a surface vertex in a [`Lattice`]: Σ weights\[i\] · positions\[particles\[i\]\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Embedded {
    /// The lattice vertices of the tetrahedron that holds it.
    pub particles: [u32; 4],
    /// Its barycentric coordinates, each in 0..=1, of sum 1 but for rounding.
    pub weights: [f32; 4],
}

impl Lattice {
    /// The least [`Lattice::fill`]. A kept cube may have tetrahedra with nothing of the body in them, and a lattice
    /// vertex that has only such tetrahedra would be without mass. That is all it prevents: of the vertices of a sphere
    /// about one in ten still has less than a hundredth of the mean mass. Where contacts rest on lattice vertices,
    /// masses should come from fills of at least 0.1 or so, scaled back to [`Lattice::volume`].
    pub const LEAST_FILL: f32 = 1e-4;

    /// Builds a lattice of cubes of `spacing` \[m\] around the surface of `positions` \[m\] and `triangles`.
    ///
    /// The lattice is centred on the bounding box. A point is inside where the surface winds around it, so cavities
    /// whose walls face into them stay empty, and parts that overlap count once (but for tetrahedra at the rim of an
    /// overlap). The surface may face either way as a whole; one that is inside out (of negative volume) is read as if
    /// flipped. It may have several components, which should face the same way. Whatever shares a cube moves as one, so
    /// parts less than a cube apart may be fused; cubes that only share an edge or a vertex are hinged there. Cubes and
    /// surface that meet within the rounding of `f32` coordinates count as apart. A vertex that no triangle names is
    /// tied to the first lattice vertex.
    ///
    /// Takes time in proportion to the cubes over the bounding box plus those that each triangle passes through.
    ///
    /// # Errors
    /// There must be vertices and triangles, positions must be finite, indices in range and different within a
    /// triangle. Every edge must have exactly one triangle in each direction ([`Error::OpenSurface`]: vertices that are
    /// doubled along a seam must be joined first) and the surface must enclose a volume. `spacing` must be positive and
    /// at least 1e-5 of the largest coordinate, and at most 20 million cubes may cover the bounding box.
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

/// The edges of tetrahedra, each once, in the order in which they are first named, the lower index first.
pub fn edges(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let mut seen = HashSet::with_capacity(tetrahedra.len() * 3 / 2);
    let named = tetrahedra.iter().flat_map(|&[a, b, c, d]| [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]);
    named.map(|[a, b]| [a.min(b), a.max(b)]).filter(|&edge| seen.insert(edge)).collect()
}

/// The faces of tetrahedra that no second one shares, in the order of the tetrahedra. Those of positively oriented
/// tetrahedra run counterclockwise seen from outside.
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

/// The cubes over the bounding box. In its coordinates cube (i, j, k) reaches from (i, j, k) to (i + 1, j + 1, k + 1).
#[derive(Debug, Clone, Copy)]
struct Grid {
    centre: DVec3,
    spacing: f64,
    /// Cubes along each axis; at least 1.
    cells: [u32; 3],
    /// How far coordinates may be off by the rounding of `f32`, in cubes; below 0.01.
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
        // A surface as long as a whole number of cubes must not get one more because of rounding.
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

    /// Where a surface vertex lies, in cubes; moved by at most the tolerance, so that it is within the grid.
    fn place(&self, position: [f32; 3]) -> DVec3 {
        let cells = self.cells_f64();
        let point = (DVec3::from(position.map(f64::from)) - self.centre) / self.spacing + 0.5 * cells;
        point.clamp(DVec3::ZERO, cells)
    }

    /// The cube along `axis` that holds a coordinate; of two, the upper one, except at the end of the grid.
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

/// Which of the two cuts a cube has.
fn cube_parity([i, j, k]: [u32; 3]) -> usize {
    (i ^ j ^ k) as usize & 1
}

/// The tetrahedron of a cube of a parity that holds the point `local` of the unit cube, and its barycentric
/// coordinates.
fn embed(local: DVec3, parity: usize) -> ([usize; 4], [f32; 4]) {
    let local = local.clamp(DVec3::ZERO, DVec3::ONE);
    let away = |corner: usize| (local - DVec3::from([0, 1, 2].map(|axis| (corner >> axis & 1) as f64))).abs();
    // The tetrahedron at a corner is what lies within 1 of it in the sum of the three distances.
    for cut in &CUTS[parity][..4] {
        let steps = away(cut[0]);
        if steps.element_sum() <= 1.0 {
            let weight =
                |corner| if corner == cut[0] { 1.0 - steps.element_sum() } else { steps[(corner ^ cut[0]) / 2] };
            return (*cut, cut.map(|corner| weight(corner) as f32));
        }
    }
    // The face of the middle one across from a corner is the face of the tetrahedron at the opposite end of the cube,
    // where that sum is 1; it is 3 at the corner itself.
    let cut = CUTS[parity][4];
    (cut, cut.map(|corner| (0.5 * (away(7 ^ corner).element_sum() - 1.0)) as f32))
}

/// The kept cube that holds each surface vertex; `None` for vertices that no triangle names. Cubes without volume that
/// the surface only grazes are not kept so far; where a vertex has no other, they are added.
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
        // A vertex on a lattice plane lies in the cubes on both sides, of which one may have been left out.
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
    let count = positions.len() as u64;
    for (index, &[a, b, c]) in triangles.iter().enumerate() {
        let what = || format!("surface triangle {index}");
        if let Some(&vertex) = [a, b, c].iter().find(|&&vertex| u64::from(vertex) >= count) {
            return Err(Error::IndexOutOfRange { what: what(), target: "vertex", index: vertex.into(), count });
        }
        if a == b || b == c || c == a {
            return Err(Error::RepeatedIndex { what: what(), particle: if b == c { b } else { a } });
        }
    }
    crate::geometry::check_closed(triangles)
}

/// The volume inside a closed surface \[m³\], negative where it is inside out.
fn enclosed_volume(positions: &[[f32; 3]], triangles: &[[u32; 3]], centre: DVec3) -> Result<f64> {
    let (mut volume, mut scale) = (0.0, 0.0);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| DVec3::from(positions[vertex as usize].map(f64::from)) - centre);
        let normal = (b - a).cross(c - a);
        volume += a.dot(normal) / 6.0;
        scale += a.length() * normal.length() / 6.0;
    }
    // Relative to the sum of the absolute terms, so that what is left of a flat surface by rounding counts as nothing.
    if volume.abs() > 1e-12 * scale && (volume as f32).is_normal() {
        Ok(volume)
    } else {
        Err(Error::invalid("volume of a closed surface", volume, "different from 0 and within the range of f32"))
    }
}
