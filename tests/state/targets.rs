//! Targets of pinned particles: many in one call, by a pass of the program, and their removal.

use crate::common::{gpu, pipeline, solver};
use supple::{ClothGrid, Error, Reference, Scene, Settings, Solver, wgpu};
use wgpu::util::DeviceExt;

/// A cloth with a pinned first row, and the row.
fn curtain() -> (Scene, Vec<u32>) {
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 24, rows: 8, ..ClothGrid::default() }).unwrap();
    let row: Vec<u32> = cloth.row(0).unwrap().collect();
    row.iter().for_each(|&particle| scene.pin(particle).unwrap());
    (scene, row)
}

/// The targets of a row in a step.
fn targets_of(scene: &Scene, row: &[u32], k: u32) -> Vec<(u32, [f32; 3])> {
    let target = |&particle: &u32| {
        let [x, y, z] = scene.positions()[particle as usize];
        (particle, [x * (1.0 - 0.02 * k as f32), y, z + 0.05 * (3.0 * x + 0.4 * k as f32).sin()])
    };
    row.iter().map(target).collect()
}

#[test]
fn targets_in_one_call_give_the_same_bits_as_single_calls_on_both_backends() {
    let (gpu, (scene, row)) = (gpu(), curtain());
    let settings = Settings { substeps: 5, ..Settings::default() };
    let [mut single, mut batch] = [0, 1].map(|_| solver(&gpu, &scene, settings));
    let [mut single_reference, mut batch_reference] = [0, 1].map(|_| Reference::new(&scene, settings).unwrap());
    for k in 0..10 {
        // Different parts in each step, in another order, and one particle twice.
        let mut targets = targets_of(&scene, &row[k % 5..row.len() - k % 3], k as u32);
        targets.rotate_left(k);
        targets.insert(0, (targets[4].0, [9.0; 3]));
        for &(particle, position) in &targets {
            single.set_target(particle, position).unwrap();
            single_reference.set_target(particle, position).unwrap();
        }
        batch.set_targets(&targets).unwrap();
        batch_reference.set_targets(&targets).unwrap();
        single.step(1);
        batch.step(1);
        single_reference.step(1);
        batch_reference.step(1);
    }
    assert_eq!(single.read_positions().unwrap(), batch.read_positions().unwrap());
    assert_eq!(single_reference.read_positions().unwrap(), batch_reference.read_positions().unwrap());
    assert_eq!(single.read_velocities().unwrap(), batch.read_velocities().unwrap());
    assert!(single.target_particles().eq(batch.target_particles()));
}

#[test]
fn one_invalid_target_of_many_is_an_error_and_changes_none() {
    let (gpu, (scene, row)) = (gpu(), curtain());
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let free = row.len() as u32 + 3;
    let cases = [
        ((row[3], [0.0, f32::NAN, 0.0]), "target of particle 3 is NaN, but must be finite"),
        ((free, [0.0; 3]), "particle 27 is not pinned; only pinned particles follow a target"),
        ((5000, [0.0; 3]), "set_targets names particle 5000, but there are only 192"),
    ];
    for (bad, expected) in cases {
        let targets = [(row[0], [5.0; 3]), bad, (row[1], [5.0; 3])];
        for error in [solver.set_targets(&targets).unwrap_err(), reference.set_targets(&targets).unwrap_err()] {
            assert_eq!(error.to_string(), expected);
        }
    }
    solver.set_targets(&[]).unwrap();
    assert_eq!(solver.target_particles().len(), 0);
    solver.step(2);
    reference.step(2);
    for positions in [solver.read_positions().unwrap(), reference.read_positions().unwrap()] {
        assert_eq!(positions[row[0] as usize], scene.positions()[row[0] as usize]);
    }
}

#[test]
fn a_particle_whose_target_is_removed_rests_where_it_is_and_stays_pinned() {
    let (gpu, (scene, row)) = (gpu(), curtain());
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    let targets = targets_of(&scene, &row, 7);
    solver.set_targets(&targets).unwrap();
    reference.set_targets(&targets).unwrap();
    solver.step(1);
    reference.step(1);
    let moved = solver.read_positions().unwrap();
    // Another target, which is removed before the step; a free particle and one without a target do not change.
    let again = targets_of(&scene, &row[4..], 20);
    solver.set_targets(&again).unwrap();
    reference.set_targets(&again).unwrap();
    let removed: Vec<u32> = row[..10].iter().copied().chain([row.len() as u32 + 2, row[2]]).collect();
    solver.clear_targets(&removed).unwrap();
    reference.clear_targets(&removed).unwrap();
    solver.step(2);
    reference.step(2);
    assert_eq!(solver.target_particles().len(), row.len() - 10);
    for (backend, positions) in
        [solver.read_positions().unwrap(), reference.read_positions().unwrap()].iter().enumerate()
    {
        for &particle in &row[..10] {
            assert_eq!(positions[particle as usize], moved[particle as usize], "backend {backend}");
        }
        let [x, _, z] = positions[row[15] as usize];
        let (_, [x1, _, z1]) = again[11];
        assert!((x - x1).abs() < 1e-6 && (z - z1).abs() < 1e-6, "backend {backend}");
    }
    assert!(solver.is_pinned(row[0]).unwrap());
    let error = solver.clear_targets(&[row[12], 9999]).unwrap_err();
    assert!(matches!(error, Error::IndexOutOfRange { index: 9999, .. }), "{error}");
    assert_eq!(solver.target_particles().len(), row.len() - 10);
}

/// Skinning: the rows of a body that turns about the z axis and moves.
const SKINNING: &str = "
struct Target { position: vec3f, particle: u32 }
@group(0) @binding(0) var<uniform> motion: vec4f; // offset
@group(0) @binding(1) var<storage, read> rest: array<vec4f>; // by particle
@group(0) @binding(2) var<storage, read_write> targets: array<Target>;
@compute @workgroup_size(64) fn skin(@builtin(global_invocation_id) id: vec3u) {
    if id.x < u32(rest[0].w) {
        let bone = rest[targets[id.x].particle].xyz;
        targets[id.x].position = bone + motion.xyz;
    }
}";

/// The pass of a program that writes targets.
struct Skinning {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    motion: wgpu::Buffer,
    count: u32,
}

impl Skinning {
    fn new(device: &wgpu::Device, scene: &Scene, solver: &Solver) -> Self {
        let pipeline = pipeline(device, SKINNING, "skin");
        let count = solver.target_particles().len() as u32;
        let rest: Vec<[f32; 4]> = scene.positions().iter().map(|&[x, y, z]| [x, y, z, count as f32]).collect();
        let buffer = |contents: &[u8], usage| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
        };
        let motion = buffer(&[0; 16], wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST);
        let rest = buffer(bytemuck::cast_slice(&rest), wgpu::BufferUsages::STORAGE);
        let resources = [&motion, &rest, solver.targets()];
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = pipeline.get_bind_group_layout(0);
        let bindings =
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
        Self { pipeline, bindings, motion, count }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(self.count.div_ceil(64), 1, 1);
    }
}

#[test]
fn a_pass_of_the_program_that_writes_targets_gives_the_same_bits_as_calls_of_the_host() {
    let (gpu, (scene, row)) = (gpu(), curtain());
    let settings = Settings { substeps: 5, ..Settings::default() };
    let mut host = solver(&gpu, &scene, settings);
    let mut driven = solver(&gpu, &scene, settings);
    let place = |&particle: &u32| (particle, scene.positions()[particle as usize]);
    // More than the initial room of the list; in any order.
    let rows: Vec<_> = row.iter().rev().map(place).collect();
    driven.set_targets(&rows).unwrap();
    assert!(driven.target_particles().eq(row.iter().rev().copied()));
    let skinning = Skinning::new(&gpu.device, &scene, &driven);
    for k in 0..20 {
        let offset = [0.01 * k as f32, (0.3 * k as f32).sin() * 0.1, 0.5 * 0.02 * k as f32];
        let [x, y, z] = offset;
        gpu.queue.write_buffer(&skinning.motion, 0, bytemuck::bytes_of(&[x, y, z, 0.0]));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        skinning.record(&mut encoder);
        driven.encode(&mut encoder, 1);
        gpu.queue.submit([encoder.finish()]);
        let moved = |&(particle, position): &(u32, [f32; 3])| (particle, [0, 1, 2].map(|k| position[k] + offset[k]));
        host.set_targets(&rows.iter().map(moved).collect::<Vec<_>>()).unwrap();
        host.step(1);
    }
    assert_eq!(driven.read_positions().unwrap(), host.read_positions().unwrap());
    assert_ne!(driven.read_positions().unwrap()[row[0] as usize], scene.positions()[row[0] as usize]);
    // A snapshot holds the targets of the pass.
    let snapshot = driven.snapshot().unwrap();
    driven.step(3);
    let mut restored = solver(&gpu, &scene, settings);
    restored.restore(&snapshot).unwrap();
    restored.step(3);
    assert_eq!(driven.read_positions().unwrap(), restored.read_positions().unwrap());
    // A target that is not finite quarantines its particle only.
    gpu.queue.write_buffer(driven.targets(), 0, bytemuck::bytes_of(&f32::NAN));
    driven.step(1);
    let diagnostics = driven.read_diagnostics().unwrap();
    assert_eq!(diagnostics.first_non_finite, Some(row[row.len() - 1]), "{diagnostics:?}");
    assert!(driven.read_positions().unwrap().iter().flatten().all(|x| x.is_finite()));
}
