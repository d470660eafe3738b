//! Initial intersections are resolved where the line of intersection determines a direction, and are reported.

use crate::common;
use crate::common::{Pair, solver, tangles};
use supple::{ClothGrid, ClothMesh, Collider, ContactMaterial, Fabric, Pose, Scene, SelfCollision, Settings, Shape};

const THICKNESS: f32 = 0.01;

fn settings() -> Settings {
    let self_collision = Some(SelfCollision::surfaces());
    Settings { gravity: [0.0; 3], damping: 1.0, self_collision, ..Settings::default() }
}

/// The depth of a particle in a dent of the given radius.
fn dent(radius: f32, depth: f32) -> impl Fn(f32, f32) -> f32 {
    move |x, z| if x.hypot(z) < radius { depth } else { 0.0 }
}

/// The depth of a particle in a corner that is bent down.
fn corner(depth: f32) -> impl Fn(f32, f32) -> f32 {
    move |x, z| depth * (1.0 - (0.8 - x - z) / 0.4).max(0.0)
}

#[test]
fn initial_intersections_are_resolved() {
    let gpu = common::gpu();
    let names = ["a small dent", "a wide dent", "a deep dent", "a shallow corner", "a deep corner"];
    let scene = tangles(THICKNESS, &[&dent(0.1, 0.05), &dent(0.2, 0.05), &dent(0.1, 0.1), &corner(0.05), &corner(0.2)]);
    let mut solver = solver(&gpu, &scene, settings());
    // Counts per pair of sheets.
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
    solver.step(1);
    let counts = crossings(&solver);
    assert_eq!(solver.read_contacts().unwrap().crossings.unwrap_or(0) as usize, counts.iter().sum::<usize>());
    solver.step(89);
    for (name, count) in names.iter().zip(crossings(&solver)) {
        assert_eq!(count, 0, "{name}");
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.crossings == Some(0) && report.lost == 0, "{report:?}");
    // No particle gains a high speed.
    let velocities = solver.read_velocities().unwrap();
    let fastest = velocities.into_iter().map(|[x, y, z]| x.hypot(y).hypot(z)).fold(0.0, f32::max);
    assert!(fastest < 2.0, "{fastest} m/s");
}

fn scene_of(thickness: f32) -> (Scene, supple::ContactMaterialId) {
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    (scene, material)
}

/// Two sheets of one mesh whose rest shape intersects, with each triangle twice: nothing may happen.
#[test]
fn a_rest_shape_that_intersects_stays_unchanged() {
    let gpu = common::gpu();
    let (mut scene, material) = scene_of(THICKNESS);
    let across = |side: u32, i: u32, j: u32| {
        let [u, v] = [i, j].map(|k| 0.1 * k as f32 - 0.23);
        if side == 0 { [u, 0.03 * v, v] } else { [u + 0.013, v + 0.017, 0.4 * v] }
    };
    let grid = |side: u32| (0..6).flat_map(move |j| (0..6).map(move |i| across(side, i, j)));
    let positions: Vec<[f32; 3]> = grid(0).chain(grid(1)).collect();
    let cell = |corner: u32| [[corner, corner + 1, corner + 6], [corner + 6, corner + 1, corner + 7]];
    let cells = (0..2).flat_map(|side| (0..5).flat_map(move |j| (0..5).map(move |i| 36 * side + 6 * j + i)));
    let once: Vec<[u32; 3]> = cells.flat_map(cell).collect();
    let triangles = [once.clone(), once].concat();
    let fabric = Fabric::default();
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
    let cloth = scene.add_cloth_mesh(&mesh).unwrap();
    scene.set_particle_contact(cloth.particles, material).unwrap();
    assert!(scene.intersections(&positions).unwrap().count > 20);
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 5, ..settings() });
    let passes = pair.passes(5);
    let difference = pair.first_difference(0.0, passes);
    assert!(difference.is_none() || !common::is_exact(&gpu), "{difference:#?}");
    pair.solver.step(15);
    assert_eq!(pair.solver.read_contacts().unwrap().crossings, Some(0));
    let moved = pair.solver.read_positions().unwrap().into_iter().zip(positions);
    let farthest = moved.map(|(a, b)| common::distance(a, b)).fold(0.0, f64::max);
    assert!(farthest < 1e-3, "{farthest} m");
}

/// A floor with a spike through one corner, and a sheet with another spike that falls on the floor elsewhere.
#[test]
fn an_intersecting_sheet_does_not_pass_through_a_third() {
    let gpu = common::gpu();
    let (mut scene, material) = scene_of(THICKNESS);
    let mut add = |origin, column_axis, row_axis, speed: Option<f32>, held: bool| {
        let sheet =
            ClothGrid { columns: 2, rows: 2, origin, column_axis, row_axis, tethers: None, ..Default::default() };
        let cloth = scene.add_cloth_grid(&sheet).unwrap();
        scene.set_particle_contact(cloth.particles.clone(), material).unwrap();
        for particle in cloth.particles.clone() {
            if held {
                scene.pin(particle).unwrap();
            }
            scene.set_velocity(particle, [0.0, -speed.unwrap_or(0.0), 0.0]).unwrap();
        }
        cloth.particles
    };
    add([-0.5, 0.0, -0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], None, true);
    let falling = add([-0.35, 0.3, -0.36], [0.3, 0.0, 0.0], [0.0, 0.0, 0.3], Some(5.0), false);
    add([0.32, -0.03, 0.313], [0.05, 0.0, 0.003], [0.0, 0.06, 0.0], None, true);
    add([-0.3, 0.28, -0.3], [0.05, 0.0, 0.003], [0.0, 0.04, 0.0], Some(5.0), true);
    let mut solver = solver(&gpu, &scene, settings());
    for frame in 0..8 {
        solver.step(1);
        let positions = solver.read_positions().unwrap();
        let lowest = falling.clone().map(|i| positions[i as usize][1]).fold(f32::INFINITY, f32::min);
        assert!(lowest > 0.9 * THICKNESS, "{lowest} m after step {frame}");
        assert_eq!(positions[0], [-0.5, 0.0, -0.5], "a pinned particle has moved");
    }
}

/// Intersection state and counters are kept when a collider is added.
#[test]
fn added_colliders_do_not_stop_the_resolution() {
    let gpu = common::gpu();
    let scene = tangles(THICKNESS, &[&dent(0.15, 0.06)]);
    let mut solver = solver(&gpu, &scene, settings());
    for frame in 0..20 {
        let collider = Collider::new(Shape::Sphere { radius: 0.01 }, [5.0 + frame as f32, 0.0, 0.0]);
        solver.add_collider(&collider).unwrap();
        solver.step(1);
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.crossings == Some(0) && report.searches > 19 && report.most_contacts > 20, "{report:?}");
    assert_eq!(scene.intersections(&solver.read_positions().unwrap()).unwrap().count, 0);
}

/// Two sheets at one place fall as one falls, and come to rest on each other. Two that overlap in one plane push each other away;
/// truncation loses a small part of their momentum.
#[test]
fn sheets_in_one_plane_fall_and_separate() {
    let gpu = common::gpu();
    for offset in [[0.0; 3], [0.007, 0.0, 0.003]] {
        let (mut scene, material) = scene_of(0.5 * THICKNESS);
        let ground = Pose { position: [0.0, -1.5, 0.0], ..Pose::default() };
        scene.add_collider(Collider { pose: ground, ..Collider::default() }).unwrap();
        let sheets = [[0.0; 3], offset].map(|origin| {
            let axes = ([0.18, 0.0, 0.0], [0.0, 0.0, 0.18]);
            let grid = ClothGrid { columns: 10, rows: 10, origin, tethers: None, ..ClothGrid::default() };
            let grid = ClothGrid { column_axis: axes.0, row_axis: axes.1, ..grid };
            let own = scene.add_cloth_grid(&grid).unwrap().particles;
            scene.set_particle_contact(own.clone(), material).unwrap();
            own.start as usize..own.end as usize
        });
        let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            let mean = |values: Vec<[f32; 3]>| {
                let mean = |own: &std::ops::Range<usize>| {
                    values[own.clone()].iter().map(|v| v[1]).sum::<f32>() / own.len() as f32
                };
                [mean(&sheets[0]), mean(&sheets[1])]
            };
            backend.step(30);
            let falling = mean(backend.read_velocities().unwrap());
            let speed = 0.5 * (falling[0] + falling[1]);
            println!("{}, {offset:?}: {falling:?} m/s", backend.name());
            assert!((speed / (-9.81 * 0.5) - 1.0).abs() < 0.05, "{}, {offset:?}: {falling:?} m/s", backend.name());
            backend.step(150);
            let heights = mean(backend.read_positions().unwrap());
            println!("{}, {offset:?}: heights {heights:?}, {:?}", backend.name(), backend.read_contacts().unwrap());
            // The others lie beside each other.
            let apart = (heights[0] - heights[1]).abs() / (0.5 * THICKNESS);
            assert!(offset != [0.0; 3] || apart > 0.8, "{}, {offset:?}: {heights:?}", backend.name());
            assert!(heights.iter().all(|y| (-1.5..-1.48).contains(y)), "{}, {offset:?}: {heights:?}", backend.name());
            assert_eq!(backend.read_contacts().unwrap().crossings, Some(0));
        }
    }
}
