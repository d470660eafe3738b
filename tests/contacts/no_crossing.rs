//! Surfaces do not intersect, whatever forces act on them.

use crate::common;
use crate::common::{press, solver};
use std::f32::consts::TAU;
use supple::{
    ClothGrid, Collider, ContactMaterial, ContactScale, Cord, Material, Particle, Pose, Rope, Scene, SelfCollision,
    Settings, Shape, ShapeMatching, Solver,
};

fn settings(substeps: u32) -> Settings {
    Settings { substeps, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() }
}

fn crossings(solver: &Solver, scene: &Scene) -> usize {
    scene.intersections(&solver.read_positions().unwrap()).unwrap().count
}

/// The pinned sheets do not give way, so in the end the sheets between them have no space.
#[test]
fn sheets_in_a_press_do_not_cross() {
    let gpu = common::gpu();
    for (thickness, sheets, substeps) in [(0.01, 3, 20), (0.01, 0, 5), (0.003, 1, 1)] {
        let scene = press(thickness, sheets);
        let mut solver = solver(&gpu, &scene, settings(substeps));
        let gap = 1.5 * thickness * (sheets + 1) as f32;
        for frame in 0..(60.0 * 2.0 * gap / 0.5) as u32 + 20 {
            solver.step(1);
            let count = crossings(&solver, &scene);
            assert_eq!(count, 0, "{sheets} sheets, {substeps} substeps, step {frame}");
        }
        let report = solver.read_contacts().unwrap();
        assert!(report.truncated > 0 && report.lost == 0, "nothing was pressed: {report:?}");
        assert_eq!(solver.read_diagnostics().unwrap().non_finite_count, 0);
    }
}

/// The same with a thickness that varies by a factor of 20 from particle to particle.
#[test]
fn sheets_of_varying_thickness_in_a_press_do_not_cross() {
    let gpu = common::gpu();
    let mut scene = press(0.01, 2);
    let scale = |i| ContactScale { thickness: (0.5 + 0.5 * common::noise(i)).max(0.05), ..ContactScale::default() };
    let map: Vec<_> = (0..scene.particle_count() as u32).map(scale).collect();
    scene.set_contact_scales(0..map.len() as u32, &map).unwrap();
    let mut solver = solver(&gpu, &scene, settings(5));
    for frame in 0..24 {
        solver.step(1);
        assert_eq!(crossings(&solver, &scene), 0, "step {frame}");
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.truncated > 0 && report.lost == 0, "nothing was pressed: {report:?}");
}

/// Both ends turn in opposite directions until the cloth is twisted into a rope.
#[test]
fn a_twisted_cloth_does_not_cross() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let count = 16;
    let material = ContactMaterial { thickness: 0.01, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    let grid = ClothGrid { columns: count, rows: count, tethers: None, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.set_particle_contact(cloth.particles.clone(), material).unwrap();
    common::crumple(&mut scene, cloth.particles.clone(), 1e-3);
    let middle = scene.positions().iter().fold([0.0; 3], |sum, x| [0, 1, 2].map(|k| sum[k] + x[k] / 256.0));
    let mut held = Vec::new();
    for particle in cloth.particles {
        let column = particle % count;
        let [x, y, z] = scene.positions()[particle as usize];
        if (column == 0 || column == count - 1) && (z - middle[2]).abs() < 0.15 {
            scene.pin(particle).unwrap();
            held.push((particle, [x, y, z]));
        }
    }
    let mut solver = solver(&gpu, &scene, settings(20));
    for frame in 0..100 {
        for &(particle, [x, y, z]) in &held {
            let side = (x - middle[0]).signum();
            let (sin, cos) = (side * TAU * 0.75 * frame as f32 / 100.0).sin_cos();
            let (y, z) = (y - middle[1], z - middle[2]);
            let place = [x - side * 0.002 * frame as f32, middle[1] + cos * y - sin * z, middle[2] + sin * y + cos * z];
            solver.set_target(particle, place).unwrap();
        }
        solver.step(1);
        if frame % 5 == 4 {
            assert_eq!(crossings(&solver, &scene), 0, "step {frame}");
        }
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.most_contacts > 50 && report.lost == 0, "{report:?}");
}

/// The search radius of small elements does not grow near a large one, because their own pairs would exceed the
/// capacity.
#[test]
fn a_fine_cloth_rests_on_large_triangles() {
    let gpu = common::gpu();
    let scene = common::sizes(48, false);
    let mut solver = solver(&gpu, &scene, settings(10));
    solver.step(12);
    let positions = solver.read_positions().unwrap();
    let lowest = positions[..48 * 48].iter().fold(f32::INFINITY, |low, x| low.min(x[1]));
    let report = solver.read_contacts().unwrap();
    assert!(report.lost == 0 && report.most_contacts > 1000, "{report:?}");
    assert!(lowest > 0.009 && lowest < 0.012, "{lowest}");
    assert_eq!(scene.intersections(&positions).unwrap().count, 0);
}

/// The search uses the current size of elements, not their size at rest.
#[test]
fn a_stretched_sheet_stops_falling_cloth() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.01, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    let below = scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 4, ..ClothGrid::default() }).unwrap();
    let axes = |size: f32| ([size, 0.0, 0.0], [0.0, 0.0, size]);
    let (column_axis, row_axis) = axes(0.1);
    let stretched = 5.0;
    let origin = [0.0, 0.05, 0.0];
    let above = ClothGrid { columns: 4, rows: 4, origin, column_axis, row_axis, ..ClothGrid::default() };
    let above = scene.add_cloth_grid(&above).unwrap();
    scene.set_particle_contact(0..above.particles.end, material).unwrap();
    below.particles.for_each(|particle| scene.pin(particle).unwrap());
    let mut solver = solver(&gpu, &scene, settings(20));
    let first = scene.positions()[0];
    let places: Vec<[f32; 3]> =
        scene.positions()[..16].iter().map(|x| [0, 1, 2].map(|k| stretched * (x[k] - first[k]))).collect();
    solver.set_positions(0, &places).unwrap();
    // Above the interior of a triangle.
    let third = stretched / 9.0;
    let drops: Vec<[f32; 3]> =
        scene.positions()[16..].iter().map(|x| [x[0] + third, x[1], x[2] + 0.5 * third]).collect();
    solver.set_positions(16, &drops).unwrap();
    solver.step(40);
    let lowest = solver.read_positions().unwrap()[16..].iter().fold(f32::INFINITY, |low, x| low.min(x[1]));
    assert!(lowest > 0.009, "{lowest}");
}

/// Seven sheets of 30 cm and `columns`² particles, stacked from `height` on; the fourth and later ones are 5 cm higher and start at
/// `velocity_above`.
fn layers(scene: &mut Scene, columns: u32, height: f32, thickness: f32, velocity_above: [f32; 3]) {
    let material = ContactMaterial { thickness, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    for layer in 0..7u8 {
        let is_above = layer >= 3;
        let height = height + thickness * (0.5 + 1.1 * f32::from(layer)) + if is_above { 0.05 } else { 0.0 };
        let sheet = ClothGrid {
            columns,
            rows: columns,
            origin: [-0.15, height, -0.15],
            column_axis: [0.3, 0.0, 0.0],
            row_axis: [0.0, 0.0, 0.3],
            tethers: None,
            ..ClothGrid::default()
        };
        let sheet = scene.add_cloth_grid(&sheet).unwrap();
        scene.set_particle_contact(sheet.particles.clone(), material).unwrap();
        common::crumple(scene, sheet.particles.clone(), 2e-4);
        if is_above {
            sheet.particles.for_each(|particle| scene.set_velocity(particle, velocity_above).unwrap());
        }
    }
}

fn roomy(substeps: u32) -> Settings {
    let own = SelfCollision { pairs_per_particle: 256, ..SelfCollision::surfaces() };
    Settings { self_collision: Some(own), ..settings(substeps) }
}

/// Truncated particles do not take part in the common motion of the falling ones, which would push them into the plate.
#[test]
fn a_load_is_not_pushed_through_a_thin_plate() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let thickness = 0.005;
    let plate = Shape::Box { half_extents: [1.0, 0.001, 1.0] };
    scene.add_collider(Collider::new(plate, [0.0; 3])).unwrap();
    layers(&mut scene, 12, 0.001, thickness, [0.0, -10.0, 0.0]);
    let mut solver = solver(&gpu, &scene, roomy(8));
    for frame in 0..20 {
        solver.step(1);
        let positions = solver.read_positions().unwrap();
        let lowest = positions.iter().fold(f32::INFINITY, |low, x| low.min(x[1]));
        assert!(lowest > 0.001 + 0.49 * thickness, "step {frame}: {lowest}");
        assert_eq!(crossings(&solver, &scene), 0, "step {frame}");
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.truncated > 1000 && report.lost == 0, "{report:?}");
}

/// Particles that a collider pushes towards other surfaces are truncated and stay inside the collider. The collider
/// pushes them out again, with truncation.
#[test]
fn cloth_pushed_by_a_collider_does_not_cross() {
    let gpu = common::gpu();
    let ball = |x: &[f32; 3]| glam::Vec3::from(*x).length() - 0.1;
    let slab = |x: &[f32; 3]| x[1] - 0.02;
    type Outside<'a> = &'a dyn Fn(&[f32; 3]) -> f32;
    let cases: [(Shape, Outside<'_>, f32, f32, u32); 3] = [
        (Shape::Sphere { radius: 0.1 }, &ball, 0.1, 2.0, 8),
        (Shape::Box { half_extents: [1.0, 0.02, 1.0] }, &slab, 0.02, 6.0, 20),
        (Shape::Box { half_extents: [1.0, 0.02, 1.0] }, &slab, 0.02, 3.0, 8),
    ];
    for (shape, outside, height, speed, substeps) in cases {
        let mut scene = Scene::new();
        let id = scene.add_collider(Collider::new(shape.clone(), [0.0; 3])).unwrap();
        layers(&mut scene, 9, height, 0.005, [0.0; 3]);
        let mut solver = solver(&gpu, &scene, Settings { gravity: [0.0; 3], ..roomy(substeps) });
        for frame in 1..=8 {
            let position = [0.0, speed * frame as f32 / 60.0, 0.0];
            solver.move_collider(id, Pose { position, ..Pose::default() }).unwrap();
            solver.step(1);
            assert_eq!(crossings(&solver, &scene), 0, "{shape:?}, step {frame}");
            let relative = |x: &[f32; 3]| [x[0], x[1] - position[1], x[2]];
            let positions = solver.read_positions().unwrap();
            let deepest = positions.iter().map(|x| -outside(&relative(x))).fold(0.0, f32::max);
            assert!(deepest < 0.5 * height, "{shape:?}, step {frame}: {deepest}");
        }
        let report = solver.read_contacts().unwrap();
        assert!(report.truncated > 0 && report.lost == 0, "{shape:?}: {report:?}");
    }
}

/// A rope ends in a rigid body of particles: they are one body, whose particles near each other at rest have no contact.
#[test]
fn a_rope_that_ends_in_a_body_of_particles_has_no_contact_with_it() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let own = scene.add_contact_material(ContactMaterial { thickness: 0.06, ..ContactMaterial::default() }).unwrap();
    let points: Vec<[f32; 3]> = (0..8).map(|k| [-0.05 * k as f32, 0.0, 0.0]).collect();
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.2, 1e5), tethers: None }).unwrap();
    let rest =
        (0..18).map(|k| [k % 2, k / 2 % 3, k / 6].map(|c| 0.05 * c as f32)).map(|[x, y, z]| [x, y - 0.05, z - 0.05]);
    let rest: Vec<[f32; 3]> = rest.collect();
    let is_end = |x: &[f32; 3]| x.iter().all(|x| x.abs() < 1e-6);
    let particles: Vec<u32> = rest
        .iter()
        .map(|x| {
            let own = Particle { position: *x, inverse_mass: 50.0, ..Particle::default() };
            if is_end(x) { rope.particles.start } else { scene.add_particle(own).unwrap() }
        })
        .collect();
    assert!(particles.contains(&rope.particles.start));
    let body = ShapeMatching { particles: &particles, rest_positions: &rest, masses: &[0.02; 18] };
    scene.add(body, Material::RIGID).unwrap();
    scene.set_particle_contact(0..scene.particle_count() as u32, own).unwrap();
    for level in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = Settings { self_collision: Some(level), gravity: [0.0; 3], ..Settings::default() };
        for mut own in common::backends(&gpu, &scene, settings) {
            own.step(10);
            let report = own.read_contacts().unwrap();
            assert_eq!(report.contacts, 0, "{}, {:?}", own.name(), level.level);
        }
    }
}

/// A rope holds a rigid cube, whose particles are in no surface: they meet the points of the rope as spheres at both levels.
#[test]
fn a_rope_holds_a_body_of_particles() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let own = scene.add_contact_material(ContactMaterial { thickness: 0.06, ..ContactMaterial::default() }).unwrap();
    let points: Vec<[f32; 3]> = (0..21).map(|k| [0.05 * k as f32 - 0.5, 0.0, 0.0]).collect();
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.2, 1e5), tethers: None }).unwrap();
    scene.pin(0).unwrap();
    scene.pin(20).unwrap();
    let rest: Vec<[f32; 3]> = (0..27).map(|k| [k % 3, k / 3 % 3, k / 9].map(|c| 0.05 * (c as f32 - 1.0))).collect();
    let add = |&[x, y, z]: &[f32; 3]| {
        let particle = Particle { position: [x, y + 0.2, z], inverse_mass: 50.0, ..Particle::default() };
        scene.add_particle(particle).unwrap()
    };
    let particles: Vec<u32> = rest.iter().map(add).collect();
    let cube = ShapeMatching { particles: &particles, rest_positions: &rest, masses: &[0.02; 27] };
    scene.add(cube, Material::RIGID).unwrap();
    scene.set_particle_contact(rope.particles.start..scene.particle_count() as u32, own).unwrap();
    for level in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = Settings { self_collision: Some(level), damping: 2.0, ..Settings::default() };
        for mut own in common::backends(&gpu, &scene, settings) {
            // It hits the rope after 0.15 s; free, it would be 0.6 m below it.
            own.step(22);
            let lowest = own.read_positions().unwrap()[21..].iter().map(|x| x[1]).fold(f32::INFINITY, f32::min);
            let report = own.read_contacts().unwrap();
            assert!(lowest > -0.15 && report.contacts > 0, "{}, {:?}: {lowest} m, {report:?}", own.name(), level.level);
        }
    }
}
