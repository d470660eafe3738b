//! Plastic flow and rupture: residual strains and creases after load and unload, creep, ropes that snap.

use crate::common;
use crate::common::{Pair, change, is_exact};
use supple::gpu::Snapshot;
use supple::{
    ClothGrid, Cord, Distance, Error, Execution, Fabric, Hinge, Instances, Material, Particle, PlasticStrain,
    Plasticity, Reference, Rope, Scene, Settings, Sweep,
};

const LENGTH: f32 = 0.5;

/// A spring between two pins, `LENGTH` long.
fn spring(plasticity: Plasticity) -> Scene {
    let mut scene = Scene::new();
    for x in [0.0, LENGTH] {
        let particle = scene.add_particle(Particle { position: [x, 0.0, 0.0], ..Particle::default() }).unwrap();
        scene.pin(particle).unwrap();
    }
    let spring = Distance { particles: [0, 1], rest_length: LENGTH };
    scene.add(spring, Material::compliant(1e-3)).unwrap();
    scene.set_plasticity::<Distance>(0..1, plasticity).unwrap();
    scene
}

/// Moves the second pin to the strain, and back to 0 if `returns`.
fn strained(scene: &Scene, strain: f32, steps: u32, returns: bool) -> f32 {
    let mut reference = Reference::new(scene, Settings::default()).unwrap();
    reference.set_target(1, [LENGTH * (1.0 + strain), 0.0, 0.0]).unwrap();
    reference.step(steps);
    if returns {
        reference.set_target(1, [LENGTH, 0.0, 0.0]).unwrap();
        reference.step(steps);
    }
    // The strain at the end of a step counts at the start of the next.
    reference.step(1);
    reference.read_plastic_strains::<Distance>().unwrap()[0].strain
}

/// A monotonous load leaves (ε − Y)/(1 + H).
#[test]
fn a_stretched_spring_keeps_the_strain_beyond_its_yield_strain() {
    for (yield_strain, hardening, strain) in [(0.05, 0.0, 0.2), (0.02, 0.5, 0.3), (0.1, 2.0, 0.4), (0.1, 0.0, 0.08)] {
        let plasticity = Plasticity { yield_strain, hardening, ..Plasticity::default() };
        let kept = strained(&spring(plasticity), strain, 2, false);
        let law = ((strain - yield_strain) / (1.0 + hardening)).max(0.0);
        assert!((kept - law).abs() < 0.01 * law + 1e-6, "Y {yield_strain}, H {hardening}: {kept}, law {law}");
    }
    // Compression yields likewise, and back: −0.2 + Y, then the return to 0 is a strain of 0.15 > Y.
    let plasticity = Plasticity { yield_strain: 0.05, ..Plasticity::default() };
    let kept = strained(&spring(plasticity), -0.2, 2, false);
    assert!((kept + 0.15).abs() < 1e-3, "{kept}");
    let kept = strained(&spring(plasticity), -0.2, 2, true);
    assert!((kept + 0.05).abs() < 1e-3, "{kept}");
}

/// The flow rate r gives p(t) = (ε − Y)(1 − (1 − r dt)ⁿ), which is (ε − Y)(1 − exp(−r t)) for small steps.
#[test]
fn a_held_spring_creeps_at_its_flow_rate_up_to_its_most_plastic_strain() {
    let plasticity = Plasticity { yield_strain: 0.0, flow_rate: 0.6, ..Plasticity::default() };
    // Once the pin is there, 60 steps are a second.
    let scene = spring(plasticity);
    let [early, late] = [1, 61].map(|steps| strained(&scene, 0.2, steps, false));
    let relaxed = (0.2 - late) / (0.2 - early);
    assert!((relaxed / (-0.6f32).exp() - 1.0).abs() < 0.01, "{relaxed}");
    let limited = Plasticity { most: 0.1, ..Plasticity { yield_strain: 0.0, ..Plasticity::default() } };
    let kept = strained(&spring(limited), 0.4, 3, false);
    assert!((kept - 0.1).abs() < 1e-6, "{kept}");
}

/// Two triangles with a hinge; the first is pinned, and the free corner of the second is a target.
fn fold(plasticity: Plasticity) -> Scene {
    let mut scene = Scene::new();
    for position in [[0.0; 3], [0.1, 0.0, 0.0], [0.05, 0.0, 0.1], [0.05, 0.0, -0.1]] {
        let particle = scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        scene.pin(particle).unwrap();
    }
    scene.add(Hinge::new([0, 1, 2, 3], 0.0), Material::compliant(1.0)).unwrap();
    scene.set_plasticity::<Hinge>(0..1, plasticity).unwrap();
    scene
}

#[test]
fn a_folded_hinge_keeps_a_crease() {
    for (yield_strain, hardening, angle) in [(0.5f32, 0.0f32, 2.0f32), (0.3, 0.5, 1.5), (0.2, 0.0, -1.0)] {
        let plasticity = Plasticity { yield_strain, hardening, most: 3.0, ..Plasticity::default() };
        let scene = fold(plasticity);
        let mut reference =
            Reference::new(&scene, Settings { gravity: [0.0; 3], damping: 5.0, ..Settings::default() }).unwrap();
        let at = |angle: f32| [0.05, 0.1 * angle.sin(), -0.1 * angle.cos()];
        let start = scene.positions();
        let folded = Hinge::angle([start[0], start[1], start[2], at(angle)]);
        reference.set_target(3, at(angle)).unwrap();
        reference.step(2);
        let crease = reference.read_plastic_strains::<Hinge>().unwrap()[0].strain;
        let law = folded.signum() * (folded.abs() - yield_strain) / (1.0 + hardening);
        assert!((crease / law - 1.0).abs() < 0.01, "folded by {folded}: crease {crease}, law {law}");
        // The free corner comes to rest at the crease.
        reference.release(&[3]).unwrap();
        reference.step(180);
        let x = reference.read_positions().unwrap();
        let rest = Hinge::angle([x[0], x[1], x[2], x[3]]);
        assert!((rest / crease - 1.0).abs() < 0.01, "rests at {rest}, crease {crease}");
    }
}

/// A rope of 10 segments: a load beyond the rupture strain snaps it, and the lower part falls freely.
#[test]
fn an_overloaded_rope_snaps() {
    let gpu = common::gpu();
    let points: Vec<[f32; 3]> = (0..11).map(|k| [0.0, -0.1 * k as f32, 0.0]).collect();
    let mut scene = Scene::new();
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::limp(0.01, 100.0), tethers: None }).unwrap();
    scene.set_mass(10, 0.5).unwrap();
    scene.pin(0).unwrap();
    // 4.9 N stretch a segment by 4.9 %.
    let plasticity = Plasticity { rupture: 0.15, ..Plasticity::default() };
    scene.set_plasticity::<Distance>(rope.segments.clone(), plasticity).unwrap();
    let weak = Plasticity { rupture: 0.03, ..Plasticity::default() };
    scene.set_plasticity::<Distance>(4..5, weak).unwrap();
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    pair.run(30, 0.0, "rope");
    let strains = pair.solver.read_plastic_strains::<Distance>().unwrap();
    let broken: Vec<u32> = strains.iter().filter(|own| own.is_broken).map(|own| own.constraint).collect();
    assert_eq!(broken, [4], "{strains:?}");
    let [before, after] = [0, 6].map(|steps| {
        pair.solver.step(steps);
        pair.solver.read_velocities().unwrap()[10][1]
    });
    assert!((after - before + 9.81 * 0.1).abs() < 0.02, "{before} {after}");
    pair.solver.reset();
    let strains = pair.solver.read_plastic_strains::<Distance>().unwrap();
    assert!(strains.iter().all(|own| !own.is_broken && own.strain == 0.0), "{strains:?}");
}

/// A cloth with plastic springs and hinges that falls on its pins.
fn cloth() -> Scene {
    let mut scene = Scene::new();
    let fabric = Fabric { structural: Material::compliant(3e-3), ..Fabric::default() };
    let grid = ClothGrid { columns: 10, rows: 10, fabric, tethers: None, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    let plasticity =
        Plasticity { yield_strain: 0.005, flow_rate: 8.0, hardening: 0.1, rupture: 0.4, ..Plasticity::default() };
    scene.set_plasticity::<Distance>(cloth.structural.clone(), plasticity).unwrap();
    scene.pin(0).unwrap();
    scene.pin(9).unwrap();
    scene
}

#[test]
fn plastic_cloth_agrees_on_both_backends_in_every_execution() {
    let gpu = common::gpu();
    for (execution, sweep) in [
        (Execution::Colors, Sweep::GaussSeidel),
        (Execution::Clusters, Sweep::GaussSeidel),
        (Execution::Tiles, Sweep::GaussSeidel),
        (Execution::Auto, Sweep::Jacobi),
    ] {
        let mut pair = Pair::new(&gpu, &cloth(), Settings { execution, sweep, ..Settings::default() });
        pair.run(12, if is_exact(&gpu) { 0.0 } else { 1e-4 }, "plastic cloth");
        let [on_gpu, on_reference] =
            [pair.solver.read_plastic_strains::<Distance>(), pair.reference.read_plastic_strains::<Distance>()]
                .map(Result::unwrap);
        assert!(on_gpu.iter().filter(|own| own.strain > 0.001).count() > 3, "{on_gpu:?}");
        let apart = |(a, b): (&PlasticStrain, &PlasticStrain)| (a.strain - b.strain).abs();
        assert!(on_gpu.iter().zip(&on_reference).map(apart).fold(0.0, f32::max) < 1e-5);
    }
}

#[test]
fn plastic_strains_survive_a_change_of_the_schedule_and_a_snapshot() {
    let gpu = common::gpu();
    let colors = Settings { execution: Execution::Colors, ..Settings::default() };
    let clusters = Settings { execution: Execution::Clusters, ..colors };
    let mut pair = Pair::new(&gpu, &cloth(), colors);
    pair.run(10, 0.0, "before the change");
    change!(pair, set_settings(clusters));
    pair.run(4, 0.0, "after the change");
    let bytes = pair.solver.snapshot().unwrap().to_bytes();
    let mut other = common::solver(&gpu, &cloth(), clusters);
    other.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    let ends = [&mut pair.solver, &mut other].map(|solver| {
        solver.step(8);
        (solver.read_positions().unwrap(), solver.read_plastic_strains::<Distance>().unwrap())
    });
    assert!(ends[0] == ends[1]);
}

/// A changed rest length replaces the plastic one.
#[test]
fn set_constraint_removes_the_plastic_strain_of_a_constraint() {
    let gpu = common::gpu();
    let scene = spring(Plasticity { yield_strain: 0.05, ..Plasticity::default() });
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    let strains = |pair: &Pair<'_>| {
        let of = [pair.solver.read_plastic_strains::<Distance>(), pair.reference.read_plastic_strains::<Distance>()];
        of.map(|strains| strains.unwrap()[0].strain)
    };
    change!(pair, set_target(1, [1.2 * LENGTH, 0.0, 0.0]));
    pair.run(3, 0.0, "stretched");
    assert!(strains(&pair).iter().all(|strain| (strain - 0.15).abs() < 1e-3), "{:?}", strains(&pair));
    change!(pair, set_constraint(0, Distance { particles: [0, 1], rest_length: 1.1 * LENGTH }));
    assert_eq!(strains(&pair), [0.0; 2]);
    pair.run(2, 0.0, "changed");
    let law = 0.1 / 1.1 - 0.05;
    assert!(strains(&pair).iter().all(|strain| (strain - law).abs() < 1e-3), "{:?}", strains(&pair));
}

/// The strain of a spring without rest length does not exist, and one beyond the range of `f32` has no effect on the plastic strain.
#[test]
fn a_plastic_strain_stays_finite() {
    let gpu = common::gpu();
    let scene = spring(Plasticity { yield_strain: 0.05, ..Plasticity::default() });
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    let joined = Distance { particles: [0, 1], rest_length: 0.0 };
    let errors = [pair.solver.set_constraint(0, joined), pair.reference.set_constraint(0, joined)];
    for error in errors.map(Result::unwrap_err) {
        assert!(error.to_string().contains("rest length of distance constraint 0, which is plastic, is 0"), "{error}");
    }
    for place in [1e20, 1.2 * LENGTH] {
        change!(pair, set_positions(1, &[[place, 0.0, 0.0]]));
        pair.solver.step(2);
        pair.reference.step(2);
    }
    for strains in [pair.solver.read_plastic_strains::<Distance>(), pair.reference.read_plastic_strains::<Distance>()] {
        let PlasticStrain { strain, is_broken, .. } = strains.unwrap()[0];
        assert!((strain - 0.15).abs() < 1e-3 && !is_broken, "{strain}, {is_broken}");
    }
}

/// A hinge of the rest angle 2.5 that is held at 3.28, which is 3.28 − 2π: its plastic strain is 0.78, and its strain too.
#[test]
fn a_crease_passes_the_closed_angle() {
    let gpu = common::gpu();
    let at = |angle: f32| [0.05, 0.1 * angle.sin(), -0.1 * angle.cos()];
    for (most, rupture, crease) in [(3.0, f32::INFINITY, 0.78f32), (0.9, 1.0, 0.78), (3.0, 0.7, 0.78)] {
        let mut scene = Scene::new();
        for position in [[0.0; 3], [0.1, 0.0, 0.0], [0.05, 0.0, 0.1], at(-3.28)] {
            let particle = scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
            scene.pin(particle).unwrap();
        }
        let x = scene.positions();
        let angle = Hinge::angle([x[0], x[1], x[2], x[3]]);
        let sign = if (angle + std::f32::consts::TAU - 3.28).abs() < 1e-3 { 1.0 } else { -1.0 };
        assert!((angle.abs() - (std::f32::consts::TAU - 3.28)).abs() < 1e-3, "{angle}");
        scene.add(Hinge::new([0, 1, 2, 3], sign * 2.5), Material::compliant(1.0)).unwrap();
        let plasticity = Plasticity { yield_strain: 0.0, most, rupture, ..Plasticity::default() };
        scene.set_plasticity::<Hinge>(0..1, plasticity).unwrap();
        let mut pair = Pair::new(&gpu, &scene, Settings::default());
        pair.run(8, 0.0, "held");
        for strains in [pair.solver.read_plastic_strains::<Hinge>(), pair.reference.read_plastic_strains::<Hinge>()] {
            let PlasticStrain { strain, is_broken, .. } = strains.unwrap()[0];
            assert!((sign * strain - crease).abs() < 1e-3, "{strain}");
            assert_eq!(is_broken, rupture < crease, "{rupture}");
        }
    }
}

/// A broken spring keeps the plastic strain of the step in which it broke.
#[test]
fn a_broken_constraint_does_not_flow() {
    let gpu = common::gpu();
    let scene = spring(Plasticity { yield_strain: 0.05, rupture: 0.25, ..Plasticity::default() });
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    for strain in [0.3, 0.8] {
        change!(pair, set_target(1, [LENGTH * (1.0 + strain), 0.0, 0.0]));
        pair.run(2, 0.0, "stretched");
        let read = [pair.solver.read_plastic_strains::<Distance>(), pair.reference.read_plastic_strains::<Distance>()];
        for PlasticStrain { strain, is_broken, .. } in read.map(|strains| strains.unwrap()[0]) {
            assert!((strain - 0.25).abs() < 1e-3 && is_broken, "{strain}, {is_broken}");
        }
    }
}

/// A cloth whose rest lengths shrink by 20 % over 20 steps: one upload a step, in tiles and by colours.
#[test]
fn a_batch_of_rest_lengths_equals_single_changes_and_shrinks_a_cloth() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let grid = ClothGrid { columns: 8, rows: 8, tethers: None, ..ClothGrid::default() };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    let original: Vec<Distance> = scene.distances(0..cloth.shear.end).collect();
    for execution in [Execution::Tiles, Execution::Colors] {
        let settings = Settings { gravity: [0.0; 3], damping: 5.0, execution, ..Settings::default() };
        let mut pair = Pair::new(&gpu, &scene, settings);
        for step in 1..=20 {
            let scale = 1.0 - 0.01 * step as f32;
            let scaled: Vec<Distance> =
                original.iter().map(|own| Distance { rest_length: scale * own.rest_length, ..*own }).collect();
            change!(pair, set_constraints(0, &scaled));
            pair.run(1, 1e-4, "shrinking");
        }
        let bad = [original[0], Distance { rest_length: f32::NAN, ..original[1] }];
        assert!(pair.solver.set_constraints(0, &bad).is_err() && pair.reference.set_constraints(0, &bad).is_err());
        let beyond = original.len() as u32 - 1;
        assert!(pair.solver.set_constraints(beyond, &original[..2]).is_err());
        pair.run(40, 1e-4, "after the errors");
        let x = pair.reference.read_positions().unwrap();
        let width = common::distance(x[0], x[7]) / common::distance(scene.positions()[0], scene.positions()[7]);
        assert!((width - 0.8).abs() < 0.01, "{width}");
    }
}

#[test]
fn invalid_plasticity_is_an_error_that_changes_nothing() {
    let mut scene = cloth();
    let bad = [
        Plasticity { yield_strain: f32::NAN, ..Plasticity::default() },
        Plasticity { flow_rate: -1.0, ..Plasticity::default() },
        Plasticity { hardening: 1e9, ..Plasticity::default() },
        Plasticity { most: 1.5, ..Plasticity::default() },
        Plasticity { rupture: -0.1, ..Plasticity::default() },
    ];
    for plasticity in bad {
        let error = scene.set_plasticity::<Distance>(0..1, plasticity).unwrap_err();
        assert!(matches!(error, Error::InvalidValue { .. }), "{error:?}");
    }
    let error = fold(Plasticity::default())
        .set_plasticity::<Hinge>(0..1, Plasticity { most: 3.5, ..Plasticity::default() })
        .unwrap_err();
    assert!(matches!(error, Error::InvalidValue { value: 3.5, .. }), "{error:?}");
    let error = scene.set_plasticity::<Distance>(0..100_000, Plasticity::default()).unwrap_err().to_string();
    assert!(error.contains("100000") && error.contains("distance"), "{error}");
    let error = scene.set_plasticity::<supple::Area>(0..0, Plasticity::default()).unwrap_err().to_string();
    assert!(error.contains("area") && error.contains("distances, hinges"), "{error}");
    let gpu = common::gpu();
    let error = Instances::new(&gpu.device, &gpu.queue, &scene, 2, Settings::default()).unwrap_err().to_string();
    assert!(error.contains("plastic distance"), "{error}");
}
