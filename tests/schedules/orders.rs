//! The order in which constraints are projected: its rate of convergence, its bias, and remedies for the bias.

use crate::common;
use crate::common::{backends, distance, is_exact, solver};
use supple::{ClothGrid, ColorOrder, Distance, Fabric, Material, Particle, Scene, Settings, Simulation, Sweep};

// ---------------------------------------------------------------------------------------------------- convergence

const LINKS: u32 = 32;

/// A free straight chain of 32 rigid constraints of 1/8 m, stretched in its slowest mode: C ∝ sin(k θ), θ = π/33.
fn stretched_chain() -> Scene {
    let theta = std::f64::consts::PI / f64::from(LINKS + 1);
    let mut scene = Scene::new();
    let mut x = 0.0f64;
    for k in 0..=LINKS {
        let position = [x as f32, 0.0, 0.0];
        scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
        x += 0.125 + 0.02 * (f64::from(k + 1) * theta).sin();
    }
    for k in 0..LINKS {
        scene.add(Distance { particles: [k, k + 1], rest_length: 0.125 }, Material::RIGID).unwrap();
    }
    scene
}

/// √Σ C² of the chain after `iterations` iterations in one step.
fn residual(backend: &mut dyn Simulation, settings: Settings, iterations: u32) -> f64 {
    backend.reset();
    backend.set_settings(Settings { iterations, ..settings }).unwrap();
    backend.step(1);
    let x = backend.read_positions().unwrap();
    x.windows(2).map(|pair| (distance(pair[0], pair[1]) - 0.125).powi(2)).sum::<f64>().sqrt()
}

/// A straight chain is linear: with equal masses A = ∇C W ∇Cᵀ is tridiagonal with 2 and −1, and I − A/2 has the
/// eigenvalue μ = cos θ. Its two colours are a consistent ordering. A sweep with relaxation ω therefore multiplies the
/// slowest mode by λ with (λ + ω − 1)² = λ ω² μ² (Young 1954, *Iterative Methods for Solving Partial Difference
/// Equations of Elliptic Type*). For Gauss-Seidel λ = μ²; from ω = 2/(1 + sin θ) on, λ = ω − 1. Mass splitting halves
/// the Δλ of Jacobi where both particles have two constraints: λ = 1 − (1 − μ)/2, four times slower than Gauss-Seidel.
#[test]
fn sweeps_converge_at_the_rates_of_their_theory() {
    let gpu = common::gpu();
    let scene = stretched_chain();
    let mu = (std::f64::consts::PI / f64::from(LINKS + 1)).cos();
    let young = |omega: f64| {
        let root = (omega * omega * mu * mu - 4.0 * (omega - 1.0)).max(0.0).sqrt();
        (0.5 * (omega * mu + root)).powi(2)
    };
    let base = Settings { substeps: 1, gravity: [0.0; 3], ..Settings::default() };
    let cases = [
        (Sweep::Jacobi, 1.0f32, 0.5 * (1.0 + mu)),
        (Sweep::GaussSeidel, 0.7, young(0.7)),
        (Sweep::GaussSeidel, 1.0, mu * mu),
        (Sweep::GaussSeidel, 1.3, young(1.3)),
        (Sweep::GaussSeidel, 1.5, young(1.5)),
    ];
    for mut backend in backends(&gpu, &scene, base) {
        let mut ends = Vec::new();
        for (sweep, relaxation, law) in cases {
            let settings = Settings { sweep, relaxation, ..base };
            let [early, late] = [60, 120].map(|iterations| residual(&mut *backend, settings, iterations));
            let rate = (late / early).powf(1.0 / 60.0);
            println!("{} {sweep:?} ω {relaxation}: {rate:.5} a sweep, law {law:.5}, {late:.5} m left", backend.name());
            let error = rate.ln() / law.ln() - 1.0;
            assert!(error.abs() < 0.005, "{} {sweep:?} ω {relaxation}: {rate}, law {law}", backend.name());
            ends.push(late);
        }
        assert!(ends.windows(2).all(|pair| pair[1] < 0.9 * pair[0]), "{}: {ends:?}", backend.name());
        // At the optimal ω the residual vanishes; a third of it remains with plain Gauss-Seidel.
        let best = Settings { relaxation: 1.83, ..base };
        let left = residual(&mut *backend, best, 120);
        println!("{}: {left:.1e} m left at ω 1.83", backend.name());
        assert!(left < 1e-3 * ends[2], "{}: {left} m", backend.name());
    }
}

// ----------------------------------------------------------------------------------------------------------- bias

/// A scene that is symmetric about the plane x = `middle`, and the mirror image of each particle.
struct Symmetric {
    scene: Scene,
    images: Vec<usize>,
    middle: f64,
}

/// A rope of 16 constraints of 1/8 m between two pins 1.8 m apart. Mirrored constraints have different colours.
fn slack_rope(material: Material) -> Symmetric {
    let mut scene = Scene::new();
    for k in 0..=16u8 {
        scene.add_particle(Particle { position: [f32::from(k) * 0.1125, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    for k in 0..16 {
        scene.add(Distance { particles: [k, k + 1], rest_length: 0.125 }, material).unwrap();
    }
    scene.pin(0).unwrap();
    scene.pin(16).unwrap();
    Symmetric { scene, images: (0..=16).rev().collect(), middle: 0.9 }
}

/// A cloth of 9 × 9 particles that hangs by its four corners; they are 10 % closer together than the cloth is wide.
fn hammock() -> Symmetric {
    let mut scene = Scene::new();
    let grid = ClothGrid {
        columns: 9,
        rows: 9,
        origin: [-0.5, 0.0, -0.5],
        column_axis: [1.0, 0.0, 0.0],
        row_axis: [0.0, 0.0, 1.0],
        fabric: Fabric { bend: Material::compliant(1.0), ..Fabric::default() },
        ..ClothGrid::default()
    };
    scene.add_cloth_grid(&grid).unwrap();
    for particle in 0..81 {
        let [x, y, z] = scene.positions()[particle as usize];
        scene.set_position(particle, [0.9 * x, y, 0.9 * z]).unwrap();
    }
    [0, 8, 72, 80].into_iter().for_each(|corner| scene.pin(corner).unwrap());
    Symmetric { scene, images: (0..81).map(|k| k / 9 * 9 + 8 - k % 9).collect(), middle: 0.0 }
}

/// The largest distance between a particle and its mirrored partner [m], from positions averaged over `frames` steps.
fn asymmetry(symmetric: &Symmetric, backend: &mut dyn Simulation, frames: u32) -> f64 {
    backend.step(180);
    let mut mean = vec![[0f64; 3]; symmetric.images.len()];
    for _ in 0..frames {
        backend.step(1);
        for (mean, x) in mean.iter_mut().zip(backend.read_positions().unwrap()) {
            (0..3).for_each(|axis| mean[axis] += f64::from(x[axis]) / f64::from(frames));
        }
    }
    let apart = |(place, &image): (usize, &usize)| {
        let [[x, y, z], [u, v, w]] = [mean[place], mean[image]];
        ((x + u - 2.0 * symmetric.middle).powi(2) + (y - v).powi(2) + (z - w).powi(2)).sqrt()
    };
    symmetric.images.iter().enumerate().map(apart).fold(0.0, f64::max)
}

/// For each backend: the asymmetry, and the largest velocity component [m/s] at the end.
fn rest(symmetric: &Symmetric, settings: Settings, frames: u32) -> [[f64; 2]; 2] {
    let gpu = common::gpu();
    backends(&gpu, &symmetric.scene, settings).map(|mut backend| {
        let apart = asymmetry(symmetric, &mut *backend, frames);
        let speed = backend
            .read_velocities()
            .unwrap()
            .into_iter()
            .flatten()
            .fold(0f32, |most, component| most.max(component.abs()));
        println!("{} {:?} {:?}: {apart:.1e} m, {speed:.1e} m/s", backend.name(), settings.sweep, settings.color_order);
        [apart, f64::from(speed)]
    })
}

const SHUFFLED: ColorOrder = ColorOrder::Shuffled { seed: 1 };

/// With a fixed order the last colour dominates, so a symmetric scene hangs off-centre. Shuffled orders do so in each
/// frame, but not in the mean; the effect is visible as jitter. Jacobi has no order.
#[test]
fn only_a_fixed_order_of_colors_breaks_the_symmetry_of_a_hanging_scene() {
    let base = Settings { substeps: 4, damping: 8.0, ..Settings::default() };
    for symmetric in [slack_rope(Material::RIGID), hammock()] {
        let fixed = rest(&symmetric, base, 1);
        let shuffled = rest(&symmetric, Settings { color_order: SHUFFLED, ..base }, 120);
        let jacobi = rest(&symmetric, Settings { sweep: Sweep::Jacobi, ..base }, 1);
        for which in 0..2 {
            let [[bias, still], [mean, tremble], [none, _]] = [fixed[which], shuffled[which], jacobi[which]];
            assert!(bias > 1e-3 && mean < bias / 5.0 && none < 5e-5, "{bias}, {mean}, {none} m");
            assert!(still < 1e-3 && tremble > 1e-2, "{still}, {tremble} m/s");
        }
    }
}

/// Alternating orders have no bias for compliant constraints, with one or two sweeps per substep.
#[test]
fn a_springy_rope_hangs_straight_with_alternating_colors() {
    let springy = slack_rope(Material::compliant(1e-4));
    for iterations in [1, 2] {
        let base = Settings { damping: 8.0, iterations, ..Settings::default() };
        let [fixed, alternating] = [ColorOrder::Fixed, ColorOrder::Alternating]
            .map(|color_order| rest(&springy, Settings { color_order, ..base }, 60));
        for which in 0..2 {
            assert!(alternating[which][0] < fixed[which][0] / 20.0, "{alternating:?} against {fixed:?}");
            assert!(alternating[which][1] < 2e-3, "{alternating:?}");
        }
    }
}

/// For rigid constraints, alternating orders oscillate at any damping: the residual of one sweep has the opposite sign
/// in the next, so the error alternates at the substep frequency.
#[test]
fn rigid_links_jitter_with_alternating_colors_despite_damping() {
    let rope = slack_rope(Material::RIGID);
    for (color_order, boils) in [(ColorOrder::Fixed, false), (SHUFFLED, false), (ColorOrder::Alternating, true)] {
        for [_, speed] in rest(&rope, Settings { damping: 8.0, color_order, ..Settings::default() }, 1) {
            assert_eq!(speed > 0.5, boils, "{color_order:?}: {speed} m/s");
        }
    }
}

// --------------------------------------------------------------------------------------------------- determinism

fn order(color_order: ColorOrder) -> Settings {
    Settings { substeps: 5, iterations: 2, color_order, ..Settings::default() }
}

fn state(backend: &dyn Simulation) -> [Vec<[f32; 3]>; 2] {
    [backend.read_positions().unwrap(), backend.read_velocities().unwrap()]
}

#[test]
fn a_seed_gives_one_order_in_every_run_and_after_a_reset_and_another_seed_another() {
    let gpu = common::gpu();
    let (scene, _) = common::hanging_cloth(13, 11);
    let run = |color_order| {
        backends(&gpu, &scene, order(color_order)).map(|mut backend| {
            backend.step(10);
            let first = state(&*backend);
            backend.reset();
            backend.step(4);
            backend.step(6);
            assert_eq!(first, state(&*backend), "{} {color_order:?} after a reset", backend.name());
            first
        })
    };
    let shuffled = |seed| run(ColorOrder::Shuffled { seed });
    let orders = [shuffled(7), shuffled(8), run(ColorOrder::Alternating), run(ColorOrder::Fixed)];
    assert_eq!(orders[0], shuffled(7));
    for (place, one) in orders.iter().enumerate() {
        for other in &orders[place + 1..] {
            assert!(one[0] != other[0] && one[1] != other[1]);
        }
    }
}

#[test]
fn both_backends_use_the_same_orders() {
    let gpu = common::gpu();
    if !is_exact(&gpu) {
        return;
    }
    let (scene, _) = common::hanging_cloth(13, 11);
    for color_order in [ColorOrder::Alternating, ColorOrder::Shuffled { seed: 3 }] {
        let mut one = solver(&gpu, &scene, order(color_order));
        let mut other = supple::Reference::new(&scene, order(color_order)).unwrap();
        for frame in 1..=10 {
            one.step(1);
            other.step(1);
            assert_eq!(state(&one), state(&other), "{color_order:?}, frame {frame}");
        }
    }
}
