//! What particles collide with: colliders, and each other.
//!
//! Contacts are constraints of the method like all others: inequalities on the predicted positions, solved once in every
//! substep after the constraints. [`Collider`]s are shapes of which only a signed distance is known
//! (`src/collision/shape.rs`), some of them prepared on the host (`src/collision/baked.rs`); particles, edges and triangles
//! meet in pairs (`src/collision/pair.rs`), which a search on a grid finds. What they do to each other when they touch is
//! written in [`ContactMaterial`]s.

pub(crate) mod baked;
mod collider;
pub(crate) mod crossing;
mod exits;
mod material;
pub(crate) mod pair;
mod report;
mod self_collision;
mod shape;

#[cfg(feature = "mesh-colliders")]
pub use baked::Sides;
pub use baked::{DistanceField, Heightfield};
pub use collider::{Collider, ColliderId, Pose};
pub(crate) use collider::{ColliderFrame, ColliderRow, Colliders, DISABLED, MOVING, TWO_SIDED};
pub(crate) use exits::Exits;
pub use material::{ContactMaterial, ContactMaterialId, Friction, MAX_CONTACT_MATERIALS};
pub use report::{ColliderForce, ContactReport};
pub use self_collision::{SelfCollision, SelfCollisionLevel};
pub use shape::Shape;
pub(crate) use shape::{Sample, sample};
