//! Distance constraints of rest length 0: welded and sewn particles.

use crate::common;
use crate::common::{backends, distance};
use supple::constraints::{Kind, Limit};
use supple::scene_file::SceneFile;
use supple::{
    ClothGrid, Cord, Distance, DistanceLimit, Execution, Material, Method, Particle, Reference, Rope, Scene,
    SelfCollision, Settings, Simulation, Sweep,
};

const EXECUTIONS: [Execution; 4] = [Execution::Auto, Execution::Colors, Execution::Tiles, Execution::Clusters];

fn settings() -> Vec<Settings> {
    let with =
        |execution, sweep, method, substeps| Settings { execution, sweep, method, substeps, ..Settings::default() };
    let mut all: Vec<Settings> =
        EXECUTIONS.iter().map(|&execution| with(execution, Sweep::GaussSeidel, Method::Xpbd, 10)).collect();
    all.push(with(Execution::Auto, Sweep::Jacobi, Method::Xpbd, 10));
    all.push(with(Execution::Auto, Sweep::GaussSeidel, Method::Pbd, 10));
    all.push(with(Execution::Auto, Sweep::GaussSeidel, Method::Xpbd, 1));
    all
}

/// Pairs of particles `gap` [m] apart with one constraint each: rigid and compliant, of equal and unequal masses, one
/// with a pin, by distances and limits.
fn pairs(gap: f32, rest_length: f32, speed: f32) -> Scene {
    let mut scene = Scene::new();
    let materials = [Material::RIGID, Material { damping_time: 0.05, ..Material::compliant(1e-4) }];
    for (row, material) in (0..).zip(materials) {
        for (column, inverse_masses) in (0..).zip([[1.0, 1.0], [1.0, 8.0], [0.0, 2.0]]) {
            for limited in [false, true] {
                let x = 3.0 * column as f32 + if limited { 20.0 } else { 0.0 };
                let place = [x, 0.0, 3.0 * row as f32];
                let a = scene
                    .add_particle(Particle { position: place, inverse_mass: inverse_masses[0], ..Particle::default() })
                    .unwrap();
                let position = [place[0] + 0.6 * gap, place[1] + 0.8 * gap, place[2]];
                let velocity = [0.0, 0.5 * speed, speed];
                scene.add_particle(Particle { position, velocity, inverse_mass: inverse_masses[1] }).unwrap();
                let particles = [a, a + 1];
                if limited {
                    scene
                        .add(DistanceLimit { particles, length: rest_length, limit: Limit::AtMost }, material)
                        .unwrap();
                } else {
                    scene.add(Distance { particles, rest_length }, material).unwrap();
                }
            }
        }
    }
    scene
}

/// The largest gap and the largest difference of velocities of all pairs.
fn apart(backend: &dyn Simulation) -> [f64; 2] {
    [backend.read_positions().unwrap(), backend.read_velocities().unwrap()].map(|values| {
        assert!(values.iter().flatten().all(|value| value.is_finite()));
        values.as_chunks::<2>().0.iter().map(|[a, b]| distance(*a, *b)).fold(0.0, f64::max)
    })
}

/// The speed of the fastest particle [m/s].
fn top_speed(reference: &Reference) -> f64 {
    let velocities = reference.read_velocities().unwrap();
    velocities.into_iter().map(|velocity| distance(velocity, [0.0; 3])).fold(0.0, f64::max)
}

#[test]
fn welded_particles_at_one_place_stay_together_on_both_backends_in_every_execution() {
    let gpu = common::gpu();
    for settings in settings() {
        for rest_length in [0.0, 1e-30, 1e-17] {
            // At rest there is no direction; with a speed the welds must hold.
            for speed in [0.0, 2.0] {
                let scene = pairs(0.0, rest_length, speed);
                for mut backend in backends(&gpu, &scene, settings) {
                    backend.step(60);
                    let [gap, difference] = apart(&*backend);
                    let what =
                        format!("{} {settings:?} {rest_length:e} {speed}: {gap:e} {difference:e}", backend.name());
                    // A compliant constraint gives way by w · g · compliance.
                    assert!(gap < 1.5e-3 && difference < 0.1, "{what}");
                    if speed == 0.0 {
                        assert!(gap < 1.1e-3 && difference < 1e-2, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn sewn_pairs_close_and_stay_closed_on_both_backends_in_every_execution() {
    let gpu = common::gpu();
    for settings in settings() {
        for rest_length in [0.0, 1e-17] {
            let scene = pairs(0.3, rest_length, 0.0);
            let mut ends = Vec::new();
            for mut backend in backends(&gpu, &scene, settings) {
                backend.step(60);
                for _ in 0..3 {
                    backend.step(20);
                    let [gap, difference] = apart(&*backend);
                    let what = format!("{} {settings:?} {rest_length:e}: {gap:e} {difference:e}", backend.name());
                    assert!(gap < 2e-3 && difference < 0.1, "{what}");
                }
                ends.push(backend.read_positions().unwrap());
            }
            if common::is_exact(&gpu) {
                assert_eq!(ends[0], ends[1], "{settings:?}");
            }
        }
    }
}

#[test]
fn scene_files_weld_coincident_particles_and_sew_distant_ones() {
    let scene = |positions: &str, constraint: &str| {
        let text = format!(
            r#"{{"version": 1, "parts": [{{"particles": {{"positions": {positions}}}}}], "constraints": [{constraint}]}}"#
        );
        SceneFile::parse(&text, None).unwrap()
    };
    let files = [
        scene("[[0, 0, 0], [0, 0, 0]]", r#"{"distance": {"particles": [[0, 1]]}}"#),
        scene("[[0, 0, 0], [0.3, 0, 0]]", r#"{"distance": {"particles": [[0, 1]], "rest_length": 0}}"#),
        scene("[[1, 1, 1], [0.3, 0, 0]]", r#"{"distance": {"particles": [[0, 1]], "rest_length": -0.0}}"#),
        scene("[[0, 0, 0], [0, 0, 0]]", r#"{"distance_limit": {"particles": [[0, 1]], "limit": "at_most"}}"#),
    ];
    for file in files {
        let mut reference = file.reference().unwrap();
        reference.step(60);
        assert!(apart(&reference)[0] < 1e-6);
    }
}

#[test]
fn two_cloths_sewn_along_an_edge_close_their_gap() {
    let mut scene = Scene::new();
    let mut add = |z: f32| {
        let axes = ([1.0, 0.0, 0.0], [0.0, -1.0, 0.0]);
        let grid = ClothGrid {
            columns: 12,
            rows: 12,
            origin: [0.0, 0.0, z],
            column_axis: axes.0,
            row_axis: axes.1,
            ..ClothGrid::default()
        };
        scene.add_cloth_grid(&grid).unwrap().particles.start
    };
    let (front, back) = (add(0.0), add(0.3));
    scene.pin(front).unwrap();
    scene.pin(front + 11).unwrap();
    let seam: Vec<[u32; 2]> =
        (0..12).flat_map(|row| [12 * row, 12 * row + 11]).map(|place| [front + place, back + place]).collect();
    // A rigid seam would close within a substep, at 180 m/s; the free particles here reach 80 m/s at most.
    let thread = Material::compliant(1e-3);
    for &particles in &seam {
        scene.add(Distance { particles, rest_length: 0.0 }, thread).unwrap();
    }
    let mut reference = Reference::new(&scene, Settings { damping: 2.0, ..Settings::default() }).unwrap();
    let mut fastest = 0.0f64;
    for _ in 0..240 {
        reference.step(1);
        fastest = fastest.max(top_speed(&reference));
    }
    let positions = reference.read_positions().unwrap();
    let gap =
        seam.iter().map(|pair| distance(positions[pair[0] as usize], positions[pair[1] as usize])).fold(0.0, f64::max);
    assert!(gap < 2e-3 && fastest < 80.0, "{gap:e} m, {fastest} m/s");
    assert_eq!(scene.strain(0..0, &positions).unwrap().mean, 0.0);
}

/// Rest lengths that fall from the gap to 0 over a second sew two panels at the speed of the thread, with a seam of rigid,
/// damped constraints. The gaps at the end are below a hundredth of an edge.
#[test]
fn panels_sewn_over_time_close_without_a_jerk() {
    let mut scene = Scene::new();
    let mut add = |x: f32, z: f32| {
        let grid = ClothGrid { columns: 8, rows: 8, origin: [x, 0.0, z], tethers: None, ..ClothGrid::default() };
        scene.add_cloth_grid(&grid).unwrap().particles.start
    };
    let [left, right] = [add(0.0, 0.0), add(1.1, 0.2)];
    scene.pin(left).unwrap();
    scene.pin(left + 7).unwrap();
    let places = scene.positions().to_vec();
    let gap = |particles: [u32; 2], x: &[[f32; 3]]| distance(x[particles[0] as usize], x[particles[1] as usize]);
    let seam: Vec<[u32; 2]> = (0..8).map(|row| [left + 8 * row + 7, right + 8 * row]).collect();
    let thread =
        |particles: [u32; 2], share: f32| Distance { particles, rest_length: share * gap(particles, &places) as f32 };
    // Without it each new rest length acts within one substep.
    let material = Material { damping_time: 0.05, ..Material::RIGID };
    let first = seam.iter().map(|&pair| scene.add(thread(pair, 1.0), material).unwrap()).min().unwrap();
    let settings = Settings { gravity: [0.0; 3], damping: 2.0, ..Settings::default() };
    let gpu = common::gpu();
    let mut solver = common::solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    let mut fastest = 0.0f64;
    for frame in 1..=120 {
        let shorter: Vec<Distance> =
            seam.iter().map(|&pair| thread(pair, (1.0 - frame as f32 / 60.0).max(0.0))).collect();
        reference.set_constraints(first, &shorter).unwrap();
        reference.step(1);
        if frame <= 20 {
            solver.set_constraints(first, &shorter).unwrap();
            solver.step(1);
            let apart =
                common::first_unequal(&solver.read_positions().unwrap(), &reference.read_positions().unwrap(), 1e-4);
            assert_eq!(apart, None, "frame {frame}");
        }
        fastest = fastest.max(top_speed(&reference));
    }
    let end = reference.read_positions().unwrap();
    let widest = seam.iter().map(|&pair| gap(pair, &end)).fold(0.0, f64::max);
    println!("gap {widest:e} m, at most {fastest} m/s");
    assert!(widest < 1.0 / 7.0 / 100.0 && fastest < 2.0, "{widest:e} m, {fastest} m/s");
}

/// A rope of `count` particles, 20 mm apart.
fn rope(scene: &mut Scene, start: [f32; 3], direction: [f32; 3], count: u32) -> std::ops::Range<u32> {
    let at = |k: u32| [0, 1, 2].map(|axis| start[axis] + 0.02 * k as f32 * direction[axis]);
    let points: Vec<[f32; 3]> = (0..count).map(at).collect();
    scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.05, 1e4), tethers: None }).unwrap().particles
}

/// A load hangs from the middle of a rope by another rope, whose end is welded to it.
#[test]
fn a_loaded_weld_of_two_ropes_comes_to_rest_and_has_the_force_of_the_weight() {
    let gpu = common::gpu();
    for (load, execution) in [(0.2, Execution::Auto), (0.01, Execution::Auto), (0.2, Execution::Clusters)] {
        let mut scene = Scene::new();
        let across = rope(&mut scene, [-0.2, 0.0, 0.0], [1.0, 0.0, 0.0], 21);
        let down = rope(&mut scene, [0.0; 3], [0.0, -1.0, 0.0], 10);
        scene.pin(across.start).unwrap();
        scene.pin(across.end - 1).unwrap();
        scene.set_mass(down.end - 1, load).unwrap();
        let particles = [across.start + 10, down.start];
        let weld = scene.add(Distance { particles, rest_length: 0.0 }, Material::RIGID).unwrap();
        let mass: f32 = down.map(|i| 1.0 / scene.inverse_masses()[i as usize]).sum();
        let settings = Settings { damping: 2.0, mean_forces: true, execution, ..Settings::default() };
        let mut pair = common::Pair::new(&gpu, &scene, settings);
        pair.run(30, 1e-4, "a load on a weld");
        pair.reference.step(270);
        pair.solver.step(270);
        let [gap, fastest] = [
            distance(
                pair.reference.read_positions().unwrap()[particles[0] as usize],
                pair.reference.read_positions().unwrap()[particles[1] as usize],
            ),
            top_speed(&pair.reference),
        ];
        let forces = [
            pair.reference.read_mean_forces::<Distance>().unwrap()[weld as usize],
            pair.solver.read_mean_forces::<Distance>().unwrap()[weld as usize],
        ];
        let weight = mass * 9.81;
        println!("{load} kg: gap {gap:e} m, {fastest} m/s, forces {forces:?}, weight {weight} N");
        assert!(gap < 1e-6 && fastest < 0.01, "{load} kg: gap {gap:e} m, {fastest} m/s");
        assert!(forces.iter().all(|force| (force / -weight - 1.0).abs() < 0.01), "{forces:?}, weight {weight} N");
    }
}

/// Particles of several welds are crowded in all directions.
#[test]
fn ropes_welded_to_one_particle_gain_no_energy() {
    let gpu = common::gpu();
    for (count, mass) in [(3, 1e-3), (6, 1e-4), (12, 1e-3), (12, 1e-4)] {
        let mut scene = Scene::new();
        let hub = scene.add_particle(Particle { inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
        let starts: Vec<u32> = (0..count)
            .map(|k| {
                let angle = 0.1 + std::f32::consts::TAU * k as f32 / count as f32;
                let up = 0.3 * common::noise(k);
                let length = (1.0 + up * up).sqrt();
                let direction = [angle.cos(), up, angle.sin()].map(|component| component / length);
                let own = rope(&mut scene, [0.0; 3], direction, 10);
                for i in own.clone() {
                    scene.set_velocity(i, [0, 1, 2].map(|axis| common::noise(7 * i + axis))).unwrap();
                }
                own.start
            })
            .collect();
        for &start in &starts {
            scene.add(Distance { particles: [hub, start], rest_length: 0.0 }, Material::RIGID).unwrap();
        }
        let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
        let energy = |velocities: &[[f32; 3]]| -> f64 {
            let own = velocities.iter().zip(scene.inverse_masses());
            own.map(|(v, w)| 0.5 * distance(*v, [0.0; 3]).powi(2) / f64::from(*w)).sum()
        };
        let mut pair = common::Pair::new(&gpu, &scene, settings);
        let start = energy(&pair.reference.read_velocities().unwrap());
        pair.run(20, 1e-4, "ropes at a particle");
        pair.reference.step(280);
        let end = energy(&pair.reference.read_velocities().unwrap());
        let positions = pair.reference.read_positions().unwrap();
        let gaps = starts.iter().map(|&i| distance(positions[i as usize], positions[hub as usize]));
        let widest = gaps.fold(0.0, f64::max);
        println!("{count} ropes, {mass} kg: {start} J, {end} J, gap {widest:e} m");
        assert!(end < 0.5 * start && widest < 1e-4, "{count} ropes, {mass} kg: {start} J, {end} J, gap {widest:e} m");
    }
}

/// Two panels of 6 × 6 particles side by side, `gap` [m] apart, and the constraints of the seam between them.
fn panels(gap: f32, rest_length: f32) -> (Scene, Vec<Distance>) {
    let mut scene = Scene::new();
    let mut panel = |x: f32| {
        let axes = ([0.5, 0.0, 0.0], [0.0, -0.5, 0.0]);
        let (columns, rows) = (6, 6);
        let grid = ClothGrid { columns, rows, origin: [x, 0.0, 0.0], ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&ClothGrid { column_axis: axes.0, row_axis: axes.1, ..grid }).unwrap();
        cloth.particles.start
    };
    let [left, right] = [panel(-0.5), panel(gap)];
    let seam: Vec<Distance> =
        (0..6).map(|row| Distance { particles: [left + 6 * row + 5, right + 6 * row], rest_length }).collect();
    let material = Material { damping_time: 0.05, ..Material::RIGID };
    for &own in &seam {
        scene.add(own, material).unwrap();
    }
    (scene, seam)
}

/// Without gravity, which would pull at the damped constraints.
fn weightless(own: SelfCollision) -> Settings {
    Settings { gravity: [0.0; 3], substeps: 10, self_collision: Some(own), ..Settings::default() }
}

fn widest(own: &dyn Simulation, seam: &[Distance]) -> f64 {
    let x = own.read_positions().unwrap();
    seam.iter().map(|Distance { particles: [a, b], .. }| distance(x[*a as usize], x[*b as usize])).fold(0.0, f64::max)
}

/// The elements at a seam would keep a distance of 5 mm.
#[test]
fn self_collision_leaves_seams_closed() {
    let gpu = common::gpu();
    let (scene, seam) = panels(0.0, 0.0);
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let settings = weightless(own);
        let [mut reference, mut solver] = backends(&gpu, &scene, settings);
        for own in [&mut reference, &mut solver] {
            own.step(40);
            let (gap, report) = (widest(&**own, &seam), own.read_contacts().unwrap());
            assert!(gap < 1e-4, "{}: {gap} m, {report:?}", own.name());
            assert_eq!(report.crossings.unwrap_or(0), 0, "{report:?}");
        }
    }
}

/// The first rest length of 0 makes the seam: its panels then close beyond their thickness. A snapshot holds it, also in a solver without seams.
#[test]
fn panels_that_are_sewn_while_running_close_in_spite_of_self_collision() {
    let gpu = common::gpu();
    let (scene, seam) = panels(0.03, 0.03);
    let settings = weightless(SelfCollision::surfaces());
    let first = scene.constraint_count_of(Distance::INFO) as u32 - 6;
    let mut solver = common::solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    for frame in 1..=80 {
        let share = (1.0 - frame as f32 / 40.0).max(0.0);
        let shorter: Vec<_> = seam.iter().map(|own| Distance { rest_length: share * 0.03, ..*own }).collect();
        solver.set_constraints(first, &shorter).unwrap();
        reference.set_constraints(first, &shorter).unwrap();
        solver.step(1);
        reference.step(1);
    }
    let mut other = common::solver(&gpu, &scene, settings);
    other.restore(&solver.snapshot().unwrap()).unwrap();
    solver.step(10);
    other.step(10);
    assert_eq!(solver.read_positions().unwrap(), other.read_positions().unwrap());
    for own in [&solver as &dyn Simulation, &reference] {
        let (gap, report) = (widest(own, &seam), own.read_contacts().unwrap());
        assert!(gap < 1e-4, "{}: {gap} m, {report:?}", own.name());
        assert_eq!(report.crossings, Some(0));
    }
    // Open again, it is held apart again.
    let open: Vec<_> = seam.iter().map(|own| Distance { rest_length: 0.002, ..*own }).collect();
    solver.set_constraints(first, &open).unwrap();
    solver.step(60);
    assert!(solver.read_contacts().unwrap().contacts > 0);
}
