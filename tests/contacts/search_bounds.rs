//! The pair search of fast and of many elements: what it visits is bounded, and what it cannot visit is counted.

use crate::common;
use supple::{ClothGrid, ContactMaterial, Particle, Scene, SelfCollision, Settings};

const THICKNESS: f32 = 5e-3;

fn weightless(substeps: u32, level: SelfCollision) -> Settings {
    Settings { gravity: [0.0; 3], substeps, self_collision: Some(level), ..Settings::default() }
}

/// Particles in a box of half a metre that fly together, and slowly relative to each other; one pinned particle far away.
fn swarm(speed: f32) -> Scene {
    let mut scene = Scene::new();
    for index in 0..25_000 {
        let noise = |k: u32| common::noise(6 * index + k);
        let position = [0, 1, 2].map(|axis| 0.25 * noise(axis));
        let velocity = [speed + 0.3 * noise(3), 0.3 * noise(4), 0.3 * noise(5)];
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    let far = scene.add_particle(Particle { position: [0.0, -50.0, 0.0], ..Particle::default() }).unwrap();
    scene.pin(far).unwrap();
    let material = ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    scene.set_particle_contact(0..far + 1, material).unwrap();
    scene
}

/// Motion that particles share does not enlarge what they visit, pins or not.
#[test]
fn particles_that_fly_together_meet_as_particles_at_rest_do() {
    let gpu = common::gpu();
    let contacts = [0.0, 150.0].map(|speed| {
        let mut solver = common::solver(&gpu, &swarm(speed), weightless(2, SelfCollision::default()));
        solver.step(1);
        let report = solver.read_contacts().unwrap();
        assert_eq!(report.lost, 0, "{report:?}");
        report.contacts
    });
    println!("contacts at rest and at 150 m/s: {contacts:?}");
    // At 150 m/s the positions are rounded differently.
    assert!(contacts[0] > 1000 && contacts[0].abs_diff(contacts[1]) < 5, "{contacts:?}");
}

/// Two particles touch each other above a crowd of others that collide with nothing. Their threads visit the whole crowd, and
/// find the contact or count a loss. In the larger crowd they cannot visit all.
#[test]
fn a_search_among_too_many_elements_counts_a_loss() {
    let gpu = common::gpu();
    for crowd in [19_000, 24_000] {
        let mut scene = Scene::new();
        for index in 0..crowd {
            let position = [0, 1, 2].map(|axis| 1e-3 * common::noise(3 * index + axis));
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        for position in [[0.0, 0.0, 2e-3], [1e-3, 0.0, 2.1e-3]] {
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        let solid = ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() };
        let [solid, ghost] = [solid, ContactMaterial { touches: 0, ..solid }]
            .map(|material| scene.add_contact_material(material).unwrap());
        scene.set_particle_contact(0..crowd, ghost).unwrap();
        scene.set_particle_contact(crowd..crowd + 2, solid).unwrap();
        let mut solver = common::solver(&gpu, &scene, weightless(1, SelfCollision::default()));
        solver.step(1);
        let report = solver.read_contacts().unwrap();
        println!("{crowd}: {report:?}");
        assert!(report.pairs == 1 || report.lost > 0, "{crowd}: {report:?}");
        assert!(crowd < 20_000 || report.lost > 0, "{crowd}: {report:?}");
    }
}

/// A projectile flies over a cloth, or into it. It moves by many margins in a substep, but on its predicted path.
#[test]
fn a_projectile_in_free_flight_needs_few_searches() {
    const SUBSTEPS: u32 = 60;
    const SPEED: f32 = 30.0;
    let gpu = common::gpu();
    for hits in [false, true] {
        let mut scene = Scene::new();
        let grid = ClothGrid { columns: 33, rows: 33, ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
        let height = scene.positions()[0][1];
        for i in cloth {
            if hits {
                scene.pin(i).unwrap();
            } else {
                scene.set_velocity(i, [0, 1, 2].map(|axis| 0.01 * common::noise(3 * i + axis))).unwrap();
            }
        }
        // It is above the middle of the cloth after four of ten steps.
        let way = 4.0 / 60.0 * SPEED;
        let [position, velocity] = if hits {
            [[0.013, height + way, 0.027], [0.0, -SPEED, 0.0]]
        } else {
            [[-way, height + 0.1, 0.0], [SPEED, 0.0, 0.0]]
        };
        let projectile = scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap() as usize;
        for mut backend in common::backends(&gpu, &scene, weightless(SUBSTEPS, SelfCollision::surfaces())) {
            backend.step(3);
            let before = backend.read_contacts().unwrap();
            backend.step(7);
            let report = backend.read_contacts().unwrap();
            let end = backend.read_positions().unwrap()[projectile];
            println!("{}, hits {hits}: {} searches in three steps, {report:?}", backend.name(), before.searches);
            assert!(before.searches < 3 * SUBSTEPS / 4 && report.lost == 0, "{}: {report:?}", backend.name());
            assert!(end[1] > height, "{}: {end:?}", backend.name());
            assert!(hits || (end[0] > way && report.searches < 10 * SUBSTEPS / 4), "{}: {report:?}", backend.name());
        }
    }
}
