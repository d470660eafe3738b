//! What is entangled is parted, where the line of intersection shows the way out, and reported.

mod common;

use common::{solver, step, tangles};
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
    let names = ["a small dent", "a wide dent", "a deep dent", "a shallow corner", "a deep corner"];
    let scene = tangles(THICKNESS, &[&dent(0.1, 0.05), &dent(0.2, 0.05), &dent(0.1, 0.1), &corner(0.05), &corner(0.2)]);
    let mut solver = solver(&gpu, &scene, settings());
    // By pair of sheets.
    let crossings = |solver: &supple::Solver| {
        let mut counts = [0; 5];
        let found = scene.intersections(&solver.read_positions().unwrap()).unwrap();
        found.pairs.iter().for_each(|pair| counts[pair.edge[0] as usize / 512] += 1);
        assert_eq!(found.count, counts.iter().sum::<usize>());
        counts
    };
    for (name, count) in names.iter().zip(crossings(&solver)) {
        assert!(count > 20, "{name} is not entangled");
    }
    step(&gpu, &mut solver, 1);
    let counts = crossings(&solver);
    assert_eq!(solver.read_contacts().unwrap().crossings as usize, counts.iter().sum::<usize>());
    step(&gpu, &mut solver, 89);
    for (name, count) in names.iter().zip(crossings(&solver)) {
        assert_eq!(count, 0, "{name}");
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.crossings == 0 && report.lost == 0, "{report:?}");
    // Nothing was flung away.
    let velocities = solver.read_velocities().unwrap();
    let fastest = velocities.into_iter().map(|[x, y, z]| x.hypot(y).hypot(z)).fold(0.0, f32::max);
    assert!(fastest < 2.0, "{fastest} m/s");
}
