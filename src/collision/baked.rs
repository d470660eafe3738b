//! Collider shapes that the host converts to data; a GPU thread evaluates signed distance and normal at a point. Every
//! function has a counterpart in `shaders/collision/collide/`, operation by operation.
//!
//! | shape | made by | on the GPU |
//! |---|---|---|
//! | convex hull | `hull_planes` (feature `mesh-colliders`) | the plane with the greatest distance |
//! | [`Heightfield`] | heights | the plane of the triangle below the point |
//! | triangle mesh | `DistanceField::bake` (feature `mesh-colliders`) | eight samples of a distance grid |
//!
//! Meshes are sampled, because a bounding volume hierarchy costs tens of reads per point and its threads diverge.

#[cfg(feature = "mesh-colliders")]
mod bake;
mod field;
mod heightfield;
mod hull;
#[cfg(test)]
#[cfg_attr(not(feature = "mesh-colliders"), allow(dead_code))]
pub(crate) mod shapes;

#[cfg(feature = "mesh-colliders")]
pub use bake::Sides;
pub use field::DistanceField;
pub(crate) use field::sample_field;
pub use heightfield::Heightfield;
pub(crate) use heightfield::{beyond_border, sample_heights};
#[cfg(feature = "mesh-colliders")]
pub(crate) use hull::hull_planes;
pub(crate) use hull::sample_hull;
