//! Makes buffers within the limits of a device.

use super::Probe;
use super::stage::SPAN_STRIDE;
use crate::error::{Error, Result};
use std::cell::Cell;
use wgpu::BufferUsages;

/// Makes buffers, and checks each against the device's limits before it is made.
pub(super) struct Maker<'a> {
    device: &'a wgpu::Device,
    limits: wgpu::Limits,
    /// Size of all that it has made [bytes].
    made_bytes: Cell<u64>,
}

impl<'a> Maker<'a> {
    pub fn new(device: &'a wgpu::Device) -> Self {
        Self { device, limits: device.limits(), made_bytes: Cell::new(0) }
    }

    /// Size of all that it has made [bytes].
    pub fn made_bytes(&self) -> u64 {
        self.made_bytes.get()
    }

    /// A buffer of at least 16 bytes, as wgpu takes no empty bindings.
    pub fn empty(&self, label: &str, size: u64, usage: BufferUsages) -> Result<wgpu::Buffer> {
        self.made(label, size, usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC)
    }

    fn made(&self, label: &str, size: u64, usage: BufferUsages) -> Result<wgpu::Buffer> {
        let size = size.max(16).next_multiple_of(16);
        check_size(&self.limits, label, size)?;
        let label = format!("supple.{label}");
        self.made_bytes.set(self.made_bytes.get() + size);
        let descriptor = wgpu::BufferDescriptor { label: Some(&label), size, usage, mapped_at_creation: false };
        Ok(self.device.create_buffer(&descriptor))
    }

    /// A buffer that the host maps to read.
    pub fn staging(&self, label: &str, size: u64) -> Result<wgpu::Buffer> {
        self.made(label, size, BufferUsages::MAP_READ | BufferUsages::COPY_DST)
    }

    /// A probe for the loss of the device.
    pub fn probe(&self) -> Probe {
        self.made_bytes.set(self.made_bytes.get() + Probe::BYTES);
        Probe::new(self.device)
    }

    /// Uniform rows that are told apart by dynamic offsets.
    pub fn rows<T: bytemuck::Pod>(&self, queue: &wgpu::Queue, label: &str, rows: &[T]) -> Result<wgpu::Buffer> {
        let mut bytes = vec![0u8; rows.len() * SPAN_STRIDE as usize];
        for (place, row) in bytes.chunks_exact_mut(SPAN_STRIDE as usize).zip(rows) {
            place[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(row));
        }
        self.filled(queue, label, &bytes, BufferUsages::UNIFORM)
    }

    pub fn filled<T: bytemuck::Pod>(
        &self,
        queue: &wgpu::Queue,
        label: &str,
        contents: &[T],
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(contents);
        let buffer = self.empty(label, bytes.len() as u64, usage)?;
        queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// Two uniform buffers, for a flag of a pass that is 0 in some of its dispatches and 1 in others.
    pub fn flags(&self, queue: &wgpu::Queue, label: &str) -> Result<[wgpu::Buffer; 2]> {
        let make = |flag: u32| self.filled(queue, label, &[[flag, 0, 0, 0]], BufferUsages::UNIFORM);
        Ok([make(0)?, make(1)?])
    }
}

/// `Ok` if a buffer is within the limits.
pub(super) fn check_size(limits: &wgpu::Limits, label: &str, size: u64) -> Result<()> {
    let bounds = [
        ("max_buffer_size", limits.max_buffer_size),
        ("max_storage_buffer_binding_size", limits.max_storage_buffer_binding_size),
    ];
    match bounds.into_iter().find(|&(_, available)| size > available) {
        Some((limit, available)) => {
            Err(Error::LimitExceeded { what: format!("the buffer {label}"), limit, needed: size, available })
        }
        None => Ok(()),
    }
}
