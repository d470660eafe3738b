//! The GPU backend: buffers, pipelines, and the recording of a plan into the encoder of the caller.
//!
//! The caller owns device, queue, encoder and submission. [`Solver::encode`] records one compute pass. Changes of state
//! ([`Solver::set_positions`] and others) are queued writes, which take effect with the next submission. [`Context`]
//! opens a device for programs without a renderer.

mod attachments;
mod bindings;
mod buffers;
mod chains;
mod collider_state;
mod contacts;
mod context;
#[cfg(not(target_arch = "wasm32"))]
mod fastest;
mod instance_colliders;
mod instance_pool;
mod instances;
mod instances_colliders;
mod instances_opening;
#[cfg(not(target_arch = "wasm32"))]
mod instances_reading;
mod instances_state;
mod instances_upload;
mod kind_buffers;
#[cfg(test)]
mod layout;
mod limits;
mod maker;
mod opening;
mod orientations;
mod passes;
mod pipelines;
mod preparing;
mod profile;
mod readback;
#[cfg(not(target_arch = "wasm32"))]
mod reading;
mod real_time;
mod recorder;
mod remaking;
mod replacing;
mod requests;
mod shader;
mod shift;
mod skinned;
mod snapshot;
mod snapshot_bytes;
mod solver;
mod stage;
mod state;
mod store;
mod submitting;
mod suited;
mod sweep;
mod targets;
mod tearing;
mod tiles;
mod timestamps;
mod vertex_output;
mod vertex_passes;

#[cfg(not(target_arch = "wasm32"))]
pub use context::choose_adapter;
pub use context::{ADAPTER_VARIABLE, Context, NO_ADAPTER_HINT, choose_adapter_async, instance_flags, raised_limits};
#[cfg(not(target_arch = "wasm32"))]
pub use fastest::fastest_execution;
pub use instances::Instances;
pub use limits::{required_limits, required_limits_with};
pub use profile::{Profile, Run, pass_name};
pub use readback::Readback;
#[cfg(feature = "internals")]
pub(crate) use shader::recorded;
pub use snapshot::Snapshot;
pub use solver::Solver;
pub use store::PipelineStore;
pub use timestamps::{Interval, Timestamps};
pub use vertex_output::{VertexOutput, VertexOutputId, VertexTarget};

use crate::error::{Error, Result};

/// Runs calls that create GPU objects, and returns the faults that wgpu reports as an error.
///
/// In a browser, where a call cannot wait for the report, the faults go to `wgpu::Device::on_uncaptured_error`.
fn guarded<T>(device: &wgpu::Device, create: impl FnOnce() -> Result<T>) -> Result<T> {
    #[cfg(not(target_arch = "wasm32"))]
    return pollster::block_on(guarded_async(device, create));
    #[cfg(target_arch = "wasm32")]
    {
        let _ = device;
        create()
    }
}

/// The same; the future waits for the report.
fn guarded_async<T, F: FnOnce() -> Result<T>>(
    device: &wgpu::Device,
    create: F,
) -> impl Future<Output = Result<T>> + use<T, F> {
    // Scopes nest, and must be popped in reverse order on the same thread.
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let created = create();
    let lost = is_lost(device);
    let faults = [internal.pop(), memory.pop(), validation.pop()];
    async move {
        let mut first = None;
        for fault in faults {
            first = first.or(fault.await);
        }
        match first {
            // The faults are a consequence.
            _ if lost => Err(Error::DeviceLost { reason: "it cannot create buffers".into() }),
            Some(fault @ wgpu::Error::OutOfMemory { .. }) => Err(Error::OutOfMemory { message: fault.to_string() }),
            Some(fault) => Err(Error::Gpu { message: fault.to_string() }),
            None => created,
        }
    }
}

/// True if the device is lost. wgpu reports the loss in no other call that a library can make. It creates invalid objects
/// in silence, and the callback for the loss belongs to the program.
fn is_lost(device: &wgpu::Device) -> bool {
    Probe::new(device).is_lost()
}

/// A mapped buffer, which can be read until the device is lost.
#[derive(Debug)]
struct Probe(wgpu::Buffer);

impl Probe {
    const BYTES: u64 = 16;

    fn new(device: &wgpu::Device) -> Self {
        Self(device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("supple.probe"),
            size: Self::BYTES,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        }))
    }

    fn is_lost(&self) -> bool {
        self.0.get_mapped_range(..).is_err()
    }
}
