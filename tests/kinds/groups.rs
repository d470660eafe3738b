//! Shape matching groups: half turns, recovery from non-finite particles, large groups beside small ones, and the
//! effects of `reset` and `set_positions` on both backends.

use crate::common;
use crate::common::{Pair, backends, crumple, first_unequal, hanging_cloth, is_exact};
use glam::{Quat, Vec3};
use supple::{Balloon, Fabric, Material, Particle, Reference, Scene, Settings, ShapeMatching, Sweep};

/// A rigid cube of 3 × 3 × 3 particles 1 m apart, rotated against its rest pose. At 1 kg each all sums are exact.
fn turned_cube(turn: Quat, mass: f32) -> Scene {
    let mut scene = Scene::new();
    let rest: Vec<[f32; 3]> = (0..27u8).map(|k| [k % 3, k / 3 % 3, k / 9].map(|c| f32::from(c) - 1.0)).collect();
    for &place in &rest {
        let position = (turn * Vec3::from(place)).into();
        scene.add_particle(Particle { position, inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
    }
    let particles: Vec<u32> = (0..27).collect();
    let shape = ShapeMatching { particles: &particles, rest_positions: &rest, masses: &[mass; 27] };
    scene.add(shape, Material::RIGID).unwrap();
    scene
}

#[test]
fn a_group_rotated_by_half_a_turn_stays_at_rest() {
    let gpu = common::gpu();
    for axis in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(1.0, 1.0, 0.0).normalize(), Vec3::ONE.normalize()] {
        // The exact quaternion; half a turn by its angle is not exact in f32.
        let scene = turned_cube(Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0), 1.0);
        for mut backend in backends(&gpu, &scene, Settings { gravity: [0.0; 3], ..Settings::default() }) {
            backend.step(1);
            for (now, before) in backend.read_positions().unwrap().iter().zip(scene.positions()) {
                let moved = common::distance(*now, *before);
                assert!(moved < 1e-5, "{} about {axis}: {moved} m", backend.name());
            }
        }
    }
}

/// One particle leaves the range of f32. After all particles are reset, the group works again.
#[test]
fn a_group_recovers_from_an_outlying_particle() {
    let gpu = common::gpu();
    let scene = turned_cube(Quat::IDENTITY, 1e-3);
    let settings = Settings { forces: true, ..Settings::default() };
    let mut solver = common::solver(&gpu, &scene, settings);
    let mut reference = Reference::new(&scene, settings).unwrap();
    solver.set_forces(0, &[[3e38, 0.0, 0.0]]).unwrap();
    reference.set_forces(0, &[[3e38, 0.0, 0.0]]).unwrap();
    solver.step(1);
    reference.step(1);
    assert!(reference.read_diagnostics().unwrap().non_finite_count > 0, "the force was to throw it");
    let (zeros, places) = (vec![[0.0; 3]; 27], scene.positions().to_vec());
    solver.set_forces(0, &zeros).unwrap();
    reference.set_forces(0, &zeros).unwrap();
    solver.set_positions(0, &places).unwrap();
    reference.set_positions(0, &places).unwrap();
    solver.set_velocities(0, &zeros).unwrap();
    reference.set_velocities(0, &zeros).unwrap();
    solver.step(60);
    reference.step(60);
    for positions in [solver.read_positions().unwrap(), reference.read_positions().unwrap()] {
        let fall = scene.positions()[13][1] - positions[13][1];
        assert!((fall / 4.911 - 1.0).abs() < 2e-2, "{fall} m");
    }
    assert!(reference.read_rotations().unwrap()[0].iter().all(|component| component.is_finite()));
}

/// Many small groups and a large one in one scene give the same bits on both backends.
#[test]
fn large_groups_beside_small_ones_agree() {
    let gpu = common::gpu();
    for sizes in [vec![5; 40].into_iter().chain([300]).collect::<Vec<usize>>(), vec![5, 7, 900], vec![5000, 3]] {
        let mut scene = Scene::new();
        for size in &sizes {
            let first = scene.particle_count() as u32;
            for k in 0..*size {
                let position = [(k % 11) as f32 * 0.1, (k / 11 % 11) as f32 * 0.1, (k / 121) as f32 * 0.1];
                scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
            }
            let particles: Vec<u32> = (first..first + *size as u32).collect();
            let rest_positions: Vec<_> = particles.iter().map(|&k| scene.positions()[k as usize]).collect();
            let masses = vec![1.0; *size];
            let shape = ShapeMatching { particles: &particles, rest_positions: &rest_positions, masses: &masses };
            scene.add(shape, Material::compliant(1e-5)).unwrap();
        }
        let all = 0..scene.particle_count() as u32;
        crumple(&mut scene, all, 0.02);
        let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
        pair.solver.step(3);
        pair.reference.step(3);
        let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-4 };
        let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
        assert_eq!(first_unequal(&on_gpu, &on_reference, tolerance), None, "{sizes:?}");
    }
}

#[test]
fn positions_set_while_running_agree_on_both_backends() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(4, 4);
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    for frame in 0..5u8 {
        let place = [[0.1 * f32::from(frame), -0.3, 0.2]];
        pair.solver.set_positions(9, &place).unwrap();
        pair.reference.set_positions(9, &place).unwrap();
        pair.solver.step(1);
        pair.reference.step(1);
    }
    let tolerance = if is_exact(&gpu) { 0.0 } else { 1e-3 };
    let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
    assert_eq!(first_unequal(&on_gpu, &on_reference, tolerance), None);
}

#[test]
fn a_reset_clears_the_forces() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(5, 5);
    let settings = Settings { forces: true, keep_lambdas: true, ..Settings::default() };
    let mut fresh = common::solver(&gpu, &scene, settings);
    let mut used = common::solver(&gpu, &scene, settings);
    used.set_forces(0, &[[1.0, 2.0, 3.0]; 25]).unwrap();
    used.step(3);
    used.reset();
    for solver in [&mut fresh, &mut used] {
        solver.step(4);
    }
    assert_eq!(fresh.read_positions().unwrap(), used.read_positions().unwrap());
    // Switching forces off and on again has no effect.
    used.set_forces(0, &[[1.0, 2.0, 3.0]; 25]).unwrap();
    for forces in [false, true] {
        used.set_settings(Settings { forces, ..settings }).unwrap();
    }
    for solver in [&mut fresh, &mut used] {
        solver.step(2);
    }
    assert_eq!(fresh.read_positions().unwrap(), used.read_positions().unwrap());
}

/// Skin and gas pull against each other at rest. A Gauss-Seidel sweep restores the angular momentum of the skin.
#[test]
fn a_taut_balloon_keeps_still_in_either_sweep() {
    let (positions, triangles) = common::shapes::icosphere(2, 0.5);
    let mut scene = Scene::new();
    let (fabric, gas) = (Fabric::default(), Material::compliant(1e-5));
    scene.add_balloon(&Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.5, gas }).unwrap();
    let spin = |sweep: Sweep| {
        let mut reference =
            Reference::new(&scene, Settings { sweep, gravity: [0.0; 3], ..Settings::default() }).unwrap();
        reference.step(20);
        let rows = reference
            .read_positions()
            .unwrap()
            .into_iter()
            .zip(reference.read_velocities().unwrap())
            .zip(scene.inverse_masses());
        rows.map(|((x, v), w)| Vec3::from(x).cross(Vec3::from(v)) / *w).sum::<Vec3>().length()
    };
    for sweep in [Sweep::Jacobi, Sweep::GaussSeidel] {
        let angular = spin(sweep);
        assert!(angular < 1e-5, "{sweep:?}: {angular} kg m²/s");
    }
}

/// The records of groups within the skin of a balloon come last in Gauss-Seidel sweeps, and first in Jacobi sweeps here.
#[test]
fn groups_keep_their_rotations_when_the_sweep_changes() {
    let gpu = common::gpu();
    let (positions, triangles) = common::shapes::icosphere(1, 0.5);
    let mut scene = Scene::new();
    let (fabric, gas) = (Fabric::default(), Material::compliant(1e-5));
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.0, gas };
    let skin: Vec<u32> = scene.add_balloon(&balloon).unwrap().cloth.particles.collect();
    let masses = vec![0.1; skin.len()];
    let shape = ShapeMatching { particles: &skin, rest_positions: &positions, masses: &masses };
    scene.add(shape, Material::RIGID).unwrap();
    let rest: Vec<[f32; 3]> = (0..8u8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|c| f32::from(c) - 0.5)).collect();
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 2.0);
    let cube: Vec<u32> = rest
        .iter()
        .map(|&place| {
            let position = (turn * Vec3::from(place) + 5.0 * Vec3::X).into();
            scene.add_particle(Particle { position, ..Particle::default() }).unwrap()
        })
        .collect();
    scene.add(ShapeMatching { particles: &cube, rest_positions: &rest, masses: &[1.0; 8] }, Material::RIGID).unwrap();
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    pair.run(1, 1e-4, "start");
    let rotations = |pair: &Pair| [pair.solver.read_rotations().unwrap(), pair.reference.read_rotations().unwrap()];
    let before = rotations(&pair);
    assert!(Quat::from_array(before[0][1]).angle_between(turn) < 1e-3, "{before:?}");
    for sweep in [Sweep::Jacobi, Sweep::GaussSeidel] {
        common::change!(pair, set_settings(Settings { sweep, ..settings }));
        assert_eq!(rotations(&pair), before, "{sweep:?}");
    }
}
