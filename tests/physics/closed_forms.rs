//! Closed-form solutions for PBD, damping and limits, on both backends; `tests/physics/springs.rs` has those of XPBD springs.
//!
//! h is the substep [s], n a number of substeps or iterations, and g = 9.81 m/s² points along −y.

use crate::common;
use crate::common::{backends, distance, is_exact};
use supple::{Distance, DistanceLimit, Limit, Material, Method, Particle, Reference, Scene, Settings};

const G: f64 = 9.81;

fn substep(settings: &Settings) -> f64 {
    f64::from(settings.dt) / f64::from(settings.substeps)
}

fn no_gravity() -> Settings {
    Settings { gravity: [0.0; 3], keep_lambdas: true, ..Settings::default() }
}

/// Two free particles on the x axis, centred at the origin, `apart` metres apart, with opposite velocities.
fn two(apart: f32, velocity: [f32; 3]) -> Scene {
    let mut scene = Scene::new();
    for side in [-0.5f32, 0.5] {
        let velocity = velocity.map(|component| 2.0 * side * component);
        let position = [side * apart, 0.0, 0.0];
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    scene
}

/// A particle of `mass` kg, `length` metres below a pin.
fn weight(length: f32, mass: f32) -> Scene {
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let position = [0.0, -length, 0.0];
    scene.add_particle(Particle { position, inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
    scene.pin(0).unwrap();
    scene
}

/// The distance between the first two particles [m].
fn length(positions: &[[f32; 3]]) -> f64 {
    distance(positions[0], positions[1])
}

// ----------------------------------------------------------------------------------------------------- Over-relaxation

/// n iterations reduce the error that the velocity predicts for a rigid constraint to the fraction q = (1 − ω)ⁿ. The
/// errors follow e₊ = q (2 e − e₋) and grow for q < −1/3.
#[test]
fn over_relaxation_of_a_rigid_constraint_follows_its_recurrence_and_grows_beyond_four_thirds() {
    let gpu = common::gpu();
    for (relaxation, iterations, grows) in [(1.2f32, 1u32, false), (1.4, 1, true), (1.6, 3, false), (1.4, 2, false)] {
        let mut scene = two(1.0, [0.3, 0.0, 0.0]);
        scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, Material::RIGID).unwrap();
        let settings = Settings { relaxation, iterations, substeps: 1, ..no_gravity() };
        let q = (1.0 - f64::from(relaxation)).powi(iterations as i32);
        for mut backend in backends(&gpu, &scene, settings) {
            // The error at the start, and one step earlier.
            let (mut last, mut error) = (-0.6 * substep(&settings), 0.0);
            let mut largest: [f64; 2] = [0.0; 2];
            for step in 0..24 {
                (last, error) = (error, q * (2.0 * error - last));
                backend.step(1);
                let measured = length(&backend.read_positions().unwrap()) - 1.0;
                let size = error.abs().max(last.abs()).max(1e-3);
                assert!(
                    (measured - error).abs() < 1e-3 * size,
                    "{}, ω = {relaxation}: {measured} for {error}",
                    backend.name()
                );
                largest[step / 12] = largest[step / 12].max(measured.abs());
            }
            assert_eq!(largest[1] > largest[0], grows, "{}, ω = {relaxation}: {largest:?}", backend.name());
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ PBD

/// A projection with stiffness k leaves the fraction 1 − k of a single error, so n projections leave (1 − k)^n. With
/// k' = 1 − (1 − k)^(1/n) they leave 1 − k (Müller et al. 2007, §3.3).
#[test]
fn pbd_keeps_one_minus_k_of_an_error_whatever_the_iterations_and_naive_pbd_that_to_the_power_of_them() {
    let gpu = common::gpu();
    for k in [0.1f64, 0.7] {
        let mut scene = two(1.5, [0.0; 3]);
        let material = Material { stiffness: k as f32, compliance: 1.0, damping: 3.0, ..Material::RIGID };
        scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, material).unwrap();
        for iterations in [1u32, 2, 5, 20] {
            for (method, law) in
                [(Method::Pbd, 1.0 - k), (Method::NaivePbd, (1.0 - k).powi(iterations as i32)), (Method::Xpbd, 1.0)]
            {
                let settings = Settings { substeps: 1, iterations, method, ..no_gravity() };
                for mut backend in backends(&gpu, &scene, settings) {
                    backend.step(1);
                    let left = (length(&backend.read_positions().unwrap()) - 1.0) / 0.5;
                    let name = backend.name();
                    // With XPBD the compliance of 1 m/N is decisive; 0.06 % of the error remain.
                    let bound = if method == Method::Xpbd { 1e-3 } else { 2e-6 };
                    assert!((left - law).abs() < bound, "{name} {method:?} k {k} × {iterations}: {left}, law {law}");
                }
            }
        }
    }
}

/// PBD does not compensate for the substep: the correction becomes velocity. The error follows
/// e(n + 1) = (1 − k)(e(n) + d(n)), d(n + 1) = e(n + 1) − e(n).
#[test]
fn pbd_still_depends_on_the_substep() {
    let gpu = common::gpu();
    let k = 0.2;
    let mut scene = two(1.5, [0.0; 3]);
    scene
        .add(Distance { particles: [0, 1], rest_length: 1.0 }, Material { stiffness: k as f32, ..Material::RIGID })
        .unwrap();
    let mut found = Vec::new();
    for substeps in [1u32, 4, 10] {
        let law = (0..substeps).fold((0.5, 0.0), |(e, d), _| ((1.0 - k) * (e + d), (1.0 - k) * (e + d) - e)).0;
        for mut backend in backends(&gpu, &scene, Settings { substeps, method: Method::Pbd, ..no_gravity() }) {
            backend.step(1);
            let error = length(&backend.read_positions().unwrap()) - 1.0;
            assert!((error - law).abs() < 1e-6, "{} at {substeps}: {error}, law {law}", backend.name());
            found.push(error);
        }
    }
    assert!(found[0] > found[2] + 0.1, "{found:?}");
}

// -------------------------------------------------------------------------------------------------------- damping

/// C + τ dC/dt = 0. With γ = τ/h and α = 0, Δλ = −(C + d + γ d)/((1 + γ) w) leaves C/(1 + γ) after each substep,
/// whatever the prediction. This is implicit Euler: C(n) = C(0)/(1 + h/τ)^n, which is exp(−t/τ) up to a factor 1 + h
/// t/(2 τ²).
#[test]
fn a_rigid_constraint_with_a_damping_time_closes_as_an_exponential_whatever_the_substep() {
    let gpu = common::gpu();
    for tau in [0.05f64, 0.2, 1.0] {
        let mut scene = two(1.5, [0.0; 3]);
        let material = Material { damping_time: tau as f32, ..Material::RIGID };
        scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, material).unwrap();
        let mut ends = Vec::new();
        for substeps in [20u32, 30] {
            let settings = Settings { substeps, ..no_gravity() };
            let h = substep(&settings);
            for mut backend in backends(&gpu, &scene, settings) {
                backend.step(6);
                let (t, left) = (0.1, (length(&backend.read_positions().unwrap()) - 1.0) / 0.5);
                let law = (1.0 + h / tau).powi(-6 * substeps as i32);
                let exponential = (-t / tau).exp();
                println!("{} τ {tau} at {substeps}: {left:.6}, law {law:.6}, {exponential:.6}", backend.name());
                assert!((left / law - 1.0).abs() < 2e-5, "{} τ {tau}: {left}, law {law}", backend.name());
                let own = 1.0 + h * t / (2.0 * tau * tau);
                let error = left / exponential / own - 1.0;
                assert!(error.abs() < 1e-3, "{} τ {tau}: {left}, exp {exponential}", backend.name());
                ends.push(left);
            }
        }
        assert!((ends[0] / ends[2] - 1.0).abs() < 0.01, "τ {tau}: {ends:?}");
    }
    // Without a damping time the error is corrected within one substep.
    let mut scene = two(1.5, [0.0; 3]);
    scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, Material::RIGID).unwrap();
    for mut backend in backends(&gpu, &scene, Settings { substeps: 1, ..no_gravity() }) {
        backend.step(1);
        assert!((length(&backend.read_positions().unwrap()) - 1.0).abs() < 1e-6, "{}", backend.name());
    }
}

/// γ = (α β + τ)/h depends on the sum of τ and α β only. All values are powers of two, so equality is exact.
#[test]
fn in_a_spring_a_damping_time_is_a_dashpot_of_tau_over_alpha() {
    let gpu = common::gpu();
    let run = |damping, damping_time| {
        let mut scene = two(1.5, [0.3, 0.4, 0.0]);
        let material = Material { compliance: 1.0 / 256.0, damping, damping_time, ..Material::RIGID };
        scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, material).unwrap();
        backends(&gpu, &scene, no_gravity()).map(|mut backend| {
            backend.step(20);
            backend.read_positions().unwrap()
        })
    };
    assert_eq!(run(8.0, 0.0), run(0.0, 0.03125));
    assert_ne!(run(8.0, 0.0), run(0.0, 0.0));
}

/// Damping uses ∇C·(x − x_prev), to which a translation contributes only rounding. Its size is half an ulp of the
/// position (see `Settings`): 1.2e-7 m at 3 m, or 1.4e-4 m/s at a substep of 1/1200 s.
#[test]
fn dashpots_do_not_slow_a_translation() {
    let gpu = common::gpu();
    let velocity = [3.0f32, -1.0, 2.0];
    let corners = [[0.0; 3], [1.0, 0.1, 0.0], [0.3, 0.9, -0.1], [0.2, 0.4, 0.8]];
    let mut scene = Scene::new();
    for position in corners {
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    for (a, b) in [(0u32, 1u32), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        let rest_length = distance(corners[a as usize], corners[b as usize]) as f32;
        let material = Material { compliance: 1e-4, damping: 1e5, ..Material::RIGID };
        scene.add(Distance { particles: [a, b], rest_length }, material).unwrap();
    }
    for mut backend in backends(&gpu, &scene, no_gravity()) {
        backend.step(60);
        let error =
            backend.read_velocities().unwrap().into_iter().map(|found| distance(found, velocity)).fold(0.0, f64::max);
        println!("{}: {error:e} m/s", backend.name());
        assert!(error < 1.4e-4, "{}: {error} m/s", backend.name());
    }
}

/// A rotation by φ = ω h per substep contributes only at second order. The last chord of a constraint of length l has
/// the component l (1 − cos φ) along the new direction. So C = −γ l φ²/2 = −½ τ ω² h l, which shrinks with h.
/// There is no torque: ω falls as without damping, by 1/√(1 + 2 ω² h t) (see `tests/physics/springs.rs`).
#[test]
fn a_dashpot_shortens_a_spinning_link_by_half_tau_omega2_h_and_does_not_slow_it() {
    let gpu = common::gpu();
    let (omega, tau) = (4.0f64, 0.1f64);
    for substeps in [20, 80] {
        let settings = Settings { substeps, ..no_gravity() };
        let h = substep(&settings);
        let mut speeds = Vec::new();
        for time in [0.0, tau] {
            let mut scene = two(1.0, [0.0, 0.5 * omega as f32, 0.0]);
            let material = Material { damping_time: time as f32, ..Material::RIGID };
            scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, material).unwrap();
            for mut backend in backends(&gpu, &scene, settings) {
                backend.step(60);
                let l = length(&backend.read_positions().unwrap());
                let [a, b] = [backend.read_velocities().unwrap()[0], backend.read_velocities().unwrap()[1]];
                let now = distance(a, b) / l;
                let law = -0.5 * time * now * now * h * l;
                println!("{} τ {time} at {substeps}: C {:.3e}, law {law:.3e}, ω {now:.5}", backend.name(), l - 1.0);
                assert!((l - 1.0 - law).abs() < 0.03 * law.abs() + 2e-7, "{} at {substeps}: {l}", backend.name());
                speeds.push(now);
            }
        }
        let spin = omega / (1.0 + 2.0 * omega * omega * h).sqrt();
        for now in speeds {
            assert!((now / spin - 1.0).abs() < 0.002, "at {substeps}: {now} rad/s, law {spin}");
        }
    }
}

/// Each of N substeps multiplies a free velocity by f^(1/N) exp(−c h).
#[test]
fn the_step_factor_multiplies_a_free_velocity_once_a_step_whatever_the_substeps() {
    let gpu = common::gpu();
    let scene = two(1.0, [1.0, 0.5, -2.0]);
    for (factor, damping) in [(0.5, 0.0), (0.99, 0.0), (0.9, 3.0)] {
        for substeps in [1, 7, 20, 100] {
            let settings = Settings { substeps, step_factor: factor, damping, ..no_gravity() };
            for mut backend in backends(&gpu, &scene, settings) {
                for steps in [1, 9] {
                    let before = f64::from(backend.read_velocities().unwrap()[1][2]);
                    backend.step(steps);
                    let kept = f64::from(backend.read_velocities().unwrap()[1][2]) / before;
                    let once = f64::from(factor) * f64::from(-damping * settings.dt).exp();
                    let error = kept / once.powi(steps as i32) - 1.0;
                    assert!(error.abs() < 5e-5, "{} {factor} at {substeps}: off by {error}", backend.name());
                }
            }
        }
    }
}

// --------------------------------------------------------------------------------------------------------- limits

/// A satisfied limit has no effect: the same bits as without the limit, and λ = 0.
#[test]
fn a_satisfied_limit_applies_no_force() {
    let gpu = common::gpu();
    let free = two(1.0, [0.5, 0.7, -0.3]);
    for (limit, bound) in [(Limit::AtMost, 3.0), (Limit::AtLeast, 0.5)] {
        for material in [Material::RIGID, Material { compliance: 1e-3, damping: 10.0, ..Material::RIGID }] {
            let mut scene = free.clone();
            scene.add(DistanceLimit { particles: [0, 1], length: bound, limit }, material).unwrap();
            let pairs = backends(&gpu, &free, no_gravity()).into_iter().zip(backends(&gpu, &scene, no_gravity()));
            for (mut alone, mut bound) in pairs {
                alone.step(30);
                bound.step(30);
                assert_eq!(
                    alone.read_positions().unwrap(),
                    bound.read_positions().unwrap(),
                    "{} {limit:?}",
                    alone.name()
                );
                assert_eq!(bound.read_lambdas::<supple::DistanceLimit>().unwrap(), [0.0], "{} {limit:?}", alone.name());
            }
        }
    }
}

/// A violated limit acts with λ ≤ 0 towards its bound, and never on the other side.
#[test]
fn a_violated_limit_acts_on_its_side_only() {
    let gpu = common::gpu();
    for (limit, apart, held) in [
        (Limit::AtMost, 1.25, true),
        (Limit::AtMost, 0.75, false),
        (Limit::AtLeast, 0.75, true),
        (Limit::AtLeast, 1.25, false),
    ] {
        let mut scene = two(apart, [0.0; 3]);
        scene.add(DistanceLimit { particles: [0, 1], length: 1.0, limit }, Material::RIGID).unwrap();
        for mut backend in backends(&gpu, &scene, Settings { substeps: 1, iterations: 4, ..no_gravity() }) {
            backend.step(1);
            let (l, lambda) = (
                length(&backend.read_positions().unwrap()),
                f64::from(backend.read_lambdas::<supple::DistanceLimit>().unwrap()[0]),
            );
            let (place, push) = if held { (1.0, -0.125) } else { (f64::from(apart), 0.0) };
            assert!((l - place).abs() < 1e-6, "{} {limit:?} from {apart}: {l} m", backend.name());
            // Σ w|∇C|² = 2, and |C| = 0.25 m.
            assert!((lambda - push).abs() < 1e-6, "{} {limit:?} from {apart}: λ {lambda}", backend.name());
        }
    }
}

/// Free flight between the two bounds, then a stop without rebound. The stop leaves a rounding error of up to half an
/// ulp of l, 6e-8 m per substep, as velocity; it accumulates to 2e-5 m.
#[test]
fn both_limits_are_slack_between_them() {
    let gpu = common::gpu();
    for (velocity, end) in [(0.9f32, 1.2), (-0.9, 0.8)] {
        let mut scene = two(1.0, [0.5 * velocity, 0.0, 0.0]);
        for (limit, bound) in [(Limit::AtMost, 1.2), (Limit::AtLeast, 0.8)] {
            scene.add(DistanceLimit { particles: [0, 1], length: bound, limit }, Material::RIGID).unwrap();
        }
        for mut backend in backends(&gpu, &scene, no_gravity()) {
            for step in 1..=30 {
                backend.step(1);
                let l = length(&backend.read_positions().unwrap());
                let free = 1.0 + f64::from(velocity) * f64::from(step) / 60.0;
                let law = free.clamp(0.8, 1.2);
                assert!((l - law).abs() < 3e-5, "{} after {step}: {l} m, law {law}", backend.name());
            }
            assert!((length(&backend.read_positions().unwrap()) - end).abs() < 3e-5, "{}", backend.name());
        }
    }
}

/// A spring of compliance α carries m g at a stretch of α m g, here half its length. A stretch limit of 1.1 leaves the
/// spring 0.1 L/α and carries m g − 0.1 L/α. It is projected last, so it holds to rounding: one ulp of its length is
/// 0.3 % of that force.
#[test]
fn a_stretch_limit_over_a_soft_spring_holds_at_one_point_one_and_carries_the_rest() {
    let gpu = common::gpu();
    let mass = 2.0f32;
    let (l0, alpha) = (0.125, 0.0625 / (f64::from(mass) * G));
    for limited in [false, true] {
        let mut scene = weight(0.125, mass);
        let spring = Material { compliance: alpha as f32, damping: 30.0, ..Material::RIGID };
        scene.add(Distance { particles: [0, 1], rest_length: 0.125 }, spring).unwrap();
        if limited {
            let limit = DistanceLimit { particles: [0, 1], length: 0.1375, limit: Limit::AtMost };
            scene.add(limit, Material::RIGID).unwrap();
        }
        let settings = Settings { keep_lambdas: true, iterations: 3, ..Settings::default() };
        let h = substep(&settings);
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(150);
            let l = length(&backend.read_positions().unwrap());
            let stretch = if limited { 0.1 * l0 } else { 0.5 * l0 };
            assert!((l - l0 - stretch).abs() < 1e-6, "{} limited {limited}: {l} m", backend.name());
            let spring = -f64::from(backend.read_lambdas::<supple::Distance>().unwrap()[0]) / (h * h);
            assert!((spring / (stretch / alpha) - 1.0).abs() < 1e-3, "{}: the spring pulls {spring} N", backend.name());
            if limited {
                let limit = -f64::from(backend.read_lambdas::<supple::DistanceLimit>().unwrap()[0]) / (h * h);
                let rest = f64::from(mass) * G - 0.1 * l0 / alpha;
                println!("{}: spring {spring:.4} N, limit {limit:.4} N, law {rest:.4} N", backend.name());
                assert!((limit / rest - 1.0).abs() < 1e-2, "{}: the limit pulls {limit} N", backend.name());
            }
        }
    }
}

/// A compliant limit that resists stretch: under a weight it is α m g too long, with λ/h² = −m g. It is short, because
/// the length is rounded: one ulp of 1/8 m is 0.1 % of g h².
#[test]
fn a_compliant_limit_carries_a_weight_as_a_spring_does() {
    let gpu = common::gpu();
    for (alpha, mass) in [(0.0f64, 3.0f32), (1e-2, 0.5)] {
        let mut scene = weight(0.125, mass);
        let material = Material { compliance: alpha as f32, ..Material::RIGID };
        scene.add(DistanceLimit { particles: [0, 1], length: 0.125, limit: Limit::AtMost }, material).unwrap();
        for iterations in [1, 3] {
            let settings = Settings { damping: 20.0, iterations, keep_lambdas: true, ..Settings::default() };
            let h = substep(&settings);
            for mut backend in backends(&gpu, &scene, settings) {
                backend.step(90);
                let force = f64::from(mass) * G;
                let stretch = length(&backend.read_positions().unwrap()) - 0.125;
                let pull = -f64::from(backend.read_lambdas::<supple::DistanceLimit>().unwrap()[0]) / (h * h);
                let error = pull / force - 1.0;
                println!(
                    "{} α {alpha}: {stretch:.6} m, {pull:.4} N against {force:.4} N ({error:.1e})",
                    backend.name()
                );
                assert!((stretch - alpha * force).abs() < 2e-6, "{} α {alpha}: {stretch} m", backend.name());
                // A rigid limit moves by several hundred roundings per substep. A compliant one has only the rounding of
                // its length.
                let most = match (alpha == 0.0, is_exact(&gpu)) {
                    (true, true) => 3e-3,
                    (true, false) => 1e-2,
                    (false, _) => 1e-6,
                };
                assert!(error.abs() < most, "{} α {alpha}: {pull} N", backend.name());
            }
        }
    }
}

/// The maximum and mean error of λ/h² of a rigid distance constraint at rest, in units of 2⁻²⁴ L/(w h²).
fn rounding_of_force(length: f32, inverse_mass: f32, substeps: u32) -> [f64; 2] {
    let mut scene = Scene::new();
    scene.add_particle(Particle { position: [0.0; 3], inverse_mass, ..Particle::default() }).unwrap();
    let direction = [0.36, -0.48, 0.8].map(|x| x * length);
    scene.add_particle(Particle { position: direction, inverse_mass, ..Particle::default() }).unwrap();
    scene.pin(0).unwrap();
    scene.add(Distance { particles: [0, 1], rest_length: length }, Material::RIGID).unwrap();
    let gravity = [0.36, -0.48, 0.8].map(|x| 9.81 * x);
    let settings = Settings { gravity, substeps, damping: 20.0, keep_lambdas: true, ..Settings::default() };
    let h = f64::from(settings.dt) / f64::from(substeps);
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.step(30);
    let (mut most, mut sum) = (0.0f64, 0.0);
    for _ in 0..200 {
        reference.step(1);
        let force = -f64::from(reference.read_constraint_forces::<Distance>().unwrap()[0]);
        let error = force - 9.81 / f64::from(inverse_mass);
        (most, sum) = (most.max(error.abs()), sum + error);
    }
    let unit = f64::from(length) / (f64::from(inverse_mass) * h * h) / 2f64.powi(24);
    [most / unit, sum / 200.0 / unit]
}

#[test]
fn the_force_of_a_rigid_link_is_within_eight_roundings_of_its_length() {
    for (length, inverse_mass, substeps) in
        [(1.0, 1.0, 100), (0.7, 1.0, 100), (1.3, 0.1, 100), (3.0, 1.0, 40), (0.1, 5.0, 300), (1.0, 1.0, 20)]
    {
        let [most, mean] = rounding_of_force(length, inverse_mass, substeps);
        println!("{length} m, {substeps} substeps: at most {most:.2} roundings, on average {mean:.3}");
        assert!(most < 8.0, "{length} m, {substeps} substeps: {most}");
        assert!(mean.abs() < 1.0, "{length} m, {substeps} substeps: {mean}");
    }
}
