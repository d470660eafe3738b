//! Copies buffers to the host, blocking or not.

use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Timeout of a blocking read.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The time that a blocking read waits after the queue is empty. Another thread that polls the device may deliver the
/// data, and may have to wait for a processor first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

type Decoder<T> = dyn Fn(&[u8]) -> T + Send + Sync;

/// Converts bytes to data.
struct Decode<T>(Box<Decoder<T>>);

impl<T> std::fmt::Debug for Decode<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decode")
    }
}

/// A pending copy of GPU data, requested by the `request_…` calls of [`crate::Solver`].
///
/// The copy runs when the encoder is submitted. The data arrives during a later [`wgpu::Device::poll`] or submission.
#[derive(Debug)]
pub struct Readback<T> {
    staging: wgpu::Buffer,
    size: u64,
    arrival: Arc<Mutex<Option<Result<(), wgpu::BufferAsyncError>>>>,
    decode: Decode<T>,
    taken: bool,
}

impl<T> Readback<T> {
    pub(super) fn new(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::Buffer,
        size: u64,
        decode: impl Fn(&[u8]) -> T + Send + Sync + 'static,
    ) -> Self {
        Self::of_part(device, encoder, source, 0, size, decode)
    }

    /// Copies `size` bytes from byte `first` on.
    pub(super) fn of_part(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::Buffer,
        first: u64,
        size: u64,
        decode: impl Fn(&[u8]) -> T + Send + Sync + 'static,
    ) -> Self {
        let staging = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("supple.readback"),
            size: size.max(16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(source, first, &staging, 0, size);
        let arrival = Arc::new(Mutex::new(None));
        let setter = arrival.clone();
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., move |result| {
            *setter.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        Self { staging, size, arrival, decode: Decode(Box::new(decode)), taken: false }
    }

    /// Returns the data once; `None` while the copy is pending, and after the data was taken.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if the device cannot deliver the data.
    pub fn try_take(&mut self) -> Result<Option<T>> {
        let arrival = self.arrival.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match arrival {
            _ if self.taken => Ok(None),
            None => Ok(None),
            Some(Err(fault)) => Err(Error::DeviceLost { reason: fault.to_string() }),
            Some(Ok(())) => {
                let lost = |fault: wgpu::MapRangeError| Error::DeviceLost { reason: fault.to_string() };
                let view = self.staging.get_mapped_range(..).map_err(lost)?;
                let data = (self.decode.0)(&view[..self.size as usize]);
                drop(view);
                self.staging.unmap();
                self.taken = true;
                Ok(Some(data))
            }
        }
    }

    /// Waits for the data; the encoder must have been submitted.
    pub(super) fn wait(mut self, device: &wgpu::Device) -> Result<T> {
        let start = Instant::now();
        let mut last_busy = start;
        loop {
            if let Some(data) = self.try_take()? {
                return Ok(data);
            }
            let left = TIMEOUT.saturating_sub(start.elapsed());
            let timeout = Error::Timeout { seconds: TIMEOUT.as_secs_f32() };
            if left.is_zero() {
                return Err(timeout);
            }
            let poll = wgpu::PollType::Wait { submission_index: None, timeout: Some(left) };
            // wgpu panics if the device is lost during the wait. It also panics if the wait times out while another
            // thread collects the same work, so a wait is not cut into shorter ones.
            let idle = match catch_unwind(AssertUnwindSafe(|| device.poll(poll))) {
                Ok(status) => status.is_ok_and(|status| status.is_queue_empty()),
                Err(_) if start.elapsed() >= TIMEOUT => return Err(timeout),
                Err(_) => return Err(Error::DeviceLost { reason: "it was lost during a wait".into() }),
            };
            if !idle {
                last_busy = Instant::now();
            } else if last_busy.elapsed() > IDLE_TIMEOUT {
                return Err(Error::DeviceLost { reason: "submitted work did not complete".into() });
            } else if self.arrival.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
                // Another thread that polls the same device delivers the data.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// The first three components of every `vec4`.
pub(super) fn decode_vectors(bytes: &[u8]) -> Vec<[f32; 3]> {
    bytes.chunks_exact(16).map(bytemuck::pod_read_unaligned::<[f32; 4]>).map(|[x, y, z, _]| [x, y, z]).collect()
}

/// Every `f32`.
pub(super) fn decode_scalars(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect()
}
