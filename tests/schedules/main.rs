//! Schedules agree: executions, colours, the order of projection, the plan and the numbering of particles.

#[path = "../common/mod.rs"]
mod common;

mod coloring;
mod executions;
mod numbering;
mod orders;
mod plan;
