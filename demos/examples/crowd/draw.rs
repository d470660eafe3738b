//! Draws all flags in one draw call, their poles in a second one and the balls in a third one, from the buffers of the
//! instance pool.

use crate::Crowd;
use anyhow::Context as _;
use glam::Mat4;
use std::path::Path;
use supple::gpu::Context;
use supple::wgpu::{self, util::DeviceExt};
use supple_demos::camera::Camera;
use supple_demos::outputs::cannot_write;
use supple_demos::picture::read_texture;

const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
const IMAGE_SIZE: wgpu::Extent3d = wgpu::Extent3d { width: 960, height: 600, depth_or_array_layers: 1 };

/// Vertices of a pole: three sides of two triangles each.
const POLE: u32 = 18;

/// Vertices of a ball: quads of two triangles, in 16 rows of 32.
const BALL_VERTICES: u32 = 6 * 16 * 32;

/// `live[instance_index]` is the slot of a flag; its particles start at `slot * PARTICLES`. A pole reaches from y = 0
/// to 2 cm above the first particle of its flag.
const SHADER: &str = "
@group(0) @binding(0) var<uniform> view_projection: mat4x4f;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> normals: array<vec4f>;
@group(0) @binding(3) var<storage, read> live: array<u32>;
// Center and radius.
@group(0) @binding(4) var<storage, read> balls: array<vec4f>;
override PARTICLES: u32 = 1u;
struct Out { @builtin(position) clip: vec4f, @location(0) normal: vec3f, @location(1) color: vec3f }
@vertex fn flag(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Out {
    let slot = live[instance];
    let i = slot * PARTICLES + vertex;
    let tint = 0.5 + 0.5 * cos(f32(slot) * 2.4 + vec3f(0.0, 2.1, 4.2));
    return Out(view_projection * vec4f(positions[i].xyz, 1.0), normals[i].xyz, 0.1 + 0.6 * tint);
}
@vertex fn pole(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Out {
    var top = positions[live[instance] * PARTICLES].xyz + vec3f(0.0, 0.02, 0.0);
    let corner = array(vec2u(0, 0), vec2u(1, 0), vec2u(0, 1), vec2u(0, 1), vec2u(1, 0), vec2u(1, 1))[vertex % 6u];
    let angle = 2.0944 * f32(vertex / 6u + corner.x);
    let normal = vec3f(cos(angle), 0.0, sin(angle));
    top.y *= f32(corner.y);
    return Out(view_projection * vec4f(top + 0.008 * normal, 1.0), normal, vec3f(0.25, 0.22, 0.2));
}
@vertex fn ball(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Out {
    let quad = vertex / 6u;
    let corner = array(vec2u(0, 0), vec2u(1, 0), vec2u(0, 1), vec2u(0, 1), vec2u(1, 0), vec2u(1, 1))[vertex % 6u];
    let angles = vec2f(vec2u(quad % 32u, quad / 32u) + corner) * vec2f(6.28319 / 32.0, 3.14159 / 16.0);
    let normal = vec3f(cos(angles.x) * sin(angles.y), cos(angles.y), sin(angles.x) * sin(angles.y));
    let ball = balls[instance];
    return Out(view_projection * vec4f(ball.xyz + ball.w * normal, 1.0), normal, vec3f(0.75, 0.72, 0.68));
}
@fragment fn shade(in: Out) -> @location(0) vec4f {
    return vec4f(in.color * (0.35 + 0.65 * abs(dot(normalize(in.normal), normalize(vec3f(0.4, 0.8, 0.6))))), 1.0);
}";

/// Pipelines and buffers to draw the flags to a texture format.
pub struct Renderer {
    flags: wgpu::RenderPipeline,
    poles: wgpu::RenderPipeline,
    balls: wgpu::RenderPipeline,
    ball_rows: wgpu::Buffer,
    bindings: wgpu::BindGroup,
    view_projection: wgpu::Buffer,
    indices: wgpu::Buffer,
}

impl Renderer {
    pub fn new(gpu: &Context, crowd: &Crowd, format: wgpu::TextureFormat) -> Self {
        let device = &gpu.device;
        let view_projection = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: size_of::<Mat4>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let indices = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("triangles"),
            contents: bytemuck::cast_slice(crowd.flag.triangles()),
            usage: wgpu::BufferUsages::INDEX,
        });
        let uniform = wgpu::BufferBindingType::Uniform;
        let storage = wgpu::BufferBindingType::Storage { read_only: true };
        let entries: Vec<_> = (0..)
            .zip([uniform, storage, storage, storage, storage])
            .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                count: None,
            })
            .collect();
        let layout =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let ball_rows = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("balls"),
            size: 16 * crowd.balls.len().max(1) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let flags = &crowd.flags;
        let buffers = [&view_projection, flags.positions(), flags.normals(), flags.live(), &ball_rows];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bindings =
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let source = wgpu::ShaderSource::Wgsl(SHADER.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("crowd"), source });
        let constants = [("PARTICLES", f64::from(crowd.flags.particle_count()))];
        let pipeline = |entry_point| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(entry_point),
                layout: Some(&pipeline_layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some(entry_point),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        constants: &constants,
                        ..Default::default()
                    },
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(true),
                    depth_compare: Some(wgpu::CompareFunction::Less),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("shade"),
                    compilation_options: Default::default(),
                    targets: &[Some(format.into())],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let [flags, poles, balls] = ["flag", "pole", "ball"].map(pipeline);
        Self { flags, poles, balls, ball_rows, bindings, view_projection, indices }
    }

    /// Records the drawing of all flags and poles into a texture.
    pub fn draw(
        &self,
        gpu: &Context,
        encoder: &mut wgpu::CommandEncoder,
        crowd: &Crowd,
        camera: &Camera,
        picture: &wgpu::Texture,
    ) {
        let size = picture.size();
        let view_projection = camera.view_projection(size.width as f32 / size.height as f32);
        gpu.queue.write_buffer(&self.view_projection, 0, bytemuck::bytes_of(&view_projection));
        let balls: Vec<[f32; 4]> = crowd.ball_positions().map(|[x, y, z]| [x, y, z, crate::BALL]).collect();
        gpu.queue.write_buffer(&self.ball_rows, 0, bytemuck::cast_slice(&balls));
        let depth = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("depth"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: DEPTH,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let [picture_view, depth_view] = [picture, &depth].map(|texture| texture.create_view(&Default::default()));
        let sky = wgpu::Color { r: 0.55, g: 0.65, b: 0.75, a: 1.0 };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &picture_view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(sky), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth_view,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.set_pipeline(&self.flags);
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..3 * crowd.flag.triangle_count() as u32, 0, 0..crowd.flags.len());
        pass.set_pipeline(&self.poles);
        pass.draw(0..POLE, 0..crowd.flags.len());
        pass.set_pipeline(&self.balls);
        pass.draw(0..BALL_VERTICES, 0..balls.len() as u32);
    }
}

/// Renders the flags offscreen and writes an image file.
pub fn render_to_file(gpu: &Context, crowd: &Crowd, path: &Path) -> anyhow::Result<()> {
    let device = &gpu.device;
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let picture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: IMAGE_SIZE,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    Renderer::new(gpu, crowd, format).draw(gpu, &mut encoder, crowd, &crowd.camera(), &picture);
    read_texture(gpu, encoder, &picture)?.save(path).with_context(|| cannot_write(path))
}
