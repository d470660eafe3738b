//! Contacts between free bodies on both backends: layers stick and slide by Coulomb friction, stacks come to rest, and
//! bodies neither pass through each other nor leave a press sideways.

use crate::common;
use crate::common::shapes::{CUBE, cube_corners};
use supple::{
    ClothGrid, Collider, ContactMaterial, Elasticity, Friction, Material, Pose, Reference, Scene, SelfCollision,
    Settings, Shape, Simulation, SoftBody,
};

const G: f64 = 9.81;
const THICKNESS: f64 = 0.005;

/// Sheets of n × n particles on the ground, each displaced against the one below, and the gravity of an incline along x.
fn layers(count: u32, n: u32, angle: f64) -> (Scene, Settings) {
    let mut scene = Scene::new();
    let friction = Friction::coulomb(0.5);
    let material = ContactMaterial { thickness: THICKNESS as f32, friction, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    scene.add_collider(Collider { material, ..Collider::default() }).unwrap();
    for k in 0..count {
        let k = f64::from(k);
        let origin = [-0.075 + 0.003 * k, THICKNESS * (k + 0.5), -0.075 + 0.0041 * k];
        let side = 0.03 * (n - 1) as f32;
        let sheet = ClothGrid {
            columns: n,
            rows: n,
            origin: origin.map(|x| x as f32),
            column_axis: [side, 0.0, 0.0],
            row_axis: [0.0, 0.0, side],
            tethers: None,
            ..ClothGrid::default()
        };
        let sheet = scene.add_cloth_grid(&sheet).unwrap();
        scene.set_particle_contact(sheet.particles, material).unwrap();
    }
    let (sin, cos) = angle.to_radians().sin_cos();
    let settings = Settings {
        gravity: [(G * sin) as f32, (-G * cos) as f32, 0.0],
        self_collision: Some(SelfCollision::surfaces()),
        ..Settings::default()
    };
    (scene, settings)
}

fn mean(values: &[[f32; 3]]) -> [f64; 3] {
    let sum = values.iter().fold([0.0; 3], |sum, v| [0, 1, 2].map(|k| sum[k] + f64::from(v[k])));
    sum.map(|x| x / values.len() as f64)
}

fn largest_speed(velocities: &[[f32; 3]]) -> f64 {
    velocities.iter().map(|v| f64::from(glam::Vec3::from(*v).length())).fold(0.0, f64::max)
}

/// Friction acts on an anchor, so that sheets below the friction angle (26.6°) do not creep by g sin α h per second. The
/// motion in `steps` and the creep of five more seconds are at most `most` [m].
fn check_layers_stop(backend: &mut dyn Simulation, scene: &Scene, steps: u32, count: u32, most: f64) {
    let top = scene.particle_count() / count as usize * (count as usize - 1);
    let start = mean(&scene.positions()[top..]);
    backend.step(steps - 30);
    let before = mean(&backend.read_positions().unwrap()[top..]);
    backend.step(30);
    let after = mean(&backend.read_positions().unwrap()[top..]);
    let (name, moved) = (backend.name(), (after[0] - start[0]).abs());
    let creep = (after[0] - before[0]).abs() / 0.5;
    println!("{name}: {count} layers: moved {moved:e} m, creep {creep:e} m/s");
    assert!(moved + 5.0 * creep < most, "{name}: the top of {count} layers moved {moved} m, and creeps at {creep} m/s");
    assert!(creep < 2e-5, "{name}: the top of {count} layers creeps at {creep} m/s");
    assert!(after[1] > 0.95 * THICKNESS * (f64::from(count) - 0.5), "{name}: top at {} m", after[1]);
}

#[test]
fn two_and_three_layers_below_the_friction_angle_move_less_than_a_millimetre() {
    let gpu = common::gpu();
    for (count, most) in [(2, 0.05e-3), (3, 0.1e-3)] {
        let (scene, settings) = layers(count, 6, 22.0);
        for (mut backend, steps) in common::backends(&gpu, &scene, settings).into_iter().zip([120, 60]) {
            check_layers_stop(backend.as_mut(), &scene, steps, count, most);
        }
    }
}

/// On the reference alone: a software driver takes a minute.
#[test]
fn ten_layers_below_the_friction_angle_move_less_than_a_millimetre() {
    let (scene, settings) = layers(10, 6, 22.0);
    check_layers_stop(&mut Reference::new(&scene, settings).unwrap(), &scene, 90, 10, 1e-3);
}

/// Wider sheets, and four iterations of contacts, on the reference alone.
#[test]
fn three_wide_layers_and_few_iterations_move_less_than_a_millimetre() {
    for (n, iterations) in [(8, 6), (6, 4)] {
        let (scene, settings) = layers(3, n, 22.0);
        let own = SelfCollision { iterations: Some(iterations), ..SelfCollision::surfaces() };
        let settings = Settings { self_collision: Some(own), ..settings };
        check_layers_stop(&mut Reference::new(&scene, settings).unwrap(), &scene, 60, 3, 1e-3);
    }
}

/// Above the friction angle a stack slides on the ground with g (sin α − µ cos α). Equal friction lets it shear: after a
/// second the upper half of ten layers hangs over the lower one.
#[test]
fn layers_above_the_friction_angle_slide() {
    let gpu = common::gpu();
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let expected = G * (sin - 0.5 * cos);
    for (count, tolerance) in [(1, 0.01), (2, 0.01), (10, 0.03)] {
        let (scene, settings) = layers(count, 6, 30.0);
        let backends = common::backends(&gpu, &scene, settings);
        for mut backend in backends.into_iter().take(if count > 1 { 1 } else { 2 }) {
            backend.step(6);
            let before = mean(&backend.read_velocities().unwrap())[0];
            backend.step(24);
            let found = (mean(&backend.read_velocities().unwrap())[0] - before) / 0.4;
            let text = format!("{}: {count} layers: {found} of {expected} m/s²", backend.name());
            println!("{text}");
            assert!((found / expected - 1.0).abs() < tolerance, "{text}");
        }
    }
}

/// A cube as a lattice of particles.
fn cube(scene: &mut Scene, center: [f64; 3], half: f64, elasticity: Elasticity) -> std::ops::Range<u32> {
    let positions = cube_corners(center, half);
    let body = SoftBody { positions: &positions, triangles: &CUBE, spacing: 0.05, density: 300.0, elasticity };
    scene.add_soft_body(&body).unwrap().particles
}

/// A stack of rigid cubes on the ground, each slightly displaced.
fn rigid_stack(count: usize) -> (Scene, std::ops::Range<u32>) {
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.05, friction: Friction::coulomb(0.5), ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    scene.add_collider(Collider { material, ..Collider::default() }).unwrap();
    let asides = [[0.0, 0.0], [-0.004, 0.003], [0.008, 0.006], [-0.012, 0.009], [0.006, -0.005]];
    let mut top = 0..0;
    for (k, [x, z]) in asides.into_iter().take(count).enumerate() {
        let center = [x, 0.13 + 0.26 * k as f64, z];
        let elasticity = Elasticity::Rigid { shape: Material::RIGID };
        top = cube(&mut scene, center, 0.1, elasticity);
        scene.set_particle_contact(top.clone(), material).unwrap();
    }
    (scene, top)
}

/// Groups are solved within the iterations of contacts; otherwise the stack rocks for seconds. The tall stack runs on
/// the reference alone.
#[test]
fn a_stack_of_rigid_bodies_comes_to_rest() {
    let gpu = common::gpu();
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    for (count, steps, least) in [(2, 120, 0.35), (5, 180, 1.05)] {
        let (scene, top) = rigid_stack(count);
        for mut backend in common::backends(&gpu, &scene, settings).into_iter().take(if count > 3 { 1 } else { 2 }) {
            backend.step(steps);
            let (x, v) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
            let speed = largest_speed(&v);
            let height = mean(&x[top.start as usize..top.end as usize])[1];
            println!("{}: {count} bodies: {speed} m/s, top at {height} m", backend.name());
            assert!(speed < 1e-3, "{}: {count} bodies: a particle moves at {speed} m/s", backend.name());
            assert!(height > least, "{}: {count} bodies: the top body is at {height} m", backend.name());
        }
    }
}

fn soft() -> Elasticity {
    Elasticity::Elastic { young: 3e4, bulk: 3e4, damping_time: 0.01 }
}

/// Two soft cubes that meet at 10 m/s part again at the default settings, if the thickness closes their lattice.
#[test]
fn soft_bodies_do_not_pass_into_each_other() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.05, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    let bodies = [-1.0, 1.0].map(|side| {
        let particles = cube(&mut scene, [0.2 * side, 0.01 * side, 0.013 * side], 0.1, soft());
        scene.set_particle_contact(particles.clone(), material).unwrap();
        particles.clone().for_each(|i| scene.set_velocity(i, [-5.0 * side as f32, 0.0, 0.0]).unwrap());
        particles
    });
    let own = Some(SelfCollision::default());
    let settings = Settings { gravity: [0.0; 3], self_collision: own, ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(60);
        let x = backend.read_positions().unwrap();
        let [left, right] = bodies.clone().map(|body| mean(&x[body.start as usize..body.end as usize])[0]);
        println!("{}: centers at {left} and {right} m", backend.name());
        assert!(right - left > 0.25, "{}: centers at {left} and {right} m", backend.name());
    }
}

/// A soft cube falls on a cloth that is pinned at its corners and stays above it, at the default settings.
#[test]
fn a_soft_body_does_not_fall_through_a_cloth() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.04, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    let cloth = ClothGrid {
        columns: 18,
        rows: 18,
        origin: [-0.3, 0.0, -0.3],
        column_axis: [0.6, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.6],
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&cloth).unwrap();
    for (row, column) in [(0, 0), (0, 17), (17, 0), (17, 17)] {
        scene.pin(cloth.particles.start + 18 * row + column).unwrap();
    }
    let body = cube(&mut scene, [0.01, 0.16, 0.013], 0.1, soft());
    scene.set_particle_contact(cloth.particles.start..body.end, material).unwrap();
    body.clone().for_each(|i| scene.set_velocity(i, [0.0, -1.0, 0.0]).unwrap());
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(90);
        let x = backend.read_positions().unwrap();
        let lowest = |range: &std::ops::Range<u32>| {
            x[range.start as usize..range.end as usize].iter().fold(f32::INFINITY, |low, x| low.min(x[1]))
        };
        let (cloth, body) = (lowest(&cloth.particles), lowest(&body));
        println!("{}: cloth down to {cloth} m, body down to {body} m", backend.name());
        assert!(body > cloth - 0.01, "{}: cloth down to {cloth} m, body down to {body} m", backend.name());
    }
}

/// The gap of the press has room for a third of the thickness: the cloth stays in it and comes out where it went in.
#[test]
fn cloth_in_a_press_stays_between_the_plates() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.022, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    let cloth = ClothGrid {
        columns: 18,
        rows: 18,
        origin: [-0.2, 0.0, -0.2],
        column_axis: [0.4, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.4],
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&cloth).unwrap();
    scene.set_particle_contact(cloth.particles, material).unwrap();
    for corner in [0, 17, 306, 323] {
        scene.pin(corner).unwrap();
    }
    let plate = |y: f32| Collider {
        material,
        ..Collider::new(Shape::Box { half_extents: [0.1, 0.05, 0.1] }, [0.007, y, 0.003])
    };
    let plates = [0.12, -0.14].map(|y| scene.add_collider(plate(y)).unwrap());
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    check_press("reference", |poses| {
        for (id, pose) in plates.into_iter().zip(poses) {
            reference.move_collider(id, pose).unwrap();
        }
        reference.step(1);
        [reference.read_positions().unwrap(), reference.read_velocities().unwrap()]
    });
    let mut solver = common::solver(&gpu, &scene, settings);
    check_press("solver", |poses| {
        for (id, pose) in plates.into_iter().zip(poses) {
            solver.move_collider(id, pose).unwrap();
        }
        solver.step(1);
        [solver.read_positions().unwrap(), solver.read_velocities().unwrap()]
    });
}

/// Closes a press of two plates in half a second, holds for one, and opens. `step` returns positions and velocities
/// after a step in which the plates move to their poses.
fn check_press(name: &str, mut step: impl FnMut([Pose; 2]) -> [Vec<[f32; 3]>; 2]) {
    for frame in 0..120 {
        let lift = 0.076 * (1.0 - frame as f32 / 30.0).max((frame as f32 - 90.0) / 30.0).max(0.0);
        let pose = |side: f32| Pose { position: [0.007, -0.01 + side * (0.054 + lift), 0.003], ..Pose::default() };
        let [x, v] = step([pose(1.0), pose(-1.0)]);
        let pressed = |x: &&[f32; 3]| (x[0] - 0.007).abs() < 0.09 && (x[2] - 0.003).abs() < 0.09;
        for x in x.iter().filter(pressed) {
            assert!((x[1] + 0.01).abs() < 0.004 + lift, "{name}, step {frame}: {x:?} is in a plate");
        }
        let speed = largest_speed(&v);
        assert!(frame <= 100 || speed < 2.0, "{name}, step {frame}: a particle leaves at {speed} m/s");
        let [low, high] = [f32::min, f32::max].map(|most| x.iter().map(|x| x[1]).reduce(most).unwrap());
        // No border is caught on a plate.
        assert!(frame < 119 || low > -0.09 && high < 0.07, "{name}: the cloth is from {low} m to {high} m");
    }
}

/// The default material keeps 5 mm, a lattice of 5 cm lets others through: the scene says so, with both numbers.
#[test]
fn contact_materials_too_thin_for_their_particles_are_reported() {
    let mut scene = Scene::new();
    let body = cube(&mut scene, [0.0; 3], 0.1, soft());
    let [particles, surfaces] = [SelfCollision::default(), SelfCollision::surfaces()]
        .map(|own| Settings { self_collision: Some(own), ..Settings::default() });
    assert_eq!(scene.open_contacts(&Settings::default()), []);
    for settings in [particles, surfaces] {
        let [open] = scene.open_contacts(&settings)[..] else { panic!("no report") };
        assert!(open.thickness == 0.005 && (open.spacing - 0.05).abs() < 1e-6, "{open:?}");
        let text = open.to_string();
        assert!(text.contains("0.05 m") && text.contains("0.005 m"), "{text}");
    }
    // The surface of a round body lies in the middle tetrahedra of cubes too.
    let mut round = Scene::new();
    let (positions, triangles) = common::shapes::icosphere(2, 0.2);
    let (spacing, elasticity) = (0.05, Elasticity::elastic(1e4, 500.0, 0.05));
    let ball = SoftBody { positions: &positions, triangles: &triangles, spacing, density: 500.0, elasticity };
    round.add_soft_body(&ball).unwrap();
    let [open] = round.open_contacts(&surfaces)[..] else { panic!("no report") };
    assert!((open.spacing - 0.05).abs() < 1e-5, "{open:?}");
    let thick = scene.add_contact_material(ContactMaterial { thickness: 0.05, ..ContactMaterial::default() }).unwrap();
    scene.set_particle_contact(body, thick).unwrap();
    assert_eq!(scene.open_contacts(&particles), []);
    // Cloth is closed by its triangles at the surface level only.
    let cloth = ClothGrid {
        columns: 9,
        rows: 9,
        column_axis: [0.2, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.2],
        ..ClothGrid::default()
    };
    scene.add_cloth_grid(&cloth).unwrap();
    assert_eq!(scene.open_contacts(&particles).len(), 1);
    assert_eq!(scene.open_contacts(&surfaces), []);
}
