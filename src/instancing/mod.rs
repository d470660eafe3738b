//! Instances of one asset: an asset is compiled once, and each of its instances has a state of its own.

pub(crate) mod asset;
mod instance;
pub(crate) mod pool;

pub use instance::{Instance, InstanceId, Placement};
