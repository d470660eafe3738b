//! Timestamps at the boundaries of compute passes: their GPU time.

use super::guarded;
use super::readback::Readback;
use crate::error::{Error, Result};

/// Number of compute passes per query set: two queries per pass, up to WebGPU's limit.
const PASSES_PER_SET: usize = wgpu::QUERY_SET_MAX_QUERIES as usize / 2;

/// Query sets for the timestamps at the beginning and the end of compute passes.
#[derive(Debug)]
pub struct Timestamps {
    device: wgpu::Device,
    sets: Vec<wgpu::QuerySet>,
    resolved: wgpu::Buffer,
    pass_count: usize,
    /// Period of the GPU clock \[ms\].
    tick: f64,
}

/// Begin and end time of a compute pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Begin, relative to the begin of the first pass \[ms\].
    pub begin: f64,
    /// End, relative to the begin of the first pass \[ms\].
    pub end: f64,
}

impl Interval {
    /// Duration \[ms\].
    pub fn milliseconds(&self) -> f64 {
        self.end - self.begin
    }
}

impl Timestamps {
    /// Creates query sets for `pass_count` compute passes.
    ///
    /// # Errors
    /// [`Error::NoTimestamps`] if the device was requested without [`wgpu::Features::TIMESTAMP_QUERY`]; [`Error::Gpu`].
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, pass_count: usize) -> Result<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Err(Error::NoTimestamps);
        }
        let tick = f64::from(queue.get_timestamp_period()) * 1e-6;
        guarded(device, || {
            let counts = (0..pass_count).step_by(PASSES_PER_SET).map(|first| PASSES_PER_SET.min(pass_count - first));
            let set = |count| {
                device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("supple.timestamps"),
                    ty: wgpu::QueryType::Timestamp,
                    count: 2 * count as u32,
                })
            };
            let resolved = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("supple.timestamps"),
                size: (pass_count as u64 * 16).max(16),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            Ok(Self { device: device.clone(), sets: counts.map(set).collect(), resolved, pass_count, tick })
        })
    }

    /// The timestamps of a compute pass, for [`crate::Solver::encode_timed`] or any other pass; `index` counts from 0.
    ///
    /// # Panics
    /// If `index` is not below the number of passes.
    pub fn writes(&self, index: usize) -> wgpu::ComputePassTimestampWrites<'_> {
        assert!(index < self.pass_count, "pass {index} of {}", self.pass_count);
        let first = (index % PASSES_PER_SET * 2) as u32;
        wgpu::ComputePassTimestampWrites {
            query_set: &self.sets[index / PASSES_PER_SET],
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        }
    }

    /// Requests the times of all passes, in the order of their indices. The passes must be recorded before.
    pub fn request(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<Interval>> {
        self.request_as(encoder, |intervals| intervals)
    }

    /// Requests the times of all passes, converted by `make`.
    pub(super) fn request_as<T: 'static>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        make: impl Fn(Vec<Interval>) -> T + Send + Sync + 'static,
    ) -> Readback<T> {
        let (size, tick) = (self.pass_count as u64 * 16, self.tick);
        for (set, first) in self.sets.iter().zip((0u64..).step_by(PASSES_PER_SET)) {
            let count = (self.pass_count as u64 - first).min(PASSES_PER_SET as u64) as u32;
            encoder.resolve_query_set(set, 0..2 * count, &self.resolved, first * 16);
        }
        Readback::new(&self.device, encoder, &self.resolved, size, move |bytes| {
            let ticks = |at: usize| bytemuck::pod_read_unaligned::<u64>(&bytes[at..at + 8]);
            let start = if bytes.is_empty() { 0 } else { ticks(0) };
            // GPU clocks may briefly run backwards.
            let since = |at| ticks(at).saturating_sub(start) as f64 * tick;
            let interval = |at| Interval { begin: since(at), end: since(at + 8).max(since(at)) };
            make((0..bytes.len()).step_by(16).map(interval).collect())
        })
    }
}
