//! A thousand flags that are instances of one: cooked once, each with a wind, a size and pins of its own, all played in two dispatches a step
//! and drawn by one call. In every frame some are taken down, put up, and carried elsewhere.
//!
//! ```text
//! cargo run --release --example crowd -- --headless --frames 60 --json
//! cargo run --release --example crowd -- --headless --frames 60 --png crowd.png
//! ```

// The shell of the demos plays solvers; a few of its parts are of use here.
#[path = "common/camera.rs"]
#[allow(dead_code, reason = "nothing is dragged here")]
mod camera;
#[path = "common/measure.rs"]
#[allow(dead_code, reason = "nothing but the median is measured here")]
mod measure;

use clap::Parser;
use glam::{Mat4, Quat, Vec3};
use std::path::{Path, PathBuf};
use std::time::Instant;
use supple::gpu::Context;
use supple::wgpu::{self, util::DeviceExt};
use supple::{ClothGrid, Instance, InstanceId, Instances, Placement, Scene, Settings, Wind};

/// Particles in a row of a flag, and rows.
const SIDE: u32 = 32;

/// Width and height of a flag of scale 1 [m], and how far it is from one pole to the next.
const SIZE: [f32; 2] = [0.45, 0.3];
const APART: f32 = 0.9;

/// Flags that are taken down and put up, and that are carried elsewhere, in each frame.
const CHANGES: u32 = 3;

const PICTURE: wgpu::Extent3d = wgpu::Extent3d { width: 960, height: 600, depth_or_array_layers: 1 };
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The flag is found by the list of those that are there, its particles by the flag.
const SHADER: &str = "
@group(0) @binding(0) var<uniform> view_projection: mat4x4f;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> normals: array<vec4f>;
@group(0) @binding(3) var<storage, read> live: array<u32>;
struct Out { @builtin(position) clip: vec4f, @location(0) normal: vec3f, @location(1) color: vec3f }
@vertex fn flag(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Out {
    let slot = live[instance];
    let i = slot * 1024u + vertex;
    let tint = 0.5 + 0.5 * cos(f32(slot) * 2.4 + vec3f(0.0, 2.1, 4.2));
    return Out(view_projection * vec4f(positions[i].xyz, 1.0), normals[i].xyz, 0.1 + 0.6 * tint);
}
@fragment fn shade(in: Out) -> @location(0) vec4f {
    return vec4f(in.color * (0.35 + 0.65 * abs(dot(normalize(in.normal), normalize(vec3f(0.4, 0.8, 0.6))))), 1.0);
}";

#[derive(Parser, Debug)]
#[command(about = "A thousand flags, all instances of one")]
struct Arguments {
    /// Without a window, which this example has not
    #[arg(long)]
    headless: bool,
    /// Frames of 1/60 s
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Flags
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=30_000))]
    count: u32,
    /// Substeps of a frame
    #[arg(long, default_value_t = 20)]
    substeps: u32,
    /// Mean speed of the wind [m/s]; 0 for no air
    #[arg(long, default_value_t = 4.0)]
    wind: f32,
    /// Figures as a line of JSON
    #[arg(long)]
    json: bool,
    /// A picture of the last frame
    #[arg(long)]
    png: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let Arguments { count, frames, .. } = arguments;
    anyhow::ensure!(arguments.headless, "this example has no window: --headless --png crowd.png");
    let mut flag = Scene::new();
    let column_axis = [SIZE[0], 0.0, 0.0];
    let row_axis = [0.0, -SIZE[1], 0.0];
    let grid = ClothGrid { columns: SIDE, rows: SIDE, column_axis, row_axis, ..ClothGrid::default() };
    let cloth = flag.add_cloth_grid(&grid)?;
    (0..SIDE).try_for_each(|row| flag.pin(cloth.particles.start + row * SIDE))?;

    let wind = Wind { velocity: [arguments.wind, 0.0, 0.25 * arguments.wind], gust: 0.4, ..Wind::default() };
    let wind = (arguments.wind != 0.0).then_some(wind);
    let settings = Settings { substeps: arguments.substeps, wind, ..Settings::default() };
    let start = Instant::now();
    let gpu = Context::new(Instances::required_limits(&flag, count, &settings))?;
    let mut flags = Instances::new(&gpu.device, &gpu.queue, &flag, count, settings)?;
    let all: Vec<Instance> = (0..count).map(|number| raised(number, count)).collect();
    let mut ids = flags.spawn_many(&all)?;
    gpu.queue.submit([]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let cook_ms = start.elapsed().as_secs_f64() * 1e3;

    let (mut whole, mut recording) = (Vec::new(), Vec::new());
    for frame in 0..frames {
        change(&mut flags, &mut ids, frame, count)?;
        let start = Instant::now();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        flags.encode(&mut encoder, 1);
        let commands = encoder.finish();
        recording.push(start.elapsed().as_secs_f64() * 1e3);
        gpu.queue.submit([commands]);
        gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
        whole.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let strains = strains(&flags, &ids, &flag)?;
    let mean_strain = strains.iter().sum::<f64>() / strains.len() as f64;
    let max_strain = strains.iter().copied().fold(0.0, f64::max);
    let particles = u64::from(flags.len()) * u64::from(flags.particle_count());
    let non_finite_count = flags.read_diagnostics()?.non_finite_count;
    let report = serde_json::json!({
        "adapter": gpu.adapter_name(),
        "particles": particles,
        "instances": flags.len(),
        "frames": frames,
        "substeps": arguments.substeps,
        "ms_per_frame_median": measure::median(whole),
        "recording_ms_median": measure::median(recording),
        "cook_ms": cook_ms,
        "bytes_per_particle": flags.memory_bytes() as f64 / particles as f64,
        "mean_strain": mean_strain,
        "max_strain": max_strain,
        "non_finite_count": non_finite_count,
    });
    println!("{}", if arguments.json { report.to_string() } else { serde_json::to_string_pretty(&report)? });
    if let Some(path) = &arguments.png {
        paint(&gpu, &flags, &flag, path, count)?;
    }
    anyhow::ensure!(non_finite_count == 0, "{non_finite_count} positions were not finite");
    anyhow::ensure!(mean_strain < 0.05, "flags are stretched by {:.1} %", mean_strain * 100.0);
    Ok(())
}

/// Where a flag stands: in a square.
fn place(number: u32, count: u32) -> [f32; 3] {
    let across = (count as f32).sqrt().ceil() as u32;
    let [x, z] = [number % across, number / across].map(|k| APART * (k as f32 - 0.5 * across as f32));
    [x, 1.0, z]
}

fn raised(number: u32, count: u32) -> Instance {
    let turn = (number as f32 * 0.618).fract() - 0.5;
    let rotation = Quat::from_rotation_y(turn).to_array();
    let placement = Placement { position: place(number, count), rotation, scale: 1.0 + 0.5 * turn };
    // Every fifth hangs by its corners alone.
    let pinned = number.is_multiple_of(5).then(|| vec![0, SIDE * (SIDE - 1)]);
    Instance { placement, wind: [turn, 0.0, -2.0 * turn], pinned, ..Instance::default() }
}

/// Takes some flags down, puts others up in their places, and carries some a little.
fn change(flags: &mut Instances, ids: &mut [InstanceId], frame: u32, count: u32) -> anyhow::Result<()> {
    for change in 0..CHANGES {
        let number = (frame * CHANGES + change) * 7 % count;
        flags.remove(ids[number as usize])?;
        ids[number as usize] = flags.spawn(&raised(number, count))?;
        let other = ids[((number + count / 2) % count) as usize];
        let mut placement = flags.placement(other)?;
        placement.position[1] += 0.05;
        flags.teleport(other, placement)?;
    }
    Ok(())
}

/// Of the threads of some flags, against what they are long in theirs.
fn strains(flags: &Instances, ids: &[InstanceId], flag: &Scene) -> anyhow::Result<Vec<f64>> {
    let mut strains = Vec::new();
    let apart = |points: &[[f32; 3]], a: usize, b: usize| f64::from(Vec3::from(points[a]).distance(points[b].into()));
    for &id in ids.iter().step_by(ids.len().div_ceil(16)) {
        let (points, scale) = (flags.read_positions(id)?, f64::from(flags.placement(id)?.scale));
        let side = SIDE as usize;
        for i in 0..side * side {
            let across = ((i + 1) % side != 0).then_some(i + 1);
            let down = (i + side < side * side).then_some(i + side);
            let rest = |other: usize| scale * apart(flag.positions(), i, other);
            strains.extend(across.into_iter().chain(down).map(|j| (apart(&points, i, j) / rest(j) - 1.0).abs()));
        }
    }
    Ok(strains)
}

/// Draws all flags by one call, and writes the picture.
fn paint(gpu: &Context, flags: &Instances, flag: &Scene, path: &Path, count: u32) -> anyhow::Result<()> {
    let device = &gpu.device;
    let camera = camera::Camera {
        target: Vec3::new(0.0, 0.6, 0.0),
        distance: (0.9 * APART * (count as f32).sqrt() + 1.0).min(30.0),
        yaw: 0.5,
        pitch: 0.4,
    };
    let projection: Mat4 = camera.view_projection(PICTURE.width as f32 / PICTURE.height as f32);
    let filled = |contents: &[u8], usage| {
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let uniform = filled(bytemuck::bytes_of(&projection), wgpu::BufferUsages::UNIFORM);
    let indices = filled(bytemuck::cast_slice(flag.triangles()), wgpu::BufferUsages::INDEX);
    let source = wgpu::ShaderSource::Wgsl(SHADER.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("flags"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("flag"),
            compilation_options: Default::default(),
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
            targets: &[Some(COLOR.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    let buffers = [&uniform, flags.positions(), flags.normals(), flags.live()];
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = pipeline.get_bind_group_layout(0);
    let bindings =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
    let [picture, depth] = [COLOR, DEPTH].map(|format| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: PICTURE,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    });
    let [picture_view, depth_view] = [&picture, &depth].map(|texture| texture.create_view(&Default::default()));
    let sky = wgpu::Color { r: 0.55, g: 0.65, b: 0.75, a: 1.0 };
    let mut encoder = device.create_command_encoder(&Default::default());
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
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &bindings, &[]);
    pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
    pass.draw_indexed(0..3 * flag.triangle_count() as u32, 0, 0..flags.len());
    drop(pass);
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(PICTURE.width * PICTURE.height * 4),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(PICTURE.width * 4), rows_per_image: None };
    let target = wgpu::TexelCopyBufferInfo { buffer: &staging, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), target, PICTURE);
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| {});
    gpu.queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let pixels = staging.get_mapped_range(..)?.to_vec();
    image::save_buffer(path, &pixels, PICTURE.width, PICTURE.height, image::ExtendedColorType::Rgba8)?;
    Ok(())
}
