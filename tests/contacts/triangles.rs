//! Triangles and edges of surfaces against colliders: what is smaller than the spacing of the particles does not come
//! through, on both backends.

use crate::common;
use crate::common::shapes::CUBE;
use supple::internals::Pass;
use supple::{
    ClothGrid, Collider, ColliderForce, ContactMaterial, ContactMaterialId, Elasticity, Fabric, Friction, Pose,
    Reference, Scene, SelfCollision, Settings, Shape, SoftBody,
};

const THICKNESS: f32 = 0.005;

/// A square sheet of n × n particles of a fabric, with a side of 0.4 m at y = 0, pinned along its border if `pinned`.
fn sheet(n: u32, pinned: bool, fabric: Fabric) -> (Scene, ContactMaterialId) {
    let mut scene = Scene::new();
    let friction = Friction::coulomb(0.4);
    let material = ContactMaterial { thickness: THICKNESS, friction, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    let grid = ClothGrid {
        columns: n,
        rows: n,
        origin: [-0.196, 0.0, -0.198],
        column_axis: [0.4, 0.0, 0.0],
        row_axis: [0.0, 0.0, 0.4],
        fabric,
        tethers: None,
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    scene.set_particle_contact(cloth.particles.clone(), material).unwrap();
    if pinned {
        cloth.border().unwrap().into_iter().for_each(|particle| scene.pin(particle).unwrap());
    }
    (scene, material)
}

/// Points of all triangles, 28 of each.
fn points(scene: &Scene, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let mut points = Vec::new();
    for triangle in scene.triangles() {
        let corners = triangle.map(|i| positions[i as usize]);
        for i in 0..=6 {
            for j in 0..=6 - i {
                let weights = [i, j, 6 - i - j].map(|k| k as f32 / 6.0);
                points.push([0, 1, 2].map(|axis| (0..3).map(|k| weights[k] * corners[k][axis]).sum()));
            }
        }
    }
    points
}

/// The height of a point above the surface, along y; `None` beside it.
fn height_over(scene: &Scene, positions: &[[f32; 3]], [x, y, z]: [f32; 3]) -> Option<f32> {
    let over = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| positions[i as usize]);
        let area = (b[0] - a[0]) * (c[2] - a[2]) - (c[0] - a[0]) * (b[2] - a[2]);
        let u = ((x - a[0]) * (c[2] - a[2]) - (c[0] - a[0]) * (z - a[2])) / area;
        let v = ((b[0] - a[0]) * (z - a[2]) - (x - a[0]) * (b[2] - a[2])) / area;
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0).then(|| y - (a[1] + u * (b[1] - a[1]) + v * (c[1] - a[1])))
    };
    scene.triangles().iter().filter_map(over).reduce(f32::max)
}

fn largest_speed(velocities: &[[f32; 3]]) -> f32 {
    velocities.iter().map(|&v| glam::Vec3::from(v).length()).fold(0.0, f32::max)
}

#[cfg(feature = "mesh-colliders")]
fn cone() -> Shape {
    let rim = (0..24).map(|k| (k as f32 / 24.0 * std::f32::consts::TAU).sin_cos());
    let mut points: Vec<[f32; 3]> = rim.map(|(sin, cos)| [0.06 * cos, -0.3, 0.06 * sin]).collect();
    points.push([0.0; 3]);
    Shape::ConvexHull { points }
}

/// The tip of a cone rises by 5 cm from below a sheet that is pinned along its border.
#[cfg(feature = "mesh-colliders")]
#[test]
fn the_tip_of_a_cone_lifts_a_sheet_between_its_particles() {
    let gpu = common::gpu();
    for self_collision in [None, Some(SelfCollision::surfaces())] {
        let (mut scene, _) = sheet(16, true, Fabric::default());
        let start = [0.0, -0.02, 0.0];
        let cone = scene
            .add_collider(Collider {
                shape: cone(),
                pose: Pose { position: start, ..Pose::default() },
                ..Collider::default()
            })
            .unwrap();
        let settings = Settings { self_collision, ..Settings::default() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            let (mut tip, mut worst) = (start, f32::MIN);
            for frame in 0..30 {
                tip[1] = -0.02 + 0.07 * (frame as f32 / 15.0).min(1.0);
                backend.move_collider(cone, Pose { position: tip, ..Pose::default() }).unwrap();
                backend.step(1);
                worst = worst.max(height_over(&scene, &backend.read_positions().unwrap(), tip).unwrap());
            }
            let (name, speed) = (backend.name(), largest_speed(&backend.read_velocities().unwrap()));
            println!("{name}: tip {worst} m over the sheet, {speed} m/s");
            assert!(worst < 0.0, "{name}: the tip is {worst} m over the sheet");
            assert!(speed < 1.0, "{name}: particles move at {speed} m/s");
        }
    }
}

/// A narrow box rises by 10 cm under a cotton sheet of 0.4 m that is pinned along its border: a strain of 11 %. Its corners come
/// through, but not the middle of its top, and the sheet rests.
#[test]
fn a_taut_sheet_over_a_narrow_box_comes_to_rest() {
    let gpu = common::gpu();
    let (mut scene, material) = sheet(17, true, Fabric::COTTON);
    let at = |top: f32| [0.0025, top - 0.1, -0.0169];
    let shape = Shape::Box { half_extents: [0.01, 0.1, 0.02] };
    let narrow = scene.add_collider(Collider { material, ..Collider::new(shape, at(-0.05)) }).unwrap();
    for mut backend in common::backends(&gpu, &scene, Settings::default()) {
        let mut top = -0.05;
        for frame in 1..=80 {
            top = (-0.05 + 0.4 * frame as f32 / 60.0).min(0.1);
            backend.move_collider(narrow, Pose { position: at(top), ..Pose::default() }).unwrap();
            backend.step(1);
        }
        let through = height_over(&scene, &backend.read_positions().unwrap(), at(top + 0.1)).unwrap();
        let (name, speed) = (backend.name(), largest_speed(&backend.read_velocities().unwrap()));
        println!("{name}: {through} m through, {speed} m/s");
        assert!(through < 0.0 && speed < 0.05, "{name}: the box is {through} m through, at {speed} m/s");
    }
}

/// A sheet with a spacing of 0.1 m falls on shapes that fit between its particles.
#[test]
fn small_shapes_hold_a_coarse_sheet() {
    let gpu = common::gpu();
    let capsule = |p: [f32; 3]| p[0].hypot(p[1]) - 0.015;
    let ball = |p: [f32; 3]| glam::Vec3::from(p).length() - 0.03;
    let cube = |p: [f32; 3]| {
        let beyond = p.map(|x| x.abs() - 0.02);
        beyond.into_iter().fold(f32::MIN, f32::max)
    };
    let quarter = std::f32::consts::FRAC_1_SQRT_2;
    type Case<'a> = (&'a str, Shape, [f32; 4], &'a dyn Fn([f32; 3]) -> f32);
    let cases: [Case<'_>; 3] = [
        ("capsule", Shape::Capsule { radius: 0.015, half_height: 0.3 }, [quarter, 0.0, 0.0, quarter], &capsule),
        ("sphere", Shape::Sphere { radius: 0.03 }, [0.0, 0.0, 0.0, 1.0], &ball),
        ("box", Shape::Box { half_extents: [0.02; 3] }, [0.0, 0.0, 0.0, 1.0], &cube),
    ];
    for (what, shape, rotation, distance) in cases {
        // The tops are 5 mm below the sheet.
        let height = 0.005 - distance([0.0; 3]);
        let (mut scene, _) = sheet(5, false, Fabric::default());
        [0, 4, 20, 24].into_iter().for_each(|i| scene.pin(i).unwrap());
        // The corners are nearer to one another than at rest, so the sheet sags.
        for i in 0..25 {
            let [x, y, z] = scene.positions()[i as usize];
            scene.set_position(i, [0.97 * x, y, 0.97 * z]).unwrap();
        }
        scene
            .add_collider(Collider {
                shape,
                pose: Pose { position: [0.04, -height, 0.05], rotation },
                ..Collider::default()
            })
            .unwrap();
        let settings = Settings { damping: 2.0, ..Settings::default() };
        for mut backend in common::backends(&gpu, &scene, settings) {
            let mut least = f32::MAX;
            for _ in 0..20 {
                backend.step(3);
                let local = points(&scene, &backend.read_positions().unwrap()).into_iter();
                let local = local.map(|[x, y, z]| [x - 0.04, y + height, z - 0.05]);
                least = local.map(distance).fold(least, f32::min);
            }
            println!("{}: {what}: {least} m", backend.name());
            assert!(least > 0.0, "{}: a {what} comes {} m through", backend.name(), -least);
            assert!(least < THICKNESS, "{}: a {what} is {least} m away", backend.name());
        }
    }
}

/// A coarse sheet on a bed of nails: a small ball below the center of each triangle, and gravity of an incline along x.
fn sheet_on_nails(angle: f32) -> (Scene, Settings) {
    let (mut scene, material) = sheet(4, false, Fabric::default());
    let triangles = scene.triangles().to_vec();
    for corners in triangles {
        let corners = corners.map(|i| scene.positions()[i as usize]);
        let mut position = [0, 1, 2].map(|axis| corners.iter().map(|corner| corner[axis]).sum::<f32>() / 3.0);
        position[1] -= 0.01 + 0.5 * THICKNESS;
        let (shape, pose) = (Shape::Sphere { radius: 0.01 }, Pose { position, ..Pose::default() });
        scene.add_collider(Collider { shape, pose, material, ..Collider::default() }).unwrap();
    }
    let (sin, cos) = angle.to_radians().sin_cos();
    (scene, Settings { gravity: [9.81 * sin, -9.81 * cos, 0.0], ..Settings::default() })
}

/// The friction angle is 21.8°.
#[test]
fn a_sheet_on_nails_sticks_and_slides_by_coulomb_friction() {
    let gpu = common::gpu();
    for (angle, slides) in [(15.0f32, false), (35.0, true)] {
        let (scene, settings) = sheet_on_nails(angle);
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(12);
            let moved = backend.read_positions().unwrap()[0][0] - scene.positions()[0][0];
            let (sin, cos) = angle.to_radians().sin_cos();
            let expected = if slides { 0.5 * 9.81 * (sin - 0.4 * cos) * 0.2 * 0.2 } else { 0.0 };
            let name = backend.name();
            println!("{name}: {angle}°: moved {moved} m, expected {expected}");
            assert!((moved - expected).abs() < 2e-3, "{name}: {angle}°: moved {moved} m, expected {expected}");
        }
    }
}

#[test]
fn triangles_press_on_colliders_with_their_weight() {
    let (mut scene, material) = sheet(2, false, Fabric::default());
    let quarter = std::f32::consts::FRAC_1_SQRT_2;
    for x in [-0.1, 0.1] {
        let pose = Pose { position: [x, -0.01 - 0.5 * THICKNESS, 0.0], rotation: [quarter, 0.0, 0.0, quarter] };
        let shape = Shape::Capsule { radius: 0.01, half_height: 1.0 };
        scene.add_collider(Collider { shape, pose, material, ..Collider::default() }).unwrap();
    }
    let settings = Settings::default();
    let mass: f32 = (0..4).map(|i| 1.0 / scene.inverse_masses()[i]).sum();
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.step(30);
    let mut mean = 0.0;
    for _ in 0..60 {
        reference.step(1);
        mean += reference.read_collider_forces().unwrap().iter().map(|force| force.force[1]).sum::<f32>() / 60.0;
    }
    assert_eq!(reference.read_diagnostics().unwrap().lost_collider_contacts, 0);
    assert!((mean / (-9.81 * mass) - 1.0).abs() < 0.01, "{mean} N, weight {} N", 9.81 * mass);
}

/// Triangles of the lower sheet lie on the edges of the box. The load of the upper one moves them after the pass of the
/// triangles, and the recovery of this overlap carries it.
#[test]
fn two_sheets_press_on_the_edges_of_a_box_with_their_weight() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.005, friction: Friction::coulomb(0.5), ..ContactMaterial::default() };
    scene.set_contact_material(ContactMaterialId::default(), material).unwrap();
    for layer in 0..2 {
        let grid = ClothGrid {
            columns: 10,
            rows: 10,
            origin: [-0.087, 0.056 + 0.005 * layer as f32, -0.088],
            column_axis: [0.18, 0.0, 0.0],
            row_axis: [0.0, 0.0, 0.18],
            fabric: Fabric::COTTON,
            tethers: None,
        };
        scene.add_cloth_grid(&grid).unwrap();
    }
    scene.add_collider(Collider::new(Shape::Box { half_extents: [0.05; 3] }, [0.0; 3])).unwrap();
    let mass: f32 = scene.inverse_masses().iter().map(|w| 1.0 / w).sum();
    let settings =
        Settings { self_collision: Some(SelfCollision::surfaces()), collider_forces: true, ..Settings::default() };
    let forces = common::backends(&gpu, &scene, settings).map(|mut backend| {
        backend.step(80);
        let ColliderForce { force, torque } = backend.read_collider_forces().unwrap()[0];
        let text = format!("{}: {force:?} N of {} N, {torque:?} N m", backend.name(), -9.81 * mass);
        println!("{text}");
        assert!((force[1] / (-9.81 * mass) - 1.0).abs() < 0.01, "{text}");
        // The center of mass is 3 mm aside.
        assert!(torque.iter().all(|&axis| axis.abs() < 4e-3 * 9.81 * mass), "{text}");
        (force, torque)
    });
    assert!(!common::is_exact(&gpu) || forces[0] == forces[1], "{forces:?}");
}

/// A heavy soft cube of 12 cm presses a sheet on a ball of 12 cm. In each substep the ball pushes the triangles out, and the cube
/// pushes the particles in again.
#[test]
fn velocities_of_a_pinched_sheet_are_those_of_its_motion() {
    let (mut scene, material) = sheet(10, true, Fabric::default());
    let pose = Pose { position: [0.0, -0.14, 0.0], ..Pose::default() };
    scene
        .add_collider(Collider { shape: Shape::Sphere { radius: 0.12 }, pose, material, ..Collider::default() })
        .unwrap();
    let corner = |k: u32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.06 } else { -0.06 });
    let positions: Vec<[f32; 3]> = (0..8).map(corner).map(|[x, y, z]| [x, y + 0.09, z]).collect();
    let elasticity = Elasticity::Elastic { young: 2e5, bulk: 2e5, damping_time: 0.01 };
    let body = SoftBody { positions: &positions, triangles: &CUBE, spacing: 0.04, density: 1852.0, elasticity };
    let body = scene.add_soft_body(&body).unwrap().particles;
    let thick = ContactMaterial { thickness: 0.045, friction: Friction::coulomb(0.4), ..ContactMaterial::default() };
    let thick = scene.add_contact_material(thick).unwrap();
    scene.set_particle_contact(body, thick).unwrap();
    let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let gpu = common::gpu();
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(60);
        let before = backend.read_positions().unwrap();
        backend.step(1);
        let (after, velocities) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
        for particle in 0..100 {
            let moved = (glam::Vec3::from(after[particle]) - glam::Vec3::from(before[particle])) / settings.dt;
            let velocity = glam::Vec3::from(velocities[particle]);
            let gap = velocity.distance(moved);
            assert!(gap < 0.1, "{}: particle {particle} has {velocity} m/s and moves at {moved} m/s", backend.name());
        }
    }
}

#[test]
fn without_triangle_contacts_only_particles_meet_colliders() {
    let (scene, settings) = sheet_on_nails(0.0);
    let gpu = common::gpu();
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(30);
        assert!(backend.read_positions().unwrap().iter().all(|p| p[1].abs() < 0.03), "{}", backend.name());
        backend.reset();
        backend.set_settings(Settings { triangle_contacts: false, ..settings }).unwrap();
        backend.step(30);
        assert!(backend.read_positions().unwrap().iter().all(|p| p[1] < -0.5), "{}", backend.name());
    }
}

#[test]
fn triangle_contacts_agree_with_the_reference() {
    let gpu = common::gpu();
    let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-4 };
    for self_collision in [None, Some(SelfCollision::default()), Some(SelfCollision::surfaces())] {
        let (mut scene, material) = sheet(6, false, Fabric::default());
        let place = |position| Pose { position, rotation: [0.1, 0.2, 0.3, 0.93] };
        let shapes = [
            (Shape::Box { half_extents: [0.02, 0.03, 0.04] }, [-0.1, -0.06, 0.02]),
            (Shape::Capsule { radius: 0.01, half_height: 0.1 }, [0.1, -0.03, 0.04]),
            (Shape::Sphere { radius: 0.015 }, [0.02, -0.03, -0.09]),
        ];
        let mut moved = None;
        for (shape, position) in shapes {
            let collider = Collider { shape, pose: place(position), material, ..Collider::default() };
            moved = Some(scene.add_collider(collider).unwrap());
        }
        let mut pair = common::Pair::new(&gpu, &scene, Settings { self_collision, ..Settings::default() });
        for step in 0..20 {
            let pose = place([0.02, -0.03 + 0.002 * step as f32, -0.09]);
            pair.reference.move_collider(moved.unwrap(), pose).unwrap();
            pair.solver.move_collider(moved.unwrap(), pose).unwrap();
            pair.run(1, tolerance, &format!("{self_collision:?}, step {step}"));
        }
    }
}

/// Passes that a change of settings made without a collider must exist after the reset that restores it, and thinner
/// cloth may need passes that thicker cloth did not.
#[test]
fn triangle_contacts_return_with_their_collider_and_material() {
    let gpu = common::gpu();
    let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-4 };
    let (mut scene, material) = sheet(6, false, Fabric::default());
    let pose = Pose { position: [0.01, -0.04, 0.02], ..Pose::default() };
    let shape = Shape::Box { half_extents: [0.03, 0.03, 0.03] };
    let id = scene.add_collider(Collider { shape, pose, material, ..Collider::default() }).unwrap();
    let mut pair = common::Pair::new(&gpu, &scene, Settings::default());
    pair.reference.remove_collider(id).unwrap();
    pair.solver.remove_collider(id).unwrap();
    let settings = Settings { collider_forces: false, ..Settings::default() };
    pair.reference.set_settings(settings).unwrap();
    pair.solver.set_settings(settings).unwrap();
    pair.reference.reset();
    pair.solver.reset();
    pair.run(8, tolerance, "a restored box");

    let (mut scene, material) = sheet(6, false, Fabric::default());
    let (shape, pose) = (Shape::Sphere { radius: 1.0 }, Pose { position: [0.01, -1.01, 0.02], ..Pose::default() });
    scene.add_collider(Collider { shape, pose, material, ..Collider::default() }).unwrap();
    let thick = ContactMaterial { thickness: 0.5, ..scene.contact_material(material).unwrap() };
    let thin = scene.contact_material(material).unwrap();
    scene.set_contact_material(material, thick).unwrap();
    let mut pair = common::Pair::new(&gpu, &scene, Settings::default());
    assert!(!pair.solver.plan().contains(&Pass::CollideTriangles));
    pair.reference.set_contact_material(material, thin).unwrap();
    pair.solver.set_contact_material(material, thin).unwrap();
    assert!(pair.solver.plan().contains(&Pass::CollideTriangles));
    pair.run(8, tolerance, "a thinner sheet on a sphere");
}
