//! Loads at the default settings: soft balls, weights on layers, layers that slide, and pins on moving colliders.

use crate::common;
use crate::common::shapes::{CUBE, cube_corners, icosphere};
use std::ops::Range;
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactMaterialId, Elasticity, Fabric, Friction, Material, Pose, Reference,
    Scene, SelfCollision, Settings, Shape, Simulation, SoftBody,
};

const G: f64 = 9.81;
const DT: f32 = 1.0 / 60.0;

fn material(scene: &mut Scene, thickness: f32, coefficient: f32) -> ContactMaterialId {
    let friction = Friction::coulomb(coefficient);
    scene.add_contact_material(ContactMaterial { thickness, friction, ..ContactMaterial::default() }).unwrap()
}

/// A square sheet of n × n particles in the plane y = `origin[1]`.
fn sheet(scene: &mut Scene, n: u32, origin: [f32; 3], side: f32, fabric: Fabric) -> Range<u32> {
    let (column_axis, row_axis) = ([side, 0.0, 0.0], [0.0, 0.0, side]);
    let grid = ClothGrid { columns: n, rows: n, origin, column_axis, row_axis, fabric, ..ClothGrid::default() };
    scene.add_cloth_grid(&grid).unwrap().particles
}

/// A soft ball of 30 kPa.
fn ball(scene: &mut Scene, radius: f32, [x, y, z]: [f32; 3], spacing: f32, density: f32) -> Range<u32> {
    let (mut positions, triangles) = icosphere(2, radius);
    positions.iter_mut().for_each(|p| *p = [p[0] + x, p[1] + y, p[2] + z]);
    let elasticity = Elasticity::Elastic { young: 3e4, bulk: 3e4, damping_time: 0.01 };
    let body = SoftBody { positions: &positions, triangles: &triangles, spacing, density, elasticity };
    scene.add_soft_body(&body).unwrap().particles
}

fn throw(scene: &mut Scene, particles: Range<u32>, velocity: [f32; 3]) {
    particles.for_each(|i| scene.set_velocity(i, velocity).unwrap());
}

fn of<'a>(values: &'a [[f32; 3]], particles: &Range<u32>) -> &'a [[f32; 3]] {
    &values[particles.start as usize..particles.end as usize]
}

fn mean(values: &[[f32; 3]], axis: usize) -> f64 {
    values.iter().map(|v| f64::from(v[axis])).sum::<f64>() / values.len() as f64
}

fn lowest(values: &[[f32; 3]]) -> f32 {
    values.iter().fold(f32::INFINITY, |low, x| low.min(x[1]))
}

/// A ball of 2.2 kg falls on a cloth of 72 g that is pinned at its corners. The ball stays above the cloth, and contacts
/// deeper than half their thickness are reported.
#[test]
fn a_heavy_soft_ball_stays_on_a_pinned_cloth() {
    let gpu = common::gpu();
    for (own, thickness, height) in [(SelfCollision::default(), 0.03, 0.5), (SelfCollision::surfaces(), 0.005, 0.47)] {
        let mut scene = Scene::new();
        let [cloth_contact, body_contact] = [thickness, 0.04].map(|thickness| material(&mut scene, thickness, 0.5));
        let cloth = sheet(&mut scene, 18, [-0.3, 0.3, -0.3], 0.6, Fabric::default());
        [0, 17, 306, 323].into_iter().for_each(|i| scene.pin(i).unwrap());
        let body = ball(&mut scene, 0.12, [0.02, height, 0.01], 0.035, 300.0);
        scene.set_particle_contact(cloth.clone(), cloth_contact).unwrap();
        scene.set_particle_contact(body.clone(), body_contact).unwrap();
        throw(&mut scene, body.clone(), [0.0, -1.0, 0.0]);
        let settings = Settings { self_collision: Some(own), ..Settings::default() };
        assert_eq!(scene.open_contacts(&settings), []);
        let on_both = if thickness == 0.03 { 2 } else { 1 };
        for mut backend in common::backends(&gpu, &scene, settings).into_iter().take(on_both) {
            backend.step(45);
            let (x, report) = (backend.read_positions().unwrap(), backend.read_contacts().unwrap());
            let [below, above] = [&cloth, &body].map(|range| lowest(of(&x, range)));
            let text = format!("{}: {:?}: cloth {below} m, ball {above} m, {report:?}", backend.name(), own.level);
            println!("{text}");
            assert!(above > below - 0.01, "{text}");
            assert_eq!(report.deep_contacts > 0, report.deepest > 0.25 * (thickness + 0.04), "{text}");
        }
    }
}

/// The thickness is 3/4 of the spacing of the lattices, which an impact spreads.
#[test]
fn soft_balls_that_meet_at_10_m_s_part_again() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let contact = material(&mut scene, 0.03, 0.4);
    let [left, right] = [-1.0f32, 1.0].map(|side| {
        let body = ball(&mut scene, 0.15, [0.3 * side, 0.015 + 0.015 * side, 0.0], 0.04, 200.0);
        scene.set_particle_contact(body.clone(), contact).unwrap();
        throw(&mut scene, body.clone(), [-5.0 * side, 0.0, 0.0]);
        body
    });
    let settings =
        Settings { gravity: [0.0; 3], self_collision: Some(SelfCollision::default()), ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(40);
        let (x, report) = (backend.read_positions().unwrap(), backend.read_contacts().unwrap());
        let apart = mean(of(&x, &right), 0) - mean(of(&x, &left), 0);
        println!("{}: centers {apart} m apart, {report:?}", backend.name());
        assert!(apart > 0.3, "{}: centers {apart} m apart, {report:?}", backend.name());
    }
}

/// Four sheets on the ground under a fifth one of the given area density [kg/m²].
fn layers(density: f32) -> (Scene, Vec<Range<u32>>) {
    let mut scene = Scene::new();
    let contact = material(&mut scene, 0.005, 0.5);
    scene.add_collider(Collider { material: contact, ..Collider::default() }).unwrap();
    let sheets = (0..5).map(|k| {
        let at = k as f32;
        let area_density = if k == 4 { density } else { Fabric::default().area_density };
        let fabric = Fabric { area_density, ..Fabric::default() };
        let origin = [-0.075 + 0.003 * at, 0.005 * (at + 0.5), -0.075 + 0.0041 * at];
        let particles = sheet(&mut scene, 6, origin, 0.15, fabric);
        scene.set_particle_contact(particles.clone(), contact).unwrap();
        particles
    });
    let sheets = sheets.collect();
    (scene, sheets)
}

/// The gaps between sheets, in thicknesses, the lowest one to the ground from its contact distance.
fn gaps(x: &[[f32; 3]], sheets: &[Range<u32>]) -> Vec<f64> {
    let heights: Vec<f64> = sheets.iter().map(|range| mean(of(x, range), 1) / 0.005).collect();
    heights.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The top sheet is as heavy as the others, ten times, and fifty times.
#[test]
fn layers_keep_their_gaps_under_weights() {
    for (factor, least) in [(1.0, 0.95), (10.0, 0.95), (50.0, 0.93)] {
        let (scene, sheets) = layers(factor * Fabric::default().area_density);
        let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(25);
        let gaps = gaps(&reference.read_positions().unwrap(), &sheets);
        println!("weight {factor}: gaps {gaps:.3?} thicknesses: {:?}", reference.read_contacts().unwrap());
        assert!(gaps.iter().all(|&gap| gap > least), "weight {factor}: gaps {gaps:.3?} thicknesses");
    }
}

/// A plate leaves the sheets 0.7 of the space that they need.
#[test]
fn layers_share_the_space_under_a_plate() {
    let (mut scene, sheets) = layers(Fabric::default().area_density);
    let shape = Shape::Box { half_extents: [0.2, 0.02, 0.2] };
    let place = |clear: f32| Pose { position: [0.0, clear + 0.02, 0.0], ..Pose::default() };
    let plate = scene.add_collider(Collider { shape, pose: place(0.026), ..Collider::default() }).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    for frame in 1..=40 {
        let clear = 0.026 - 0.0085 * (frame as f32 / 20.0).min(1.0);
        reference.move_collider(plate, place(clear)).unwrap();
        reference.step(1);
    }
    let gaps = gaps(&reference.read_positions().unwrap(), &sheets);
    println!("gaps {gaps:.3?} thicknesses, {:?}", reference.read_contacts().unwrap());
    assert!(gaps.iter().all(|&gap| gap > 0.5), "gaps {gaps:.3?} thicknesses");
    assert!(reference.read_contacts().unwrap().deep_contacts > 0);
}

/// The friction coefficient by which a sheet slides on one that the ground holds, on a slope of 22°. The first value is that over
/// 0.1 s, the second up to 0.45 s, when it moves at 1.4 m/s.
fn slide(backend: &mut dyn Simulation, above: &Range<u32>, angle: f64) -> [f64; 2] {
    backend.step(3);
    let start = mean(of(&backend.read_velocities().unwrap(), above), 0);
    [(3, 0.05), (21, 0.4)].map(|(steps, seconds)| {
        backend.step(steps);
        let acceleration = (mean(of(&backend.read_velocities().unwrap(), above), 0) - start) / seconds;
        angle.tan() - acceleration / (G * angle.cos())
    })
}

/// Sheets of one grid with a friction of 0.05 between them, and of 0.5 to the ground. At the particle level the spheres
/// of one sheet rest between those of the other: the friction depends on the thickness, relative to the spacing.
#[test]
fn sheets_slide_by_their_friction_at_the_surface_level_and_interlock_as_spheres() {
    let gpu = common::gpu();
    let angle = 22f64.to_radians();
    let gravity = [(G * angle.sin()) as f32, (-G * angle.cos()) as f32, 0.0];
    let spheres = SelfCollision::default();
    // The bounds of the friction over the first 0.1 s, and over 0.45 s.
    let cases = [
        (SelfCollision::surfaces(), 0.005, [0.045..0.055, 0.05..0.1]),
        (spheres, 0.03, [0.4..0.7, 0.4..0.6]),
        (spheres, 0.045, [0.1..0.5, 0.2..0.4]),
    ];
    for (own, thickness, bounds) in cases {
        let mut scene = Scene::new();
        let contact = material(&mut scene, thickness, 0.05);
        let rough = material(&mut scene, thickness, 5.0);
        scene.add_collider(Collider { material: rough, ..Collider::default() }).unwrap();
        let sheets = [(16, [-0.075, 0.5, -0.225]), (6, [-0.072, 1.5, -0.071])].map(|(n, [x, height, z])| {
            let side = 0.03 * (n - 1) as f32;
            let particles = sheet(&mut scene, n, [x, height * thickness, z], side, Fabric::default());
            scene.set_particle_contact(particles.clone(), contact).unwrap();
            particles
        });
        let settings = Settings { gravity, self_collision: Some(own), ..Settings::default() };
        let backends = if own.level == spheres.level { 1 } else { 2 };
        for mut backend in common::backends(&gpu, &scene, settings).into_iter().take(backends) {
            let found = slide(backend.as_mut(), &sheets[1], angle);
            let text = format!("{}: {:?}, {thickness} m: friction {found:.4?}", backend.name(), own.level);
            println!("{text}");
            assert!(found.iter().zip(&bounds).all(|(friction, bounds)| bounds.contains(friction)), "{text}");
        }
    }
}

/// The pins lie on the surface of a box, where free particles would be pushed out by half the thickness. The box swings
/// by 0.2 m and turns; in its frame the sheet stays at rest.
#[test]
fn pins_on_a_moving_collider_do_not_fight_its_contacts() {
    let gpu = common::gpu();
    for own in [None, Some(SelfCollision::surfaces())] {
        let mut scene = Scene::new();
        let contact = material(&mut scene, 0.005, 0.5);
        let particles = sheet(&mut scene, 8, [-0.1, 0.0, -0.1], 0.2, Fabric::default());
        scene.set_particle_contact(particles.clone(), contact).unwrap();
        let pins = [0, 7, 56, 63];
        pins.into_iter().for_each(|i| scene.pin(i).unwrap());
        let shape = Shape::Box { half_extents: [0.15, 0.05, 0.15] };
        let start = [0.0, -0.05, 0.0];
        let collider = Collider { material: contact, ..Collider::new(shape, start) };
        let id = scene.add_collider(collider).unwrap();
        let settings = Settings { self_collision: own, ..Settings::default() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            let mut worst = [0f32; 2];
            let mut before: Vec<glam::Vec3> = scene.positions().iter().map(|&x| x.into()).collect();
            for frame in 1..=90 {
                let time = frame as f32 * DT;
                let turn = glam::Quat::from_rotation_y(0.5 * (3.0 * time).sin());
                let offset = glam::Vec3::new(0.1 * (1.0 - (4.0 * time).cos()), 0.05 * (3.0 * time).sin(), 0.0);
                let position = (turn * glam::Vec3::from(start) + offset).into();
                backend.move_collider(id, Pose { position, rotation: turn.into() }).unwrap();
                for i in pins {
                    let target = turn * glam::Vec3::from(scene.positions()[i as usize]) + offset;
                    backend.set_target(i, target.into()).unwrap();
                }
                backend.step(1);
                let local = backend
                    .read_positions()
                    .unwrap()
                    .into_iter()
                    .map(|x| turn.inverse() * (glam::Vec3::from(x) - offset));
                let local: Vec<glam::Vec3> = local.collect();
                for (i, &x) in local.iter().enumerate() {
                    let start = glam::Vec3::from(scene.positions()[i]);
                    let limits = [x.distance(start), if frame > 10 { x.distance(before[i]) / DT } else { 0.0 }];
                    worst = [0, 1].map(|k| worst[k].max(limits[k]));
                }
                before = local;
            }
            let text =
                format!("{}: {:?}: moved {} m, at {} m/s", backend.name(), own.map(|o| o.level), worst[0], worst[1]);
            println!("{text}");
            assert!(worst[0] < 3e-3 && worst[1] < 1e-3, "{text}");
        }
    }
}

/// The stiff case of the same: all particles are pinned to the box.
#[test]
fn a_sheet_pinned_to_a_moving_collider_follows_exactly() {
    let mut scene = Scene::new();
    let contact = material(&mut scene, 0.005, 0.5);
    let particles = sheet(&mut scene, 4, [-0.1, -0.02, -0.1], 0.2, Fabric::default());
    scene.set_particle_contact(particles.clone(), contact).unwrap();
    particles.clone().for_each(|i| scene.pin(i).unwrap());
    let shape = Shape::Box { half_extents: [0.15, 0.05, 0.15] };
    let id = scene.add_collider(Collider { material: contact, ..Collider::new(shape, [0.0, -0.05, 0.0]) }).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    for frame in 1..=20 {
        let x = 0.05 * frame as f32;
        reference.move_collider(id, Pose { position: [x, -0.05, 0.0], ..Pose::default() }).unwrap();
        for i in particles.clone() {
            let [x0, y, z] = scene.positions()[i as usize];
            reference.set_target(i, [x0 + x, y, z]).unwrap();
        }
        reference.step(1);
        for (start, now) in scene.positions().iter().zip(reference.read_positions().unwrap()) {
            let miss = common::distance([start[0] + x, start[1], start[2]], now);
            assert!(miss < 1e-6, "frame {frame}: {miss} m from the target");
        }
    }
}

/// Neighbours in a sheet whose rest distance is the thickness, or up to 5 % more, are in contact at rest. They are exempt: a
/// thousand contacts within the sheet would take the place of those with the load.
#[test]
fn a_sheet_as_thick_as_its_spacing_carries_a_box() {
    let gpu = common::gpu();
    let spacing = 0.02;
    for ratio in [0.9, 0.975, 1.0, std::f32::consts::SQRT_2] {
        let (thickness, half) = (ratio * spacing, 0.06);
        let mut scene = Scene::new();
        let contact = material(&mut scene, thickness, 0.5);
        scene.add_collider(Collider { material: contact, ..Collider::default() }).unwrap();
        let size = 6.0 * spacing;
        let cloth = sheet(&mut scene, 7, [-0.5 * size, 0.5 * thickness, -0.5 * size], size, Fabric::default());
        let positions = cube_corners([0.004, 1.5 * f64::from(thickness) + half, 0.0], half);
        let elasticity = Elasticity::Rigid { shape: Material::RIGID };
        let body = SoftBody { positions: &positions, triangles: &CUBE, spacing: 0.04, density: 200.0, elasticity };
        let body = scene.add_soft_body(&body).unwrap().particles;
        for part in [&cloth, &body] {
            scene.set_particle_contact(part.clone(), contact).unwrap();
        }
        let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
        let start = mean(of(scene.positions(), &body), 1);
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(20);
            let sunk = start - mean(of(&backend.read_positions().unwrap(), &body), 1);
            let report = backend.read_contacts().unwrap();
            println!("{}: thickness {ratio} spacings: sinks {sunk} m, {report:?}", backend.name());
            assert!(sunk < 1e-3, "{}: thickness {ratio} spacings: sinks {sunk} m", backend.name());
            assert_eq!((report.deep_contacts, report.truncated), (0, 0), "{}: {report:?}", backend.name());
        }
    }
}
