//! Contacts on the GPU equal those of the reference, pass by pass: colliders of each shape, at rest and moving, and
//! contacts between particles at both levels.

use crate::common;
use crate::common::shapes::{CUBE, cube_corners};
use crate::common::{Pair, change, first_unequal, is_exact};
use supple::internals::Pass;
use supple::{
    ClothGrid, ClothMesh, Collider, ColliderForce, ContactMaterial, ContactReport, Cord, Elasticity, Fabric, Friction,
    Heightfield, Particle, Pose, Rope, Scene, SelfCollision, Settings, Shape, SoftBody, Solver,
};

fn tolerance(gpu: &supple::gpu::Context) -> f32 {
    if is_exact(gpu) { 0.0 } else { 2e-5 }
}

/// Compares the reports of both backends: bit for bit on an exact adapter, else without the fields that depend on the
/// rounding of a single contact.
fn assert_alike(gpu: &supple::gpu::Context, reports: &(ContactReport, ContactReport), what: &str) {
    let (on_gpu, on_reference) = reports;
    if is_exact(gpu) {
        assert_eq!(on_gpu, on_reference, "{what}");
        return;
    }
    let near = |a: u32, b: u32| a.abs_diff(b) <= 3 + a.max(b) / 10;
    assert!(
        near(on_gpu.pairs, on_reference.pairs) && near(on_gpu.contacts, on_reference.contacts),
        "{what}: {reports:?}"
    );
    assert_eq!((on_gpu.lost, on_gpu.crossings), (on_reference.lost, on_reference.crossings), "{what}");
    assert!((on_gpu.deepest - on_reference.deepest).abs() < 1e-4, "{what}: {reports:?}");
}

fn shapes() -> Vec<(&'static str, Shape)> {
    let heights = (0..72).map(|i| 0.15 * common::noise(i)).collect();
    let ground = Heightfield { columns: 9, rows: 8, spacing: 0.2, heights, ends_at_border: false };
    let cuboid: Vec<[f32; 3]> = (0..8u32)
        .map(|i| [0, 1, 2].map(|axis| (0.25 + 0.03 * i as f32) * if i >> axis & 1 == 0 { -1.0 } else { 1.0 }))
        .collect();
    let pyramid = [[0.5, 0.0, 0.5], [-0.5, 0.05, 0.4], [-0.4, 0.0, -0.5], [0.5, -0.1, -0.4], [0.0, 0.4, 0.1]];
    let sides = [[0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]];
    let closed = [sides.as_slice(), &[[0, 1, 2], [0, 2, 3]]].concat();
    vec![
        ("hull", Shape::ConvexHull { points: cuboid }),
        ("heightfield that ends", Heightfield { ends_at_border: true, ..ground.clone() }.into()),
        ("heightfield", ground.into()),
        ("mesh", Shape::mesh(&pyramid, &closed, Some(0.06)).unwrap()),
        ("sheet", Shape::sheet(&pyramid, &sides, Some(0.06)).unwrap()),
        ("half-space", Shape::HalfSpace),
        ("sphere", Shape::Sphere { radius: 0.4 }),
        ("capsule", Shape::Capsule { radius: 0.2, half_height: 0.3 }),
        ("box", Shape::Box { half_extents: [0.3, 0.2, 0.4] }),
    ]
}

/// Particles that fall onto a rotated collider.
fn rain(shape: Shape, two_sided: bool) -> Scene {
    let mut scene = Scene::new();
    let friction = Friction { statics: 0.4, kinetic: 0.3 };
    let rubber =
        scene.add_contact_material(ContactMaterial { restitution: 0.6, friction, ..Default::default() }).unwrap();
    for i in 0..300u32 {
        let place = |k: u32| 0.9 * common::noise(3 * i + k);
        let position = [place(0), 0.3 + place(1), place(2)];
        let particle = Particle { position, velocity: [2.0 * place(2), -3.0, 0.0], inverse_mass: 1.0 + (i % 3) as f32 };
        scene.add_particle(particle).unwrap();
    }
    scene.set_particle_contact(100..200, rubber).unwrap();
    let pose = Pose { position: [0.05, -0.1, 0.02], rotation: [0.1, 0.2, -0.15, 0.9] };
    let surface_velocity = [0.5, 0.0, 0.2];
    // Within one cell the field of a sheet does not separate its two sides.
    let margin = if let Shape::Field(field) = &shape
        && !field.signed
    {
        field.cell
    } else {
        0.0
    };
    scene.add_collider(Collider { shape, pose, two_sided, margin, surface_velocity, ..Collider::default() }).unwrap();
    scene.add_collider(Collider { material: rubber, ..Collider::new(Shape::HalfSpace, [0.0, -0.6, 0.0]) }).unwrap();
    scene
}

#[test]
fn every_shape_agrees() {
    let gpu = common::gpu();
    for (name, shape) in shapes() {
        for two_sided in [false, true] {
            let scene = rain(shape.clone(), two_sided);
            let settings = Settings { substeps: 4, ..Settings::default() };
            let mut pair = Pair::new(&gpu, &scene, settings);
            let passes = pair.passes(12);
            let difference = pair.first_difference(tolerance(&gpu), passes);
            assert!(difference.is_none(), "{name}, two-sided {two_sided}: {difference:#?}");
            let forces = (pair.solver.read_collider_forces().unwrap(), pair.reference.read_collider_forces().unwrap());
            for (on_gpu, on_reference) in forces.0.iter().zip(&forces.1) {
                let rows = |force: &ColliderForce| [force.force, force.torque];
                let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-3 };
                assert_eq!(first_unequal(&rows(on_gpu), &rows(on_reference), tolerance), None, "{name}: {forces:?}");
            }
            assert!(forces.0[0].force[1] < 0.0, "{name}: nothing touched it: {forces:?}");
        }
    }
}

/// More colliders than are unrolled in the shader, at rest and moving, with one removed. Particles touch several per
/// substep.
#[test]
fn many_colliders_agree() {
    let gpu = common::gpu();
    let mut scene = rain(Shape::HalfSpace, false);
    let mut ids = Vec::new();
    for (k, (_, shape)) in (0..).zip(shapes()) {
        let pose = Pose { position: [0.5, -0.3, -0.4].map(|x| x * common::noise(k)), rotation: [0.1, 0.0, 0.2, 0.9] };
        let margin = if matches!(&shape, Shape::Field(field) if !field.signed) { 0.06 } else { 0.0 };
        ids.push(scene.add_collider(Collider { shape, pose, margin, ..Collider::default() }).unwrap());
    }
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
    pair.solver.remove_collider(ids[2]).unwrap();
    pair.reference.remove_collider(ids[2]).unwrap();
    for step in 0..8u32 {
        let tilt = 0.05 * step as f32;
        // The half-space and the box.
        for id in [ids[5], ids[8]] {
            let pose = Pose { position: [0.0, tilt - 0.5, 0.0], rotation: [tilt, 0.1, 0.0, 0.9] };
            pair.solver.move_collider(id, pose).unwrap();
            pair.reference.move_collider(id, pose).unwrap();
        }
        let passes: Vec<_> = pair.reference.plan().step(4, step).collect();
        let difference = pair.first_difference(tolerance(&gpu), passes);
        assert!(difference.is_none(), "step {step}: {difference:#?}");
    }
    let touched = pair.reference.read_collider_forces().unwrap().iter().filter(|force| force.force != [0.0; 3]).count();
    assert!(touched >= 4, "{touched} colliders were touched");
}

/// Ground that ends at its border is solid down to its bounding sphere, which also bounds the blocked exits of other
/// colliders. Particles start everywhere in and around the sphere, fast and slow.
#[test]
fn particles_far_below_ground_that_ends_agree() {
    let gpu = common::gpu();
    let heights = (0..63).map(|k| 0.1 * common::noise(k)).collect();
    let ground = Heightfield { columns: 9, rows: 7, spacing: 0.1, heights, ends_at_border: true };
    let pose = Pose { position: [0.6, 0.0, 0.5], rotation: [0.9, 0.1, -0.1, 0.4] };
    let ground = Collider { pose, ..Collider::new(ground.into(), [0.0; 3]) };
    for is_alone in [true, false] {
        let mut scene = Scene::new();
        scene.add_collider(ground.clone()).unwrap();
        if !is_alone {
            scene.add_collider(Collider::new(Shape::Sphere { radius: 0.7 }, [0.1, 0.0, 0.0])).unwrap();
            scene.add_collider(Collider::new(Shape::Box { half_extents: [0.4; 3] }, [0.6, -0.2, 0.5])).unwrap();
        }
        for i in 0..3000u32 {
            let at = |k: u32, center: f32, size: f32| center + size * common::noise(6 * i + k);
            let position = [at(0, 0.6, 1.1), at(1, 0.0, 1.1), at(2, 0.5, 1.1)];
            let velocity = [at(3, 0.0, 6.0), at(4, 0.0, 6.0), at(5, 0.0, 6.0)];
            scene.add_particle(Particle { position, velocity, inverse_mass: 100.0 }).unwrap();
        }
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
        let passes = pair.passes(4);
        let difference = pair.first_difference(tolerance(&gpu), passes);
        assert!(difference.is_none(), "alone {is_alone}: {difference:#?}");
    }
}

#[test]
fn moving_colliders_agree() {
    let gpu = common::gpu();
    for (name, shape) in shapes() {
        let scene = rain(shape, false);
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
        let id = pair.solver.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [2.0, 0.0, 0.0])).unwrap();
        let id_there =
            pair.reference.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [2.0, 0.0, 0.0])).unwrap();
        assert_eq!(id, id_there);
        for step in 0..8u32 {
            let angle = 0.3 * step as f32;
            let rotation = [0.0, (0.5 * angle).sin(), 0.1, (0.5 * angle).cos()];
            let pose = Pose { position: [2.0 - 0.5 * step as f32, -0.1, 0.0], rotation };
            pair.solver.move_collider(id, pose).unwrap();
            pair.reference.move_collider(id, pose).unwrap();
            let passes: Vec<_> = pair.reference.plan().step(4, step).collect();
            let difference = pair.first_difference(tolerance(&gpu), passes);
            assert!(difference.is_none(), "{name}, step {step}: {difference:#?}");
        }
    }
}

#[test]
fn a_collider_that_has_arrived_stays_in_place_when_the_origin_shifts() {
    let gpu = common::gpu();
    let mut pair =
        Pair::new(&gpu, &rain(Shape::Sphere { radius: 0.3 }, false), Settings { substeps: 4, ..Settings::default() });
    let id = pair.solver.add_collider(&Collider::new(Shape::Sphere { radius: 0.5 }, [2.0, 0.0, 0.0])).unwrap();
    pair.reference.add_collider(&Collider::new(Shape::Sphere { radius: 0.5 }, [2.0, 0.0, 0.0])).unwrap();
    change!(pair, move_collider(id, Pose { position: [0.2, 0.0, 0.1], ..Pose::default() }));
    pair.run(1, tolerance(&gpu), "the motion");
    change!(pair, shift_origin([0.5, -0.25, 0.125]));
    pair.run(2, tolerance(&gpu), "after the shift");
}

/// Settings that create the passes of contacts again: friction anchors, pair lists and forces start anew on both.
#[test]
fn settings_of_events_and_triangles_that_change_in_contact_agree() {
    let gpu = common::gpu();
    let mut scene = layers(0.05);
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.4 }, [0.0, -0.45, 0.0])).unwrap();
    let own = SelfCollision { pairs_per_particle: 60, ..SelfCollision::default() };
    let settings = Settings { substeps: 3, self_collision: Some(own), ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    pair.run(5, 1e-3, "contacts");
    for (what, changed) in [
        ("events", Settings { contact_events: 5000, ..settings }),
        ("triangles", Settings { contact_events: 5000, triangle_contacts: false, ..settings }),
    ] {
        change!(pair, set_settings(Settings { execution: pair.solver.execution().chosen, ..changed }));
        let forces = [pair.solver.read_collider_forces().unwrap(), pair.reference.read_collider_forces().unwrap()];
        assert_eq!(forces[0], forces[1], "{what}");
        pair.run(2, 1e-3, what);
    }
}

/// The plan without colliders has no collider passes; the next plan has them.
#[test]
fn a_first_collider_added_while_running_agrees() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 9, rows: 9, ..ClothGrid::default() }).unwrap().particles;
    scene.pin(cloth.start).unwrap();
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 6, ..Settings::default() });
    for round in 0..3 {
        pair.run(2, tolerance(&gpu), &format!("round {round}, without"));
        let ball = Collider::new(Shape::Sphere { radius: 0.2 }, [0.0, -0.6, 0.0]);
        let id = pair.solver.add_collider(&ball).unwrap();
        assert_eq!(id, pair.reference.add_collider(&ball).unwrap());
        for step in 0..8 {
            let rotation = [0.0, 0.1 * step as f32, 0.0, 1.0];
            change!(pair, move_collider(id, Pose { position: [0.0, -0.6 + 0.08 * step as f32, 0.0], rotation }));
            pair.run(1, tolerance(&gpu), &format!("round {round}, step {step}"));
        }
        let forces =
            (pair.solver.read_collider_forces().unwrap()[0], pair.reference.read_collider_forces().unwrap()[0]);
        assert!(forces.1.force[1] < -1.0, "round {round}: {forces:?}");
        let difference = forces.0.force.iter().zip(forces.1.force).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference <= 1e-3 * forces.1.force[1].abs(), "round {round}: {forces:?}");
        pair.solver.reset();
        pair.reference.reset();
    }
}

/// Two cloths, one falling on the other, which hangs by two corners, and a rope on top.
fn layers(thickness: f32) -> Scene {
    let mut scene = Scene::new();
    let wool = scene.add_contact_material(ContactMaterial { thickness, ..Default::default() }).unwrap();
    let below = scene.add_cloth_grid(&ClothGrid { columns: 13, rows: 11, ..ClothGrid::default() }).unwrap();
    scene.pin(below.particles.start).unwrap();
    scene.pin(below.particles.start + 12).unwrap();
    let above = ClothGrid {
        columns: 12,
        rows: 14,
        origin: [-0.87, 0.1, -0.95],
        column_axis: [1.9, 0.0, 0.1],
        row_axis: [0.0, 0.05, 1.9],
        ..ClothGrid::default()
    };
    let above = scene.add_cloth_grid(&above).unwrap();
    let points: Vec<[f32; 3]> = (0..40).map(|k| [-0.8 + 0.04 * k as f32, 0.25, 0.1 - 0.002 * k as f32]).collect();
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.02, 500.0), tethers: None }).unwrap();
    for part in [below.particles, above.particles.clone(), rope.particles] {
        scene.set_particle_contact(part, wool).unwrap();
    }
    for particle in above.particles {
        scene.set_velocity(particle, [0.1 * common::noise(particle), -2.0, 0.0]).unwrap();
    }
    scene
}

/// Contacts lift particles of the body off the ground between two passes of colliders in a substep.
#[test]
fn a_soft_body_that_lands_agrees_at_few_substeps() {
    let gpu = common::gpu();
    for substeps in [1, 2] {
        let mut scene = Scene::new();
        let thick = ContactMaterial { thickness: 0.02, ..ContactMaterial::default() };
        let material = scene.add_contact_material(thick).unwrap();
        scene.add_collider(Collider { material, ..Collider::default() }).unwrap();
        let positions = cube_corners([-0.0031, 0.17, 0.002], 0.06);
        let elasticity = Elasticity::Elastic { young: 3e4, bulk: 3e4, damping_time: 0.01 };
        let body = SoftBody { positions: &positions, triangles: &CUBE, spacing: 0.04, density: 200.0, elasticity };
        let body = scene.add_soft_body(&body).unwrap().particles;
        scene.set_particle_contact(body, material).unwrap();
        let settings = Settings { substeps, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        let passes = pair.passes(24);
        let difference = pair.first_difference(tolerance(&gpu), passes);
        assert!(difference.is_none(), "{substeps} substeps: {difference:#?}");
    }
}

#[test]
fn contacts_between_particles_agree() {
    let gpu = common::gpu();
    for (thickness, own) in [(0.08, SelfCollision::default()), (0.03, SelfCollision::surfaces())] {
        let scene = layers(thickness);
        let settings = Settings { substeps: 5, self_collision: Some(own), ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        let passes = pair.passes(14);
        let difference = pair.first_difference(tolerance(&gpu), passes);
        assert!(difference.is_none(), "{own:?}: {difference:#?}");
        let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
        assert_alike(&gpu, &reports, &format!("{own:?}"));
        assert!(reports.0.most_contacts > 100 && reports.0.lost == 0, "{reports:?}");
        println!("{:?}", reports.0);
    }
}

/// Fast particles with crossing paths: pairs are found by the lengths of their predicted paths.
#[test]
fn particles_in_random_directions_agree() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    for index in 0..600 {
        let random = |k: u32| common::noise(64 * index + k);
        let speed = 1000f32.powf(random(0)).min(100.0);
        let within = |most: f32, k: u32| [0, 1, 2].map(|axis| most * random(k + axis));
        let (position, velocity) = (within(0.1, 1), within(speed, 4));
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    scene.pin(0).unwrap();
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let own = SelfCollision { pairs_per_particle: 128, ..own };
        let settings =
            Settings { dt: 4e-3, substeps: 4, gravity: [0.0; 3], self_collision: Some(own), ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        let passes = pair.passes(2);
        let difference = pair.first_difference(tolerance(&gpu), passes);
        assert!(difference.is_none(), "{own:?}: {difference:#?}");
        let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
        assert_alike(&gpu, &reports, &format!("{own:?}"));
        assert!(reports.0.most_contacts > 50, "{reports:?}");
        println!("{:?}", reports.0);
    }
}

/// A beam of particles at rest, so search horizons are long. Then a few particles are pushed towards others.
#[test]
fn a_long_beam_of_particles_agrees() {
    const COUNT: u32 = 66_000;
    const THICKNESS: f32 = 0.005;
    const CELL: f32 = 8.4 * THICKNESS;
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let own = ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() };
    let own = scene.add_contact_material(own).unwrap();
    for index in 0..COUNT {
        let cell = [index / 100, index % 10, (index / 10) % 10];
        let jitter = |axis: usize| 0.3 * (common::noise(3 * index + axis as u32) - 0.5);
        // Cell borders are more than half a thickness away from all particles.
        let position = [0, 1, 2].map(|axis| 0.2 * CELL * (cell[axis] as f32 + 0.5 + jitter(axis)));
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(0..COUNT, own).unwrap();
    scene.pin(0).unwrap();
    let settings = Settings {
        substeps: 6,
        gravity: [0.0; 3],
        self_collision: Some(SelfCollision::default()),
        ..Settings::default()
    };
    let mut pair = Pair::new(&gpu, &scene, settings);
    pair.run(1, 1e-4, "a long beam at rest");
    let pushed = |x: f32| if (x / CELL) as u32 % 32 == 31 { [0.1, 0.0, 0.0] } else { [0.0; 3] };
    let velocities: Vec<_> = scene.positions().iter().map(|&[x, ..]| pushed(x)).collect();
    pair.solver.set_velocities(0, &velocities).unwrap();
    pair.reference.set_velocities(0, &velocities).unwrap();
    pair.run(1, 1e-4, "a long beam");
    let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
    assert_alike(&gpu, &reports, "reports");
    assert!(reports.0.searches > 1 && reports.0.pairs > 100, "{reports:?}");
    println!("{:?}", reports.0);
}

/// A reset also discards earlier truncations, releases and pins.
#[test]
fn after_a_reset_contacts_are_those_of_a_new_solver() {
    let gpu = common::gpu();
    let scene = common::press(0.01, 2);
    let all: Vec<u32> = (0..scene.particle_count() as u32).collect();
    let settings = Settings { substeps: 4, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut solver = common::solver(&gpu, &scene, settings);
    let play = |solver: &mut Solver| {
        solver.step(8);
        (solver.read_positions().unwrap(), solver.read_contacts().unwrap())
    };
    let first = play(&mut solver);
    assert!(first.1.truncated > 100, "{:?}", first.1);
    solver.reset();
    assert!(play(&mut solver) == first, "after cuts");
    solver.release(&all).unwrap();
    solver.reset();
    assert!(play(&mut solver) == first, "after all was released");
}

/// If a caller runs only part of a step, up to the corrections, a reset discards the collected contacts.
#[test]
fn after_a_part_of_a_step_a_reset_leaves_nothing() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    for index in 0..300 {
        let random = |k: u32| common::noise(8 * index + k);
        let (position, velocity) = ([0, 1, 2].map(|k| 0.04 * random(k)), [3, 4, 5].map(|k| 0.2 * random(k) - 0.1));
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = Settings { substeps: 4, self_collision: Some(own), ..Settings::default() };
        let mut solver = common::solver(&gpu, &scene, settings);
        let play = |solver: &mut Solver| {
            solver.step(3);
            (solver.read_positions().unwrap(), solver.read_contacts().unwrap())
        };
        let first = play(&mut solver);
        assert!(first.1.contacts > 10, "{own:?}: {:?}", first.1);
        let part: Vec<_> =
            solver.plan().step(4, 3).take_while(|pass| !matches!(pass, Pass::ApplyCorrections)).collect();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        solver.encode_passes(&mut encoder, part, None);
        gpu.queue.submit([encoder.finish()]);
        solver.reset();
        assert!(play(&mut solver) == first, "{own:?}");
    }
}

#[test]
fn truncated_displacements_agree() {
    let gpu = common::gpu();
    let scene = common::press(0.01, 2);
    let settings = Settings { substeps: 4, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let passes = pair.passes(8);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
    let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
    assert_alike(&gpu, &reports, "reports");
    assert!(reports.0.truncated > 100 && reports.0.lost == 0, "{reports:?}");
}

/// A cloth that overlaps a moving collider is pushed out of it, and truncated before a second cloth.
#[test]
fn truncation_inside_a_moving_collider_agrees() {
    let gpu = common::gpu();
    let mut scene = layers(0.03);
    // The second cloth is pinned.
    (143..143 + 168).for_each(|particle| scene.pin(particle).unwrap());
    // Below the hanging cloth, with a small overlap.
    let ball = Collider::new(Shape::Sphere { radius: 0.3 }, [0.0, -0.31, 0.0]);
    let id = scene.add_collider(ball).unwrap();
    let settings = Settings { substeps: 4, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    for step in 0..10 {
        change!(pair, move_collider(id, Pose { position: [0.0, -0.31 + 0.08 * step as f32, 0.0], ..Pose::default() }));
        pair.run(1, tolerance(&gpu), &format!("step {step}"));
    }
    let (report, reference) = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
    assert!(report.truncated > 10 && report.truncated == reference.truncated, "{report:?}, {reference:?}");
}

#[test]
fn resolved_intersections_agree() {
    let gpu = common::gpu();
    let scene = common::tangles(0.01, &[&|x, z| if x.hypot(z) < 0.15 { 0.06 } else { 0.0 }]);
    let settings = Settings { substeps: 5, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let passes = pair.passes(2);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
    let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
    assert_alike(&gpu, &reports, "reports");
    assert!(reports.0.crossings > Some(20) && reports.0.lost == 0, "{reports:?}");
    let passes = pair.passes(20);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
    let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
    assert_alike(&gpu, &reports, "reports");
    assert!(reports.0.crossings == Some(0), "{reports:?}");
}

/// Elements of each size have their own grid. Pairs across grids are found, also for fast and for intersecting
/// elements.
#[test]
fn elements_of_all_sizes_agree() {
    let gpu = common::gpu();
    for entangled in [false, true] {
        let scene = common::sizes(10, entangled);
        let settings = Settings { substeps: 5, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        for steps in [3, 7] {
            let passes = pair.passes(steps);
            let difference = pair.first_difference(tolerance(&gpu), passes);
            assert!(difference.is_none(), "entangled {entangled}, {steps} steps: {difference:#?}");
            let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
            assert_alike(&gpu, &reports, &format!("entangled {entangled}, {steps} steps"));
            assert!(reports.0.lost == 0 && (reports.0.crossings > Some(0)) == entangled, "{reports:?}");
        }
        assert!(pair.reference.read_contacts().unwrap().most_contacts > 50);
    }
}

/// Two pins of a cloth are driven through a pinned triangle. Their displacements are truncated, and tethers use the
/// truncated positions.
#[test]
fn truncated_pins_agree() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let thin = ContactMaterial { thickness: 0.02, ..ContactMaterial::default() };
    let thin = scene.add_contact_material(thin).unwrap();
    let grid = ClothGrid {
        columns: 4,
        rows: 6,
        origin: [-0.15, 0.05, 0.0],
        column_axis: [0.3, 0.0, 0.0],
        row_axis: [0.0, 0.5, 0.0],
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
    let positions = [[-2.0, 0.0, -2.0], [2.0, 0.0, -2.0], [0.0, 0.0, 3.0]];
    let wall = ClothMesh { positions: &positions, triangles: &[[0, 1, 2]], fabric: Fabric::default(), tethers: None };
    let wall = scene.add_cloth_mesh(&wall).unwrap().particles;
    scene.set_particle_contact(cloth.start..wall.end, thin).unwrap();
    wall.for_each(|particle| scene.pin(particle).unwrap());
    for pin in [cloth.start, cloth.start + 3] {
        scene.pin(pin).unwrap();
        scene.set_velocity(pin, [0.0, -3.0, 0.0]).unwrap();
    }
    let settings = Settings { substeps: 4, self_collision: Some(SelfCollision::surfaces()), ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let passes = pair.passes(4);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
    assert!(pair.reference.read_contacts().unwrap().truncated > 0);
}
