//! Masses that are set in a scene and in a running simulation.

use crate::common;
use crate::common::{Pair, change, gpu, solver};
use supple::{ClothGrid, Distance, Material, Particle, Reference, Scene, Settings, ShapeMatching, Solver};

const TOLERANCE: f32 = 2e-4;

/// Two free particles with a stretched rigid distance constraint. Its corrections keep their centre of mass.
fn linked() -> Scene {
    let mut scene = Scene::new();
    for k in 0..2 {
        scene.add_particle(Particle { position: [2.0 * k as f32, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, Material::RIGID).unwrap();
    scene
}

/// The x coordinate of the centre of mass of two particles; the second has `ratio` times the mass of the first.
fn centre(positions: &[[f32; 3]], ratio: f32) -> f32 {
    (positions[0][0] + ratio * positions[1][0]) / (1.0 + ratio)
}

#[test]
fn masses_of_the_scene_set_the_centre_of_mass() {
    let gpu = gpu();
    let mut scene = linked();
    scene.set_mass(0, 0.5).unwrap();
    scene.set_mass(1, 1.5).unwrap();
    assert_eq!(scene.inverse_masses(), [2.0, 1.0 / 1.5]);
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    pair.run(1, TOLERANCE, "masses of the scene");
    assert!((centre(&pair.reference.read_positions().unwrap(), 3.0) - 1.5).abs() < 1e-5);
}

#[test]
fn masses_set_while_running_apply_from_the_next_step_and_survive_a_reset() {
    let gpu = gpu();
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    let mut pair = Pair::new(&gpu, &linked(), settings);
    change!(pair, set_masses(0, &[1.0, 4.0]));
    for what in ["set", "reset"] {
        pair.run(1, TOLERANCE, what);
        assert!((centre(&pair.reference.read_positions().unwrap(), 4.0) - 1.6).abs() < 1e-5, "{what}");
        pair.solver.reset();
        pair.reference.reset();
    }
    // A pinned particle stays pinned; its mass applies after its release by the reset.
    change!(pair, pin(&[0]));
    change!(pair, set_masses(0, &[4.0]));
    pair.run(1, TOLERANCE, "pinned");
    assert_eq!(pair.reference.read_positions().unwrap()[0], [0.0; 3]);
    pair.solver.reset();
    pair.reference.reset();
    pair.run(1, TOLERANCE, "released");
    assert!((centre(&pair.reference.read_positions().unwrap(), 1.0) - 1.0).abs() < 1e-5);
}

#[test]
fn a_cloth_with_a_heavy_corner_agrees() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let cloth = scene.add_cloth_grid(&ClothGrid { columns: 6, rows: 6, ..ClothGrid::default() }).unwrap();
    scene.pin(cloth.particles.start).unwrap();
    scene.set_mass(cloth.particles.end - 1, 0.05).unwrap();
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 5, ..Settings::default() });
    pair.run(3, TOLERANCE, "a heavy corner");
    change!(pair, set_masses(10, &[0.2, 1e-4, 3e-3]));
    pair.run(3, TOLERANCE, "others while running");
}

#[test]
fn invalid_masses_are_rejected() {
    let gpu = gpu();
    let mut scene = linked();
    scene.add_particle(Particle { inverse_mass: 0.0, ..Particle::default() }).unwrap();
    scene.add_follower([0, 1, 0, 1], [0.25; 4]).unwrap();
    for (particle, mass, words) in [
        (0, 0.0, "mass of particle 0 is 0,"),
        (1, -1.0, "mass of particle 1 is -1,"),
        (1, f32::NAN, "mass of particle 1 is NaN"),
        (1, f32::INFINITY, "mass of particle 1 is inf"),
        (1, 1e-13, "inverse mass of particle 1"),
        (9, 1.0, "set_mass names particle 9, but there are only 4"),
        (3, 1.0, "particle 3 is a follower"),
    ] {
        let error = scene.set_mass(particle, mass).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(scene.inverse_masses(), [1.0, 1.0, 0.0, 0.0]);
    let mut on_gpu: Solver = solver(&gpu, &scene, Settings::default());
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    for (first, masses, words) in [
        (0, [2.0, 0.0], "mass of particle 1 is 0,"),
        (0, [2.0, f32::NAN], "mass of particle 1 is NaN"),
        (1, [2.0, 1.0], "inverse mass of particle 2 in the scene is 0"),
        (2, [2.0, 1.0], "particle 3 is a follower"),
        (3, [2.0, 1.0], "set_masses names particle 4"),
        (u32::MAX, [2.0, 1.0], "set_masses names particle 4294967296"),
    ] {
        let errors = [on_gpu.set_masses(first, &masses), reference.set_masses(first, &masses)]
            .map(|outcome| outcome.unwrap_err().to_string());
        assert_eq!(errors[0], errors[1]);
        assert!(errors[0].contains(words), "{}", errors[0]);
    }
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    on_gpu.set_settings(settings).unwrap();
    on_gpu.step(1);
    assert!((centre(&on_gpu.read_positions().unwrap(), 1.0) - 1.0).abs() < 1e-5, "a mass has changed");
    // A particle with an inverse mass of 0 becomes free when it gets a mass.
    scene.set_mass(2, 2.0).unwrap();
    assert_eq!(scene.inverse_masses()[2], 0.5);
    assert_eq!(scene.pinned_particles().count(), 0, "the follower is no pin");
}

#[test]
fn a_group_keeps_its_masses() {
    let mut scene = Scene::new();
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for position in corners {
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    let group = ShapeMatching { particles: &[0, 1, 2, 3], rest_positions: &corners, masses: &[1.0; 4] };
    scene.add(group, Material::RIGID).unwrap();
    scene.set_mass(0, 10.0).unwrap();
    let mut reference = Reference::new(&scene, Settings::default()).unwrap();
    reference.step(5);
    let x = reference.read_positions().unwrap();
    let fall = x[0][1];
    assert!(x[1..].iter().zip(&corners[1..]).all(|(x, at)| (x[1] - at[1] - fall).abs() < 1e-4));
    // The sum over 100 substeps.
    let (h, n) = (reference.settings().substep(), 100.0);
    let down = 9.81 * h * h * n * (n + 1.0) / 2.0;
    for (x, at) in x.iter().zip(&corners) {
        let apart = common::distance(*x, [at[0], at[1] - down, at[2]]);
        assert!(apart < 1e-5, "{x:?}, from {at:?} by {down} m: {apart} m apart");
    }
}

/// More masses and pins than the solver writes one by one.
#[test]
fn masses_and_pins_of_a_thousand_particles_agree() {
    let gpu = gpu();
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 40, rows: 40, ..ClothGrid::default() }).unwrap();
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, ..Settings::default() });
    let masses: Vec<f32> = (0..1500).map(|k| 1e-3 * (1 + k % 7) as f32).collect();
    change!(pair, set_masses(50, &masses));
    pair.run(2, TOLERANCE, "masses");
    let even: Vec<u32> = (0..1600).filter(|k| k % 41 != 7).collect();
    change!(pair, pin(&even));
    pair.run(1, TOLERANCE, "pinned");
    change!(pair, release(&even[..1200]));
    pair.run(2, TOLERANCE, "released");
    let x = pair.solver.read_positions().unwrap();
    assert!(even[1200..].iter().all(|&k| pair.solver.is_pinned(k).unwrap()) && x[0][1] < -1e-4, "{:?}", x[0]);
}
