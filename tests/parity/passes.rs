//! The GPU equals the reference, pass by pass and over whole frames. Includes negative controls.

use crate::common;
use crate::common::{Pair, hanging_cloth, is_exact, wheel};

use glam::Vec3;
use supple::internals::Pass;
use supple::{
    Balloon, Bending, ClothGrid, ColorOrder, Distance, Elasticity, Execution, Fabric, Field, Material, Particle,
    Reference, Scene, SelfCollision, Settings, ShapeMatching, SoftBody, Sweep, Wind,
};

/// Bit for bit on an exact adapter, else up to float rounding.
fn tolerance(gpu: &supple::gpu::Context) -> f32 {
    if is_exact(gpu) { 0.0 } else { 2e-5 }
}

#[test]
fn every_stage_of_a_step_agrees() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(17, 13);
    let settings = Settings { substeps: 3, iterations: 2, damping: 0.5, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let passes = pair.passes(2);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
}

#[test]
fn whole_frames_agree() {
    let gpu = common::gpu();
    let (scene, cloth) = hanging_cloth(33, 29);
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    pair.solver.step(30);
    pair.reference.step(30);
    let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
    if is_exact(&gpu) {
        let pairs = [
            ("position", on_gpu, on_reference),
            ("velocity", pair.solver.read_velocities().unwrap(), pair.reference.read_velocities().unwrap()),
            ("normal", pair.solver.read_normals().unwrap(), pair.reference.read_normals().unwrap()),
        ];
        for (what, on_gpu, on_reference) in pairs {
            assert_eq!(
                common::first_unequal(&on_gpu, &on_reference, 0.0),
                None,
                "the first particle whose {what} differs"
            );
        }
    } else {
        // Trajectories may diverge; their strain does not.
        let [a, b] =
            [on_gpu, on_reference].map(|positions| scene.strain(cloth.structural.clone(), &positions).unwrap());
        assert!((a.mean - b.mean).abs() < 0.2 * b.mean, "{a:?} against {b:?}");
    }
}

#[test]
fn a_hub_agrees() {
    let gpu = common::gpu();
    // More constraints than a tree may have.
    let scene = wheel(1100, Material::compliant(1e-4));
    let mut pair = Pair::new(&gpu, &scene, Settings { substeps: 4, iterations: 2, ..Settings::default() });
    assert_eq!(pair.solver.coloring::<Distance>().overflow.count, 1100);
    let passes = pair.passes(2);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
}

#[test]
fn lambdas_agree() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(9, 9);
    let settings = Settings { keep_lambdas: true, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    pair.solver.step(5);
    pair.reference.step(5);
    let (on_gpu, on_reference) =
        (pair.solver.read_lambdas::<Distance>().unwrap(), pair.reference.read_lambdas::<Distance>().unwrap());
    let size = on_reference.iter().fold(0f32, |size, lambda| size.max(lambda.abs()));
    assert!(size > 0.0);
    for (constraint, (a, b)) in on_gpu.iter().zip(&on_reference).enumerate() {
        assert!((a - b).abs() <= 100.0 * tolerance(&gpu) * size, "constraint {constraint}: {a} against {b}");
    }
}

#[test]
fn every_kind_agrees() {
    let gpu = common::gpu();
    let materials = [Material::RIGID, Material { compliance: 1e-4, damping: 10.0, damping_time: 1e-3, stiffness: 0.5 }];
    for (place, info, sample) in common::raw::cases() {
        for material in materials {
            let scene = common::raw::scene_of(place, &sample, &sample.positions, material);
            for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
                let settings = Settings { substeps: 3, iterations: 2, sweep, relaxation: 1.2, ..Settings::default() };
                let mut pair = Pair::new(&gpu, &scene, settings);
                let passes = pair.passes(3);
                let difference = pair.first_difference(tolerance(&gpu), passes);
                assert!(difference.is_none(), "{} by {sweep:?}: {difference:#?}", info.name);
            }
        }
    }
}

/// Constraints at random strains, from small ones to inverted elements.
#[test]
fn strained_constraints_of_every_kind_agree() {
    let gpu = common::gpu();
    for (place, info, sample) in common::raw::cases().filter(|(_, info, _)| !info.is_group()) {
        let mut seed = 0;
        let mut noise = || {
            seed += 1;
            common::noise(seed)
        };
        let mut copies = Vec::new();
        for amplitude in [0.02, 0.1, 0.3, 1.0, 3.0] {
            for copy in 0..60 {
                let apart = Vec3::new(0.0, 4.0 * copy as f32, 0.0);
                let mut moved = |(k, &p): (usize, &Vec3)| {
                    let by = Vec3::new(noise(), noise(), noise());
                    if common::raw::is_point(info, k) { p + apart + by * amplitude } else { p + by * 0.3 }
                };
                copies.push(sample.positions.iter().enumerate().map(&mut moved).collect());
            }
        }
        let scene = common::raw::scene_of_copies(place, &sample, &copies, Material::compliant(1e-4));
        let settings = Settings { substeps: 2, gravity: [0.0; 3], ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        pair.run(1, if is_exact(&gpu) { 0.0 } else { 1e-2 }, info.name);
    }
}

/// Checks that no pass differs over `steps` steps.
fn agrees(scene: &Scene, settings: Settings, steps: u32) {
    let gpu = common::gpu();
    let mut pair = Pair::new(&gpu, scene, settings);
    let passes = pair.passes(steps);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
}

#[test]
fn every_bending_model_agrees() {
    // The last rigidity is so high that the grid has bends over two cells.
    for (bending, flexural_rigidity) in [(Bending::Hinges, 1e-2), (Bending::Isometric, 1e-2), (Bending::Isometric, 1e4)]
    {
        let mut scene = Scene::new();
        let fabric = Fabric { bending, flexural_rigidity, ..Fabric::default() };
        let cloth = scene.add_cloth_grid(&ClothGrid { columns: 7, rows: 6, fabric, ..ClothGrid::default() }).unwrap();
        common::crumple(&mut scene, cloth.particles.clone(), 0.05);
        scene.pin(0).unwrap();
        for execution in [Execution::Colors, Execution::Tiles, Execution::Clusters] {
            agrees(&scene, Settings { substeps: 3, execution, ..Settings::default() }, 2);
        }
    }
}

#[test]
fn bodies_and_their_followers_agree() {
    let (positions, triangles) = common::shapes::icosphere(1, 0.5);
    let elasticities = [
        Elasticity::Elastic { young: 1e4, bulk: 1e5, damping_time: 0.01 },
        Elasticity::Rigid { shape: Material::RIGID },
        Elasticity::Regions { rings: 1, shape: Material::compliant(1e-5) },
    ];
    for elasticity in elasticities {
        let mut scene = Scene::new();
        let body = SoftBody { positions: &positions, triangles: &triangles, spacing: 0.3, density: 500.0, elasticity };
        let parts = scene.add_soft_body(&body).unwrap();
        common::crumple(&mut scene, parts.particles.clone(), 0.1);
        scene.pin(0).unwrap();
        for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
            agrees(&scene, Settings { substeps: 2, sweep, body_damping: 0.3, ..Settings::default() }, 2);
        }
    }
}

/// Each iteration of contacts solves the groups again, with the multipliers of the iterations before.
#[test]
fn compliant_groups_agree_between_iterations_of_contacts() {
    let (positions, triangles) = common::shapes::icosphere(1, 0.5);
    let (positions, triangles) = (&positions[..], &triangles[..]);
    let mut scene = Scene::new();
    let elasticity = Elasticity::Regions { rings: 1, shape: Material::compliant(1e-5) };
    let body = SoftBody { positions, triangles, spacing: 0.3, density: 500.0, elasticity };
    let parts = scene.add_soft_body(&body).unwrap();
    common::crumple(&mut scene, parts.particles, 0.1);
    let positions: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [x + 2.0, y, z]).collect();
    let fabric = Fabric { structural: Material::compliant(1e-4), ..Fabric::default() };
    let balloon = Balloon { positions: &positions, triangles, fabric, pressure: 1.5, gas: Material::compliant(1e-6) };
    scene.add_balloon(&balloon).unwrap();
    for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
        let self_collision = Some(SelfCollision::default());
        agrees(&scene, Settings { substeps: 2, sweep, self_collision, ..Settings::default() }, 2);
    }
}

#[test]
fn a_large_group_is_solved_by_a_workgroup_and_agrees() {
    let (positions, triangles) = common::shapes::icosphere(3, 0.5);
    assert!(positions.len() > 2 * supple::constraints::group::SMALL);
    let mut scene = Scene::new();
    let fabric = Fabric { structural: Material::compliant(1e-4), ..Fabric::default() };
    let (positions, triangles) = (&positions[..], &triangles[..]);
    let balloon = Balloon { positions, triangles, fabric, pressure: 1.5, gas: Material::compliant(1e-6) };
    let parts = scene.add_balloon(&balloon).unwrap();
    let particles: Vec<u32> = parts.cloth.particles.clone().collect();
    let masses = vec![0.01; particles.len()];
    let shape = ShapeMatching { particles: &particles, rest_positions: positions, masses: &masses };
    scene.add(shape, Material::compliant(1e-4)).unwrap();
    common::crumple(&mut scene, parts.cloth.particles.clone(), 0.02);
    for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
        let settings = Settings { substeps: 2, iterations: 2, sweep, body_damping: 0.5, ..Settings::default() };
        agrees(&scene, settings, 2);
    }
}

/// Two skins, one with a pin, tied together by a link that belongs to neither.
#[test]
fn skins_agree() {
    let (positions, triangles) = common::shapes::icosphere(1, 0.5);
    let mut scene = Scene::new();
    let fabric = Fabric { structural: Material::compliant(1e-5), ..Fabric::default() };
    for side in [0.0, 1.2] {
        let positions: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [x + side, y, z]).collect();
        let gas = Material::compliant(1e-6);
        let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.3, gas };
        scene.add_balloon(&balloon).unwrap();
    }
    let count = positions.len() as u32;
    scene.add(Distance { particles: [0, count], rest_length: 1.1 }, Material::RIGID).unwrap();
    common::crumple(&mut scene, 0..2 * count, 0.05);
    scene.pin(5).unwrap();
    let settings = Settings { substeps: 3, iterations: 2, ..Settings::default() };
    let plan = Reference::new(&scene, settings).unwrap().plan().clone();
    assert_eq!(plan.substep.iter().filter(|pass| **pass == Pass::RestoreMomentum).count(), 2);
    for color_order in [ColorOrder::Fixed, ColorOrder::Alternating] {
        agrees(&scene, Settings { color_order, ..settings }, 2);
    }
}

#[test]
fn fields_and_forces_agree() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(9, 8);
    let fields = Field::slots(&[
        Field::Point { position: [0.3, -1.0, 0.2], strength: 30.0, radius: 0.7 },
        Field::Vortex { position: [0.1, 0.0, -0.2], axis: [0.3, 1.0, -0.2], strength: -20.0, radius: 0.5 },
    ]);
    let settings = Settings { substeps: 3, fields, forces: true, ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let forces: Vec<[f32; 3]> = (0..40).map(|k| [0.01 * k as f32, 0.3, -0.02 * k as f32]).collect();
    pair.solver.set_forces(11, &forces).unwrap();
    pair.reference.set_forces(11, &forces).unwrap();
    let passes = pair.passes(2);
    let difference = pair.first_difference(tolerance(&gpu), passes);
    assert!(difference.is_none(), "{difference:#?}");
}

#[test]
fn colors_in_any_order_agree() {
    for color_order in [ColorOrder::Alternating, ColorOrder::Shuffled { seed: 7 }] {
        let gpu = common::gpu();
        let (scene, _) = hanging_cloth(12, 11);
        let settings = Settings { substeps: 5, iterations: 2, color_order, ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        // Two submissions and then pass by pass, so that the step count must continue.
        pair.solver.step(3);
        pair.solver.step(2);
        pair.reference.step(5);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        pair.solver.encode_passes(&mut encoder, pair.reference.plan().step(5, 5), None);
        gpu.queue.submit([encoder.finish()]);
        pair.solver.step(1);
        pair.reference.step(2);
        let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
        assert_eq!(common::first_unequal(&on_gpu, &on_reference, 10.0 * tolerance(&gpu)), None, "{color_order:?}");
    }
}

#[test]
fn a_sweep_that_is_changed_while_running_agrees() {
    let gpu = common::gpu();
    let scene = wheel(100, Material::compliant(1e-4));
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    for sweep in [Sweep::Jacobi, Sweep::GaussSeidel, Sweep::Jacobi] {
        let settings = Settings { sweep, forces: sweep == Sweep::Jacobi, ..Settings::default() };
        pair.solver.set_settings(settings).unwrap();
        pair.reference.set_settings(settings).unwrap();
        pair.solver.step(2);
        pair.reference.step(2);
        let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
        assert_eq!(common::first_unequal(&on_gpu, &on_reference, 10.0 * tolerance(&gpu)), None, "{sweep:?}");
    }
}

#[test]
fn wind_agrees_to_rounding() {
    // Gusts are sines, which differ between machines.
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(12, 12);
    let wind = Wind { velocity: [3.0, 1.0, -5.0], gust: 0.8, turbulence: 2.0, ..Wind::default() };
    let settings = Settings { substeps: 5, wind: Some(wind), ..Settings::default() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    let passes = pair.passes(1);
    let difference = pair.first_difference(1e-3, passes);
    assert!(difference.is_none(), "{difference:#?}");
}

#[test]
fn pins_targets_and_releases_agree() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(8, 8);
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    for frame in 0..15u16 {
        let place = [-1.0 + 0.02 * f32::from(frame), 0.01 * f32::from(frame), -1.0];
        if frame < 8 {
            pair.solver.set_target(0, place).unwrap();
            pair.reference.set_target(0, place).unwrap();
        }
        if frame == 5 {
            pair.solver.pin(&[60]).unwrap();
            pair.reference.pin(&[60]).unwrap();
        }
        if frame == 8 {
            pair.solver.release(&[0, 7]).unwrap();
            pair.reference.release(&[0, 7]).unwrap();
        }
        // Without pins the tether pass is absent; with the next pin it returns.
        if frame == 10 {
            pair.solver.release(&[60]).unwrap();
            pair.reference.release(&[60]).unwrap();
        }
        if frame == 12 {
            pair.solver.pin(&[7]).unwrap();
            pair.reference.pin(&[7]).unwrap();
        }
        pair.solver.step(1);
        pair.reference.step(1);
        let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
        let unequal = common::first_unequal(&on_gpu, &on_reference, if is_exact(&gpu) { 0.0 } else { 1e-3 });
        assert_eq!(unequal, None, "frame {frame}");
    }
}

/// A scene of one spring; the test compares it with a rest length that is wrong by 1 %.
fn spring(rest_length: f32) -> Scene {
    let mut scene = Scene::new();
    for x in [0.0, 1.1] {
        scene.add_particle(Particle { position: [x, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    scene.add(Distance { particles: [0, 1], rest_length }, Material::compliant(1e-6)).unwrap();
    scene
}

#[test]
fn the_comparison_finds_a_rest_length_error_of_one_percent() {
    let gpu = common::gpu();
    let mut pair = Pair::new(&gpu, &spring(1.0), Settings::default());
    pair.reference = supple::Reference::new(&spring(1.01), Settings::default()).unwrap();
    let passes = pair.passes(1);
    let difference = pair.first_difference(2e-5, passes).expect("a difference");
    assert!(difference.pass.contains("Project"), "{difference:#?}");
}

#[test]
fn the_comparison_finds_a_missing_color() {
    let gpu = common::gpu();
    let (scene, _) = hanging_cloth(9, 9);
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    let passes: Vec<Pass> = pair.passes(1);
    let without = passes.iter().copied().filter(|pass| !matches!(pass, Pass::Project { color: 3, .. }));
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    pair.solver.encode_passes(&mut encoder, without, None);
    gpu.queue.submit([encoder.finish()]);
    pair.reference.step(1);
    let (on_gpu, on_reference) = (pair.solver.read_positions().unwrap(), pair.reference.read_positions().unwrap());
    assert!(common::first_unequal(&on_gpu, &on_reference, 2e-5).is_some());
}
