//! Momentum and angular momentum of free bodies.

use crate::common;
use crate::common::nets::{FAMILIES, Random};
use crate::common::{backends, gpu, raw, shapes};
use glam::{DVec3, Vec3};
use supple::constraints::KindInfo;
use supple::internals::Pass;
use supple::{
    Balloon, Collider, Cord, Distance, Execution, Fabric, Material, Reference, Rope, Scene, Settings, Shape, Sweep,
};

fn still() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

/// Of the first particles of a scene: momentum, angular momentum about their centre, and the scales of both, Σ m |v| and
/// Σ m |x − x̄| |v|. The last value is Σ m |x − x̄|².
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
    let (positions, triangles) = shapes::icosphere(2, radius);
    balloon_of(positions, &triangles, radius, (pressure, fabric, gas))
}

fn balloon_of(
    mut positions: Vec<[f32; 3]>,
    triangles: &[[u32; 3]],
    radius: f32,
    (pressure, fabric, gas): (f32, Fabric, Material),
) -> (Scene, usize) {
    positions.iter_mut().for_each(|position| position[1] += radius + 0.004);
    let mut scene = Scene::new();
    scene.add_balloon(&Balloon { positions: &positions, triangles, fabric, pressure, gas }).unwrap();
    (scene, positions.len())
}

const SOFT_GAS: Material = Material::compliant(1e-5);

/// Rigid skin and liquid, rigid skin and a gas of 5 kPa, rubber and liquid.
fn fillings() -> [(&'static str, f32, f32, Fabric, Material); 5] {
    [
        ("a liquid", 0.3, 1.5, Fabric::default(), Material::RIGID),
        ("a little liquid", 0.3, 1.05, Fabric::default(), Material::RIGID),
        ("more liquid", 0.3, 1.2, Fabric::default(), Material::RIGID),
        ("a gas", 0.3, 1.5, Fabric::default(), SOFT_GAS),
        ("rubber", 0.15, 1.5, Fabric::RUBBER, Material::compliant(1e-9)),
    ]
}

/// Ten seconds at the default settings for a liquid and for rubber, three for the other fillings.
#[test]
fn a_free_balloon_at_rest_neither_spins_nor_drifts() {
    for (what, radius, pressure, fabric, gas) in fillings() {
        let (scene, count) = balloon(radius, pressure, fabric, gas);
        let steps = if ["a liquid", "rubber"].contains(&what) { 600 } else { 180 };
        for iterations in [1, 6] {
            let mut reference = Reference::new(&scene, Settings { iterations, ..still() }).unwrap();
            reference.step(if iterations == 1 { steps } else { steps / 5 });
            let (x, v) = (reference.read_positions().unwrap(), reference.read_velocities().unwrap());
            let (momentum, ..) = momenta(&scene, count, &x, &v);
            let (omega, drift) = (spin(&scene, count, &x, &v), momentum.length() / mass(&scene, count));
            println!("{what}, {iterations} iterations: {omega:.1e} rad/s, {drift:.1e} m/s");
            assert!(omega < 1e-3, "{what}, {iterations} iterations: {omega} rad/s");
            assert!(drift < 3e-3, "{what}, {iterations} iterations: {drift} m/s");
        }
    }
}

fn mass(scene: &Scene, count: usize) -> f64 {
    scene.inverse_masses()[..count].iter().map(|&w| 1.0 / f64::from(w)).sum()
}

/// The links at the poles of a UV sphere are solved as trees.
#[test]
fn a_balloon_with_crowded_poles_does_not_spin() {
    let (segments, rings, radius) = (24, 12, 0.3);
    let mut positions = vec![[0.0, radius, 0.0], [0.0, -radius, 0.0]];
    for ring in 1..rings {
        let (sin, cos) = (std::f32::consts::PI * ring as f32 / rings as f32).sin_cos();
        for segment in 0..segments {
            let (z, x) = (std::f32::consts::TAU * segment as f32 / segments as f32).sin_cos();
            positions.push([radius * sin * x, radius * cos, radius * sin * z]);
        }
    }
    let at = |ring: u32, segment: u32| match ring {
        0 => 0,
        ring if ring == rings => 1,
        ring => 2 + (ring - 1) * segments + segment % segments,
    };
    let mut triangles = Vec::new();
    for (ring, segment) in (0..rings).flat_map(|ring| (0..segments).map(move |segment| (ring, segment))) {
        let [a, b] = [at(ring, segment), at(ring, segment + 1)];
        let [c, d] = [at(ring + 1, segment), at(ring + 1, segment + 1)];
        triangles.extend([[a, b, d], [a, d, c]].into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
    }
    let (scene, count) = balloon_of(positions, &triangles, radius, (1.2, Fabric::default(), SOFT_GAS));
    let mut reference = Reference::new(&scene, still()).unwrap();
    assert!(reference.plan().substep.iter().any(|pass| matches!(pass, Pass::Trees { .. })));
    let mut fastest = 0f64;
    for _ in 0..10 {
        reference.step(60);
        let (x, v) = (reference.read_positions().unwrap(), reference.read_velocities().unwrap());
        let omega = spin(&scene, count, &x, &v);
        fastest = v.iter().map(|&v| DVec3::from(v.map(f64::from)).length()).fold(0.0, f64::max);
        println!("{omega:.1e} rad/s, fastest particle {fastest:.1e} m/s");
        assert!(omega < 1e-3, "{omega} rad/s");
    }
    assert!(fastest < 1.0, "{fastest} m/s");
}

/// Standing on a vertex it falls onto a facet and rocks; it is no faster than its fall, and stops by damping.
#[test]
fn a_balloon_on_a_floor_rocks_but_does_not_spin() {
    for (what, radius, pressure, fabric, gas) in fillings() {
        let (mut scene, count) = balloon(radius, pressure, fabric, gas);
        scene.add_collider(Collider::new(Shape::HalfSpace, [0.0; 3])).unwrap();
        for damping in [0.0, 2.0] {
            let mut reference = Reference::new(&scene, Settings { damping, ..Settings::default() }).unwrap();
            reference.step(if damping == 0.0 { 240 } else { 600 });
            let omega =
                spin(&scene, count, &reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
            println!("{what}, damping {damping}: {omega:.1e} rad/s");
            // From 4 mm, and the height of a facet.
            let fall = (2.0 * 9.81 * (0.004 + 0.02 * f64::from(radius))).sqrt();
            let allowed = if damping == 0.0 { fall / f64::from(radius) } else { 0.01 };
            assert!(omega < allowed, "{what}, damping {damping}: {omega} of {allowed} rad/s");
        }
    }
}

/// A turn about an axis that is none of the mesh, and a flight. Both backends.
#[test]
fn a_free_balloon_keeps_its_spin_and_its_flight() {
    let gpu = gpu();
    let (turn, flight) = (DVec3::new(1.0, -3.0, 2.0), DVec3::new(2.0, 1.0, -0.5));
    for (what, radius, pressure, fabric, gas) in fillings() {
        let (mut scene, count) = balloon(radius, pressure, fabric, gas);
        let center = DVec3::Y * f64::from(radius + 0.004);
        let velocity = |x: &[f32; 3]| flight + turn.cross(DVec3::from(x.map(f64::from)) - center);
        let velocities: Vec<[f32; 3]> = scene.positions().iter().map(|x| velocity(x).as_vec3().into()).collect();
        for (particle, &velocity) in (0..).zip(&velocities) {
            scene.set_velocity(particle, velocity).unwrap();
        }
        let start = momenta(&scene, count, scene.positions(), &velocities);
        for (mut backend, steps) in backends(&gpu, &scene, still()).into_iter().zip([300, 30]) {
            backend.step(steps);
            let now = momenta(&scene, count, &backend.read_positions().unwrap(), &backend.read_velocities().unwrap());
            let lost = [(now.0 - start.0).length() / start.0.length(), (now.1 - start.1).length() / start.1.length()];
            println!("{what}, {}: {:.1e}, {:.1e}", backend.name(), lost[0], lost[1]);
            assert!(lost[0] < 2e-3 && lost[1] < 2e-3, "{what}, {}: {lost:?}", backend.name());
        }
    }
}

/// A skin with one pin turns about it, with two about the line between them, with three not at all: the correction leaves what pins absorb. A
/// round shell of radius R on one pin is a pendulum: θ'' = −g sin θ/(5/3 R). Mass splitting needs no correction, and stretches a little more.
#[test]
fn a_pinned_balloon_swings_as_a_pendulum() {
    let (scene, count) = balloon(0.3, 1.02, Fabric::default(), Material::compliant(1e-6));
    let center_of = |x: &[[f32; 3]]| x.iter().map(|&x| DVec3::from(x.map(f64::from))).sum::<DVec3>() / x.len() as f64;
    let height = |particle: &u32| scene.positions()[*particle as usize][1];
    let highest = (0..count as u32).max_by(|a, b| height(a).total_cmp(&height(b))).unwrap();
    let top = DVec3::from(scene.positions()[highest as usize].map(f64::from));
    let gravity = [6.0, -6.0, 3.0];
    let angle = |center: DVec3| (center - top).angle_between(DVec3::from(gravity.map(f64::from)));
    let start = center_of(scene.positions());

    let (mut pendulum, mut speed, h) = (angle(start), 0.0, 1e-5);
    for _ in 0..40_000 {
        speed -= 9.0 / (5.0 / 3.0 * 0.302) * pendulum.sin() * h;
        pendulum += speed * h;
    }
    for (pins, tolerance) in [(vec![highest], 0.03), (vec![highest, 40], 0.03), (vec![highest, 40, 90], 0.01)] {
        let mut scene = scene.clone();
        pins.iter().for_each(|&pin| scene.pin(pin).unwrap());
        let [seidel, jacobi] = [Sweep::GaussSeidel, Sweep::Jacobi].map(|sweep| {
            let mut reference = Reference::new(&scene, Settings { gravity, sweep, ..Settings::default() }).unwrap();
            reference.step(24);
            center_of(&reference.read_positions().unwrap())
        });
        let apart = (seidel - jacobi).length();
        println!("{} pins: {:.4} and {:.4}, {apart:.4} m apart", pins.len(), seidel - start, jacobi - start);
        assert!(apart < tolerance, "{} pins: {apart} m apart", pins.len());
        if pins.len() == 3 {
            let moved = [seidel, jacobi].map(|center| (center - start).length());
            assert!(moved[0] < 0.002 && moved[1] < 0.013, "three pins: {moved:?} m");
        }
        if pins.len() == 1 {
            println!("{:.4} and {:.4} of {:.4} rad", angle(seidel), angle(jacobi), pendulum.abs());
            assert!((angle(seidel) - pendulum.abs()).abs() < 0.01, "{} of {pendulum} rad", angle(seidel));
        }
    }
}

/// Two balloons that are tied together by a link.
#[test]
fn balloons_that_are_tied_together_do_not_spin() {
    let (mut scene, count) = balloon(0.3, 1.2, Fabric::default(), SOFT_GAS);
    let (mut positions, triangles) = shapes::icosphere(2, 0.3f32);
    positions.iter_mut().for_each(|x| *x = [x[0] + 0.7, x[1] + 0.304, x[2]]);
    let fabric = Fabric::default();
    let other = Balloon { positions: &positions, triangles: &triangles, fabric, pressure: 1.2, gas: SOFT_GAS };
    scene.add_balloon(&other).unwrap();
    let nearest = |particles: std::ops::Range<u32>, sign: f32| {
        particles.max_by(|&a, &b| {
            let x = |particle: u32| sign * scene.positions()[particle as usize][0];
            x(a).total_cmp(&x(b))
        })
    };
    let ends = [nearest(0..count as u32, 1.0).unwrap(), nearest(count as u32..2 * count as u32, -1.0).unwrap()];
    let rest_length = (scene.positions()[ends[1] as usize][0] - scene.positions()[ends[0] as usize][0]).abs();
    scene.add(Distance { particles: ends, rest_length }, Material::RIGID).unwrap();
    let mut reference = Reference::new(&scene, still()).unwrap();
    reference.step(600);
    let omega = spin(&scene, count, &reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
    println!("{omega:.1e} rad/s");
    assert!(omega < 0.01, "{omega} rad/s");
}

/// A rigid skin around a gas that wants 1.5 times its volume: by mass splitting its edges stretched by 10 % with four iterations.
#[test]
fn the_skin_of_a_balloon_is_as_stiff_as_by_colours() {
    let gpu = gpu();
    let (scene, _) = balloon(0.3, 1.5, Fabric::default(), SOFT_GAS);
    let length = |x: &[[f32; 3]], [a, b]: [u32; 2]| common::distance(x[a as usize], x[b as usize]);
    let edges = scene.triangles().iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    for (mut backend, steps) in backends(&gpu, &scene, Settings { iterations: 4, ..still() }).into_iter().zip([120, 30])
    {
        backend.step(steps);
        let x = backend.read_positions().unwrap();
        let strains = edges.clone().map(|edge| length(&x, edge) / length(scene.positions(), edge) - 1.0);
        let strain = strains.sum::<f64>() / edges.clone().count() as f64;
        println!("{}: {strain:.4}", backend.name());
        assert!(strain.abs() < 0.012, "{}: {strain}", backend.name());
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
fn a_balloon_does_not_spin_on_either_backend_in_every_execution() {
    let gpu = gpu();
    let (scene, count) = balloon(0.3, 1.5, Fabric::default(), Material::RIGID);
    for execution in [Execution::Auto, Execution::Colors, Execution::Clusters] {
        for mut backend in backends(&gpu, &scene, Settings { execution, ..still() }) {
            backend.step(30);
            let omega = spin(&scene, count, &backend.read_positions().unwrap(), &backend.read_velocities().unwrap());
            println!("{}, {execution:?}: {omega:.1e} rad/s", backend.name());
            assert!(omega < 1e-3, "{}, {execution:?}: {omega} rad/s", backend.name());
        }
    }
}

/// A free constraint of each kind starts violated and oscillates for one second, undamped and damped. Momentum is kept
/// to rounding, and so is angular momentum, except for `Hinge`, `CosineBend`, `NeoHookean` and `StretchShear`. Their gradients turn within a substep,
/// and an implicit step removes h Σ v × F, which is proportional to h.
#[test]
fn every_kind_keeps_momentum_and_angular_momentum() {
    for (place, info, sample) in raw::cases() {
        for (what, compliance, damping_time) in [("rigid", 0.0, 0.0), ("soft", 1e-2, 0.0), ("damped", 1e-3, 0.01)] {
            let material = Material { compliance, damping_time, ..Material::RIGID };
            let scene = raw::scene_of(place, &sample, &sample.positions, material);
            for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
                let settings = Settings { sweep, ..still() };
                let case = format!("{}, {what}, {sweep:?}", info.name);
                // A rigid constraint is corrected in one substep.
                let is_rigid = compliance == 0.0;
                let fastest = if is_rigid { 0.1 / f64::from(settings.substep()) } else { 0.0 };
                let [linear, angular] = largest_momenta(&scene, settings, fastest, &case);
                println!("{case}: {linear:.1e} and {angular:.1e}");
                let turns = turns(info);
                // A damped neo-Hookean sample loses 2.2e-3.
                let soft = if info.name == "neo_hookean" { 5e-3 } else { 2e-3 };
                // The samples of rods turn by about 1 rad, in one substep if they are rigid.
                let [soft, rigid] = if info.orientations > 0 { [0.1, 1.0] } else { [soft, 0.2] };
                let allowed = if turns { if is_rigid { rigid } else { soft } } else { 5e-6 };
                assert!(linear < 5e-6, "{case}: momentum {linear}");
                assert!(angular < allowed, "{case}: angular momentum {angular}");
            }
        }
    }
}

/// Constraints of rods whose samples start at 2 % of the way from rest: their gradients hardly turn.
#[test]
fn constraints_of_rods_near_rest_keep_their_angular_momentum() {
    for (place, info, sample) in raw::cases().filter(|(_, info, _)| info.orientations > 0) {
        let near = sample.rest.iter().zip(&sample.positions).map(|(rest, x)| rest.lerp(*x, 0.02));
        let near = near.collect::<Vec<Vec3>>();
        for (what, compliance, damping_time) in [("rigid", 0.0, 0.0), ("soft", 1e-2, 0.0), ("damped", 1e-3, 0.01)] {
            let material = Material { compliance, damping_time, ..Material::RIGID };
            let scene = raw::scene_of(place, &sample, &near, material);
            for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
                let case = format!("{}, {what}, {sweep:?}", info.name);
                let settings = Settings { sweep, ..still() };
                let fastest = if compliance == 0.0 { 0.002 / f64::from(settings.substep()) } else { 0.0 };
                let [linear, angular] = largest_momenta(&scene, settings, fastest, &case);
                println!("{case}: {linear:.1e} and {angular:.1e}");
                assert!(linear < 5e-6, "{case}: momentum {linear}");
                assert!(angular < 2e-3, "{case}: angular momentum {angular}");
            }
        }
    }
}

/// The largest momentum and angular momentum within a second, relative to the largest sums of magnitudes, or to those
/// of a motion at `fastest` [1/s].
fn largest_momenta(scene: &Scene, settings: Settings, fastest: f64, case: &str) -> [f64; 2] {
    let mut reference = Reference::new(scene, settings).unwrap();
    let start = all_momenta(scene, &reference);
    let [mut linear, mut angular] = [0f64; 2];
    let (mut size, mut angular_size) = (start.4 * fastest, start.4 * fastest);
    for _ in 0..60 {
        reference.step(1);
        let now = all_momenta(scene, &reference);
        assert!(now.0.is_finite() && now.1.is_finite(), "{case}: {now:?}");
        (linear, angular) = (linear.max(now.0.length()), angular.max(now.1.length()));
        (size, angular_size) = (size.max(now.2), angular_size.max(now.3));
    }
    assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0, "{case}");
    // No particle moves if a kind has orientations only.
    let part = |value: f64, size: f64| if size > 0.0 { value / size } else { value };
    [part(linear, size), part(angular, angular_size)]
}

fn turns(info: &KindInfo) -> bool {
    ["hinge", "cosine_bend", "neo_hookean"].contains(&info.name) || info.orientations > 0 && info.point_count() > 0
}

/// As [`momenta`] of all particles, with the angular momenta of orientations.
fn all_momenta(scene: &Scene, reference: &Reference) -> (DVec3, DVec3, f64, f64, f64) {
    let (x, v) = (reference.read_positions().unwrap(), reference.read_velocities().unwrap());
    let mut all = momenta(scene, scene.particle_count(), &x, &v);
    for (omega, own) in reference.read_angular_velocities().unwrap().iter().zip(scene.orientations()) {
        let inertia = 1.0 / f64::from(own.inverse_inertia);
        let spin = DVec3::from(omega.map(f64::from)) * inertia;
        all.1 += spin;
        all.3 += spin.length();
        all.4 += inertia;
    }
    all
}

#[test]
fn the_angular_momentum_error_of_kinds_whose_gradients_turn_halves_with_the_substep() {
    // A rod in `rods_free.rs`: single constraints of rods start too far from rest.
    for (place, info, sample) in raw::cases().filter(|(_, info, _)| turns(info) && info.orientations == 0) {
        let scene = raw::scene_of(place, &sample, &sample.positions, Material::compliant(1e-2));
        let drift = |substeps: u32| {
            let mut reference = Reference::new(&scene, Settings { substeps, ..still() }).unwrap();
            let (mut angular, mut size) = (0f64, 0f64);
            for _ in 0..60 {
                reference.step(1);
                let now = all_momenta(&scene, &reference);
                (angular, size) = (angular.max(now.1.length()), size.max(now.3));
            }
            angular / size
        };
        let [coarse, fine] = [20, 80].map(drift);
        println!("{}: {coarse:.1e}, {fine:.1e}", info.name);
        assert!(fine < 0.3 * coarse + 1e-6, "{}: {coarse} and {fine}", info.name);
    }
}

/// Free trees and stars in flight that turn at 3 rad/s about the vertical axis.
#[test]
fn free_trees_of_links_keep_momentum_and_angular_momentum() {
    for (name, family) in &FAMILIES[..3] {
        for seed in 0..8 {
            let mut net = family(&mut Random::new(seed));
            net.pins.clear();
            let mut scene = net.scene();
            let flight = DVec3::new(0.3, 0.2, -0.1);
            for (particle, place) in (0..).zip(&net.positions) {
                let velocity = flight + DVec3::Y.cross(DVec3::from(place.map(f64::from))) * 3.0;
                scene.set_velocity(particle, velocity.as_vec3().to_array()).unwrap();
            }
            let mut reference = Reference::new(&scene, still()).unwrap();
            let count = net.positions.len();
            let of = |reference: &Reference| {
                let (x, v) = (reference.read_positions().unwrap(), reference.read_velocities().unwrap());
                let (momentum, angular, ..) = momenta(&scene, count, &x, &v);
                (momentum, angular)
            };
            let start = of(&reference);
            reference.step(120);
            let end = of(&reference);
            let linear = (end.0 - start.0).length() / start.0.length();
            let angular = (end.1 - start.1).length() / start.1.length();
            println!("{name} {seed}: momentum {linear:.1e}, angular momentum {angular:.1e}");
            assert!(linear < 1e-4, "{name} {seed}: momentum changes by {linear:.1e}");
            assert!(angular < 0.03, "{name} {seed}: angular momentum changes by {angular:.1e}");
        }
    }
}
