//! The GPU player: the buffers, the pipelines, and the recording of a plan into the caller's encoder.
//!
//! The caller owns device, queue, encoder and submission. [`Solver::encode`] records one compute pass and does nothing
//! else; changes of state ([`Solver::set_positions`] and its kin) are queued writes, which take effect with the next
//! submission. [`Context`] opens a device for those who have none.

mod bindings;
mod buffers;
mod contacts;
mod context;
mod crowd;
mod fastest;
mod halos;
mod instances;
#[cfg(test)]
mod layout;
mod limits;
mod pipelines;
mod profile;
mod readback;
mod reading;
mod recorder;
mod remaking;
mod shift;
mod skins;
mod solver;
mod state;
mod suited;
mod tiles;
mod timestamps;
mod unroll;
mod whole;

pub use context::{ADAPTER_VARIABLE, Context, NO_ADAPTER_HINT, choose_adapter, instance_flags, with_room};
pub use fastest::fastest_execution;
pub use instances::Instances;
pub use limits::{required_limits, required_limits_with};
pub use profile::{Profile, Run, pass_name};
pub use readback::Readback;
pub use solver::{Diagnostics, Solver};
pub use timestamps::{Interval, Timestamps};

use crate::error::{Error, Result};

/// Runs calls that create GPU objects, and turns what wgpu has to say about them into an error.
fn guarded<T>(device: &wgpu::Device, create: impl FnOnce() -> Result<T>) -> Result<T> {
    // Scopes nest, and must be popped in reverse order on the same thread.
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let created = create();
    let faults =
        [pollster::block_on(internal.pop()), pollster::block_on(memory.pop()), pollster::block_on(validation.pop())];
    match faults.into_iter().flatten().next() {
        Some(fault) => Err(Error::Gpu { message: fault.to_string() }),
        None => created,
    }
}
