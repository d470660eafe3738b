//! A pipeline and its bind group layout.

use super::shader::assembled;
#[cfg(feature = "internals")]
use super::shader::recorded;
use super::store::{Description, PipelineStore};

/// Threads of a workgroup, unless a pass sets another number; the default of `WORKGROUP_SIZE` in the shaders.
pub(super) const WORKGROUP_SIZE: u32 = 128;

/// The constant of the shaders that sets another number.
pub(super) const SIZE: &str = "WORKGROUP_SIZE";

/// Bytes from one row of the span buffer to the next: the alignment of dynamic offsets that every device accepts.
pub(super) const SPAN_STRIDE: u32 = 256;

/// Returns the value of a boolean constant of a shader.
pub(super) fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// Access of a pass to a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    Uniform,
    /// A row of the span buffer, by dynamic offset.
    Span,
    Read,
    Write,
}

use Slot::{Read, Span, Uniform, Write};

/// A pipeline and the layout of its one bind group.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub name: String,
    pub pipeline: wgpu::ComputePipeline,
    pub layout: wgpu::BindGroupLayout,
    /// Threads of a workgroup.
    pub workgroup_size: u32,
}

impl Stage {
    pub fn new(
        store: &PipelineStore,
        name: &str,
        entry: &str,
        text: &str,
        slots: &[Slot],
        constants: &[(&str, f64)],
    ) -> Self {
        let description = Description {
            name: format!("supple.{name}"),
            entry: entry.to_owned(),
            source: text.to_owned(),
            slots: slots.to_vec(),
            constants: constants.iter().map(|&(name, value)| (name.to_owned(), value.to_bits())).collect(),
        };
        #[cfg(feature = "internals")]
        recorded::push(&description.name, entry, &assembled(text));
        store.stage(description, |description, cache| Self::create(store.device(), description, constants, cache))
    }

    fn create(
        device: &wgpu::Device,
        Description { name, entry, source, slots, .. }: &Description,
        constants: &[(&str, f64)],
        cache: Option<&wgpu::PipelineCache>,
    ) -> Self {
        let (label, source) = (Some(name.as_str()), assembled(source));
        let entries: Vec<_> = (0..).zip(slots).map(|(binding, &slot)| layout_entry(binding, slot)).collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let size = constants.iter().find(|(name, _)| *name == SIZE).map_or(WORKGROUP_SIZE, |&(_, size)| size as u32);
        let sized = [(SIZE, f64::from(size))];
        // A constant of a module that is left out is left out, too.
        let declared = |&&(name, _): &&(&str, f64)| source.contains(&format!("override {name}:"));
        let constants: Vec<_> =
            constants.iter().filter(|(name, _)| *name != SIZE).chain(&sized).filter(declared).copied().collect();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                // Workgroup memory is written before it is read.
                zero_initialize_workgroup_memory: false,
            },
            cache,
        });
        Self { name: name.clone(), pipeline, layout, workgroup_size: size }
    }

    /// Binds buffers to the slots, in order.
    pub fn bind(&self, device: &wgpu::Device, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        self.bind_entries(device, &entries)
    }

    /// The same, where slot 0 is a row of the span buffer.
    pub fn bind_span(&self, device: &wgpu::Device, spans: &wgpu::Buffer, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let resource = wgpu::BindingResource::Buffer(row_of(spans));
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource }];
        entries.extend(
            (1..)
                .zip(buffers)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
        );
        self.bind_entries(device, &entries)
    }

    /// The same, where the last slot is a row of a buffer like the span buffer.
    pub fn bind_before_row(
        &self,
        device: &wgpu::Device,
        buffers: &[&wgpu::Buffer],
        rows: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        self.bind_before(device, buffers, row_of(rows))
    }

    /// The same, where the last slot is a part of a buffer.
    pub fn bind_before(
        &self,
        device: &wgpu::Device,
        buffers: &[&wgpu::Buffer],
        last: wgpu::BufferBinding<'_>,
    ) -> wgpu::BindGroup {
        let mut entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let resource = wgpu::BindingResource::Buffer(last);
        entries.push(wgpu::BindGroupEntry { binding: buffers.len() as u32, resource });
        self.bind_entries(device, &entries)
    }

    fn bind_entries(&self, device: &wgpu::Device, entries: &[wgpu::BindGroupEntry]) -> wgpu::BindGroup {
        let (label, layout) = (Some(self.name.as_str()), &self.layout);
        device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries })
    }
}

/// A row of 16 bytes, by dynamic offset.
fn row_of(rows: &wgpu::Buffer) -> wgpu::BufferBinding<'_> {
    wgpu::BufferBinding { buffer: rows, offset: 0, size: wgpu::BufferSize::new(16) }
}

fn layout_entry(binding: u32, slot: Slot) -> wgpu::BindGroupLayoutEntry {
    let ty = match slot {
        Uniform | Span => wgpu::BufferBindingType::Uniform,
        Read | Write => wgpu::BufferBindingType::Storage { read_only: slot == Read },
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: slot == Span, min_binding_size: None },
        count: None,
    }
}
