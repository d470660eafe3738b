//! Copies buffers to the host without waiting.

use super::is_lost;
use crate::error::{Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

type Decoder<T> = dyn Fn(&[&[u8]]) -> T + Send + Sync;

/// Converts bytes to data.
struct Decode<T>(Box<Decoder<T>>);

impl<T> std::fmt::Debug for Decode<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decode")
    }
}

/// The outcome of a copy.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arrival {
    Mapped,
    /// The device is lost.
    Failed,
    /// The encoder was dropped.
    Dropped,
}

/// Owned by the callback of a copy. If the callback is dropped without a call, the encoder was dropped.
/// The first outcome empties it, because the next copy may use the same place before the callback is dropped.
struct Ticket(Option<Arc<Mutex<Option<Arrival>>>>);

impl Ticket {
    fn set(&mut self, arrival: Arrival) {
        if let Some(place) = self.0.take() {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(arrival);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.set(Arrival::Dropped);
    }
}

/// A pending copy of GPU data, requested by the `request_…` calls of [`crate::Solver`].
///
/// The copy runs when the encoder is submitted. The data arrives during a later [`wgpu::Device::poll`] or submission.
#[derive(Debug)]
pub struct Readback<T> {
    copies: Vec<StagedCopy>,
    decode: Decode<T>,
    taken: bool,
}

/// A copy of a part of a buffer into one that the host maps.
#[derive(Debug)]
pub(super) struct StagedCopy {
    staging: wgpu::Buffer,
    size: u64,
    arrival: Arc<Mutex<Option<Arrival>>>,
}

impl StagedCopy {
    /// Copies into `staging`, which is at least as large as the part.
    pub fn into_buffer(staging: wgpu::Buffer, size: u64) -> Self {
        Self { staging, size, arrival: Arc::default() }
    }

    fn new(device: &wgpu::Device, size: u64) -> Self {
        let staging = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("supple.readback"),
            size: size.max(16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self::into_buffer(staging, size)
    }

    /// Records the copy, from byte `first` of the source on. The copy before it has an outcome and is unmapped.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer, first: u64, lost: bool) {
        // On a lost device the program's submission would fail to map the buffer, and wgpu would panic.
        self.set(lost.then_some(Arrival::Failed));
        if lost {
            return;
        }
        encoder.copy_buffer_to_buffer(source, first, &self.staging, 0, self.size);
        let mut ticket = Ticket(Some(self.arrival.clone()));
        encoder.map_buffer_on_submit(&self.staging, wgpu::MapMode::Read, .., move |result| {
            ticket.set(if result.is_ok() { Arrival::Mapped } else { Arrival::Failed });
        });
    }

    fn set(&self, arrival: Option<Arrival>) {
        *self.arrival.lock().unwrap_or_else(PoisonError::into_inner) = arrival;
    }

    /// The outcome; `None` while the copy is pending.
    pub fn arrival(&self) -> Option<Arrival> {
        *self.arrival.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The buffer of a copy that is mapped.
    fn view(&self) -> Result<wgpu::BufferView> {
        let lost = |_| Error::DeviceLost { reason: "a mapped buffer could not be read".into() };
        self.staging.get_mapped_range(..).map_err(lost)
    }

    /// Returns what a copy that is mapped holds, and unmaps it.
    pub fn take<T: bytemuck::AnyBitPattern>(&self) -> Result<T> {
        let value = self.view().map(|view| bytemuck::pod_read_unaligned(&view[..self.size as usize]));
        self.staging.unmap();
        value
    }
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
        Self::of_parts(device, encoder, &[(source, first, size)], move |parts| decode(parts[0]))
    }

    /// Copies parts of several buffers: buffer, first byte, number of bytes.
    pub(super) fn of_parts(
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        parts: &[(&wgpu::Buffer, u64, u64)],
        decode: impl Fn(&[&[u8]]) -> T + Send + Sync + 'static,
    ) -> Self {
        let lost = is_lost(device);
        let record = |&(source, first, size): &(&wgpu::Buffer, u64, u64)| {
            let copy = StagedCopy::new(device, size);
            copy.record(encoder, source, first, lost);
            copy
        };
        let copies = parts.iter().map(record).collect();
        Self { copies, decode: Decode(Box::new(decode)), taken: false }
    }

    /// True once the data can be taken, or the device has failed to deliver them.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn has_arrived(&self) -> bool {
        self.copies.iter().all(|copy| copy.arrival().is_some())
    }

    /// Returns the data once; `None` while the copy is pending, and after the data was taken.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] if the device cannot deliver the data; [`Error::NotSubmitted`] if the encoder was dropped
    /// without a submission.
    pub fn try_take(&mut self) -> Result<Option<T>> {
        if self.taken {
            return Ok(None);
        }
        let mut pending = false;
        for copy in &self.copies {
            match copy.arrival() {
                None => pending = true,
                Some(Arrival::Failed) => {
                    return Err(Error::DeviceLost { reason: "a buffer could not be mapped".into() });
                }
                Some(Arrival::Dropped) => return Err(Error::NotSubmitted),
                Some(Arrival::Mapped) => {}
            }
        }
        if pending {
            return Ok(None);
        }
        let views = self.copies.iter().map(StagedCopy::view).collect::<Result<Vec<_>>>()?;
        let parts: Vec<&[u8]> =
            views.iter().zip(&self.copies).map(|(view, copy)| &view[..copy.size as usize]).collect();
        let data = (self.decode.0)(&parts);
        drop(views);
        self.copies.iter().for_each(|copy| copy.staging.unmap());
        self.taken = true;
        Ok(Some(data))
    }
}

/// The first three components of every `vec4`.
pub(super) fn decode_vectors(bytes: &[u8]) -> Vec<[f32; 3]> {
    bytes.chunks_exact(16).map(bytemuck::pod_read_unaligned::<[f32; 4]>).map(|[x, y, z, _]| [x, y, z]).collect()
}
