//! The render pipelines of the renderer, and the layouts of their bindings.

use super::lines::{Line, Tube};
use supple::wgpu;

pub const SAMPLES: u32 = 4;
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Pipelines of `draw.wgsl`. Those with `shadow` in their names draw the shadow map.
pub struct Pipelines {
    pub layout: wgpu::BindGroupLayout,
    pub shadow_layout: wgpu::BindGroupLayout,
    pub surface: wgpu::RenderPipeline,
    pub surface_shadow: wgpu::RenderPipeline,
    pub ground: wgpu::RenderPipeline,
    pub sky: wgpu::RenderPipeline,
    pub lines: wgpu::RenderPipeline,
    pub tube: wgpu::RenderPipeline,
    pub tube_shadow: wgpu::RenderPipeline,
    pub ball: wgpu::RenderPipeline,
    pub ball_shadow: wgpu::RenderPipeline,
    pub collider: wgpu::RenderPipeline,
}

impl Pipelines {
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("draw.wgsl"));
        let [layout, shadow_layout] = layouts(device);
        let builder = PipelineBuilder { device, module, format, layout: &layout, shadow_layout: &shadow_layout };
        let vector = |attributes| {
            Some(wgpu::VertexBufferLayout { array_stride: 16, step_mode: wgpu::VertexStepMode::Vertex, attributes })
        };
        let position = vector(&wgpu::vertex_attr_array![0 => Float32x4]);
        let normal = vector(&wgpu::vertex_attr_array![1 => Float32x4]);
        let line_instance = Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<Line>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![0 => Uint32x2, 1 => Unorm8x4, 2 => Float32],
        });
        let (triangles, strip) = (wgpu::PrimitiveTopology::TriangleList, wgpu::PrimitiveTopology::TriangleStrip);
        // Balls too: their particle is `particles.x`.
        let tube_instance = Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<Tube>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![0 => Uint32x4, 1 => Float32],
        });
        let surface_buffers = [position.clone(), normal];
        let surface = builder.pipeline(triangles, "surface_vertex", Some("surface_fragment"), &surface_buffers);
        let surface_shadow = builder.pipeline(triangles, "shadow_vertex", None, &[position]);
        let ground = builder.pipeline(strip, "ground_vertex", Some("ground_fragment"), &[]);
        let sky = builder.pipeline(strip, "sky_vertex", Some("sky_fragment"), &[]);
        let collider = builder.pipeline(triangles, "solid_vertex", Some("solid_fragment"), &surface_buffers);
        let tube_shadow = builder.pipeline(triangles, "tube_shadow_vertex", None, std::slice::from_ref(&tube_instance));
        let ball_shadow = builder.pipeline(triangles, "ball_shadow_vertex", None, std::slice::from_ref(&tube_instance));
        let ball =
            builder.pipeline(triangles, "ball_vertex", Some("solid_fragment"), std::slice::from_ref(&tube_instance));
        let tube = builder.pipeline(triangles, "tube_vertex", Some("solid_fragment"), &[tube_instance]);
        let lines = builder.pipeline(triangles, "line_vertex", Some("line_fragment"), &[line_instance]);
        Self {
            surface,
            surface_shadow,
            ground,
            sky,
            lines,
            tube,
            tube_shadow,
            ball,
            ball_shadow,
            collider,
            layout,
            shadow_layout,
        }
    }
}

/// The layout of all bindings, and that of the shadow map: a texture cannot be bound in the pass that writes it.
fn layouts(device: &wgpu::Device) -> [wgpu::BindGroupLayout; 2] {
    let stages = wgpu::ShaderStages::VERTEX_FRAGMENT;
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry { binding, visibility: stages, ty, count: None };
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let storage = buffer(wgpu::BufferBindingType::Storage { read_only: true });
    let depth_texture = wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Depth,
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    };
    let full = [
        entry(0, buffer(wgpu::BufferBindingType::Uniform)),
        entry(1, depth_texture),
        entry(2, wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison)),
        entry(3, storage),
        entry(4, storage),
        entry(5, storage),
        entry(6, storage),
    ];
    [full.as_slice(), &[full[0], full[4]]]
        .map(|entries| device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries }))
}

struct PipelineBuilder<'a> {
    device: &'a wgpu::Device,
    module: wgpu::ShaderModule,
    format: wgpu::TextureFormat,
    layout: &'a wgpu::BindGroupLayout,
    shadow_layout: &'a wgpu::BindGroupLayout,
}

impl PipelineBuilder<'_> {
    /// Without a fragment shader, the pipeline draws the shadow map.
    fn pipeline(
        &self,
        topology: wgpu::PrimitiveTopology,
        vertex: &str,
        fragment: Option<&str>,
        buffers: &[Option<wgpu::VertexBufferLayout>],
    ) -> wgpu::RenderPipeline {
        let shadow = fragment.is_none();
        let bind_group_layouts = &[Some(if shadow { self.shadow_layout } else { self.layout })];
        let layout = self
            .device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor { bind_group_layouts, ..Default::default() });
        let encode = f64::from(u8::from(!self.format.is_srgb()));
        let constants: &[(&str, f64)] = &[("ENCODE_SRGB", encode)];
        let targets = [Some(self.format.into())];
        let compilation_options = wgpu::PipelineCompilationOptions { constants, ..Default::default() };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(vertex),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: Some(vertex),
                compilation_options: Default::default(),
                buffers,
            },
            primitive: wgpu::PrimitiveState { topology, ..Default::default() },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: if shadow { 1 } else { SAMPLES }, ..Default::default() },
            fragment: fragment.map(|entry| wgpu::FragmentState {
                module: &self.module,
                entry_point: Some(entry),
                compilation_options,
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}
