#![doc = include_str!("../README.md")]

mod asset;
mod clusters;
pub mod collide;
pub mod coloring;
mod components;
mod controls;
mod cooked;
mod crowd;
mod error;
pub mod gpu;
mod instances;
mod join;
pub mod kinds;
pub mod plan;
pub mod reference;
mod running;
pub mod scene;
mod settings;
mod shift;
mod stars;
mod tiling;
pub mod xpbd;

#[cfg(feature = "mesh-colliders")]
pub use collide::Sides;
pub use collide::{
    Collider, ColliderForce, ColliderId, ContactMaterial, ContactMaterialId, ContactReport, DistanceField, Friction,
    Heightfield, Pose, SelfCollision, SelfCollisionLevel, Shape,
};
pub use error::{Error, Result};
pub use gpu::{Instances, Solver, required_limits, required_limits_with};
pub use instances::{Instance, InstanceId, Placement};
pub use kinds::{
    Area, ClosedSurface, CosineBend, Distance, DistanceLimit, Hinge, IsometricBend, Limit, LineBend, Pressure,
    ShapeMatching, Volume,
};
pub use plan::{Pass, Plan};
pub use reference::Reference;
pub use running::Running;
pub use scene::{
    Balloon, BalloonParts, Bending, Cloth, ClothGrid, ClothMesh, Cord, CutCloth, EdgeTriangle, Elasticity, Fabric,
    Intersections, Material, MaterialId, Numbering, Particle, Rope, RopeParts, Scene, SoftBody, SoftParts, Strain,
    TetMesh, TetherForce, Tethers, count_intersections,
};
pub use settings::{ColorOrder, Execution, Field, MAX_FIELDS, Method, Settings, Sweep, Wind};
pub use wgpu;
