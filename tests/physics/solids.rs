//! Neo-Hookean solids against closed forms: stretch and stress of a block, Poisson ratio, deflection of a beam.

use crate::common::distance;
use crate::common::shapes::CUBE;
use glam::DVec3;
use supple::scene::Lattice;
use supple::{Elasticity, Reference, Scene, Settings, TetMesh};

/// A box of `cells` cubes of `spacing`, each cut into five tetrahedra, with one corner at the origin.
fn block(cells: [u32; 3], spacing: f32, young: f32, poisson_ratio: f32) -> Scene {
    let corner = |k: u32| [0, 1, 2].map(|axis| (k >> axis & 1) as f32 * cells[axis] as f32 * spacing);
    let corners: Vec<[f32; 3]> = (0..8).map(corner).collect();
    let lattice = Lattice::new(&corners, &CUBE, spacing).unwrap();
    let mut scene = Scene::new();
    let elasticity = Elasticity::NeoHookean { young, poisson_ratio, damping_time: 0.0 };
    let (positions, tetrahedra) = (&lattice.positions, &lattice.tetrahedra);
    scene.add_tetrahedra(&TetMesh { positions, tetrahedra, density: DENSITY, elasticity }).unwrap();
    scene
}

const DENSITY: f32 = 1000.0;

/// Lamé's λ and μ [Pa].
fn lame(young: f64, ratio: f64) -> [f64; 2] {
    [young * ratio / ((1.0 + ratio) * (1.0 - 2.0 * ratio)), young / (2.0 * (1.0 + ratio))]
}

/// The forces [N] of a tension along x [Pa, per rest area] on both ends of a block.
fn end_forces(scene: &Scene, tension: f64) -> Vec<[f32; 3]> {
    let mut forces = vec![[0f32; 3]; scene.particle_count()];
    for &triangle in scene.triangles() {
        let [a, b, c] = triangle.map(|vertex| DVec3::from(scene.positions()[vertex as usize].map(f64::from)));
        let area = 0.5 * (b - a).cross(c - a);
        for vertex in triangle {
            forces[vertex as usize][0] += (tension * area.x / 3.0) as f32;
        }
    }
    forces
}

/// Length and mean width of a block relative to its rest shape, by the least squares slopes along the axes.
fn stretches(scene: &Scene, x: &[[f32; 3]]) -> [f64; 2] {
    let slope = |axis: usize| {
        let count = x.len() as f64;
        let mean = |points: &[[f32; 3]]| points.iter().map(|x| f64::from(x[axis])).sum::<f64>() / count;
        let (rest, now) = (mean(scene.positions()), mean(x));
        let pairs = scene.positions().iter().zip(x);
        let products = pairs.map(|(a, b)| (f64::from(a[axis]) - rest, f64::from(b[axis]) - now));
        let (cross, square) = products.fold((0.0, 0.0), |(cross, square), (a, b)| (cross + a * b, square + a * a));
        cross / square
    };
    [slope(0), 0.5 * (slope(1) + slope(2))]
}

/// A free block of 0.4 m under a tension at both ends, at rest.
fn stretched(young: f32, ratio: f32, tension: f64) -> [f64; 2] {
    let scene = block([3, 3, 3], 0.4 / 3.0, young, ratio);
    // The slowest motion is shear, at about π √(μ/ρ)/0.4 m.
    let rate = 20.0 * (f64::from(young) / 1e4).sqrt();
    let dt = (12.0 / rate / 20.0) as f32;
    let damping = (2.0 * rate) as f32;
    let settings = Settings { dt, substeps: 100, damping, gravity: [0.0; 3], forces: true, ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.set_forces(0, &end_forces(&scene, tension)).unwrap();
    reference.step(20);
    stretches(&scene, &reference.read_positions().unwrap())
}

#[test]
fn a_stretched_block_has_the_stress_and_volume_of_the_closed_form() {
    let young = 1e4;
    for ratio in [0.0, 0.3, 0.45] {
        let [lambda, mu] = lame(young, ratio);
        for stretch in [0.8, 1.2, 1.5] {
            let volume = |s: f64| (2.0 * mu + lambda - mu / s) / (mu + lambda);
            let stress = |s: f64| mu * (s - volume(s) / (s * s));
            let [found, width] = stretched(young as f32, ratio as f32, stress(stretch));
            let found_volume = found * width * width;
            println!(
                "ν {ratio}, stretch {stretch}: {found:.4}, J {found_volume:.4} of {:.4}, stress {:.1} of {:.1} Pa",
                volume(stretch),
                stress(found),
                stress(stretch)
            );
            assert!((found / stretch - 1.0).abs() < 0.02, "ν {ratio}: stretch {found} of {stretch}");
            assert!((found_volume / volume(stretch) - 1.0).abs() < 0.02, "ν {ratio}: J {found_volume}");
            assert!((stress(found) / stress(stretch) - 1.0).abs() < 0.02, "ν {ratio}, stretch {stretch}: stress");
        }
    }
}

#[test]
fn small_strains_have_the_modulus_and_poisson_ratio_given() {
    for ratio in [0.0f32, 0.2, 0.3, 0.45, 0.49, 0.499] {
        let strain = 2e-3;
        let [found, width] = stretched(1e4, ratio, 1e4 * strain);
        let [modulus, measured] = [1e4 * strain / (found - 1.0), (1.0 - width) / (found - 1.0)];
        println!("ν {ratio}: E {modulus:.1} Pa, ν {measured:.4}");
        assert!((modulus / 1e4 - 1.0).abs() < 0.02, "ν {ratio}: E {modulus}");
        assert!((measured - f64::from(ratio)).abs() < 0.01, "ν {ratio}: {measured}");
    }
}

/// The deflection of a clamped beam under a load at its end, relative to Timoshenko's beam. It is `n` cubes high, `4 n`
/// long and 1 wide, and 0.1 m high.
fn deflection(n: u32, ratio: f64, substeps: u32) -> f64 {
    let (height, young) = (0.1, 1e6);
    let spacing = height / f64::from(n);
    let (length, width) = (4.0 * height, spacing);
    let mut scene = block([4 * n, n, 1], spacing as f32, young as f32, ratio as f32);
    let rigidity = young * width * height.powi(3) / 12.0;
    let load = 3.0 * rigidity * 0.01 / (length * length);
    let bending = load * length.powi(3) / (3.0 * rigidity);
    let shear = load * length / (5.0 / 6.0 * young / (2.0 * (1.0 + ratio)) * width * height);
    let rest = scene.positions().to_vec();
    let at = |x: f32, place: f64| (f64::from(x) - place).abs() < 1e-4;
    let ends: Vec<usize> = (0..rest.len()).filter(|&k| at(rest[k][0], length)).collect();
    let mut forces = vec![[0f32; 3]; rest.len()];
    // The forces of a uniform traction on the end.
    for &triangle in scene.triangles() {
        if triangle.iter().all(|vertex| ends.contains(&(*vertex as usize))) {
            let [a, b, c] = triangle.map(|vertex| DVec3::from(rest[vertex as usize].map(f64::from)));
            let area = 0.5 * (b - a).cross(c - a).length();
            triangle.iter().for_each(|&v| forces[v as usize][1] -= (load * area / (width * height) / 3.0) as f32);
        }
    }
    for (particle, x) in (0..).zip(&rest) {
        if at(x[0], 0.0) {
            scene.pin(particle).unwrap();
        } else {
            // Starts at the deflection of Euler and Bernoulli.
            let along = f64::from(x[0]);
            let down = load * along * along * (3.0 * length - along) / (6.0 * rigidity);
            let slope = load * along * (2.0 * length - along) / (2.0 * rigidity);
            let lift = f64::from(x[1]) - 0.5 * height;
            let place = [(along + lift * slope) as f32, (f64::from(x[1]) - down) as f32, x[2]];
            scene.set_position(particle, place).unwrap();
        }
    }
    let rate = 3.516 * (young / f64::from(DENSITY)).sqrt() * height / 12f64.sqrt() / (length * length);
    let settings = Settings {
        dt: (6.0 / rate / 20.0) as f32,
        substeps,
        damping: (2.0 * rate) as f32,
        gravity: [0.0; 3],
        forces: true,
        ..Settings::default()
    };
    let mut reference = Reference::new(&scene, settings).unwrap();
    reference.set_forces(0, &forces).unwrap();
    reference.step(20);
    let x = reference.read_positions().unwrap();
    let down = ends.iter().map(|&k| f64::from(rest[k][1] - x[k][1])).sum::<f64>() / ends.len() as f64;
    down / (bending + shear)
}

/// At ν = 0.3 the beam converges to Timoshenko's: errors are proportional to the square of the element size. Linear
/// tetrahedra are too stiff, and the more so near incompressibility.
#[test]
fn a_beam_converges_to_the_deflection_of_timoshenko_and_locks_near_incompressibility() {
    let [coarse, fine] = [4, 8].map(|n| deflection(n, 0.3, 200));
    let limit = fine + (fine - coarse) / 3.0;
    let locked = deflection(4, 0.49, 200);
    println!("4 cubes: {coarse:.3}, 8 cubes: {fine:.3}, limit {limit:.3}; 4 cubes at ν = 0.49: {locked:.3}");
    assert!((0.95..1.02).contains(&fine), "{fine}");
    assert!((limit - 1.0).abs() < 0.03, "{limit}");
    assert!((0.7..0.85).contains(&locked), "{locked}");
}

/// A body at rest stays at rest, however stiff.
#[test]
fn a_stiff_block_keeps_its_shape() {
    for young in [1e6, 1e9, 1e12] {
        let scene = block([3, 3, 3], 0.1, young, 0.3);
        let mut reference = Reference::new(&scene, Settings { gravity: [0.0; 3], ..Settings::default() }).unwrap();
        reference.step(60);
        let x = reference.read_positions().unwrap();
        let worst = x.iter().zip(scene.positions()).map(|(&a, &b)| distance(a, b)).fold(0.0, f64::max);
        println!("{young:e} Pa: {worst:.1e} m");
        assert!(worst < 1e-5, "{young} Pa: {worst} m");
        assert_eq!(reference.read_diagnostics().unwrap().non_finite_count, 0, "{young} Pa");
    }
}

/// Kinetic and potential energy of a block that swings about a pinned edge, without damping.
#[test]
fn a_swinging_block_gains_no_energy() {
    for young in [1e4f32, 1e6, 1e9] {
        for ratio in [0.0, 0.3, 0.49] {
            let scene = {
                let mut scene = block([4, 2, 2], 0.1, young, ratio);
                let rest = scene.positions().to_vec();
                let edge = (0..).zip(&rest).filter(|(_, x)| x[0] < 1e-4 && x[1] < 1e-4);
                edge.for_each(|(particle, _)| scene.pin(particle).unwrap());
                scene
            };
            let energy = |x: &[[f32; 3]], v: &[[f32; 3]]| {
                let of = |((x, v), &w): ((&[f32; 3], &[f32; 3]), &f32)| {
                    let square: f64 = v.iter().map(|&v| f64::from(v).powi(2)).sum();
                    (0.5 * square + 9.81 * f64::from(x[1])) / f64::from(w)
                };
                x.iter().zip(v).zip(scene.inverse_masses()).map(of).sum::<f64>()
            };
            let start = energy(scene.positions(), &vec![[0.0; 3]; scene.particle_count()]);
            let mut reference = Reference::new(&scene, Settings::default()).unwrap();
            let mut gain = f64::NEG_INFINITY;
            for _ in 0..120 {
                reference.step(1);
                let now = energy(&reference.read_positions().unwrap(), &reference.read_velocities().unwrap());
                // The mass is 16 kg and the centre falls by up to 0.4 m.
                gain = gain.max((now - start) / (16.0 * 9.81 * 0.4));
            }
            println!("{young:e} Pa, ν {ratio}: {gain:.1e}");
            assert!(gain < 1e-3, "{young} Pa, ν {ratio}: {gain}");
        }
    }
}
