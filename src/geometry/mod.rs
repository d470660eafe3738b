//! Vector arithmetic, rotations, triangle meshes, index checks and sorting by keys.

mod distinct_points;
mod grouping;
mod indices;
pub(crate) mod mesh;
mod nearest;
pub mod rotation;
mod tangents;
mod union_find;
pub mod vector;

pub(crate) use distinct_points::DistinctPoints;
pub(crate) use grouping::{Distinct, grouped};
pub(crate) use indices::{check_exists, check_indices, check_range};
pub(crate) use mesh::check_closed;
#[cfg(feature = "scene-file")]
pub(crate) use mesh::is_degenerate;
pub use mesh::{MeshReport, Topology};
pub(crate) use nearest::NearestTriangles;
pub(crate) use tangents::TangentTable;
pub(crate) use union_find::{components, root, unite};
