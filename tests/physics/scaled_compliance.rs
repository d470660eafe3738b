//! Compliances scaled by particle: the strain at rest of two springs that hang from each other.

use crate::common;
use crate::common::{backends, distance};
use supple::{Distance, Material, Particle, Scene, Settings};

/// The springs have the length L + α s F, where s is the mean scale of the two ends and F the weight below.
#[test]
fn springs_hang_by_the_mean_scale_of_their_particles() {
    let gpu = common::gpu();
    let (compliance, scales) = (1e-3f32, [1.0f32, 2.0, 6.0]);
    let mut scene = Scene::new();
    for k in 0..3 {
        let position = [0.0, -(k as f32), 0.0];
        scene.add_particle(Particle { position, inverse_mass: 0.5, ..Particle::default() }).unwrap();
    }
    for particles in [[0, 1], [1, 2]] {
        scene.add(Distance { particles, rest_length: 1.0 }, Material::compliant(compliance)).unwrap();
    }
    scene.pin(0).unwrap();
    scene.scale_compliance(0..3, &scales).unwrap();
    // A call that fails changes nothing.
    let error = scene.scale_compliance(0..3, &[1.0, 1.0, 1e30]).unwrap_err().to_string();
    assert!(error.contains("compliance of scaled distance constraint 1 is ") && error.contains("1e18"), "{error}");
    assert!(scene.scale_compliance(1..4, &scales).unwrap_err().to_string().contains("names particle 3"));
    assert!(scene.scale_compliance(0..2, &scales).unwrap_err().to_string().contains("2 against 3"));
    let settings = Settings { damping: 4.0, ..Settings::default() };
    let weight = 2.0 * 9.81;
    let expected = [1.5 * f64::from(compliance) * 2.0 * weight, 4.0 * f64::from(compliance) * weight];
    for mut backend in backends(&gpu, &scene, settings) {
        backend.step(300);
        let positions = backend.read_positions().unwrap();
        for (spring, expected) in expected.into_iter().enumerate() {
            let stretch = distance(positions[spring], positions[spring + 1]) - 1.0;
            let error = (stretch / expected - 1.0).abs();
            assert!(error < 1e-3, "{} spring {spring}: {stretch} m instead of {expected} m", backend.name());
        }
    }
}
