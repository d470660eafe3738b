//! Constraint kinds and groups, elastic bodies, sewn particles and tethers.

#[path = "../common/mod.rs"]
mod common;

mod attachments;
mod bodies;
mod conformance;
mod gas;
mod groups;
mod mean_forces;
mod plastic_rods;
mod plastic_solids;
mod plasticity;
mod recovery;
mod rods;
mod sewing;
mod tear_calls;
mod tearing;
mod tethers;
