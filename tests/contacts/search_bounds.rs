//! The pair search of fast and of many elements: what it visits is bounded, and what it cannot visit is counted.

use crate::common;
use supple::{ClothGrid, ContactMaterial, Cord, Distance, Material, Particle, Rope, Scene, SelfCollision, Settings};

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

/// A ball of one particle, twelve times as thick as the cloth, falls on it. The lists stay as short as those of the cloth alone.
#[test]
fn one_thick_particle_does_not_lengthen_the_lists_of_a_thin_cloth() {
    const THICK: f32 = 12.0 * THICKNESS;
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 24, rows: 24, column_axis: [0.46, 0.0, 0.0], ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&ClothGrid { row_axis: [0.0, 0.0, 0.46], ..grid }).unwrap().particles;
    for corner in [0, 23, 552, 575] {
        scene.pin(corner).unwrap();
    }
    let [x, y, z] = scene.positions()[300];
    let ball = Particle { position: [x + 0.01, y + 0.5 * THICK + 0.02, z], inverse_mass: 20.0, ..Particle::default() };
    let ball = scene.add_particle(ball).unwrap();
    for (particles, thickness) in [(cloth, THICKNESS), (ball..ball + 1, THICK)] {
        let material = ContactMaterial { thickness, ..ContactMaterial::default() };
        let material = scene.add_contact_material(material).unwrap();
        scene.set_particle_contact(particles, material).unwrap();
    }
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(20);
        let report = backend.read_contacts().unwrap();
        println!("{}: {report:?}", backend.name());
        assert!(report.most_contacts > 0 && report.most_pairs < 100, "{}: {report:?}", backend.name());
        assert_eq!([report.lost, report.halted, report.deep_contacts], [0; 3], "{}: {report:?}", backend.name());
    }
}

/// A particle that flies along a circle leaves every predicted path. It ends the list only if it can meet something.
#[test]
fn a_particle_that_collides_with_nothing_causes_no_search() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 12, rows: 12, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
    let hub = scene.add_particle(Particle { position: [9.0, 0.0, 0.0], ..Particle::default() }).unwrap();
    scene.pin(hub).unwrap();
    let ghost = Particle { position: [10.0, 0.0, 0.0], velocity: [0.0, 0.0, 20.0], ..Particle::default() };
    let ghost = scene.add_particle(ghost).unwrap();
    scene.add(Distance { particles: [hub, ghost], rest_length: 1.0 }, Material::RIGID).unwrap();
    let [solid, none] = [1, 0].map(|touches| ContactMaterial { touches, ..ContactMaterial::default() });
    let [solid, none] = [solid, none].map(|material| scene.add_contact_material(material).unwrap());
    scene.set_particle_contact(cloth, solid).unwrap();
    for material in [solid, none] {
        scene.set_particle_contact(hub..ghost + 1, material).unwrap();
        for mut backend in common::backends(&gpu, &scene, weightless(20, SelfCollision::surfaces())) {
            backend.step(10);
            let searches = backend.read_contacts().unwrap().searches;
            println!("{}: {searches} searches", backend.name());
            assert_eq!(searches > 30, material == solid, "{}: {searches} searches", backend.name());
        }
    }
}

/// The edge has the contact material of its first particle. The other one, which collides with nothing, moves it.
#[test]
fn an_edge_that_a_particle_without_contacts_swings_ends_the_list() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let mut edge = |points: [[f32; 3]; 2]| {
        scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.05, 1e4), tethers: None }).unwrap().particles.start
    };
    // The second edge swings freely: a single fast particle would have a long predicted path.
    let [swinging, free, bar] =
        [[[0.0; 3], [0.2, 0.0, 0.0]], [[0.0, 0.0, 5.0], [0.2, 0.0, 5.0]], [[0.07, -0.07, -0.1], [0.07, -0.07, 0.1]]]
            .map(&mut edge);
    // The pins far away keep the drift near 0.
    for k in 0..60 {
        scene.add_particle(Particle { position: [k as f32, 9.0, 0.0], ..Particle::default() }).unwrap();
    }
    for pin in [swinging, free].into_iter().chain(bar..bar + 62) {
        scene.pin(pin).unwrap();
    }
    let ghost = ContactMaterial { touches: 0, ..ContactMaterial::default() };
    let ghost = scene.add_contact_material(ghost).unwrap();
    for end in [swinging + 1, free + 1] {
        scene.set_particle_contact(end..end + 1, ghost).unwrap();
    }
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        for _ in 0..60 {
            backend.step(1);
            let [x, y, _] = backend.read_positions().unwrap()[swinging as usize + 1];
            assert!(x > 0.12, "{}: the edge has passed the bar: {x}, {y}", backend.name());
        }
        assert!(backend.read_contacts().unwrap().contacts > 0, "{}", backend.name());
    }
}

/// A thick ball pushes two thin layers that are farther from each other than the default margin. Within a wider one no push crosses
/// another layer; with the default they do not stay entangled.
#[test]
fn a_thick_ball_pushes_no_thin_layer_through_one_within_the_margin() {
    const THIN: f32 = 1e-3;
    const THICK: f32 = 0.05;
    let gpu = common::gpu();
    for margin in [0.5, 2.0] {
        let mut scene = Scene::new();
        let mut layers = Vec::new();
        for height in [0.0, 1.6 * THIN] {
            let axes = ([0.15, 0.0, 0.0], [0.0, 0.0, 0.15]);
            let grid =
                ClothGrid { columns: 16, rows: 16, origin: [-0.075 + height, height, -0.075], ..ClothGrid::default() };
            let cloth = scene.add_cloth_grid(&ClothGrid { column_axis: axes.0, row_axis: axes.1, ..grid }).unwrap();
            layers.push(cloth.particles);
        }
        for layer in &layers {
            for k in 0..16 {
                scene.pin(layer.start + k).unwrap();
                scene.pin(layer.end - 1 - k).unwrap();
            }
        }
        let position = [0.003, 0.5 * (THICK + THIN) + 0.03, 0.002];
        let ball = Particle { position, velocity: [0.0, -2.0, 0.0], inverse_mass: 1.0 / 0.1 };
        let ball = scene.add_particle(ball).unwrap();
        for (particles, thickness) in [(0..ball, THIN), (ball..ball + 1, THICK)] {
            let material = ContactMaterial { thickness, ..ContactMaterial::default() };
            let material = scene.add_contact_material(material).unwrap();
            scene.set_particle_contact(particles, material).unwrap();
        }
        let settings = Settings {
            self_collision: Some(SelfCollision { margin, ..SelfCollision::surfaces() }),
            ..Settings::default()
        };
        let mut solver = common::solver(&gpu, &scene, settings);
        let mut most = 0;
        for _ in 0..15 {
            solver.step(1);
            most = most.max(scene.intersections(&solver.read_positions().unwrap()).unwrap().count);
        }
        let report = solver.read_contacts().unwrap();
        let end = scene.intersections(&solver.read_positions().unwrap()).unwrap().count;
        println!("margin {margin}: at most {most} crossings, {end} at the end, {report:?}");
        assert_eq!([end, report.lost as usize], [0; 2], "margin {margin}: {report:?}");
        assert!(margin < 1.0 || most == 0, "{most} crossings, {report:?}");
    }
}
