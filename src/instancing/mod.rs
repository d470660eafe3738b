//! Instances of one asset: the asset is compiled once, and each instance has its own state.

pub(crate) mod asset;
pub(crate) mod checks;
mod colliders;
mod instance;
mod pins;
pub(crate) mod pool;

pub use instance::{Instance, InstanceId, Placement};
