//! The state of a simulation: determinism, shifts of the origin, changes while it runs, and what it reports.

#[path = "../common/mod.rs"]
mod common;

mod air;
mod determinism;
mod device_loss;
mod far;
mod masses;
mod parts;
mod picking;
mod pins;
mod pipelines;
mod profile;
mod random_calls;
mod recording;
mod snapshots;
mod targets;
mod teleport;
mod threads;
mod vertex_output;
