//! Recording a frame causes no host allocations beyond those of wgpu for the same calls.
//!
//! wgpu stores the commands of a pass in growing lists, so each frame allocates. The baseline is a pass with the same
//! number and kinds of calls, recorded without supple. With self-collision it also copies counters to the host.
//!
//! The tests take turns: another test that polls the shared device would deliver the counters of this one at any time.

mod common;

use allocation_counter::AllocationInfo;
use common::{gpu, hanging_cloth, solver};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use supple::gpu::{Context, pass_name};
use supple::internals::Pass;
use supple::{
    Collider, Execution, Instance, Instances, Material, Scene, SelfCollision, SelfCollisionLevel, Settings, Shape,
    Solver, Wind, wgpu,
};

/// An empty pass with the calls of supple: one bind group, with or without a dynamic offset.
struct Idle {
    pipeline: wgpu::ComputePipeline,
    /// Alternated, because wgpu skips a bind group that is already bound.
    bindings: [wgpu::BindGroup; 2],
    has_offset: bool,
}

impl Idle {
    fn new(gpu: &Context, has_offset: bool) -> Self {
        let source = "@group(0) @binding(0) var<uniform> figure: vec4<u32>;
                      @compute @workgroup_size(1) fn idle() { _ = figure; }";
        let device = &gpu.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let ty = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: has_offset,
            min_binding_size: None,
        };
        let entry = wgpu::BindGroupLayoutEntry { binding: 0, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None };
        let layout =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &[entry] });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu::BufferUsages::UNIFORM,
            mapped_at_creation: false,
        });
        let bindings = [0; 2].map(|_| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &layout,
                entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
            })
        });
        Self { pipeline, bindings, has_offset }
    }
}

/// Records the calls of a frame without supple: a pipeline change, a bind group and a dispatch per pass.
fn record(encoder: &mut wgpu::CommandEncoder, calls: &[(bool, &Idle)]) {
    let descriptor = wgpu::ComputePassDescriptor { label: Some("supple.step"), timestamp_writes: None };
    let mut pass = encoder.begin_compute_pass(&descriptor);
    for (turn, (is_other, idle)) in calls.iter().enumerate() {
        if *is_other {
            pass.set_pipeline(&idle.pipeline);
        }
        pass.set_bind_group(0, &idle.bindings[turn % 2], if idle.has_offset { &[0] } else { &[] });
        pass.dispatch_workgroups(1, 1, 1);
    }
}

/// The allocations of the last of four frames; the first ones grow the lists.
fn count(gpu: &Context, mut record: impl FnMut(&mut wgpu::CommandEncoder)) -> AllocationInfo {
    let mut counted = AllocationInfo::default();
    for _ in 0..4 {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        counted = allocation_counter::measure(|| record(&mut encoder));
        gpu.queue.submit([encoder.finish()]);
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }
    counted
}

/// The allocations of supple for a frame, and those of wgpu for the same calls.
fn compare(gpu: &Context, solver: &mut Solver) -> [AllocationInfo; 2] {
    let [plain, with_offset] = [false, true].map(|has_offset| Idle::new(gpu, has_offset));
    let mut calls = Vec::new();
    let mut last = String::new();
    // No particle has a target, so the pass `Targets` is not recorded.
    for pass in solver.plan().step(solver.settings().substeps, 0).filter(|pass| *pass != Pass::Targets) {
        let has_offset = matches!(
            pass,
            Pass::Project { .. }
                | Pass::Split { .. }
                | Pass::GatherChunks { .. }
                | Pass::GatherHubs { .. }
                | Pass::Trees { .. }
                | Pass::Tiles { .. }
                | Pass::Clusters { .. }
        );
        let name = pass_name(&pass);
        calls.push((name != last, if has_offset { &with_offset } else { &plain }));
        last = name;
    }
    let mut watch = solver.settings().self_collision.map(|_| Watch::new(gpu));
    let baseline = |encoder: &mut wgpu::CommandEncoder| {
        record(encoder, &calls);
        if let Some(watch) = &mut watch {
            watch.record(encoder);
        }
    };
    [count(gpu, |encoder| solver.encode(encoder, 1)), count(gpu, baseline)]
}

/// A copy of a buffer to the host in each frame, as self-collision copies its counters, and a look at a mapped buffer, which
/// tells a lost device.
struct Watch {
    buffers: [wgpu::Buffer; 2],
    probe: wgpu::Buffer,
    is_mapped: Arc<AtomicBool>,
}

impl Watch {
    fn new(gpu: &Context) -> Self {
        let usages = [wgpu::BufferUsages::COPY_SRC, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ];
        let buffers = usages.map(|usage| {
            let descriptor = wgpu::BufferDescriptor { label: None, size: 128, usage, mapped_at_creation: false };
            gpu.device.create_buffer(&descriptor)
        });
        let usage = wgpu::BufferUsages::MAP_WRITE;
        let descriptor = wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: true };
        Self { buffers, probe: gpu.device.create_buffer(&descriptor), is_mapped: Arc::default() }
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let [source, staging] = &self.buffers;
        if self.is_mapped.swap(false, Ordering::AcqRel) {
            drop(staging.get_mapped_range(..).unwrap());
            staging.unmap();
        }
        drop(self.probe.get_mapped_range(..).unwrap());
        encoder.copy_buffer_to_buffer(source, 0, staging, 0, 128);
        let setter = self.is_mapped.clone();
        encoder.map_buffer_on_submit(staging, wgpu::MapMode::Read, .., move |result| {
            setter.store(result.is_ok(), Ordering::Release);
        });
    }
}

/// The shared device, for one test at a time.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    static TURN: Mutex<()> = Mutex::new(());
    (TURN.lock().unwrap_or_else(PoisonError::into_inner), gpu())
}

fn scene() -> Scene {
    hanging_cloth(24, 20).0
}

#[test]
fn a_frame_allocates_no_more_than_wgpu_does() {
    let (_turn, gpu) = alone();
    let mut with_contacts = scene();
    with_contacts.add_collider(Collider { shape: Shape::Sphere { radius: 0.3 }, ..Collider::default() }).unwrap();
    let level = SelfCollisionLevel::Particles;
    let cases = [
        (scene(), Settings::default()),
        (scene(), Settings { iterations: 3, wind: Some(Wind::default()), ..Settings::default() }),
        (scene(), Settings { execution: Execution::Tiles, ..Settings::default() }),
        (scene(), Settings { execution: Execution::Clusters, ..Settings::default() }),
        (
            with_contacts,
            Settings { self_collision: Some(SelfCollision { level, ..Default::default() }), ..Default::default() },
        ),
    ];
    for (scene, settings) in cases {
        let mut solver = solver(&gpu, &scene, settings);
        let [ours, wgpus] = compare(&gpu, &mut solver);
        println!("{} allocations of {} bytes", ours.count_total, ours.bytes_total);
        assert_eq!((ours.count_total, ours.bytes_total), (wgpus.count_total, wgpus.bytes_total), "{settings:?}");
    }
}

#[test]
fn a_frame_of_instances_allocates_no_more_than_wgpu_does() {
    let (_turn, gpu) = alone();
    let settings = Settings { wind: Some(Wind::default()), ..Settings::default() };
    let mut instances = Instances::new(&gpu.device, &gpu.queue, &scene(), 3, settings).unwrap();
    instances.spawn_many(&vec![Instance::default(); 3]).unwrap();
    let idle = Idle::new(&gpu, false);
    let ours = count(&gpu, |encoder| instances.encode(encoder, 2));
    // Two passes per step, over two steps.
    let wgpus = count(&gpu, |encoder| record(encoder, &[(true, &idle); 4]));
    assert_eq!((ours.count_total, ours.bytes_total), (wgpus.count_total, wgpus.bytes_total));
}

#[test]
fn allocations_are_counted() {
    let (_turn, gpu) = alone();
    let mut solver = solver(&gpu, &scene(), Settings::default());
    let plain = count(&gpu, |encoder| solver.encode(encoder, 1)).count_total;
    let more = count(&gpu, |encoder| {
        solver.encode(encoder, 1);
        std::hint::black_box(Box::new(Material::RIGID));
    });
    assert_eq!(more.count_total, plain + 1);
}
