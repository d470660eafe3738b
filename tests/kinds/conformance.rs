//! The conformance suite: requirements on all constraint kinds in [`KINDS`]. A new kind is covered once it is in that
//! list.

use crate::common;
use crate::common::raw::{cases, is_point, parameter_room, pin, places, scene_of};
use glam::Vec3;
use supple::constraints::{Distance, Function, KINDS, Kind, KindInfo, MAX_ARITY, Sample};
use supple::internals::rotation::{rotation_between, rotation_step};
use supple::{Material, Reference, Settings};

/// No external forces: all motion comes from the constraint.
fn weightless(iterations: u32) -> Settings {
    Settings { substeps: 1, iterations, gravity: [0.0; 3], ..Settings::default() }
}

/// C and ∇C of a kind.
fn evaluate(info: &KindInfo, sample: &Sample, positions: &[Vec3]) -> (f32, Vec<Vec3>) {
    let mut grad = vec![Vec3::NAN; positions.len()];
    let c = info.evaluate(&sample.parameters, &sample.members, positions, &mut grad);
    (c, grad)
}

/// The largest distance from the first particle [m]; 1 rad for a kind without particles.
fn extent(info: &KindInfo, positions: &[Vec3]) -> f32 {
    if info.point_count() == 0 && !info.is_group() {
        return 1.0;
    }
    let points = positions.iter().enumerate().filter(|&(k, _)| is_point(info, k));
    points.fold(0.0, |size, (_, x)| size.max(x.distance(positions[0])))
}

/// The places with the particles relative to `origin`.
fn relative(info: &KindInfo, positions: &[Vec3], origin: Vec3) -> Vec<Vec3> {
    let place = |(k, &x): (usize, &Vec3)| if is_point(info, k) { x - origin } else { x };
    positions.iter().enumerate().map(place).collect()
}

fn largest(vectors: &[Vec3]) -> f32 {
    vectors.iter().fold(0.0, |size, vector| size.max(vector.length()))
}

/// The largest difference between ∇C and the central difference of C, relative to the largest gradient. Positions are
/// relative to the first particle, as in the solver; differences are computed in f64.
fn gradient_error(info: &KindInfo, sample: &Sample) -> f64 {
    let p = relative(info, &sample.positions, sample.positions[0]);
    let (_, grad) = evaluate(info, sample, &p);
    let step = 1e-3 * extent(info, &p);
    let mut worst = 0f64;
    for particle in 0..p.len() {
        for axis in 0..3 {
            let mut moved = [p.clone(), p.clone()];
            let mut run = 2.0 * f64::from(step);
            if is_point(info, particle) {
                moved[0][particle][axis] += step;
                moved[1][particle][axis] -= step;
                // The actual distance in f32.
                run = f64::from(moved[0][particle][axis]) - f64::from(moved[1][particle][axis]);
            } else {
                for (moved, sign) in moved.iter_mut().zip([step, -step]) {
                    moved[particle] += rotation_step(p[particle], Vec3::AXES[axis] * sign);
                }
            }
            let [above, below] = moved.map(|p| f64::from(evaluate(info, sample, &p).0));
            let difference = (f64::from(grad[particle][axis]) - (above - below) / run).abs();
            worst = if difference > worst || difference.is_nan() { difference } else { worst };
        }
    }
    worst / f64::from(largest(&grad))
}

/// |Σ ∇C| over the particles, and |Σ x × ∇C| with the gradients by rotations, relative to their summands.
fn force_and_torque(info: &KindInfo, sample: &Sample) -> [f32; 2] {
    let p = relative(info, &sample.positions, sample.positions[0]);
    let (_, grad) = evaluate(info, sample, &p);
    let force: Vec3 = grad.iter().enumerate().filter(|&(k, _)| is_point(info, k)).map(|(_, grad)| *grad).sum();
    let moment = |(k, (x, grad)): (usize, (&Vec3, &Vec3))| if is_point(info, k) { x.cross(*grad) } else { *grad };
    let torque: Vec3 = p.iter().zip(&grad).enumerate().map(moment).sum();
    [force.length() / largest(&grad), torque.length() / (largest(&grad) * extent(info, &p))]
}

fn norms_are_one(info: &KindInfo, sample: &Sample) -> bool {
    evaluate(info, sample, &sample.positions).1.iter().all(|grad| (grad.length() - 1.0).abs() < 1e-5)
}

#[test]
fn descriptions_are_consistent() {
    let mut names = std::collections::BTreeSet::new();
    for info in KINDS {
        let name = info.name;
        assert!(names.insert(name), "{name} stands twice");
        assert_eq!(info.is_group(), info.arity == 0, "{name}: arity {}", info.arity);
        assert!(info.arity <= MAX_ARITY, "{name}: arity {}", info.arity);
        assert_eq!(info.record_words % 4, 0, "{name}: a record is a row of vec4s");
        let room = parameter_room(info);
        assert!(room <= common::raw::MAX_PARAMETERS, "{name}: {room} parameters");
        let samples = (info.samples)();
        assert!(samples.len() >= 3, "{name}: {} samples", samples.len());
        for sample in &samples {
            assert!(sample.parameters.len() <= room, "{name}: {} parameters for {room}", sample.parameters.len());
            let count = if info.is_group() { sample.positions.len() } else { info.arity };
            assert_eq!(sample.positions.len(), count, "{name}: positions");
            assert_eq!(sample.rest.len(), count, "{name}: rest");
            assert_eq!(sample.members.is_empty(), !info.is_group(), "{name}: members");
        }
    }
}

#[test]
fn gradients_equal_central_differences() {
    for (_, info, sample) in cases() {
        let error = gradient_error(info, &sample);
        assert!(error < 1e-2, "{}: {error} at {:?}", info.name, sample.positions);
    }
}

#[test]
fn gradients_exert_no_net_force_or_torque() {
    // Otherwise the constraint would exert a net force or torque.
    for (_, info, sample) in cases() {
        let [force, torque] = force_and_torque(info, &sample);
        assert!(force < 1e-5, "{}: Σ∇C is {force} at {:?}", info.name, sample.positions);
        assert!(torque < 1e-5, "{}: Σx×∇C is {torque} at {:?}", info.name, sample.positions);
    }
}

#[test]
fn samples_are_in_general_position() {
    // A sample at rest, or without a gradient, would pass every test.
    for (_, info, sample) in cases() {
        let (c, grad) = evaluate(info, &sample, &sample.positions);
        assert!(grad.iter().all(|one| one.length() > 1e-3 * largest(&grad)), "{}: {grad:?}", info.name);
        assert!(c.abs() > 1e-3 * largest(&grad) * extent(info, &sample.positions), "{}: C = {c}", info.name);
    }
}

#[test]
fn c_is_zero_at_rest() {
    for (_, info, sample) in cases() {
        let (c, grad) = evaluate(info, &sample, &sample.rest);
        // Some kinds have no gradient at rest; C is then at most of the order of a length or an angle.
        let slope = if largest(&grad) > 0.0 { largest(&grad) } else { 1.0 };
        let size = slope * extent(info, &sample.rest);
        assert!(c.abs() <= 1e-5 * size, "{}: C = {c} at {:?}", info.name, sample.rest);
    }
}

#[test]
fn c_does_not_depend_on_the_frame() {
    // The solver evaluates relative to the first particle.
    for (_, info, sample) in cases() {
        let shifted = relative(info, &sample.positions, Vec3::new(-0.5, 1.25, -2.0));
        let [(here, grad), (there, grad_there)] = [&sample.positions, &shifted].map(|p| evaluate(info, &sample, p));
        let size = largest(&grad) * extent(info, &sample.positions);
        assert!((here - there).abs() < 1e-4 * size, "{}: C = {here} and {there}", info.name);
        let difference: Vec<Vec3> = grad.iter().zip(&grad_there).map(|(a, b)| *a - *b).collect();
        assert!(largest(&difference) < 1e-4 * largest(&grad), "{}: {grad:?} and {grad_there:?}", info.name);
    }
}

#[test]
fn kinds_with_the_unit_gradient_flag_have_unit_gradients() {
    for (_, info, sample) in cases().filter(|(_, info, _)| info.unit_gradients) {
        assert!(norms_are_one(info, &sample), "{}: at {:?}", info.name, sample.positions);
    }
}

#[test]
fn degenerate_positions_give_finite_numbers() {
    let corner = Vec3::new(0.3, -0.2, 0.7);
    for (place, info, sample) in cases() {
        let count = sample.positions.len();
        let all_at_one = vec![corner; count];
        // All on a line, and all but the last at one point.
        let in_line: Vec<Vec3> = (0..count).map(|k| corner + Vec3::X * k as f32).collect();
        let mut nearly = all_at_one.clone();
        nearly[count - 1] += Vec3::Y;
        let check = |positions: &[Vec3]| {
            let (c, grad) = evaluate(info, &sample, positions);
            let finite = c.is_finite() && grad.iter().all(|grad| grad.is_finite());
            assert!(finite, "{}: C = {c}, {grad:?} at {positions:?}", info.name);
        };
        // Nearly at one point: squares of areas are beyond the range of f32.
        for scale in [1e-8, 1e-10, 1e-12, 1e-20] {
            let shrunk = |(k, p): (usize, &Vec3)| if is_point(info, k) { *p * scale } else { *p };
            check(&sample.positions.iter().enumerate().map(shrunk).collect::<Vec<_>>());
        }
        for positions in [all_at_one, in_line, nearly] {
            check(&positions);
            let scene = scene_of(place, &sample, &positions, Material::RIGID);
            let mut reference = Reference::new(&scene, weightless(3)).unwrap();
            reference.step(2);
            assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0, "{}: at {positions:?}", info.name);
            assert!(
                reference.read_lambdas_of(place).unwrap().iter().all(|lambda| lambda.is_finite()),
                "{}: λ",
                info.name
            );
        }
    }
}

#[test]
fn pinned_particles_never_move() {
    let settings = Settings { substeps: 5, iterations: 2, ..Settings::default() };
    for (place, info, sample) in cases() {
        for material in [Material::RIGID, Material { compliance: 1e-4, damping: 10.0, ..Material::RIGID }] {
            let count = sample.positions.len() as u32;
            let everyone = (0..1u32 << count).map(|mask| (0..count).filter(move |k| mask >> k & 1 == 1));
            for pins in everyone {
                let mut scene = scene_of(place, &sample, &sample.positions, material);
                let pins: Vec<u32> = pins.collect();
                pins.iter().for_each(|&k| pin(&mut scene, info, k));
                let mut reference = Reference::new(&scene, settings).unwrap();
                let before = places(&reference, info);
                reference.step(3);
                let now = places(&reference, info);
                for &pin in &pins {
                    let [now, before] = [&now, &before].map(|places| places[pin as usize].to_array().map(f32::to_bits));
                    assert_eq!(now, before, "{}: {pin} of {pins:?}", info.name);
                }
                assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0, "{}: pins {pins:?}", info.name);
            }
        }
    }
}

#[test]
fn nothing_moves_at_rest() {
    for (place, info, sample) in cases() {
        let scene = scene_of(place, &sample, &sample.rest, Material::RIGID);
        let mut reference = Reference::new(&scene, Settings { gravity: [0.0; 3], ..Settings::default() }).unwrap();
        reference.step(10);
        for (k, (&now, &before)) in places(&reference, info).iter().zip(&sample.rest).enumerate() {
            let distance =
                if is_point(info, k) { before.distance(now) } else { rotation_between(before, now).length() };
            assert!(distance <= 1e-5 * extent(info, &sample.rest), "{}: {before} went {distance} m", info.name);
        }
        assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0, "{}", info.name);
    }
}

/// The ratio of C after `iterations` sweeps to C before.
fn remaining(place: usize, info: &KindInfo, sample: &Sample, iterations: u32) -> f32 {
    let scene = scene_of(place, sample, &sample.positions, Material::RIGID);
    let mut reference = Reference::new(&scene, weightless(iterations)).unwrap();
    reference.step(1);
    let after = places(&reference, info);
    let [before, after] = [&sample.positions, &after].map(|p| evaluate(info, sample, p).0);
    (after / before).abs()
}

#[test]
fn one_projection_satisfies_a_rigid_constraint_between_two_particles() {
    // Two opposite unit gradients without torque lie along the line between the particles, along which C is linear.
    let cases: Vec<_> = cases().filter(|(_, info, _)| info.unit_gradients && info.arity == 2).collect();
    assert!(cases.iter().any(|(_, info, _)| info.name == "distance"));
    for (place, info, sample) in cases {
        let left = remaining(place, info, &sample, 1);
        assert!(left < 1e-5, "{}: {left} of C is left at {:?}", info.name, sample.positions);
    }
}

#[test]
fn projections_converge_for_rigid_constraints() {
    for (place, info, sample) in cases() {
        let left = remaining(place, info, &sample, 50);
        assert!(left < 1e-3, "{}: {left} of C is left at {:?}", info.name, sample.positions);
    }
}

#[test]
fn projections_keep_the_momentum() {
    for (place, info, sample) in cases() {
        for material in [Material::RIGID, Material { compliance: 1e-4, damping: 10.0, ..Material::RIGID }] {
            let scene = scene_of(place, &sample, &sample.positions, material);
            let mut reference = Reference::new(&scene, weightless(2)).unwrap();
            reference.step(1);
            let over = |(&velocity, w): (&[f32; 3], f32)| Vec3::from(velocity) / w;
            let weights = scene.inverse_masses().iter().copied();
            let mut momenta: Vec<Vec3> = reference.read_velocities().unwrap().iter().zip(weights).map(over).collect();
            // Without particles, the angular momentum stays.
            if momenta.iter().all(|momentum| *momentum == Vec3::ZERO) {
                let weights = scene.orientations().iter().map(|own| own.inverse_inertia);
                momenta = reference.read_angular_velocities().unwrap().iter().zip(weights).map(over).collect();
            }
            let sum: Vec3 = momenta.iter().sum();
            assert!(largest(&momenta) > 0.0, "{}: nothing moves", info.name);
            assert!(sum.length() < 1e-4 * largest(&momenta), "{}: {sum} of {momenta:?}", info.name);
        }
    }
}

/// The distance constraint with a modified gradient.
macro_rules! broken {
    (|$grad:ident| $change:block) => {{
        let mut info = *Distance::INFO;
        info.function = Function::Fixed(|parameters: &[u32], p: &[Vec3], $grad: &mut [Vec3]| {
            let c = Distance::INFO.evaluate(parameters, &[], p, $grad);
            $change;
            c
        });
        &{ info }
    }};
}

#[test]
fn the_suite_notices_a_wrong_kind() {
    let sample = &(Distance::INFO.samples)()[0];
    let wrong_sign = broken!(|grad| { grad.iter_mut().for_each(|grad| *grad = -*grad) });
    assert!(gradient_error(wrong_sign, sample) > 1.0);
    let two_percent_off = broken!(|grad| { grad[1] *= 1.02 });
    assert!(gradient_error(two_percent_off, sample) > 1e-2);
    assert!(force_and_torque(two_percent_off, sample)[0] > 1e-5);
    assert!(!norms_are_one(two_percent_off, sample));
    let turning = broken!(|grad| {
        let aside = grad[0].any_orthonormal_vector() * 0.01;
        grad[0] += aside;
        grad[1] -= aside
    });
    assert!(force_and_torque(turning, sample)[1] > 1e-5);
}
