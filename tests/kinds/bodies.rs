//! Bodies: damping, external forces, and soft bodies against linear elasticity.

use crate::common;
use crate::common::{backends, distance, gpu, noise, shapes, solver};
use glam::{DQuat, DVec3};
use std::ops::Range;

use supple::gpu::Context;
use supple::scene::Lattice;
use supple::{
    Balloon, Distance, Elasticity, Fabric, Field, Material, Particle, Pressure, Reference, Scene, Settings, SoftBody,
    SoftParts, TetMesh, Volume, Wind,
};

const G: f64 = 9.81f32 as f64;

fn still() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

fn wide(vectors: &[[f32; 3]]) -> Vec<DVec3> {
    vectors.iter().map(|vector| DVec3::from(vector.map(f64::from))).collect()
}

fn masses(scene: &Scene, particles: Range<u32>) -> Vec<f64> {
    let mass = |&w: &f32| if w > 0.0 { 1.0 / f64::from(w) } else { 0.0 };
    scene.inverse_masses()[particles.start as usize..particles.end as usize].iter().map(mass).collect()
}

/// The centre of mass Σ m x/Σ m.
fn center(masses: &[f64], x: &[DVec3]) -> DVec3 {
    masses.iter().zip(x).map(|(&m, &x)| m * x).sum::<DVec3>() / masses.iter().sum::<f64>()
}

/// The angular momentum Σ m (x − x̄) × v.
fn spin(masses: &[f64], x: &[DVec3], v: &[DVec3]) -> DVec3 {
    let middle = center(masses, x);
    masses.iter().zip(x).zip(v).map(|((&m, &x), &v)| m * (x - middle).cross(v)).sum()
}

// ------------------------------------------------------------------------------------------------------- damping

/// Loose particles of different masses in a box of the given size, as one body; `velocity` depends on index and
/// position.
fn cloud(count: u32, size: DVec3, velocity: impl Fn(u32, DVec3) -> DVec3) -> Scene {
    let mut scene = Scene::new();
    for k in 0..count {
        let place =
            DVec3::from([0, 1, 2].map(|axis| f64::from(noise(3 * k + axis)))) * size + DVec3::new(3.0, -1.0, 2.0);
        let [position, velocity] = [place, velocity(k, place)].map(|vector| vector.as_vec3().into());
        let inverse_mass = 1.0 / (1.0 + 0.9 * noise(7 * k + 11));
        scene.add_particle(Particle { position, velocity, inverse_mass }).unwrap();
    }
    scene.add_body(0..count).unwrap();
    scene
}

fn random(k: u32, _: DVec3) -> DVec3 {
    DVec3::from([3, 5, 7].map(|salt| f64::from(noise(1000 * salt + k)))) + DVec3::new(0.5, 1.0, -0.3)
}

/// Errors are relative to Σ m |v|, because the momenta of the particles could cancel.
#[test]
fn body_damping_keeps_linear_and_angular_momentum() {
    let gpu = gpu();
    // Below and above the 128 threads that sum a body.
    for count in [5, 100, 700] {
        let scene = cloud(count, DVec3::new(1.0, 0.7, 0.4), random);
        let m = masses(&scene, 0..count);
        let x0 = wide(scene.positions());
        let v0: Vec<DVec3> = x0.iter().zip(0..).map(|(&x, k)| random(k, x)).collect();
        let middle = center(&m, &x0);
        let carried: f64 = m.iter().zip(&v0).map(|(m, v)| m * v.length()).sum();
        let turning: f64 = m.iter().zip(&v0).zip(&x0).map(|((m, v), x)| m * v.length() * (*x - middle).length()).sum();
        for k in [0.1, 0.5, 1.0] {
            let settings = Settings { body_damping: k, substeps: 4, ..still() };
            for mut backend in backends(&gpu, &scene, settings) {
                backend.step(1);
                let (x, v) = (wide(&backend.read_positions().unwrap()), wide(&backend.read_velocities().unwrap()));
                let lost = (center(&m, &v) - center(&m, &v0)).length() * m.iter().sum::<f64>() / carried;
                let turned = (spin(&m, &x, &v) - spin(&m, &x0, &v0)).length() / turning;
                let changed = v.iter().zip(&v0).map(|(v, v0)| (*v - *v0).length()).fold(0.0, f64::max);
                println!("{} of {count}, k {k}: linear {lost:.1e}, angular {turned:.1e}", backend.name());
                assert!(lost < 1e-6 && turned < 1e-5, "{} of {count}, k {k}: {lost} {turned}", backend.name());
                assert!(changed > 0.05 * f64::from(k), "nothing was damped");
            }
        }
    }
}

/// The inertia about the long axis is 1/400 of the largest for 1 × 0.05 × 0.05 m and 1/10 000 for 1 × 0.01 × 0.01 m.
#[test]
fn body_damping_keeps_the_spin_of_a_slender_body_about_its_length() {
    let gpu = gpu();
    let around = |_: u32, x: DVec3| DVec3::X.cross(x) * 10.0;
    for (thickness, bound) in [(0.05, 1e-4), (0.01, 1e-3)] {
        let scene = cloud(300, DVec3::new(0.5, 0.5 * thickness, 0.5 * thickness), around);
        let m = masses(&scene, 0..300);
        let x0 = wide(scene.positions());
        let v0: Vec<DVec3> = x0.iter().map(|&x| around(0, x)).collect();
        let settings = Settings { body_damping: 1.0, dt: 1e-6, substeps: 1, ..still() };
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(1);
            let (before, after) = (
                spin(&m, &x0, &v0),
                spin(&m, &wide(&backend.read_positions().unwrap()), &wide(&backend.read_velocities().unwrap())),
            );
            let lost = (after - before).x / before.x;
            println!("{}, {thickness}: {lost:.1e} of its spin in a step", backend.name());
            assert!(lost.abs() < bound, "{}, {thickness}: {lost} of its spin in a step", backend.name());
        }
    }
}

/// Each pair keeps its distance: (xᵢ − xⱼ)·(vᵢ − vⱼ) = 0.
#[test]
fn body_damping_of_one_leaves_a_rigid_motion() {
    let gpu = gpu();
    let scene = cloud(60, DVec3::new(1.0, 0.7, 0.4), random);
    for mut backend in backends(&gpu, &scene, Settings { body_damping: 1.0, ..still() }) {
        backend.step(1);
        let (x, v) = (wide(&backend.read_positions().unwrap()), wide(&backend.read_velocities().unwrap()));
        let mut worst = 0f64;
        for i in 0..60 {
            for j in 0..i {
                let apart = (x[i] - x[j]).normalize();
                worst = worst.max(apart.dot(v[i] - v[j]).abs());
            }
        }
        println!("{}: {worst:.1e} m/s", backend.name());
        assert!(worst < 3e-6, "{}: {worst} m/s", backend.name());
        assert!(v.iter().any(|v| (*v - v[0]).length() > 0.05), "it does not turn");
    }
}

/// One step of 1 µs, in which a rotation is linear to 1e-5. The angular velocity is computed from the inertia tensor
/// plus 1e-6 of its trace on the diagonal: an error of up to 1e-5 ω for these shapes.
#[test]
fn body_damping_leaves_a_rigid_motion_unchanged() {
    let gpu = gpu();
    let omega = DVec3::new(2.0, -1.0, 3.0);
    let rigid = |_: u32, x: DVec3| DVec3::new(1.0, 2.0, -1.0) + omega.cross(x);
    for (what, size) in [
        ("a box", DVec3::new(1.0, 0.7, 0.4)),
        ("a sheet", DVec3::new(1.0, 0.0, 0.8)),
        ("a rope", DVec3::new(1.0, 0.0, 0.0)),
    ] {
        let scene = cloud(40, size, rigid);
        let x0 = wide(scene.positions());
        for k in [0.2, 1.0] {
            let settings = Settings { body_damping: k, dt: 1e-6, substeps: 1, ..still() };
            for mut backend in backends(&gpu, &scene, settings) {
                backend.step(1);
                let v = wide(&backend.read_velocities().unwrap());
                let changed = v.iter().zip(&x0).map(|(v, &x)| (*v - rigid(0, x)).length()).fold(0.0, f64::max);
                println!("{}: {what}, k {k}: {changed:.1e} m/s", backend.name());
                assert!(changed < 5e-5, "{}: {what}, k {k}: {changed} m/s", backend.name());
            }
        }
    }
}

/// A straight rope has neither inertia nor angular momentum about its axis. Damping keeps its angular momentum.
#[test]
fn body_damping_of_a_straight_rope_keeps_its_rotation() {
    let gpu = gpu();
    for axis in [DVec3::X, DVec3::ONE.normalize(), DVec3::new(0.3, -0.9, 0.2).normalize()] {
        let mut scene = Scene::new();
        for k in 0..50 {
            let position = (axis * (0.02 * f64::from(k))).as_vec3().into();
            let velocity = random(k, DVec3::ZERO).as_vec3().into();
            scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
        }
        scene.add_body(0..50).unwrap();
        let m = masses(&scene, 0..50);
        let (x0, v0): (Vec<_>, Vec<_>) =
            (wide(scene.positions()), (0..50).map(|k| random(k, DVec3::ZERO).as_vec3().as_dvec3()).collect());
        let settings = Settings { body_damping: 1.0, dt: 1e-6, substeps: 1, ..still() };
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(1);
            let (x, v) = (wide(&backend.read_positions().unwrap()), wide(&backend.read_velocities().unwrap()));
            let turned = (spin(&m, &x, &v) - spin(&m, &x0, &v0)).length() / spin(&m, &x0, &v0).length();
            let lost = (center(&m, &v) - center(&m, &v0)).length();
            // The remaining velocity varies linearly along the rope, and its axial component is constant.
            let ends = (v[49] - v[0]).dot(axis).abs();
            let bend = (0.5 * (v[49] + v[1]) - v[25]).length();
            println!("{}: {turned:.1e} {lost:.1e} {ends:.1e} {bend:.1e}", backend.name());
            assert!(
                turned < 1e-4 && lost < 1e-5 && ends < 1e-5 && bend < 1e-5,
                "{}: {turned} {lost} {ends} {bend}",
                backend.name()
            );
        }
    }
}

#[test]
fn body_damping_acts_on_each_body_separately_and_on_no_other_particle() {
    let gpu = gpu();
    let scene_of = |other: f32, k: f32| {
        let mut scene = Scene::new();
        for i in 0..30u32 {
            let position = [0, 1, 2].map(|axis| noise(3 * i + axis));
            let mut velocity: [f32; 3] = random(i, DVec3::ZERO).as_vec3().into();
            if i >= 12 {
                velocity[1] *= other;
            }
            scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
        }
        // Two bodies, a body of one particle, a body of pinned particles, and particles without a body.
        for body in [0..12, 12..20, 20..21, 21..24] {
            scene.add_body(body).unwrap();
        }
        (21..24).for_each(|particle| scene.pin(particle).unwrap());
        (scene, Settings { body_damping: k, substeps: 2, ..still() })
    };
    let play = |other: f32, k: f32| {
        let (scene, settings) = scene_of(other, k);
        backends(&gpu, &scene, settings).map(|mut backend| {
            backend.step(1);
            backend.read_velocities().unwrap()
        })
    };
    let (found, others, undamped) = (play(1.0, 0.5), play(-3.0, 0.5), play(1.0, 0.0));
    for which in 0..2 {
        assert_eq!(found[which][..12], others[which][..12], "a body feels another");
        assert_ne!(found[which][12..20], others[which][12..20]);
        assert_ne!(found[which][..12], undamped[which][..12]);
        // A single particle, pinned particles, and particles without a body.
        assert_eq!(found[which][21..], undamped[which][21..]);
        let alone = distance(found[which][20], undamped[which][20]);
        assert!(alone < 1e-6, "a body of one is damped by {alone} m/s");
    }
}

/// The factor is exp(−c t) for damping and fⁿ after n steps for the step factor, independent of substeps; they
/// multiply.
#[test]
fn damping_and_step_factor_follow_their_formulas() {
    let gpu = gpu();
    let mut scene = Scene::new();
    scene.add_particle(Particle { velocity: [3.0, -1.0, 2.0], ..Particle::default() }).unwrap();
    for (substeps, c, factor) in [(1, 0.0, 0.99f32), (20, 0.0, 0.99), (7, 0.0, 0.9), (20, 2.0, 0.995), (3, 0.0, 1e-3)] {
        let settings = Settings { substeps, damping: c, step_factor: factor, ..still() };
        let steps = 10;
        let law = (-f64::from(c) * f64::from(steps) * f64::from(settings.dt)).exp() * f64::from(factor).powi(steps);
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(steps as u32);
            let [x, y, z] = backend.read_velocities().unwrap()[0].map(f64::from);
            for (found, start) in [(x, 3.0), (y, -1.0), (z, 2.0)] {
                let (expected, error) = (start * law, found - start * law);
                // The smallest displacements are rounded to half an ulp of the position residual: 7e-15 m at x = 0.05 m,
                // or 1.3e-12 m/s at a substep of 1/180 s.
                let most = 2e-5 * expected.abs() + 1.3e-12;
                assert!(error.abs() < most, "{} at {substeps}, {c}, {factor}: {error}", backend.name());
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ fields, forces

/// The accelerations of particles at rest, from their velocity a h after one substep of 1 ms.
fn accelerations(gpu: &Context, places: &[DVec3], fields: &[Field]) -> [Vec<DVec3>; 2] {
    let mut scene = Scene::new();
    for place in places {
        let position = place.as_vec3().into();
        scene.add_particle(Particle { position, inverse_mass: 0.3, ..Particle::default() }).unwrap();
    }
    let settings = Settings { dt: 1e-3, substeps: 1, fields: Field::slots(fields), ..still() };
    backends(gpu, &scene, settings).map(|mut backend| {
        backend.step(1);
        wide(&backend.read_velocities().unwrap()).into_iter().map(|v| v / f64::from(1e-3f32)).collect()
    })
}

fn places() -> Vec<DVec3> {
    (0..40).map(|k| DVec3::from([0, 1, 2].map(|axis| 3.0 * f64::from(noise(3 * k + axis))))).collect()
}

/// S r̂/(1 + (r/R)²) towards the point; halved at R.
#[test]
fn a_point_field_pulls_by_its_law() {
    let gpu = gpu();
    let point = DVec3::new(0.5, -0.25, 1.0);
    for (strength, radius) in [(5.0f32, 0.75f32), (-20.0, 3.0)] {
        let field = Field::Point { position: point.as_vec3().into(), strength, radius };
        let mut places = places();
        places.extend([point, point + DVec3::X * f64::from(radius)]);
        for found in accelerations(&gpu, &places, &[field]) {
            for (place, a) in places.iter().zip(&found) {
                let r = (point - *place).length();
                let law = (point - *place).normalize_or_zero() * f64::from(strength)
                    / (1.0 + (r / f64::from(radius)).powi(2));
                assert!((*a - law).length() < 1e-5 * f64::from(strength.abs()), "at {place}: {a} instead of {law}");
            }
            let [middle, half] = [found[40].length(), found[41].length()];
            assert!(middle == 0.0 && (half / f64::from(strength.abs()) - 0.5).abs() < 1e-5, "{middle} {half}");
        }
    }
}

/// S n × ρ̂/(1 + (ρ/R)²): counterclockwise seen against the axis; the length of the axis does not matter.
#[test]
fn a_vortex_turns_around_its_axis_by_its_law() {
    let gpu = gpu();
    let origin = DVec3::new(0.5, -0.25, 1.0);
    for (axis, strength, radius) in
        [(DVec3::Y * 7.0, 5.0f32, 0.75f32), (DVec3::new(1.0, -2.0, 0.5), 3.0, 2.0), (DVec3::Z * 1e-3, -4.0, 1.0)]
    {
        let field = Field::Vortex { position: origin.as_vec3().into(), axis: axis.as_vec3().into(), strength, radius };
        let n = axis.normalize();
        let places = places();
        for found in accelerations(&gpu, &places, &[Field::None, field]) {
            for (place, a) in places.iter().zip(found) {
                let out = (*place - origin).reject_from_normalized(n);
                let part = out.length() / f64::from(radius);
                let law = n.cross(out.normalize()) * f64::from(strength) / (1.0 + part * part);
                assert!((a - law).length() < 2e-5 * f64::from(strength.abs()), "at {place}: {a} instead of {law}");
            }
        }
    }
}

/// All eight fields at once: accelerations add up.
#[test]
fn fields_add_up() {
    let gpu = gpu();
    let fields: Vec<Field> = (0..8u32)
        .map(|k| {
            let position = [0, 1, 2].map(|axis| 2.0 * noise(100 + 3 * k + axis));
            let (strength, radius) = (noise(50 + k) * 4.0, 1.0 + 0.1 * k as f32);
            if k % 2 == 0 {
                Field::Point { position, strength, radius }
            } else {
                Field::Vortex { position, axis: [noise(k), 1.0, noise(k + 9)], strength, radius }
            }
        })
        .collect();
    let places = places();
    let all = accelerations(&gpu, &places, &fields);
    for (which, all) in all.iter().enumerate() {
        let mut sum = vec![DVec3::ZERO; places.len()];
        for field in &fields {
            let one = &accelerations(&gpu, &places, &[*field])[which];
            sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += *one);
        }
        let worst = all.iter().zip(&sum).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        assert!(worst < 3e-5, "{worst}");
    }
}

/// v = F t/m until the forces change. Forces do not act on pinned particles, nor while disabled.
#[test]
fn a_force_gives_a_momentum_of_force_times_time() {
    let gpu = gpu();
    let mut scene = Scene::new();
    for mass in [0.5f32, 2.0, 8.0] {
        scene.add_particle(Particle { inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
    }
    scene.pin(2).unwrap();
    let settings = Settings { forces: true, substeps: 7, ..still() };
    let forces = [[1.0, -2.0, 0.5], [4.0, 0.0, -3.0], [9.0; 3]];
    let mut reference = Reference::new(&scene, settings).unwrap();
    let mut on_gpu = solver(&gpu, &scene, settings);
    reference.set_forces(0, &forces).unwrap();
    on_gpu.set_forces(0, &forces).unwrap();
    reference.step(30);
    on_gpu.step(30);
    // The forces change sign: after the same time again the first has twice the momentum, the second none.
    let check = |what: &str, velocities: &[[f32; 3]], first: f64, second: f64| {
        for (particle, (mass, time)) in [(0.5, first), (2.0, second), (f64::INFINITY, 0.0)].into_iter().enumerate() {
            for axis in 0..3 {
                let law = f64::from(forces[particle][axis]) / mass * time;
                let found = f64::from(velocities[particle][axis]);
                assert!((found - law).abs() < 1e-5 * (1.0 + law.abs()), "{what}, {particle}: {found}, law {law}");
            }
        }
    };
    check("reference", &reference.read_velocities().unwrap(), 0.5, 0.5);
    check("solver", &on_gpu.read_velocities().unwrap(), 0.5, 0.5);
    let turned = [forces[1].map(|component| -component)];
    reference.set_forces(1, &turned).unwrap();
    on_gpu.set_forces(1, &turned).unwrap();
    reference.step(30);
    on_gpu.step(30);
    check("reference", &reference.read_velocities().unwrap(), 1.0, 0.0);
    check("solver", &on_gpu.read_velocities().unwrap(), 1.0, 0.0);
    let off = Settings { forces: false, ..settings };
    reference.set_settings(off).unwrap();
    on_gpu.set_settings(off).unwrap();
    reference.step(10);
    on_gpu.step(10);
    check("reference, off", &reference.read_velocities().unwrap(), 1.0, 0.0);
    check("solver, off", &on_gpu.read_velocities().unwrap(), 1.0, 0.0);
    assert!(reference.set_forces(0, &forces).is_err() && on_gpu.set_forces(0, &forces).is_err());
}

/// The air velocity at places, measured by triangles so light that drag sets their velocity at once: Δv = u |û·n| to
/// 1e-3.
fn air(gpu: &Context, places: &[DVec3], wind: Wind) -> [Vec<DVec3>; 2] {
    let mut scene = Scene::new();
    let mut corners = Vec::new();
    let mut triangles = Vec::new();
    // A cloth of separate triangles, each perpendicular to (1, 1, 1).
    let size = 2e-3;
    let turn = DQuat::from_rotation_arc(DVec3::Z, DVec3::ONE.normalize());
    for place in places {
        let first = corners.len() as u32;
        for k in 0..3 {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 3.0).sin_cos();
            corners.push((*place + turn * (DVec3::new(cos, sin, 0.0) * size)).as_vec3().into());
        }
        triangles.push([first, first + 1, first + 2]);
    }
    // 1.2e-12 kg per corner, 5.2e-6 m² per triangle.
    let fabric = Fabric { area_density: 7e-7, ..Fabric::default() };
    let mesh = supple::ClothMesh { positions: &corners, triangles: &triangles, fabric, tethers: None };
    scene.add_cloth_mesh(&mesh).unwrap();
    let settings = Settings { dt: 0.1, substeps: 1, wind: Some(wind), ..still() };
    backends(gpu, &scene, settings).map(|mut backend| {
        backend.step(1);
        let v = wide(&backend.read_velocities().unwrap());
        v.chunks(3)
            .map(|corner| {
                let mean = (corner[0] + corner[1] + corner[2]) / 3.0;
                mean / mean.normalize_or(DVec3::X).dot(DVec3::ONE.normalize()).abs().max(1e-3)
            })
            .collect()
    })
}

#[test]
fn turbulence_is_bounded_smooth_without_a_mean_and_deterministic() {
    let gpu = gpu();
    let wind =
        Wind { turbulence: 3.0, turbulence_length: 0.5, drag: 3e3, lift: 0.0, velocity: [0.0; 3], ..Wind::default() };
    let spread = |k: u32| DVec3::from([0, 1, 2].map(|axis| 20.0 * f64::from(noise(3 * k + axis))));
    let places: Vec<DVec3> = (0..1500).map(spread).collect();
    let [found, on_gpu] = air(&gpu, &places, wind);
    let again = air(&gpu, &places, wind);
    assert_eq!((&found, &on_gpu), (&again[0], &again[1]), "not the same");
    let apart = found.iter().zip(&on_gpu).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
    assert!(apart < 1e-2, "the backends differ by {apart} m/s");
    // Excludes places at which the wind is nearly parallel to the triangle; the measurement is inaccurate there.
    let facing = |u: &DVec3| u.normalize_or(DVec3::X).dot(DVec3::ONE.normalize()).abs() > 0.3;
    let faced: Vec<DVec3> = found.iter().copied().filter(facing).collect();
    let count = faced.len() as f64;
    let mean = faced.iter().sum::<DVec3>() / count;
    let largest = faced.iter().map(|u| u.abs().max_element()).fold(0.0, f64::max);
    let spread = (faced.iter().map(|u| u.length_squared()).sum::<f64>() / count / 3.0).sqrt();
    println!("mean {mean:.3}, largest {largest:.3}, rms {spread:.3}");
    // Interpolated uniform noise has an rms of 3/√3 times 0.6 to 0.7, so the mean of 1500 values is about 1.1/√1500 =
    // 0.03.
    assert!(mean.abs().max_element() < 0.12, "{mean}");
    assert!(largest < 3.0 * 1.01 && largest > 2.0, "{largest}");
    assert!((0.7..1.5).contains(&spread), "{spread}");
    // A cell of 0.5 m has a slope of at most 1.5 · 6 m/s per cell.
    let moved: Vec<DVec3> = places.iter().map(|place| *place + DVec3::new(0.01, 0.0, 0.0)).collect();
    let [moved, _] = air(&gpu, &moved, wind);
    let steepest = found.iter().zip(&moved).filter(|(a, b)| facing(a) && facing(b));
    let steepest = steepest.map(|(a, b)| (*a - *b).abs().max_element()).fold(0.0, f64::max);
    println!("steepest {steepest:.3} m/s in 1 cm");
    assert!(steepest < 0.01 / 0.5 * 9.0 * 1.2, "{steepest}");
    // Turbulence 0 gives still air.
    let [calm, _] = air(&gpu, &places[..10], Wind { turbulence: 0.0, ..wind });
    assert!(calm.iter().all(|u| u.length() == 0.0));
}

// ---------------------------------------------------------------------------------------------------- soft bodies

const DENSITY: f64 = 1000.0;

/// The surface of a square bar along x from −½ to ½ of its length, with rings of four vertices, rotated by `turn`.
fn bar(length: f64, width: f64, segments: u32, turn: DQuat) -> shapes::Surface {
    let mut positions = Vec::new();
    for ring in 0..=segments {
        let x = length * (f64::from(ring) / f64::from(segments) - 0.5);
        for (y, z) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            positions.push((turn * DVec3::new(x, y * width, z * width)).as_vec3().into());
        }
    }
    let mut triangles = vec![[0, 2, 1], [0, 3, 2]];
    for ring in 0..segments {
        for side in 0..4 {
            let [a, b] = [4 * ring + side, 4 * ring + (side + 1) % 4];
            triangles.extend([[a, b, b + 4], [a, b + 4, a + 4]]);
        }
    }
    let last = 4 * segments;
    triangles.extend([[last, last + 1, last + 2], [last, last + 2, last + 3]]);
    (positions, triangles)
}

fn add(scene: &mut Scene, surface: &shapes::Surface, spacing: f64, elasticity: Elasticity) -> SoftParts {
    let (spacing, density) = (spacing as f32, DENSITY as f32);
    let body = SoftBody { positions: &surface.0, triangles: &surface.1, spacing, density, elasticity };
    scene.add_soft_body(&body).unwrap()
}

fn elastic(young: f64, bulk: f32) -> Elasticity {
    Elasticity::Elastic { young: young as f32, bulk, damping_time: 0.0 }
}

/// The mean position of a ring of vertices of [`bar`].
fn ring(positions: &[[f32; 3]], parts: &SoftParts, ring: u32) -> DVec3 {
    let first = (parts.surface.start + 4 * ring) as usize;
    wide(&positions[first..first + 4]).into_iter().sum::<DVec3>() / 4.0
}

/// Young's modulus from the stretch of a hanging bar: u(s) = ρ g (L s − s²/2)/E below the clamp. Between a quarter and
/// three quarters it is ρ g L²/(4 E), independent of the clamp. The bar hangs in the direction `turn` X, the direction
/// of gravity.
fn young_found(young: f64, spacing: f64, turn: DQuat, bulk: f32) -> f64 {
    let length = 1.0;
    let mut scene = Scene::new();
    let surface = bar(length, 0.2, 20, turn);
    let parts = add(&mut scene, &surface, spacing, elastic(young, bulk));
    let down = turn * DVec3::X;
    for particle in parts.particles.clone() {
        if DVec3::from(scene.positions()[particle as usize].map(f64::from)).dot(down) < -0.5 * length + 0.05 {
            scene.pin(particle).unwrap();
        }
    }
    // The slowest mode: ω = (π/2 L) √(E/ρ).
    let omega = std::f64::consts::FRAC_PI_2 * (young / DENSITY).sqrt() / length;
    let dt = 0.5 / omega;
    let settings = Settings {
        dt: dt as f32,
        // h² k w well below 1: with k = 20 · 0.4 E s and m = ρ s³, (h/s)² 8 E/ρ < 0.05.
        substeps: (dt / (0.08 * spacing / (young / DENSITY).sqrt())).ceil() as u32,
        gravity: (down * G).as_vec3().into(),
        damping: (2.0 * omega) as f32,
        ..Settings::default()
    };
    let mut reference = Reference::new(&scene, settings).unwrap();
    let start = [5, 15].map(|k| ring(scene.positions(), &parts, k));
    reference.step(20);
    let positions = reference.read_positions().unwrap();
    let end = [5, 15].map(|k| ring(&positions, &parts, k));
    let stretch = ((end[1] - end[0]) - (start[1] - start[0])).dot(down);
    DENSITY * G * length * length / 4.0 / stretch
}

/// Distance constraints alone, and with volumes of the default bulk modulus; two and four cubes across. Rotated bars
/// cut the lattice cubes at other places.
#[test]
fn a_hanging_bar_stretches_by_its_youngs_modulus() {
    let young = 2e5;
    let turns = [
        ("along an axis", DQuat::IDENTITY),
        ("along another", DQuat::from_rotation_arc(DVec3::X, DVec3::NEG_Y)),
        ("along a face diagonal", DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4)),
        ("along a space diagonal", DQuat::from_rotation_arc(DVec3::X, DVec3::ONE.normalize())),
        ("anyhow", DQuat::from_rotation_z(0.4) * DQuat::from_rotation_y(0.7)),
    ];
    for (what, turn) in turns {
        // The fine lattice along an axis and along no symmetry.
        let fine: &[f64] = if ["along an axis", "anyhow"].contains(&what) { &[0.1, 0.05] } else { &[0.1] };
        for (&spacing, bulk) in fine.iter().flat_map(|spacing| [(spacing, 0.0), (spacing, young as f32)]) {
            let found = young_found(young, spacing, turn, bulk) / young;
            println!("{what}, spacing {spacing}, bulk {bulk}: {found:.4} E");
            let bound = if spacing == 0.1 { 0.1 } else { 0.04 };
            assert!((found - 1.0).abs() < bound, "{what}, spacing {spacing}, bulk {bulk}: {found} E");
        }
    }
}

/// The ends of a bar are pulled apart by 2 %. Each cross section carries E A ε (Σ −λ/h² of the distance constraints
/// across it). The bar thins by ν ε with ν = ¼, and with rigid volumes by ½ ε. Only even vertices of the surface are
/// measured: odd ones hang by their edges alone.
#[test]
fn a_stretched_bar_carries_e_a_epsilon_and_thins_by_poissons_ratio() {
    let (young, width, spacing) = (2e5, 0.2, 0.05);
    for (bulk, thin_range) in [(0.0, 0.19..0.27), (f32::INFINITY, 0.45..0.65)] {
        let mut scene = Scene::new();
        let parts = add(&mut scene, &bar(1.0, width, 20, DQuat::IDENTITY), spacing, elastic(young, bulk));
        let start = wide(scene.positions());
        let strain = 0.02;
        for (particle, x) in (0u32..).zip(&start).take(parts.particles.len()) {
            // The initial positions have the final strain but no thinning; the end faces are free to slide.
            let place = DVec3::new(x.x * (1.0 + strain), x.y, x.z).as_vec3().into();
            scene.set_position(particle, place).unwrap();
        }
        let settings = Settings { dt: 0.005, substeps: 40, damping: 40.0, ..still() };
        let ends: Vec<u32> = parts.particles.clone().filter(|&k| start[k as usize].x.abs() > 0.49).collect();
        ends.iter().for_each(|&particle| scene.pin(particle).unwrap());
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(60);
        let x = wide(&reference.read_positions().unwrap());
        let h = f64::from(settings.substep());
        let lambdas = reference.read_lambdas::<Distance>().unwrap();
        let mut force = 0.0;
        for (spring, lambda) in scene.distances(parts.edges.clone()).zip(&lambdas) {
            let [a, b] = spring.particles.map(|particle| x[particle as usize]);
            let cut = 0.026;
            if (a.x < cut) != (b.x < cut) {
                force += -f64::from(*lambda) / (h * h) * ((b - a).x / (b - a).length()).abs();
            }
        }
        let near = |k: &u32| start[*k as usize].x.abs() < 0.11;
        let (mut thin, mut wide_enough) = (0.0, 0.0);
        for k in parts.particles.clone().filter(near) {
            let [a, b] = [start[k as usize], x[k as usize]];
            thin -= (b.y - a.y) * a.y + (b.z - a.z) * a.z;
            wide_enough += a.y * a.y + a.z * a.z;
        }
        let (force, thin) = (force / (young * width * width * strain), thin / wide_enough / strain);
        println!("bulk {bulk}: force {force:.4} of E A ε, thins by {thin:.4} ε");
        assert!(thin_range.contains(&thin), "bulk {bulk}: ν = {thin}");
        if bulk == 0.0 {
            assert!((force - 1.0).abs() < 0.05, "bulk {bulk}: {force} of E A ε");
        }
    }
}

/// A body compressed by 1 % along each axis: its volumes have the pressure K ΔV/V = 3 % of the bulk modulus, which is
/// −λ/h².
#[test]
fn volumes_press_back_by_their_bulk_modulus() {
    for (edge, bulk) in [(0.1f32, 1e6f32), (0.5, 2e4)] {
        let (positions, tetrahedra) = block(2, edge);
        let mut scene = Scene::new();
        let elasticity = Elasticity::Elastic { young: 1.0, bulk, damping_time: 0.0 };
        let mesh = TetMesh { positions: &positions, tetrahedra: &tetrahedra, density: 1000.0, elasticity };
        scene.add_tetrahedra(&mesh).unwrap();
        for (particle, x) in (0..).zip(&positions) {
            scene.set_position(particle, x.map(|component| 0.99 * component)).unwrap();
        }
        // A time step so short that nothing moves.
        let settings = Settings { dt: 1e-5, substeps: 1, ..still() };
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(1);
        let h = f64::from(settings.substep());
        for lambda in reference.read_lambdas::<Volume>().unwrap() {
            let pressure = f64::from(lambda) / (h * h);
            let law = f64::from(bulk) * (1.0 - 0.99f64.powi(3));
            assert!((pressure / law - 1.0).abs() < 0.02, "edge {edge}, bulk {bulk}: {pressure} Pa, law {law} Pa");
        }
    }
}

/// A cantilever sags by ρ g A L⁴/(8 E I) with I = A w²/12: proportional to 1/E, and within a quarter at two cubes
/// across.
#[test]
fn a_bar_sags_as_one_over_its_youngs_modulus_and_rigid_volumes_keep_the_volume_of_each_tetrahedron() {
    let surface = bar(1.0, 0.2, 20, DQuat::IDENTITY);
    let lattice = Lattice::new(&surface.0, &surface.1, 0.1).unwrap();
    let volume = |t: &[u32; 4], x: &[[f32; 3]]| f64::from(Volume::of(t.map(|vertex| x[vertex as usize])));
    let sag = |young: f64, bulk: f32| {
        let mut scene = Scene::new();
        let parts = add(&mut scene, &surface, 0.1, elastic(young, bulk));
        for particle in parts.particles.clone() {
            if scene.positions()[particle as usize][0] < -0.49 {
                scene.pin(particle).unwrap();
            }
        }
        // The slowest mode: 3.516 √(E I/(ρ A L⁴)) = 0.203 √(E/ρ).
        let omega = 0.203 * (young / DENSITY).sqrt();
        let settings =
            Settings { dt: (0.2 / omega) as f32, substeps: 125, damping: (2.0 * omega) as f32, ..Settings::default() };
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(45);
        let x = reference.read_positions().unwrap();
        let off = lattice.tetrahedra.iter().map(|t| (volume(t, &x) / volume(t, &lattice.positions) - 1.0).abs());
        (-ring(&x, &parts, 20).y * young, off.fold(0.0, f64::max))
    };
    let law = DENSITY * G * 12.0 / (8.0 * 0.04);
    let [(soft, _), (hard, _)] = [1e7, 4e7].map(|young| sag(young, 0.0));
    println!("{:.4} and {:.4} of Euler and Bernoulli's", soft / law, hard / law);
    assert!((soft / hard - 1.0).abs() < 0.02, "{soft} {hard}");
    assert!((0.75..1.25).contains(&(hard / law)), "{} of Euler and Bernoulli's", hard / law);
    let (locked, off) = sag(1e7, f32::INFINITY);
    println!("with rigid volumes {:.4}, worst tetrahedron {off:.1e}", locked / law);
    assert!(off < 1e-3 && locked < soft, "{off} {locked}");
}

/// All kinds of bodies with an initial spin: momentum, and free fall of the centre of mass. Implicit integration slows
/// a rotation by ω² h t, here 6/600 in 1 s.
#[test]
fn bodies_fall_as_a_whole_and_keep_their_momentum() {
    let gpu = gpu();
    let (positions, triangles) = shapes::icosphere(1, 0.5);
    let shape = Material::compliant(1e-5);
    for elasticity in [
        elastic(1e5, 1e5),
        elastic(1e5, f32::INFINITY),
        Elasticity::Rigid { shape: Material::RIGID },
        Elasticity::Rigid { shape },
        Elasticity::Regions { rings: 1, shape: Material::RIGID },
    ] {
        let mut scene = Scene::new();
        let parts = add(&mut scene, &(positions.clone(), triangles.clone()), 0.25, elasticity);
        for particle in parts.particles.clone() {
            let x = DVec3::from(scene.positions()[particle as usize].map(f64::from));
            let jitter = DVec3::from([0, 1, 2].map(|axis| 0.3 * f64::from(noise(3 * particle + axis))));
            let velocity = DVec3::new(1.0, 3.0, -2.0) + DVec3::new(2.0, 1.0, -1.0).cross(x) + jitter;
            scene.set_velocity(particle, velocity.as_vec3().into()).unwrap();
        }
        let m = masses(&scene, parts.particles.clone());
        let own = |vectors: &[[f32; 3]]| wide(&vectors[..parts.particles.len()]);
        let settings = Settings { substeps: 10, ..Settings::default() };
        // The initial state of the reference.
        let v0 = own(&Reference::new(&scene, settings).unwrap().read_velocities().unwrap());
        let x0 = own(scene.positions());
        let (h, n) = (f64::from(settings.substep()), 600.0);
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(60);
            let (x, v) = (own(&backend.read_positions().unwrap()), own(&backend.read_velocities().unwrap()));
            let law = center(&m, &x0) + center(&m, &v0) * (n * h) - DVec3::Y * (G * h * h * n * (n + 1.0) / 2.0);
            let off = (center(&m, &x) - law).length();
            let slow = (center(&m, &v) - center(&m, &v0) + DVec3::Y * (G * h * n)).length();
            let [before, after] = [spin(&m, &x0, &v0), spin(&m, &x, &v)];
            let lost = (after - before).length() / before.length();
            println!("{}, {elasticity:?}: {off:.1e} m, {slow:.1e} m/s, spin {lost:.1e}", backend.name());
            assert!(off < 1e-4 && slow < 1e-4, "{}, {elasticity:?}: {off} m, {slow} m/s", backend.name());
            assert!(lost < 0.0105, "{}, {elasticity:?}: {lost} of its spin", backend.name());
        }
    }
}

/// Followers are Σ w x of the lattice, so an affine map of the lattice maps the surface affinely.
#[test]
fn surfaces_follow_affine_maps_of_their_lattice_exactly() {
    let gpu = gpu();
    let surface = shapes::icosphere(2, 0.5);
    let mut scene = Scene::new();
    let parts = add(&mut scene, &surface, 0.22, elastic(1e5, 0.0));
    let placed = &scene.positions()[parts.surface.start as usize..parts.surface.end as usize];
    let off = placed.iter().zip(&surface.0).map(|(&a, &b)| distance(a, b)).fold(0.0, f64::max);
    assert!(off < 2e-7, "off by {off} m at the start");
    assert_eq!(parts.surface.len(), surface.0.len());
    let range = parts.triangles.start as usize..parts.triangles.end as usize;
    let raised: Vec<[u32; 3]> = surface.1.iter().map(|t| t.map(|vertex| parts.surface.start + vertex)).collect();
    assert_eq!(scene.triangles()[range], raised);

    let columns = [DVec3::new(1.2, 0.3, -0.1), DVec3::new(-0.4, 0.8, 0.2), DVec3::new(0.1, 0.5, 1.5)];
    let map = |x: [f32; 3]| {
        let [x, y, z] = x.map(f64::from);
        columns[0] * x + columns[1] * y + columns[2] * z + DVec3::new(2.0, -1.0, 0.5)
    };
    for particle in parts.particles.clone() {
        let place = map(scene.positions()[particle as usize]);
        scene.set_position(particle, place.as_vec3().into()).unwrap();
        scene.pin(particle).unwrap();
    }
    for mut backend in backends(&gpu, &scene, still()) {
        backend.step(1);
        let found = wide(&backend.read_positions().unwrap()[parts.surface.start as usize..]);
        let off = found.iter().zip(&surface.0).map(|(a, &b)| (*a - map(b)).length()).fold(0.0, f64::max);
        println!("{}: {off:.1e} m", backend.name());
        assert!(off < 1e-6, "{}: off by {off} m", backend.name());
    }
}

#[test]
fn followers_have_the_place_and_the_velocity_of_their_sources() {
    let gpu = gpu();
    let mut scene = Scene::new();
    for k in 0..8u32 {
        let position = [0, 1, 2].map(|axis| noise(3 * k + axis));
        let velocity = [0, 1, 2].map(|axis| noise(100 + 3 * k + axis));
        scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
    }
    let rows =
        [([0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4]), ([7, 5, 6, 4], [2.0, -1.5, 0.25, 0.25]), ([2, 2, 2, 2], [0.25; 4])];
    for (sources, weights) in rows {
        scene.add_follower(sources, weights).unwrap();
    }
    for mut backend in backends(&gpu, &scene, Settings::default()) {
        backend.step(30);
        for vectors in [backend.read_positions().unwrap(), backend.read_velocities().unwrap()] {
            let vectors = wide(&vectors);
            for (row, (sources, weights)) in rows.iter().enumerate() {
                let law: DVec3 = sources.iter().zip(weights).map(|(&k, w)| vectors[k as usize] * f64::from(*w)).sum();
                let off = (vectors[8 + row] - law).length();
                assert!(off < 3e-6, "{}, {row}: off by {off}", backend.name());
            }
        }
    }
}

#[test]
fn a_body_weighs_its_density_times_its_volume() {
    let surfaces = [
        ("a bar", bar(1.0, 0.2, 20, DQuat::IDENTITY), 0.04),
        ("a turned bar", bar(1.0, 0.2, 20, DQuat::from_rotation_z(0.4) * DQuat::from_rotation_y(0.7)), 0.04),
    ];
    for (what, surface, volume) in surfaces {
        for spacing in [0.3, 0.1, 0.03] {
            let mut scene = Scene::new();
            let parts = add(&mut scene, &surface, spacing, elastic(1e5, 0.0));
            let mass: f64 = masses(&scene, parts.particles).iter().sum();
            let error = mass / (DENSITY * volume) - 1.0;
            println!("{what}, spacing {spacing}: {error:.1e}");
            assert!(error.abs() < 1e-3, "{what}, spacing {spacing}: {mass} kg");
        }
    }
}

/// One group of all particles: after a second of spin all distances are those of the start.
#[test]
fn a_rigid_body_keeps_its_shape() {
    let gpu = gpu();
    let mut scene = Scene::new();
    let parts = add(&mut scene, &shapes::icosphere(1, 0.5), 0.3, Elasticity::Rigid { shape: Material::RIGID });
    for particle in parts.particles.clone() {
        let x = DVec3::from(scene.positions()[particle as usize].map(f64::from));
        scene.set_velocity(particle, DVec3::new(3.0, 1.0, -2.0).cross(x).as_vec3().into()).unwrap();
    }
    let start = wide(scene.positions());
    for mut backend in backends(&gpu, &scene, Settings { substeps: 20, ..Settings::default() }) {
        backend.step(60);
        let x = wide(&backend.read_positions().unwrap());
        let mut worst = 0f64;
        for i in 0..x.len() {
            for j in 0..i {
                let [was, is] = [start[i].distance(start[j]), x[i].distance(x[j])];
                worst = worst.max((is - was).abs());
            }
        }
        println!("{}: {worst:.1e} m", backend.name());
        assert!(worst < 1e-4, "{}: out of shape by {worst} m", backend.name());
        assert!((x[0] - start[0] - (x[5] - start[5])).length() > 0.01, "it has not turned");
    }
}

/// A stiff body of distance and volume constraints, both damped, comes to rest where the undamped one would, up to the
/// compliance that one Gauss-Seidel sweep adds. With damped distance constraints only, it would not come to rest.
#[test]
fn a_damped_body_bears_its_own_weight() {
    let gpu = gpu();
    for damping_time in [0.01, 0.03] {
        let mut scene = Scene::new();
        let elasticity = Elasticity::Elastic { young: 1e6, bulk: 1e6, damping_time };
        let parts = add(&mut scene, &bar(0.4, 0.3, 6, DQuat::IDENTITY), 0.06, elasticity);
        let lowest = scene.positions()[parts.particles.start as usize..parts.particles.end as usize].iter();
        let lowest = lowest.map(|position| position[1]).fold(f32::INFINITY, f32::min);
        for particle in parts.particles.clone() {
            if scene.positions()[particle as usize][1] < lowest + 0.01 {
                scene.pin(particle).unwrap();
            }
        }
        let start = wide(scene.positions());
        for mut backend in backends(&gpu, &scene, Settings { substeps: 20, ..Settings::default() }) {
            backend.step(90);
            let (x, v) = (wide(&backend.read_positions().unwrap()), wide(&backend.read_velocities().unwrap()));
            let particles = parts.particles.start as usize..parts.particles.end as usize;
            let moved = particles.clone().map(|i| x[i].distance(start[i])).fold(0.0, f64::max);
            let fastest = particles.map(|i| v[i].length()).fold(0.0, f64::max);
            println!("{}, {damping_time} s: sunk by {moved:.1e} m, moves at {fastest:.1e} m/s", backend.name());
            assert!(moved < 0.01, "{}, {damping_time} s: out of shape by {moved} m", backend.name());
            assert!(fastest < 1e-3, "{}, {damping_time} s: still at {fastest} m/s", backend.name());
        }
    }
}

/// Regions: a crumpled body returns to rest with all distances of the lattice.
#[test]
fn a_body_of_regions_returns_to_its_shape() {
    let gpu = gpu();
    for rings in [1, 2] {
        let mut scene = Scene::new();
        let elasticity = Elasticity::Regions { rings, shape: Material::compliant(1e-4) };
        let parts = add(&mut scene, &shapes::icosphere(1, 0.5), 0.25, elasticity);
        let start = wide(scene.positions());
        common::crumple(&mut scene, parts.particles.clone(), 0.08);
        let settings = Settings { substeps: 10, damping: 5.0, ..still() };
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(120);
            let x = wide(&backend.read_positions().unwrap());
            let mut worst = 0f64;
            let count = parts.particles.len();
            for i in 0..count {
                for j in 0..i {
                    worst = worst.max((x[i].distance(x[j]) - start[i].distance(start[j])).abs());
                }
            }
            println!("{}, {rings} rings: {worst:.1e} m", backend.name());
            assert!(worst < 1e-3, "{}, {rings} rings: out of shape by {worst} m", backend.name());
        }
    }
}

/// A block of n cubes along each axis, each cut into five tetrahedra.
fn block(n: u32, edge: f32) -> (Vec<[f32; 3]>, Vec<[u32; 4]>) {
    let size = edge * n as f32;
    let corner = |k: usize| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { size } else { 0.0 });
    let corners: Vec<[f32; 3]> = (0..8).map(corner).collect();
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[u32; 3]> = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let lattice = Lattice::new(&corners, &triangles, edge).unwrap();
    (lattice.positions, lattice.tetrahedra)
}

#[test]
fn a_tetrahedral_mesh_is_its_own_particles_and_its_boundary_its_surface() {
    let (positions, tetrahedra) = block(2, 0.5);
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let elasticity = elastic(1e4, 1e4);
    let mesh = TetMesh { positions: &positions, tetrahedra: &tetrahedra, density: 500.0, elasticity };
    let parts = scene.add_tetrahedra(&mesh).unwrap();
    assert_eq!(parts.particles, 1..28);
    assert_eq!(scene.positions()[1..], positions);
    assert_eq!((parts.surface.len(), parts.volumes.len(), parts.groups.len()), (0, 40, 0));
    // 54 edges of the cubes, and one diagonal on each of their 36 faces.
    assert_eq!(parts.edges.len(), 54 + 36);
    assert_eq!(parts.triangles.len(), 48);
    assert!(scene.triangles().iter().flatten().all(|particle| parts.particles.contains(particle)));
    assert!((masses(&scene, 1..28).iter().sum::<f64>() / 500.0 - 1.0).abs() < 1e-5);
    assert_eq!(scene.bodies(), std::slice::from_ref(&(1..28)));
}

/// One corner is pushed through the opposite face; distance and volume constraints restore it.
#[test]
fn inverted_tetrahedra_recover() {
    let gpu = gpu();
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let (positions, tetrahedra) = block(3, 0.3);
    for (what, positions, tetrahedra, push) in [
        ("one", corners.to_vec(), vec![[0u32, 1, 2, 3]], (3usize, [0.2, 0.2, -0.3])),
        // The corner of a block is pushed in by one cube.
        ("a block", positions.clone(), tetrahedra, (0, [0.45, 0.4, 0.5])),
    ] {
        for bulk in [f32::INFINITY, 1e6] {
            let mut scene = Scene::new();
            let elasticity = Elasticity::Elastic { young: 1e5, bulk, damping_time: 0.01 };
            let mesh = TetMesh { positions: &positions, tetrahedra: &tetrahedra, density: 1000.0, elasticity };
            scene.add_tetrahedra(&mesh).unwrap();
            scene.set_position(push.0 as u32, push.1).unwrap();
            let volume = |t: &[u32; 4], x: &[[f32; 3]]| Volume::of(t.map(|vertex| x[vertex as usize]));
            assert!(tetrahedra.iter().any(|t| volume(t, scene.positions()) < 0.0), "{what}: nothing is inside out");
            let settings = Settings { damping: 2.0, ..still() };
            for mut backend in backends(&gpu, &scene, settings) {
                backend.step(90);
                let x = backend.read_positions().unwrap();
                let worst = tetrahedra
                    .iter()
                    .map(|t| volume(t, &x) / volume(t, &positions))
                    .fold(f32::MAX, |worst, part| worst.min(part));
                println!("{}: {what}, bulk {bulk}: {worst:.4}", backend.name());
                assert!(
                    worst > 0.97,
                    "{}: {what}, bulk {bulk}: a tetrahedron has {worst} of its volume",
                    backend.name()
                );
            }
        }
    }
}

/// A liquid in a very soft skin: the volume is the rest volume times the pressure factor, and follows changes of it.
#[test]
fn the_volume_of_a_balloon_follows_its_pressure() {
    let gpu = gpu();
    let (positions, triangles) = shapes::icosphere(2, 0.5);
    let soft = Material::compliant(1.0);
    let fabric = Fabric { structural: soft, shear: soft, bend: soft, ..Fabric::default() };
    let mut scene = Scene::new();
    scene.add_particle(Particle::default()).unwrap();
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.0, gas: Material::RIGID };
    let parts = scene.add_balloon(&balloon).unwrap();
    assert_eq!((parts.cloth.particles.clone(), parts.pressure), (1..1 + positions.len() as u32, 0));
    let sphere = 4.0 / 3.0 * std::f64::consts::PI * 0.125;
    assert!((0.9..1.0).contains(&(f64::from(parts.rest_volume) / sphere)), "{}", parts.rest_volume);
    let settings = Settings { damping: 3.0, ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    let mut on_gpu = solver(&gpu, &scene, settings);
    for factor in [1.0, 1.5, 0.6, 3.0, 1.0] {
        let pressure = Pressure { surface: &parts.surface, rest_volume: parts.rest_volume, pressure: factor };
        reference.set_constraint(parts.pressure, pressure).unwrap();
        on_gpu.set_constraint(parts.pressure, pressure).unwrap();
        reference.step(60);
        on_gpu.step(60);
        for (what, x) in
            [("reference", reference.read_positions().unwrap()), ("solver", on_gpu.read_positions().unwrap())]
        {
            let volume = parts.surface.volume(|vertex| x[vertex as usize]) / f64::from(parts.rest_volume);
            println!("{what}: {volume:.5} at {factor}");
            assert!((volume / f64::from(factor) - 1.0).abs() < 4e-3, "{what}: {volume} at {factor}");
        }
    }
}

#[test]
fn bodies_of_a_hundred_to_ten_thousand_tetrahedra_run() {
    let gpu = gpu();
    for (cubes, count) in [(3, 135), (6, 1080), (13, 10_985)] {
        let (positions, tetrahedra) = block(cubes, 1.0 / cubes as f32);
        assert_eq!(tetrahedra.len(), count);
        let shape = Material::compliant(1e-5);
        for elasticity in
            [elastic(1e5, 1e5), Elasticity::Rigid { shape: Material::RIGID }, Elasticity::Regions { rings: 1, shape }]
        {
            let mut scene = Scene::new();
            let mesh = TetMesh { positions: &positions, tetrahedra: &tetrahedra, density: 1000.0, elasticity };
            let parts = scene.add_tetrahedra(&mesh).unwrap();
            common::crumple(&mut scene, parts.particles.clone(), 0.02 / cubes as f32);
            let settings = Settings { substeps: 5, body_damping: 0.2, ..Settings::default() };
            let mut on_gpu = solver(&gpu, &scene, settings);
            let mut reference = Reference::new(&scene, settings).unwrap();
            on_gpu.step(2);
            reference.step(2);
            let diagnostics = on_gpu.read_diagnostics().unwrap();
            assert_eq!(
                (diagnostics.non_finite_count, reference.read_diagnostics().unwrap().non_finite_count),
                (0, 0),
                "{count}"
            );
            let tolerance = if common::is_exact(&gpu) { 0.0 } else { 1e-3 };
            let (x, expected) = (on_gpu.read_positions().unwrap(), reference.read_positions().unwrap());
            assert_eq!(common::first_unequal(&x, &expected, tolerance), None, "{count}, {elasticity:?}");
        }
    }
}
