//! Closed-form solutions on both backends, computed in f64 without code of the backends. If the integrator deviates
//! from physics, the test derives and checks the law of the integrator.
//!
//! ω is an angular frequency [rad/s], h the substep [s], n a number of substeps, and g = 9.81 m/s² points along −y.

use crate::common;
use crate::common::{backends, chain, distance, is_exact, momentum, noise};
use supple::{
    Bending, ClothGrid, ClothMesh, Distance, Execution, Fabric, Material, Particle, Scene, Settings, Simulation, Wind,
};

const G: f64 = 9.81;

/// The substep h in f64 [s].
fn substep(settings: &Settings) -> f64 {
    f64::from(settings.dt) / f64::from(settings.substeps)
}

fn no_gravity() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

/// One free particle.
fn point(position: [f32; 3], velocity: [f32; 3]) -> Scene {
    let mut scene = Scene::new();
    scene.add_particle(Particle { position, velocity, inverse_mass: 1.0 }).unwrap();
    scene
}

/// A pinned particle at the origin and a free one of mass m at (`x`, 0, 0), with a distance constraint of 1 m.
fn spring(x: f32, mass: f32, material: Material) -> Scene {
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    scene.add_particle(Particle { position: [x, 0.0, 0.0], inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
    scene.add(Distance { particles: [0, 1], rest_length: 1.0 }, material).unwrap();
    scene.pin(0).unwrap();
    scene
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|component| component * component).sum::<f64>().sqrt()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

// ---------------------------------------------------------------------------------------------------- free fall

/// Initial heights [m] and numbers of substeps for falls of 1 s.
const FALLS: [(f32, u32); 6] = [(0.0, 1), (0.0, 20), (0.0, 100), (10.0, 1), (10.0, 20), (10.0, 100)];

/// The tolerance of a fall of 1 s [m].
const FALL_TOLERANCE: f64 = 1e-5;

/// Symplectic Euler: after substep k the velocity is −k g h, so the height is −g h² (1 + 2 + … + n) = −g h² n(n + 1)/2.
#[test]
fn free_fall_is_exact_whatever_the_height_and_the_substep() {
    let gpu = common::gpu();
    for (height, substeps) in FALLS {
        let settings = Settings { substeps, ..Settings::default() };
        let (h, n) = (substep(&settings), f64::from(60 * substeps));
        for mut backend in backends(&gpu, &point([0.0, height, 0.0], [0.0; 3]), settings) {
            backend.step(60);
            let fall = f64::from(backend.read_positions().unwrap()[0][1]) - f64::from(height);
            let error = (fall + G * h * h * n * (n + 1.0) / 2.0).abs();
            let speed = f64::from(backend.read_velocities().unwrap()[0][1]);
            println!("{} from {height} m at {substeps}: {error:.1e} m, v {speed}", backend.name());
            assert!(error < FALL_TOLERANCE, "{} from {height} m at {substeps}: {error} m", backend.name());
            assert!((speed / (-G * h * n) - 1.0).abs() < 1e-5, "{} at {substeps}: {speed} m/s", backend.name());
        }
    }
}

/// The rounding residual of x + d is kept between substeps, even if d is far below half an ulp of x. The 2 % are the
/// readout.
#[test]
fn a_slow_particle_far_from_the_origin_travels_at_its_velocity() {
    let gpu = common::gpu();
    for (place, speed) in [(100.0f32, 1e-3f32), (1e3, 0.01), (1e4, 0.05), (1e4, 0.3)] {
        let settings = Settings { substeps: 1000, ..no_gravity() };
        for mut backend in backends(&gpu, &point([place, 0.0, -place], [speed, 0.0, 0.0]), settings) {
            backend.step(60);
            let moved = f64::from(backend.read_positions().unwrap()[0][0]) - f64::from(place);
            let share = moved / f64::from(speed);
            assert!((share - 1.0).abs() < 0.02, "{} at {place} m, {speed} m/s: {share}", backend.name());
        }
    }
}

/// The same fall with v = (x − x_prev)/h computed in f32 misses the tolerance above. From 10 m at 100 substeps g h² is
/// below half an ulp of the height, and the particle does not fall.
#[test]
fn free_fall_with_velocities_recovered_from_positions_misses_that_bound() {
    let fall = |height: f32, substeps: u32| {
        let h = Settings { substeps, ..Settings::default() }.substep();
        let (mut x, mut v) = (height, 0f32);
        for _ in 0..60 * substeps {
            v -= 9.81 * h;
            let previous = x;
            x += h * v;
            v = (x - previous) / h;
        }
        let (h, n) = (f64::from(h), f64::from(60 * substeps));
        let error = (f64::from(x) - f64::from(height) + G * h * h * n * (n + 1.0) / 2.0).abs();
        println!("naive from {height} m at {substeps}: {error:.1e} m");
        (x, error)
    };
    for (height, substeps) in [(10.0, 1), (10.0, 20), (10.0, 100)] {
        let (_, error) = fall(height, substeps);
        assert!(error > FALL_TOLERANCE, "from {height} m at {substeps}: {error} m");
    }
    assert_eq!(fall(10.0, 100).0, 10.0);
}

/// The backends store displacements, not velocities, so a new substep must scale them.
#[test]
fn a_change_of_substeps_or_step_in_flight_keeps_the_velocity() {
    let gpu = common::gpu();
    let velocity = [3.0f32, -1.0, 2.0];
    for mut backend in backends(&gpu, &point([0.0; 3], velocity), no_gravity()) {
        let mut time = 0.0;
        for (substeps, rate) in [(20u32, 60u32), (7, 60), (100, 60), (20, 240), (1, 30), (20, 60)] {
            backend.set_settings(Settings { substeps, dt: 1.0 / rate as f32, ..no_gravity() }).unwrap();
            backend.step(rate / 10);
            time += 0.1;
            let (x, v) = (backend.read_positions().unwrap()[0], backend.read_velocities().unwrap()[0]);
            assert!(distance(v, velocity) < 1e-5, "{} {substeps} at {rate}/s: {v:?}", backend.name());
            let off = distance(x, velocity.map(|component| (f64::from(component) * time) as f32));
            assert!(off < 1e-5, "{} {substeps} at {rate}/s: {off} m off", backend.name());
        }
    }
}

// ------------------------------------------------------------------------------------------------ hanging chains

/// Runs a chain of 1 kg particles to rest and returns the lengths of its constraints less `spacing`, from the top.
///
/// Velocity damping scales a displacement that is zero at rest, so it does not change the rest state.
fn rest_stretches(backend: &mut dyn Simulation, spacing: f64, steps: u32) -> Vec<f64> {
    backend.step(steps);
    let speed = backend.read_velocities().unwrap().iter().map(|v| length(v.map(f64::from))).fold(0.0, f64::max);
    assert!(speed < 2e-3, "{}: still moving at {speed} m/s", backend.name());
    backend.read_positions().unwrap().windows(2).map(|pair| distance(pair[0], pair[1]) - spacing).collect()
}

/// Constraint k carries the weight T of the particles below it and stretches by α T.
///
/// The error of one sweep with two colours: at rest the predicted particles are g h² too low, and each Δλ is h² T. A
/// constraint of the first colour has C = (Σ w + α̃) h² T = α T + 2 w h² T, and its particles are as far apart as at
/// rest. It is too long by 2 w h² T, or 2 w h²/α of its stretch. A constraint of the second colour has C increased by w
/// h² T of each neighbour, whose mean T is its own, so it is exact.
#[test]
fn a_hanging_chain_stretches_by_its_compliance_times_the_weight_below() {
    let gpu = common::gpu();
    let alpha = 1e-4;
    let (scene, _) = chain(12, 0.2, [0.0, -1.0, 0.0], 1.0, Material::compliant(alpha as f32));
    let mut worst = [[0f64; 2]; 2];
    for (place, (substeps, bound)) in [(24, 0.01), (240, 0.002)].into_iter().enumerate() {
        let settings = Settings { substeps, damping: 25.0, ..Settings::default() };
        for (which, mut backend) in backends(&gpu, &scene, settings).into_iter().enumerate() {
            let stretches = rest_stretches(&mut *backend, f64::from(0.2f32), 120);
            let h = substep(&settings);
            for (link, stretch) in stretches.iter().enumerate() {
                let below = (11 - link) as f64;
                let error = stretch / (alpha * below * G) - 1.0;
                worst[place][which] = worst[place][which].max(error.abs());
                assert!(error.abs() < bound, "{} at {substeps}, link {link}: {error}", backend.name());
                // The upper particle of the first constraint is pinned, so only one particle contributes.
                let own = match link {
                    0 => h * h * (below - 1.0) / below / alpha,
                    _ if link % 2 == 0 => 2.0 * h * h / alpha,
                    _ => 0.0,
                };
                assert!(
                    (error - own).abs() < 5e-4,
                    "{} at {substeps}, link {link}: {error}, law {own}",
                    backend.name()
                );
            }
            println!("{} at {substeps}: {:.5}", backend.name(), worst[place][which]);
        }
    }
    for which in 0..2 {
        assert!(worst[1][which] < 0.25 * worst[0][which], "the error does not fall with h: {worst:?}");
    }
}

/// The residual stretch for α = 0 is the sum of the errors above. The first of n constraints, with a pinned upper
/// particle, is too long by g h² (n − 1). Each further odd one is too long by 2 g h² times the number of constraints
/// from it on. The sum is g h² (n²/2 − 1) for even n, independent of mass, length and compliance.
#[test]
fn one_sweep_leaves_a_rigid_chain_too_long_by_g_h2_times_half_the_square_of_its_links() {
    let gpu = common::gpu();
    for (links, spacing, mass) in [(16u32, 0.1f32, 1.0f32), (32, 0.05, 0.3)] {
        let (scene, _) = chain(links + 1, spacing, [0.0, -1.0, 0.0], mass, Material::RIGID);
        for substeps in [10, 20, 40] {
            let settings = Settings { substeps, damping: 40.0, ..Settings::default() };
            let h = substep(&settings);
            let law = G * h * h * (f64::from(links * links) / 2.0 - 1.0);
            for mut backend in backends(&gpu, &scene, settings) {
                let false_stretch: f64 = rest_stretches(&mut *backend, f64::from(spacing), 90).iter().sum();
                let error = false_stretch / law - 1.0;
                println!(
                    "{}: {links} links at {substeps}: {false_stretch:.6} m, law {law:.6} m, {error:.4}",
                    backend.name()
                );
                assert!(
                    error.abs() < 0.1,
                    "{}, {links} links at {substeps}: {false_stretch} against {law}",
                    backend.name()
                );
            }
        }
    }
}

/// With XPBD, stiffness is independent of substeps, iterations and time step. The tolerance is the residual stretch 71
/// g h² of one sweep at 20 substeps of 1/30 s: 0.08 %.
#[test]
fn the_rest_position_of_a_chain_depends_neither_on_substeps_nor_on_iterations_nor_on_the_step() {
    let gpu = common::gpu();
    let alpha = 1e-4;
    let (scene, _) = chain(13, 0.2, [0.0, -1.0, 0.0], 1.0, Material::compliant(alpha as f32));
    let tension_sum: f64 = (1..=12).map(|below| f64::from(below) * G).sum();
    let tip = -(12.0 * f64::from(0.2f32) + alpha * tension_sum);
    let base = Settings { damping: 25.0, ..Settings::default() };
    for mut backend in backends(&gpu, &scene, base) {
        for (substeps, iterations, rate) in [(20, 1, 60), (40, 1, 60), (20, 10, 60), (20, 1, 30), (20, 1, 240)] {
            backend.reset();
            backend.set_settings(Settings { substeps, iterations, dt: 1.0 / rate as f32, ..base }).unwrap();
            rest_stretches(&mut *backend, f64::from(0.2f32), 2 * rate);
            let found = f64::from(backend.read_positions().unwrap()[12][1]);
            let error = found / tip - 1.0;
            println!(
                "{} {substeps} × {iterations} at {rate}/s: {found:.5} m against {tip:.5}: {error:.1e}",
                backend.name()
            );
            assert!(
                error.abs() < 2e-3,
                "{} {substeps} × {iterations} at {rate}/s: {found} against {tip}",
                backend.name()
            );
        }
    }
}

/// λ/h² is the force along ∇C: minus the tension, which at rest is the weight below.
#[test]
fn lambda_over_h2_is_the_tension_of_a_hanging_mass() {
    let gpu = common::gpu();
    for (material, iterations) in [(Material::compliant(1e-4), 1), (Material::RIGID, 1), (Material::compliant(1e-4), 4)]
    {
        let (scene, _) = chain(5, 0.2, [0.0, -1.0, 0.0], 2.5, material);
        let settings = Settings { damping: 25.0, keep_lambdas: true, iterations, ..Settings::default() };
        let h = substep(&settings);
        for mut backend in backends(&gpu, &scene, settings) {
            rest_stretches(&mut *backend, f64::from(0.2f32), 120);
            let mut worst = 0f64;
            for (link, &lambda) in backend.read_lambdas::<supple::Distance>().unwrap().iter().enumerate() {
                let weight = 2.5 * G * (4 - link) as f64;
                let error = -f64::from(lambda) / (h * h) / weight - 1.0;
                worst = worst.max(error.abs());
            }
            println!("{} {material:?} × {iterations}: {worst:.1e}", backend.name());
            // Rigid constraints move by several hundred roundings of their length per substep.
            let most = match material.compliance == 0.0 {
                true if is_exact(&gpu) => 3e-3,
                true => 1e-2,
                false => 1e-3,
            };
            assert!(worst < most, "{} {material:?} × {iterations}: off by {worst}", backend.name());
        }
    }
}

// --------------------------------------------------------------------------------------------------- oscillators

/// The times [s] at which the spring passes its rest length, and its largest stretch [m] between them, over `steps`
/// steps.
fn swings(backend: &mut dyn Simulation, dt: f64, steps: u32) -> (Vec<f64>, Vec<(f64, f64)>) {
    let (mut crossings, mut peaks) = (Vec::new(), Vec::new());
    let mut previous = f64::from(backend.read_positions().unwrap()[1][0]) - 1.0;
    let mut peak = (0.0, previous.abs());
    for step in 1..=steps {
        backend.step(1);
        let stretch = f64::from(backend.read_positions().unwrap()[1][0]) - 1.0;
        let time = f64::from(step) * dt;
        if previous * stretch < 0.0 {
            crossings.push(time - dt * stretch / (stretch - previous));
            peaks.push(peak);
            peak = (time, 0.0);
        }
        if stretch.abs() > peak.1 {
            peak = (time, stretch.abs());
        }
        previous = stretch;
    }
    (crossings, peaks)
}

/// ω = 1/√(m α). The integrator is implicit Euler for the spring: C(n+1) = (C(n) + d(n))/(1 + ω² h²), with modes 1/(1 ±
/// i ω h). They advance by atan(ω h) per substep, slower by (ω h)²/3: 0.003 % at 2πh = T/100.
#[test]
fn a_mass_on_a_link_swings_with_the_period_of_its_compliance() {
    let gpu = common::gpu();
    for (mass, alpha) in [(2.0, 1e-3), (0.05, 0.02)] {
        let scene = spring(1.05, mass, Material::compliant(alpha));
        let period = std::f64::consts::TAU * (f64::from(mass) * f64::from(alpha)).sqrt();
        let settings = Settings { dt: 1.0 / 240.0, substeps: 20, ..no_gravity() };
        assert!(std::f64::consts::TAU * substep(&settings) <= period / 100.0);
        for mut backend in backends(&gpu, &scene, settings) {
            let (crossings, _) = swings(&mut *backend, 1.0 / 240.0, 300);
            let half_periods = crossings.len() - 1;
            let found = 2.0 * (crossings[half_periods] - crossings[0]) / half_periods as f64;
            println!("{} m {mass} α {alpha}: {found:.5} s against {period:.5} s", backend.name());
            assert!((found / period - 1.0).abs() < 1e-3, "{}: {found} s against {period} s", backend.name());
        }
    }
}

/// m ẍ = −x/α − β ẋ decays as exp(−β t/(2m)). Rayleigh damping γ = α β/h gives the force −(C + γ d)/α, a dashpot. The
/// modes of the integrator satisfy |z|² = 1/(1 + β h/m + ω² h²), which adds ω² h/2 to the rate; the test subtracts it.
#[test]
fn a_dashpot_damps_a_spring_at_beta_over_two_m() {
    let gpu = common::gpu();
    let (mass, alpha) = (2.0, 0.01);
    for beta in [1.0f32, 4.0] {
        let scene = spring(1.2, mass as f32, Material { compliance: alpha as f32, damping: beta, ..Material::RIGID });
        for substeps in [20, 80] {
            let settings = Settings { dt: 1.0 / 120.0, substeps, ..no_gravity() };
            let h = substep(&settings);
            let omega2 = 1.0 / (mass * alpha);
            let (rate, own) = (f64::from(beta) / (2.0 * mass), 0.5 * omega2 * h);
            for mut backend in backends(&gpu, &scene, settings) {
                let (_, peaks) = swings(&mut *backend, 1.0 / 120.0, 360);
                let ((t0, first), (t1, last)) = (peaks[1], peaks[peaks.len() - 1]);
                let found = (first / last).ln() / (t1 - t0) - own;
                println!("{} β {beta} at {substeps}: {found:.4}/s against {rate:.4}/s (own {own:.4})", backend.name());
                assert!((found / rate - 1.0).abs() < 0.02, "{} β {beta}: {found}/s against {rate}/s", backend.name());
            }
        }
    }
}

/// A dashpot with β h/m = 8 neither stops its mass nor causes oscillation. Spring and dashpot relax as exp(−t/(α β)),
/// which requires the 1 + γ of the denominator.
#[test]
fn a_dashpot_stiffer_than_the_substep_lets_its_spring_creep_back() {
    let gpu = common::gpu();
    let (mass, alpha, beta) = (0.01, 0.01, 100.0);
    let scene = spring(1.2, mass, Material { compliance: alpha, damping: beta, ..Material::RIGID });
    for mut backend in backends(&gpu, &scene, no_gravity()) {
        for seconds in 1..=2 {
            backend.step(60);
            let stretch = f64::from(backend.read_positions().unwrap()[1][0]) - 1.0;
            let law = 0.2 * f64::from(-seconds as f32 / (alpha * beta)).exp();
            println!("{} after {seconds} s: {stretch:.5} m against {law:.5} m", backend.name());
            assert!((stretch / law - 1.0).abs() < 0.01, "{} after {seconds} s: {stretch}, law {law}", backend.name());
        }
    }
}

/// A free velocity decays as exp(−c t) for any substep. The factor exp(−c h) is rounded to f32, up to 3e-8 per substep:
/// 1.8e-4 after 6000 substeps.
#[test]
fn velocity_damping_decays_exponentially_whatever_the_substep() {
    let gpu = common::gpu();
    let scene = point([0.0; 3], [3.0, -1.0, 2.0]);
    for mut backend in backends(&gpu, &scene, no_gravity()) {
        for (substeps, c) in [(1, 0.5), (20, 0.5), (100, 0.5), (1, 20.0), (100, 20.0)] {
            backend.reset();
            backend.set_settings(Settings { substeps, damping: c as f32, ..no_gravity() }).unwrap();
            backend.step(60);
            let law = (-c * 60.0 * f64::from(1.0f32 / 60.0)).exp();
            let velocity = backend.read_velocities().unwrap()[0];
            for (found, start) in velocity.into_iter().zip([3.0, -1.0, 2.0]) {
                let error = f64::from(found) / (start * law) - 1.0;
                println!("{} c {c} at {substeps}: {error:.1e}", backend.name());
                assert!(error.abs() < 3e-4, "{} c {c} at {substeps}: off by {error}", backend.name());
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------ momentum

/// A cloth of 1 m without pins that translates, spins about its normal at `spin` rad/s, and has random velocities of
/// `jitter` m/s.
fn flying_cloth(flight: [f32; 3], spin: f32, jitter: f32) -> Scene {
    let mut scene = Scene::new();
    let axes = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let grid = ClothGrid {
        columns: 12,
        rows: 12,
        origin: [-0.5, 0.0, -0.5],
        column_axis: axes.0,
        row_axis: axes.1,
        ..ClothGrid::default()
    };
    let cloth = scene.add_cloth_grid(&grid).unwrap();
    for particle in cloth.particles {
        let [x, _, z] = scene.positions()[particle as usize];
        let wobble = [0, 1, 2].map(|axis| jitter * noise(3 * particle + axis));
        let velocity = [flight[0] + spin * z + wobble[0], flight[1] + wobble[1], flight[2] - spin * x + wobble[2]];
        scene.set_velocity(particle, velocity).unwrap();
    }
    scene
}

/// Σ m (x − x̄) × v [kg m²/s], about the centre of mass.
fn angular_momentum(scene: &Scene, backend: &dyn Simulation) -> f64 {
    let (positions, velocities) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
    let masses: Vec<f64> = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).collect();
    let total: f64 = masses.iter().sum();
    let center = momentum(scene, &positions).map(|component| component / total);
    let mut sum = [0f64; 3];
    for ((x, v), m) in positions.iter().zip(&velocities).zip(&masses) {
        let arm = [0, 1, 2].map(|axis| f64::from(x[axis]) - center[axis]);
        let moment = cross(arm, v.map(|component| m * f64::from(component)));
        (0..3).for_each(|axis| sum[axis] += moment[axis]);
    }
    length(sum)
}

/// Each correction applies opposite impulses to its two particles, so only rounding changes Σ m v.
#[test]
fn the_momentum_of_a_free_cloth_is_kept() {
    let gpu = common::gpu();
    let scene = flying_cloth([2.0, 3.0, -1.0], 4.0, 0.5);
    for mut backend in backends(&gpu, &scene, no_gravity()) {
        let start = momentum(&scene, &backend.read_velocities().unwrap());
        assert!((length(start) / 0.2 / 14f64.sqrt() - 1.0).abs() < 0.1, "{start:?}");
        backend.step(60);
        let end = momentum(&scene, &backend.read_velocities().unwrap());
        let lost = length([0, 1, 2].map(|axis| end[axis] - start[axis])) / length(start);
        println!("{}: {lost:.1e}", backend.name());
        assert!(lost < 1e-6, "{}: lost {lost} of its momentum", backend.name());
    }
}

/// The fraction of its angular velocity that a body with initial `omega` [rad/s] keeps for `t` seconds.
///
/// After a turn by φ = ω h, the displacement is the last chord, which points φ/2 back. The predicted ends of a
/// constraint lie at the angle atan(sin φ/(2 − cos φ)) = φ − φ³ + …, so dω/dt = −ω³ h, and ω = ω₀/√(1 + 2 ω₀² h t).
fn spin_law(omega: f64, h: f64, t: f64) -> f64 {
    1.0 / (1.0 + 2.0 * omega * omega * h * t).sqrt()
}

#[test]
fn a_spinning_link_slows_at_the_rate_of_the_integrator() {
    let gpu = common::gpu();
    let omega = 10.0;
    let mut scene = Scene::new();
    for (x, mass) in [(-0.3f32, 2.0f32), (0.6, 1.0)] {
        // Positions relative to the centre of mass, which is at rest.
        let particle = Particle { position: [x, 0.0, 0.0], velocity: [0.0, x * 10.0, 0.0], inverse_mass: 1.0 / mass };
        scene.add_particle(particle).unwrap();
    }
    scene.add(Distance { particles: [0, 1], rest_length: 0.9 }, Material::RIGID).unwrap();
    let start = 10.0 * (2.0 * 0.09 + 0.36);
    for substeps in [10, 20, 80] {
        let settings = Settings { substeps, ..no_gravity() };
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(60);
            let kept = angular_momentum(&scene, &*backend) / start;
            let law = spin_law(omega, substep(&settings), 1.0);
            println!("{} at {substeps}: {kept:.5} against {law:.5}", backend.name());
            assert!((kept / law - 1.0).abs() < 0.01, "{} at {substeps}: kept {kept}, law {law}", backend.name());
            let loss = (1.0 - kept) / (1.0 - law);
            assert!((loss - 1.0).abs() < 0.05, "{} at {substeps}: loss {loss} of the law's", backend.name());
        }
    }
}

/// A projection is central at the predicted positions, which lie d from the start of the substep, so it removes Σ m d ×
/// Δ from Σ m x × d. For a rigid rotation Δ is the centripetal ω² h² r, perpendicular to d = ω h r, for any shape: the
/// loss of a spinning constraint. A body that widens turns more slowly and loses less.
#[test]
fn a_spinning_cloth_loses_angular_momentum_no_faster_than_a_spinning_link() {
    let gpu = common::gpu();
    let omega = 6.0;
    for (jitter, substeps) in [(0.0, 10), (0.0, 40), (0.3, 20)] {
        let scene = flying_cloth([2.0, 3.0, -1.0], omega as f32, jitter);
        let settings = Settings { substeps, ..no_gravity() };
        for mut backend in backends(&gpu, &scene, settings) {
            let start = angular_momentum(&scene, &*backend);
            backend.step(60);
            let kept = angular_momentum(&scene, &*backend) / start;
            let law = spin_law(omega, substep(&settings), 1.0);
            println!("{} jitter {jitter} at {substeps}: {kept:.5} against {law:.5}", backend.name());
            assert!(kept <= 1.0 + 1e-5, "{} at {substeps}: gained, {kept}", backend.name());
            assert!(kept >= law - 2e-4, "{} at {substeps}: kept {kept}, law {law}", backend.name());
        }
    }
}

// ------------------------------------------------------------------------------------- pins, air, energy

/// A pinned particle moves at (target − x)/dt and arrives at the end of the step. Released at once, it keeps that
/// velocity and falls.
#[test]
fn a_target_is_reached_by_the_end_of_the_step_and_its_velocity_outlives_the_pin() {
    let gpu = common::gpu();
    let mut scene = point([1.0, 2.0, 3.0], [0.0; 3]);
    scene.pin(0).unwrap();
    let target = [1.05f32, 2.02, 2.97];
    for (substeps, wait) in [(1, 0), (20, 0), (20, 3)] {
        let settings = Settings { substeps, ..Settings::default() };
        let (dt, h) = (f64::from(settings.dt), substep(&settings));
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(3);
            assert_eq!(backend.read_positions().unwrap()[0], [1.0, 2.0, 3.0], "{}: a pin fell", backend.name());
            backend.set_target(0, target).unwrap();
            backend.step(1);
            let miss = distance(backend.read_positions().unwrap()[0], target);
            println!("{} at {substeps}: missed by {miss:.1e} m", backend.name());
            assert!(miss < 1e-6, "{} at {substeps}: missed by {miss} m", backend.name());
            // If it stays pinned longer, it rests there and has no velocity after release.
            backend.step(wait);
            let miss = distance(backend.read_positions().unwrap()[0], target);
            assert!(miss < 1e-6, "{} at {substeps}: left its target by {miss} m", backend.name());
            backend.release(&[0]).unwrap();
            backend.step(30);
            let (t, n) = (30.0 * dt, f64::from(30 * substeps));
            let found = backend.read_positions().unwrap()[0];
            for (axis, start) in [1.0f32, 2.0, 3.0].into_iter().enumerate() {
                let travel = f64::from(target[axis]) - f64::from(start);
                let velocity = if wait == 0 { travel / dt } else { 0.0 };
                let fall = if axis == 1 { G * h * h * n * (n + 1.0) / 2.0 } else { 0.0 };
                let law = f64::from(target[axis]) + velocity * t - fall;
                let error = (f64::from(found[axis]) - law).abs();
                assert!(error < 1e-4, "{} at {substeps}, axis {axis}: {found:?}, law {law}", backend.name());
            }
        }
    }
}

/// At terminal velocity the drag of a horizontal sheet equals its weight: m g = ½ ρ A C_D v².
#[test]
fn a_falling_sheet_reaches_the_terminal_velocity_of_its_drag() {
    let gpu = common::gpu();
    for (density, drag) in [(1.204, 1.2), (1.204, 0.4)] {
        let mut scene = Scene::new();
        let grid = ClothGrid { columns: 9, rows: 9, ..ClothGrid::default() };
        let area_density = f64::from(grid.fabric.area_density);
        scene.add_cloth_grid(&grid).unwrap();
        let wind = Wind { density, drag, ..Wind::default() };
        let settings = Settings { wind: Some(wind), ..Settings::default() };
        let law = (2.0 * area_density * G / (f64::from(density) * f64::from(drag))).sqrt();
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(150);
            let total: f64 = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).sum();
            let found = -momentum(&scene, &backend.read_velocities().unwrap())[1] / total;
            println!("{} C_D {drag}: {found:.4} m/s against {law:.4} m/s", backend.name());
            assert!((found / law - 1.0).abs() < 0.03, "{}: {found} m/s against {law} m/s", backend.name());
        }
    }
}

/// A weightless sheet perpendicular to the wind accelerates to the wind velocity.
#[test]
fn a_weightless_sheet_reaches_the_velocity_of_the_wind() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 7, rows: 7, ..ClothGrid::default() }).unwrap();
    let wind = Wind { velocity: [0.0, 4.0, 0.0], ..Wind::default() };
    let settings = Settings { wind: Some(wind), ..no_gravity() };
    // v̇ = k (u − v)² with k = ½ ρ C_D/σ: u − v = u/(1 + k u t).
    let k = 0.5 * 1.204 * 1.2 / 0.2;
    for mut backend in backends(&gpu, &scene, settings) {
        for (steps, t) in [(6, 0.1), (54, 1.0)] {
            backend.step(steps);
            let total: f64 = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).sum();
            let lag = 4.0 - momentum(&scene, &backend.read_velocities().unwrap())[1] / total;
            let law = 4.0 / (1.0 + k * 4.0 * t);
            println!("{} after {t} s: {lag:.4} m/s against {law:.4} m/s", backend.name());
            assert!((lag / law - 1.0).abs() < 0.03, "{} after {t} s: {lag} m/s against {law} m/s", backend.name());
        }
    }
}

/// Kinetic and gravitational energy [J].
fn energy(masses: &[f64], positions: &[[f32; 3]], velocities: &[[f32; 3]]) -> f64 {
    let of = |((x, v), m): ((&[f32; 3], &[f32; 3]), &f64)| {
        let speed2: f64 = v.iter().map(|&component| f64::from(component).powi(2)).sum();
        m * (0.5 * speed2 + G * f64::from(x[1]))
    };
    positions.iter().zip(velocities).zip(masses).map(of).sum()
}

/// A hanging cloth without damping has no energy source. Its energy never exceeds the initial energy by more than 0.1 %
/// of the potential energy above the lowest reachable point, one diagonal below the pins.
#[test]
fn an_undamped_hanging_cloth_gains_no_energy() {
    let gpu = common::gpu();
    let executions = [Execution::Colors, Execution::Tiles, Execution::Clusters];
    for (tethers, execution) in
        [true, false].into_iter().flat_map(|tethers| executions.map(|execution| (tethers, execution)))
    {
        let mut scene = Scene::new();
        let depth = 8f32.sqrt();
        let grid = ClothGrid { columns: 16, rows: 16, origin: [-1.0, depth, -1.0], ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap();
        scene.pin(cloth.particles.start).unwrap();
        scene.pin(cloth.particles.start + 15).unwrap();
        let masses: Vec<f64> = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).collect();
        let settings = Settings { tethers, execution, ..Settings::default() };
        for mut backend in backends(&gpu, &scene, settings) {
            let start = energy(&masses, &backend.read_positions().unwrap(), &backend.read_velocities().unwrap());
            let mut most = 0f64;
            for _ in 0..300 {
                backend.step(1);
                most = most.max(
                    energy(&masses, &backend.read_positions().unwrap(), &backend.read_velocities().unwrap()) / start,
                );
            }
            let end = energy(&masses, &backend.read_positions().unwrap(), &backend.read_velocities().unwrap()) / start;
            let what = format!("{} tethers {tethers} {execution:?}", backend.name());
            println!("{what}: at most {most:.6}, in the end {end:.4}");
            assert!(most < 1.001, "{what}: {most} of its energy");
        }
    }
}

#[test]
fn wind_carries_a_light_fan_no_faster_than_it_blows() {
    let gpu = common::gpu();
    // A particle of many triangles: each triangle contributes its own drag.
    for valence in [6u16, 12, 50] {
        let mut positions = vec![[0.0; 3]];
        positions.extend((0..valence).map(|spoke| {
            let (sin, cos) = (f32::from(spoke) / f32::from(valence) * std::f32::consts::TAU).sin_cos();
            [cos, 0.0, sin]
        }));
        let valence = u32::from(valence);
        let triangles: Vec<[u32; 3]> = (0..valence).map(|spoke| [0, 1 + (spoke + 1) % valence, 1 + spoke]).collect();
        let soft = Material::compliant(1e17);
        let fabric = Fabric { area_density: 1e-6, structural: soft, shear: soft, bend: soft, ..Fabric::default() };
        let mut scene = Scene::new();
        let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
        scene.add_cloth_mesh(&mesh).unwrap();
        let wind = Wind { velocity: [0.0, 10.0, 0.0], ..Wind::default() };
        for mut backend in backends(&gpu, &scene, Settings { substeps: 1, wind: Some(wind), ..no_gravity() }) {
            backend.step(1);
            let speed = backend.read_velocities().unwrap()[0][1];
            assert!((0.0..=10.0).contains(&speed), "{} valence {valence}: {speed} m/s", backend.name());
        }
    }
}

/// A soft cloth under a load that would stretch it to twice its length: the limit holds for every edge.
#[test]
fn a_stretch_limit_bounds_the_strain_of_soft_springs() {
    let gpu = common::gpu();
    let stretch = |stretch_limit: f32| {
        let mut scene = Scene::new();
        let soft = Material::compliant(0.02);
        let fabric = Fabric {
            area_density: 10.0,
            structural: soft,
            shear: soft,
            bending: Bending::None,
            stretch_limit,
            ..Fabric::default()
        };
        let (column_axis, row_axis) = ([0.5, 0.0, 0.0], [0.0, -1.0, 0.0]);
        let grid =
            ClothGrid { columns: 5, rows: 9, column_axis, row_axis, fabric, tethers: None, ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap();
        (0..5).for_each(|particle| scene.pin(particle).unwrap());
        let settings = Settings { substeps: 60, damping: 3.0, ..Settings::default() };
        backends(&gpu, &scene, settings).map(|mut backend| {
            backend.step(60);
            scene.strain(cloth.structural.clone(), &backend.read_positions().unwrap()).unwrap().max
        })
    };
    for (free, limited) in stretch(f32::INFINITY).into_iter().zip(stretch(1.1)) {
        assert!(free > 0.5, "{free}");
        assert!((0.09..0.105).contains(&limited), "{limited}");
    }
}
