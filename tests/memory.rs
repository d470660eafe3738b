//! The memory of a process that simulates does not grow: a file of its own, as tests of one process run side by side.

#![cfg(target_os = "linux")]

mod common;

use common::{gpu, hanging_cloth, solver};
use supple::{Collider, Execution, Scene, SelfCollision, Settings, Shape, Wind};

fn scene() -> Scene {
    hanging_cloth(24, 20).0
}

/// Drivers must not make anything anew from step to step: some compile a pass again at every dispatch where a uniform alone decides a
/// branch, and keep it (`by_thread` in the prelude).
#[test]
fn the_memory_of_the_process_does_not_grow_from_step_to_step() {
    let resident = || -> u64 {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    let gpu = gpu();
    let mut with_collider = scene();
    with_collider.add_collider(Collider { shape: Shape::Sphere { radius: 0.3 }, ..Collider::default() }).unwrap();
    let few = Settings { substeps: 2, ..Settings::default() };
    let wind = Some(Wind { turbulence: 0.5, ..Wind::default() });
    let cases = [
        (scene(), few),
        (scene(), Settings { iterations: 2, execution: Execution::Patches, ..few }),
        (scene(), Settings { iterations: 2, execution: Execution::Whole, ..few }),
        (scene(), Settings { wind, forces: true, ..few }),
        (with_collider.clone(), few),
        (with_collider, Settings { self_collision: Some(SelfCollision::surfaces()), ..few }),
    ];
    for (scene, settings) in cases {
        let mut solver = solver(&gpu, &scene, settings);
        let mut play = |steps: u32| {
            for _ in 0..steps {
                common::step(&gpu, &mut solver, 1);
                solver.read_diagnostics().unwrap();
            }
        };
        play(20);
        let before = resident();
        play(100);
        let grown = resident().saturating_sub(before);
        println!("{} kB", grown / 1024);
        // A pass that is compiled in each step leaves more than 100 kB in each.
        assert!(grown < 3 << 20, "{grown} bytes in 100 steps with {settings:?}");
    }
}
