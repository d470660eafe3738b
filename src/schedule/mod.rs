//! Compiles a scene into records, schedules of the constraints, and a plan of passes.
//!
//! [`CompiledScene`] holds the data that both backends read: the records of each kind, ordered by tiles, trees,
//! clusters and colours. The [`Plan`] lists the passes of a step as data.

pub(crate) mod chains;
mod changes;
mod checks;
pub(crate) mod clusters;
pub mod coloring;
pub(crate) mod compiled;
pub(crate) mod compiled_kind;
pub(crate) mod contacts;
mod pass;
pub mod plan;
pub(crate) mod plan_inputs;
pub(crate) mod rings;
mod shuffle;
pub(crate) mod skins;
pub(crate) mod split;
pub(crate) mod tearing;
pub(crate) mod tiling;
pub(crate) mod trees;
