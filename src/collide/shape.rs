//! Shapes, each by its signed distance: `shaders/collide/shapes.wgsl` is the twin of `sample`, operation by operation.

use super::collider::ColliderRow;
use crate::error::{Error, Result};
use crate::xpbd::length;
use glam::Vec3;

/// The shape of a collider, in its own frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// All points with y ≤ 0.
    HalfSpace,
    /// A ball about the origin.
    Sphere {
        /// \[m\]
        radius: f32,
    },
    /// All points within `radius` of the segment from −`half_height` to `half_height` along y.
    Capsule {
        /// \[m\]
        radius: f32,
        /// Half the length of the segment \[m\].
        half_height: f32,
    },
    /// A box about the origin.
    Box {
        /// Half its length along each axis \[m\].
        half_extents: [f32; 3],
    },
}

/// Distance to a surface \[m\], negative inside, and the unit normal there, outwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub normal: Vec3,
    pub distance: f32,
}

/// The numbers by which the shaders know the shapes.
pub(super) const HALF_SPACE: u32 = 0;
pub(super) const SPHERE: u32 = 1;
pub(super) const CAPSULE: u32 = 2;
pub(super) const BOX: u32 = 3;

/// What a shape is to the shaders.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Baked {
    pub shape: u32,
    pub size: [f32; 3],
    /// No point of it is farther from its origin \[m\].
    pub bound: f32,
    pub counts: [u32; 3],
    pub data: Vec<f32>,
}

impl Shape {
    pub(super) fn bake(&self) -> Result<Baked> {
        let positive = |what: &str, value: f32| {
            if (1e-6..=1e6).contains(&value) { Ok(()) } else { Err(Error::invalid(what, value, "1e-6 to 1e6 m")) }
        };
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
        })
    }
}

/// The distance of a point, in the collider's frame.
pub(crate) fn sample(collider: &ColliderRow, _data: &[f32], p: Vec3) -> Sample {
    let size = Vec3::from(collider.size);
    match collider.shape {
        SPHERE => ball(p, size.x),
        CAPSULE => ball(Vec3::new(p.x, p.y - p.y.clamp(-size.y, size.y), p.z), size.x),
        BOX => cuboid(p, size),
        _ => Sample { normal: Vec3::Y, distance: p.y },
    }
}

fn ball(p: Vec3, radius: f32) -> Sample {
    let l = length(p);
    let normal = if l > 0.0 { p / l } else { Vec3::X };
    Sample { normal, distance: l - radius }
}

fn cuboid(p: Vec3, size: Vec3) -> Sample {
    let beyond = p.abs() - size;
    let side = Vec3::new(sign(p.x), sign(p.y), sign(p.z));
    let outside = beyond.max(Vec3::ZERO);
    let l = length(outside);
    if l > 0.0 {
        return Sample { normal: outside * side / l, distance: l };
    }
    // Inside: the nearest face.
    if beyond.x >= beyond.y && beyond.x >= beyond.z {
        return Sample { normal: Vec3::new(side.x, 0.0, 0.0), distance: beyond.x };
    }
    if beyond.y >= beyond.z {
        return Sample { normal: Vec3::new(0.0, side.y, 0.0), distance: beyond.y };
    }
    Sample { normal: Vec3::new(0.0, 0.0, side.z), distance: beyond.z }
}

fn sign(value: f32) -> f32 {
    if value < 0.0 { -1.0 } else { 1.0 }
}
