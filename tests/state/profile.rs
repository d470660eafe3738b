//! Pass times from timestamps, and the size of GPU memory.

use crate::common;
use crate::common::{gpu, hanging_cloth, solver};
use supple::gpu::{Context, Timestamps, pass_name};
use supple::{Collider, Error, Scene, SelfCollision, Settings, Shape, Sweep, Wind, wgpu};

fn with_contacts() -> (Scene, Settings) {
    let (mut scene, _) = hanging_cloth(20, 20);
    scene.add_collider(Collider { shape: Shape::Sphere { radius: 0.3 }, ..Collider::default() }).unwrap();
    let settings = Settings {
        self_collision: Some(SelfCollision::default()),
        wind: Some(Wind::default()),
        substeps: 4,
        forces: true,
        ..Settings::default()
    };
    (scene, settings)
}

#[test]
fn a_profile_has_every_pass_of_the_steps_in_order() {
    let gpu = gpu();
    let (scene, settings) = with_contacts();
    let mut solver = solver(&gpu, &scene, settings);
    for first in [0u32, 3] {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut asked = solver.encode_profiled(&mut encoder, 3).unwrap();
        gpu.queue.submit([encoder.finish()]);
        let profile = common::taken(&gpu, &mut asked);

        let steps = (first..first + 3).flat_map(|step| solver.plan().step(settings.substeps, step));
        let expected: Vec<String> = steps.map(|pass| pass_name(&pass)).collect();
        let names = profile.runs.iter().flat_map(|run| std::iter::repeat_n(run.name.clone(), run.passes));
        assert_eq!(names.collect::<Vec<_>>(), expected);
        assert!(profile.runs.windows(2).all(|pair| pair[0].name != pair[1].name));

        let mut last = 0.0;
        for run in &profile.runs {
            assert!(run.interval.begin >= last && run.interval.end >= run.interval.begin, "{run:?} after {last}");
            last = run.interval.end;
        }
        assert_eq!(profile.milliseconds(), last);
        let sums = profile.by_name();
        assert!(sums.iter().all(|&(name, time)| time > 0.0 || name == "targets"), "{sums:?}");
        let sum: f64 = sums.iter().map(|(_, time)| time).sum();
        assert!(sum > 0.2 * last && sum <= last * (1.0 + 1e-9), "{sum} of {last}");
        let distances = sums.iter().find(|(name, _)| *name == "project_distance");
        assert!(distances.is_some_and(|&(_, time)| time > 0.0), "{sums:?}");
    }
}

#[test]
fn profiled_steps_are_the_same_steps() {
    let gpu = gpu();
    let (scene, settings) = with_contacts();
    let settings = Settings { color_order: supple::ColorOrder::Alternating, substeps: 3, ..settings };
    let [mut plain, mut profiled] = [0; 2].map(|_| solver(&gpu, &scene, settings));
    for _ in 0..2 {
        plain.step(3);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        profiled.encode_profiled(&mut encoder, 3).unwrap();
        gpu.queue.submit([encoder.finish()]);
    }
    assert_eq!(plain.read_positions().unwrap(), profiled.read_positions().unwrap());
    assert_eq!(plain.read_velocities().unwrap(), profiled.read_velocities().unwrap());
}

/// A profile of 0 steps computes the normals of changed positions, as [`supple::Solver::encode`] does.
#[test]
fn a_profile_of_no_steps_computes_normals() {
    let gpu = gpu();
    let (scene, settings) = with_contacts();
    let mut solver = solver(&gpu, &scene, settings);
    let turned: Vec<[f32; 3]> = scene.positions().iter().map(|&[x, y, z]| [z, x, y]).collect();
    solver.set_positions(0, &turned).unwrap();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut profile = solver.encode_profiled(&mut encoder, 0).unwrap();
    gpu.queue.submit([encoder.finish()]);
    let profile = common::taken(&gpu, &mut profile);
    assert!(profile.runs.iter().any(|run| run.name == "normals"), "{profile:?}");
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut again = solver.encode_profiled(&mut encoder, 0).unwrap();
    gpu.queue.submit([encoder.finish()]);
    assert!(common::taken(&gpu, &mut again).runs.is_empty());
}

#[test]
fn more_passes_than_a_query_set_holds_are_timed() {
    let gpu = gpu();
    let (scene, _) = hanging_cloth(6, 6);
    let mut solver = solver(&gpu, &scene, Settings { substeps: 100, ..Settings::default() });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut asked = solver.encode_profiled(&mut encoder, 11).unwrap();
    gpu.queue.submit([encoder.finish()]);
    let profile = common::taken(&gpu, &mut asked);
    assert!(profile.runs.len() > 2048, "{}", profile.runs.len());
    assert!(profile.runs.windows(2).all(|pair| pair[0].interval.end <= pair[1].interval.begin));
}

#[test]
fn a_device_without_timestamps_is_reported() {
    let gpu = gpu();
    let descriptor = wgpu::DeviceDescriptor { label: None, ..Default::default() };
    let (device, queue) = pollster::block_on(gpu.adapter.request_device(&descriptor)).unwrap();
    let bare = Context { device, queue, ..gpu };
    assert!(matches!(Timestamps::new(&bare.device, &bare.queue, 1), Err(Error::NoTimestamps)));
    let (scene, _) = hanging_cloth(6, 6);
    let mut solver = solver(&bare, &scene, Settings::default());
    let mut encoder = bare.device.create_command_encoder(&Default::default());
    let error = solver.encode_profiled(&mut encoder, 1).map(drop).unwrap_err();
    assert!(error.to_string().contains("TIMESTAMP_QUERY"), "{error}");
    // Nothing was recorded, and the solver continues.
    bare.queue.submit([encoder.finish()]);
    assert_eq!(solver.read_diagnostics().unwrap().steps, 0);
    solver.step(1);
    assert_eq!(solver.read_diagnostics().unwrap().steps, 1);
}

/// The bytes that the device has allocated under labels of supple.
fn allocated(gpu: &Context) -> u64 {
    gpu.queue.submit([]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let report = gpu.device.generate_allocator_report().expect("a backend that says what it allocates");
    let own = report.allocations.iter().filter(|allocation| allocation.name.starts_with("supple."));
    own.map(|allocation| allocation.size).sum()
}

#[test]
fn memory_bytes_agree_with_the_allocations_of_the_device() {
    let (plain, _) = hanging_cloth(40, 30);
    let (full, settings) = with_contacts();
    let jacobi = Settings { sweep: Sweep::Jacobi, keep_lambdas: true, ..settings };
    let cases = [(plain, Settings::default()), (full.clone(), settings), (full, jacobi)];
    for (scene, settings) in cases {
        let gpu = common::own_gpu();
        let mut solver = solver(&gpu, &scene, settings);
        let (said, taken) = (solver.memory_bytes(), allocated(&gpu));
        // Drivers round up the size of each of several hundred buffers.
        assert!(said <= taken && taken <= said + 150 * 256, "{said} said, {taken} taken");
        // Recreated buffers are counted again.
        let kept = Settings { keep_lambdas: !settings.keep_lambdas, ..settings };
        solver.set_settings(Settings { forces: true, ..kept }).unwrap();
        let (said, taken) = (solver.memory_bytes(), allocated(&gpu));
        assert!(said <= taken && taken <= said + 150 * 256, "{said} said, {taken} taken");
    }
}
