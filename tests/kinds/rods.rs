//! Rods while they run: clamps, pins, quarantine, shifts of the origin, renumbering, contacts.

use crate::common;
use crate::common::{gpu, solver};
use glam::{DQuat, DVec3};
use supple::constraints::Kind;
use supple::{
    BendTwist, Collider, Material, Orientation, Particle, Reference, Rod, RodMaterial, RodParts, Scene, Settings,
    Shape, StretchShear,
};

const RUBBER: RodMaterial = RodMaterial::round(0.005, 1e6, 0.3, 1000.0);

fn line(count: usize) -> Vec<[f32; 3]> {
    (0..=count).map(|k| [0.02 * k as f32, 0.0, 0.0]).collect()
}

fn clamped(ends: [bool; 2]) -> (Scene, RodParts) {
    let mut scene = Scene::new();
    let points = line(10);
    let parts = scene.add_rod(&Rod { clamped: ends, ..Rod::new(&points, RUBBER) }).unwrap();
    (scene, parts)
}

fn wide(q: [f32; 4]) -> DQuat {
    DQuat::from_array(q.map(f64::from))
}

fn angle_between(a: [f32; 4], b: [f32; 4]) -> f64 {
    let turn = wide(a) * wide(b).conjugate();
    2.0 * DVec3::new(turn.x, turn.y, turn.z).length().atan2(turn.w.abs())
}

fn floating() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

/// Three turns of a clamp at 6 rad/s, by a target in each step; both backends.
#[test]
fn a_clamp_that_is_turned_reaches_its_targets_and_twists_the_rod() {
    let gpu = gpu();
    let (scene, parts) = clamped([true; 2]);
    let id = parts.clamps[1].unwrap();
    let start = wide(scene.orientations()[id.index()].rotation);
    let mut on_gpu = solver(&gpu, &scene, floating());
    let mut reference = Reference::new(&scene, floating()).unwrap();
    for frame in 1..=60 {
        let goal = DQuat::from_rotation_x(0.1 * f64::from(frame)) * start;
        let goal = goal.to_array().map(|component| component as f32);
        on_gpu.set_orientation_target(id, goal).unwrap();
        reference.set_orientation_target(id, goal).unwrap();
        on_gpu.step(1);
        reference.step(1);
        if frame % 20 == 0 {
            for frames in [on_gpu.read_orientations().unwrap(), reference.read_orientations().unwrap()] {
                let apart = angle_between(frames[id.index()], goal);
                assert!(apart < 1e-5, "frame {frame}: {apart} rad from the target");
            }
        }
    }
    // The frame in the middle has followed.
    let frames = reference.read_orientations().unwrap();
    let turned = angle_between(frames[5], scene.orientations()[5].rotation);
    assert!(turned > 0.5, "{turned} rad");
}

/// A pinned frame of a segment turns at the velocity that the user sets; released, it swings back.
#[test]
fn a_pinned_frame_turns_at_its_velocity_until_it_is_released() {
    let (scene, parts) = clamped([true, false]);
    let id = scene.orientation(parts.frames.end - 1).unwrap();
    let mut reference = Reference::new(&scene, floating()).unwrap();
    reference.pin_orientations(&[id]).unwrap();
    reference.set_angular_velocities(id, &[[2.0, 0.0, 0.0]]).unwrap();
    reference.step(30);
    let turned =
        angle_between(reference.read_orientations().unwrap()[id.index()], scene.orientations()[id.index()].rotation);
    assert!((turned - 1.0).abs() < 1e-4, "{turned} of 1 rad");
    reference.release_orientations(&[id]).unwrap();
    reference.step(60);
    let turned =
        angle_between(reference.read_orientations().unwrap()[id.index()], scene.orientations()[id.index()].rotation);
    assert!(turned < 0.9, "{turned} rad");
}

#[test]
fn a_non_finite_rotation_is_quarantined_on_both_backends() {
    let gpu = gpu();
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let fast = Orientation { angular_velocity: [3e38, 0.0, 0.0], ..Orientation::default() };
    scene.add_orientation(Orientation::default()).unwrap();
    scene.add_orientation(fast).unwrap();
    let mut on_gpu = solver(&gpu, &scene, floating());
    let mut reference = Reference::new(&scene, floating()).unwrap();
    on_gpu.step(1);
    reference.step(1);
    for report in [on_gpu.read_diagnostics().unwrap(), reference.read_diagnostics().unwrap()] {
        assert_eq!((report.non_finite_count, report.first_non_finite), (1, Some(2)), "{report:?}");
    }
    for frames in [on_gpu.read_orientations().unwrap(), reference.read_orientations().unwrap()] {
        assert_eq!(frames, [[0.0, 0.0, 0.0, 1.0]; 2]);
    }
}

/// A free frame turns at constant angular velocity, through many half turns, where the parameters change.
#[test]
fn a_free_frame_turns_evenly() {
    let gpu = gpu();
    let spin = DVec3::new(7.0, -11.0, 4.0);
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let start = Orientation { angular_velocity: spin.as_vec3().into(), ..Orientation::default() };
    scene.add_orientation(start).unwrap();
    let mut on_gpu = solver(&gpu, &scene, floating());
    let mut reference = Reference::new(&scene, floating()).unwrap();
    on_gpu.step(120);
    reference.step(120);
    // A substep turns by 4 atan(ω h/4).
    let h = f64::from(floating().substep());
    let angle = 4.0 * (spin.length() * h / 4.0).atan() * 2400.0;
    let expected = DQuat::from_axis_angle(spin.normalize(), angle).to_array().map(|component| component as f32);
    for frames in [on_gpu.read_orientations().unwrap(), reference.read_orientations().unwrap()] {
        let apart = angle_between(frames[0], expected);
        assert!(apart < 1e-4, "{apart} rad after {angle} rad");
    }
    let spins = reference.read_angular_velocities().unwrap();
    assert!((DVec3::from(spins[0].map(f64::from)) - spin).length() < 1e-5, "{spins:?}");
}

#[test]
fn a_shift_of_the_origin_and_a_renumbering_leave_rods_as_they_are() {
    let gpu = gpu();
    let (scene, _) = clamped([true, false]);
    let settings = Settings { execution: supple::Execution::Colors, ..Settings::default() };
    let mut pair = common::Pair::new(&gpu, &scene, settings);
    pair.run(5, 1e-3, "before");
    let before = pair.reference.read_orientations().unwrap();
    common::change!(pair, shift_origin([10.0, -20.0, 30.0]));
    assert_eq!(pair.reference.read_orientations().unwrap(), before);
    pair.run(5, 1e-3, "after");

    // Points in an order that a renumbering changes.
    let mut shuffled = Scene::new();
    let id = |k: u32| k * 7 % 20;
    let mut places = vec![[0.0f32; 3]; 20];
    (0..20).for_each(|k| places[id(k) as usize] = [0.1 * k as f32, 0.0, 0.0]);
    for position in places {
        shuffled.add_particle(Particle { position, ..Particle::default() }).unwrap();
    }
    shuffled.add_body(0..20).unwrap();
    // d₃ along x.
    let rotation = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2).to_array().map(|component| component as f32);
    let frames: Vec<_> = (0..19)
        .map(|_| shuffled.add_orientation(Orientation { rotation, ..Orientation::default() }).unwrap())
        .collect();
    for k in 0..19 {
        let segment = StretchShear::new([id(k), id(k + 1)], frames[k as usize], 0.1);
        shuffled.add(segment, Material::compliant(1e-6)).unwrap();
        if k > 0 {
            let joint = BendTwist::new([frames[k as usize - 1], frames[k as usize]]);
            shuffled.add(joint, Material::compliant(1e-4)).unwrap();
        }
    }
    shuffled.pin(id(0)).unwrap();
    shuffled.pin_orientation(frames[0]).unwrap();
    let mut numbered = shuffled.clone();
    let numbering = numbered.renumber();
    assert!((0..20).any(|k| numbering.new_index(k).unwrap() != k), "nothing is renumbered");
    let mut references = [&shuffled, &numbered].map(|scene| Reference::new(scene, Settings::default()).unwrap());
    references.iter_mut().for_each(|reference| reference.step(20));
    let [own, other] =
        references.map(|reference| (reference.read_positions().unwrap(), reference.read_orientations().unwrap()));
    let other = (numbering.to_old_order(&other.0).unwrap(), other.1);
    for (a, b) in own.0.iter().zip(&other.0) {
        let apart = (glam::Vec3::from(*a) - glam::Vec3::from(*b)).length();
        assert!(apart < 1e-3, "{a:?} and {b:?}");
    }
    assert!(angle_between(own.1[18], other.1[18]) < 1e-2);
}

/// The parameters of a joint change while it runs: a straight rod coils.
#[test]
fn the_rest_shape_changes_while_a_rod_runs() {
    let gpu = gpu();
    let (scene, parts) = clamped([true, false]);
    let settings = Settings { execution: supple::Execution::Colors, damping: 5.0, ..floating() };
    let mut pair = common::Pair::new(&gpu, &scene, settings);
    let half = 0.15f32;
    for (index, frame) in (1..10).enumerate() {
        let ids = [frame - 1, frame].map(|index| scene.orientation(index).unwrap());
        let mut joint = BendTwist::new(ids);
        joint.rest = [0.0, half.sin(), 0.0, half.cos()];
        // The first joint is that of the clamp.
        common::change!(pair, set_constraint(parts.joints.start + 1 + index as u32, joint));
    }
    let other = BendTwist::new([1, 3].map(|index| scene.orientation(index).unwrap()));
    let error = pair.reference.set_constraint(1, other).unwrap_err();
    assert!(error.to_string().contains("orientation of bend_twist constraint 1"), "{error}");
    pair.run(30, 1e-3, "coiled");
    let frames = pair.reference.read_orientations().unwrap();
    let turned = angle_between(frames[0], frames[9]);
    assert!(turned > 2.0, "{turned} of 2.7 rad");
}

#[test]
fn a_snapshot_of_rods_continues_with_the_same_bits() {
    let gpu = gpu();
    let (scene, parts) = clamped([true; 2]);
    let id = parts.clamps[1].unwrap();
    let mut first = solver(&gpu, &scene, Settings::default());
    first.set_orientation_target(id, [0.0, 0.6, 0.0, 0.8]).unwrap();
    first.pin_orientations(&[scene.orientation(parts.frames.start + 4).unwrap()]).unwrap();
    first.step(3);
    let snapshot = first.snapshot().unwrap();
    let mut second = solver(&gpu, &scene, Settings::default());
    second.restore(&snapshot).unwrap();
    assert_eq!(second.read_orientations().unwrap(), first.read_orientations().unwrap());
    for own in [&mut first, &mut second] {
        own.step(5);
    }
    assert_eq!(second.read_orientations().unwrap(), first.read_orientations().unwrap());
    assert_eq!(second.read_positions().unwrap(), first.read_positions().unwrap());
    // Another inertia is another scene.
    let mut other = Scene::new();
    let points = line(10);
    other.add_rod(&Rod { clamped: [true; 2], frame_inertia: 2.0, ..Rod::new(&points, RUBBER) }).unwrap();
    assert!(solver(&gpu, &other, Settings::default()).restore(&snapshot).is_err());
}

/// Surface contacts have the segments of a rod, as those of a rope: no particle of either rod is at the crossing.
#[test]
fn a_rod_rests_across_another() {
    let mut scene = Scene::new();
    let beam = scene.add_rod(&Rod { clamped: [true; 2], ..Rod::new(&line(9), RUBBER) }).unwrap();
    let across: Vec<[f32; 3]> = (0..10).map(|k| [0.09, 0.012, 0.02 * (k as f32 - 4.5)]).collect();
    let rod = scene.add_rod(&Rod::new(&across, RUBBER)).unwrap();
    let self_collision = Some(supple::SelfCollision::surfaces());
    let settings = Settings { self_collision, damping: 2.0, ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.step(60);
    let x = reference.read_positions().unwrap();
    // The mean of the two particles at the middle of each rod.
    let middle = |rod: &RodParts| [4, 5].map(|k| x[rod.particles.start as usize + k][1]).iter().sum::<f32>() / 2.0;
    let gap = middle(&rod) - middle(&beam);
    assert!((0.002..0.01).contains(&gap), "{gap} m of a thickness of 5 mm");
}

#[test]
fn a_rod_rests_on_a_floor() {
    let mut scene = Scene::new();
    let points: Vec<[f32; 3]> = line(10).into_iter().map(|[x, _, z]| [x, 0.05, z]).collect();
    scene.add_rod(&Rod::new(&points, RUBBER)).unwrap();
    scene.add_collider(Collider::new(Shape::HalfSpace, [0.0; 3])).unwrap();
    let settings = Settings { damping: 1.0, ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.step(120);
    for [_, y, _] in reference.read_positions().unwrap() {
        assert!((y - 0.0025).abs() < 1e-4, "{y} m");
    }
    assert_eq!(scene.constraint_count_of(StretchShear::INFO), 10);
    assert_eq!(scene.constraint_count_of(BendTwist::INFO), 9);
}
