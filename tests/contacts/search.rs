//! The pair search misses no contact: the margin and the number of searches do not change the bits of the result. A
//! margin of many thicknesses lists nearly all pairs, so it serves as a search over all pairs.

use crate::common;
use supple::gpu::Context;
use supple::{
    ClothGrid, ContactMaterial, Cord, Material, Particle, Rope, Scene, SelfCollision, SelfCollisionLevel, Settings,
    Sweep, Wind,
};

const THICKNESS: f32 = 0.02;

/// Particles without gravity in clouds that fly into each other; most are slow, and some rows are faster.
fn clouds(count: u32, speed: f32) -> Scene {
    let mut scene = Scene::new();
    let own = ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() };
    let own = scene.add_contact_material(own).unwrap();
    let side = f64::from(count).cbrt().ceil() as u32;
    for index in 0..count {
        let cell = [index % side, (index / side) % side, index / (side * side)];
        let jitter = |axis: u32| 0.45 * common::noise(6 * index + axis);
        let position = [0, 1, 2].map(|axis| 1.6 * THICKNESS * (cell[axis] as f32 + jitter(axis as u32)));
        // A quarter of the rows is fast, each at its own speed.
        let moves = if cell[1].is_multiple_of(4) { speed * common::noise(cell[1] + 977) } else { 0.02 * speed };
        let velocity = [3, 4, 5].map(|axis| moves * common::noise(6 * index + axis));
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(0..count, own).unwrap();
    scene
}

/// A crumpled cloth that falls on another one, both over a rope.
fn heap(columns: u32) -> Scene {
    let mut scene = Scene::new();
    let spacing = 1.0 / (columns - 1) as f32;
    let own = ContactMaterial { thickness: 1.1 * spacing, ..ContactMaterial::default() };
    let own = scene.add_contact_material(own).unwrap();
    for (height, turn) in [(0.1, 0.0), (0.16, 0.3)] {
        let grid = ClothGrid {
            columns,
            rows: columns,
            origin: [-0.5, height, -0.5],
            column_axis: [1.0, turn, 0.0],
            row_axis: [0.0, -0.5 * turn, 1.0],
            ..ClothGrid::default()
        };
        let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
        common::crumple(&mut scene, cloth.clone(), 0.1 * spacing);
        for particle in cloth {
            scene.set_velocity(particle, [0.3 * common::noise(particle), -2.0 * height, 0.0]).unwrap();
        }
    }
    let points: Vec<[f32; 3]> = (0..columns).map(|k| [-0.5 + k as f32 * spacing, 0.03, 0.01]).collect();
    let rope =
        scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.02, 500.0), tethers: None }).unwrap().particles;
    rope.for_each(|particle| scene.pin(particle).unwrap());
    scene.set_particle_contact(0..scene.particle_count() as u32, own).unwrap();
    scene
}

/// The position bits after `steps` steps with the given margin, the largest number of contacts, and the number of
/// searches.
fn run_with_margin(
    gpu: &Context,
    scene: &Scene,
    settings: Settings,
    margin: f32,
    steps: u32,
) -> (Vec<[u32; 3]>, u32, u32) {
    let level = settings.self_collision.map_or(SelfCollisionLevel::Particles, |own| own.level);
    let own = SelfCollision { level, margin, pairs_per_particle: 256, ..SelfCollision::default() };
    let mut solver = common::solver(gpu, scene, Settings { self_collision: Some(own), ..settings });
    solver.step(steps);
    let report = solver.read_contacts().unwrap();
    assert_eq!(report.lost, 0, "margin {margin}: {report:?}");
    println!("margin {margin}: {report:?}");
    (common::cases::bits(&solver.read_positions().unwrap()), report.most_contacts, report.searches)
}

fn assert_the_margin_changes_nothing(
    name: &str,
    scene: &Scene,
    settings: Settings,
    wide: f32,
    margins: &[f32],
    steps: u32,
) {
    let gpu = common::gpu();
    let (all, contacts, _) = run_with_margin(&gpu, scene, settings, wide, steps);
    assert!(contacts > 20, "{name}: only {contacts} contacts");
    for &margin in margins {
        let (some, ..) = run_with_margin(&gpu, scene, settings, margin, steps);
        let changed = all.iter().zip(&some).position(|(one, other)| one != other);
        assert!(changed.is_none(), "{name}: with a margin of {margin}, particle {changed:?} is elsewhere");
    }
}

fn weightless(substeps: u32) -> Settings {
    Settings { gravity: [0.0; 3], substeps, ..Settings::default() }
}

#[test]
fn the_margin_changes_nothing_among_clouds_of_particles() {
    for (count, speed) in [(700, 0.4), (700, 1.5), (2000, 0.8)] {
        let name = format!("{count} particles at {speed} m/s");
        assert_the_margin_changes_nothing(&name, &clouds(count, speed), weightless(8), 5.0, &[0.35, 0.6, 0.9], 8);
    }
}

/// A single particle is shot through a cloud; the margins are wide enough for all others.
#[test]
fn the_margin_changes_nothing_with_a_fast_particle() {
    for (speed, start) in [(60.0, -0.5), (4.0, -0.05)] {
        let mut scene = clouds(1000, 0.5);
        let shot = Particle { position: [start, 0.2, 0.2], velocity: [speed, 1.0, 0.5], ..Particle::default() };
        let shot = scene.add_particle(shot).unwrap();
        let own =
            scene.add_contact_material(ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() }).unwrap();
        scene.set_particle_contact(shot..shot + 1, own).unwrap();
        let name = format!("a shot at {speed} m/s");
        assert_the_margin_changes_nothing(&name, &scene, weightless(8), 5.0, &[0.35, 0.6, 0.9], 8);
    }
}

/// A pair that grazes and is out of range at the end of the substep still makes a contact.
#[test]
fn the_margin_changes_nothing_for_grazing_contacts() {
    const SUBSTEPS: u32 = 8;
    const MARGIN: f32 = 0.35;
    // The displacement per substep and axis.
    let step = 0.277 * (1.0 + 3.0 * MARGIN) * THICKNESS;
    let mut scene = Scene::new();
    let own =
        scene.add_contact_material(ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() }).unwrap();
    for index in 0..64 {
        // The lateral offset, and the number of substeps before they meet.
        let aside = 0.97 * THICKNESS / 2f32.sqrt();
        let before = 3.0 + index as f32 / 32.0;
        for (side, sign) in [(0.0, 1.0), (1.0, -1.0)] {
            let along = -sign * before * step;
            let position = [index as f32 + along + side * aside, along - side * aside, along];
            let velocity = [sign * step * 60.0 * SUBSTEPS as f32; 3];
            scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
        }
    }
    // Motion is measured relative to a pinned particle, if there is one.
    let held = scene.add_particle(Particle { position: [-9.0; 3], ..Particle::default() }).unwrap();
    scene.pin(held).unwrap();
    scene.set_particle_contact(0..128, own).unwrap();
    assert_the_margin_changes_nothing("grazing", &scene, weightless(SUBSTEPS), 5.0, &[MARGIN], 1);
}

/// While all particles fall by several thicknesses per substep, a shot hits its falling neighbours at their current
/// positions.
#[test]
fn a_fast_particle_hits_falling_neighbours() {
    const FALL: f32 = -8.0 * THICKNESS * 120.0;
    const SHOT: f32 = 5.0 * THICKNESS * 120.0;
    let gpu = common::gpu();
    for level in [SelfCollisionLevel::Particles, SelfCollisionLevel::Surfaces] {
        let mut scene = Scene::new();
        let own = ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() };
        let own = scene.add_contact_material(own).unwrap();
        let mut add = |position, side| {
            let velocity = [side, FALL, 0.0];
            scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap()
        };
        add([-2.5 * THICKNESS, 0.0, 0.0], SHOT);
        let target = add([0.0; 3], 0.0) as usize;
        // These particles determine the common motion.
        for index in 0..98 {
            add([0.0, 0.0, 2.0 + index as f32], 0.0);
        }
        scene.set_particle_contact(0..100, own).unwrap();
        let own = SelfCollision { level, margin: 0.5, ..SelfCollision::default() };
        for mut backend in common::backends(&gpu, &scene, Settings { self_collision: Some(own), ..weightless(2) }) {
            backend.step(1);
            let along = backend.read_velocities().unwrap()[target][0];
            assert!((along - 0.5 * SHOT).abs() < 0.05 * SHOT, "{}, {level:?}: {along}", backend.name());
        }
    }
}

#[test]
fn the_margin_changes_nothing_in_a_heap() {
    let wind = Some(Wind { velocity: [2.0, 0.0, 1.0], ..Wind::default() });
    for (columns, wind) in [(20, None), (20, wind), (32, None)] {
        let settings = Settings { substeps: 10, wind, damping: 1.0, sweep: Sweep::GaussSeidel, ..Settings::default() };
        let name = format!("two cloths of {columns} × {columns}");
        assert_the_margin_changes_nothing(&name, &heap(columns), settings, 2.5, &[0.1, 0.5, 0.9], 15);
    }
}

/// A program may set gravity, wind or materials in each frame.
#[test]
fn the_pair_list_outlasts_changes_that_do_not_concern_it() {
    let gpu = common::gpu();
    let mut scene = heap(8);
    let id = scene.add_material(Material { compliance: 1e-6, ..Material::RIGID }).unwrap();
    // The lists need not grow: after a loss, bits depend on the arrival of the counters.
    let own = SelfCollision { pairs_per_particle: 256, ..SelfCollision::surfaces() };
    let settings = Settings { substeps: 10, damping: 1.0, self_collision: Some(own), ..Settings::default() };
    for (mut plain, mut busy) in
        common::backends(&gpu, &scene, settings).into_iter().zip(common::backends(&gpu, &scene, settings))
    {
        for frame in 0..12 {
            busy.set_settings(settings).unwrap();
            busy.set_material(id, Material { compliance: 1e-6 * f32::from(frame as u8), ..Material::RIGID }).unwrap();
            plain.step(1);
            busy.step(1);
        }
        assert_eq!(plain.read_positions().unwrap(), busy.read_positions().unwrap());
        let [plain, busy] = [&plain, &busy].map(|own| own.read_contacts().unwrap());
        assert!(plain.contacts > 0 && plain.searches < 100 && plain.growths + plain.lost == 0, "{plain:?}");
        assert_eq!(plain, busy);
    }
}

/// Both backends search in the same substeps with the same result, also far from the origin, where positions are coarse.
#[test]
fn searching_particles_agree() {
    let gpu = common::gpu();
    let heaped = Settings { substeps: 10, ..Settings::default() };
    for (scene, settings, level) in [
        (clouds(400, 0.6), weightless(8), SelfCollisionLevel::Particles),
        (heap(14), heaped, SelfCollisionLevel::Particles),
        (heap(10), heaped, SelfCollisionLevel::Surfaces),
    ] {
        for shift in [[0.0; 3], [-900.0, 3000.0, 1700.0]] {
            let mut scene = scene.clone();
            for particle in 0..scene.particle_count() as u32 {
                let place = scene.positions()[particle as usize];
                scene.set_position(particle, [0, 1, 2].map(|axis| place[axis] + shift[axis])).unwrap();
            }
            let own = SelfCollision { level, margin: 0.3, pairs_per_particle: 256, ..SelfCollision::default() };
            let settings = Settings { self_collision: Some(own), ..settings };
            let mut pair = common::Pair::new(&gpu, &scene, settings);
            pair.run(10, 1e-4, "who looks");
            let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
            if common::is_exact(&gpu) {
                assert_eq!(reports.0, reports.1, "{level:?}, {shift:?}");
            }
            assert!(reports.0.searches > 10 && reports.0.most_contacts > 10, "{level:?}, {shift:?}: {reports:?}");
        }
    }
}

/// A shot passes sixty particles in a substep, and finds each of them once.
#[test]
fn a_long_shot_finds_each_particle_once() {
    const THIN: f32 = 1e-3;
    const COUNT: u32 = 60;
    let gpu = common::gpu();
    for (level, way) in [(SelfCollisionLevel::Particles, 0.39), (SelfCollisionLevel::Surfaces, 0.2)] {
        let mut scene = Scene::new();
        let own =
            scene.add_contact_material(ContactMaterial { thickness: THIN, ..ContactMaterial::default() }).unwrap();
        for index in 0..COUNT {
            // Around the path, within the search radius.
            let angle = 2.4 * index as f32;
            let position =
                [way * (index as f32 + 0.5) / COUNT as f32, 1.4 * THIN * angle.cos(), 1.4 * THIN * angle.sin()];
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        }
        let shot = Particle { velocity: [way * 60.0, 0.0, 0.0], ..Particle::default() };
        let shot = scene.add_particle(shot).unwrap();
        scene.pin(0).unwrap();
        scene.set_particle_contact(0..shot + 1, own).unwrap();
        let own = SelfCollision { level, margin: 0.9, ..SelfCollision::default() };
        let settings = Settings { self_collision: Some(own), ..weightless(1) };
        let mut pair = common::Pair::new(&gpu, &scene, settings);
        pair.run(1, 1e-4, "a long shot");
        let reports = (pair.solver.read_contacts().unwrap(), pair.reference.read_contacts().unwrap());
        assert_eq!(reports.0.pairs, reports.1.pairs, "{level:?}");
        assert!(reports.0.pairs > COUNT / 2, "{level:?}: {reports:?}");
    }
}

/// A particle is shot at a fixed cloth, along the axes and between them. Its path is up to ten thousand times as long as
/// the edges of the cloth.
#[test]
fn a_shot_at_any_speed_stops_at_a_cloth() {
    let gpu = common::gpu();
    for speed in [300.0, 3000.0, 30_000.0] {
        for [along, aside] in [[0.0, 0.0], [1.0, 0.0], [1.0, -1.0]] {
            let mut scene = Scene::new();
            let cloth = ClothGrid { columns: 33, rows: 33, tethers: None, ..ClothGrid::default() };
            let cloth = scene.add_cloth_grid(&cloth).unwrap().particles;
            let height = scene.positions()[0][1];
            cloth.for_each(|i| scene.pin(i).unwrap());
            let velocity = [along * speed, -speed, aside * speed];
            // It reaches the cloth within the second substep.
            let position = [0.013, height, 0.027];
            let position = [0, 1, 2].map(|axis| position[axis] - 1.4 / 120.0 * velocity[axis]);
            let shot = scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap() as usize;
            let settings = Settings { self_collision: Some(SelfCollision::surfaces()), ..weightless(2) };
            for mut backend in common::backends(&gpu, &scene, settings) {
                backend.step(2);
                let end = backend.read_positions().unwrap()[shot][1];
                let report = backend.read_contacts().unwrap();
                let name = format!("{}, {speed} m/s, {along}, {aside}: {report:?}", backend.name());
                assert!(end > height && end < height + 0.02 * speed / 120.0, "{end} at {height}; {name}");
                assert!(report.lost == 0 && report.halted == 0, "{name}");
            }
        }
    }
}

/// The capacity limits the pairs listed at once, not all pairs ever found.
#[test]
fn vacant_entries_of_the_pair_list_are_filled() {
    let gpu = common::gpu();
    let scene = clouds(3000, 1.0);
    let own = SelfCollision { margin: 0.3, pairs_per_particle: 12, ..SelfCollision::default() };
    let mut solver = common::solver(&gpu, &scene, Settings { self_collision: Some(own), ..weightless(8) });
    let mut most = 0;
    for _ in 0..60 {
        solver.step(1);
        let report = solver.read_contacts().unwrap();
        assert_eq!(report.lost, 0, "{report:?}");
        assert!(report.pairs <= report.most_pairs, "{report:?}");
        most = most.max(report.pairs);
    }
    let report = solver.read_contacts().unwrap();
    assert!(report.searches > 100 && most > 500, "{report:?}");
}

/// Pairs lost for lack of capacity are searched again at the next search, even if their particles did not move.
#[test]
fn pairs_lost_for_capacity_are_found_later() {
    const CROWD: u32 = 900;
    let gpu = common::gpu();
    let mut scene = clouds(CROWD, 0.0);
    let own =
        scene.add_contact_material(ContactMaterial { thickness: THICKNESS, ..ContactMaterial::default() }).unwrap();
    // Elsewhere, pairs of particles approach each other for a tenth of a second.
    for index in 0..100 {
        let side = if u32::is_multiple_of(index, 2) { -1.0 } else { 1.0 };
        let position = [5.0 + 0.03 * side, (index / 2) as f32, 5.0];
        let velocity = [-0.2 * side, 0.0, 0.0];
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    scene.set_particle_contact(CROWD..CROWD + 100, own).unwrap();
    for fixed_capacity in [false, true] {
        let own = SelfCollision { margin: 6.0, pairs_per_particle: 1, fixed_capacity, ..SelfCollision::default() };
        let settings = Settings { self_collision: Some(own), ..weightless(8) };
        for mut backend in common::backends(&gpu, &scene, settings) {
            backend.step(1);
            let report = backend.read_contacts().unwrap();
            // The lists of the reference grow at once.
            let is_short = fixed_capacity || backend.name() == "Solver";
            assert_eq!(report.lost > 0, is_short, "{}: {report:?}", backend.name());
            // One particle of the crowd stays; the others are far apart.
            let apart: Vec<[f32; 3]> = (0..CROWD).map(|index| [0.0, 0.0, -10.0 * index as f32]).collect();
            backend.set_positions(0, &apart).unwrap();
            for step in 0..30 {
                backend.step(1);
                let positions = backend.read_positions().unwrap();
                for pair in positions[CROWD as usize..].chunks(2) {
                    let gap = pair[1][0] - pair[0][0];
                    assert!(gap > 0.99 * THICKNESS, "{}, step {step}: {gap}", backend.name());
                }
            }
        }
    }
}

/// A cloth between two grips that are twisted against each other. Constraints pull its layers together in each substep,
/// and contacts push them apart. The net motion is small, so a pair list stays valid for many substeps.
#[test]
fn cloth_held_by_contacts_is_rarely_searched_again() {
    const COLUMNS: u32 = 18;
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let own = scene.add_contact_material(ContactMaterial { thickness: 0.01, ..ContactMaterial::default() }).unwrap();
    let grid =
        ClothGrid { columns: COLUMNS, rows: COLUMNS, origin: [-0.5, 0.0, -0.5], tethers: None, ..ClothGrid::default() };
    let grid = ClothGrid { column_axis: [1.0, 0.0, 0.0], row_axis: [0.0, 0.0, 1.0], ..grid };
    let cloth = scene.add_cloth_grid(&grid).unwrap().particles;
    scene.set_particle_contact(cloth.clone(), own).unwrap();
    common::crumple(&mut scene, cloth.clone(), 0.0005);
    let held: Vec<(u32, [f32; 3])> = cloth
        .map(|i| (i, scene.positions()[i as usize]))
        .filter(|(_, x)| x[0].abs() > 0.49 && x[2].abs() < 0.2)
        .collect();
    held.iter().for_each(|&(particle, _)| scene.pin(particle).unwrap());
    let settings = Settings {
        substeps: 20,
        damping: 5.0,
        self_collision: Some(SelfCollision { margin: 1.5, pairs_per_particle: 128, ..SelfCollision::surfaces() }),
        ..weightless(20)
    };
    let mut solver = common::solver(&gpu, &scene, settings);
    let mut searches = Vec::new();
    for step in 1..=110 {
        let turned = (step as f32 / 75.0).min(1.0);
        for &(particle, [x, y, z]) in &held {
            let (sin, cos) = (std::f32::consts::TAU * 1.5 * 0.5 * turned * x.signum()).sin_cos();
            let target = [x * (1.0 - 0.12 * turned), y * cos - z * sin, y * sin + z * cos];
            solver.set_target(particle, target).unwrap();
        }
        solver.step(1);
        searches.push(solver.read_contacts().unwrap().searches);
    }
    let report = solver.read_contacts().unwrap();
    let late = searches[109] - searches[89];
    println!("{late} searches in the last 20 steps, {report:?}");
    assert!(report.contacts > 100 && report.lost == 0, "{report:?}");
    assert!(late < 20 * 20 / 5, "{late} searches in 400 substeps");
}
