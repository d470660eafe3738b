//! Constraint kinds and groups, elastic bodies, sewn particles and tethers.

#[path = "../common/mod.rs"]
mod common;

mod attachments;
mod bodies;
mod conformance;
mod groups;
mod mean_forces;
mod plasticity;
mod recovery;
mod rods;
mod sewing;
mod tethers;
