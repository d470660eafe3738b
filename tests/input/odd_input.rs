//! Extreme but valid input runs and stays finite.

use crate::common;
use crate::common::cases::*;
use crate::common::{gpu, solver};
use supple::{Distance, Material, Particle, Reference, Scene, Settings};

fn all_finite(vectors: &[[f32; 3]]) -> bool {
    vectors.iter().flatten().all(|component| component.is_finite())
}

#[test]
fn a_non_finite_position_is_counted_and_not_stored() {
    let gpu = gpu();
    let scene = running_scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    // In the second step it leaves the range of f32, unless the distance constraint to particle 1 computed ∞ · 0
    // before.
    let settings = Settings { dt: 1.0, substeps: 1, ..Settings::default() };
    let mut set_off = |velocity: [f32; 3]| {
        solver.set_settings(settings)?;
        reference.set_settings(settings)?;
        solver.set_velocities(0, &[velocity])?;
        reference.set_velocities(0, &[velocity])
    };
    set_off([3e38, 3e38, 0.0]).unwrap();
    solver.step(2);
    reference.step(2);
    let found = solver.read_diagnostics().unwrap();
    assert!(found.non_finite_count > 0, "{found:?}");
    assert!(found.first_non_finite.is_some_and(|particle| particle <= 1), "{found:?}");
    let positions = solver.read_positions().unwrap();
    assert!(all_finite(&positions));
    assert!(reference.read_diagnostics().unwrap().non_finite_count > 0);
    assert!(all_finite(&reference.read_positions().unwrap()));
    // The cloth beside it is unchanged.
    let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-4 };
    assert_eq!(common::first_unequal(&positions[3..], &reference.read_positions().unwrap()[3..], tolerance), None);
    // A reset clears the state.
    solver.reset();
    solver.step(1);
    let found = solver.read_diagnostics().unwrap();
    assert_eq!((found.steps, found.non_finite_count, found.first_non_finite), (1, 0, None));
}

#[test]
fn both_backends_quarantine_the_same_particles() {
    // The square of the constraint's length overflows.
    let gpu = gpu();
    let scene = running_scene();
    let mut solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    solver.set_velocities(0, &[[3e38, 3e38, 0.0]]).unwrap();
    reference.set_velocities(0, &[[3e38, 3e38, 0.0]]).unwrap();
    solver.step(2);
    reference.step(2);
    assert_eq!(
        solver.read_diagnostics().unwrap().non_finite_count,
        reference.read_diagnostics().unwrap().non_finite_count
    );
    let positions = solver.read_positions().unwrap();
    assert_eq!(common::first_unequal(&positions, &reference.read_positions().unwrap(), 1e-4), None);
}

#[test]
fn a_free_particle_that_leaves_the_range_of_f32_stays_at_its_end() {
    let gpu = gpu();
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    scene.add_particle(Particle { position: [1.0, 2.0, 3.0], ..Particle::default() }).unwrap();
    let settings = Settings { dt: 1.0, substeps: 4, ..Settings::default() };
    let mut solver = solver(&gpu, &scene, settings);
    solver.set_velocities(1, &[[3e38, 0.0, 0.0]]).unwrap();
    solver.step(5);
    let found = solver.read_diagnostics().unwrap();
    assert!(found.non_finite_count > 0, "{found:?}");
    assert_eq!(found.first_non_finite, Some(1));
    let positions = solver.read_positions().unwrap();
    assert!(all_finite(&positions), "{positions:?}");
    assert!(positions[1][0] > 1e38, "{positions:?}");
    assert!(all_finite(&solver.read_velocities().unwrap()));
}

#[test]
fn a_target_out_of_reach_leaves_everything_finite() {
    // The velocity that reaches the target in one step overflows f32.
    let gpu = gpu();
    let mut solver = solver(&gpu, &running_scene(), Settings::default());
    solver.set_target(3, [f32::MAX; 3]).unwrap();
    solver.step(3);
    assert!(all_finite(&solver.read_positions().unwrap()));
}

/// Runs a scene on both backends. Both must agree and be finite, without quarantined particles. Returns the positions
/// of the GPU.
fn positions_after(scene: &Scene, settings: Settings, steps: u32) -> Vec<[f32; 3]> {
    let gpu = gpu();
    let mut on_gpu = solver(&gpu, scene, settings);
    let mut reference = Reference::new(scene, settings).unwrap();
    on_gpu.step(steps);
    reference.step(steps);
    let positions = on_gpu.read_positions().unwrap();
    assert!(all_finite(&positions));
    assert_eq!(on_gpu.read_diagnostics().unwrap().non_finite_count, 0);
    let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-4 };
    assert_eq!(common::first_unequal(&positions, &reference.read_positions().unwrap(), tolerance), None);
    positions
}

#[test]
fn a_rigid_spring_between_two_pins_does_nothing() {
    // The damping ratio is 0/0, and the constraint is stretched to twice its rest length.
    let mut scene = Scene::new();
    for x in [0.0, 1.0] {
        let index = scene.add_particle(Particle { position: [x, 1.0, 2.0], ..Particle::default() }).unwrap();
        scene.pin(index).unwrap();
    }
    scene.add(Distance { particles: [0, 1], rest_length: 0.5 }, Material::RIGID).unwrap();
    let positions = positions_after(&scene, Settings { iterations: 3, ..Settings::default() }, 5);
    assert_eq!(first_changed(&positions, scene.positions()), None);
}

#[test]
fn a_fully_pinned_scene_does_not_move() {
    let mut scene = running_scene();
    (0..scene.particle_count() as u32).for_each(|particle| scene.pin(particle).unwrap());
    let positions = positions_after(&scene, Settings::default(), 5);
    assert_eq!(first_changed(&positions, scene.positions()), None);
}

#[test]
fn a_spring_between_coincident_particles_rests() {
    // The constraint has no direction. Both particles fall together.
    let mut scene = Scene::new();
    for _ in 0..2 {
        scene.add_particle(Particle { position: [0.25, 1.0, -3.0], ..Particle::default() }).unwrap();
    }
    for material in [Material::RIGID, Material { compliance: 1e-3, damping: 1.0, ..Material::RIGID }] {
        scene.add(Distance { particles: [0, 1], rest_length: 0.5 }, material).unwrap();
    }
    let positions = positions_after(&scene, Settings::default(), 10);
    assert_eq!(positions[0], positions[1]);
    assert!(positions[0][1] < 0.9);
}

#[test]
fn extreme_materials_and_masses_stay_finite() {
    let mut scene = Scene::new();
    let masses = [1e-30, 1e12, 1.0, 1e-12, 1e12, f32::MIN_POSITIVE];
    for (k, inverse_mass) in masses.into_iter().enumerate() {
        let position = [k as f32, 0.1 * (k % 2) as f32, 0.0];
        scene.add_particle(Particle { position, inverse_mass, ..Particle::default() }).unwrap();
    }
    let limit = Material::LIMIT;
    let materials = [(0.0, 0.0), (limit, limit), (1e-45, limit), (limit, 0.0), (1e-30, 1e-30)];
    for (k, (compliance, damping)) in (0..).zip(materials) {
        let constraint = Distance { particles: [k, k + 1], rest_length: 1.0 };
        scene.add(constraint, Material { compliance, damping, ..Material::RIGID }).unwrap();
    }
    let gpu = gpu();
    let mut on_gpu = solver(&gpu, &scene, Settings::default());
    on_gpu.step(5);
    assert!(all_finite(&on_gpu.read_positions().unwrap()));
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    reference.step(5);
    assert!(all_finite(&reference.read_positions().unwrap()));
    let counts =
        [on_gpu.read_diagnostics().unwrap(), reference.read_diagnostics().unwrap()].map(|own| own.non_finite_count);
    assert_eq!(counts, [0; 2]);
}

#[test]
fn a_change_of_the_time_step_keeps_the_velocity() {
    // The state is a displacement per substep, so it must be rescaled if the substep changes.
    let gpu = gpu();
    let mut scene = Scene::new();
    let velocity = [1.0, -2.0, 0.5];
    scene.add_particle(Particle { velocity, ..Particle::default() }).unwrap();
    let settings = |dt: f32, substeps| Settings { dt, substeps, gravity: [0.0; 3], ..Settings::default() };
    let plays = [(1.0 / 60.0, 20), (1.0 / 30.0, 20), (1.0 / 60.0, 7), (0.1, 1), (1.0 / 240.0, 50)];
    let mut on_gpu = solver(&gpu, &scene, settings(plays[0].0, plays[0].1));
    let mut time = 0.0;
    for (dt, substeps) in plays {
        on_gpu.set_settings(settings(dt, substeps)).unwrap();
        on_gpu.step(3);
        time += 3.0 * dt;
        let position = on_gpu.read_positions().unwrap()[0];
        let expected = velocity.map(|component| component * time);
        assert_eq!(common::first_unequal(&[position], &[expected], 1e-5), None, "{position:?}, not {expected:?}");
    }
}

#[test]
fn changes_of_the_time_step_agree_with_the_reference() {
    let gpu = gpu();
    let (scene, _) = common::hanging_cloth(9, 8);
    let mut on_gpu = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    for (dt, substeps, iterations) in [(1.0 / 60.0, 20, 1), (1.0 / 30.0, 5, 2), (1.0 / 240.0, 1, 1), (0.1, 40, 3)] {
        let settings = Settings { dt, substeps, iterations, ..Settings::default() };
        on_gpu.set_settings(settings).unwrap();
        reference.set_settings(settings).unwrap();
        on_gpu.step(4);
        reference.step(4);
        let positions = on_gpu.read_positions().unwrap();
        assert!(all_finite(&positions));
        let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-3 };
        assert_eq!(
            common::first_unequal(&positions, &reference.read_positions().unwrap(), tolerance),
            None,
            "{settings:?}"
        );
    }
}
