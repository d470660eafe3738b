//! The memory of a process that simulates does not grow: a file of its own, as tests of one process run side by side.

#![cfg(target_os = "linux")]

mod common;

use common::{gpu, hanging_cloth, solver};
use supple::{Collider, Execution, Instance, Instances, Placement, Scene, SelfCollision, Settings, Shape, Wind};

fn scene() -> Scene {
    hanging_cloth(24, 20).0
}

/// Drivers must not make anything anew from step to step: some compile a pass again at every dispatch where a uniform alone decides a
/// branch, and keep it (`by_thread` in the prelude).
#[test]
fn the_memory_of_the_process_does_not_grow_from_step_to_step() {
    let gpu = gpu();
    let mut with_collider = scene();
    with_collider.add_collider(Collider { shape: Shape::Sphere { radius: 0.3 }, ..Collider::default() }).unwrap();
    let few = Settings { substeps: 2, ..Settings::default() };
    let wind = Some(Wind { turbulence: 0.5, ..Wind::default() });
    let cases = [
        (scene(), few),
        (scene(), Settings { iterations: 2, execution: Execution::Tiles, ..few }),
        (scene(), Settings { iterations: 2, execution: Execution::Clusters, ..few }),
        (scene(), Settings { wind, forces: true, ..few }),
        (with_collider.clone(), few),
        (with_collider, Settings { self_collision: Some(SelfCollision::surfaces()), ..few }),
    ];
    for (scene, settings) in cases {
        let mut solver = solver(&gpu, &scene, settings);
        let grown = growth(|| {
            common::step(&gpu, &mut solver, 1);
            solver.read_diagnostics().unwrap();
        });
        assert!(grown < MOST, "{grown} bytes in 100 steps with {settings:?}");
    }
    for settings in [few, Settings { iterations: 2, wind, ..few }] {
        let mut instances = Instances::new(&gpu.device, &gpu.queue, &scene(), 3, settings).unwrap();
        let mut last = instances.spawn(&Instance::default()).unwrap();
        let mut turn = 0;
        let grown = growth(|| {
            turn += 1;
            let placement = Placement::at([(turn % 7) as f32, 0.0, 0.0]);
            // With pins of its own in every second step.
            let pinned = (turn % 2 == 0).then(|| vec![5]);
            instances.teleport(last, placement).unwrap();
            let next = instances.spawn(&Instance { placement, pinned, ..Instance::default() }).unwrap();
            instances.remove(std::mem::replace(&mut last, next)).unwrap();
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            instances.encode(&mut encoder, 1);
            gpu.queue.submit([encoder.finish()]);
            instances.read_diagnostics().unwrap();
        });
        assert!(grown < MOST, "{grown} bytes in 100 steps of instances with {settings:?}");
    }
}

/// A pass that is compiled in each step leaves more than 100 kB in each.
const MOST: u64 = 3 << 20;

/// By how much the process grows in 100 steps, after some others [bytes].
fn growth(mut step: impl FnMut()) -> u64 {
    let resident = || -> u64 {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    (0..20).for_each(|_| step());
    let before = resident();
    (0..100).for_each(|_| step());
    let grown = resident().saturating_sub(before);
    println!("{} kB", grown / 1024);
    grown
}
