//! Contacts on both backends: Coulomb friction, restitution, balance of forces, no penetration.

use crate::common;
use crate::common::shapes::CUBE;
use crate::common::{distance, noise};
use supple::gpu::Context;
use supple::scene::Lattice;
use supple::{
    ClothGrid, Collider, ColliderForce, ContactMaterial, ContactMaterialId, Elasticity, Error, Friction, Particle,
    Pose, Reference, Result, Scene, SelfCollision, Settings, Shape, Simulation, TetMesh,
};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;
/// Half the thickness of the default material [m]: the distance that particles keep from a collider.
const KEEP: f64 = 0.0025;

fn weightless() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

/// Both backends without and with the surface level, which solves colliders twice per substep.
fn with_and_without_surfaces(gpu: &Context, scene: &Scene, settings: Settings) -> Vec<Box<dyn Simulation>> {
    let apart = Settings { self_collision: Some(SelfCollision::surfaces()), ..settings };
    [settings, apart].into_iter().flat_map(|settings| common::backends(gpu, scene, settings)).collect()
}

fn slippery() -> ContactMaterial {
    ContactMaterial { friction: Friction::NONE, ..ContactMaterial::default() }
}

/// A material that collides only with itself.
fn alone(scene: &mut Scene, group: u32, material: ContactMaterial) -> ContactMaterialId {
    scene.add_contact_material(ContactMaterial { groups: 1 << group, touches: 1 << group, ..material }).unwrap()
}

fn particle(scene: &mut Scene, position: [f64; 3], velocity: [f64; 3], material: ContactMaterialId) -> u32 {
    let (position, velocity) = (position.map(|x| x as f32), velocity.map(|v| v as f32));
    let i = scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    scene.set_particle_contact(i..i + 1, material).unwrap();
    i
}

/// The directions down the slope and across it, and its normal.
fn slope(angle: f64) -> [[f64; 3]; 3] {
    let (sin, cos) = angle.sin_cos();
    [[cos, -sin, 0.0], [0.0, 0.0, 1.0], [sin, cos, 0.0]]
}

fn combine(axes: [[f64; 3]; 3], by: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| axes[0][k] * by[0] + axes[1][k] * by[1] + axes[2][k] * by[2])
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn wide(v: [f32; 3]) -> [f64; 3] {
    v.map(f64::from)
}

/// A block of lattice tetrahedra of the given size, with its lower corner at `origin` of the frame `axes` (x, z, y of
/// the block).
fn block(
    scene: &mut Scene,
    origin: [f64; 3],
    axes: [[f64; 3]; 3],
    size: [f32; 3],
    spacing: f32,
) -> std::ops::Range<u32> {
    let corners: Vec<[f32; 3]> = (0..8)
        .map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| bit as f32))
        .map(|c| [0, 1, 2].map(|a| c[a] * size[a]))
        .collect();
    let lattice = Lattice::new(&corners, &CUBE, spacing).unwrap();
    let lowest = lattice.positions.iter().map(|p| p[1]).fold(f32::MAX, f32::min);
    let positions: Vec<[f32; 3]> = lattice
        .positions
        .iter()
        .map(|&[x, y, z]| {
            let place = combine(axes, [f64::from(x), f64::from(z), f64::from(y - lowest)]);
            [0, 1, 2].map(|k| (origin[k] + place[k]) as f32)
        })
        .collect();
    let elasticity = Elasticity::Elastic { young: 1e5, bulk: 0.0, damping_time: 0.01 };
    let mesh = TetMesh { positions: &positions, tetrahedra: &lattice.tetrahedra, density: 500.0, elasticity };
    scene.add_tetrahedra(&mesh).unwrap().particles
}

/// A cloth in the plane of the first two axes.
fn sheet(scene: &mut Scene, origin: [f64; 3], axes: [[f64; 3]; 3], count: u32, size: f64) -> std::ops::Range<u32> {
    let axis = |k: usize| axes[k].map(|x| (x * size) as f32);
    let grid = ClothGrid {
        columns: count,
        rows: count,
        origin: origin.map(|x| x as f32),
        column_axis: axis(1),
        row_axis: axis(0),
        tethers: None,
        ..ClothGrid::default()
    };
    scene.add_cloth_grid(&grid).unwrap().particles
}

const LEVEL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];

fn mean(values: &[[f32; 3]], particles: std::ops::Range<u32>) -> [f64; 3] {
    let count = particles.len() as f64;
    let sum = particles.fold([0f64; 3], |sum, i| [0, 1, 2].map(|k| sum[k] + f64::from(values[i as usize][k])));
    sum.map(|s| s / count)
}

/// The mass-weighted mean.
fn center(scene: &Scene, values: &[[f32; 3]], particles: std::ops::Range<u32>) -> ([f64; 3], f64) {
    let (mut sum, mut mass) = ([0f64; 3], 0f64);
    for i in particles {
        let m = 1.0 / f64::from(scene.inverse_masses()[i as usize]);
        mass += m;
        (0..3).for_each(|k| sum[k] += m * f64::from(values[i as usize][k]));
    }
    (sum.map(|s| s / mass), mass)
}

// 1. Inclined planes

struct Slope {
    what: String,
    particles: std::ops::Range<u32>,
    down: [f64; 3],
    /// The acceleration; `None` if the block sticks.
    acceleration: Option<f64>,
}

fn add_slope(scene: &mut Scene, what: &str, group: u32, statics: f64, kinetic: f64, ratio: f64) -> Slope {
    let angle = (ratio * statics).atan();
    let axes = slope(angle);
    let friction = Friction { statics: statics as f32, kinetic: kinetic as f32 };
    let material = alone(scene, group, ContactMaterial { friction, ..ContactMaterial::default() });
    let ground = Collider::half_space([0.0; 3], axes[2].map(|x| x as f32)).unwrap();
    scene.add_collider(Collider { material, ..ground }).unwrap();
    let origin = combine(axes, [0.0, 0.0, KEEP]);
    let particles = match what {
        "particle" => {
            let i = particle(scene, origin, [0.0; 3], material);
            i..i + 1
        }
        "cloth" => sheet(scene, origin, axes, 12, 0.5),
        _ => block(scene, origin, axes, [0.3, 0.1, 0.3], 0.1),
    };
    scene.set_particle_contact(particles.clone(), material).unwrap();
    let acceleration = (ratio > 1.0).then(|| G * (angle.sin() - kinetic * angle.cos()));
    Slope {
        what: format!("{what}, μ {statics}, {kinetic}, tan θ {ratio} μ"), particles, down: axes[0], acceleration
    }
}

fn check_slopes(gpu: &Context, cases: &[(&str, f64, f64, f64)]) {
    let mut scene = Scene::new();
    let slopes: Vec<Slope> =
        (1..).zip(cases).map(|(group, &(what, s, k, ratio))| add_slope(&mut scene, what, group, s, k, ratio)).collect();
    let mut faults = Vec::new();
    for mut backend in common::backends(gpu, &scene, Settings::default()) {
        backend.step(60);
        let (x0, v0) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
        backend.step(120);
        let (x1, v1) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
        for Slope { what, particles, down, acceleration } in &slopes {
            let along = |values: &[[f32; 3]]| dot(center(&scene, values, particles.clone()).0, *down);
            let Some(expected) = acceleration else {
                let moved = particles.clone().map(|i| distance(x0[i as usize], x1[i as usize])).fold(0.0, f64::max);
                println!("{}: {what}: crept {moved:e} m", backend.name());
                if moved > 1e-3 {
                    faults.push(format!("{}: {what}: crept {moved} m", backend.name()));
                }
                continue;
            };
            let measured = (along(&v1) - along(&v0)) / 2.0;
            println!("{}: {what}: {measured:.5} m/s², expected {expected:.5}", backend.name());
            // Also as v² = 2 a s, from the positions.
            if (measured / expected - 1.0).abs() > 0.03 || along(&x1) <= along(&x0) {
                faults.push(format!("{}: {what}: {measured} instead of {expected} m/s²", backend.name()));
            }
        }
    }
    common::cases::assert_no_faults(faults);
}

#[test]
fn a_particle_on_an_incline_obeys_coulomb() {
    let rows = [(0.1, 0.1), (0.5, 0.5), (1.2, 1.2), (0.6, 0.3)];
    let cases: Vec<_> =
        rows.iter().flat_map(|&(s, k)| [0.98, 1.02, 1.6].map(|ratio| ("particle", s, k, ratio))).collect();
    check_slopes(&common::gpu(), &cases);
}

#[test]
fn a_cloth_on_an_incline_obeys_coulomb() {
    let cases = [
        ("cloth", 0.2, 0.2, 0.98),
        ("cloth", 0.5, 0.5, 1.02),
        ("cloth", 0.5, 0.5, 0.98),
        ("cloth", 0.6, 0.4, 1.02),
        ("cloth", 1.2, 1.2, 0.98),
    ];
    check_slopes(&common::gpu(), &cases);
}

#[test]
fn a_block_on_an_incline_obeys_coulomb() {
    let cases = [
        ("block", 0.2, 0.2, 0.98),
        ("block", 0.5, 0.5, 0.98),
        ("block", 0.5, 0.5, 1.02),
        ("block", 0.5, 0.3, 1.3),
        ("block", 1.2, 1.2, 0.98),
        ("block", 1.2, 1.2, 1.02),
    ];
    check_slopes(&common::gpu(), &cases);
}

// 2. Impacts

#[test]
fn a_dropped_particle_bounces_to_e_squared_of_its_height() {
    let gpu = common::gpu();
    let (mut scene, height) = (Scene::new(), 1.0);
    scene.add_collider(Collider::default()).unwrap();
    let coefficients = [0.0, 0.3, 0.8, 1.0];
    for (k, &e) in coefficients.iter().enumerate() {
        let material = ContactMaterial { restitution: e as f32, ..slippery() };
        let material = scene.add_contact_material(material).unwrap();
        particle(&mut scene, [k as f64, height + KEEP, 0.0], [0.0; 3], material);
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        let (mut highest, mut fallen) = ([0f64; 4], [false; 4]);
        for _ in 0..100 {
            backend.step(1);
            for (i, (x, v)) in
                backend.read_positions().unwrap().iter().zip(backend.read_velocities().unwrap()).enumerate()
            {
                let y = f64::from(x[1]) - KEEP;
                assert!(y > -1e-5 && y < height + 1e-6, "{}: e {}: at {y}", backend.name(), coefficients[i]);
                fallen[i] |= v[1] >= -0.1 && y < 0.97 * height;
                if fallen[i] {
                    // The apex lies between two steps: up to g dt²/8 higher.
                    highest[i] = highest[i].max(y);
                }
            }
        }
        for (&e, highest) in coefficients.iter().zip(highest) {
            let expected = e * e * height;
            println!("{}: e {e}: {highest} of {expected}", backend.name());
            assert!((highest - expected).abs() < 0.02 * expected + 4e-4, "{}: e {e}: {highest}", backend.name());
        }
    }
}

#[test]
fn impacts_reflect_the_velocity_about_the_normal() {
    let gpu = common::gpu();
    let (mut scene, axes) = (Scene::new(), slope(0.4));
    let ground = Collider::half_space([0.0; 3], axes[2].map(|x| x as f32)).unwrap();
    let slippery_ground = scene.add_contact_material(slippery()).unwrap();
    scene.add_collider(Collider { material: slippery_ground, ..ground }).unwrap();
    let velocity = [3.0, -4.0, 1.5];
    let coefficients = [0.0, 0.3, 0.8, 1.0];
    for e in coefficients {
        let material = scene.add_contact_material(ContactMaterial { restitution: e as f32, ..slippery() }).unwrap();
        particle(&mut scene, combine(axes, [0.0, 2.0 * e, 0.1234]), velocity, material);
    }
    for mut backend in with_and_without_surfaces(&gpu, &scene, weightless()) {
        backend.step(12);
        for (&e, v) in coefficients.iter().zip(backend.read_velocities().unwrap()) {
            let n = axes[2];
            let expected: [f64; 3] = std::array::from_fn(|k| velocity[k] - (1.0 + e) * dot(velocity, n) * n[k]);
            let fault = (0..3).map(|k| (f64::from(v[k]) - expected[k]).abs()).fold(0.0, f64::max);
            assert!(fault < 1e-4, "{}: e {e}: {v:?} instead of {expected:?}", backend.name());
        }
    }
}

/// The shaders have no restitution code while all restitutions are 0.
#[test]
fn restitution_can_be_set_and_cleared_while_running() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let own = scene.add_contact_material(slippery()).unwrap();
    scene.add_collider(Collider { material: own, ..Collider::default() }).unwrap();
    particle(&mut scene, [0.0; 3], [0.0; 3], own);
    let rubber = ContactMaterial { restitution: 0.5, ..slippery() };
    for mut backend in with_and_without_surfaces(&gpu, &scene, weightless()) {
        for (material, speed) in [(slippery(), 0.0), (rubber, 1.0), (slippery(), 0.0)] {
            backend.set_contact_material(own, material).unwrap();
            backend.set_positions(0, &[[0.0, 0.05, 0.0]]).unwrap();
            backend.set_velocities(0, &[[0.0, -2.0, 0.0]]).unwrap();
            backend.step(3);
            let v = backend.read_velocities().unwrap()[0];
            assert!((f64::from(v[1]) - speed).abs() < 1e-4, "{}: {material:?}: {v:?}", backend.name());
        }
    }
}

/// If the particle slides during the whole impact, Δv_t = −μ (1 + e) v_n, independent of the time of the impact in the
/// substep.
#[test]
fn friction_of_an_impact_is_that_of_its_impulse() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let (mu, velocity) = (0.2, [5.0, -3.0, 0.0]);
    let friction = Friction::coulomb(mu as f32);
    let coefficients = [0.0, 0.5, 1.0];
    for (group, e) in (1..).zip(coefficients) {
        let material = ContactMaterial { friction, restitution: e as f32, ..ContactMaterial::default() };
        let material = alone(&mut scene, group, material);
        scene.add_collider(Collider { material, ..Collider::default() }).unwrap();
        for k in 0..10 {
            particle(&mut scene, [0.0, 0.1 + 0.00025 * f64::from(k), f64::from(k)], velocity, material);
        }
    }
    for mut backend in with_and_without_surfaces(&gpu, &scene, weightless()) {
        backend.step(6);
        let mut faults = Vec::new();
        for (i, v) in backend.read_velocities().unwrap().iter().enumerate() {
            let e = coefficients[i / 10];
            let expected = velocity[0] + mu * (1.0 + e) * velocity[1];
            if (f64::from(v[0]) - expected).abs() > 0.02 * (velocity[0] - expected) {
                faults.push(format!("{}: e {e}, phase {}: {} of {expected} m/s", backend.name(), i % 10, v[0]));
            }
        }
        common::cases::assert_no_faults(faults);
    }
}

#[test]
fn a_bat_transfers_its_speed() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let bat = Shape::Box { half_extents: [0.1, 2.0, 2.0] };
    let bat_material = scene.add_contact_material(slippery()).unwrap();
    let id = scene.add_collider(Collider { material: bat_material, ..Collider::new(bat, [-0.5, 0.0, 0.0]) }).unwrap();
    let (speed, coefficients, incoming) = (12.0, [0.0, 0.5, 1.0], [0.0, -7.0, 5.0]);
    for (row, e) in coefficients.into_iter().enumerate() {
        let material = scene.add_contact_material(ContactMaterial { restitution: e as f32, ..slippery() }).unwrap();
        for (column, v) in incoming.into_iter().enumerate() {
            let place = [0.3, row as f64 * 0.3 - 0.3, column as f64 * 0.3 - 0.3];
            particle(&mut scene, place, [v, 0.0, 0.0], material);
        }
    }
    for mut backend in common::backends(&gpu, &scene, weightless()) {
        for step in 1..=14 {
            let position = [(-0.5 + speed * DT * f64::from(step)) as f32, 0.0, 0.0];
            backend.move_collider(id, Pose { position, ..Pose::default() }).unwrap();
            backend.step(1);
        }
        let velocities = backend.read_velocities().unwrap();
        for (i, got) in velocities.iter().enumerate() {
            let (e, v) = (coefficients[i / 3], incoming[i % 3]);
            let expected = -e * v + (1.0 + e) * speed;
            assert!(
                (f64::from(got[0]) - expected).abs() < 5e-3,
                "{}: e {e}, v {v}: {got:?}, {expected}",
                backend.name()
            );
        }
    }
}

// 3. Forces

#[test]
fn a_resting_load_presses_on_a_box_with_its_weight() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let [a, b] = [1, 2].map(|group| alone(&mut scene, group, ContactMaterial::default()));
    let table = Shape::Box { half_extents: [1.0, 0.1, 1.0] };
    let (at, place) = ([0.2f32, -0.1, -0.3], [[0.4, KEEP, 0.1], [-0.6, KEEP, -0.2]]);
    for material in [a, b] {
        scene.add_collider(Collider { material, ..Collider::new(table.clone(), at) }).unwrap();
    }
    let cloth = sheet(&mut scene, place[0], LEVEL, 12, 0.4);
    let body = block(&mut scene, place[1], LEVEL, [0.3, 0.1, 0.2], 0.1);
    scene.set_particle_contact(cloth.clone(), a).unwrap();
    scene.set_particle_contact(body.clone(), b).unwrap();
    for mut backend in with_and_without_surfaces(&gpu, &scene, Settings::default()) {
        backend.step(90);
        let x = backend.read_positions().unwrap();
        for (k, (what, particles)) in [("cloth", cloth.clone()), ("block", body.clone())].into_iter().enumerate() {
            let (center, mass) = center(&scene, &x, particles);
            let ColliderForce { force, torque } = backend.read_collider_forces().unwrap()[k];
            let weight = [0.0, -mass * G, 0.0];
            let arm = [0, 1, 2].map(|k| center[k] - f64::from(at[k]));
            let moment = cross(arm, weight);
            println!("{}: {what}: {force:?} of {weight:?}, {torque:?} of {moment:?}", backend.name());
            for k in 0..3 {
                assert!(
                    (f64::from(force[k]) - weight[k]).abs() < 0.01 * mass * G,
                    "{}: {what}: {force:?}",
                    backend.name()
                );
                let tolerance = 0.01 * mass * G * 0.5;
                assert!((f64::from(torque[k]) - moment[k]).abs() < tolerance, "{}: {what}: {torque:?}", backend.name());
            }
        }
    }
}

#[test]
fn disabled_collider_forces_are_not_summed() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.2 }, [0.0, -0.2 - KEEP as f32, 0.0])).unwrap();
    sheet(&mut scene, [-0.2, 0.0, -0.2], LEVEL, 10, 0.4);
    for own in [None, Some(SelfCollision::surfaces())] {
        let on = Settings { self_collision: own, ..Settings::default() };
        let off = Settings { collider_forces: false, ..on };
        for (mut with, mut without) in
            common::backends(&gpu, &scene, on).into_iter().zip(common::backends(&gpu, &scene, off))
        {
            with.step(10);
            without.step(10);
            assert_eq!(with.read_positions().unwrap(), without.read_positions().unwrap(), "{}", with.name());
            assert!(
                with.read_collider_forces().unwrap()[0].force[1] < -0.01,
                "{}: {:?}",
                with.name(),
                with.read_collider_forces().unwrap()
            );
            assert!(
                without.read_collider_forces().unwrap().is_empty(),
                "{}: {:?}",
                without.name(),
                without.read_collider_forces().unwrap()
            );
            // And the reverse. The contact data persist, the forces restart.
            let searches = with.read_contacts().unwrap().searches;
            with.set_settings(off).unwrap();
            without.set_settings(on).unwrap();
            assert_eq!(without.read_collider_forces().unwrap()[0].force, [0.0; 3], "{}", without.name());
            with.step(1);
            without.step(1);
            assert_eq!(with.read_positions().unwrap(), without.read_positions().unwrap(), "{}", with.name());
            assert!(
                with.read_collider_forces().unwrap().is_empty()
                    && without.read_collider_forces().unwrap()[0].force[1] < -0.01,
                "{}",
                with.name()
            );
            assert!(
                own.is_none() || with.read_contacts().unwrap().searches > searches,
                "{}: {:?}",
                with.name(),
                with.read_contacts().unwrap()
            );
        }
    }
}

#[test]
fn the_impulse_of_an_impact_is_the_change_of_momentum() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let rubber =
        scene.add_contact_material(ContactMaterial { restitution: 0.7, ..ContactMaterial::default() }).unwrap();
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.5 }, [0.0; 3])).unwrap();
    let cloth = sheet(&mut scene, [-0.1, 0.55, -0.2], LEVEL, 8, 0.3);
    for i in cloth {
        scene.set_velocity(i, [0.5, -3.0, 0.0]).unwrap();
    }
    for k in 0..6 {
        particle(&mut scene, [0.05 * f64::from(k) - 0.1, 0.8, 0.3], [0.2, -5.0, 0.0], rubber);
    }
    let weight = scene.inverse_masses().iter().map(|w| G / f64::from(*w)).sum::<f64>();
    for mut backend in with_and_without_surfaces(&gpu, &scene, Settings::default()) {
        let start =
            scene.positions().iter().enumerate().map(|(i, _)| if i < 64 { [0.5, -3.0, 0.0] } else { [0.2, -5.0, 0.0] });
        let start = common::momentum(&scene, &start.collect::<Vec<_>>());
        let mut impulse = [0f64; 3];
        for _ in 0..20 {
            backend.step(1);
            let force = backend.read_collider_forces().unwrap()[0].force;
            (0..3).for_each(|k| impulse[k] += f64::from(force[k]) * DT);
        }
        let end = common::momentum(&scene, &backend.read_velocities().unwrap());
        let size = impulse.iter().map(|i| i * i).sum::<f64>().sqrt();
        assert!(size > 1.0, "nothing hit it: {impulse:?}");
        for k in 0..3 {
            let gravity = if k == 1 { -weight * 20.0 * DT } else { 0.0 };
            let fault = (end[k] - start[k]) - (gravity - impulse[k]);
            assert!(fault.abs() < 0.01 * size, "{}: axis {k}: {fault} of {size} N s", backend.name());
        }
    }
}

// 4. Moving surfaces

#[test]
fn belts_and_moving_boxes_drag_by_kinetic_friction() {
    let gpu = common::gpu();
    let (mut scene, mu, speed) = (Scene::new(), 0.3, 1.5);
    let friction = Friction { statics: 0.4, kinetic: mu as f32 };
    let [a, b] =
        [1, 2].map(|group| alone(&mut scene, group, ContactMaterial { friction, ..ContactMaterial::default() }));
    let quarter = (0.5f32).sqrt();
    // The belt runs along its own z axis, which is rotated onto x.
    let pose = Pose { position: [0.0; 3], rotation: [0.0, quarter, 0.0, quarter] };
    let belt = Collider { material: a, pose, surface_velocity: [0.0, 0.0, speed as f32], ..Collider::default() };
    scene.add_collider(belt).unwrap();
    let tray = Collider::new(Shape::Box { half_extents: [3.0, 0.1, 1.0] }, [0.0, -0.1, 0.0]);
    let tray = scene.add_collider(Collider { material: b, ..tray }).unwrap();
    for material in [a, b] {
        particle(&mut scene, [0.0, KEEP, 0.0], [0.0; 3], material);
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        for step in 1..=60u32 {
            let position = [(speed * DT * f64::from(step)) as f32, -0.1, 0.0];
            backend.move_collider(tray, Pose { position, ..Pose::default() }).unwrap();
            backend.step(1);
            let t = f64::from(step) * DT;
            if step == 24 || step == 60 {
                let expected = (mu * G * t).min(speed);
                for v in backend.read_velocities().unwrap() {
                    assert!((f64::from(v[0]) / expected - 1.0).abs() < 0.02, "{}: {v:?}, {expected}", backend.name());
                    assert!(v[1].abs() < 1e-3 && v[2].abs() < 1e-3, "{}: {v:?}", backend.name());
                }
            }
        }
    }
}

#[test]
fn a_turntable_carries_particles_within_the_friction_limit() {
    let gpu = common::gpu();
    let (mut scene, mu, radius) = (Scene::new(), 0.5, 0.5);
    let friction = Friction::coulomb(mu as f32);
    let limit = (mu * G / radius).sqrt();
    let mut tables = Vec::new();
    for (group, ratio) in [(1, 0.95), (2, 1.1)] {
        let material = alone(&mut scene, group, ContactMaterial { friction, ..ContactMaterial::default() });
        let table = Collider::new(Shape::Box { half_extents: [3.0, 0.1, 3.0] }, [0.0, -0.1, 0.0]);
        let id = scene.add_collider(Collider { material, ..table }).unwrap();
        let omega = ratio * limit;
        particle(&mut scene, [radius, KEEP, 0.0], [0.0, 0.0, -omega * radius], material);
        tables.push((id, omega));
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        for step in 1..=60u32 {
            for &(id, omega) in &tables {
                let half = 0.5 * omega * DT * f64::from(step);
                let rotation = [0.0, half.sin() as f32, 0.0, half.cos() as f32];
                backend.move_collider(id, Pose { position: [0.0, -0.1, 0.0], rotation }).unwrap();
            }
            backend.step(1);
        }
        let x = backend.read_positions().unwrap();
        let angle = tables[0].1;
        let expected = [(radius * angle.cos()) as f32, KEEP as f32, (-radius * angle.sin()) as f32];
        let off = distance(x[0], expected);
        println!("{}: off by {off}, thrown to {:?}", backend.name(), x[1]);
        assert!(off < 0.01 * radius, "{}: off by {off} m", backend.name());
        assert!(f64::from(x[1][0].hypot(x[1][2])) > 1.2 * radius, "{}: {:?}", backend.name(), x[1]);
    }
}

/// Independent of the rounding of its axes: the motion matrix of a collider in a substep is 0 if the collider does not
/// rotate.
#[test]
fn a_rotated_platform_carries_without_creep() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let friction = Friction::coulomb(0.5);
    let speed = 0.2;
    let mut platforms = Vec::new();
    for k in 0..6u32 {
        let material = alone(&mut scene, k + 1, ContactMaterial { friction, ..ContactMaterial::default() });
        let half = 0.1 + 0.17 * f64::from(k);
        let rotation = [0.0, half.sin() as f32, 0.0, half.cos() as f32];
        let plate = Collider::new(Shape::Box { half_extents: [3.0, 0.1, 3.0] }, [0.0, -0.1, 0.0]);
        let pose = Pose { position: [0.0, -0.1, 0.0], rotation };
        let id = scene.add_collider(Collider { material, pose, ..plate }).unwrap();
        particle(&mut scene, [1.5, KEEP, 1.0], [speed, 0.0, 0.0], material);
        platforms.push((id, rotation));
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        let mut at = 0.0;
        for step in 1..=120u32 {
            at = (speed * DT * f64::from(step)) as f32;
            for &(id, rotation) in &platforms {
                backend.move_collider(id, Pose { position: [at, -0.1, 0.0], rotation }).unwrap();
            }
            backend.step(1);
        }
        for (k, x) in backend.read_positions().unwrap().into_iter().enumerate() {
            let crept = distance(x, [1.5 + at, KEEP as f32, 1.0]);
            println!("{}: {k} crept by {crept} m", backend.name());
            assert!(crept < 1e-5, "{}: {k} crept by {crept} m", backend.name());
        }
    }
}

// 5. No penetration

#[test]
fn fast_particles_do_not_pass_a_thin_plate() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let plate = Shape::Box { half_extents: [1.0, 0.001, 1.0] };
    scene.add_collider(Collider::new(plate, [0.0; 3])).unwrap();
    for k in 0..100u32 {
        let place = [0.5 * f64::from(noise(2 * k)), 1.0 + 0.01 * f64::from(k), 0.5 * f64::from(noise(2 * k + 1))];
        particle(&mut scene, place, [0.0, -300.0, 0.0], ContactMaterialId::default());
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        backend.step(30);
        for (i, x) in backend.read_positions().unwrap().iter().enumerate() {
            assert!(f64::from(x[1]) > 0.001 + 0.99 * KEEP, "{}: particle {i} at {x:?}", backend.name());
        }
    }
}

#[test]
fn off_centre_impacts_on_a_ball_deflect_outwards() {
    let gpu = common::gpu();
    let (mut scene, radius) = (Scene::new(), 0.05);
    scene.add_collider(Collider::new(Shape::Sphere { radius: radius as f32 }, [0.0; 3])).unwrap();
    // From frictionless to rough, with displacements of up to sixteen radii per substep. The first four materials have
    // restitution.
    let frictions = [0.0, 0.2, 0.5, 5.0].map(Friction::coulomb);
    let mut shots = Vec::new();
    for (k, friction) in [frictions; 2].concat().into_iter().enumerate() {
        let restitution = if k < 4 { 0.5 } else { 0.0 };
        let material = ContactMaterial { friction, restitution, ..ContactMaterial::default() };
        let material = scene.add_contact_material(material).unwrap();
        for speed in [10.0, 100.0, 300.0, 1000.0] {
            for aside in [0.2, 0.5, 0.7] {
                let aside = [aside * radius, -aside * radius][k % 2];
                let i = particle(&mut scene, [aside, 0.4, 0.0], [0.0, -speed, 0.0], material);
                shots.push((aside, speed, restitution == 0.0 && friction.statics > 1.0, i));
            }
        }
    }
    for mut backend in common::backends(&gpu, &scene, weightless()) {
        backend.step(4);
        let (x, v) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
        for &(aside, speed, rough, i) in &shots {
            let (x, v) = (wide(x[i as usize]), wide(v[i as usize]));
            let out = [x[0], v[0]].map(|part| part * f64::signum(aside));
            let seen = format!("{}: {aside} m aside at {speed} m/s: at {x:?} with {v:?}", backend.name());
            assert!(out[0] > f64::abs(aside) - KEEP && out[1] >= -1e-3 * speed, "{seen}");
            if rough {
                // It stays at the point of impact, or slightly before it.
                let height = ((radius + KEEP).powi(2) - aside * aside).sqrt();
                let off = f64::hypot(x[0] - aside, x[1] - height);
                assert!(off < KEEP && f64::hypot(v[0], v[1]) < 1e-3 * speed, "{seen}");
            }
        }
    }
}

#[test]
fn a_flung_plate_carries_its_load() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let plate = Shape::Box { half_extents: [1.0, 0.001, 1.0] };
    let id = scene.add_collider(Collider::new(plate, [0.0; 3])).unwrap();
    for k in 0..50u32 {
        let place = [0.5 * f64::from(noise(2 * k)), 0.001 + KEEP, 0.5 * f64::from(noise(2 * k + 1))];
        particle(&mut scene, place, [0.0; 3], ContactMaterialId::default());
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        // The body is at rest first, so that it is in contact.
        backend.step(10);
        backend.move_collider(id, Pose { position: [0.0, 1.0, 0.0], ..Pose::default() }).unwrap();
        backend.step(1);
        let through = backend.read_positions().unwrap().iter().filter(|x| f64::from(x[1]) < 1.001 + 0.9 * KEEP).count();
        assert_eq!(through, 0, "{}: of 50 so many passed through", backend.name());
    }
}

#[test]
fn a_fast_ball_pushes_a_whole_curtain() {
    let gpu = common::gpu();
    let (mut scene, radius) = (Scene::new(), 0.3);
    let slippery = scene.add_contact_material(slippery()).unwrap();
    let ball =
        Collider { material: slippery, ..Collider::new(Shape::Sphere { radius: radius as f32 }, [0.0, 0.0, -2.0]) };
    let id = scene.add_collider(ball).unwrap();
    for k in 0..144 {
        let place = [f64::from(k % 12) * 0.06 - 0.33, f64::from(k / 12) * 0.06 - 0.33, 0.0];
        particle(&mut scene, place, [0.0; 3], slippery);
    }
    let reach = radius + KEEP;
    for mut backend in common::backends(&gpu, &scene, weightless()) {
        let mut center = -2.0;
        for _ in 0..6 {
            center += 100.0 * DT;
            backend.move_collider(id, Pose { position: [0.0, 0.0, center as f32], ..Pose::default() }).unwrap();
            backend.step(1);
            for (i, (x, v)) in
                backend.read_positions().unwrap().into_iter().zip(backend.read_velocities().unwrap()).enumerate()
            {
                let start = scene.positions()[i];
                let (aside, before) = (f64::from(x[0].hypot(x[1])), f64::from(start[0].hypot(start[1])));
                let from = distance(x, [0.0, 0.0, center as f32]);
                assert!(from > reach - 1e-4, "{}: particle {i} is inside: {from}", backend.name());
                let behind = f64::from(x[2]) < center;
                assert!(!behind || aside > reach - 1e-4, "{}: the ball passed particle {i}: {x:?}", backend.name());
                // Particles in the swept path are pushed.
                let passed = center > 0.0 && before < reach - 1e-3;
                assert!(!passed || v != [0.0; 3], "{}: particle {i} was not pushed", backend.name());
            }
        }
    }
}

/// Signed distance to a shape (negative inside).
fn outside(shape: &Shape, x: [f32; 3]) -> f64 {
    let [x, y, z] = wide(x);
    match *shape {
        Shape::HalfSpace => y,
        Shape::Sphere { radius } => (x * x + y * y + z * z).sqrt() - f64::from(radius),
        Shape::Capsule { radius, half_height } => {
            let y = y - y.clamp(-f64::from(half_height), f64::from(half_height));
            (x * x + y * y + z * z).sqrt() - f64::from(radius)
        }
        Shape::Box { half_extents } => {
            let beyond = [x, y, z].iter().zip(half_extents).map(|(x, e)| x.abs() - f64::from(e)).collect::<Vec<_>>();
            let inside = beyond.iter().copied().fold(f64::MIN, f64::max).min(0.0);
            inside + beyond.iter().map(|b| b.max(0.0).powi(2)).sum::<f64>().sqrt()
        }
        _ => unreachable!(),
    }
}

fn round_shapes() -> [Shape; 3] {
    [
        Shape::Sphere { radius: 0.4 },
        Shape::Capsule { radius: 0.3, half_height: 0.3 },
        Shape::Box { half_extents: [0.4, 0.3, 0.35] },
    ]
}

fn check_shells(speed: f64) {
    let gpu = common::gpu();
    let mut faults = Vec::new();
    for shape in round_shapes() {
        let mut scene = Scene::new();
        let slippery = ContactMaterial { restitution: 1.0, ..slippery() };
        let slippery = scene.add_contact_material(slippery).unwrap();
        let shell = Collider { material: slippery, two_sided: true, ..Collider::new(shape.clone(), [0.0; 3]) };
        scene.add_collider(shell).unwrap();
        for k in 0..200u32 {
            let n = [0, 1, 2].map(|axis| f64::from(noise(3 * k + axis)));
            let place = if k < 100 { n.map(|n| 0.15 * n) } else { n.map(|n| n + 0.6 * n.signum()) };
            let velocity = if k < 100 { [n[1], n[2], n[0]] } else { n.map(|n| -n) };
            particle(&mut scene, place, velocity.map(|v| speed * v), slippery);
        }
        for mut backend in common::backends(&gpu, &scene, weightless()) {
            let was_inside: Vec<bool> = scene.positions().iter().map(|&x| outside(&shape, x) < 0.0).collect();
            backend.step(20);
            let x = backend.read_positions().unwrap();
            let crossed = (0..200).filter(|&i| (outside(&shape, x[i]) < 0.0) != was_inside[i]).count();
            if crossed > 0 {
                faults.push(format!("{}: {shape:?}, {speed} m/s: {crossed} of 200 crossed the shell", backend.name()));
            }
        }
    }
    common::cases::assert_no_faults(faults);
}

#[test]
fn shells_act_on_both_sides() {
    check_shells(10.0);
}

#[test]
fn shells_stop_fast_particles() {
    check_shells(200.0);
}

#[test]
fn a_rotating_bar_sweeps_all_particles_before_it() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let slippery = scene.add_contact_material(slippery()).unwrap();
    let bar = Collider::new(Shape::Box { half_extents: [1.0, 0.2, 0.005] }, [0.0; 3]);
    let id = scene.add_collider(Collider { material: slippery, ..bar }).unwrap();
    for k in 0..60 {
        let angle = 0.3 + 0.01 * f64::from(k);
        let r = 0.3 + 0.01 * f64::from(k);
        // A rotation by a positive angle about y turns +x to −z.
        particle(&mut scene, [r * angle.cos(), 0.0, -r * angle.sin()], [0.0; 3], slippery);
    }
    for mut backend in common::backends(&gpu, &scene, weightless()) {
        let per_step = 30f64.to_radians();
        for step in 1..=3 {
            let half = 0.5 * per_step * f64::from(step);
            let rotation = [0.0, half.sin() as f32, 0.0, half.cos() as f32];
            backend.move_collider(id, Pose { position: [0.0; 3], rotation }).unwrap();
            backend.step(1);
        }
        for (i, x) in backend.read_positions().unwrap().iter().enumerate() {
            // In front of the bar, which now points along −z, or thrown off its end.
            let flung = x[0].hypot(x[2]) > 1.0;
            assert!(flung || f64::from(x[0]) < -0.005 - 0.9 * KEEP, "{}: particle {i} at {x:?}", backend.name());
        }
    }
}

// 6. Energy

#[test]
fn impacts_gain_no_energy() {
    let gpu = common::gpu();
    let mut shapes = vec![Shape::HalfSpace];
    shapes.extend(round_shapes());
    let mut scene = Scene::new();
    let kinds = [(0.0, 0.0), (0.0, 1.0), (0.5, 0.0), (0.5, 1.0)];
    // A common floor, far below.
    let mut owner = Vec::new();
    let mut group = 1;
    for (s, shape) in shapes.iter().enumerate() {
        for (mu, e) in kinds.iter().skip(s % 2).step_by(if s == 0 { 1 } else { 2 }).copied().chain([(0.5, 1.0)]) {
            let material =
                ContactMaterial { friction: Friction::coulomb(mu), restitution: e, ..ContactMaterial::default() };
            if group > 14 {
                break;
            }
            let material = alone(&mut scene, group, material);
            group += 1;
            let pose = Pose { position: [0.0; 3], rotation: [0.2, 0.1, 0.3, 1.0] };
            scene.add_collider(Collider { shape: shape.clone(), pose, material, ..Collider::default() }).unwrap();
            scene.add_collider(Collider { material, ..Collider::new(Shape::HalfSpace, [0.0, -1.0, 0.0]) }).unwrap();
            for k in 0..20u32 {
                let n = [0, 1, 2].map(|axis| f64::from(noise(3 * k + axis)));
                particle(
                    &mut scene,
                    [0.4 * n[0], 1.2 + 0.3 * n[1], 0.4 * n[2]],
                    [n[2], n[0], n[1]].map(|v| 2.0 * v),
                    material,
                );
                owner.push((shape.clone(), mu, e));
            }
        }
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        let energy = |x: &[[f32; 3]], v: &[[f32; 3]]| -> Vec<f64> {
            x.iter().zip(v).map(|(x, v)| G * (f64::from(x[1]) + 2.0) + 0.5 * dot(wide(*v), wide(*v))).collect()
        };
        let start: Vec<[f32; 3]> =
            (0..owner.len() as u32).map(|i| i % 20).map(|k| [2, 0, 1].map(|axis| 2.0 * noise(3 * k + axis))).collect();
        let start = energy(scene.positions(), &start);
        let mut worst = (0.0, 0);
        for _ in 0..60 {
            backend.step(2);
            for (i, now) in
                energy(&backend.read_positions().unwrap(), &backend.read_velocities().unwrap()).into_iter().enumerate()
            {
                let gain = now / start[i] - 1.0;
                if gain > worst.0 {
                    worst = (gain, i);
                }
            }
        }
        println!("{}: gained {:e} of the energy", backend.name(), worst.0);
        assert!(worst.0 < 1e-3, "{}: {:?} gained {}", backend.name(), owner[worst.1], worst.0);
    }
}

// 7. Collision groups, and changes while running

#[test]
fn excluded_groups_fall_through() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let plain = ContactMaterial::default();
    let make = |scene: &mut Scene, groups, touches| {
        scene.add_contact_material(ContactMaterial { groups, touches, ..plain }).unwrap()
    };
    let ground = make(&mut scene, 0b01, 0b011);
    // Both materials must be in a group that the other one collides with; one direction is not enough.
    let cases = [
        (make(&mut scene, 0b01, 0b01), true),
        (make(&mut scene, 0b10, 0b01), true),
        (make(&mut scene, 0b100, 0b01), false),
        (make(&mut scene, 0b01, 0b110), false),
        (make(&mut scene, 0, u32::MAX), false),
        (make(&mut scene, u32::MAX, 0), false),
        (make(&mut scene, 1 << 31 | 2, 1), true),
    ];
    scene.add_collider(Collider { material: ground, ..Collider::default() }).unwrap();
    for &(material, _) in &cases {
        particle(&mut scene, [0.0, 0.2, 0.0], [0.0; 3], material);
    }
    for mut backend in common::backends(&gpu, &scene, Settings { dt: 1.0 / 60.0, ..Settings::default() }) {
        backend.step(60);
        for (x, (material, holds)) in backend.read_positions().unwrap().iter().zip(cases) {
            let held = f64::from(x[1]) > 0.9 * KEEP;
            assert_eq!(held, holds, "{}: {material:?} at {x:?}", backend.name());
        }
    }
}

/// Friction is the geometric mean of both materials unless it is set for the pair.
#[test]
fn friction_is_taken_from_the_material_pair() {
    let gpu = common::gpu();
    let (mut scene, axes) = (Scene::new(), slope(0.4));
    let make = |scene: &mut Scene, mu: f32| {
        let friction = Friction::coulomb(mu);
        scene.add_contact_material(ContactMaterial { friction, ..ContactMaterial::default() }).unwrap()
    };
    let ground = make(&mut scene, 0.8);
    let plane = Collider::half_space([0.0; 3], axes[2].map(|x| x as f32)).unwrap();
    scene.add_collider(Collider { material: ground, ..plane }).unwrap();
    let [smooth, said, rough] = [0.05, 1.0, 1.0].map(|mu| make(&mut scene, mu));
    scene.set_friction(said, ground, Friction::coulomb(0.1)).unwrap();
    for (k, material) in [smooth, said, rough].into_iter().enumerate() {
        particle(&mut scene, combine(axes, [0.0, k as f64, KEEP]), [0.0; 3], material);
    }
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        backend.step(30);
        for (x, mu) in backend.read_positions().unwrap().into_iter().zip([Some(0.2), Some(0.1), None]) {
            let slid = dot(wide(x), axes[0]);
            let expected = mu.map_or(0.0, |mu| 0.5 * G * (0.4f64.sin() - mu * 0.4f64.cos()) * 0.25);
            let allowed = 1e-3 + 0.02 * expected;
            assert!((slid - expected).abs() < allowed, "{}: μ {mu:?}: {slid} of {expected} m", backend.name());
        }
    }
}

/// Particles keep the mean of their thicknesses. Materials without matching groups do not collide.
#[test]
fn contacts_of_two_materials_keep_their_mean_thickness() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let make = |scene: &mut Scene, thickness, touches| {
        scene.add_contact_material(ContactMaterial { thickness, touches, ..slippery() }).unwrap()
    };
    let [thin, thick, ghost] =
        [(0.02, 1), (0.04, 1), (0.04, 2)].map(|(thickness, touches)| make(&mut scene, thickness, touches));
    for (place, material) in [(0.0, thick), (1.0, ghost)] {
        let below = particle(&mut scene, [place, 0.0, 0.0], [0.0; 3], thin);
        scene.pin(below).unwrap();
        particle(&mut scene, [place, 0.1, 0.0], [0.0; 3], material);
    }
    let settings = Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(60);
        let heights = [1, 3].map(|i| f64::from(backend.read_positions().unwrap()[i][1]));
        assert!((heights[0] - 0.03).abs() < 1e-4, "{}: {} m apart", backend.name(), heights[0]);
        assert!(heights[1] < -3.0, "{}: what must not touch is at {} m", backend.name(), heights[1]);
    }
}

/// A soft block falls on another: they stay apart, and the ground carries both.
#[test]
fn soft_bodies_rest_on_each_other() {
    let gpu = common::gpu();
    let spacing = 0.05;
    // At the particle level the blocks interlock; at the surface level they keep their distance everywhere.
    let levels = [(SelfCollision::default(), spacing, -0.5 * spacing), (SelfCollision::surfaces(), 0.02, 0.0)];
    for (own, thickness, gap) in levels {
        let mut scene = Scene::new();
        let friction = Friction::coulomb(0.5);
        let material = ContactMaterial { thickness, friction, ..ContactMaterial::default() };
        let material = scene.add_contact_material(material).unwrap();
        let ground = scene.add_collider(Collider { material, ..Collider::default() }).unwrap();
        let axes = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]];
        // Displaced by a quarter of a cell, so that particles do not rest on particles.
        let blocks = [[0.0, 0.03, 0.0], [0.0125, 0.33, 0.0125]].map(|origin| {
            let block = block(&mut scene, origin, axes, [0.2; 3], spacing);
            scene.set_particle_contact(block.clone(), material).unwrap();
            block
        });
        let weight: f64 = scene.inverse_masses().iter().map(|&w| G / f64::from(w)).sum();
        let settings = Settings { self_collision: Some(own), damping: 2.0, ..Settings::default() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(60);
            let mut carried = 0.0;
            for _ in 0..10 {
                backend.step(1);
                carried -= f64::from(backend.read_collider_forces().unwrap()[ground.index()].force[1]) / 10.0;
            }
            let what = format!("{}, {:?}", backend.name(), own.level);
            let x = backend.read_positions().unwrap();
            let heights = blocks.clone().map(|block| x[block.start as usize..block.end as usize].iter().map(|x| x[1]));
            let [top, bottom] = [heights[0].clone().fold(0.0, f32::max), heights[1].clone().fold(9.0, f32::min)];
            assert!((carried / weight - 1.0).abs() < 0.02, "{what}: {carried} of {weight} N");
            assert!(bottom > top + gap, "{what}: {bottom} m, and the lower one up to {top} m");
            assert_eq!(backend.read_contacts().unwrap().lost, 0, "{what}");
        }
    }
}

#[test]
fn colliders_and_materials_change_while_running() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let own = scene.add_contact_material(ContactMaterial::default()).unwrap();
    let ground = scene.add_collider(Collider::default()).unwrap();
    particle(&mut scene, [0.0, KEEP, 0.0], [0.0; 3], own);
    let settings = Settings { recovery_speed: 1.0, ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        let name = backend.name();
        backend.step(10);
        // With a larger thickness it is pushed out at bounded speed.
        backend.set_contact_material(own, ContactMaterial { thickness: 0.1, ..ContactMaterial::default() }).unwrap();
        backend.step(20);
        let [x, v] = [backend.read_positions().unwrap()[0], backend.read_velocities().unwrap()[0]];
        assert!((f64::from(x[1]) - 0.05).abs() < 1e-4 && v[1].abs() < 0.01, "{name}: thick: {x:?}, {v:?}");
        backend.set_contact_material(own, ContactMaterial::default()).unwrap();
        backend.step(20);
        assert!((f64::from(backend.read_positions().unwrap()[0][1]) - KEEP).abs() < 1e-4, "{name}: thin again");
        // The ground moves down.
        let lower = Collider { pose: Pose { position: [0.0, -0.1, 0.0], ..Pose::default() }, ..Collider::default() };
        backend.set_collider(ground, &lower).unwrap();
        backend.step(30);
        assert!((f64::from(backend.read_positions().unwrap()[0][1]) - KEEP + 0.1).abs() < 1e-4, "{name}: lower");
        assert!(
            (f64::from(backend.read_collider_forces().unwrap()[ground.index()].force[1]) + G).abs() < 0.1,
            "{name}: its weight"
        );
        // A box is inserted, and the ground is removed.
        let shelf = Collider::new(Shape::Box { half_extents: [1.0, 0.1, 1.0] }, [0.0, -0.4, 0.0]);
        let shelf_id = backend.add_collider(&shelf).unwrap();
        backend.remove_collider(ground).unwrap();
        backend.step(40);
        assert!((f64::from(backend.read_positions().unwrap()[0][1]) - KEEP + 0.3).abs() < 1e-4, "{name}: on the shelf");
        let forces = backend.read_collider_forces().unwrap();
        assert_eq!(forces[ground.index()].force, [0.0; 3], "{name}: a collider that is gone");
        assert!((f64::from(forces[shelf_id.index()].force[1]) + G).abs() < 0.1, "{name}: {forces:?}");
        // The old id is invalid, even after another collider takes its slot.
        let void = |result: Result<()>| assert!(matches!(result, Err(Error::NoCollider { .. })), "{name}: {result:?}");
        void(backend.remove_collider(ground));
        void(backend.move_collider(ground, Pose::default()));
        void(backend.set_collider(ground, &lower));
        let next = backend.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [5.0, 0.0, 0.0])).unwrap();
        assert_eq!(next.index(), ground.index(), "{name}: room is used again");
        void(backend.remove_collider(ground));
        backend.move_collider(next, Pose { position: [6.0, 0.0, 0.0], ..Pose::default() }).unwrap();
        backend.step(2);
        // A reset restores the colliders of the scene.
        backend.reset();
        backend.step(20);
        assert!((f64::from(backend.read_positions().unwrap()[0][1]) - KEEP).abs() < 1e-4, "{name}: after the reset");
        assert!(backend.remove_collider(shelf_id).is_err(), "{name}: the shelf is gone");
        let other = backend.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [5.0, 0.0, 0.0])).unwrap();
        assert_eq!(other.index(), shelf_id.index(), "{name}");
        assert!(backend.remove_collider(shelf_id).is_err(), "{name}: and what is in its place has another name");
        backend.reset();
        backend.step(20);
        assert_eq!(backend.read_collider_forces().unwrap().len(), 1, "{name}");
        backend.remove_collider(ground).unwrap();
        backend.step(30);
        assert!(backend.read_positions().unwrap()[0][1] < -0.5, "{name}: fell");
    }
}

// 8. Contacts between particles

#[test]
fn particles_collide_and_keep_their_momentum() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let thickness = 0.02;
    let own = scene.add_contact_material(ContactMaterial { thickness, ..slippery() }).unwrap();
    let masses = [[1.0, 1.0], [1.0, 7.0], [0.01, 3.0]];
    for (row, pair) in masses.iter().enumerate() {
        for (k, m) in pair.iter().enumerate() {
            let side = if k == 0 { -1.0 } else { 1.0 };
            let particle = Particle {
                position: [0.1 * side, row as f32, 0.0],
                velocity: [-2.0 * side, 0.0, 0.0],
                inverse_mass: 1.0 / m,
            };
            scene.add_particle(particle).unwrap();
        }
    }
    scene.set_particle_contact(0..6, own).unwrap();
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = Settings { self_collision: Some(own), ..weightless() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(12);
            let (x, v) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
            for (row, [a, b]) in masses.iter().enumerate() {
                let (i, j) = (2 * row, 2 * row + 1);
                let (a, b) = (f64::from(*a), f64::from(*b));
                let before = 2.0 * (a - b);
                let after = a * f64::from(v[i][0]) + b * f64::from(v[j][0]);
                // The tolerance is one quantum of each mass per sweep, 2⁻²⁴ of a thickness, plus the f32 rounding of 2
                // m/s.
                let h = DT / 20.0;
                let tolerance = (a + b) * (f64::from(thickness) * 2f64.powi(-24) / h + 4.0 * 2f64.powi(-23));
                assert!(
                    (after - before).abs() < tolerance,
                    "{}: {own:?}, row {row}: {before}, {after}",
                    backend.name()
                );
                let gap = distance(x[i], x[j]);
                assert!(
                    gap > f64::from(thickness) * 0.999 && x[i][0] < x[j][0],
                    "{}: row {row}: {gap}",
                    backend.name()
                );
                // Inelastic: both continue at the same velocity.
                assert!((v[i][0] - v[j][0]).abs() < 0.01, "{}: row {row}: {v:?}", backend.name());
            }
        }
    }
}

/// The sum of large corrections saturates at the range of its type, here 119 thicknesses, and does not wrap around; 8
/// m/s is 133 thicknesses per step.
#[test]
fn the_sum_of_large_corrections_saturates() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let thickness = 1e-3;
    let own = scene.add_contact_material(ContactMaterial { thickness, ..slippery() }).unwrap();
    for k in 0..7 {
        let (sin, cos) = f64::from(k).sin_cos();
        let i = particle(&mut scene, [1e-4 * cos, 0.0, 1e-4 * sin], [0.0; 3], own);
        scene.pin(i).unwrap();
    }
    let shot = particle(&mut scene, [0.0, 1.5e-3, 0.0], [0.0, -8.0, 0.0], own) as usize;
    let settings = Settings { substeps: 1, self_collision: Some(SelfCollision::default()), ..weightless() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(1);
        let height = backend.read_positions().unwrap()[shot][1];
        assert!(height > -0.02, "{}: it is at {height} m", backend.name());
    }
}

/// If all particles are at rest, only the host can invalidate the pair list.
#[test]
fn a_pair_list_that_the_host_invalidates_is_rebuilt() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let thickness = 0.02;
    let own = scene.add_contact_material(ContactMaterial { thickness, ..slippery() }).unwrap();
    for height in [0.0, 1.1 * thickness] {
        let position = [0.0, height, 0.0];
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(0..2, own).unwrap();
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = Settings { self_collision: Some(own), ..weightless() };
        let (mut solver, mut reference) =
            (common::solver(&gpu, &scene, settings), Reference::new(&scene, settings).unwrap());
        for round in 0..3 {
            solver.step(1);
            reference.step(1);
            let (there, here) = (solver.read_contacts().unwrap(), reference.read_contacts().unwrap());
            assert!(there.pairs == 1 && here.pairs == 1, "{own:?}, round {round}: {there:?}, {here:?}");
            if round == 0 {
                solver.set_settings(settings).unwrap();
                reference.set_settings(settings).unwrap();
            } else {
                solver.reset();
                reference.reset();
            }
        }
    }
}

/// The exclusion of close pairs at rest applies within one body; loose particles belong to no body.
#[test]
fn free_particles_that_start_close_collide() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let thickness = 0.02;
    let own = scene.add_contact_material(ContactMaterial { thickness, ..slippery() }).unwrap();
    for side in [-1.0, 1.0] {
        let position = [0.7 * side * thickness, 0.0, 0.0];
        scene.add_particle(Particle { position, velocity: [-side, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(0..2, own).unwrap();
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        for mut backend in common::backends(&gpu, &scene, Settings { self_collision: Some(own), ..weightless() }) {
            backend.step(6);
            let x = backend.read_positions().unwrap();
            assert!(x[1][0] - x[0][0] > 0.999 * thickness, "{}: {:?}: {x:?}", backend.name(), own.level);
        }
    }
}

/// One fast particle hits one of many particles at rest, at any speed.
#[test]
fn a_fast_particle_hits_resting_ones() {
    let gpu = common::gpu();
    let mut faults = Vec::new();
    let diagonal = [-1.0, 1.0, 1.0];
    for (speed, n) in [(150.0, [1.0; 3]), (300.0, [1.0, 0.0, 0.0]), (400.0, diagonal), (4000.0, diagonal)] {
        let mut scene = Scene::new();
        for k in 0..256 {
            particle(&mut scene, [20.0 + f64::from(k), 0.0, 0.0], [0.0; 3], ContactMaterialId::default());
        }
        let n = n.map(|x| x / dot(n, n).sqrt());
        let target = particle(&mut scene, [0.0; 3], [0.0; 3], ContactMaterialId::default());
        let shot = n.map(|n| speed * n);
        particle(&mut scene, n.map(|n| -2.013 * n), shot, ContactMaterialId::default());
        let settings = Settings { self_collision: Some(SelfCollision::default()), ..weightless() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(2);
            let (v, lost) =
                (backend.read_velocities().unwrap()[target as usize], backend.read_contacts().unwrap().lost);
            if v == [0.0; 3] || lost > 0 {
                faults.push(format!("{}: {speed} m/s along {n:?} passed, and {lost} are lost", backend.name()));
            }
        }
    }
    common::cases::assert_no_faults(faults);
}

/// The pair list contains each pair that can collide within a substep. Cases: both particles are fast, in different
/// directions, drift together, or have a pinned or resting particle or a collider beside them.
#[test]
fn two_fast_particles_collide() {
    let gpu = common::gpu();
    let mut faults = Vec::new();
    let along = [100.0, 0.0, 0.0];
    let across = [0.0, 100.0, 0.0];
    let ways = [
        ("across", [across, along], "nothing"),
        ("across", [across, along], "a pin"),
        ("across", [across, along], "others at rest"),
        ("across", [across, along], "a collider"),
        ("across, a tenth as fast", [[0.0, 10.0, 0.0], along], "a pin"),
        ("aslant, a hundred times as far as they are thick", [[300.0, 600.0, 0.0], [600.0, 300.0, 0.0]], "a pin"),
        ("head-on", [[-100.0, 0.0, 0.0], along], "nothing"),
        ("at rest, as they drift", [[0.0; 3], along], "nothing"),
    ];
    let levels = [SelfCollision::default(), SelfCollision::surfaces()];
    for (own, (what, [one, other], beside)) in levels.into_iter().flat_map(|own| ways.map(|way| (own, way))) {
        let mut scene = Scene::new();
        // The two particles reach the origin at the same time, at half a substep.
        let time = 30.5 * DT / 20.0;
        let first = particle(&mut scene, one.map(|v| -v * time), one, ContactMaterialId::default());
        particle(&mut scene, other.map(|v| -v * time), other, ContactMaterialId::default());
        match beside {
            "nothing" => (),
            "a collider" => {
                scene.add_collider(Collider::new(Shape::Sphere { radius: 1.0 }, [0.0, -100.0, 0.0])).unwrap();
            }
            "a pin" => {
                let held = particle(&mut scene, [20.0, -20.0, 0.0], [0.0; 3], ContactMaterialId::default());
                scene.pin(held).unwrap();
            }
            _ => (0..9).for_each(|k| {
                particle(&mut scene, [20.0 + f64::from(k), -20.0, 0.0], [0.0; 3], ContactMaterialId::default());
            }),
        }
        let settings = Settings { self_collision: Some(own), ..weightless() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(3);
            let (v, lost) = (backend.read_velocities().unwrap()[first as usize], backend.read_contacts().unwrap().lost);
            if distance(v, one.map(|v| v as f32)) < 1e-2 {
                let name = backend.name();
                faults.push(format!("{name}: {what}, beside {beside}, passed: {v:?}, {lost} lost"));
            }
        }
    }
    common::cases::assert_no_faults(faults);
}

/// A falling heap is fast relative to a pin, but its predicted paths do not cross: it needs no wider search than at
/// rest.
#[test]
fn a_fast_dense_heap_finds_all_pairs() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let held = particle(&mut scene, [10.0, 0.0, 0.0], [0.0; 3], ContactMaterialId::default());
    scene.pin(held).unwrap();
    for index in 0..28u32.pow(3) {
        let place = [index % 28, index / 28 % 28, index / 784].map(|k| 0.0052 * (f64::from(k) - 13.5));
        particle(&mut scene, place, [0.0, -40.0, 0.0], ContactMaterialId::default());
    }
    let own = Some(SelfCollision { pairs_per_particle: 48, ..SelfCollision::default() });
    let settings = Settings { dt: (DT / 10.0) as f32, substeps: 2, self_collision: own, ..weightless() };
    let mut solver = common::solver(&gpu, &scene, settings);
    solver.step(1);
    let report = solver.read_contacts().unwrap();
    println!("{report:?}");
    assert!(report.lost == 0 && report.pairs > 150_000, "{report:?}");
}

/// A free sheet hits a sheet at rest and moves it; a pin elsewhere does not change this. Momentum is kept.
#[test]
fn a_sheet_receives_the_momentum_of_the_sheet_that_hits_it() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let first = sheet(&mut scene, [0.0; 3], LEVEL, 9, 0.2);
    let second = sheet(&mut scene, [0.003, 0.01, 0.004], LEVEL, 9, 0.2);
    for index in second.clone() {
        scene.set_velocity(index, [0.0, -12.0, 0.0]).unwrap();
    }
    let held = particle(&mut scene, [0.0, 0.0, 10.0], [0.0; 3], ContactMaterialId::default());
    scene.pin(held).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..weightless() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(1);
        let velocities = backend.read_velocities().unwrap();
        let [lower, upper] = [&first, &second].map(|particles| mean(&velocities, particles.clone())[1]);
        let name = backend.name();
        assert!(lower < -4.0 && upper > -8.5, "{name}: the sheets move at {lower} and {upper} m/s");
        assert!((lower + upper + 12.0).abs() < 0.3, "{name}: {lower} + {upper} m/s of 12 m/s are left");
    }
}

/// Three sheets above the ground, each slightly displaced.
fn stack(thickness: f64, count: u32, size: f64, aside: f64) -> (Scene, Vec<std::ops::Range<u32>>) {
    let mut scene = Scene::new();
    let wool = ContactMaterial { thickness: thickness as f32, ..ContactMaterial::default() };
    let wool = scene.add_contact_material(wool).unwrap();
    scene.add_collider(Collider { material: wool, ..Collider::default() }).unwrap();
    let sheets: Vec<_> = (0..3)
        .map(|k| {
            let k = f64::from(k);
            sheet(&mut scene, [aside * k, 0.5 * thickness + 1.3 * k * thickness, 0.6 * aside * k], LEVEL, count, size)
        })
        .collect();
    for particles in &sheets {
        scene.set_particle_contact(particles.clone(), wool).unwrap();
    }
    (scene, sheets)
}

#[test]
fn a_stack_of_cloths_rests_layer_on_layer() {
    let gpu = common::gpu();
    let mut faults = Vec::new();
    for (thickness, own, aside) in [(0.02, SelfCollision::surfaces(), 0.013), (0.05, SelfCollision::default(), 0.0)] {
        let (scene, sheets) = stack(thickness, 8, 0.35, aside);
        let settings = Settings { self_collision: Some(own), substeps: 10, ..Settings::default() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(120);
            let (x, v) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
            let speed = v.iter().map(|&v| dot(wide(v), wide(v)).sqrt()).sum::<f64>() / v.len() as f64;
            for (k, particles) in sheets.iter().enumerate() {
                let height = mean(&x, particles.clone())[1];
                let expected = thickness * (k as f64 + 0.5);
                println!("{}: {:?}: sheet {k} at {:.4} thicknesses", backend.name(), own.level, height / thickness);
                if (height - expected).abs() > 0.05 * thickness * (k as f64 + 1.0) {
                    faults.push(format!("{}: {:?}: sheet {k} at {height}, not {expected}", backend.name(), own.level));
                }
            }
            println!(
                "{}: {:?}: mean speed {speed:e} m/s, {:?}",
                backend.name(),
                own.level,
                backend.read_contacts().unwrap()
            );
            if speed > 0.01 {
                faults.push(format!("{}: {:?}: it still moves at {speed} m/s", backend.name(), own.level));
            }
            if backend.read_contacts().unwrap().lost > 0 {
                faults.push(format!("{}: {:?}: {:?}", backend.name(), own.level, backend.read_contacts().unwrap()));
            }
        }
    }
    common::cases::assert_no_faults(faults);
}

#[test]
fn a_sheet_slides_on_another_by_coulomb() {
    let gpu = common::gpu();
    let (mu, thickness) = (0.3f64, 0.01);
    let mut faults = Vec::new();
    for ratio in [0.9, 1.6] {
        let mut scene = Scene::new();
        let friction = Friction::coulomb(mu as f32);
        let material = ContactMaterial { thickness: thickness as f32, friction, ..ContactMaterial::default() };
        let material = scene.add_contact_material(material).unwrap();
        let below = sheet(&mut scene, [0.0; 3], LEVEL, 9, 0.8);
        for i in below.clone() {
            scene.pin(i).unwrap();
        }
        let above = sheet(&mut scene, [0.113, thickness, 0.131], LEVEL, 5, 0.21);
        scene.set_particle_contact(below.start..above.end, material).unwrap();
        let angle = (ratio * mu).atan();
        let gravity = [(G * angle.sin()) as f32, (-G * angle.cos()) as f32, 0.0];
        let settings = Settings { gravity, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
        let expected = if ratio > 1.0 { G * (angle.sin() - mu * angle.cos()) } else { 0.0 };
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(12);
            let v0 = mean(&backend.read_velocities().unwrap(), above.clone())[0];
            backend.step(24);
            let v1 = mean(&backend.read_velocities().unwrap(), above.clone())[0];
            let measured = (v1 - v0) / 0.4;
            println!("{}: tan θ {ratio} μ: {measured} of {expected} m/s²", backend.name());
            if (measured - expected).abs() > 0.05 * mu * G {
                faults.push(format!("{}: tan θ {ratio} μ: {measured} instead of {expected} m/s²", backend.name()));
            }
        }
    }
    common::cases::assert_no_faults(faults);
}

#[test]
fn two_runs_are_the_same_bit_by_bit() {
    let gpu = common::gpu();
    let (mut scene, sheets) = stack(0.02, 8, 0.35, 0.013);
    common::crumple(&mut scene, sheets[0].start..sheets[2].end, 0.004);
    let rubber =
        scene.add_contact_material(ContactMaterial { restitution: 0.5, ..ContactMaterial::default() }).unwrap();
    let ball = Collider { material: rubber, ..Collider::new(Shape::Sphere { radius: 0.1 }, [0.2, 0.3, 0.2]) };
    let id = scene.add_collider(ball).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), substeps: 8, ..Settings::default() };
    let run = |backend: &mut dyn Simulation| {
        for step in 1..=20 {
            let position = [0.2, 0.3 - 0.01 * step as f32, 0.2];
            backend.move_collider(id, Pose { position, ..Pose::default() }).unwrap();
            backend.step(1);
        }
        let forces =
            backend.read_collider_forces().unwrap().into_iter().flat_map(|f| [f.force, f.torque]).collect::<Vec<_>>();
        let all = [backend.read_positions().unwrap(), backend.read_velocities().unwrap(), forces].concat();
        common::cases::bits(&all)
    };
    let [mut first, mut second] = [0, 1].map(|_| common::solver(&gpu, &scene, settings));
    let once = run(&mut first);
    assert!(once == run(&mut second), "two solvers");
    Simulation::reset(&mut first);
    assert!(once == run(&mut first), "after a reset");
}

// 9. Initial overlap

/// A collider pushes the sheet against a pinned sheet above it. No motion is possible, so the velocity must be 0.
#[test]
fn overlap_that_cannot_be_resolved_adds_no_velocity() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let thickness = 0.01;
    let material = ContactMaterial { thickness, ..slippery() };
    let material = scene.add_contact_material(material).unwrap();
    let slab = Shape::Box { half_extents: [1.0, 0.1, 1.0] };
    scene.add_collider(Collider { material, ..Collider::new(slab, [0.0; 3]) }).unwrap();
    let sheets = [0.09, 0.09 + 1.2 * f64::from(thickness)].map(|height| {
        let sheet = sheet(&mut scene, [-0.1, height, -0.1], LEVEL, 8, 0.2);
        scene.set_particle_contact(sheet.clone(), material).unwrap();
        sheet
    });
    sheets[1].clone().for_each(|particle| scene.pin(particle).unwrap());
    let own = Some(SelfCollision::surfaces());
    for mut backend in common::backends(&gpu, &scene, Settings { self_collision: own, ..weightless() }) {
        for step in 0..12 {
            backend.step(1);
            let speeds = backend.read_velocities().unwrap()[sheets[0].start as usize..sheets[0].end as usize].to_vec();
            let fastest = speeds.iter().map(|v| dot(wide(*v), wide(*v)).sqrt()).fold(0.0, f64::max);
            println!("{} step {step}: {fastest} m/s, {:?}", backend.name(), backend.read_contacts().unwrap());
            assert!(fastest < 0.05, "{}, step {step}: {fastest} m/s", backend.name());
        }
        assert!(
            backend.read_contacts().unwrap().truncated > 0,
            "{}: {:?}",
            backend.name(),
            backend.read_contacts().unwrap()
        );
    }
}

#[test]
fn particles_that_start_inside_exit() {
    let gpu = common::gpu();
    let recovery = 0.5;
    for shape in round_shapes() {
        let mut scene = Scene::new();
        scene.add_collider(Collider::new(shape.clone(), [0.0; 3])).unwrap();
        for k in 0..40u32 {
            let place = [0, 1, 2].map(|axis| 0.2 * f64::from(noise(3 * k + axis)));
            particle(&mut scene, place, [0.0; 3], ContactMaterialId::default());
        }
        // At the origin, where the gradient gives no direction out.
        particle(&mut scene, [0.0; 3], [0.0; 3], ContactMaterialId::default());
        let settings = Settings { recovery_speed: recovery as f32, ..weightless() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            let mut before = scene.positions().to_vec();
            for _ in 0..60 {
                backend.step(1);
                let x = backend.read_positions().unwrap();
                for (i, (a, b)) in before.iter().zip(&x).enumerate() {
                    let speed = distance(*a, *b) / DT;
                    assert!(speed < 1.01 * recovery, "{}: {shape:?}: {i} moves at {speed} m/s", backend.name());
                }
                before = x;
            }
            for (i, (x, v)) in before.iter().zip(backend.read_velocities().unwrap()).enumerate() {
                let out = outside(&shape, *x);
                assert!(out > 0.99 * KEEP, "{}: {shape:?}: {i} is still inside: {x:?}, {out}", backend.name());
                let speed = dot(wide(v), wide(v)).sqrt();
                assert!(speed < 0.01, "{}: {shape:?}: {i} is flung at {speed} m/s", backend.name());
            }
        }
    }
}
