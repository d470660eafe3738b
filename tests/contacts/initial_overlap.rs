//! Particles and surfaces that are nearer than their thickness when they meet: they separate slowly, to the thickness.

use crate::common;
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactMaterialId, Particle, Reference, Scene, SelfCollision, Settings,
    Simulation,
};

const THICKNESS: f32 = 0.005;

/// Horizontal sheets, one `gap` above another, the lowest half a thickness above the ground.
fn sheets(count: u32, gap: f32, cells: u32, thickness: f32) -> Scene {
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness, ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), material).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    for sheet in 0..count {
        let at = sheet as f32;
        let side = 0.03 * cells as f32;
        let grid = ClothGrid {
            columns: cells + 1,
            rows: cells + 1,
            origin: [0.003 * at, 0.5 * thickness + gap * at, 0.0041 * at],
            column_axis: [side, 0.0, 0.0],
            row_axis: [0.0, 0.0, side],
            tethers: None,
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap();
    }
    scene
}

fn surfaces() -> Settings {
    Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() }
}

/// The mean height of each sheet.
fn heights(positions: &[[f32; 3]], count: u32) -> Vec<f32> {
    let size = positions.len() / count as usize;
    positions.chunks(size).map(|sheet| sheet.iter().map(|x| x[1]).sum::<f32>() / size as f32).collect()
}

/// The greatest mean height of the highest sheet in some steps, and the heights at their end.
fn play(backend: &mut dyn Simulation, count: u32, steps: u32) -> (f32, Vec<f32>) {
    let (mut highest, mut last) = (f32::NEG_INFINITY, Vec::new());
    for _ in 0..steps {
        backend.step(1);
        last = heights(&backend.read_positions().unwrap(), count);
        highest = highest.max(last[count as usize - 1]);
    }
    (highest, last)
}

/// The layers of a garment are often modelled nearer than the thickness of their contacts.
#[test]
fn layers_nearer_than_their_thickness_spread_and_do_not_fly_apart() {
    let gpu = common::gpu();
    for (count, gap, steps) in [(2, 0.001, 40), (4, 0.002, 60)] {
        let scene = sheets(count, gap, 8, THICKNESS);
        for mut backend in common::backends(&gpu, &scene, surfaces()) {
            let (highest, last) = play(backend.as_mut(), count, steps);
            let rest = THICKNESS * (count as f32 - 0.5);
            let name = backend.name();
            println!("{name}: {count} layers {gap} m apart: highest {highest} m, rest {rest} m, last {last:?} m");
            assert!(highest < rest + 0.3 * THICKNESS, "{name}: {count} layers rise to {highest} m instead of {rest} m");
            let top = last[count as usize - 1];
            assert!((top - rest).abs() < 0.05 * THICKNESS, "{name}: the top of {count} layers is at {top} m");
            assert_eq!(backend.read_contacts().unwrap().crossings, Some(0), "{name}");
        }
    }
}

/// The contacts of a cloth at rest keep their distance, and grow to the new thickness.
#[test]
fn a_resting_cloth_rises_gently_if_its_thickness_grows() {
    let mut scene = sheets(2, 0.004, 8, 0.004);
    // Its particles do not move when their thickness grows into the ground.
    (0..81).for_each(|particle| scene.pin(particle).unwrap());
    let mut reference = Reference::new(&scene, surfaces()).unwrap();
    let (_, before) = play(&mut reference, 2, 20);
    let thicker = ContactMaterial { thickness: 0.006, ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), thicker).unwrap();
    reference.set_contact_material(ContactMaterialId::default(), thicker).unwrap();
    let (highest, last) = play(&mut reference, 2, 40);
    println!("before {before:?} m, highest {highest} m, last {last:?} m");
    assert!(highest < 0.0085, "{highest} m");
    assert!((last[1] - last[0] - 0.006).abs() < 3e-4, "{last:?}");
}

/// Particles that overlap part at a twentieth of `Settings::recovery_speed`, at both levels. Those at one place part by a tenth of
/// the thickness in the first substep, so they may be as fast as the recovery speed.
#[test]
fn particles_part_at_a_twentieth_of_the_recovery_speed() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), material).unwrap();
    for x in [0.0, 1e-3, 0.5, 0.5] {
        scene.add_particle(Particle { position: [x, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        for recovery_speed in [1.0, 10.0] {
            let settings =
                Settings { gravity: [0.0; 3], self_collision: Some(own), recovery_speed, ..Settings::default() };
            for mut backend in common::backends(&gpu, &scene, settings) {
                backend.step(30);
                let (x, v) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
                for (pair, most) in [([0, 1], 1.1 * 0.05 * recovery_speed), ([2, 3], recovery_speed)] {
                    let of = |values: &[[f32; 3]]| pair.map(|i| glam::Vec3::from(values[i]));
                    let ([a, b], [u, w]) = (of(&x), of(&v));
                    let (distance, speed) = (a.distance(b), u.distance(w));
                    let text = format!("{}: {distance} m apart at {speed} m/s, {recovery_speed} m/s", backend.name());
                    println!("{text}");
                    assert!(distance > THICKNESS, "{text}");
                    assert!((0.045 * recovery_speed..most).contains(&speed), "{text}");
                }
            }
        }
    }
}
