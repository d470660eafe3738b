//! The shaders of prepared shapes against their counterparts in `src/collision/baked`.

use crate::collision::baked::sample_hull;
use crate::collision::baked::shapes::numbers;
use crate::collision::{DistanceField, Heightfield};
use crate::gpu::Context;
use wgpu::util::DeviceExt;

const POINTS: usize = 4096;

/// The results of a sampling call of a shader, one per point.
fn on_device(shader: &str, call: &str, data: &[f32], points: &[[f32; 4]]) -> Vec<[f32; 4]> {
    let context = Context::new(wgpu::Limits::default()).unwrap();
    let device = &context.device;
    let source = format!(
        "@group(0) @binding(0) var<storage, read> collider_data: array<f32>;
         fn data_at(at: u32) -> f32 {{ return collider_data[at]; }}
         @group(0) @binding(1) var<storage, read_write> points: array<vec4f>;
         struct Params {{ zero: u32 }}
         @group(0) @binding(2) var<uniform> params: Params;
         fn opaque(v: vec3f, zero: u32) -> vec3f {{ return bitcast<vec3f>(bitcast<vec3u>(v) ^ vec3u(zero)); }}
         fn opaque1(v: f32, zero: u32) -> f32 {{ return bitcast<f32>(bitcast<u32>(v) ^ zero); }}
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
             let p = points[id.x].xyz;
             points[id.x] = {call};
         }}
         {shader}"
    );
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = |contents: &[u8]| {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::UNIFORM;
        device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    };
    let (data, places) = (buffer(bytemuck::cast_slice(data)), buffer(bytemuck::cast_slice(points)));
    let params = buffer(&[0; 16]);
    let result = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: places.size(),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: data.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: places.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 2, resource: params.as_entire_binding() },
        ],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(points.len().div_ceil(64) as u32, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&places, 0, &result, 0, places.size());
    context.queue.submit([encoder.finish()]);
    result.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = result.slice(..).get_mapped_range().unwrap();
    bytemuck::cast_slice(&bytes).to_vec()
}

fn compare(shader: &str, call: &str, data: &[f32], twin: impl Fn([f32; 3]) -> (f32, [f32; 3])) {
    let mut random = numbers(21);
    let mut points: Vec<[f32; 4]> = (0..POINTS)
        .map(|_| std::array::from_fn(|_| if random() < 0.05 { 0.5 } else { 5.0 * random() - 2.5 }))
        .collect();
    points[0] = [1e6, -1e6, 3.0, 0.0];
    let results = on_device(shader, call, data, &points);
    let mut equal = 0;
    for (point, result) in points.iter().zip(results) {
        let (distance, normal) = twin([point[0], point[1], point[2]]);
        let expected = [normal[0], normal[1], normal[2], distance];
        equal += usize::from(expected == result);
        let scale = distance.abs().max(1.0);
        for (a, b) in expected.into_iter().zip(result) {
            assert!((a - b).abs() <= 2e-5 * scale, "{call} at {point:?}: {expected:?} here, {result:?} there");
        }
    }
    println!("{call}: {equal} of {POINTS} points have the same bits");
}

#[test]
fn fields() {
    let mut random = numbers(2);
    let mut data = vec![9.0; 3];
    data.extend((0..6 * 5 * 7).map(|_| random()));
    let field = DistanceField {
        dims: [6, 5, 7],
        origin: [-1.25, -1.0, -1.5],
        cell: 0.5,
        values: data[3..].into(),
        signed: true,
    };
    let call = "field_sample(3u, vec3u(6u, 5u, 7u), vec3f(-1.25, -1.0, -1.5), 0.5, p)";
    compare(include_str!("../../../shaders/collision/collide/field.wgsl"), call, &data, |p| field.sample(p));
}

#[test]
fn heightfields() {
    let mut random = numbers(4);
    let mut data = vec![9.0; 5];
    data.extend((0..7 * 4).map(|_| random()));
    for ends_at_border in [false, true] {
        let ground = Heightfield { columns: 7, rows: 4, spacing: 0.6, heights: data[5..].into(), ends_at_border };
        let call = format!("heightfield_sample(5u, 7u, 4u, 0.6, {ends_at_border}, p)");
        compare(include_str!("../../../shaders/collision/collide/heightfield.wgsl"), &call, &data, |p| {
            ground.sample(p)
        });
    }
}

#[test]
fn hulls() {
    let mut random = numbers(6);
    let planes: Vec<[f32; 4]> = (0..40)
        .map(|_| {
            let n = (glam::Vec3::new(random(), random(), random()) - 0.5).normalize();
            [n.x, n.y, n.z, 1.0 + 0.1 * random()]
        })
        .collect();
    let mut data = vec![9.0];
    data.extend(planes.iter().flatten());
    compare(include_str!("../../../shaders/collision/collide/hull.wgsl"), "hull_sample(1u, 40u, p)", &data, |p| {
        sample_hull(&planes, p)
    });
}
