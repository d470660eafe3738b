//! Collider shapes that are prepared on the host, so that a GPU thread sees each as one function of a point: signed distance
//! and normal. Every function has a twin in `shaders/collide/`, operation by operation.
//!
//! | shape | made by | on the GPU |
//! |---|---|---|
//! | convex hull | `hull_planes` (feature `mesh-colliders`) | the plane that is furthest from the point |
//! | [`Heightfield`] | given as heights | the plane of the triangle under the point |
//! | triangle mesh | `DistanceField::bake` (feature `mesh-colliders`) | eight samples of a grid of distances |
//!
//! Rejected for meshes: the closest triangle of a bounding volume hierarchy at run time. It is exact, but
//! costs tens of samples, and differs from thread to thread.

#[cfg(feature = "mesh-colliders")]
mod bake;
mod field;
mod heightfield;
mod hull;
#[cfg(all(test, feature = "mesh-colliders"))]
mod measure;
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
