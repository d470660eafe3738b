//! supple inside an existing renderer. This program owns the device, queue, encoder, depth buffer and pipelines. supple
//! records its steps into the same encoder. The renderer draws the cloth directly from the buffers of supple, together
//! with a cube. A frame copies nothing and does not wait for the GPU.
//!
//! The program renders offscreen and writes the last frame to `out/embed.png`.

use glam::camera::rh::{proj::directx::perspective, view::look_at_mat4};
use glam::{Mat4, Vec3};
use supple::wgpu::{self, util::DeviceExt};
use supple::{ClothGrid, Scene, Settings, Solver, Wind};

const SIZE: wgpu::Extent3d = wgpu::Extent3d { width: 640, height: 480, depth_or_array_layers: 1 };
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

const SHADER: &str = "
@group(0) @binding(0) var<uniform> view_projection: mat4x4f;
struct Out { @builtin(position) clip: vec4f, @location(0) normal: vec3f, @location(1) color: vec3f }
@vertex fn cloth(@location(0) position: vec4f, @location(1) normal: vec4f) -> Out {
    return Out(view_projection * vec4f(position.xyz, 1.0), normal.xyz, vec3f(0.1, 0.35, 0.6));
}
@vertex fn cube(@builtin(vertex_index) i: u32) -> Out {
    let face = i / 6u;
    let corner = array(vec2f(-1, -1), vec2f(1, -1), vec2f(-1, 1), vec2f(-1, 1), vec2f(1, -1), vec2f(1, 1))[i % 6u];
    let side = f32(face % 2u) * 2.0 - 1.0;
    let p = array(vec3f(side, corner), vec3f(corner.x, side, corner.y), vec3f(corner, side))[face / 2u];
    let n = array(vec3f(side, 0, 0), vec3f(0, side, 0), vec3f(0, 0, side))[face / 2u];
    return Out(view_projection * vec4f(p * 0.35 + vec3f(0.0, -0.9, 0.1), 1.0), n, vec3f(0.8, 0.45, 0.1));
}
@fragment fn shade(in: Out) -> @location(0) vec4f {
    return vec4f(in.color * (0.35 + 0.65 * abs(dot(normalize(in.normal), normalize(vec3f(0.4, 0.8, 0.6))))), 1.0);
}";

fn main() -> anyhow::Result<()> {
    // The device and queue of the renderer; supple creates no others.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = supple::gpu::choose_adapter(&instance, None)?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;

    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 48, rows: 48, ..ClothGrid::default() })?;
    cloth.corners()?[..2].iter().try_for_each(|&corner| scene.pin(corner))?;
    let wind = Wind { velocity: [0.0, 0.5, -3.0], gust: 0.5, ..Wind::default() };
    let mut solver = Solver::new(&device, &queue, &scene, Settings { wind: Some(wind), ..Settings::default() })?;

    let eye = Vec3::new(2.2, 0.3, 2.8);
    let view = look_at_mat4(eye, Vec3::new(0.0, -0.8, -0.3), Vec3::Y);
    let view_projection: Mat4 =
        perspective(45f32.to_radians(), SIZE.width as f32 / SIZE.height as f32, 0.1, 50.0) * view;
    let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("view projection"),
        contents: bytemuck::bytes_of(&view_projection),
        usage: wgpu::BufferUsages::UNIFORM,
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    let entries = [wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }];
    let bindings =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    // The buffers of supple hold one vec4 per particle: a stride of 16 bytes.
    let stream = |attributes| {
        Some(wgpu::VertexBufferLayout { array_stride: 16, step_mode: wgpu::VertexStepMode::Vertex, attributes })
    };
    let streams =
        [stream(&wgpu::vertex_attr_array![0 => Float32x4]), stream(&wgpu::vertex_attr_array![1 => Float32x4])];
    let cloth_pipeline = pipeline(&device, &module, &layout, "cloth", &streams);
    let cube_pipeline = pipeline(&device, &module, &layout, "cube", &[]);
    let [picture, depth] = [COLOR, DEPTH].map(|format| target(&device, format));
    let [picture_view, depth_view] = [&picture, &depth].map(|texture| texture.create_view(&Default::default()));

    for _ in 0..70 {
        let mut encoder = device.create_command_encoder(&Default::default());
        let steps = solver.advance(1.0 / 60.0);
        solver.encode(&mut encoder, steps);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &picture_view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::WHITE), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth_view,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &bindings, &[]);
        pass.set_pipeline(&cube_pipeline);
        pass.draw(0..36, 0..1);
        pass.set_pipeline(&cloth_pipeline);
        pass.set_vertex_buffer(0, solver.positions().slice(..));
        pass.set_vertex_buffer(1, solver.normals().slice(..));
        pass.set_index_buffer(solver.indices().slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..solver.index_count(), 0, 0..1);
        drop(pass);
        queue.submit([encoder.finish()]);
    }
    save(&device, &queue, &picture)
}

fn pipeline(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    layout: &wgpu::BindGroupLayout,
    vertex: &str,
    buffers: &[Option<wgpu::VertexBufferLayout>],
) -> wgpu::RenderPipeline {
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        bind_group_layouts: &[Some(layout)],
        ..Default::default()
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(vertex),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: Default::default(),
            buffers,
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
            module,
            entry_point: Some("shade"),
            compilation_options: Default::default(),
            targets: &[Some(COLOR.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn target(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: SIZE,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Reads the image back, checks by colour that the cloth and the cube are visible, and writes the file.
fn save(device: &wgpu::Device, queue: &wgpu::Queue, picture: &wgpu::Texture) -> anyhow::Result<()> {
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(SIZE.width * SIZE.height * 4),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIZE.width * 4), rows_per_image: None };
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        picture.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer: &staging, layout },
        SIZE,
    );
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| {});
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let pixels = staging.get_mapped_range(..)?.to_vec();
    let bytes_where = |is: fn(&[u8]) -> bool| pixels.chunks_exact(4).filter(|pixel| is(pixel)).count() * 4;
    let (blue, orange) = (
        bytes_where(|pixel| i16::from(pixel[2]) > i16::from(pixel[0]) + 30),
        bytes_where(|pixel| i16::from(pixel[0]) > i16::from(pixel[2]) + 60),
    );
    println!("{blue} bytes of cloth and {orange} bytes of cube in {} of picture", pixels.len());
    anyhow::ensure!(
        blue * 20 > pixels.len() && orange * 100 > pixels.len(),
        "the cloth or the cube is missing in the image"
    );
    std::fs::create_dir_all("out")?;
    image::save_buffer("out/embed.png", &pixels, SIZE.width, SIZE.height, image::ExtendedColorType::Rgba8)?;
    println!("wrote out/embed.png");
    Ok(())
}
