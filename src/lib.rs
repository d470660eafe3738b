#![doc = include_str!("../README.md")]

pub mod coloring;
mod controls;
mod cooked;
mod error;
pub mod gpu;
pub mod kinds;
pub mod plan;
pub mod reference;
pub mod scene;
mod settings;
pub mod xpbd;

pub use error::{Error, Result};
pub use gpu::{Solver, required_limits};
pub use kinds::{
    Area, ClosedSurface, CosineBend, Distance, DistanceLimit, Hinge, IsometricBend, Limit, Pressure, ShapeMatching,
    Volume,
};
pub use plan::{Pass, Plan};
pub use reference::Reference;
pub use scene::{
    Cloth, ClothGrid, ClothMesh, Cord, Fabric, Material, MaterialId, Particle, Rope, RopeParts, Scene, Strain, Tethers,
};
pub use settings::{ColorOrder, Method, Settings, Sweep, Wind};
pub use wgpu;
