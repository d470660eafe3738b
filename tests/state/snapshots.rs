//! A snapshot continues in another solver on another device with the same bits.

use crate::common::shapes::icosphere;
use crate::common::{crumple, gpu, gpu_with, hanging_cloth, is_exact, own_gpu, press};
use supple::constraints::Kind;
use supple::gpu::{Context, PipelineStore, Snapshot};
use supple::{
    Attachment, AttachmentId, AttachmentTarget, Balloon, ClothGrid, Collider, ColliderId, ColorOrder, ContactMaterial,
    ContactScale, Distance, Elasticity, Error, Execution, Fabric, Friction, Material, Particle, ParticlePoint, Pose,
    Reference, Scene, SelfCollision, Settings, Shape, SoftBody, Solver, Sweep, Wind, wgpu,
};

/// Changes of the host before a step.
type Frame = dyn Fn(&mut Solver, u32);

fn open(gpu: &Context, scene: &Scene, settings: Settings) -> Solver {
    Solver::new(&gpu.device, &gpu.queue, scene, settings).unwrap()
}

fn run(solver: &mut Solver, frames: std::ops::Range<u32>, frame: &Frame) {
    for k in frames {
        frame(solver, k);
        solver.step(1);
    }
}

/// All that a program reads, in bits or in text.
fn state(solver: &Solver) -> Vec<String> {
    let bits =
        |vectors: Vec<[f32; 3]>| format!("{:x?}", vectors.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>());
    let events = (solver.settings().contact_events > 0).then(|| solver.read_contact_events().unwrap());
    // Which events are lost depends on the order of threads.
    assert!(events.as_ref().is_none_or(|events| events.lost == 0));
    vec![
        bits(solver.read_positions().unwrap()),
        bits(solver.read_velocities().unwrap()),
        bits(solver.read_displacements().unwrap()),
        bits(solver.read_normals().unwrap()),
        format!("{:?}", solver.read_contacts().unwrap()),
        format!("{:?}", solver.read_collider_forces().unwrap()),
        format!("{:?}", solver.read_attachments().unwrap()),
        format!("{:?}", solver.read_diagnostics().unwrap()),
        format!("{events:?}"),
        format!("{:?}", solver.read_rotations().unwrap()),
        format!("{:?}", solver.recorded_steps()),
    ]
}

struct Case<'a> {
    name: &'a str,
    scene: &'a Scene,
    settings: Settings,
    frame: &'a Frame,
}

/// Steps before and after the snapshot.
const HALF: u32 = 15;

/// Runs 30 steps of each case; takes a snapshot after 15 of them, and continues it in a new solver on another device, after the
/// loss of the first one. Both ends must agree.
fn continue_on_another_device(cases: &[Case<'_>]) {
    let first = own_gpu();
    let store = PipelineStore::new(&first.device);
    let run_first = |&Case { scene, settings, frame, .. }: &Case<'_>| {
        let mut solver = Solver::with_store(&store, &first.queue, scene, settings).unwrap();
        run(&mut solver, 0..HALF, frame);
        let bytes = solver.snapshot().unwrap().to_bytes();
        let at_snapshot = state(&solver);
        run(&mut solver, HALF..2 * HALF, frame);
        (bytes, at_snapshot, state(&solver))
    };
    let ran: Vec<_> = cases.iter().map(run_first).collect();
    first.device.destroy();

    let second = gpu();
    for (Case { name, scene, frame, .. }, (bytes, at_snapshot, expected)) in cases.iter().zip(ran) {
        let snapshot = Snapshot::from_bytes(&bytes).unwrap();
        assert!(snapshot.to_bytes() == bytes, "{name}");
        let mut restored = crate::common::solver(&second, scene, *snapshot.settings());
        restored.restore(&snapshot).unwrap();
        assert_eq!(state(&restored), at_snapshot, "{name}: the state of the snapshot");
        let again = restored.snapshot().unwrap().to_bytes();
        assert!(again == bytes, "{name}: a snapshot of the restored state");
        run(&mut restored, HALF..2 * HALF, *frame);
        for (place, (found, expected)) in state(&restored).iter().zip(&expected).enumerate() {
            let differs = found.bytes().zip(expected.bytes()).position(|(a, b)| a != b);
            let around =
                |text: &str| differs.map(|at| text[at.saturating_sub(200)..(at + 100).min(text.len())].to_owned());
            assert!(
                found == expected,
                "{name}: item {place} after 30 steps: {:?} {:?}",
                around(found),
                around(expected)
            );
        }
        assert_ne!(at_snapshot, expected, "{name}: nothing happened");
    }
}

fn still(_: &mut Solver, _: u32) {}

#[test]
fn a_hanging_cloth_in_gusts_continues_with_the_same_bits() {
    let wind = Wind { velocity: [3.0, 1.0, -5.0], gust: 0.8, turbulence: 1.0, ..Wind::default() };
    let base = Settings { substeps: 5, damping: 0.3, wind: Some(wind), ..Settings::default() };
    let scene = hanging_cloth(11, 9).0;
    let all = [
        ("colours", Settings { execution: Execution::Colors, ..base }),
        ("tiles", Settings { execution: Execution::Tiles, ..base }),
        ("clusters", Settings { execution: Execution::Clusters, ..base }),
        ("shuffled", Settings { color_order: ColorOrder::Shuffled { seed: 5 }, iterations: 2, ..base }),
        ("forces", Settings { tether_forces: true, mean_forces: true, ..base }),
    ];
    let cases = all.map(|(name, settings)| Case { name, scene: &scene, settings, frame: &still });
    continue_on_another_device(&cases);
}

#[test]
fn surfaces_in_frictional_contact_continue_with_the_same_bits() {
    let mut scene = press(0.02, 1);
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.2 }, [0.3, -0.15, 0.0])).unwrap();
    let all = [("particles", SelfCollision::default()), ("surfaces", SelfCollision::surfaces())];
    let cases = all.map(|(name, own)| {
        let self_collision = Some(own);
        let settings = Settings { self_collision, substeps: 2, contact_events: 20_000, ..Settings::default() };
        Case { name, scene: &scene, settings, frame: &still }
    });
    continue_on_another_device(&cases);
}

/// A cloth with attachments in space, to a moving box, and between particles; some break.
fn attached() -> (Scene, ColliderId, Vec<AttachmentId>) {
    let (mut scene, cloth) = hanging_cloth(9, 9);
    let first = cloth.particles.start;
    let shape = Shape::Box { half_extents: [0.2; 3] };
    let pose = Pose { position: [0.0, -0.6, 0.5], rotation: [0.1, 0.2, 0.3, 0.9] };
    let id = scene.add_collider(Collider { pose, shape, ..Collider::default() }).unwrap();
    let mut ids = Vec::new();
    for k in 0..8 {
        let point = ParticlePoint::Triangle([first + 20 + k, first + 21 + k, first + 30 + k], [0.2, 0.5, 0.3]);
        let target = match k % 3 {
            0 => AttachmentTarget::Space([0.2 * k as f32, 0.5, 0.3]),
            1 => AttachmentTarget::Collider { id, point: [0.25, 0.03 * k as f32, -0.2] },
            _ => AttachmentTarget::Particles(ParticlePoint::Edge([first + 50 + k, first + 60 + k], [0.4, 0.6])),
        };
        let break_force = (k == 4).then_some(1e-3);
        let material = Material::compliant(1e-3);
        let attachment = Attachment { material, rest_length: 0.1, break_force, ..Attachment::new(point, target) };
        ids.push(scene.add_attachment(attachment).unwrap());
    }
    scene.reserve_attachments(12).unwrap();
    (scene, id, ids)
}

#[test]
fn attachments_and_a_moving_collider_continue_with_the_same_bits() {
    let (scene, id, ids) = attached();
    let (moved, released) = (ids[0], ids[5]);
    let frame = move |solver: &mut Solver, k: u32| {
        let turn = 0.05 * k as f32;
        let position = [0.1 * turn, -0.6 + 0.02 * k as f32, 0.5];
        solver.move_collider(id, Pose { position, rotation: [0.0, turn.sin(), 0.0, turn.cos()] }).unwrap();
        if k <= 22 {
            solver.move_attachment(moved, [0.1, 0.5 + 0.01 * k as f32, 0.3]).unwrap();
        }
        if k == 10 {
            solver.release_attachment(released).unwrap();
            let more = Attachment::new(ParticlePoint::Particle(70), AttachmentTarget::Space([0.0, -1.0, 1.0]));
            solver.attach(more).unwrap();
        }
        if k == 22 {
            // The id is still valid.
            solver.release_attachment(moved).unwrap();
            solver.attach(Attachment::new(ParticlePoint::Particle(3), AttachmentTarget::Space([0.5; 3]))).unwrap();
        }
    };
    let settings = Settings { substeps: 5, ..Settings::default() };
    continue_on_another_device(&[Case { name: "attachments", scene: &scene, settings, frame: &frame }]);
}

#[test]
fn moving_colliders_with_friction_and_restitution_continue_with_the_same_bits() {
    let mut scene = Scene::new();
    let bouncy = ContactMaterial { restitution: 0.5, friction: Friction::coulomb(0.4), ..ContactMaterial::default() };
    let bouncy = scene.add_contact_material(bouncy).unwrap();
    let grid = ClothGrid { columns: 10, rows: 10, origin: [-0.5, 0.3, -0.5], ..ClothGrid::default() };
    let grid = ClothGrid { column_axis: [1.0, 0.0, 0.0], row_axis: [0.0, 0.1, 1.0], ..grid };
    let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
    scene.set_particle_contact(cloth.clone(), bouncy).unwrap();
    crumple(&mut scene, cloth, 1e-2);
    let ids: Vec<ColliderId> = [Shape::Sphere { radius: 0.15 }, Shape::Box { half_extents: [0.1, 0.3, 0.1] }]
        .into_iter()
        .enumerate()
        .map(|(k, shape)| {
            let material = bouncy;
            let collider = Collider { material, ..Collider::new(shape, [0.3 * k as f32 - 0.1, 0.0, 0.1]) };
            scene.add_collider(collider).unwrap()
        })
        .collect();
    let frame = move |solver: &mut Solver, k: u32| {
        for (place, &id) in ids.iter().enumerate() {
            let position = [0.3 * place as f32 - 0.1 + 0.01 * k as f32, 0.01 * (k % 7) as f32, 0.1];
            solver.move_collider(id, Pose { position, ..Pose::default() }).unwrap();
        }
    };
    let settings = Settings { substeps: 5, contact_events: 500, ..Settings::default() };
    continue_on_another_device(&[Case { name: "colliders", scene: &scene, settings, frame: &frame }]);
}

#[test]
fn soft_bodies_with_rotations_and_followers_continue_with_the_same_bits() {
    let mut scene = Scene::new();
    let (positions, triangles) = icosphere(1, 0.5);
    let gas = Material::compliant(1e-6);
    let fabric = Fabric { structural: Material::compliant(1e-5), ..Fabric::default() };
    for (k, elasticity) in [
        Elasticity::Rigid { shape: Material::RIGID },
        Elasticity::Regions { rings: 1, shape: Material::compliant(1e-5) },
    ]
    .into_iter()
    .enumerate()
    {
        let positions: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [x + 1.2 * k as f32, y, z]).collect();
        let body = SoftBody { positions: &positions, triangles: &triangles, spacing: 0.3, density: 500.0, elasticity };
        let parts = scene.add_soft_body(&body).unwrap();
        crumple(&mut scene, parts.particles, 0.1);
    }
    let positions: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [x, y, z - 1.2]).collect();
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.3, gas };
    scene.add_balloon(&balloon).unwrap();
    scene.add_collider(Collider::new(Shape::HalfSpace, [0.0, -0.55, 0.0])).unwrap();
    let settings = Settings { substeps: 3, body_damping: 0.1, ..Settings::default() };
    let jacobi = Settings { sweep: Sweep::Jacobi, ..settings };
    let cases = [("bodies", settings), ("Jacobi", jacobi)];
    continue_on_another_device(&cases.map(|(name, settings)| Case { name, scene: &scene, settings, frame: &still }));
}

#[test]
fn all_changes_while_running_continue_in_a_new_solver_with_the_same_bits() {
    let (mut scene, cloth) = hanging_cloth(11, 9);
    let first = cloth.particles.start;
    scene.add(Distance { particles: [first + 30, first + 52], rest_length: 0.4 }, Material::compliant(1e-4)).unwrap();
    let index = scene.constraint_count_of(Distance::INFO) as u32 - 1;
    let stiff = scene.add_material(Material::compliant(1e-5)).unwrap();
    scene.add_with(Distance { particles: [first + 31, first + 53], rest_length: 0.4 }, stiff).unwrap();
    let rubber = scene.add_contact_material(ContactMaterial::default()).unwrap();
    scene.set_particle_contact(cloth.particles.clone(), rubber).unwrap();
    let frame = move |solver: &mut Solver, k: u32| match k {
        3 => {
            solver.pin(&[first + 40, first + 41]).unwrap();
            solver.release(&[first]).unwrap();
            solver.set_targets(&[(first + 40, [0.3, 0.2, 0.4]), (first + 10, [1.9, 0.3, 0.2])]).unwrap();
            solver.set_masses(first + 60, &[0.05, 0.06]).unwrap();
            solver.set_forces(first + 70, &[[0.0, 0.3, 0.1]; 3]).unwrap();
            let changed = Distance { particles: [first + 30, first + 52], rest_length: 0.3 };
            solver.set_constraint(index, changed).unwrap();
            solver.set_material(stiff, Material::compliant(1e-2)).unwrap();
        }
        5 => {
            let removed = solver.add_collider(&Collider::new(Shape::Sphere { radius: 0.1 }, [0.0, -0.5, 0.5])).unwrap();
            solver.add_collider(&Collider::new(Shape::Sphere { radius: 0.3 }, [0.9, -0.4, 0.9])).unwrap();
            solver.remove_collider(removed).unwrap();
            let scales = [ContactScale { thickness: 0.7, friction: 0.5 }; 20];
            solver.set_contact_scales(first..first + 20, &scales).unwrap();
            solver
                .set_contact_material(rubber, ContactMaterial { restitution: 0.3, ..ContactMaterial::default() })
                .unwrap();
        }
        8 => solver.shift_origin([0.5, -0.25, 0.125]).unwrap(),
        12 => solver.set_velocities(first + 20, &[[0.0, 1.0, 0.0]; 4]).unwrap(),
        18 => solver.set_target(first + 41, [1.0, 0.1, 0.7]).unwrap(),
        22 => solver.release(&[first + 40]).unwrap(),
        _ => {}
    };
    let settings = Settings { substeps: 4, forces: true, ..Settings::default() };
    let all = [
        ("colours", Settings { execution: Execution::Colors, ..settings }),
        ("tiles", Settings { execution: Execution::Tiles, ..settings }),
        ("self-collision", Settings { self_collision: Some(SelfCollision::default()), ..settings }),
    ];
    let cases = all.map(|(name, settings)| Case { name, scene: &scene, settings, frame: &frame });
    continue_on_another_device(&cases);
}

#[test]
fn a_solver_returns_to_its_own_snapshot_and_lists_that_have_grown_stay_large_enough() {
    let gpu = own_gpu();
    let own = SelfCollision { pairs_per_particle: 1, ..SelfCollision::surfaces() };
    let settings = Settings { self_collision: Some(own), substeps: 3, ..Settings::default() };
    let scene = press(0.02, 2);
    let mut solver = open(&gpu, &scene, settings);
    let start = solver.snapshot().unwrap();
    // The counters arrive with the reads; the lists grow in the next step.
    for _ in 0..10 {
        solver.step(1);
        solver.read_contacts().unwrap();
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.growths > 0, "{report:?}");
    let grown = solver.snapshot().unwrap();
    solver.step(10);
    let expected = solver.read_positions().unwrap();
    solver.restore(&grown).unwrap();
    solver.step(10);
    assert_eq!(solver.read_positions().unwrap(), expected);
    // Small lists grow to the size that they had.
    let mut other = open(&gpu, &scene, settings);
    other.restore(&grown).unwrap();
    assert_eq!(other.read_contacts().unwrap(), {
        solver.restore(&grown).unwrap();
        solver.read_contacts().unwrap()
    });
    other.step(10);
    assert_eq!(other.read_positions().unwrap(), expected);
    solver.restore(&start).unwrap();
    assert_eq!(solver.read_positions().unwrap(), scene.positions());
    assert_eq!(solver.recorded_steps(), 0);
}

/// Followers are computed from their sources, not shifted.
#[test]
fn followers_after_a_shift_are_those_of_a_restored_snapshot() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let (positions, triangles) = icosphere(1, 0.5);
    let elasticity = Elasticity::Regions { rings: 1, shape: Material::compliant(1e-5) };
    let body = SoftBody { positions: &positions, triangles: &triangles, spacing: 0.3, density: 500.0, elasticity };
    scene.add_soft_body(&body).unwrap();
    let mut solver = crate::common::solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    solver.step(2);
    reference.step(2);
    solver.shift_origin([0.89, 0.41, 0.24]).unwrap();
    reference.shift_origin([0.89, 0.41, 0.24]).unwrap();
    let snapshot = solver.snapshot().unwrap();
    let mut other = crate::common::solver(&gpu, &scene, Settings::default());
    other.restore(&snapshot).unwrap();
    assert_eq!(other.read_positions().unwrap(), solver.read_positions().unwrap());
    if is_exact(&gpu) {
        assert_eq!(reference.read_positions().unwrap(), solver.read_positions().unwrap());
    }
}

#[test]
fn the_plan_after_a_removed_collider_is_that_of_a_restored_snapshot() {
    let gpu = gpu();
    let (mut scene, _) = hanging_cloth(6, 6);
    let id = scene.add_collider(Collider::new(Shape::Sphere { radius: 0.1 }, [0.0, -0.5, 0.0])).unwrap();
    let mut solver = crate::common::solver(&gpu, &scene, Settings::default());
    let before = solver.plan().clone();
    solver.remove_collider(id).unwrap();
    assert_ne!(solver.plan(), &before);
    let mut other = crate::common::solver(&gpu, &scene, Settings::default());
    other.restore(&solver.snapshot().unwrap()).unwrap();
    assert_eq!(other.plan(), solver.plan());
}

#[test]
fn a_snapshot_is_requested_without_waiting_and_holds_the_state_at_its_place_in_the_encoder() {
    let gpu = gpu();
    let (scene, _) = hanging_cloth(7, 7);
    let mut solver = crate::common::solver(&gpu, &scene, Settings::default());
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    solver.encode(&mut encoder, 3);
    let mut pending = solver.request_snapshot(&mut encoder);
    solver.encode(&mut encoder, 3);
    assert_eq!(pending.try_take(), Ok(None));
    gpu.queue.submit([encoder.finish()]);
    let snapshot = crate::common::taken(&gpu, &mut pending);
    assert_eq!(pending.try_take(), Ok(None));
    let expected = solver.read_positions().unwrap();
    solver.restore(&snapshot).unwrap();
    assert_eq!(solver.recorded_steps(), 3);
    solver.step(3);
    assert_eq!(solver.read_positions().unwrap(), expected);
    // A dropped encoder.
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut dropped = solver.request_snapshot(&mut encoder);
    drop(encoder);
    assert_eq!(dropped.try_take(), Err(Error::NotSubmitted));
}

#[test]
fn settings_of_the_snapshot_replace_those_that_shape_no_buffer() {
    let gpu = gpu();
    let (scene, _) = hanging_cloth(7, 7);
    let wind = Some(Wind { velocity: [0.0, 0.0, 4.0], ..Wind::default() });
    let settings = Settings { wind, gravity: [0.0, -3.0, 0.0], substeps: 7, body_damping: 0.1, ..Settings::default() };
    let mut windy = crate::common::solver(&gpu, &scene, settings);
    windy.step(5);
    let snapshot = windy.snapshot().unwrap();
    windy.step(5);
    let mut other = crate::common::solver(&gpu, &scene, Settings::default());
    other.restore(&snapshot).unwrap();
    assert_eq!(other.settings(), &settings);
    other.step(5);
    assert_eq!(other.read_positions().unwrap(), windy.read_positions().unwrap());
}

#[test]
fn buffers_of_earlier_settings_are_no_part_of_a_snapshot() {
    let gpu = gpu();
    let mut scene = press(0.02, 1);
    scene.add_collider(Collider::new(Shape::Sphere { radius: 0.2 }, [0.3, -0.15, 0.0])).unwrap();
    let all = Settings {
        forces: true,
        keep_lambdas: true,
        mean_forces: true,
        tether_forces: true,
        contact_events: 1000,
        self_collision: Some(SelfCollision::default()),
        ..Settings::default()
    };
    let few = Settings { collider_forces: false, substeps: 2, ..Settings::default() };
    for (first, second) in [(all, few), (few, all)] {
        let mut solver = crate::common::solver(&gpu, &scene, first);
        solver.step(1);
        solver.set_settings(second).unwrap();
        solver.step(1);
        let snapshot = solver.snapshot().unwrap();
        let mut other = crate::common::solver(&gpu, &scene, second);
        other.restore(&snapshot).unwrap();
        solver.step(2);
        other.step(2);
        assert_eq!(state(&solver), state(&other));
    }
}

/// A star is solved as a tree while its hub is as light as its ends; its records then come first. Changed masses change no schedule.
#[test]
fn the_order_of_constraints_does_not_depend_on_earlier_changes_of_masses() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let mut add =
        |x: f32, y: f32| scene.add_particle(Particle { position: [x, y, 0.0], ..Particle::default() }).unwrap();
    let pair = [add(5.0, 0.0), add(6.0, 0.0)];
    let hub = add(0.0, 0.0);
    let ends: Vec<u32> = (0..5).map(|k| add((1.2 * k as f32).cos(), (1.2 * k as f32).sin())).collect();
    for particles in [pair].into_iter().chain(ends.into_iter().map(|end| [hub, end])) {
        scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
    }
    let settings = Settings::default();
    let mut solver = crate::common::solver(&gpu, &scene, settings);
    let first = solver.snapshot().unwrap();
    solver.set_masses(hub, &[1000.0]).unwrap();
    for mean_forces in [true, false] {
        solver.set_settings(Settings { mean_forces, ..settings }).unwrap();
    }
    solver.step(3);
    let last = solver.snapshot().unwrap();
    let expected = solver.read_positions().unwrap();
    solver.restore(&first).unwrap();
    assert_eq!(solver.read_positions().unwrap(), scene.positions());
    let mut other = crate::common::solver(&gpu, &scene, settings);
    other.restore(&last).unwrap();
    assert_eq!(other.read_positions().unwrap(), expected);
}

#[test]
fn a_snapshot_that_does_not_fit_is_an_error_and_changes_nothing() {
    let gpu = gpu();
    let (scene, cloth) = hanging_cloth(7, 7);
    let mut solver = crate::common::solver(&gpu, &scene, Settings::default());
    solver.step(2);
    let (before, snapshot) = (state(&solver), solver.snapshot().unwrap());
    let bytes = snapshot.to_bytes();

    let mut moved = scene.clone();
    moved.set_position(cloth.particles.start + 9, [0.5, 0.5, 0.5]).unwrap();
    for (other, settings, what) in [
        (&hanging_cloth(8, 7).0, Settings::default(), "scene"),
        (&moved, Settings::default(), "scene"),
        (&scene, Settings { execution: Execution::Clusters, ..Settings::default() }, "settings"),
        (&scene, Settings { self_collision: Some(SelfCollision::default()), ..Settings::default() }, "settings"),
        (&scene, Settings { iterations: 3, ..Settings::default() }, "settings"),
    ] {
        let foreign = crate::common::solver(&gpu, other, settings).snapshot().unwrap();
        let error = solver.restore(&foreign).unwrap_err();
        let found = matches!(&error, Error::SnapshotMismatch { what: own, .. } if *own == what);
        assert!(found, "{error}");
    }
    let error =
        solver.restore(&crate::common::solver(&gpu, &hanging_cloth(8, 7).0, Settings::default()).snapshot().unwrap());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("Snapshot: 56 particles") && error.contains("Solver: 49 particles"), "{error}");

    let mut damaged = bytes.clone();
    damaged[200] ^= 4;
    let mut newer = bytes.clone();
    newer[8] += 1;
    let cut = bytes.len() - 1 - 28;
    for (bytes, expected) in [
        (&bytes[..5], "5 bytes are fewer than the 28 of its header".to_owned()),
        (&bytes[..bytes.len() - 1], format!("it has {cut} of {} bytes after its header", cut + 1)),
        (&damaged, format!("the hash of its {} bytes differs from that in its header", cut + 1)),
        (&newer, format!("its format has version {}; this version of supple reads {}", bytes[8] + 1, bytes[8])),
        (&[7; 40], "it does not begin with the mark of a snapshot".into()),
    ] {
        let error = Snapshot::from_bytes(bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("the snapshot cannot be read: {expected}"));
    }
    assert_eq!(state(&solver), before);
}

#[test]
fn a_lost_device_neither_takes_nor_restores_a_snapshot() {
    let gpu = own_gpu();
    let scene = hanging_cloth(5, 5).0;
    let mut solver = open(&gpu, &scene, Settings::default());
    let snapshot = solver.snapshot().unwrap();
    gpu.device.destroy();
    for outcome in [solver.restore(&snapshot), solver.snapshot().map(drop)] {
        assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{outcome:?}");
    }
}

#[test]
fn lists_beyond_the_limits_of_the_device_are_an_error_and_change_nothing() {
    let scene = press(0.02, 2);
    let settings = |pairs_per_particle| {
        let own = SelfCollision { pairs_per_particle, ..SelfCollision::surfaces() };
        Settings { self_collision: Some(own), substeps: 2, ..Settings::default() }
    };
    let gpu = own_gpu();
    let mut grown = open(&gpu, &scene, settings(1));
    for _ in 0..8 {
        grown.step(1);
        grown.read_contacts().unwrap();
    }
    let needed = u64::from(grown.read_contacts().unwrap().contact_capacity) * 96;
    let snapshot = grown.snapshot().unwrap();
    let small = gpu_with(wgpu::Limits { max_storage_buffer_binding_size: needed - 16, ..wgpu::Limits::default() });
    let mut solver = open(&small, &scene, settings(1));
    solver.step(1);
    let before = state(&solver);
    let error = solver.restore(&snapshot).unwrap_err();
    assert!(matches!(error, Error::LimitExceeded { needed: own, .. } if own >= needed), "{error}");
    assert_eq!(state(&solver), before);
    // It still runs.
    solver.step(1);
    assert_ne!(state(&solver), before);
}

/// After a snapshot is restored, ids that were given since then name nothing.
#[test]
fn ids_given_after_a_snapshot_name_nothing_later() {
    let gpu = gpu();
    let (mut scene, _) = hanging_cloth(4, 4);
    scene.reserve_attachments(2).unwrap();
    let mut solver = open(&gpu, &scene, Settings::default());
    let attachment = Attachment::new(ParticlePoint::Particle(5), AttachmentTarget::Space([0.0; 3]));
    let ball = Collider::new(Shape::Sphere { radius: 0.1 }, [0.0, -9.0, 0.0]);
    let snapshot = solver.snapshot().unwrap();
    let before = (solver.attach(attachment).unwrap(), solver.add_collider(&ball).unwrap());
    solver.restore(&snapshot).unwrap();
    let after = (solver.attach(attachment).unwrap(), solver.add_collider(&ball).unwrap());
    assert!(before.0 != after.0 && before.1 != after.1);
    solver.release_attachment(before.0).unwrap_err();
    solver.remove_collider(before.1).unwrap_err();
}
