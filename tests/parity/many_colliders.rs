//! Hundreds of colliders on the GPU equal those of the reference, which tests each of them without slabs.

use crate::common;
use crate::common::{Pair, is_exact};
use std::collections::BTreeSet;
use supple::{ClothGrid, Collider, ColliderId, ContactMaterial, Heightfield, Particle, Pose, Scene, Settings, Shape};

const COLLIDERS: u32 = 300;

/// A point in a region of 30 m, more than all slabs cover once, around `center`.
fn place(k: u32, center: f32) -> [f32; 3] {
    let noise = |axis: u32| common::noise(7 * k + axis);
    [center + 15.0 * noise(0), 0.5 * noise(1), 15.0 * noise(2)]
}

fn collider(k: u32, center: f32) -> Collider {
    let size = 0.1 + 0.4 * (k % 7) as f32 / 6.0;
    let shape = match k % 4 {
        0 => Shape::Box { half_extents: [size, 0.5 * size, 0.8 * size] },
        1 => Shape::Capsule { radius: 0.5 * size, half_height: 2.0 * size },
        _ => Shape::Sphere { radius: size },
    };
    Collider::new(shape, place(k, center))
}

/// Particles above the colliders, fast and slow.
fn scene(center: f32) -> Scene {
    let mut scene = Scene::new();
    for i in 0..1500u32 {
        let [x, _, z] = place(i % COLLIDERS, center);
        let around = |k: u32| 0.4 * common::noise(5 * i + k);
        let velocity = [20.0 * around(3), -4.0, if i % 50 == 0 { 400.0 } else { 0.0 }];
        scene
            .add_particle(Particle { position: [x + around(0), 0.7, z + around(1)], velocity, inverse_mass: 2.0 })
            .unwrap();
    }
    for k in 0..COLLIDERS {
        scene.add_collider(collider(k, center)).unwrap();
    }
    // Triangles that reach over few slabs, and over more than are read.
    for (cells, size) in [(9, 4.0), (4, 12.0)] {
        let origin = [center - 0.5 * size, 0.6, -0.5 * size];
        let axes = ([size, 0.0, 0.0], [0.0, 0.0, size]);
        let grid = ClothGrid {
            columns: cells,
            rows: cells,
            origin,
            column_axis: axes.0,
            row_axis: axes.1,
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap();
    }
    let rubber = ContactMaterial { restitution: 0.5, thickness: 0.02, ..ContactMaterial::default() };
    let rubber = scene.add_contact_material(rubber).unwrap();
    scene.set_particle_contact(0..300, rubber).unwrap();
    // Shapes with data, which the masks precede.
    let heights = (0..56).map(|k| 0.3 * common::noise(k)).collect();
    let ground = Heightfield { columns: 8, rows: 7, spacing: 0.8, heights, ends_at_border: true };
    scene.add_collider(Collider::new(ground.into(), [center + 4.0, 0.2, 3.0])).unwrap();
    let corners = [[0.5, 0.0, 0.5], [-0.5, 0.05, 0.4], [-0.4, 0.0, -0.5], [0.5, -0.1, -0.4], [0.0, 0.4, 0.1]];
    for k in 0..40 {
        scene
            .add_collider(Collider::new(Shape::ConvexHull { points: corners.to_vec() }, place(900 + k, center)))
            .unwrap();
    }
    // Without bounds, and wider than all slabs.
    scene.add_collider(Collider::new(Shape::HalfSpace, [center, -0.8, 0.0])).unwrap();
    let shape = Shape::Box { half_extents: [12.0, 0.1, 12.0] };
    scene.add_collider(Collider::new(shape, [center, -0.6, 0.0])).unwrap();
    scene
}

fn check(center: f32, tolerance: f32) {
    let gpu = common::gpu();
    let scene = scene(center);
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 3, ..Settings::default() });
    // A second set reuses the indices of removed colliders.
    let added: Vec<ColliderId> = (0..40).map(|k| add(&mut pair, &collider(3 * k + 1, center))).collect();
    for &id in &added[..5] {
        pair.solver.remove_collider(id).unwrap();
        pair.reference.remove_collider(id).unwrap();
    }
    let mut touched = BTreeSet::new();
    for step in 0..8u32 {
        for (k, &id) in (0..).zip(&added[5..]) {
            // Some move by several metres in the step.
            let [x, y, z] = place(k + 90 * (step * (k % 3)), center);
            let pose = Pose { position: [x, y + 0.02 * step as f32, z], rotation: [0.1, 0.3 * step as f32, 0.0, 1.0] };
            pair.solver.move_collider(id, pose).unwrap();
            pair.reference.move_collider(id, pose).unwrap();
        }
        let passes: Vec<_> = pair.reference.plan().step(3, step).collect();
        let difference = pair.first_difference(tolerance, passes);
        assert!(difference.is_none(), "step {step}: {difference:#?}");
        let forces = [pair.solver.read_collider_forces().unwrap(), pair.reference.read_collider_forces().unwrap()];
        for (index, (a, b)) in forces[0].iter().zip(&forces[1]).enumerate() {
            let differs = |k: usize| (a.force[k] - b.force[k]).abs() > 1e-3 * b.force[k].abs().max(1.0);
            let equal = if is_exact(&gpu) { a == b } else { !(0..3).any(differs) };
            assert!(equal, "step {step}, collider {index}: {a:?} instead of {b:?}");
        }
        touched.extend((0..forces[1].len()).filter(|&index| forces[1][index].force != [0.0; 3]));
    }
    assert!(touched.len() > 150, "{} colliders were touched", touched.len());
}

fn add(pair: &mut Pair<'_>, collider: &Collider) -> ColliderId {
    let id = pair.solver.add_collider(collider).unwrap();
    assert_eq!(id, pair.reference.add_collider(collider).unwrap());
    id
}

#[test]
fn hundreds_of_colliders_agree() {
    let gpu = common::gpu();
    check(0.0, if is_exact(&gpu) { 0.0 } else { 2e-5 });
}

#[test]
fn hundreds_of_colliders_far_from_the_origin_agree() {
    let gpu = common::gpu();
    check(1e4, if is_exact(&gpu) { 0.0 } else { 1e-2 });
}
