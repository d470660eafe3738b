#![doc = include_str!("../README.md")]

pub mod collision;
pub mod constraints;
mod error;
mod geometry;
pub mod gpu;
mod instancing;
pub mod reference;
pub mod scene;
#[cfg(feature = "scene-file")]
pub mod scene_file;
mod schedule;
mod settings;
mod sim;

#[cfg(feature = "mesh-colliders")]
pub use collision::Sides;
pub use collision::{
    Collider, ColliderForce, ColliderId, ContactMaterial, ContactMaterialId, ContactReport, DistanceField, Friction,
    Heightfield, Pose, SelfCollision, SelfCollisionLevel, Shape,
};
pub use constraints::{
    Area, ClosedSurface, CosineBend, Distance, DistanceLimit, Hinge, IsometricBend, Limit, LineBend, Pressure,
    ShapeMatching, Volume,
};
pub use error::{Error, Result};
pub use gpu::{Instances, Solver, required_limits, required_limits_with};
pub use instancing::{Instance, InstanceId, Placement};
pub use reference::Reference;
pub use scene::{
    Balloon, BalloonParts, Bending, Cloth, ClothGrid, ClothMesh, Cord, CutCloth, EdgeTriangle, Elasticity, Fabric,
    Intersections, Material, MaterialId, Numbering, Particle, Rope, RopeParts, Scene, SoftBody, SoftParts, Strain,
    TetMesh, TetherForce, Tethers, count_intersections,
};
pub use settings::{ColorOrder, Execution, Field, MAX_FIELDS, Method, Settings, Sweep, Wind};
pub use sim::{Diagnostics, Running};
pub use wgpu;

/// Types for the tests, benches and examples of this crate. They may change in any release.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::constraints::xpbd;
    pub use crate::geometry::vector;
    pub use crate::gpu::recorded::{ShaderModule, take_shader_modules};
    pub use crate::schedule::coloring;
    pub use crate::schedule::plan;
    pub use crate::schedule::plan::{Pass, Plan};
}
