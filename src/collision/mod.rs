//! Collisions of particles with colliders and with each other.
//!
//! Contacts are inequality constraints on the predicted positions. They are solved once per substep, after the other
//! constraints.
//!
//! - [`Collider`]s are shapes with a signed distance (`src/collision/shape.rs`); the host converts some of them to data
//!   (`src/collision/baked.rs`).
//! - Particles, edges and triangles form pairs (`src/collision/pair.rs`), which a grid search finds.
//! - [`ContactMaterial`]s hold thickness, friction and restitution.

pub(crate) mod baked;
mod collider;
mod collider_frame;
mod colliders;
pub(crate) mod crossing;
pub(crate) mod events;
mod exits;
mod material;
pub(crate) mod pair;
mod report;
mod scale;
pub(crate) mod self_collision;
mod shape;
pub(crate) mod slabs;
mod triangle;

#[cfg(feature = "mesh-colliders")]
pub use baked::Sides;
pub use baked::{DistanceField, Heightfield};
pub use collider::{Collider, ColliderId, Pose};
pub(crate) use collider_frame::ColliderFrame;
pub(crate) use colliders::{ColliderRow, Colliders, DISABLED, MOVING, TWO_SIDED};
pub use events::{ContactEvent, ContactEvents, ContactPair, ContactPhase};
pub(crate) use exits::Exits;
pub use material::{ContactMaterial, ContactMaterialId, Friction, MAX_CONTACT_MATERIALS};
pub use report::{ColliderForce, ContactReport};
pub use scale::ContactScale;
pub use self_collision::{SelfCollision, SelfCollisionLevel};
pub use shape::Shape;
pub(crate) use shape::{HALF_SPACE, Sample, sample};
pub(crate) use triangle::{TriangleView, mixed};
