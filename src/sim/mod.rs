//! Host state of a simulation: settings, materials, pins, targets, colliders, and the parameters that the passes read.

pub(crate) mod attachments;
pub(crate) mod capacities;
mod checkpoint;
pub(crate) mod contact_params;
pub(crate) mod controls;
mod diagnostics;
mod forces;
mod join;
mod orientations;
pub(crate) mod params;
pub(crate) mod replacing;
mod running;
mod seams;
mod shift;
pub(crate) mod skinned;
mod targets;
pub(crate) mod tearing;

pub use diagnostics::Diagnostics;
pub use running::Running;
pub(crate) use shift::shifted;
pub use tearing::{TearRequest, Tears};
