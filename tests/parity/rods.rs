//! Rods: the GPU equals the reference by colours, in clusters, with mass splitting, and while clamps move.

use crate::common;
use crate::common::{Pair, change, is_exact};
use supple::internals::Pass;
use supple::{BendTwist, Execution, Material, Rod, RodMaterial, RodParts, RodRest, Scene, Settings, Sweep};

const RUBBER: RodMaterial = RodMaterial { damping_time: 1e-3, ..RodMaterial::round(0.005, 1e6, 0.3, 1000.0) };

/// A twisted rod between clamps, a coil of an elliptic section, and a ring with a twist; a particle after them, so that
/// orientations of rods lie behind later particles.
fn rods() -> (Scene, RodParts) {
    let mut scene = Scene::new();
    let line: Vec<[f32; 3]> = (0..15).map(|k| [0.01 * k as f32, 0.002 * (k % 3) as f32, 0.0]).collect();
    let clamped = Rod { clamped: [true; 2], twist: 9.0, normal: Some([0.1, 1.0, 0.3]), ..Rod::new(&line, RUBBER) };
    let parts = scene.add_rod(&clamped).unwrap();
    let turn = |k: usize| (0.5 * k as f32).sin_cos();
    let coil: Vec<[f32; 3]> =
        (0..40).map(|k| (turn(k), k)).map(|((s, c), k)| [0.05 * c, 1.0 - 0.002 * k as f32, 0.05 * s]).collect();
    let ellipse = RodMaterial { radii: [0.003, 0.005], ..RUBBER };
    scene.add_rod(&Rod { clamped: [true, false], rest: RodRest::Shape, ..Rod::new(&coil, ellipse) }).unwrap();
    let ring: Vec<[f32; 3]> = (0..12).map(turn).map(|(s, c)| [0.1 * c, 2.0 + 0.1 * s, 0.01 * c * s]).collect();
    let rest = RodRest::Darboux([1.0, 10.0, 3.0]);
    scene.add_rod(&Rod { closed: true, twist: 4.0, rest, ..Rod::new(&ring, RUBBER) }).unwrap();
    scene.add_particle(supple::Particle::default()).unwrap();
    // A branch: the end of a rod is joined to the middle of the first one.
    let branch: Vec<[f32; 3]> = (0..8).map(|k| [0.07, 0.01 * k as f32, 0.05]).collect();
    let branch = scene.add_rod(&Rod::new(&branch, RUBBER)).unwrap();
    let ids = [parts.frames.start + 7, branch.frames.start].map(|index| scene.orientation(index).unwrap());
    scene.add(BendTwist::new(ids), Material::compliant(1.0)).unwrap();
    (scene, parts)
}

#[test]
fn every_stage_of_rods_agrees_by_colours_clusters_and_splitting() {
    let gpu = common::gpu();
    let (scene, _) = rods();
    let settings = Settings { substeps: 3, iterations: 2, damping: 0.5, ..Settings::default() };
    let cases = [
        Settings { execution: Execution::Colors, ..settings },
        Settings { execution: Execution::Clusters, keep_lambdas: true, ..settings },
        Settings { execution: Execution::Clusters, iterations: 1, ..settings },
        Settings { sweep: Sweep::Jacobi, ..settings },
    ];
    for settings in cases {
        let mut pair = Pair::new(&gpu, &scene, settings);
        let clusters = pair.solver.plan().substep.iter().any(|pass| matches!(pass, Pass::Clusters { .. }));
        assert_eq!(clusters, settings.execution == Execution::Clusters && settings.sweep == Sweep::GaussSeidel);
        let colors = pair.solver.plan().substep.iter().filter(|pass| matches!(pass, Pass::SolveChains { .. })).count();
        assert_eq!(colors, if settings.sweep == Sweep::Jacobi { 0 } else { 2 * settings.iterations as usize });
        let passes = pair.passes(2);
        let difference = pair.first_difference(if is_exact(&gpu) { 0.0 } else { 2e-5 }, passes);
        assert!(difference.is_none(), "{settings:?}: {difference:#?}");
        pair.run(3, 1e-3, "whole steps");
        if is_exact(&gpu) {
            assert_eq!(pair.solver.read_orientations().unwrap(), pair.reference.read_orientations().unwrap());
        }
    }
}

/// Chains of frames without segments.
#[test]
fn joints_without_segments_agree() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    scene.add_particle(supple::Particle::default()).unwrap();
    let frames: Vec<_> = (0..5u16)
        .map(|k| {
            let (s, c) = (0.1 * f32::from(k * k)).sin_cos();
            let orientation = supple::Orientation { rotation: [0.0, s, 0.0, c], ..supple::Orientation::default() };
            scene.add_orientation(orientation).unwrap()
        })
        .collect();
    for pair in frames.windows(2) {
        scene.add(BendTwist::new([pair[0], pair[1]]), Material::compliant(1e-6)).unwrap();
    }
    for execution in [Execution::Colors, Execution::Clusters] {
        let mut pair = Pair::new(&gpu, &scene, Settings { execution, ..Settings::default() });
        let before = pair.reference.read_orientations().unwrap();
        pair.run(3, 1e-3, "whole steps");
        let own = pair.solver.read_orientations().unwrap();
        let expected = pair.reference.read_orientations().unwrap();
        let apart = |a: &[f32; 4], b: &[f32; 4]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(own.iter().zip(&expected).all(|(a, b)| apart(a, b) < 1e-3), "{own:?} {expected:?}");
        assert!(before.iter().zip(&expected).any(|(a, b)| apart(a, b) > 1e-2), "nothing moves");
    }
}

#[test]
fn moved_clamps_torques_and_resets_agree() {
    let gpu = common::gpu();
    let (scene, parts) = rods();
    let settings = Settings { substeps: 4, forces: true, execution: Execution::Colors, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let [first, last] = parts.clamps.map(Option::unwrap);
    let free = scene.orientation(parts.frames.start + 3).unwrap();
    for frame in 0..8u16 {
        let angle = 0.2 * f32::from(frame);
        if frame < 4 {
            change!(pair, set_orientation_target(first, [(0.5 * angle).sin(), 0.0, 0.0, (0.5 * angle).cos()]));
            change!(pair, set_target(parts.particles.start, [-0.001 * f32::from(frame), 0.0, 0.0]));
            change!(pair, set_torques(free, &[[0.0, 1e-4, 0.0], [1e-4, 0.0, 2e-4]]));
        }
        match frame {
            4 => change!(pair, release_orientations(&[first])),
            5 => {
                change!(pair, pin_orientations(&[free]));
                change!(pair, set_angular_velocities(last, &[[0.0, 3.0, 0.0]]));
            }
            6 => change!(pair, set_rotations(free, &[[0.6, 0.0, 0.0, 0.8], [0.0, 0.0, 1.0, 0.0]])),
            7 => change!(pair, set_settings(Settings { substeps: 7, ..settings })),
            _ => {}
        }
        pair.run(1, 1e-3, &format!("frame {frame}"));
    }
    pair.solver.reset();
    pair.reference.reset();
    let rotations = pair.reference.read_orientations().unwrap();
    assert_eq!(pair.solver.read_orientations().unwrap(), rotations);
    for (now, own) in rotations.iter().zip(scene.orientations()) {
        let cosine: f32 = now.iter().zip(own.rotation).map(|(a, b)| a * b).sum();
        assert!(cosine.abs() > 1.0 - 1e-6, "{now:?} and {:?}", own.rotation);
    }
    pair.run(2, 1e-3, "after a reset");
}

/// A straight wire bent to a half circle: the rotation of its segments per substep is at its limit.
#[test]
fn wires_that_are_bent_far_from_their_rest_shape_agree() {
    let gpu = common::gpu();
    let steel = RodMaterial::round(0.0005, 2e11, 0.3, 7850.0);
    let arc = |k: i32| (std::f32::consts::PI * k as f32 / 19.0).sin_cos();
    let points: Vec<[f32; 3]> = (0..20).map(arc).map(|(s, c)| [0.03 * c, 0.0, 0.03 * s]).collect();
    let mut scene = Scene::new();
    let parts = scene.add_rod(&Rod::new(&points, steel)).unwrap();
    [parts.particles.start, parts.particles.end - 1].into_iter().for_each(|particle| scene.pin(particle).unwrap());
    for iterations in [1, 2] {
        let mut pair = Pair::new(&gpu, &scene, Settings { iterations, ..Settings::default() });
        // Where rounding differs, both wires stay within their size.
        pair.run(3, if is_exact(&gpu) { 0.0 } else { 0.06 }, "whole steps");
    }
}
