//! Shapes with signed distances: `shaders/collision/collide/shapes.wgsl` is the counterpart of `sample`, operation by
//! operation.

use super::baked::{DistanceField, Heightfield, beyond_border, sample_field, sample_heights, sample_hull};
#[cfg(feature = "mesh-colliders")]
use super::baked::{Sides, hull_planes};
use super::colliders::ColliderRow;
use crate::error::{Error, Result};
use crate::geometry::vector::length;
use glam::Vec3;
use std::sync::Arc;

/// The shape of a collider in its local frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// All points with y ≤ 0.
    HalfSpace,
    /// A sphere about the origin.
    Sphere {
        /// Radius \[m\].
        radius: f32,
    },
    /// All points within `radius` of the segment from −`half_height` to `half_height` along y.
    Capsule {
        /// Radius \[m\].
        radius: f32,
        /// Half the length of the segment \[m\], greater than 0.
        half_height: f32,
    },
    /// A box about the origin.
    Box {
        /// Half the length along each axis \[m\].
        half_extents: [f32; 3],
    },
    /// The convex hull of a set of points, with at most 256 planes. Particles are pushed out of the nearest plane, so
    /// edges and corners stay sharp at any distance.
    #[cfg(feature = "mesh-colliders")]
    ConvexHull {
        /// At least 4 points \[m\], not all coplanar.
        points: Vec<[f32; 3]>,
    },
    /// Ground, solid below the surface. For terrain of several chunks see [`Heightfield::ends_at_border`].
    Heightfield(Arc<Heightfield>),
    /// A distance field, for example of a mesh: [`Shape::mesh`]. A field without sign is a sheet with contacts on both
    /// sides. Its contact distance (half the particle thickness plus the margin) must be at least a cell, because
    /// within half a cell the side of a point is unknown.
    Field(Arc<DistanceField>),
}

/// Distance to a surface \[m\], negative inside, and the outward unit normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub normal: Vec3,
    pub distance: f32,
    /// A lower bound of the distance \[m\].
    pub sure: f32,
}

impl Sample {
    fn new(distance: f32, normal: Vec3) -> Self {
        Self { normal, distance, sure: distance }
    }
}

/// Shape ids in the shaders.
pub(crate) const HALF_SPACE: u32 = 0;
pub(super) const SPHERE: u32 = 1;
pub(super) const CAPSULE: u32 = 2;
pub(super) const BOX: u32 = 3;
pub(super) const HULL: u32 = 4;
pub(super) const HEIGHTFIELD: u32 = 5;
pub(super) const FIELD: u32 = 6;

/// A shape in the layout of the shaders.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Baked {
    pub shape: u32,
    pub size: [f32; 3],
    /// Radius of a bounding sphere about the origin \[m\].
    pub bound: f32,
    pub counts: [u32; 3],
    pub data: Vec<f32>,
}

impl From<Heightfield> for Shape {
    fn from(ground: Heightfield) -> Self {
        Self::Heightfield(Arc::new(ground))
    }
}

impl From<DistanceField> for Shape {
    fn from(field: DistanceField) -> Self {
        Self::Field(Arc::new(field))
    }
}

impl Shape {
    /// A closed triangle mesh \[m\] as a distance field; see [`DistanceField::bake`]. Fine meshes and grids take
    /// seconds, so reuse the result; clones share the field.
    ///
    /// The inside is solid. A room needs [`super::Collider::two_sided`].
    ///
    /// # Errors
    /// The errors of [`DistanceField::bake`], and [`Error::InwardWinding`] if the triangles face inwards, so the signed
    /// volume is negative.
    #[cfg(feature = "mesh-colliders")]
    pub fn mesh(vertices: &[[f32; 3]], triangles: &[[u32; 3]], cell: Option<f32>) -> Result<Self> {
        DistanceField::bake_solid(vertices, triangles, cell).map(Self::from)
    }

    /// An open triangle mesh \[m\] with contacts on both sides; see [`Shape::Field`].
    ///
    /// # Errors
    /// The errors of [`DistanceField::bake`].
    #[cfg(feature = "mesh-colliders")]
    pub fn sheet(vertices: &[[f32; 3]], triangles: &[[u32; 3]], cell: Option<f32>) -> Result<Self> {
        DistanceField::bake(vertices, triangles, cell, Sides::Open).map(Self::from)
    }

    /// Converts the shape to shader data. The large arrays are copied only if `with_data`.
    pub(super) fn bake(&self, with_data: bool) -> Result<Baked> {
        let positive = |what: &str, value: f32| {
            if (1e-6..=1e6).contains(&value) { Ok(()) } else { Err(Error::invalid(what, value, "1e-6 to 1e6 m")) }
        };
        let copy = |values: &[f32]| if with_data { values.to_vec() } else { Vec::new() };
        Ok(match *self {
            Self::HalfSpace => Baked { shape: HALF_SPACE, bound: f32::MAX, ..Baked::default() },
            Self::Sphere { radius } => {
                positive("radius of a sphere", radius)?;
                Baked { shape: SPHERE, size: [radius, 0.0, 0.0], bound: radius, ..Baked::default() }
            }
            Self::Capsule { radius, half_height } => {
                positive("radius of a capsule", radius)?;
                positive("half height of a capsule", half_height)?;
                let size = [radius, half_height, 0.0];
                Baked { shape: CAPSULE, size, bound: radius + half_height, ..Baked::default() }
            }
            Self::Box { half_extents } => {
                half_extents.iter().try_for_each(|&extent| positive("half extent of a box", extent))?;
                let bound = length(half_extents.into()) * 1.0001;
                Baked { shape: BOX, size: half_extents, bound, ..Baked::default() }
            }
            #[cfg(feature = "mesh-colliders")]
            Self::ConvexHull { ref points } => {
                let coordinates = || points.iter().flatten().copied();
                if let Some(far) = coordinates().find(|coordinate| coordinate.abs() > 1e6) {
                    return Err(Error::invalid("coordinate of a convex hull", far, "at most 1e6 m either way"));
                }
                let planes = hull_planes(points)?;
                let farthest = points.iter().map(|&point| length(point.into())).fold(0.0, f32::max);
                let counts = [planes.len() as u32, 0, 0];
                let data = copy(planes.as_flattened());
                Baked { shape: HULL, bound: farthest * 1.0001, counts, data, ..Baked::default() }
            }
            Self::Heightfield(ref ground) => {
                ground.check()?;
                let size = [ground.spacing, NEAR * ground.spacing, ground.least_upright()];
                let counts = [ground.columns, ground.rows, u32::from(ground.ends_at_border)];
                Baked { shape: HEIGHTFIELD, size, bound: ground.bound(), counts, data: copy(&ground.heights) }
            }
            Self::Field(ref field) => {
                field.check()?;
                let last = [0, 1, 2].map(|axis: usize| field.cell * (field.dims[axis] - 1) as f32);
                let (low, high) = (Vec3::from(field.origin), Vec3::from(field.origin) + Vec3::from(last));
                // A solid border continues outside the grid up to the depth inside.
                let depth = field.values.iter().fold(0.0, |depth: f32, &value| depth.max(-value));
                let bound = length(low.abs().max(high.abs())) * 1.0001 + depth;
                let mut data = copy(&field.origin);
                data.extend_from_slice(if with_data { &field.values } else { &[] });
                Baked { shape: FIELD, size: [field.cell, 0.0, 0.0], bound, counts: field.dims, data }
            }
        })
    }
}

/// The height above a heightfield, in spacings, up to which the distance to the plane below is used for the sweep.
const NEAR: f32 = 0.25;

/// Samples the distance at a point in the collider's local frame; `keep` is the contact distance.
pub(crate) fn sample(collider: &ColliderRow, data: &[f32], p: Vec3, keep: f32) -> Sample {
    let size = Vec3::from(collider.size);
    let data = data.get(collider.data as usize..).unwrap_or_default();
    let [columns, rows, ends] = collider.counts;
    match collider.shape {
        SPHERE => ball(p, size.x),
        CAPSULE => ball(Vec3::new(p.x, p.y - p.y.clamp(-size.y, size.y), p.z), size.x),
        BOX => cuboid(p, size),
        HULL => {
            let (planes, _) = data.as_chunks();
            let (distance, normal) = sample_hull(planes.get(..columns as usize).unwrap_or(planes), p.into());
            Sample::new(distance, normal.into())
        }
        HEIGHTFIELD => {
            let (grid, ends) = ([columns, rows], ends == 1);
            let poses = [collider.position, collider.target_position];
            let beyond = if ends { beyond_border(grid, size.x, poses, p) } else { 0.0 };
            if beyond > 0.0 {
                return beside(beyond, keep);
            }
            let (distance, normal) = sample_heights(data, grid, size.x, ends, p.into());
            over(distance, normal.into(), size, keep)
        }
        FIELD => {
            let Some((&origin, values)) = data.split_first_chunk() else { return Sample::new(f32::MAX, Vec3::Y) };
            let (distance, normal) = sample_field(values, collider.counts, origin, size.x, p.into());
            Sample::new(distance, normal.into())
        }
        _ => Sample::new(p.y, Vec3::Y),
    }
}

/// Corrects the plane distance near steeper ground. The plane below gives the true distance only if no steeper ground
/// is near. Above `near` the height is scaled by the steepest slope; below it the plane distance is used, so that
/// particles reach level ground beside a cliff.
fn over(distance: f32, normal: Vec3, size: Vec3, keep: f32) -> Sample {
    let near = keep + size.y;
    let sure = distance.min(distance / normal.y * size.z);
    Sample { normal, distance: if distance > near { sure.max(near) } else { distance }, sure }
}

/// The sample beyond the border of ground that ends. The normal is 0, so the contact does not push. The distance leads
/// the sweep slightly across the border, so that it does not stop there.
fn beside(beyond: f32, keep: f32) -> Sample {
    let sure = beyond + keep;
    Sample { normal: Vec3::ZERO, distance: sure + 2e-3 * keep, sure }
}

fn ball(p: Vec3, radius: f32) -> Sample {
    let l = length(p);
    let normal = if l > 0.0 { p / l } else { Vec3::X };
    Sample::new(l - radius, normal)
}

fn cuboid(p: Vec3, size: Vec3) -> Sample {
    let beyond = p.abs() - size;
    let side = Vec3::new(sign(p.x), sign(p.y), sign(p.z));
    let outside = beyond.max(Vec3::ZERO);
    let l = length(outside);
    if l > 0.0 {
        return Sample::new(l, outside * side / l);
    }
    // Inside: the nearest face.
    if beyond.x >= beyond.y && beyond.x >= beyond.z {
        return Sample::new(beyond.x, Vec3::new(side.x, 0.0, 0.0));
    }
    if beyond.y >= beyond.z {
        return Sample::new(beyond.y, Vec3::new(0.0, side.y, 0.0));
    }
    Sample::new(beyond.z, Vec3::new(0.0, 0.0, side.z))
}

fn sign(value: f32) -> f32 {
    if value < 0.0 { -1.0 } else { 1.0 }
}
