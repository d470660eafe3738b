//! Momentum and angular momentum of free bodies.

mod common;

use common::{backends, gpu, raw, shapes};
use glam::DVec3;
use supple::constraints::KindInfo;
use supple::{
    Balloon, Collider, Cord, Distance, Execution, Fabric, Material, Reference, Rope, Scene, Settings, Shape, Sweep,
};

fn still() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

/// For the first particles of a scene: momentum; angular momentum about their centre; Σ m |v| and Σ m |x − x̄| |v| as
/// scales of both; and Σ m |x − x̄|².
fn momenta(scene: &Scene, count: usize, x: &[[f32; 3]], v: &[[f32; 3]]) -> (DVec3, DVec3, f64, f64, f64) {
    let wide = |vectors: &[[f32; 3]]| -> Vec<DVec3> {
        vectors[..count].iter().map(|vector| DVec3::from(vector.map(f64::from))).collect()
    };
    let (x, v) = (wide(x), wide(v));
    let m: Vec<f64> = scene.inverse_masses()[..count].iter().map(|&w| 1.0 / f64::from(w)).collect();
    let total = m.iter().sum::<f64>();
    let center = m.iter().zip(&x).map(|(&m, &x)| m * x).sum::<DVec3>() / total;
    let momentum = m.iter().zip(&v).map(|(&m, &v)| m * v).sum::<DVec3>();
    let (mut angular, mut size, mut angular_size, mut spread) = (DVec3::ZERO, 0.0, 0.0, 0.0);
    for ((&m, &x), &v) in m.iter().zip(&x).zip(&v) {
        let (r, v) = (x - center, v - momentum / total);
        angular += m * r.cross(v);
        size += m * v.length();
        angular_size += m * r.length() * v.length();
        spread += m * r.length_squared();
    }
    (momentum, angular, size, angular_size, spread)
}

/// ω of a spherical shell [rad/s], with the moment of inertia ⅔ Σ m |x − x̄|².
fn spin(scene: &Scene, count: usize, x: &[[f32; 3]], v: &[[f32; 3]]) -> f64 {
    let (_, angular, _, _, spread) = momenta(scene, count, x, v);
    angular.length() / (spread / 1.5)
}

fn balloon(radius: f32, pressure: f32, fabric: Fabric, gas: Material) -> (Scene, usize) {
    let (mut positions, triangles) = shapes::icosphere(2, radius);
    positions.iter_mut().for_each(|position| position[1] += radius + 0.004);
    let mut scene = Scene::new();
    let balloon = Balloon { positions: &positions, triangles: &triangles, fabric, pressure, gas };
    scene.add_balloon(&balloon).unwrap();
    (scene, positions.len())
}

/// Free and on a floor, ten seconds at the default settings: rigid skin with a liquid, a gas of 5 kPa, rubber.
#[test]
fn a_balloon_at_rest_does_not_spin() {
    let soft = Material::compliant(1e-5);
    for (what, radius, pressure, fabric, gas, on_floor) in [
        ("a liquid", 0.3, 1.5, Fabric::default(), Material::RIGID, false),
        ("a gas", 0.3, 1.5, Fabric::default(), soft, false),
        ("a little liquid", 0.3, 1.05, Fabric::default(), Material::RIGID, true),
        ("more liquid", 0.3, 1.2, Fabric::default(), Material::RIGID, true),
        ("rubber", 0.15, 1.5, Fabric::RUBBER, Material::compliant(1e-9), true),
    ] {
        let (mut scene, count) = balloon(radius, pressure, fabric, gas);
        let settings = if on_floor {
            scene.add_collider(Collider::new(Shape::HalfSpace, [0.0; 3])).unwrap();
            Settings::default()
        } else {
            still()
        };
        let mut reference = Reference::new(&scene, settings).unwrap();
        reference.step(600);
        let omega = spin(&scene, count, &reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
        println!("{what}, on a floor: {on_floor}: {omega:.1e} rad/s");
        assert!(omega < 0.01, "{what}, on a floor: {on_floor}: {omega} rad/s");
    }
}

/// A balloon with upward forces, on a rope that is pinned at the other end.
#[test]
fn a_balloon_on_a_rope_does_not_spin() {
    let (mut scene, count) = balloon(0.15, 1.5, Fabric::RUBBER, Material::compliant(1e-9));
    let lowest = (0..count as u32)
        .min_by(|&a, &b| scene.positions()[a as usize][1].total_cmp(&scene.positions()[b as usize][1]));
    let lowest = lowest.unwrap();
    let [x, y, z] = scene.positions()[lowest as usize];
    let points: Vec<[f32; 3]> = (0..=10).map(|k| [x, y - 0.41 + 0.04 * k as f32, z]).collect();
    let rope = scene.add_rope(&Rope { points: &points, cord: Cord::COTTON, tethers: None }).unwrap();
    scene.pin(rope.particles.start).unwrap();
    scene.add(Distance { particles: [rope.particles.end - 1, lowest], rest_length: 0.01 }, Material::RIGID).unwrap();
    let lift = Settings { gravity: [0.0, 1.0, 0.0], ..Settings::default() };
    // It does not spin about the rope; about the other axes it swings as a pendulum until damping stops it.
    for (damping, allowed) in [(0.0, DVec3::new(0.1, 1e-3, 0.1)), (1.0, DVec3::splat(0.01))] {
        let mut reference = Reference::new(&scene, Settings { damping, ..lift }).unwrap();
        reference.step(600);
        let (x, v) = (reference.read_positions().unwrap(), reference.read_velocities().unwrap());
        let (_, angular, _, _, spread) = momenta(&scene, count, &x, &v);
        let omega = (angular / (spread / 1.5)).abs();
        println!("damping {damping}: {omega:?} rad/s");
        assert!(omega.cmplt(allowed).all(), "damping {damping}: {omega} rad/s");
    }
}

#[test]
fn a_balloon_does_not_spin_on_either_backend_however_it_is_executed() {
    let gpu = gpu();
    let (scene, count) = balloon(0.3, 1.5, Fabric::default(), Material::RIGID);
    for execution in [Execution::Auto, Execution::Colors, Execution::Clusters] {
        for mut backend in backends(&gpu, &scene, Settings { execution, ..still() }) {
            backend.step(30);
            let omega = spin(&scene, count, &backend.positions(), &backend.velocities());
            println!("{}, {execution:?}: {omega:.1e} rad/s", backend.name());
            assert!(omega < 1e-3, "{}, {execution:?}: {omega} rad/s", backend.name());
        }
    }
}

/// A free constraint of each kind starts violated and oscillates for one second, undamped and damped. Momentum is kept
/// to rounding, and so is angular momentum, except for `Hinge` and `CosineBend`. Their gradients turn within a substep,
/// and an implicit step removes h Σ v × F, which is proportional to h.
#[test]
fn every_kind_keeps_momentum_and_angular_momentum() {
    for (place, info, sample) in raw::cases() {
        for (what, compliance, damping_time) in [("rigid", 0.0, 0.0), ("soft", 1e-2, 0.0), ("damped", 1e-3, 0.01)] {
            let material = Material { compliance, damping_time, ..Material::RIGID };
            let scene = raw::scene_of(place, &sample, &sample.positions, material);
            for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
                let settings = Settings { sweep, ..still() };
                let mut reference = Reference::new(&scene, settings).unwrap();
                let count = scene.particle_count();
                let start =
                    momenta(&scene, count, &reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
                let [mut linear, mut angular] = [0f64; 2];
                // A rigid constraint is corrected in one substep.
                let is_rigid = compliance == 0.0;
                let fastest = if is_rigid { 1.0 / f64::from(settings.substep()) } else { 0.0 };
                let (mut size, mut angular_size) = (0.1 * start.4 * fastest, 0.1 * start.4 * fastest);
                for _ in 0..60 {
                    reference.step(1);
                    let now = momenta(
                        &scene,
                        count,
                        &reference.read_positions().unwrap(),
                        &reference.read_velocities().unwrap(),
                    );
                    (linear, angular) = (linear.max(now.0.length()), angular.max(now.1.length()));
                    (size, angular_size) = (size.max(now.2), angular_size.max(now.3));
                }
                let (linear, angular) = (linear / size, angular / angular_size);
                let case = format!("{}, {what}, {sweep:?}", info.name);
                println!("{case}: {linear:.1e} and {angular:.1e}");
                let turns = turns(info);
                let allowed = if turns { if is_rigid { 0.2 } else { 2e-3 } } else { 5e-6 };
                assert!(linear < 5e-6, "{case}: momentum {linear}");
                assert!(angular < allowed, "{case}: angular momentum {angular}");
            }
        }
    }
}

fn turns(info: &KindInfo) -> bool {
    ["hinge", "cosine_bend"].contains(&info.name)
}

#[test]
fn what_hinges_and_cosine_bends_lose_of_angular_momentum_halves_with_the_substep() {
    for (place, info, sample) in raw::cases().filter(|(_, info, _)| turns(info)) {
        let scene = raw::scene_of(place, &sample, &sample.positions, Material::compliant(1e-2));
        let drift = |substeps: u32| {
            let mut reference = Reference::new(&scene, Settings { substeps, ..still() }).unwrap();
            let (mut angular, mut size) = (0f64, 0f64);
            for _ in 0..60 {
                reference.step(1);
                let now = momenta(
                    &scene,
                    scene.particle_count(),
                    &reference.read_positions().unwrap(),
                    &reference.read_velocities().unwrap(),
                );
                (angular, size) = (angular.max(now.1.length()), size.max(now.3));
            }
            angular / size
        };
        let [coarse, fine] = [20, 80].map(drift);
        println!("{}: {coarse:.1e}, {fine:.1e}", info.name);
        assert!(fine < 0.3 * coarse + 1e-6, "{}: {coarse} and {fine}", info.name);
    }
}
