//! The air while its parameters change.

use crate::common::{backends, gpu, hanging_cloth};
use glam::Vec3;
use supple::{Settings, Simulation, Wind};

const STEPS: u32 = 4000;

/// The velocities that the air gives to a cloth at rest in one step.
fn pushed(simulation: &mut dyn Simulation, rest: &[[f32; 3]]) -> Vec<Vec3> {
    simulation.set_positions(0, rest).unwrap();
    simulation.set_velocities(0, &vec![[0.0; 3]; rest.len()]).unwrap();
    simulation.step(1);
    simulation.read_velocities().unwrap().into_iter().map(Vec3::from).collect()
}

fn length(vectors: impl Iterator<Item = Vec3>) -> f32 {
    vectors.map(|v| v.length_squared()).sum::<f32>().sqrt()
}

/// After 4000 steps a change of 0.3 % changes the forces by a few per cent. As functions of the time since the start, the turbulence would move by four
/// cells and the gusts by a tenth of a cycle.
#[test]
fn gusts_and_turbulence_continue_when_the_wind_changes() {
    let gpu = gpu();
    let (scene, _) = hanging_cloth(8, 8);
    let windy =
        Wind { velocity: [2.0, 1.0, -3.0], gust: 0.8, turbulence: 2.0, turbulence_length: 0.2, ..Wind::default() };
    let faster = Wind { velocity: windy.velocity.map(|component| 1.003 * component), ..windy };
    let larger = Wind { turbulence_length: 1.003 * windy.turbulence_length, ..windy };
    let gusty = Wind { gust_frequency: 1.003 * windy.gust_frequency, ..windy };
    let settings = |wind| Settings { wind: Some(wind), gravity: [0.0; 3], substeps: 1, ..Settings::default() };
    for (mut steady, mut changed) in
        backends(&gpu, &scene, settings(windy)).into_iter().zip(backends(&gpu, &scene, settings(windy)))
    {
        let name = steady.name();
        steady.step(STEPS);
        changed.step(STEPS);
        for wind in [faster, larger, gusty] {
            let expected = pushed(&mut *steady, scene.positions());
            changed.set_settings(settings(wind)).unwrap();
            let found = pushed(&mut *changed, scene.positions());
            changed.set_settings(settings(windy)).unwrap();
            let apart = length(found.iter().zip(&expected).map(|(a, b)| *a - *b)) / length(expected.iter().copied());
            println!("{name}, {wind:?}: {apart:.4}");
            assert!(apart < 0.06, "{name}, {wind:?}: {apart}");
        }
    }
}
