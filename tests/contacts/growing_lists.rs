//! Full lists of pairs and contacts: surfaces stand still instead of crossing, and the lists grow.

use crate::common;
use crate::common::cases::bits;
use crate::common::{press, solver};
use std::f32::consts::TAU;
use supple::{
    ClothGrid, ClothMesh, ContactMaterial, ContactReport, Fabric, Friction, Particle, Reference, Scene, SelfCollision,
    Settings, Simulation, Solver,
};

fn surfaces(pairs_per_particle: u32, fixed_capacity: bool, substeps: u32) -> Settings {
    let own = SelfCollision { pairs_per_particle, fixed_capacity, ..SelfCollision::surfaces() };
    Settings { substeps, self_collision: Some(own), ..Settings::default() }
}

fn crossings(scene: &Scene, positions: &[[f32; 3]]) -> usize {
    scene.intersections(positions).unwrap().count
}

/// Runs both backends with lists of a fixed capacity. They agree bit for bit on an exact adapter, in two runs, and no
/// surface crosses. Returns the report.
fn run_fixed(scene: &Scene, settings: Settings, steps: u32) -> ContactReport {
    let gpu = common::gpu();
    let [mut one, mut other] = [0, 1].map(|_| solver(&gpu, scene, settings));
    let mut reference = Reference::new(scene, Settings { execution: one.execution().chosen, ..settings }).unwrap();
    for frame in 0..steps {
        one.step(1);
        other.step(1);
        reference.step(1);
        let (x, of_reference) = (one.read_positions().unwrap(), reference.read_positions().unwrap());
        assert_eq!(bits(&x), bits(&other.read_positions().unwrap()), "frame {frame}: two runs differ");
        if common::is_exact(&gpu) {
            assert_eq!(common::first_unequal(&x, &of_reference, 0.0), None, "frame {frame}");
            assert_eq!(one.read_contacts().unwrap(), reference.read_contacts().unwrap(), "frame {frame}");
        }
        assert_eq!([crossings(scene, &x), crossings(scene, &of_reference)], [0; 2], "frame {frame}");
    }
    assert_eq!(one.read_contacts().unwrap(), other.read_contacts().unwrap());
    one.read_contacts().unwrap()
}

#[test]
fn a_press_with_a_full_pair_list_stands_still() {
    let report = run_fixed(&press(0.01, 3), surfaces(1, true, 10), 6);
    println!("{report:?}");
    assert!(report.halted == 60 && report.growths == 0 && report.pair_capacity == 320, "{report:?}");
    let mut reference = Reference::new(&press(0.01, 3), surfaces(1, true, 10)).unwrap();
    reference.step(1);
    assert!(reference.read_velocities().unwrap().iter().flatten().all(|&v| v == 0.0));
    assert!(report.lost > 0 && report.most_pairs > report.pair_capacity && report.pairs == 0, "{report:?}");
}

#[test]
fn a_press_with_a_full_contact_list_stands_still() {
    let mut scene = press(0.01, 3);
    let own = SelfCollision { margin: 0.05, pairs_per_particle: 14, fixed_capacity: true, ..SelfCollision::surfaces() };
    let settings = Settings { substeps: 10, self_collision: Some(own), ..Settings::default() };
    // Another body that moves: the mean motion is not 0.
    scene.add_particle(Particle { position: [3.0, 0.0, 0.0], ..Particle::default() }).unwrap();
    let report = run_fixed(&scene, settings, 12);
    println!("{report:?}");
    assert!(report.most_contacts > report.contact_capacity && report.most_pairs <= report.pair_capacity, "{report:?}");
    assert!(report.lost > 0 && report.halted > 0 && report.halted < 120, "{report:?}");
}

/// Sheets that fly at each other, without pins.
#[test]
fn free_sheets_with_a_full_pair_list_do_not_cross() {
    let settings = Settings { gravity: [0.0; 3], ..surfaces(1, true, 10) };
    let report = run_fixed(&approaching(0.02, 0.5), settings, 6);
    println!("{report:?}");
    assert!(report.halted > 0 && report.halted < 60, "{report:?}");
}

/// Lists that are far too short: no crossing before they have grown, no loss afterwards.
#[test]
fn a_press_does_not_cross_before_and_after_its_lists_grow() {
    let gpu = common::gpu();
    let scene = press(0.01, 3);
    let settings = surfaces(1, false, 10);
    let run = || {
        let mut solver = solver(&gpu, &scene, settings);
        let mut reports: Vec<ContactReport> = Vec::new();
        for frame in 0..20 {
            solver.step(1);
            assert_eq!(crossings(&scene, &solver.read_positions().unwrap()), 0, "frame {frame}");
            reports.push(solver.read_contacts().unwrap());
        }
        (bits(&solver.read_positions().unwrap()), reports)
    };
    let (x, reports) = run();
    assert!((x, reports.clone()) == run(), "two runs differ");
    let (first, early, last) = (reports[0], reports[3], reports[19]);
    println!("{first:?}\n{early:?}\n{last:?}");
    assert!(first.lost > 0 && first.halted == 10 && first.pair_capacity == 320 && first.growths == 0, "{first:?}");
    assert!(last.lost == early.lost && last.halted == early.halted && last.halted < 60, "{last:?}");
    assert!(last.growths > 0 && last.pair_capacity >= 3 * last.most_pairs / 2 - 1, "{last:?}");
    assert!(last.contact_capacity > last.most_contacts && last.contacts > 100, "{last:?}");
    // The lists of the reference are as long as they need to be.
    let mut reference = Reference::new(&scene, settings).unwrap();
    (0..4).for_each(|_| reference.step(1));
    let report = reference.read_contacts().unwrap();
    assert!(report.lost == 0 && report.halted == 0 && report.growths > 0, "{report:?}");
    assert_eq!(crossings(&scene, &reference.read_positions().unwrap()), 0);
}

/// Two sheets that approach each other, without pins.
fn approaching(distance: f32, speed: f32) -> Scene {
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.01, friction: Friction::coulomb(0.4), ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    for side in [-1.0, 1.0] {
        let (column_axis, row_axis) = ([0.5, 0.1, 0.0], [0.0, 0.1 * side, 0.5]);
        let origin = [0.03 * side, 0.5 * distance * side, 0.0];
        let grid = ClothGrid { columns: 14, rows: 14, origin, column_axis, row_axis, ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
        scene.set_particle_contact(cloth.clone(), material).unwrap();
        common::crumple(&mut scene, cloth.clone(), 1e-3);
        cloth.for_each(|i| scene.set_velocity(i, [0.0, -speed * side, 0.1 * side]).unwrap());
    }
    scene
}

/// The pairs become more while the sheets are apart, so the lists grow before they are full. Growth changes no bit of the result, contacts and friction included.
#[test]
fn lists_that_grow_in_time_change_no_bit() {
    let gpu = common::gpu();
    let scene = approaching(0.02, 0.1);
    let settings = |pairs| Settings { gravity: [0.0; 3], ..surfaces(pairs, false, 10) };
    let [mut growing, mut large] = [2, 64].map(|pairs| solver(&gpu, &scene, settings(pairs)));
    for _ in 0..40 {
        for own in [&mut growing, &mut large] {
            own.step(1);
            own.read_diagnostics().unwrap();
        }
    }
    let [grown, large_report] = [&growing, &large].map(|own| own.read_contacts().unwrap());
    println!("{grown:?}\n{large_report:?}");
    assert!(grown.growths > 1 && grown.lost == 0 && large_report.growths == 0, "{grown:?} {large_report:?}");
    assert!(grown.most_contacts > 200, "{grown:?}");
    assert_eq!(bits(&growing.read_positions().unwrap()), bits(&large.read_positions().unwrap()));
    assert!(growing.memory_bytes() > solver(&gpu, &scene, settings(2)).memory_bytes());
}

/// Lists that are far too short: profiled steps enlarge them as others do.
#[test]
fn lists_grow_in_profiled_steps() {
    let gpu = common::gpu();
    let scene = press(0.01, 3);
    let mut solver = solver(&gpu, &scene, surfaces(1, false, 10));
    for _ in 0..12 {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut profile = solver.encode_profiled(&mut encoder, 1).unwrap();
        gpu.queue.submit([encoder.finish()]);
        common::taken(&gpu, &mut profile);
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.growths > 0 && report.halted < 60 && report.contacts > 0, "{report:?}");
}

/// The lists of an encoder that is dropped are not filled. The next step searches again.
#[test]
fn growth_in_a_dropped_encoder_is_harmless() {
    let gpu = common::gpu();
    let scene = press(0.01, 3);
    let mut solver = solver(&gpu, &scene, surfaces(1, false, 10));
    let drop_a_step = |solver: &mut Solver| {
        let recorded = solver.recorded_steps();
        solver.encode(&mut gpu.device.create_command_encoder(&Default::default()), 1);
        solver.set_recorded_steps(recorded);
        solver.read_contacts().unwrap()
    };
    // With the first copy of the counters.
    drop_a_step(&mut solver);
    // The next copy is recorded after that loss was noticed.
    (0..2).for_each(|_| solver.step(1));
    let before = solver.read_contacts().unwrap();
    let after = drop_a_step(&mut solver);
    assert!(before.growths == 0 && after.growths == 1, "{before:?} {after:?}");
    for frame in 0..12 {
        solver.step(1);
        assert_eq!(crossings(&scene, &solver.read_positions().unwrap()), 0, "frame {frame}");
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.contacts > 100 && report.lost == before.lost, "{before:?} {report:?}");
}

/// A recorded encoder that is submitted after the next one was recorded still uses the former lists.
#[test]
fn encoders_recorded_before_growth_may_be_submitted_with_later_ones() {
    let gpu = common::gpu();
    let scene = approaching(0.02, 0.1);
    let settings = Settings { gravity: [0.0; 3], ..surfaces(8, false, 10) };
    let [mut one, mut other] = [0, 1].map(|_| solver(&gpu, &scene, settings));
    for _ in 0..20 {
        let encoders = [0, 1].map(|_| {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            one.encode(&mut encoder, 1);
            // Delivers what has arrived between the two.
            gpu.device.poll(supple::wgpu::PollType::Poll).unwrap();
            encoder.finish()
        });
        gpu.queue.submit(encoders);
        for _ in 0..2 {
            other.step(1);
            other.read_diagnostics().unwrap();
        }
    }
    let [a, b] = [&one, &other].map(|own| own.read_contacts().unwrap());
    println!("{a:?}\n{b:?}");
    assert!(b.lost == 0 && b.growths > 0, "{b:?}");
    assert!(a.lost == 0 && a.growths > 0, "{a:?}");
    assert_eq!(bits(&one.read_positions().unwrap()), bits(&other.read_positions().unwrap()));
}

/// At the particle level pairs beyond the capacity are lost until the list has grown.
#[test]
fn lists_of_particles_grow_too() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let material = ContactMaterial { thickness: 0.02, ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    for i in 0..1000u32 {
        let position = [i % 10, i / 10 % 10, i / 100].map(|k| 0.0201 * k as f32);
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(0..1000, material).unwrap();
    let own = SelfCollision { pairs_per_particle: 1, ..SelfCollision::default() };
    let settings = Settings { substeps: 8, self_collision: Some(own), gravity: [0.0; 3], ..Settings::default() };
    let mut solver = solver(&gpu, &scene, settings);
    let mut lost = Vec::new();
    for _ in 0..6 {
        solver.step(1);
        lost.push(solver.read_contacts().unwrap().lost);
    }
    let report = solver.read_contacts().unwrap();
    println!("{lost:?} {report:?}");
    assert!(lost[0] > 0 && lost[1] == lost[5] && report.halted == 0 && report.pairs > 1000, "{report:?}");
}

/// A tube between two rings of pins, 2 m long and 1 m wide.
fn tube(around: u32, along: u32) -> Scene {
    let mut scene = Scene::new();
    let positions = (0..around * along).map(|i| {
        let (sin, cos) = (TAU * (i % around) as f32 / around as f32).sin_cos();
        [2.0 * (i / around) as f32 / (along - 1) as f32 - 1.0, 0.5 * cos, 0.5 * sin]
    });
    let at = |ring: u32, place: u32| ring * around + place % around;
    let triangles = (0..along - 1).flat_map(|ring| {
        (0..around).flat_map(move |k| {
            let [a, b, c, d] = [at(ring, k), at(ring + 1, k), at(ring + 1, k + 1), at(ring, k + 1)];
            [[a, b, c], [a, c, d]]
        })
    });
    let (positions, triangles): (Vec<_>, Vec<_>) = (positions.collect(), triangles.collect());
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric: Fabric::default(), tethers: None };
    let cloth = scene.add_cloth_mesh(&mesh).unwrap().particles;
    let material = ContactMaterial { thickness: 0.01, friction: Friction::coulomb(0.2), ..ContactMaterial::default() };
    let material = scene.add_contact_material(material).unwrap();
    scene.set_particle_contact(cloth, material).unwrap();
    (0..around).chain(around * (along - 1)..around * along).for_each(|i| scene.pin(i).unwrap());
    scene
}

/// The targets of the pins after `frame` frames: both ends turn once a second, in opposite directions.
fn targets(scene: &Scene, frame: u32) -> Vec<(u32, [f32; 3])> {
    let pinned = (0..).zip(scene.positions()).filter(|(_, x)| x[0].abs() > 0.99);
    let target = |(particle, &[x, y, z]): (u32, &[f32; 3])| {
        let (sin, cos) = (x.signum() * TAU * frame as f32 / 60.0).sin_cos();
        (particle, [x - x.signum() * frame as f32 / 3000.0, cos * y - sin * z, sin * y + cos * z])
    };
    pinned.map(target).collect()
}

/// Turns the ends of a coarse tube with lists that are far too short, and of a finer one whose lists grow in time.
#[test]
fn a_twisted_tube_does_not_cross() {
    let gpu = common::gpu();
    let run = |scene: &Scene, backend: &mut dyn Simulation, frames: u32| {
        for frame in 0..frames {
            for (particle, x) in targets(scene, frame + 1) {
                backend.set_target(particle, x).unwrap();
            }
            backend.step(1);
            let count = crossings(scene, &backend.read_positions().unwrap());
            assert_eq!(count, 0, "{}, frame {frame}", backend.name());
        }
        let report = backend.read_contacts().unwrap();
        println!("{}: {report:?}", backend.name());
        assert!(report.growths > 0 && report.truncated > 1000 && report.crossings == Some(0), "{report:?}");
    };
    let settings = |pairs| Settings { gravity: [0.0; 3], ..surfaces(pairs, false, 20) };
    let coarse = tube(12, 8);
    for mut backend in common::backends(&gpu, &coarse, settings(1)) {
        run(&coarse, backend.as_mut(), 22);
    }
    let fine = tube(18, 12);
    let mut on_gpu = solver(&gpu, &fine, settings(12));
    run(&fine, &mut on_gpu, 33);
}
