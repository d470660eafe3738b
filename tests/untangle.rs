//! What is entangled is parted, where the line of intersection shows the way out, and reported.

mod common;

use common::{solver, step, tangle};
use supple::{SelfCollision, Settings};

const THICKNESS: f32 = 0.01;

fn settings() -> Settings {
    let self_collision = Some(SelfCollision::surfaces());
    Settings { gravity: [0.0; 3], damping: 1.0, self_collision, ..Settings::default() }
}

/// How deep a particle is in a dent of the given radius.
fn dent(radius: f32, depth: f32) -> impl Fn(f32, f32) -> f32 {
    move |x, z| if x.hypot(z) < radius { depth } else { 0.0 }
}

/// The same in a corner that is bent down.
fn corner(depth: f32) -> impl Fn(f32, f32) -> f32 {
    move |x, z| depth * (1.0 - (0.8 - x - z) / 0.4).max(0.0)
}

#[test]
fn what_starts_entangled_is_parted() {
    let gpu = common::gpu();
    let scenes = [
        ("a small dent", tangle(THICKNESS, dent(0.1, 0.05))),
        ("a wide dent", tangle(THICKNESS, dent(0.2, 0.05))),
        ("a deep dent", tangle(THICKNESS, dent(0.1, 0.1))),
        ("a shallow corner", tangle(THICKNESS, corner(0.05))),
        ("a deep corner", tangle(THICKNESS, corner(0.2))),
    ];
    for (name, scene) in scenes {
        let mut solver = solver(&gpu, &scene, settings());
        let exact = |solver: &supple::Solver| scene.intersections(&solver.read_positions().unwrap()).unwrap().count;
        assert!(exact(&solver) > 20, "{name} is not entangled");
        step(&gpu, &mut solver, 1);
        let report = solver.read_contacts().unwrap();
        assert_eq!(report.crossings as usize, exact(&solver), "{name}");
        let mut frames = 1;
        while exact(&solver) > 0 {
            step(&gpu, &mut solver, 1);
            frames += 1;
            assert!(frames < 90, "{name}: {} crossings are left", exact(&solver));
        }
        // And so it stays.
        step(&gpu, &mut solver, 30);
        let report = solver.read_contacts().unwrap();
        assert!(exact(&solver) == 0 && report.crossings == 0 && report.lost == 0, "{name}: {report:?}");
        // The upper one lies above again, and was not flung away.
        let velocities = solver.read_velocities().unwrap();
        let fastest = velocities.into_iter().map(|[x, y, z]| x.hypot(y).hypot(z)).fold(0.0, f32::max);
        assert!(fastest < 2.0, "{name}: {fastest} m/s");
        println!("{name}: {frames} frames");
    }
}
