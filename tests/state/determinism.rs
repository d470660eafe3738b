//! Results are identical bits on one adapter, however the work is split into submissions. A reset or a change of
//! settings leaves no trace of earlier state. The same holds for the reference.

use crate::common;
use crate::common::{backends, hanging_cloth, is_exact, press, solver, wheel};
use supple::{Collider, Execution, Material, Scene, SelfCollision, Settings, Shape, Simulation, Wind};

/// FNV-1a over the bits of positions and velocities.
fn hash(backend: &dyn Simulation) -> u64 {
    let (positions, velocities) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
    assert!(positions.iter().flatten().all(|component| component.is_finite()), "{}", backend.name());
    positions.iter().chain(&velocities).flatten().fold(0xcbf2_9ce4_8422_2325, |hash, component| {
        component
            .to_bits()
            .to_le_bytes()
            .iter()
            .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    })
}

fn gusts() -> Wind {
    Wind { velocity: [3.0, 1.0, -5.0], gust: 0.8, ..Wind::default() }
}

/// Scenes and settings that together contain each kind of pass.
fn cases() -> [(&'static str, Scene, Settings); 8] {
    let cloth = || hanging_cloth(21, 17).0;
    let base = Settings { substeps: 5, damping: 0.3, ..Settings::default() };
    // A sheet between two that press it, and a ball in the path of particles that slip out.
    let pressed = || {
        let mut scene = press(0.02, 1);
        scene.add_collider(Collider::new(Shape::Sphere { radius: 0.2 }, [0.3, -0.15, 0.0])).unwrap();
        scene
    };
    let touching = |own| Settings { self_collision: Some(own), substeps: 2, ..base };
    [
        ("tiles", cloth(), Settings { execution: Execution::Tiles, ..base }),
        ("clusters", cloth(), Settings { execution: Execution::Clusters, substeps: 2, ..base }),
        ("particles that touch", pressed(), touching(SelfCollision::default())),
        (
            "surfaces that touch",
            pressed(),
            touching(SelfCollision { iterations: Some(1), ..SelfCollision::surfaces() }),
        ),
        ("cloth", cloth(), base),
        ("iterations", cloth(), Settings { substeps: 3, iterations: 3, ..base }),
        ("wind", cloth(), Settings { wind: Some(gusts()), ..base }),
        ("hub", wheel(300, Material::compliant(1e-4)), base),
    ]
}

/// Runs the same scene on both backends twice, by `first` and by `second`; the results must be equal.
fn assert_same(claim: &str, first: impl Fn(&mut dyn Simulation), second: impl Fn(&mut dyn Simulation)) {
    let gpu = common::gpu();
    for (case, scene, settings) in cases() {
        let [ones, others] = [(); 2].map(|()| backends(&gpu, &scene, settings));
        for (mut one, mut other) in ones.into_iter().zip(others) {
            let start = hash(&*one);
            first(&mut *one);
            second(&mut *other);
            assert_ne!(start, hash(&*one), "{}, {case}: nothing happened", one.name());
            assert_eq!(hash(&*one), hash(&*other), "{}, {case}: {claim}", one.name());
        }
    }
}

#[test]
fn two_runs_agree() {
    assert_same("two runs differ", |backend| backend.step(30), |backend| backend.step(30));
}

/// Negative control: one ulp in one component of one velocity changes the hash.
#[test]
fn a_difference_of_one_bit_is_found() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(5, 5);
    for mut backend in backends(&gpu, &scene, Settings::default()) {
        backend.step(1);
        let before = hash(&*backend);
        let [x, y, z] = backend.read_velocities().unwrap()[7];
        backend.set_velocities(7, &[[x, f32::from_bits(y.to_bits() ^ 1), z]]).unwrap();
        assert_ne!(before, hash(&*backend), "{}", backend.name());
    }
}

/// A step continues from the state of the last one, including the residual of d beyond v, across submissions.
#[test]
fn thirty_steps_in_one_submission_equal_thirty_submissions_of_one() {
    let apart = |backend: &mut dyn Simulation| (0..30).for_each(|_| backend.step(1));
    assert_same("the number of submissions shows", |backend| backend.step(30), apart);
}

#[test]
fn several_encodes_in_one_submission_equal_one() {
    let gpu = common::gpu();
    for (case, scene, settings) in cases() {
        let mut one = solver(&gpu, &scene, settings);
        let mut other = solver(&gpu, &scene, settings);
        one.step(30);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for steps in [1, 0, 14, 5, 10] {
            other.encode(&mut encoder, steps);
        }
        gpu.queue.submit([encoder.finish()]);
        assert_eq!(hash(&one), hash(&other), "{case}");
    }
}

/// Reading, waiting and encoding zero steps have no effect on the state.
#[test]
fn a_pause_leaves_no_trace() {
    let paused = |backend: &mut dyn Simulation| {
        for steps in [7, 0, 11, 0, 12] {
            backend.step(steps);
            backend.read_positions().unwrap();
            backend.read_velocities().unwrap();
        }
    };
    assert_same("a pause shows", |backend| backend.step(30), paused);
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(9, 9);
    let mut one = solver(&gpu, &scene, Settings::default());
    one.step(0);
    assert_eq!(one.read_diagnostics().unwrap().steps, 0);
}

/// A reset restores pins, targets, materials, velocities, residuals and the time of the wind, but keeps the settings.
#[test]
fn a_reset_restores_everything_but_the_settings() {
    let gpu = common::gpu();
    for (case, mut scene, settings) in cases() {
        let material = scene.add_material(Material::RIGID).unwrap();
        let particle = scene.particle_count() as u32 - 1;
        scene.add_with(supple::Distance { particles: [1, particle], rest_length: 0.5 }, material).unwrap();
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(20);
            let first = hash(&*backend);
            backend.pin(&[particle]).unwrap();
            backend.set_target(particle, [0.5, 0.5, 0.5]).unwrap();
            backend.release(&[0]).unwrap();
            backend.set_material(material, Material { compliance: 1e-3, damping: 2.0, ..Material::RIGID }).unwrap();
            backend.set_velocities(3, &[[1.0, 2.0, 3.0]]).unwrap();
            backend
                .set_settings(Settings { substeps: 7, iterations: 2, wind: Some(Wind::default()), ..settings })
                .unwrap();
            backend.step(13);
            backend.set_settings(settings).unwrap();
            backend.step(1);
            backend.reset();
            backend.step(20);
            assert_eq!(first, hash(&*backend), "{}, {case}", backend.name());
        }
    }
}

/// Settings take effect when a step runs, not when they are set.
#[test]
fn settings_that_were_changed_and_changed_back_leave_no_trace() {
    let back_and_forth = |backend: &mut dyn Simulation, settings: Settings| {
        let others = [
            Settings { substeps: 9, ..settings },
            Settings { iterations: 4, keep_lambdas: true, ..settings },
            Settings { dt: 0.1, gravity: [1.0; 3], damping: 9.0, wind: None, tethers: false, ..settings },
        ];
        backend.step(10);
        for other in others {
            backend.set_settings(other).unwrap();
            backend.step(0);
        }
        backend.set_settings(settings).unwrap();
        backend.step(20);
    };
    let gpu = common::gpu();
    for (case, scene, settings) in cases() {
        let [ones, others] = [(); 2].map(|()| backends(&gpu, &scene, settings));
        for (mut one, mut other) in ones.into_iter().zip(others) {
            one.step(30);
            back_and_forth(&mut *other, settings);
            assert_eq!(hash(&*one), hash(&*other), "{}, {case}", one.name());
        }
    }
}

/// Two runs with the same changes of settings and steps between them agree.
#[test]
fn runs_with_equal_changes_agree() {
    let change = |backend: &mut dyn Simulation| {
        let base = Settings { substeps: 5, damping: 0.3, ..Settings::default() };
        for settings in
            [base, Settings { substeps: 8, wind: Some(gusts()), ..base }, Settings { iterations: 2, ..base }, base]
        {
            backend.set_settings(settings).unwrap();
            backend.step(6);
            backend.pin(&[4]).unwrap();
            backend.set_target(4, [0.1, 0.2, 0.3]).unwrap();
            backend.step(1);
            backend.release(&[4]).unwrap();
        }
    };
    assert_same("the same changes differ", change, change);
}

/// Storing λ does not change the result. The compiler may round the storing shader differently, so this is checked only
/// on exact adapters.
#[test]
fn keeping_lambdas_changes_nothing_else() {
    let gpu = common::gpu();
    for (case, scene, settings) in cases() {
        let [ones, others] =
            [false, true].map(|keep_lambdas| backends(&gpu, &scene, Settings { keep_lambdas, ..settings }));
        for (mut one, mut other) in ones.into_iter().zip(others) {
            one.step(20);
            other.step(20);
            if one.name() == "Reference" || is_exact(&gpu) {
                assert_eq!(hash(&*one), hash(&*other), "{}, {case}", one.name());
            }
        }
    }
}
