//! The memory of a simulating process does not grow. This is a separate binary because tests of one process run in
//! parallel.

#![cfg(target_os = "linux")]

mod common;

use common::{hanging_cloth, own_gpu, solver};
use supple::{Collider, Execution, Instance, Instances, Placement, Scene, SelfCollision, Settings, Shape, Wind};

fn scene() -> Scene {
    hanging_cloth(24, 20).0
}

/// Nothing is recreated from step to step. Some drivers recompile and cache a shader at every dispatch if a branch
/// depends only on a uniform (`by_thread` in the prelude).
#[test]
fn the_memory_of_the_process_does_not_grow_from_step_to_step() {
    let gpu = own_gpu();
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
            solver.step(1);
            solver.read_diagnostics().unwrap();
        });
        assert!(grown < MOST, "{grown} bytes in 50 steps with {settings:?}");
    }
    for settings in [few, Settings { iterations: 2, wind, ..few }] {
        let mut instances = Instances::new(&gpu.device, &gpu.queue, &scene(), 3, settings).unwrap();
        let mut last = instances.spawn(&Instance::default()).unwrap();
        let mut turn = 0;
        let grown = growth(|| {
            turn += 1;
            let placement = Placement::at([(turn % 7) as f32, 0.0, 0.0]);
            // Every second step the new instance has its own pins.
            let pinned = (turn % 2 == 0).then(|| vec![5]);
            instances.teleport(last, placement).unwrap();
            let next = instances.spawn(&Instance { placement, pinned, ..Instance::default() }).unwrap();
            instances.remove(std::mem::replace(&mut last, next)).unwrap();
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            instances.encode(&mut encoder, 1);
            gpu.queue.submit([encoder.finish()]);
            instances.read_diagnostics().unwrap();
        });
        assert!(grown < MOST, "{grown} bytes in 50 steps of instances with {settings:?}");
    }
}

/// A pass that is recompiled in each step leaves more than 100 kB per step.
const MOST: u64 = 3 << 20;

/// The growth of the process in 50 steps after a warm-up [bytes].
fn growth(mut step: impl FnMut()) -> u64 {
    let resident = || -> u64 {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    (0..20).for_each(|_| step());
    let before = resident();
    (0..50).for_each(|_| step());
    let grown = resident().saturating_sub(before);
    println!("{} kB", grown / 1024);
    grown
}
