//! Convex hulls, heightfields and meshes as colliders: particles rest on them, fast particles do not penetrate, and
//! invalid shapes are errors.

use crate::common;
use supple::{
    ClothGrid, Collider, ContactMaterial, Error, Friction, Heightfield, Particle, Pose, Reference, Scene, Settings,
    Shape,
};

const KEEP: f32 = 0.02;

fn default() -> Heightfield {
    Heightfield::default()
}

/// A torus about the y axis.
fn torus(large: f32, small: f32, n: u32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let vertex = |i: u32| {
        let [u, v] = [i / n, i % n].map(|i| i as f32 / n as f32 * std::f32::consts::TAU);
        let r = large + small * v.cos();
        [r * u.cos(), small * v.sin(), r * u.sin()]
    };
    let at = |u: u32, v: u32| u % n * n + v % n;
    let quad = |i: u32| {
        let [u, v] = [i / n, i % n];
        let [a, b, c, d] = [at(u, v), at(u, v + 1), at(u + 1, v + 1), at(u + 1, v)];
        [[a, b, c], [a, c, d]]
    };
    ((0..n * n).map(vertex).collect(), (0..n * n).flat_map(quad).collect())
}

fn torus_distance(large: f32, small: f32, [x, y, z]: [f32; 3]) -> f32 {
    (x.hypot(z) - large).hypot(y) - small
}

fn corners([x, y, z]: [f32; 3]) -> Vec<[f32; 3]> {
    (0..8usize).map(|i| [[-x, x][i & 1], [-y, y][i >> 1 & 1], [-z, z][i >> 2]]).collect()
}

fn cuboid(half: [f32; 3]) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    (corners(half), quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

/// Particles with a thickness of twice [`KEEP`] and high friction.
fn particles(places: impl Iterator<Item = [f32; 3]>, velocity: [f32; 3]) -> Scene {
    let mut scene = Scene::new();
    let friction = Friction { statics: 1.0, kinetic: 1.0 };
    let own = ContactMaterial { thickness: 2.0 * KEEP, friction, ..Default::default() };
    let own = scene.add_contact_material(own).unwrap();
    let mut count = 0;
    for position in places {
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
        count += 1;
    }
    scene.set_particle_contact(0..count, own).unwrap();
    scene
}

/// Places above a square.
fn above(half: f32, y: f32) -> impl Iterator<Item = [f32; 3]> {
    (0..64u32).map(move |i| {
        [half * common::noise(3 * i), y + 0.1 * common::noise(3 * i + 1), half * common::noise(3 * i + 2)]
    })
}

fn run(scene: &Scene, steps: u32) -> Vec<[f32; 3]> {
    let mut reference = Reference::new(scene, Settings { substeps: 8, ..Settings::default() }).unwrap();
    reference.step(steps);
    reference.read_positions().unwrap()
}

/// A box 0.6 m wide with its top at y = 0.1, as each shape that can represent it.
fn plates() -> Vec<(&'static str, Shape)> {
    let half = [0.6, 0.1, 0.6];
    let (vertices, triangles) = cuboid(half);
    let sheet = [[-0.6, 0.1, -0.6], [0.6, 0.1, -0.6], [0.6, 0.1, 0.6], [-0.6, 0.1, 0.6]];
    vec![
        ("hull", Shape::ConvexHull { points: vertices.clone() }),
        ("heightfield", Heightfield { columns: 4, rows: 3, spacing: 0.5, heights: vec![0.1; 12], ..default() }.into()),
        ("mesh", Shape::mesh(&vertices, &triangles, Some(0.04)).unwrap()),
        ("sheet", Shape::sheet(&sheet, &[[0, 2, 1], [0, 3, 2]], Some(0.02)).unwrap()),
    ]
}

#[test]
fn falling_particles_rest_at_their_distance() {
    for (name, shape) in plates() {
        let mut scene = particles(above(0.4, 0.4), [0.0; 3]);
        scene.add_collider(Collider::new(shape, [0.0; 3])).unwrap();
        for [x, y, z] in run(&scene, 60) {
            assert!((y - 0.1 - KEEP).abs() < 2e-4, "{name}: at {x} {y} {z}");
        }
    }
}

#[test]
fn fast_particles_do_not_pass() {
    for (name, shape) in plates() {
        let mut scene = particles(above(0.4, 0.5), [0.0, -100.0, 0.0]);
        scene.add_collider(Collider::new(shape, [0.0; 3])).unwrap();
        for [x, y, z] in run(&scene, 20) {
            assert!(y > 0.1 + 0.5 * KEEP && y < 0.1 + 1.5 * KEEP, "{name}: at {x} {y} {z}");
        }
    }
}

#[test]
fn a_sheet_acts_from_below() {
    let sheet = plates().pop().unwrap().1;
    let mut scene = particles(above(0.4, -0.5), [0.0, 100.0, 0.0]);
    scene.add_collider(Collider::new(sheet, [0.0; 3])).unwrap();
    for [x, y, z] in run(&scene, 1) {
        assert!(y < 0.1 - 0.5 * KEEP, "at {x} {y} {z}");
    }
}

#[test]
fn rotated_and_moving_shapes_carry() {
    for (name, shape) in plates() {
        // On its side: its y axis is the z axis of the world, along which it is pushed.
        let rotation = [0.5f32.sqrt(), 0.0, 0.0, 0.5f32.sqrt()];
        let mut scene = particles(above(0.3, 0.0).map(|[x, y, z]| [x, z, y + 0.4]), [0.0; 3]);
        let pose = |z: f32| Pose { position: [0.0, 0.0, z], rotation };
        let id = scene.add_collider(Collider { shape, pose: pose(0.0), ..Collider::default() }).unwrap();
        let settings = Settings { substeps: 8, gravity: [0.0; 3], ..Settings::default() };
        let mut reference = Reference::new(&scene, settings).unwrap();
        for step in 1..=30 {
            reference.move_collider(id, pose(0.05 * step as f32)).unwrap();
            reference.step(1);
            let front = 0.05 * step as f32 + 0.1 + KEEP;
            for [x, y, z] in reference.read_positions().unwrap() {
                assert!(z > front - 2e-4, "{name}, step {step}: at {x} {y} {z}, front {front}");
            }
        }
    }
}

#[test]
fn a_cloth_stays_outside_of_a_torus() {
    let (vertices, triangles) = torus(0.5, 0.2, 40);
    let cell = 0.025;
    let shape = Shape::mesh(&vertices, &triangles, Some(cell)).unwrap();
    let mut scene = Scene::new();
    let own = ContactMaterial { thickness: 2.0 * KEEP, ..Default::default() };
    let own = scene.add_contact_material(own).unwrap();
    let grid = ClothGrid {
        columns: 24,
        rows: 24,
        origin: [-0.6, 0.3, -0.65],
        column_axis: [1.2, 0.0, 0.0],
        row_axis: [0.0, 0.0, 1.2],
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.set_particle_contact(cloth.particles, own).unwrap();
    scene.add_collider(Collider::new(shape, [0.0; 3])).unwrap();
    let mut reference = Reference::new(&scene, Settings { substeps: 8, ..Settings::default() }).unwrap();
    let mut touched = 0;
    for step in 0..60 {
        reference.step(1);
        for p in reference.read_positions().unwrap() {
            let distance = torus_distance(0.5, 0.2, p);
            assert!(distance > KEEP - 0.2 * cell, "step {step}: {p:?} at {distance}");
            touched += u32::from(distance < KEEP + 0.2 * cell);
        }
    }
    assert!(touched > 1000, "{touched}");
}

#[test]
fn hills_support_particles_that_roll_over_them() {
    let height = |x: f32, z: f32| 0.1 * (6.0 * x).sin() * (5.0 * z).cos();
    let (count, spacing) = (41, 0.1);
    let place = |i: u32| (i as f32 - 20.0) * spacing;
    let heights = (0..count * count).map(|i| height(place(i % count), place(i / count))).collect();
    let ground = |x: f32, z: f32| {
        let h = |i: f32, k: f32| height((x.floor() + i - 20.0) * spacing, (z.floor() + k - 20.0) * spacing);
        let (s, t) = (x.fract(), z.fract());
        if s + t > 1.0 {
            return h(1.0, 1.0) + (h(0.0, 1.0) - h(1.0, 1.0)) * (1.0 - s) + (h(1.0, 0.0) - h(1.0, 1.0)) * (1.0 - t);
        }
        h(0.0, 0.0) + (h(1.0, 0.0) - h(0.0, 0.0)) * s + (h(0.0, 1.0) - h(0.0, 0.0)) * t
    };
    let hills = Heightfield { columns: count, rows: count, spacing, heights, ..default() };
    let mut scene = Scene::new();
    let smooth = ContactMaterial { thickness: 2.0 * KEEP, friction: Friction::coulomb(0.0), ..Default::default() };
    let smooth = scene.add_contact_material(smooth).unwrap();
    for position in above(1.0, 0.4) {
        scene.add_particle(Particle { position, velocity: [1.5, 0.0, 0.7], ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(0..64, smooth).unwrap();
    scene.add_collider(Collider { material: smooth, ..Collider::new(hills.into(), [0.0; 3]) }).unwrap();
    let mut reference = Reference::new(&scene, Settings { substeps: 8, ..Settings::default() }).unwrap();
    for step in 0..90 {
        reference.step(1);
        for [x, y, z] in reference.read_positions().unwrap() {
            if x.abs() < 1.9 && z.abs() < 1.9 {
                // The vertical distance is at least the normal distance.
                let ground = ground(x / spacing + 20.0, z / spacing + 20.0);
                assert!(y - ground > 0.9 * KEEP, "step {step}: {x} {y} {z} over {ground}");
            }
        }
    }
}

#[test]
fn a_cliff_stops_fast_particles() {
    // A wall of one cell in a plain, 1 m high.
    let heights = (0..21 * 5).map(|i| if i % 21 == 10 { 1.0 } else { 0.0 }).collect();
    let wall = Heightfield { columns: 21, rows: 5, spacing: 0.2, heights, ..default() };
    let places = (0..16).map(|i| [-0.6, KEEP + 0.02 * i as f32, 0.01 * i as f32]);
    for speed in [1.0, 10.0, 50.0] {
        let mut scene = particles(places.clone(), [speed, 0.0, 0.0]);
        scene.add_collider(Collider::new(wall.clone().into(), [0.0; 3])).unwrap();
        let settings = Settings { substeps: 8, gravity: [0.0; 3], ..Settings::default() };
        let mut reference = Reference::new(&scene, settings).unwrap();
        for _ in 0..60 {
            reference.step(1);
            for [x, y, z] in reference.read_positions().unwrap() {
                let ground = (1.0 - x.abs() / 0.2).max(0.0);
                assert!(y > ground - 1e-3 && x < 0.2, "{speed} m/s: at {x} {y} {z}");
            }
        }
    }
}

#[test]
fn invalid_shapes_are_rejected() {
    let (vertices, mut triangles) = cuboid([1.0; 3]);
    triangles.pop();
    let fault = Shape::mesh(&vertices, &triangles, None).unwrap_err();
    assert!(matches!(fault, Error::OpenSurface { boundary_edges: 3, .. }), "{fault}");
    let mut scene = Scene::new();
    let mut refused = |shape: Shape| {
        let fault = scene.add_collider(Collider::new(shape, [0.0; 3])).unwrap_err();
        assert!(scene.colliders().is_empty());
        fault
    };
    let ground = |heights: Vec<f32>| Shape::from(Heightfield { heights, ..default() });
    let fault = refused(ground(vec![0.0, f32::NAN, 0.0, 0.0]));
    assert!(matches!(&fault, Error::InvalidValue { what, .. } if what == "height 1 of a heightfield"), "{fault}");
    assert!(matches!(refused(ground(vec![0.0; 5])), Error::LengthMismatch { left: 5, right: 4, .. }));
    assert!(matches!(refused(ground(vec![0.0, 2e6, 0.0, 0.0])), Error::InvalidValue { value: 2e6, .. }));
    let flat = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]];
    let fault = refused(Shape::ConvexHull { points: flat.to_vec() });
    assert!(matches!(&fault, Error::InvalidValue { what, .. } if what.contains("thickness")), "{fault}");
    let huge = corners([1.0, 1.0, 2e6]);
    assert!(matches!(refused(Shape::ConvexHull { points: huge }), Error::InvalidValue { .. }));
    let fault = Shape::mesh(&vertices, &cuboid([1.0; 3]).1, Some(1e-3)).unwrap_err();
    assert!(matches!(fault, Error::TooLarge { limit: 16_777_216, .. }), "{fault}");
}
