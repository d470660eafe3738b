//! Constraint forces averaged over the substeps of a step.

use crate::common;
use crate::common::{Pair, backends, change, gpu, is_exact, raw};
use supple::constraints::{KINDS, Kind, kind_index};
use supple::{
    Bending, ClothGrid, ContactMaterial, Distance, Error, Execution, Fabric, Material, Particle, Reference, Scene,
    SelfCollision, Settings, ShapeMatching, Sweep, Tethers,
};

/// Acceleration by gravity [m/s²].
const G: f64 = 9.81;

fn averaged() -> Settings {
    Settings { mean_forces: true, ..Settings::default() }
}

/// A pin and a free particle with a distance constraint in an oblique direction.
fn link(length: f32, mass: f32, material: Material) -> Scene {
    let mut scene = Scene::new();
    let (end, inverse_mass) = ([0.36, -0.48, 0.8].map(|x| x * length), 1.0 / mass);
    for position in [[0.0; 3], end] {
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
    }
    scene.pin(0).unwrap();
    scene.add(Distance { particles: [0, 1], rest_length: length }, material).unwrap();
    scene
}

/// Settings with gravity along that direction.
fn hanging(substeps: u32) -> Settings {
    let gravity = [0.36, -0.48, 0.8].map(|x| 9.81 * x);
    Settings { gravity, substeps, damping: 20.0, ..averaged() }
}

/// A bound on the rounding error of the force of a rigid constraint in a substep \[N\]: 8 · 2⁻²⁴ L/(w h²).
fn rounding(length: f32, mass: f32, settings: &Settings) -> f64 {
    let h = f64::from(settings.dt) / f64::from(settings.substeps);
    8.0 * 2f64.powi(-24) * f64::from(length) * f64::from(mass) / (h * h)
}

/// The mean force of the first distance constraint on each backend.
fn forces(pair: &Pair<'_>) -> [f64; 2] {
    let on_gpu = pair.solver.read_mean_forces::<Distance>().unwrap()[0];
    [on_gpu, pair.reference.read_mean_forces::<Distance>().unwrap()[0]].map(f64::from)
}

/// 3 kg weigh 29.4 N. At 1 m the rounding bound is 51 N for a substep of 1/6000 s and 0.51 N for the mean of a step.
#[test]
fn the_weight_on_a_rigid_link_at_6000_substeps_a_second_reads_its_tension() {
    let gpu = gpu();
    for (length, mass) in [(1.0, 3.0), (1.0, 1.0), (0.7, 0.2)] {
        let settings = hanging(100);
        let mut pair = Pair::new(&gpu, &link(length, mass, Material::RIGID), settings);
        pair.solver.step(30);
        pair.reference.step(30);
        let (weight, most) = (G * f64::from(mass), rounding(length, mass, &settings) / 100.0);
        for _ in 0..10 {
            pair.solver.step(1);
            pair.reference.step(1);
            for force in forces(&pair) {
                assert!((-force - weight).abs() < most, "{force} N of −{weight} N ± {most} N");
            }
        }
    }
}

/// The forces of a step sum to the change of momentum, so rounding errors cancel except those of the first and last
/// substep.
#[test]
fn the_error_of_the_mean_force_of_a_rigid_link_is_that_of_one_substep_divided_by_their_number() {
    for (length, mass, substeps) in [
        (1.0, 1.0, 10),
        (1.0, 1.0, 20),
        (1.0, 1.0, 50),
        (1.0, 1.0, 100),
        (0.7, 1.0, 100),
        (3.0, 0.1, 200),
        (0.1, 5.0, 300),
    ] {
        let settings = hanging(substeps);
        let mut reference = Reference::new(&link(length, mass, Material::RIGID), settings).unwrap();
        reference.step(30);
        let (mut most, mut worst) = (0f64, 0f64);
        for _ in 0..200 {
            reference.step(1);
            let error = |force: f32| (f64::from(force) + G * f64::from(mass)).abs();
            most = most.max(error(reference.read_mean_forces::<Distance>().unwrap()[0]));
            worst = worst.max(error(reference.read_constraint_forces::<Distance>().unwrap()[0]));
        }
        let unit = rounding(length, mass, &settings);
        let [mean, last] = [most * f64::from(substeps) / unit, worst / unit];
        println!("{length} m, {mass} kg, {substeps} substeps: mean {mean:.3}/n, last substep {last:.3}");
        assert!(mean < 1.0, "{length} m, {mass} kg, {substeps} substeps: {mean}");
    }
}

/// The mean force F over a step of length t satisfies m Δv = (F + m g) t.
#[test]
fn the_mean_force_on_an_oscillating_mass_is_its_change_of_momentum_over_the_step() {
    let gpu = gpu();
    let (mass, settings) = (2.0, Settings { damping: 0.0, ..hanging(13) });
    let mut pair = Pair::new(&gpu, &link(1.0, mass, Material::compliant(1e-3)), settings);
    let along = |velocities: Vec<[f32; 3]>| {
        velocities[1].into_iter().zip([0.36, -0.48, 0.8]).map(|(v, n)| f64::from(v) * n).sum::<f64>()
    };
    let (mut before, mut least, mut greatest) = ([0.0; 2], f64::MAX, f64::MIN);
    for _ in 0..30 {
        pair.solver.step(1);
        pair.reference.step(1);
        let after = [along(pair.solver.read_velocities().unwrap()), along(pair.reference.read_velocities().unwrap())];
        for ((force, after), before) in forces(&pair).into_iter().zip(after).zip(before) {
            let expected = f64::from(mass) * ((after - before) / f64::from(settings.dt) - G);
            assert!((force - expected).abs() < 2e-3 * f64::from(mass) * G, "{force} N of {expected} N");
            (least, greatest) = (least.min(force), greatest.max(force));
        }
        before = after;
    }
    // From 0 to twice the weight.
    assert!(least < -1.8 * f64::from(mass) * G && greatest > -0.2 * f64::from(mass) * G, "{least} to {greatest} N");
}

/// Two crumpled sheets with tethers, each with a pin.
fn cloths(bending: Bending) -> Scene {
    let mut scene = Scene::new();
    for [columns, rows] in [[20, 14], [5, 4]] {
        let fabric = Fabric { bending, flexural_rigidity: 1e-2, stretch_limit: 1.05, ..Fabric::default() };
        let origin = [2.0 * columns as f32, 0.0, 0.0];
        let grid =
            ClothGrid { columns, rows, fabric, origin, tethers: Some(Tethers::default()), ..ClothGrid::default() };
        let particles = scene.add_cloth_grid(&grid).unwrap().particles;
        common::crumple(&mut scene, particles.clone(), 0.02);
        scene.pin(particles.start).unwrap();
    }
    scene
}

fn assert_same(pair: &Pair<'_>, what: &str) {
    for (kind, info) in KINDS.iter().enumerate() {
        let on_gpu = pair.solver.read_mean_forces_of(kind).unwrap();
        let on_reference = pair.reference.read_mean_forces_of(kind).unwrap();
        assert_eq!(on_gpu.len(), on_reference.len(), "{what}: {}", info.name);
        if is_exact(pair.gpu) {
            assert_eq!(on_gpu, on_reference, "{what}: {}", info.name);
        }
    }
}

#[test]
fn mean_forces_agree_on_both_backends_in_every_execution() {
    let gpu = gpu();
    for bending in [Bending::Springs, Bending::Isometric] {
        let executions = [Execution::Colors, Execution::Tiles, Execution::Clusters];
        let others = [Settings { sweep: Sweep::Jacobi, ..averaged() }, Settings { iterations: 3, ..averaged() }];
        for settings in executions.map(|execution| Settings { execution, ..averaged() }).into_iter().chain(others) {
            let mut pair = Pair::new(&gpu, &cloths(bending), Settings { substeps: 5, ..settings });
            pair.run(3, 2e-5, "mean forces");
            assert_same(&pair, &format!("{bending:?}, {settings:?}"));
            let found = pair.solver.read_mean_forces::<Distance>().unwrap();
            let idle = found.iter().filter(|force| **force == 0.0).count();
            assert!(10 * idle < found.len(), "{idle} of {}", found.len());
        }
    }
}

#[test]
fn mean_forces_of_every_kind_agree_on_both_backends() {
    let gpu = gpu();
    let material = Material { compliance: 1e-4, damping: 10.0, damping_time: 1e-3, stiffness: 0.5 };
    for (place, info, sample) in raw::cases() {
        let scene = raw::scene_of(place, &sample, &sample.positions, material);
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..averaged() });
        pair.run(1, 1e-4, info.name);
        let (on_gpu, on_reference) =
            (pair.solver.read_mean_forces_of(place).unwrap(), pair.reference.read_mean_forces_of(place).unwrap());
        assert!(on_gpu.len() == 1 && on_gpu[0] != 0.0, "{}: {on_gpu:?}", info.name);
        assert!((on_gpu[0] / on_reference[0] - 1.0).abs() < 1e-3, "{}: {on_gpu:?}, {on_reference:?}", info.name);
    }
}

/// With one substep the mean force is the force of that substep.
#[test]
fn the_mean_force_over_one_substep_is_the_force_of_the_last() {
    for bending in [Bending::Springs, Bending::Isometric] {
        let settings = Settings { substeps: 1, iterations: 4, ..averaged() };
        let mut reference = Reference::new(&cloths(bending), settings).unwrap();
        reference.step(3);
        for kind in 0..KINDS.len() {
            assert_eq!(
                reference.read_mean_forces_of(kind).unwrap(),
                reference.read_constraint_forces_of(kind).unwrap()
            );
        }
    }
}

/// Groups are projected again with the contacts of a substep. Two cubes meet at 1 m/s.
#[test]
fn mean_forces_of_groups_include_their_projections_with_contacts() {
    let mut scene = Scene::new();
    let own = ContactMaterial { thickness: 0.1, ..ContactMaterial::default() };
    let own = scene.add_contact_material(own).unwrap();
    for (height, velocity) in [(0.0, [0.0; 3]), (0.305, [0.0, -1.0, 0.0])] {
        let place = |k: u32| [k % 3, k / 3 % 3, k / 9].map(|steps| 0.1 * steps as f32);
        let rest: Vec<[f32; 3]> = (0..27).map(place).collect();
        let add = |&[x, y, z]: &[f32; 3]| {
            scene.add_particle(Particle { position: [x, y + height, z], velocity, ..Particle::default() }).unwrap()
        };
        let particles: Vec<u32> = rest.iter().map(add).collect();
        let shape = ShapeMatching { particles: &particles, rest_positions: &rest, masses: &[1.0; 27] };
        scene.add(shape, Material::RIGID).unwrap();
    }
    scene.set_particle_contact(0..54, own).unwrap();
    let self_collision = Some(SelfCollision::default());
    let settings = Settings { substeps: 1, gravity: [0.0; 3], self_collision, ..averaged() };
    for mut own in backends(&gpu(), &scene, settings) {
        let mut touched = false;
        for _ in 0..10 {
            own.step(1);
            touched |= own.read_contacts().unwrap().contacts > 0;
            let kind = kind_index(ShapeMatching::INFO);
            let [mean, last] = [own.read_mean_forces_of(kind).unwrap(), own.read_constraint_forces_of(kind).unwrap()];
            assert_eq!(mean, last, "{}", own.name());
        }
        assert!(touched);
    }
}

#[test]
fn disabled_mean_forces_are_an_error_and_take_no_memory_and_no_pass() {
    let gpu = gpu();
    let scene = cloths(Bending::Springs);
    let not_enabled = |needed| Error::NotEnabled { what: "read_mean_forces", needed };
    let refused = Err(not_enabled("Settings::mean_forces = true"));
    let kept = Settings { keep_lambdas: true, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, kept);
    pair.run(2, 2e-5, "off");
    let (bytes, plan) = (pair.solver.memory_bytes(), pair.solver.plan().clone());
    assert_eq!(pair.solver.read_mean_forces::<Distance>(), refused);
    assert_eq!(pair.reference.read_mean_forces::<Distance>(), refused);

    let asked = Settings { mean_forces: true, ..kept };
    change!(pair, set_settings(Settings { execution: pair.reference.settings().execution, ..asked }));
    let more = pair.solver.memory_bytes() - bytes;
    assert!(more > 0, "{more} bytes");
    assert!(pair.solver.read_mean_forces::<Distance>().unwrap().iter().all(|force| *force == 0.0));
    assert_same(&pair, "turned on");
    pair.run(2, 2e-5, "on");
    assert!(pair.solver.read_mean_forces::<Distance>().unwrap().iter().any(|force| *force != 0.0));
    assert_same(&pair, "on");

    change!(pair, set_settings(Settings { execution: pair.reference.settings().execution, ..kept }));
    assert_eq!((pair.solver.memory_bytes(), pair.solver.plan()), (bytes, &plan));
    assert_eq!(pair.solver.read_mean_forces::<Distance>(), refused);
    let past = KINDS.len();
    for error in [pair.solver.read_mean_forces_of(past), pair.reference.read_mean_forces_of(past)] {
        assert!(matches!(error, Err(Error::IndexOutOfRange { target: "kind", .. })), "{error:?}");
    }
}
