//! Contact events: began, continued, ended, and the normal impulse of each step, on both backends.

use crate::common;
use crate::common::{Pair, is_exact, noise, solver};
use supple::{
    ClothGrid, Collider, ContactEvents, ContactMaterial, ContactMaterialId, ContactPair, ContactPhase, Error, Friction,
    Particle, Reference, Scene, SelfCollision, Settings, Shape,
};

const DT: f32 = 1.0 / 60.0;
const G: f32 = 9.81;

fn settings(self_collision: Option<SelfCollision>) -> Settings {
    Settings { self_collision, contact_events: 256, ..Settings::default() }
}

fn levels() -> [Option<SelfCollision>; 3] {
    [None, Some(SelfCollision::default()), Some(SelfCollision::surfaces())]
}

fn material(scene: &mut Scene, restitution: f32, coefficient: f32) {
    let friction = Friction::coulomb(coefficient);
    let own = ContactMaterial { thickness: 0.02, restitution, friction, ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), own).unwrap();
}

fn sum(events: &ContactEvents) -> f32 {
    events.events.iter().map(|event| event.impulse).sum()
}

#[test]
fn a_bouncing_ball_begins_and_ends_a_contact_with_its_impulse() {
    let gpu = common::gpu();
    let (mass, height, e) = (2.0, 0.5, 0.6);
    for self_collision in levels() {
        let mut scene = Scene::new();
        material(&mut scene, e, 0.3);
        let particle = Particle { position: [0.1, height, 0.0], velocity: [0.5, 0.0, 0.0], inverse_mass: 1.0 / mass };
        scene.add_particle(particle).unwrap();
        scene.add_collider(Collider::new(Shape::Sphere { radius: 0.1 }, [5.0, 0.0, 0.0])).unwrap();
        scene.add_collider(Collider::default()).unwrap();
        for mut backend in common::backends(&gpu, &scene, settings(self_collision)) {
            let (name, mut log) = (backend.name(), Vec::new());
            for step in 1..=40 {
                backend.step(1);
                let found = backend.read_contact_events().unwrap();
                assert_eq!((found.step, found.lost), (step, 0), "{name}");
                log.extend(found.events.into_iter().map(|event| (step, event)));
            }
            let contact = ContactPair::Collider { particle: 0, collider: 1 };
            let [(first, began), (last, ended)] = log[..2] else { panic!() };
            let expected = mass * (1.0 + e) * (2.0 * G * (height - 0.01)).sqrt();
            println!("{name}: {began:?}, expected {expected} N s");
            assert_eq!((began.contact, began.phase), (contact, ContactPhase::Began), "{name}");
            assert_eq!((ended.contact, ended.phase), (contact, ContactPhase::Ended), "{name}");
            assert_eq!((last, ended.impulse), (first + 1, 0.0), "{name}");
            assert!((began.impulse / expected - 1.0).abs() < 0.02, "{name}: {} of {expected} N s", began.impulse);
            assert!((began.position[0] - 0.26).abs() < 0.03 && began.position[1] < 0.1, "{name}: {began:?}");
        }
    }
}

#[test]
fn a_resting_weight_has_its_impulse_in_each_step() {
    let gpu = common::gpu();
    for self_collision in levels() {
        let mut scene = Scene::new();
        material(&mut scene, 0.0, 0.5);
        // Loose particles, and a sheet.
        for k in 0..3 {
            let position = [0.2 * k as f32, 0.03, 1.0];
            scene.add_particle(Particle { position, inverse_mass: 0.5, ..Particle::default() }).unwrap();
        }
        let grid = ClothGrid {
            columns: 5,
            rows: 5,
            origin: [0.0, 0.03, 0.0],
            column_axis: [0.3, 0.0, 0.0],
            row_axis: [0.0, 0.0, 0.3],
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap();
        scene.add_collider(Collider::default()).unwrap();
        let mass: f32 = scene.inverse_masses().iter().map(|w| 1.0 / w).sum();
        for mut backend in common::backends(&gpu, &scene, settings(self_collision)) {
            backend.step(60);
            for _ in 0..3 {
                backend.step(1);
                let found = backend.read_contact_events().unwrap();
                assert_eq!(found.events.len(), 28, "{}", backend.name());
                for event in &found.events {
                    assert_eq!(event.phase, ContactPhase::Continued, "{}: {event:?}", backend.name());
                }
                assert!((found.events[0].impulse / (2.0 * G * DT) - 1.0).abs() < 0.02, "{:?}", found.events[0]);
                let (total, expected) = (sum(&found), mass * G * DT);
                println!("{}: {total} N s, weight {expected} N s", backend.name());
                assert!((total / expected - 1.0).abs() < 0.02, "{}: {total} of {expected} N s", backend.name());
            }
        }
    }
}

/// Four balls below a stiff sheet of two triangles, whose particles touch nothing. The normals are nearly vertical.
#[test]
fn triangles_on_a_collider_have_the_normal_impulse_of_their_force() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    material(&mut scene, 0.0, 0.5);
    let grid = ClothGrid {
        columns: 2,
        rows: 2,
        origin: [-0.1, 0.045, -0.1],
        column_axis: [0.2, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.2],
        ..ClothGrid::default()
    };
    scene.add_cloth_grid(&grid).unwrap();
    for (x, z) in [(0.05, 0.03), (-0.03, -0.05), (-0.05, 0.04), (0.04, -0.04)] {
        scene.add_collider(Collider::new(Shape::Sphere { radius: 0.02 }, [x, 0.01, z])).unwrap();
    }
    let weight: f32 = scene.inverse_masses().iter().map(|w| G / w).sum();
    for mut backend in common::backends(&gpu, &scene, settings(None)) {
        backend.step(60);
        let (mut total, mut pressed) = (0.0, 0.0);
        for _ in 0..20 {
            backend.step(1);
            total += sum(&backend.read_contact_events().unwrap());
            pressed -= backend.read_collider_forces().unwrap().iter().map(|force| force.force[1] * DT).sum::<f32>();
        }
        println!("{}: {total} N s, by the forces {pressed} N s, weight {} N s", backend.name(), 20.0 * weight * DT);
        assert!((total / pressed - 1.0).abs() < 0.01, "{}: {total} and {pressed} N s", backend.name());
        assert!((total / (20.0 * weight * DT) - 1.0).abs() < 0.1, "{}: {total} N s", backend.name());
    }
}

#[test]
fn pairs_begin_with_the_impulse_of_an_inelastic_impact() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    material(&mut scene, 0.0, 0.0);
    for (x, v, m) in [(0.0, 1.0, 1.0), (0.1, -2.0, 3.0)] {
        let particle = Particle { position: [x, 0.0, 0.0], velocity: [v, 0.0, 0.0], inverse_mass: 1.0 / m };
        scene.add_particle(particle).unwrap();
    }
    for self_collision in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = Settings { gravity: [0.0; 3], ..settings(Some(self_collision)) };
        for mut backend in common::backends(&gpu, &scene, settings) {
            let mut log = Vec::new();
            for _ in 0..6 {
                backend.step(1);
                log.extend(backend.read_contact_events().unwrap().events);
            }
            // The reduced mass times the relative speed.
            let expected = 0.75 * 3.0;
            println!("{}: {log:?}", backend.name());
            assert_eq!((log[0].contact, log[0].phase), (ContactPair::Particles([0, 1]), ContactPhase::Began));
            let total: f32 = log.iter().map(|event| event.impulse).sum();
            assert!((log[0].impulse / expected - 1.0).abs() < 0.02, "{}: {:?}", backend.name(), log[0]);
            assert!((total / expected - 1.0).abs() < 0.02, "{}: {total} N s", backend.name());
            assert!(log[1..].iter().all(|event| event.phase != ContactPhase::Began), "{}: {log:?}", backend.name());
            // They part again.
            backend.set_velocities(0, &[[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]]).unwrap();
            backend.step(1);
            let parted = backend.read_contact_events().unwrap().events;
            assert!(parted.iter().all(|event| event.phase == ContactPhase::Ended), "{}: {parted:?}", backend.name());
            assert_eq!(parted.len(), 1, "{}", backend.name());
        }
    }
}

#[test]
fn a_cloth_at_rest_on_a_cloth_carries_its_weight() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    material(&mut scene, 0.0, 0.5);
    let sheet = |scene: &mut Scene, height: f32, shift: f32, size: f32| {
        let grid = ClothGrid {
            columns: 5,
            rows: 5,
            origin: [-0.5 * size + shift, height, -0.5 * size - shift],
            column_axis: [size, 0.0, 0.0],
            row_axis: [0.0, 0.0, size],
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap().particles
    };
    sheet(&mut scene, 0.0, 0.0, 0.4).for_each(|i| scene.pin(i).unwrap());
    let upper = sheet(&mut scene, 0.021, 0.017, 0.3);
    let mass: f32 = upper.map(|i| 1.0 / scene.inverse_masses()[i as usize]).sum();
    let settings = Settings { contact_events: 2000, ..settings(Some(SelfCollision::surfaces())) };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(30);
        let (steps, mut total) = (5, 0.0);
        for _ in 0..steps {
            backend.step(1);
            let found = backend.read_contact_events().unwrap();
            assert_eq!(found.lost, 0);
            total += sum(&found) / steps as f32;
        }
        let expected = mass * G * DT;
        println!("{}: {total} N s, weight {expected} N s", backend.name());
        assert!((total / expected - 1.0).abs() < 0.02, "{}: {total} of {expected} N s", backend.name());
    }
}

/// Two sheets and loose particles that fall on one another and on colliders.
fn pile() -> Scene {
    let mut scene = Scene::new();
    material(&mut scene, 0.3, 0.4);
    for layer in 0..2 {
        let grid = ClothGrid {
            columns: 5,
            rows: 5,
            origin: [-0.1, 0.05 + 0.025 * layer as f32, -0.1 + 0.013 * layer as f32],
            column_axis: [0.2, 0.01, 0.0],
            row_axis: [0.0, 0.0, 0.2],
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap();
    }
    for k in 0..15 {
        let position = [0.09 * noise(3 * k), 0.12 + 0.02 * noise(3 * k + 1), 0.09 * noise(3 * k + 2)];
        let particle = Particle { position, velocity: [0.3, -1.0, 0.1], inverse_mass: 50.0 };
        scene.add_particle(particle).unwrap();
    }
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.012 }, [-0.05, 0.01, 0.02])).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    scene
}

#[test]
fn events_of_both_backends_agree() {
    let gpu = common::gpu();
    for self_collision in levels() {
        let settings = Settings { substeps: 5, contact_events: 2000, ..settings(self_collision) };
        let mut pair = Pair::new(&gpu, &pile(), settings);
        let mut seen = [0; 3];
        for step in 0..30 {
            pair.solver.step(1);
            pair.reference.step(1);
            let (on_gpu, on_reference) =
                (pair.solver.read_contact_events().unwrap(), pair.reference.read_contact_events().unwrap());
            if is_exact(&gpu) {
                assert_eq!(on_gpu, on_reference, "step {step}");
            }
            on_gpu.events.iter().for_each(|event| seen[event.phase as usize] += 1);
            assert_eq!(on_gpu.lost, 0);
        }
        println!("{seen:?}");
        assert!(seen.iter().all(|&count| count > 5), "{self_collision:?}: {seen:?}");
    }
}

#[test]
fn events_that_do_not_fit_are_counted() {
    let gpu = common::gpu();
    let [few, many] = [3, 1000].map(|contact_events| Settings { contact_events, substeps: 5, ..settings(None) });
    for (mut backend, mut large) in
        common::backends(&gpu, &pile(), few).into_iter().zip(common::backends(&gpu, &pile(), many))
    {
        backend.step(20);
        large.step(20);
        let (few, every) = (backend.read_contact_events().unwrap(), large.read_contact_events().unwrap());
        assert_eq!((few.events.len() + few.lost as usize, every.lost), (every.events.len(), 0), "{}", backend.name());
        backend.set_settings(many).unwrap();
        backend.step(1);
        let all = backend.read_contact_events().unwrap();
        println!("{}: {} and {} lost of {}", backend.name(), few.events.len(), few.lost, all.events.len());
        assert_eq!(few.events.len(), 3);
        assert!(few.lost as usize > all.events.len() / 2 && all.lost == 0, "{few:?}");
        // A changed setting forgets the step before.
        assert!(all.events.iter().all(|event| event.phase == ContactPhase::Began));
    }
}

#[test]
fn a_reset_forgets_the_contacts_of_the_step_before() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    material(&mut scene, 0.0, 0.5);
    scene.add_particle(Particle { position: [0.0, 0.01, 0.0], ..Particle::default() }).unwrap();
    scene.add_collider(Collider::default()).unwrap();
    let off = Settings { contact_events: 0, collider_forces: false, ..settings(None) };
    for mut backend in common::backends(&gpu, &scene, off) {
        backend.step(2);
        backend.set_settings(settings(None)).unwrap();
        backend.reset();
        for _ in 0..3 {
            for (step, phase) in (1..).zip([ContactPhase::Began, ContactPhase::Continued, ContactPhase::Continued]) {
                backend.step(1);
                let ContactEvents { step: number, events, .. } = backend.read_contact_events().unwrap();
                let phases: Vec<_> = events.iter().map(|event| event.phase).collect();
                assert_eq!((number, phases), (step, vec![phase]), "{}", backend.name());
            }
            backend.reset();
            assert_eq!(backend.read_contact_events().unwrap(), ContactEvents::default(), "{}", backend.name());
        }
    }
}

#[test]
fn events_arrive_without_waiting() {
    let gpu = common::gpu();
    let mut solver = solver(&gpu, &pile(), settings(None));
    let mut pending = Vec::new();
    for _ in 0..30 {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        solver.encode(&mut encoder, 1);
        pending.push(solver.request_contact_events(&mut encoder).unwrap());
        gpu.queue.submit([encoder.finish()]);
    }
    for (step, mut own) in (1..).zip(pending) {
        assert_eq!(common::taken(&gpu, &mut own).step, step);
    }
}

#[test]
fn events_that_are_off_have_no_passes_and_reading_them_is_an_error() {
    let gpu = common::gpu();
    let off = Settings { contact_events: 0, ..settings(Some(SelfCollision::default())) };
    let on = settings(off.self_collision);
    let [off, on] = [off, on].map(|settings| solver(&gpu, &pile(), settings));
    assert_eq!(on.plan().dispatches_per_substep(), off.plan().dispatches_per_substep() + 1);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let outcomes = [off.read_contact_events().map(drop), off.request_contact_events(&mut encoder).map(drop)];
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Error::NotEnabled { .. })), "{outcome:?}");
    }
    let reference = Reference::new(&pile(), *off.settings()).unwrap();
    assert!(matches!(reference.read_contact_events(), Err(Error::NotEnabled { .. })));
    let most = Settings { contact_events: 1_048_577, ..Settings::default() };
    let error = Reference::new(&pile(), most).map(drop).unwrap_err().to_string();
    assert!(error.contains("contact events") && error.contains("1048577"), "{error}");
    assert_eq!(on.read_contact_events().unwrap(), ContactEvents::default());
}
