//! Invalid rods and orientations: each error names the thing and the numbers, and nothing changes.

use crate::common::{gpu, solver};
use supple::constraints::Kind;
use supple::{
    BendTwist, Error, Instances, Material, Orientation, OrientationId, Particle, Reference, Result, Rod, RodMaterial,
    RodRest, Scene, Settings, StretchShear,
};

const NAN: f32 = f32::NAN;
const RUBBER: RodMaterial = RodMaterial::round(0.005, 1e6, 0.3, 1000.0);
const POINTS: [[f32; 3]; 4] = [[0.0; 3], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0], [0.3, 0.1, 0.0]];

fn assert_words(error: &Error, words: &[&str]) {
    let text = error.to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{text:?} lacks one of {words:?}");
}

#[test]
fn invalid_rods_are_rejected() {
    let of = |material: RodMaterial| Rod::new(&POINTS, material);
    let plain = of(RUBBER);
    let double = [[0.0; 3], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0]];
    let holed = [[0.0; 3], [0.1, NAN, 0.0]];
    let cases: Vec<(Rod, &[&str])> = vec![
        (of(RodMaterial { radii: [0.0; 2], ..RUBBER }), &["radius 0 of a rod", "0"]),
        (of(RodMaterial { radii: [0.1, NAN], ..RUBBER }), &["radius 1 of a rod", "NaN"]),
        (of(RodMaterial { radii: [-0.1, 0.1], ..RUBBER }), &["radius 0 of a rod", "-0.1"]),
        (of(RodMaterial { young: 0.0, ..RUBBER }), &["Young's modulus", "0"]),
        (of(RodMaterial { young: f32::INFINITY, ..RUBBER }), &["Young's modulus", "inf"]),
        (of(RodMaterial { poisson_ratio: 0.6, ..RUBBER }), &["Poisson's ratio", "0.6", "0.5"]),
        (of(RodMaterial { poisson_ratio: -1.0, ..RUBBER }), &["Poisson's ratio", "-1"]),
        (of(RodMaterial { poisson_ratio: NAN, ..RUBBER }), &["Poisson's ratio", "NaN"]),
        (of(RodMaterial { density: 0.0, ..RUBBER }), &["density", "0"]),
        (of(RodMaterial { damping_time: -1.0, ..RUBBER }), &["damping time", "rod", "-1"]),
        (of(RodMaterial { radii: [1e-12; 2], ..RUBBER }), &["rod", "0"]),
        (Rod::new(&POINTS[..1], RUBBER), &["rod", "fewer than two points"]),
        (Rod { closed: true, ..Rod::new(&POINTS[..2], RUBBER) }, &["closed rod", "fewer than three points"]),
        (Rod::new(&double, RUBBER), &["segment 1 of a rod", "[1, 2]", "0 m"]),
        (Rod::new(&holed, RUBBER), &["point 1 of a rod", "NaN"]),
        (Rod { twist: NAN, ..plain.clone() }, &["twist of a rod", "NaN"]),
        (Rod { frame_inertia: -1.0, ..plain.clone() }, &["frame inertia of a rod", "-1"]),
        (Rod { normal: Some([2.0, 0.0, 0.0]), ..plain.clone() }, &["normal of a rod", "0.001"]),
        (Rod { normal: Some([0.0; 3]), ..plain.clone() }, &["normal of a rod", "NaN"]),
        (
            Rod { rest: RodRest::Darboux([0.0, NAN, 0.0]), ..plain.clone() },
            &["rest curvature and twist of a rod", "NaN"],
        ),
        (Rod { closed: true, clamped: [true, false], ..plain }, &["clamped ends of a closed rod", "1"]),
    ];
    for (rod, words) in cases {
        let mut scene = Scene::new();
        assert_words(&scene.add_rod(&rod).unwrap_err(), words);
        assert_eq!(
            (scene.particle_count(), scene.orientations().len(), scene.constraint_count()),
            (0, 0, 0),
            "{words:?}"
        );
    }
}

/// Two particles and three orientations, the last one pinned and without inertia.
fn scene() -> (Scene, [OrientationId; 3]) {
    let mut scene = Scene::new();
    for x in [0.0, 1.0] {
        scene.add_particle(Particle { position: [x, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    let ids = [1.0, 2.0, 0.0].map(|inverse_inertia| {
        scene.add_orientation(Orientation { inverse_inertia, ..Orientation::default() }).unwrap()
    });
    (scene, ids)
}

#[test]
fn invalid_orientations_and_their_constraints_are_rejected() {
    let (own, [a, b, _]) = scene();
    let stranger = {
        let (mut other, _) = scene();
        other.add_orientation(Orientation::default()).unwrap()
    };
    type Attempt = Box<dyn Fn(&mut Scene) -> Result<()>>;
    let orientation = |own: Orientation| -> Attempt { Box::new(move |scene| scene.add_orientation(own).map(drop)) };
    let joint = |ids: [OrientationId; 2], change: fn(&mut BendTwist)| -> Attempt {
        let mut own = BendTwist::new(ids);
        change(&mut own);
        Box::new(move |scene| scene.add(own, Material::RIGID).map(drop))
    };
    let segment = |particles: [u32; 2], id: OrientationId, change: fn(&mut StretchShear)| -> Attempt {
        let mut own = StretchShear::new(particles, id, 1.0);
        change(&mut own);
        Box::new(move |scene| scene.add(own, Material::RIGID).map(drop))
    };
    let plain = Orientation::default();
    let cases: Vec<(Attempt, &[&str])> = vec![
        (orientation(Orientation { rotation: [0.0; 4], ..plain }), &["rotation of orientation 3", "0"]),
        (orientation(Orientation { rotation: [1.0; 4], ..plain }), &["rotation of orientation 3", "2"]),
        (orientation(Orientation { rotation: [NAN; 4], ..plain }), &["rotation of orientation 3", "NaN"]),
        (
            orientation(Orientation { angular_velocity: [NAN; 3], ..plain }),
            &["angular velocity of orientation 3", "NaN"],
        ),
        (orientation(Orientation { inverse_inertia: -1.0, ..plain }), &["inverse inertia of orientation 3", "-1"]),
        (joint([a, a], |_| ()), &["bend_twist constraint 0", "orientation 0", "more than once"]),
        (joint([a, stranger], |_| ()), &["bend_twist constraint 0", "orientation 3", "3"]),
        (joint([a, b], |own| own.rest = [0.0; 4]), &["rest rotation of bend-twist 0", "0"]),
        (joint([a, b], |own| own.scales[1] = 0.0), &["scale of bend-twist 0", "0"]),
        (segment([0, 1], stranger, |_| ()), &["stretch_shear constraint 0", "orientation 3"]),
        (segment([0, 0], a, |_| ()), &["stretch_shear constraint 0", "particle 0", "more than once"]),
        (segment([0, 2], a, |_| ()), &["stretch_shear constraint 0", "particle 2"]),
        (segment([0, 1], a, |own| own.rest_length = 0.0), &["rest length of stretch-shear 0", "0"]),
        (segment([0, 1], a, |own| own.scales[2] = NAN), &["scale of stretch-shear 0", "NaN"]),
        (Box::new(move |scene| scene.pin_orientation(stranger)), &["pin_orientation", "orientation 3"]),
        (Box::new(move |scene| scene.set_rotation(a, [2.0, 0.0, 0.0, 0.0])), &["rotation of orientation 0", "2"]),
        (Box::new(move |scene| scene.set_angular_velocity(a, [NAN; 3])), &["angular velocity of orientation 0", "NaN"]),
    ];
    for (attempt, words) in cases {
        let mut changed = own.clone();
        assert_words(&attempt(&mut changed).unwrap_err(), words);
        assert_eq!(changed.orientations(), own.orientations());
        assert_eq!(changed.constraint_count_of(BendTwist::INFO) + changed.constraint_count_of(StretchShear::INFO), 0);
    }
}

/// Makes the same failing call on both backends.
macro_rules! rejected {
    ($backends:expr, $words:expr, $call:ident($($argument:expr),+)) => {{
        let (solver, reference) = &mut $backends;
        assert_words(&solver.$call($($argument),+).unwrap_err(), $words);
        assert_words(&reference.$call($($argument),+).unwrap_err(), $words);
    }};
}

#[test]
fn invalid_changes_of_orientations_are_rejected_while_running() {
    let gpu = gpu();
    let (scene, [a, b, massless]) = scene();
    let settings = Settings { gravity: [0.0; 3], ..Settings::default() };
    let mut backends = (solver(&gpu, &scene, settings), Reference::new(&scene, settings).unwrap());
    let unit = [0.0, 0.0, 0.0, 1.0];
    rejected!(backends, &["orientation 0", "not pinned"], set_orientation_target(a, unit));
    rejected!(backends, &["target of orientation 2", "2"], set_orientation_target(massless, [1.0; 4]));
    rejected!(backends, &["orientation 2", "inertia"], release_orientations(&[massless]));
    rejected!(backends, &["angular velocity of orientation 1", "NaN"], set_angular_velocities(b, &[[NAN; 3]]));
    rejected!(backends, &["angular velocity", "orientation 3", "3"], set_angular_velocities(b, &[[0.0; 3]; 3]));
    rejected!(backends, &["rotation of orientation 1", "0"], set_rotations(b, &[[0.0; 4]]));
    rejected!(backends, &["set_torques", "Settings::forces"], set_torques(a, &[[0.0; 3]]));
    let forced = Settings { forces: true, ..settings };
    backends.0.set_settings(forced).unwrap();
    backends.1.set_settings(forced).unwrap();
    rejected!(backends, &["torque of orientation 0", "NaN"], set_torques(a, &[[NAN; 3]]));
    backends.0.step(1);
    backends.1.step(1);
    assert_eq!(backends.0.read_orientations().unwrap(), [unit; 3]);
    assert_eq!(backends.1.read_orientations().unwrap(), [unit; 3]);
}

#[test]
fn instances_reject_assets_with_orientations() {
    let gpu = gpu();
    let mut asset = Scene::new();
    asset.add_rod(&Rod::new(&POINTS, RUBBER)).unwrap();
    let error = Instances::new(&gpu.device, &gpu.queue, &asset, 4, Settings::default()).unwrap_err();
    assert_words(&error, &["orientation", "3"]);
}
