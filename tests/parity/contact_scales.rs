//! Contacts with scales of thickness and friction by particle: the GPU equals the reference bit for bit.

use crate::common;
use crate::common::instancing::{difference, few, flag, instances, leaf, reference, some};
use crate::common::{Pair, change, is_exact, noise};
use supple::{
    Bending, ClothGrid, Collider, ContactMaterial, ContactMaterialId, ContactScale, Particle, Scene, SelfCollision,
    Settings, Shape,
};

/// Pseudorandom scales; about a third of the thicknesses are 1.
fn map(count: usize, seed: u32) -> Vec<ContactScale> {
    let share = |k: u32| (0.7 + 0.65 * noise(seed + k)).clamp(0.05, 1.0);
    (0..count as u32).map(|k| ContactScale { thickness: share(2 * k), friction: share(2 * k + 1) }).collect()
}

/// Two sheets and some particles that fall on one another, on a box, a small ball and the ground.
fn pile(has_scales: bool) -> Scene {
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.03, ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), material).unwrap();
    for layer in 0..2 {
        let grid = ClothGrid {
            columns: 6,
            rows: 5,
            origin: [-0.1, 0.03 + 0.006 * layer as f32, -0.1 + 0.013 * layer as f32],
            column_axis: [0.2, 0.01, 0.0],
            row_axis: [0.0, 0.0, 0.17],
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap();
    }
    for k in 0..20 {
        let position = [0.08 * noise(3 * k), 0.06 + 0.03 * noise(3 * k + 1), 0.08 * noise(3 * k + 2)];
        let particle = Particle { position, velocity: [0.3, -1.0, 0.1], inverse_mass: 50.0 };
        scene.add_particle(particle).unwrap();
    }
    scene.add_collider(Collider::new(Shape::Box { half_extents: [0.03, 0.01, 0.05] }, [0.04, 0.005, 0.0])).unwrap();
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.012 }, [-0.05, 0.01, 0.02])).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    if has_scales {
        let scales = map(scene.particle_count(), 0);
        scene.set_contact_scales(0..scales.len() as u32, &scales).unwrap();
    }
    scene
}

#[test]
fn contacts_with_scales_agree() {
    let gpu = common::gpu();
    let scene = pile(true);
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        // Lists that need not grow, which the GPU does later.
        let own = SelfCollision { pairs_per_particle: 256, ..own };
        let settings = Settings { self_collision: Some(own), substeps: 4, ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        pair.run(15, 1e-4, &format!("{:?}", own.level));
        let other = map(30, 7000);
        change!(pair, set_contact_scales(20..50, &other));
        pair.run(15, 1e-4, &format!("{:?} after a change", own.level));
        let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
        assert!(reports.0.contacts > 10, "{reports:?}");
        if is_exact(&gpu) {
            assert_eq!(reports.0, reports.1);
        }
    }
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
    pair.run(20, 1e-4, "colliders alone");
}

#[test]
fn first_scales_while_running_are_those_of_the_scene() {
    let gpu = common::gpu();
    let [scene, scaled] = [false, true].map(pile);
    let scales = map(scene.particle_count(), 0);
    // Lists that need not grow, which the GPU does later.
    let own = SelfCollision { pairs_per_particle: 256, ..SelfCollision::surfaces() };
    let settings = Settings { self_collision: Some(own), substeps: 4, ..Settings::default() };
    // In the middle of a run both backends start their contacts anew.
    let mut running = Pair::new(&gpu, &scene, settings);
    running.run(12, 1e-4, "without scales");
    change!(running, set_contact_scales(3..40, &scales[3..40]));
    running.run(12, 1e-4, "with scales");
    if is_exact(&gpu) {
        assert_eq!(running.solver.read_contacts().unwrap(), running.reference.read_contacts().unwrap());
        assert_eq!(running.solver.read_collider_forces().unwrap(), running.reference.read_collider_forces().unwrap());
    }
    let mut late = Pair::new(&gpu, &scene, settings);
    change!(late, set_contact_scales(0..scales.len() as u32, &scales));
    let mut early = Pair::new(&gpu, &scaled, settings);
    for pair in [&mut late, &mut early] {
        pair.run(10, 1e-4, "scales");
    }
    assert_eq!(late.solver.read_positions().unwrap(), early.solver.read_positions().unwrap());
}

#[test]
fn instances_with_scales_agree() {
    let gpu = common::gpu();
    for mut asset in [flag(7, 6, Bending::Springs), leaf(1.0)] {
        let scales = map(asset.particle_count(), 300);
        asset.set_contact_scales(0..scales.len() as u32, &scales).unwrap();
        let mut pool = instances(&gpu, &asset, 4, few());
        let all = some();
        let ids = pool.spawn_many(&all).unwrap();
        let colliders = [
            Collider::new(Shape::Sphere { radius: 0.4 }, [0.3, -0.4, 0.2]),
            Collider::new(Shape::HalfSpace, [0.0, -0.6, 0.0]),
        ];
        pool.add_colliders(&colliders).unwrap();
        pool.step(20);
        for (id, instance) in ids.into_iter().zip(&all) {
            let mut own = reference(&asset, instance, few());
            for collider in &colliders {
                own.add_collider(collider).unwrap();
            }
            own.step(20);
            let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-4 };
            assert_eq!(difference(&pool, id, &own, tolerance), None);
        }
    }
}
