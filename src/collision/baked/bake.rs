//! Distance fields of triangle meshes. The closest triangle of each sample comes from parry3d's bounding volume
//! hierarchy, the sign from the pseudo-normal at the closest point (Bærentzen and Aanæs 2005).

use super::field::{DistanceField, MAX_SAMPLES};
use crate::error::{Error, Result, check_positive};
use crate::geometry::Topology;
use crate::geometry::check_closed;
use glam::DVec3;
use parry3d::math::Vector;
use parry3d::query::{PointProjection, PointQueryWithLocation};
use parry3d::shape::{TriMesh, TriMeshFlags};
use std::sync::{Mutex, PoisonError};

/// Margin around the mesh in cells: points near the mesh lie inside the grid, where the gradient is exact.
const PADDING: f64 = 4.0;
/// The greatest size of a cell \[m\]: its margin then has coordinates below those of [`DistanceField::check`].
const MAX_CELL: f32 = 1e6;
/// Default number of cells along the largest side of a mesh.
const CELLS: f64 = 64.0;

/// The topology of a mesh: closed or open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// A watertight mesh: the distance is negative inside.
    Closed,
    /// A sheet: the distance to its surface is positive on both sides.
    Open,
}

impl DistanceField {
    /// Samples the distance to a triangle mesh \[m\] on a grid with cells of size `cell` \[m\]. The grid extends 4
    /// cells beyond the mesh. `None` gives 64 cells along the largest side of the mesh.
    ///
    /// A closed mesh that faces inwards is reversed, because a room with [`crate::Collider::two_sided`] may have either
    /// winding; [`crate::Shape::mesh`] rejects it. A fine mesh and grid keep all processors busy for some seconds.
    ///
    /// # Errors
    /// - The mesh has no vertices or triangles, a position is not finite, an index is out of range, or a triangle has
    ///   no area.
    /// - A closed mesh has an edge without exactly one triangle in each direction, or encloses no volume.
    /// - A cell is not positive, or larger than 1e6 m. The grid has more than 16 777 216 samples.
    pub fn bake(vertices: &[[f32; 3]], triangles: &[[u32; 3]], cell: Option<f32>, sides: Sides) -> Result<Self> {
        Self::bake_any(vertices, triangles, cell, sides, true)
    }

    /// As [`DistanceField::bake`] for a closed mesh, but rejects inward winding.
    pub(in crate::collision) fn bake_solid(
        vertices: &[[f32; 3]],
        triangles: &[[u32; 3]],
        cell: Option<f32>,
    ) -> Result<Self> {
        Self::bake_any(vertices, triangles, cell, Sides::Closed, false)
    }

    fn bake_any(
        vertices: &[[f32; 3]],
        triangles: &[[u32; 3]],
        cell: Option<f32>,
        sides: Sides,
        may_be_inward: bool,
    ) -> Result<Self> {
        for (what, empty) in [
            ("vertex list of a collider mesh", vertices.is_empty()),
            ("triangle list of a collider mesh", triangles.is_empty()),
        ] {
            if empty {
                return Err(Error::Empty { what });
            }
        }
        if let Some(cell) = cell {
            check_positive("cell of a distance field", cell)?;
            if cell > MAX_CELL {
                return Err(Error::invalid("cell of a distance field", cell, "at most 1e6 m"));
            }
        }
        // Checks positions, indices and areas.
        Topology::new(vertices, triangles)?;
        let signed = sides == Sides::Closed;
        if signed {
            check_closed(triangles)?;
        }
        let bounds = Bounds::of(vertices, triangles);
        let mut triangles = triangles.to_vec();
        let volume = if signed { bounds.volume(vertices, &triangles)? } else { 0.0 };
        if volume < 0.0 {
            if !may_be_inward {
                return Err(Error::InwardWinding { volume });
            }
            triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        let (mut field, centre) = bounds.grid(cell, signed)?;
        let surface = Surface::new(vertices, triangles, centre, bounds.side, signed)?;
        field.fill(&surface);
        field.check()?;
        Ok(field)
    }

    /// Fills all samples, one slab in z at a time, on all processors.
    fn fill(&mut self, surface: &Surface) {
        let [columns, rows, _] = self.dims.map(|dim| dim as usize);
        let mut values = std::mem::take(&mut self.values);
        {
            let slabs = Mutex::new(values.chunks_mut(columns * rows).enumerate());
            let field = &*self;
            let work = || {
                loop {
                    // A separate statement, so the lock is released before the slab is filled.
                    let slab = slabs.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((z, slab)) = slab else { break };
                    for (y, row) in slab.chunks_mut(columns).enumerate() {
                        surface.distances(field, [0, y, z], row);
                    }
                }
            };
            let others = std::thread::available_parallelism().map_or(1, usize::from) - 1;
            std::thread::scope(|scope| {
                for _ in 0..others {
                    // If a thread cannot be created, the existing threads process the remaining slabs.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, work);
                }
                work();
            });
        }
        self.values = values;
    }

    /// The position of a sample \[m\], from origin and cell in `f32` as the solver reads them.
    fn place(&self, index: [usize; 3]) -> DVec3 {
        let place = |axis: usize| f64::from(self.origin[axis]) + index[axis] as f64 * f64::from(self.cell);
        DVec3::new(place(0), place(1), place(2))
    }
}

/// The bounding box of the triangles of a mesh.
struct Bounds {
    low: DVec3,
    high: DVec3,
    /// The largest side \[m\].
    side: f64,
}

impl Bounds {
    fn of(vertices: &[[f32; 3]], triangles: &[[u32; 3]]) -> Self {
        let (mut low, mut high) = (DVec3::MAX, DVec3::MIN);
        for vertex in triangles.iter().flatten().filter_map(|&index| vertices.get(index as usize)) {
            let vertex = DVec3::from(vertex.map(f64::from));
            (low, high) = (low.min(vertex), high.max(vertex));
        }
        Self { low, high, side: (high - low).max_element() }
    }

    /// The volume that a closed mesh encloses \[m³\]; negative if it faces inwards.
    fn volume(&self, vertices: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<f64> {
        let corner = |index: u32| {
            vertices.get(index as usize).map_or(DVec3::ZERO, |vertex| DVec3::from(vertex.map(f64::from)) - self.low)
        };
        let sixfold: f64 = triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2])))).sum();
        let volume = sixfold / 6.0;
        if volume.abs() > 1e-9 * self.side.powi(3) {
            return Ok(volume);
        }
        Err(Error::invalid("volume of a closed collider mesh", volume, "more than 1e-9 of its largest side cubed"))
    }

    /// An empty field for the mesh, and its centre \[m\], which is that of the mesh.
    fn grid(&self, cell: Option<f32>, signed: bool) -> Result<(DistanceField, DVec3)> {
        let cell = cell.map_or(self.side / CELLS, f64::from) as f32;
        check_positive("cell of a distance field", cell)?;
        // The tolerance ignores rounding of a whole number of cells.
        let cells = ((self.high - self.low) / f64::from(cell) - 1e-4).ceil().max(DVec3::ZERO) + 2.0 * PADDING;
        let samples = cells + 1.0;
        let count = samples.x * samples.y * samples.z;
        if count > MAX_SAMPLES as f64 {
            return Err(Error::TooLarge {
                what: "samples of a distance field",
                count: count as u64,
                limit: MAX_SAMPLES,
            });
        }
        let centre = 0.5 * (self.low + self.high);
        let field = DistanceField {
            dims: samples.to_array().map(|samples| samples as u32),
            origin: (centre - 0.5 * f64::from(cell) * cells).as_vec3().into(),
            cell,
            values: vec![0.0; count as usize],
            signed,
        };
        Ok((field, centre))
    }
}

/// A mesh for parry3d: centred at the origin and scaled to a largest side of 1, where `f32` is most precise.
struct Surface {
    mesh: TriMesh,
    centre: DVec3,
    side: f64,
    signed: bool,
}

impl Surface {
    fn new(vertices: &[[f32; 3]], triangles: Vec<[u32; 3]>, centre: DVec3, side: f64, signed: bool) -> Result<Self> {
        let scaled = |vertex: &[f32; 3]| {
            let scaled = (DVec3::from(vertex.map(f64::from)) - centre) / side;
            Vector::from(scaled.as_vec3().to_array())
        };
        let flags = if signed { TriMeshFlags::ORIENTED } else { TriMeshFlags::empty() };
        let mesh = TriMesh::with_flags(vertices.iter().map(scaled).collect(), triangles, flags)
            .map_err(|_| Error::Empty { what: "triangle list of a collider mesh" })?;
        Ok(Self { mesh, centre, side, signed })
    }

    /// Fills a row of samples along x; the closest triangle of a sample is the first guess for the next one.
    fn distances(&self, field: &DistanceField, first: [usize; 3], row: &mut [f32]) {
        let mut guess = None;
        for (x, value) in row.iter_mut().enumerate() {
            let p = (field.place([x, first[1], first[2]]) - self.centre) / self.side;
            let p = Vector::from(p.as_vec3().to_array());
            let (hit, triangle) = self.closest(p, guess);
            guess = Some(triangle);
            let distance = (f64::from((hit.point - p).length()) * self.side) as f32;
            *value = if self.signed && hit.is_inside { -distance } else { distance };
        }
    }

    fn closest(&self, p: Vector, guess: Option<u32>) -> (PointProjection, u32) {
        use parry3d::query::PointQuery;
        // Slightly more than the distance to the guess, so the query finds the guess.
        let most = guess.map(|triangle| self.mesh.triangle(triangle).distance_to_local_point(p, false) * 1.0001 + 1e-6);
        let near = most.and_then(|most| self.mesh.project_local_point_and_get_location_with_max_dist(p, false, most));
        let (hit, (triangle, _)) = near.unwrap_or_else(|| self.mesh.project_local_point_and_get_location(p, false));
        (hit, triangle)
    }
}

#[cfg(test)]
#[path = "bake_tests.rs"]
mod tests;
