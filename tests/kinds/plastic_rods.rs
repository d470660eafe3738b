//! Plastic flow and rupture of rods: residual bends and twists, bent wires, rods that snap.

use crate::common;
use crate::common::{Pair, change, is_exact};
use glam::{DQuat, DVec3};
use supple::gpu::Snapshot;
use supple::{
    BendTwist, Error, Material, Orientation, Particle, PlasticStrain, Plasticity, Reference, Rod, RodMaterial,
    RodParts, Scene, Settings, StretchShear,
};

const RUBBER: RodMaterial = RodMaterial::round(0.005, 1e6, 0.3, 1000.0);

/// Length of a segment \[m\].
const SEGMENT: f32 = 0.02;

fn floating() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

/// Two pinned frames with a joint of the given rest rotation; the second is turned from rest by a rotation vector.
fn joint(rest: DQuat, turn: DVec3, plasticity: Plasticity) -> Scene {
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let half = DQuat::IDENTITY.slerp(rest, 0.5);
    let rotation = (half * DQuat::from_scaled_axis(turn) * half).to_array().map(|own| own as f32);
    let frames = [Orientation::default(), Orientation { rotation, ..Orientation::default() }];
    let ids = frames.map(|frame| scene.add_orientation(frame).unwrap());
    ids.into_iter().for_each(|id| scene.pin_orientation(id).unwrap());
    let rest = rest.to_array().map(|own| own as f32);
    let mut joint = BendTwist::new(ids);
    (joint.rest, joint.scales) = (rest, [1.0, 0.5, 2.0]);
    scene.add(joint, Material::compliant(1.0)).unwrap();
    scene.set_plasticity::<BendTwist>(0..1, plasticity).unwrap();
    scene
}

fn strain(reference: &Reference) -> PlasticStrain {
    reference.read_plastic_strains::<BendTwist>().unwrap()[0]
}

/// A monotonous load leaves (ε − Y)/(1 + H) about its axis, for bends, twist and both, and for joints that are bent at rest.
#[test]
fn a_turned_joint_keeps_the_rotation_beyond_its_yield_strain() {
    let bent = DQuat::from_scaled_axis(DVec3::new(0.7, -0.4, 0.2));
    for (rest, axis, angle, yield_strain, hardening) in [
        (DQuat::IDENTITY, DVec3::X, 0.8, 0.1, 0.0),
        (DQuat::IDENTITY, DVec3::Z, -1.2, 0.3, 0.5),
        (DQuat::IDENTITY, DVec3::new(0.6, 0.0, 0.8), 0.5, 0.05, 2.0),
        (bent, DVec3::new(-0.48, 0.64, 0.6), 1.0, 0.2, 0.0),
        (bent, DVec3::Y, 0.15, 0.2, 0.0),
    ] {
        let plasticity = Plasticity { yield_strain, hardening, ..Plasticity::default() };
        let mut reference = Reference::new(&joint(rest, axis * angle, plasticity), floating()).unwrap();
        reference.step(3);
        let own = strain(&reference);
        let law = ((angle.abs() - f64::from(yield_strain)) / f64::from(1.0 + hardening)).max(0.0);
        assert!((f64::from(own.strain) - law).abs() < 0.01 * law + 1e-6, "{axis} by {angle}: {own:?}, law {law}");
        let along = DVec3::from(own.rotation.map(f64::from)).dot(axis * angle.signum());
        assert!((along - law).abs() < 0.01 * law + 1e-6, "{axis} by {angle}: {own:?}");
    }
    // The rest rotation has followed: a turn by less than the rest of the strain and the yield strain changes nothing.
    let plasticity = Plasticity { yield_strain: 0.2, ..Plasticity::default() };
    let scene = joint(DQuat::IDENTITY, DVec3::X * 0.7, plasticity);
    let mut reference = Reference::new(&scene, floating()).unwrap();
    reference.step(2);
    for angle in [0.35, 0.65] {
        let goal = DQuat::from_rotation_x(angle).to_array().map(|own| own as f32);
        reference.set_orientation_target(scene.orientation(1).unwrap(), goal).unwrap();
        reference.step(3);
        assert!((strain(&reference).strain - 0.5).abs() < 5e-3, "{:?}", strain(&reference));
    }
    let limited = Plasticity { yield_strain: 0.0, most: 0.3, ..Plasticity::default() };
    let mut reference = Reference::new(&joint(DQuat::IDENTITY, DVec3::Y, limited), floating()).unwrap();
    reference.step(2);
    assert!((strain(&reference).strain - 0.3).abs() < 1e-5);
}

fn angle_between(a: [f32; 4], b: [f32; 4]) -> f64 {
    let [a, b] = [a, b].map(|own| DQuat::from_array(own.map(f64::from)));
    a.angle_between(b)
}

/// A clamped wire with its last point loaded.
fn wire(plasticity: Plasticity) -> (Scene, RodParts) {
    let mut scene = Scene::new();
    let points: Vec<[f32; 3]> = (0..=10).map(|k| [SEGMENT * k as f32, 0.0, 0.0]).collect();
    let rod = scene.add_rod(&Rod { clamped: [true, false], ..Rod::new(&points, RUBBER) }).unwrap();
    scene.set_plasticity::<BendTwist>(rod.joints.clone(), plasticity).unwrap();
    (scene, rod)
}

/// EI is 4.9e-4 N m², so 0.02 N at 0.2 m bend the first joint by 0.16 rad.
#[test]
fn a_bent_wire_stays_bent() {
    let gpu = common::gpu();
    let (scene, rod) = wire(Plasticity { yield_strain: 0.06, ..Plasticity::default() });
    let settings = Settings { forces: true, damping: 20.0, ..floating() };
    let mut pair = Pair::new(&gpu, &scene, settings);
    change!(pair, set_forces(10, &[[0.0, -0.02, 0.0]]));
    pair.run(60, 1e-4, "loaded");
    change!(pair, set_forces(10, &[[0.0; 3]]));
    pair.run(150, 1e-4, "unloaded");
    let strains = pair.reference.read_plastic_strains::<BendTwist>().unwrap();
    let frames = pair.reference.read_orientations().unwrap();
    // The first joint is half as long as the others: its angle is half of theirs.
    assert!(strains[1].strain > 0.03 && strains[8].strain == 0.0, "{strains:?}");
    let own = rod.frames.start as usize;
    for (joint, strain) in strains.iter().enumerate().skip(1).filter(|(_, strain)| strain.strain > 0.01) {
        let angle = angle_between(frames[own + joint - 1], frames[own + joint]);
        assert!((angle / f64::from(strain.strain) - 1.0).abs() < 0.01, "joint {joint}: {angle} of {strain:?}");
    }
    let tip = pair.reference.read_positions().unwrap()[10];
    assert!(tip[1] < -0.01, "{tip:?}");
    let on_gpu = pair.solver.read_plastic_strains::<BendTwist>().unwrap();
    let apart = |(a, b): (&PlasticStrain, &PlasticStrain)| (a.strain - b.strain).abs();
    assert!(on_gpu.iter().zip(&strains).all(|pair| apart(pair) < 1e-4), "{on_gpu:?}");
    // Reset straightens it.
    pair.solver.reset();
    pair.reference.reset();
    pair.run(20, 1e-4, "after the reset");
    assert!(pair.reference.read_positions().unwrap()[10][1].abs() < 1e-6);
}

/// A rod that hangs with a weight of 0.1 kg; segment 5 is weak.
fn hanging(rupture: f32, weak: f32) -> Scene {
    let mut scene = Scene::new();
    let points: Vec<[f32; 3]> = (0..=10).map(|k| [0.0, -SEGMENT * k as f32, 0.0]).collect();
    let rod = scene.add_rod(&Rod { clamped: [true, false], ..Rod::new(&points, RUBBER) }).unwrap();
    scene.set_mass(10, 0.1).unwrap();
    let plasticity = Plasticity { rupture, ..Plasticity::default() };
    scene.set_plasticity::<StretchShear>(rod.segments.clone(), plasticity).unwrap();
    let weak = Plasticity { rupture: weak, ..Plasticity::default() };
    scene.set_plasticity::<StretchShear>(rod.segments.start + 5..rod.segments.start + 6, weak).unwrap();
    scene
}

/// EA is 78.5 N, so 0.98 N stretch a segment by 1.25 %, and by up to twice as much in the oscillation after the start.
#[test]
fn an_overloaded_rod_snaps_and_its_lower_part_falls_freely() {
    let gpu = common::gpu();
    let scene = hanging(0.05, 0.01);
    let mut pair = Pair::new(&gpu, &scene, Settings::default());
    let broken = |strains: Vec<PlasticStrain>| -> Vec<u32> {
        strains.into_iter().filter(|own| own.is_broken).map(|own| own.constraint).collect()
    };
    for _ in 0..12 {
        pair.run(1, if is_exact(&gpu) { 0.0 } else { 1e-4 }, "rod");
        let [segments, joints] = [
            broken(pair.solver.read_plastic_strains::<StretchShear>().unwrap()),
            broken(pair.solver.read_plastic_strains::<BendTwist>().unwrap()),
        ];
        assert_eq!(segments.is_empty(), joints.is_empty(), "a segment takes its joints with it in the same step");
    }
    assert_eq!(broken(pair.solver.read_plastic_strains::<StretchShear>().unwrap()), [5]);
    assert_eq!(broken(pair.reference.read_plastic_strains::<StretchShear>().unwrap()), [5]);
    // The joints on both sides of the segment; joint 0 is that of the clamp.
    assert_eq!(broken(pair.solver.read_plastic_strains::<BendTwist>().unwrap()), [5, 6]);
    let speed = |pair: &Pair<'_>| pair.solver.read_velocities().unwrap()[10][1];
    let before = speed(&pair);
    pair.run(6, 1e-4, "falling");
    let acceleration = (speed(&pair) - before) / 0.1;
    assert!((acceleration / -9.81 - 1.0).abs() < 0.01, "{acceleration}");
    assert_eq!(pair.solver.read_diagnostics().unwrap().non_finite_count, 0);
    // A snapshot has the pieces, a reset joins them.
    let bytes = pair.solver.snapshot().unwrap().to_bytes();
    let mut other = common::solver(&gpu, &scene, *pair.solver.settings());
    other.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    other.step(3);
    pair.run(3, 1e-4, "after the snapshot");
    assert!(other.read_positions().unwrap() == pair.solver.read_positions().unwrap());
    pair.solver.reset();
    assert!(broken(pair.solver.read_plastic_strains::<StretchShear>().unwrap()).is_empty());
    // Below its strength it holds.
    let mut whole = Reference::new(&hanging(0.05, 0.03), Settings::default()).unwrap();
    whole.step(60);
    assert!(broken(whole.read_plastic_strains::<StretchShear>().unwrap()).is_empty());
}

/// A stretched segment keeps (ε − Y)/(1 + H). A ring has a joint outside of its chain.
#[test]
fn segments_yield_and_rings_of_wire_agree_on_both_backends() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let points: Vec<[f32; 3]> = (0..4).map(|k| [0.1 * k as f32, 0.0, 0.0]).collect();
    let rod = scene.add_rod(&Rod::new(&points, RUBBER)).unwrap();
    let plasticity = Plasticity { yield_strain: 0.02, hardening: 0.5, ..Plasticity::default() };
    scene.set_plasticity::<StretchShear>(rod.segments.clone(), plasticity).unwrap();
    rod.particles.clone().for_each(|particle| scene.pin(particle).unwrap());
    let mut pair = Pair::new(&gpu, &scene, floating());
    for particle in rod.particles.clone() {
        change!(pair, set_target(particle, [0.108 * particle as f32, 0.0, 0.0]));
    }
    pair.run(3, 1e-5, "stretched");
    for strains in
        [pair.solver.read_plastic_strains::<StretchShear>(), pair.reference.read_plastic_strains::<StretchShear>()]
    {
        for own in strains.unwrap() {
            assert!((own.strain / 0.04 - 1.0).abs() < 0.01, "{own:?}");
        }
    }
    let mut scene = Scene::new();
    let points: Vec<[f32; 3]> = (0..12)
        .map(|k| std::f32::consts::FRAC_PI_6 * k as f32)
        .map(|angle| [0.1 * angle.cos(), 0.0, 0.1 * angle.sin()])
        .collect();
    let rod = scene.add_rod(&Rod { closed: true, ..Rod::new(&points, RUBBER) }).unwrap();
    let plasticity = Plasticity { yield_strain: 0.01, flow_rate: 10.0, ..Plasticity::default() };
    scene.set_plasticity::<BendTwist>(rod.joints.clone(), plasticity).unwrap();
    [0, 6].into_iter().for_each(|particle| scene.pin(particle).unwrap());
    let mut pair = Pair::new(&gpu, &scene, Settings { damping: 1.0, ..Settings::default() });
    change!(pair, set_target(0, [0.05, 0.0, 0.0]));
    change!(pair, set_target(6, [-0.05, 0.01, 0.0]));
    pair.run(20, if is_exact(&gpu) { 0.0 } else { 1e-4 }, "ring");
    let strains = pair.solver.read_plastic_strains::<BendTwist>().unwrap();
    assert!(strains.iter().filter(|own| own.strain > 0.01).count() > 6, "{strains:?}");
}

#[test]
fn invalid_plasticity_of_rods_is_an_error() {
    let (mut scene, rod) = wire(Plasticity::default());
    let bent = scene.set_plasticity::<BendTwist>(rod.joints.clone(), Plasticity { most: 3.5, ..Plasticity::default() });
    assert!(matches!(bent, Err(Error::InvalidValue { value: 3.5, .. })), "{bent:?}");
    let long = scene.set_plasticity::<StretchShear>(rod.segments, Plasticity { most: 1.0, ..Plasticity::default() });
    assert!(matches!(long, Err(Error::InvalidValue { value: 1.0, .. })), "{long:?}");
}
