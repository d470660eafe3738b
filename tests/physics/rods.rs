//! Rods in equilibrium and waves of twist: against the equations of Cosserat rods, solved in f64.

use crate::common;
use glam::{DMat3, DQuat, DVec3};
use supple::{Reference, Rod, RodMaterial, RodParts, RodRest, RodStiffness, Scene, Settings};

/// A rod that is clamped at s = 0, in equilibrium: x' = R (e₃ + Γ), q' = ½ q Ω, m' = −x' × n. n is the force of the
/// load beyond s, Ω = Ω₀ + K⁻¹ Rᵀ m, and Γ = K⁻¹ Rᵀ n. Source: Antman 2005, *Nonlinear Problems of Elasticity*, ch. 8.
#[derive(Clone, Copy)]
pub struct Cosserat {
    pub length: f64,
    pub stiffness: RodStiffness,
    /// Ω₀ [1/m].
    pub rest: DVec3,
    /// Load per length [N/m].
    pub load: DVec3,
    /// Load at the end [N].
    pub force: DVec3,
    /// Moment at the end [N m].
    pub moment: DVec3,
}

/// x, q, m.
pub type State = (DVec3, DQuat, DVec3);

impl Cosserat {
    fn slope(&self, s: f64, (_, q, m): State, part: f64) -> State {
        let RodStiffness { stretch, shear, bend, twist } = self.stiffness;
        let n = (self.force + self.load * (self.length - s)) * part;
        let wide = |a: f32, b: f32, c: f32| DVec3::new(a.into(), b.into(), c.into());
        let strain = (q.conjugate() * n) / wide(shear, shear, stretch);
        let darboux = self.rest + (q.conjugate() * m) / wide(bend[0], bend[1], twist);
        let along = q * (DVec3::Z + strain);
        let spin = q * DQuat::from_xyzw(darboux.x, darboux.y, darboux.z, 0.0);
        (along, spin * 0.5, -along.cross(n))
    }

    /// The states at `count` + 1 places from the moment at the clamp, by Runge-Kutta steps.
    fn shot(&self, start: DQuat, moment: DVec3, part: f64, count: usize) -> Vec<State> {
        let h = self.length / count as f64;
        let plus = |a: State, b: State, t: f64| (a.0 + b.0 * t, a.1 + b.1 * t, a.2 + b.2 * t);
        let mut states = vec![(DVec3::ZERO, start, moment)];
        for k in 0..count {
            let (s, y) = (k as f64 * h, states[k]);
            let k1 = self.slope(s, y, part);
            let k2 = self.slope(s + 0.5 * h, plus(y, k1, 0.5 * h), part);
            let k3 = self.slope(s + 0.5 * h, plus(y, k2, 0.5 * h), part);
            let k4 = self.slope(s + h, plus(y, k3, h), part);
            let sum = plus(plus(plus(k1, k2, 2.0), k3, 2.0), k4, 1.0);
            let (x, q, m) = plus(y, sum, h / 6.0);
            states.push((x, q.normalize(), m));
        }
        states
    }

    /// The states at `count` + 1 places: Newton's method for the moment at the clamp, under a growing load.
    pub fn solve(&self, start: DQuat, count: usize) -> Vec<State> {
        let mut moment = DVec3::ZERO;
        for level in 1..=20 {
            let part = f64::from(level) / 20.0;
            let left = |moment: DVec3| self.shot(start, moment, part, count)[count].2 - self.moment * part;
            for _ in 0..20 {
                let (now, step) = (left(moment), 1e-6 * (1e-6 + moment.length()));
                let column = |axis: DVec3| (left(moment + axis * step) - now) / step;
                let change = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)).inverse() * now;
                moment -= change;
                if change.length() < 1e-12 * (1e-9 + moment.length()) {
                    break;
                }
            }
        }
        self.shot(start, moment, 1.0, count)
    }
}

pub fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}

pub fn quaternion(q: [f32; 4]) -> DQuat {
    DQuat::from_array(q.map(f64::from))
}

/// A straight line of `count` segments along x.
pub fn line(count: usize, length: f32) -> Vec<[f32; 3]> {
    (0..=count).map(|k| [length * k as f32 / count as f32, 0.0, 0.0]).collect()
}

pub const RUBBER: RodMaterial = RodMaterial::round(0.005, 1e6, 0.3, 1000.0);

/// Substeps and iterations that converge for the rods of these tests.
pub fn converged() -> Settings {
    Settings { substeps: 40, iterations: 6, gravity: [0.0; 3], ..Settings::default() }
}

fn cantilever(count: usize, length: f32, material: RodMaterial) -> (Scene, RodParts) {
    let mut scene = Scene::new();
    let points = line(count, length);
    let parts = scene.add_rod(&Rod { clamped: [true, false], ..Rod::new(&points, material) }).unwrap();
    (scene, parts)
}

fn start_frame(scene: &Scene, parts: &RodParts) -> DQuat {
    quaternion(scene.orientations()[parts.clamps[0].unwrap().index()].rotation)
}

fn beam(length: f32, stiffness: RodStiffness) -> Cosserat {
    let zero = DVec3::ZERO;
    Cosserat { length: length.into(), stiffness, rest: zero, load: zero, force: zero, moment: zero }
}

/// Forces of 1 to 5 EI/L², which bend the end by up to 72°, 20 segments.
#[test]
fn a_cantilever_with_a_load_at_its_end_is_the_elastica() {
    let length = 0.2;
    let (scene, parts) = cantilever(20, length, RUBBER);
    let end = parts.particles.end - 1;
    for load in [1.0, 2.0, 5.0] {
        let force = [0.0, -load * RUBBER.stiffness().bend[0] / (length * length), 0.0];
        let mut reference = Reference::new(&scene, Settings { forces: true, damping: 10.0, ..converged() }).unwrap();
        reference.set_forces(end, &[force]).unwrap();
        reference.step(150);
        let tip = wide(reference.read_positions().unwrap()[end as usize]);
        let expected = Cosserat { force: wide(force), ..beam(length, RUBBER.stiffness()) };
        let expected = expected.solve(start_frame(&scene, &parts), 200)[200].0;
        let error = (tip - expected).length() / expected.y.abs();
        println!("{load} EI/L²: {tip} of {expected}, {:.2} %", 100.0 * error);
        assert!(error < 0.01, "{load} EI/L²: {tip} of {expected}");
    }
}

/// Both backends, 10 segments, a rod of an elliptic section that bends about both axes.
#[test]
fn a_cantilever_under_its_own_weight_is_the_elastica() {
    let gpu = common::gpu();
    let length = 0.2;
    let material = RodMaterial { radii: [0.004, 0.006], ..RUBBER };
    let (mut scene, points) = (Scene::new(), line(10, length));
    let normal = Some([0.0, 1.0, 2.0]);
    let rod = Rod { clamped: [true, false], normal, ..Rod::new(&points, material) };
    let parts = scene.add_rod(&rod).unwrap();
    let gravity = [0.0, -9.81, 0.0];
    let load = wide(gravity) * f64::from(material.linear_density());
    let expected = Cosserat { load, ..beam(length, material.stiffness()) };
    let expected = expected.solve(start_frame(&scene, &parts), 200)[200].0;
    let settings = Settings { substeps: 20, iterations: 4, gravity, damping: 10.0, ..Settings::default() };
    for mut backend in common::backends(&gpu, &scene, settings) {
        backend.step(120);
        let tip = wide(backend.read_positions().unwrap()[10]);
        let error = (tip - expected).length() / (expected - DVec3::X * f64::from(length)).length();
        println!("{}: {tip} of {expected}, {:.2} %", backend.name(), 100.0 * error);
        assert!(expected.z.abs() > 0.01, "it bends to the side: {expected}");
        assert!(error < 0.02, "{}: {tip} of {expected}", backend.name());
    }
}

/// T L/(G J), for a torque that twists each segment by 0.3 rad.
#[test]
fn a_torque_at_the_end_twists_a_rod_by_t_l_over_g_j() {
    let (length, count) = (0.2, 20);
    let (scene, parts) = cantilever(count, length, RUBBER);
    let twist = RUBBER.stiffness().twist;
    let torque = 0.3 * twist / (length / count as f32);
    let mut reference = Reference::new(&scene, Settings { forces: true, damping: 20.0, ..converged() }).unwrap();
    let last = scene.orientation(parts.frames.end - 1).unwrap();
    reference.set_torques(last, &[[torque, 0.0, 0.0]]).unwrap();
    reference.step(150);
    let frames = reference.read_orientations().unwrap();
    let mut angle = 0.0;
    let mut before = start_frame(&scene, &parts);
    for frame in parts.frames.clone() {
        let now = quaternion(frames[frame as usize]);
        let turn = before.conjugate() * now;
        angle += 2.0 * (turn.z * turn.w.signum()).atan2(turn.w.abs());
        before = now;
    }
    // To the centre of the last segment.
    let part = f64::from(length) * (1.0 - 0.5 / count as f64);
    let expected = f64::from(torque) * part / f64::from(twist);
    println!("{angle:.4} of {expected:.4} rad");
    assert!((angle / expected - 1.0).abs() < 0.01, "{angle} of {expected} rad");
    let after = reference.read_positions().unwrap();
    let moved = after.iter().zip(scene.positions()).map(|(a, b)| (wide(*a) - wide(*b)).length());
    assert!(moved.fold(0.0, f64::max) < 1e-5, "the rod stays straight");
}

/// Waves of twist at √(G/ρ): the first mode between a clamp and a free end has the period 4 L/√(G/ρ).
#[test]
fn a_twisted_rod_swings_back_with_the_speed_of_shear_waves() {
    let (length, count) = (0.2, 20);
    let mut scene = Scene::new();
    let points = line(count, length);
    let rod = Rod { clamped: [true, false], frame_inertia: 0.0, ..Rod::new(&points, RUBBER) };
    let parts = scene.add_rod(&rod).unwrap();
    // The first mode.
    for (k, frame) in parts.frames.clone().enumerate() {
        let angle = 0.2 * (0.5 * std::f64::consts::PI * (k as f64 + 0.5) / count as f64).sin();
        let id = scene.orientation(frame).unwrap();
        let turned = quaternion(scene.orientations()[frame as usize].rotation) * DQuat::from_rotation_z(angle);
        scene.set_rotation(id, turned.to_array().map(|component| component as f32)).unwrap();
    }
    let dt = 1e-3;
    let settings = Settings { dt, substeps: 20, ..converged() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    let start = start_frame(&scene, &parts);
    let last = |reference: &Reference| {
        let turn = start.conjugate() * quaternion(reference.read_orientations().unwrap()[count - 1]);
        2.0 * (turn.z * turn.w.signum()).atan2(turn.w.abs())
    };
    // Two zeros, half a period apart.
    let (mut zeros, mut before) = (Vec::new(), last(&reference));
    for step in 0..60 {
        reference.step(1);
        let now = last(&reference);
        if before * now < 0.0 {
            zeros.push(f64::from(dt) * (step as f64 + before / (before - now)));
        }
        before = now;
    }
    let shear = f64::from(RUBBER.young) / (2.0 * (1.0 + f64::from(RUBBER.poisson_ratio)));
    let expected = 2.0 * f64::from(length) / (shear / f64::from(RUBBER.density)).sqrt();
    println!("{zeros:?}, expected {expected}");
    let half = zeros[1] - zeros[0];
    assert!((half / expected - 1.0).abs() < 0.02, "{half} of {expected} s");
}

/// Three turns that stretch to about twice their height.
#[test]
fn a_coil_spring_hangs_under_its_own_weight() {
    let material = RodMaterial { young: 1e7, ..RodMaterial::round(0.004, 1e7, 0.3, 1000.0) };
    let (radius, pitch, turns, per_turn) = (0.03f64, 0.02f64, 3, 24);
    let rise = pitch / std::f64::consts::TAU;
    let at = |t: f64| DVec3::new(radius * t.cos(), -radius * t.sin(), -rise * t);
    let count = turns * per_turn;
    let step = std::f64::consts::TAU / per_turn as f64;
    let points: Vec<[f32; 3]> = (0..=count).map(|k| at(k as f64 * step).as_vec3().into()).collect();
    let mut scene = Scene::new();
    let rod = Rod { rest: RodRest::Shape, clamped: [true, false], ..Rod::new(&points, material) };
    scene.add_rod(&rod).unwrap();
    let gravity = [0.0, 0.0, -9.81];
    let settings = Settings { iterations: 8, gravity, damping: 20.0, ..converged() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.step(120);
    let sag = f64::from(points[count][2] - reference.read_positions().unwrap()[count][2]);

    // The frames of Frenet: d₁ the normal, d₂ the binormal, d₃ the tangent.
    let square = radius * radius + rise * rise;
    let tangent = DVec3::new(0.0, -radius, -rise) / square.sqrt();
    let normal = -DVec3::X;
    let start = DQuat::from_mat3(&DMat3::from_cols(normal, tangent.cross(normal), tangent));
    // The helix is right-handed.
    let rest = DVec3::new(0.0, radius, rise) / square;
    let length = square.sqrt() * std::f64::consts::TAU * turns as f64;
    let load = wide(gravity) * f64::from(material.linear_density());
    let spring = Cosserat { rest, load, ..beam(length as f32, material.stiffness()) };
    let unloaded = Cosserat { load: DVec3::ZERO, ..spring }.solve(start, 600)[600].0;
    let expected = unloaded.z - spring.solve(start, 600)[600].0.z;
    let height = pitch * turns as f64;
    println!("{sag:.5} of {expected:.5} m, {height} m high; end {unloaded}, {}", at(count as f64 * step) - at(0.0));
    assert!((unloaded - (at(count as f64 * step) - at(0.0))).length() < 1e-3, "the helix of the frames: {unloaded}");
    assert!(expected > 0.5 * height, "{expected} m");
    assert!((sag / expected - 1.0).abs() < 0.02, "{sag} of {expected} m");
}

/// The error of the end of a cantilever under its own weight, relative to its deflection.
fn sag_error(material: RodMaterial, length: f32, count: usize, settings: Settings) -> f64 {
    let (scene, parts) = cantilever(count, length, material);
    let mut reference = Reference::new(&scene, Settings { damping: 10.0, ..settings }).unwrap();
    reference.step(240);
    let tip = wide(reference.read_positions().unwrap()[count]);
    let load = wide(settings.gravity) * f64::from(material.linear_density());
    let expected = Cosserat { load, ..beam(length, material.stiffness()) };
    let expected = expected.solve(start_frame(&scene, &parts), 200)[200].0;
    (tip - expected).length() / (expected - DVec3::X * f64::from(length)).length()
}

/// At the default settings, 20 substeps of one iteration: soft and stiff rods, in long and short segments. b = h² EI/(ρA l⁴)
/// is the stiffness of a joint.
#[test]
fn a_rod_is_as_stiff_as_its_moduli_at_the_default_settings() {
    let steel = RodMaterial::round(5e-4, 2e11, 0.3, 7800.0);
    let nylon = RodMaterial::round(5e-4, 3e9, 0.4, 1150.0);
    for (what, material, length, count) in [
        ("rubber", RUBBER, 0.2, 20),
        ("rubber", RUBBER, 0.2, 40),
        ("nylon", nylon, 0.25, 25),
        ("nylon", nylon, 0.25, 100),
        ("steel", steel, 0.5, 25),
        ("steel", steel, 0.5, 100),
    ] {
        let settings = Settings::default();
        let (h, l) = (settings.substep(), length / count as f32);
        let b = h * h * material.stiffness().bend[0] / (material.linear_density() * l.powi(4));
        let error = sag_error(material, length, count, settings);
        let jacobi = sag_error(material, length, count, Settings { sweep: supple::Sweep::Jacobi, ..settings });
        println!(
            "{what}, {count} segments, b = {b:.1e}: {:.3} %; by Jacobi sweeps {:.0} %",
            100.0 * error,
            100.0 * jacobi
        );
        assert!(error < 0.01, "{what}, {count} segments: {error}");
    }
}

/// The end of the cantilever of the tests below after `steps` steps without disturbance.
fn undisturbed_tip(material: RodMaterial, steps: u32) -> DVec3 {
    let (scene, _) = cantilever(20, 0.2, material);
    let mut reference = Reference::new(&scene, Settings { damping: 2.0, ..Settings::default() }).unwrap();
    reference.step(steps);
    wide(reference.read_positions().unwrap()[20])
}

/// Particles start up to two segments away from their places, and frames turned by up to 1 rad.
#[test]
fn a_crumpled_rod_stays_finite_and_recovers() {
    for young in [1e6, 1e9, 2e11] {
        for size in [0.2f32, 2.0] {
            let material = RodMaterial { young, ..RUBBER };
            let (mut scene, parts) = cantilever(20, 0.2, material);
            common::crumple(&mut scene, 1..21, 0.01 * size);
            for frame in parts.frames.clone() {
                let turn = DQuat::from_rotation_x(0.5 * f64::from(size) * (f64::from(frame * 7 % 5) - 2.0) / 2.0);
                let id = scene.orientation(frame).unwrap();
                let turned = turn * quaternion(scene.orientations()[frame as usize].rotation);
                scene.set_rotation(id, turned.to_array().map(|component| component as f32)).unwrap();
            }
            let mut reference = Reference::new(&scene, Settings { damping: 2.0, ..Settings::default() }).unwrap();
            reference.step(300);
            let (x, report) = (reference.read_positions().unwrap(), reference.read_diagnostics().unwrap());
            assert_eq!(report.non_finite_count, 0, "{young} Pa");
            let length: f64 = x.windows(2).map(|pair| (wide(pair[1]) - wide(pair[0])).length()).sum();
            let apart = (wide(x[20]) - undisturbed_tip(material, 300)).length();
            println!("{young} Pa, {size}: {length:.4} of 0.2 m, {apart:.1e} m from the tip without disturbance");
            assert!((length - 0.2).abs() < 2e-3, "{young} Pa, {size}: {length} m");
            assert!(apart < 2e-4, "{young} Pa, {size}: the tip is {apart} m from that without disturbance");
        }
    }
}

/// The point of a clamp jumps by five segments in a step, and back.
#[test]
fn a_stiff_rod_whose_clamp_is_torn_aside_stays_finite_and_recovers() {
    for young in [1e6, 1e9, 2e11] {
        let material = RodMaterial { young, ..RUBBER };
        let (scene, parts) = cantilever(20, 0.2, material);
        let mut reference = Reference::new(&scene, Settings { damping: 2.0, ..Settings::default() }).unwrap();
        for step in 0..240 {
            let aside = if (10..60).contains(&step) && step % 10 < 5 { 0.05 } else { 0.0 };
            reference.set_target(parts.particles.start, [0.0, aside, -aside]).unwrap();
            reference.step(1);
        }
        let (x, report) = (reference.read_positions().unwrap(), reference.read_diagnostics().unwrap());
        assert_eq!(report.non_finite_count, 0, "{young} Pa");
        let length: f64 = x.windows(2).map(|pair| (wide(pair[1]) - wide(pair[0])).length()).sum();
        assert!((length - 0.2).abs() < 2e-3, "{young} Pa: {length} m");
        // The swing of the softest rod takes longer to stop.
        reference.step(240);
        let apart = (wide(reference.read_positions().unwrap()[20]) - undisturbed_tip(material, 480)).length();
        println!("{young} Pa: {length:.4} of 0.2 m, {apart:.1e} m from the tip without disturbance");
        assert!(apart < 3e-4, "{young} Pa: the tip is {apart} m from that without disturbance");
    }
}
