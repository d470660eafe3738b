//! Distance fields of triangle meshes: the closest triangle of every sample, found in parry3d's bounding volume hierarchy, with
//! the sign of the pseudo-normal there (Bærentzen and Aanæs 2005).

use super::field::{DistanceField, MAX_SAMPLES};
use crate::error::{Error, Result, check_positive};
use crate::geometry::Topology;
use crate::geometry::check_closed;
use glam::DVec3;
use parry3d::math::Vector;
use parry3d::query::{PointProjection, PointQueryWithLocation};
use parry3d::shape::{TriMesh, TriMeshFlags};
use std::sync::{Mutex, PoisonError};

/// Cells around the mesh, so that what comes near it finds the gradient of the field, not that of the clamped point.
const PADDING: f64 = 4.0;
/// Cells along the largest side of a mesh where nothing else is asked for.
const CELLS: f64 = 64.0;

/// Whether a mesh has an inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// It is watertight: the distance is negative inside.
    Closed,
    /// It is a sheet: the distance is that to its surface, from both sides.
    Open,
}

impl DistanceField {
    /// Samples the distance to a triangle mesh \[m\] on a grid with cells of `cell` \[m\], which reaches 4 cells beyond the
    /// mesh. `None` makes 64 cells of the largest side of the mesh.
    ///
    /// A closed mesh that is inside out is taken as if it were not, as the two-sided shell of a room may have any winding;
    /// [`crate::Shape::mesh`] refuses it. Sampling keeps all processors
    /// busy for some seconds where mesh and grid are fine.
    ///
    /// # Errors
    /// The mesh must have vertices and triangles, all finite, in range and with an area; if closed, each edge must have one
    /// triangle in each direction, and it must enclose a volume. There may be no more than 16 777 216 samples.
    pub fn bake(vertices: &[[f32; 3]], triangles: &[[u32; 3]], cell: Option<f32>, sides: Sides) -> Result<Self> {
        Self::bake_any(vertices, triangles, cell, sides, true)
    }

    /// The same of a closed mesh, which must not be inside out.
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
        }
        // For its checks of positions, indices and areas.
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

    /// All samples, slab by slab in z, on all processors.
    fn fill(&mut self, surface: &Surface) {
        let [columns, rows, _] = self.dims.map(|dim| dim as usize);
        let mut values = std::mem::take(&mut self.values);
        {
            let slabs = Mutex::new(values.chunks_mut(columns * rows).enumerate());
            let field = &*self;
            let work = || {
                loop {
                    // Taken in a statement of its own, or the lock would be held while the slab is filled.
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
                    // A thread that cannot be had is done without: this one does what is left.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, work);
                }
                work();
            });
        }
        self.values = values;
    }

    /// Where a sample is \[m\], as the solver will see it: by the rounded origin and cell.
    fn place(&self, index: [usize; 3]) -> DVec3 {
        let place = |axis: usize| f64::from(self.origin[axis]) + index[axis] as f64 * f64::from(self.cell);
        DVec3::new(place(0), place(1), place(2))
    }
}

/// What the triangles of a mesh lie between.
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

    /// The volume that a closed mesh encloses \[m³\], negative where it is inside out.
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

    /// A field without values, and its middle \[m\], which is that of the mesh.
    fn grid(&self, cell: Option<f32>, signed: bool) -> Result<(DistanceField, DVec3)> {
        let cell = cell.map_or(self.side / CELLS, f64::from) as f32;
        check_positive("cell of a distance field", cell)?;
        // What rounding added to a whole number of cells is not worth another.
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

/// A mesh as parry3d sees it: moved to the origin and scaled to a largest side of 1, where `f32` is at its best.
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

    /// A row of samples along x, each with the triangle that was closest to the one before as its first guess.
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
        // A little more than the distance to the guess, or the guess itself would not be found again.
        let most = guess.map(|triangle| self.mesh.triangle(triangle).distance_to_local_point(p, false) * 1.0001 + 1e-6);
        let near = most.and_then(|most| self.mesh.project_local_point_and_get_location_with_max_dist(p, false, most));
        let (hit, (triangle, _)) = near.unwrap_or_else(|| self.mesh.project_local_point_and_get_location(p, false));
        (hit, triangle)
    }
}

#[cfg(test)]
#[path = "bake_tests.rs"]
mod tests;
