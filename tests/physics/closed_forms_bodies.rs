//! Closed-form solutions for volumes, areas, balloons and shape matching, on both backends.
//!
//! h is the substep [s] and g = 9.81 m/s² points along −y.

use crate::common;
use crate::common::{Pair, backends, distance, is_exact, momentum, noise};
use std::collections::BTreeMap;
use supple::{
    Area, ClosedSurface, Distance, Material, Particle, Pressure, Scene, Settings, ShapeMatching, Simulation, Sweep,
    Volume,
};

fn substep(settings: &Settings) -> f64 {
    f64::from(settings.dt) / f64::from(settings.substeps)
}

fn no_gravity() -> Settings {
    Settings { gravity: [0.0; 3], keep_lambdas: true, ..Settings::default() }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The signed volume [m³] of a tetrahedron.
fn tet_volume(x: &[[f32; 3]], tet: [u32; 4]) -> f64 {
    let [a, b, c, d] = tet.map(|k| x[k as usize].map(f64::from));
    dot(sub(b, a), cross(sub(c, a), sub(d, a))) / 6.0
}

fn with_particles(positions: &[[f32; 3]], mass: f32) -> Scene {
    let mut scene = Scene::new();
    for &position in positions {
        scene.add_particle(Particle { position, inverse_mass: 1.0 / mass, ..Particle::default() }).unwrap();
    }
    scene
}

/// Adds distance constraints along edges, at rest in the initial positions.
fn add_edges(scene: &mut Scene, edges: impl IntoIterator<Item = [u32; 2]>, material: Material) {
    for particles in edges {
        let [a, b] = particles.map(|k| scene.positions()[k as usize]);
        scene.add(Distance { particles, rest_length: distance(a, b) as f32 }, material).unwrap();
    }
}

// ------------------------------------------------------------------------------------------------ volume and area

/// A column of cubes of 1/4 m, each cut into five tetrahedra, with alternating mirror images.
fn column(cubes: u32) -> (Vec<[f32; 3]>, Vec<[u32; 4]>) {
    let corner = |k: u32| [k & 1, k >> 2, k >> 1 & 1].map(|steps| 0.25 * steps as f32);
    let positions: Vec<[f32; 3]> = (0..4 * (cubes + 1)).map(corner).collect();
    // Corners 0 to 3 lie below at (0, 0), (1, 0), (0, 1), (1, 1); corners 4 to 7 lie above them.
    let even = [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
    let odd = [[1, 0, 3, 5], [2, 3, 0, 6], [4, 5, 6, 0], [7, 6, 5, 3], [0, 3, 5, 6]];
    let mut tets = Vec::new();
    for cube in 0..cubes {
        for tet in if cube % 2 == 0 { even } else { odd } {
            let [a, b, c, d] = tet.map(|corner: u32| 4 * cube + corner);
            let positive = tet_volume(&positions, [a, b, c, d]) > 0.0;
            tets.push(if positive { [a, b, c, d] } else { [a, c, b, d] });
        }
    }
    (positions, tets)
}

/// A column of rigid volumes and soft edges that is compressed by 15 % between its ends keeps its volume and expands
/// sideways. The edges alone, of 100 N/m each, fold.
#[test]
fn a_compressed_column_of_volumes_keeps_its_volume() {
    let gpu = common::gpu();
    let (positions, tets) = column(4);
    let rest: f64 = tets.iter().map(|&tet| tet_volume(&positions, tet)).sum();
    assert!((rest - 0.0625).abs() < 1e-9, "{rest}");
    let mut kept = BTreeMap::new();
    for volumes in [true, false] {
        let mut scene = with_particles(&positions, 0.1);
        let edge = |tet: &[u32; 4]| {
            let [a, b, c, d] = *tet;
            [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]].map(|[a, b]| [a.min(b), a.max(b)])
        };
        let edges: std::collections::BTreeSet<[u32; 2]> = tets.iter().flat_map(edge).collect();
        add_edges(&mut scene, edges, Material::compliant(1e-2));
        for &particles in tets.iter().filter(|_| volumes) {
            let rest_volume = tet_volume(&positions, particles) as f32;
            scene.add(Volume { particles, rest_volume }, Material::RIGID).unwrap();
        }
        let ends: Vec<u32> = (0..4).chain(16..20).collect();
        ends.iter().for_each(|&end| scene.pin(end).unwrap());
        let settings = Settings { substeps: 10, iterations: 4, damping: 5.0, ..no_gravity() };
        for mut backend in backends(&gpu, &scene, settings) {
            for step in 1..=30u32 {
                for &end in &ends[4..] {
                    let [x, y, z] = positions[end as usize];
                    backend.set_target(end, [x, y - 0.15 * step as f32 / 30.0, z]).unwrap();
                }
                backend.step(1);
            }
            backend.step(60);
            let x = backend.read_positions().unwrap();
            let worst = tets
                .iter()
                .map(|&tet| (tet_volume(&x, tet) / tet_volume(&positions, tet) - 1.0).abs())
                .fold(0.0, f64::max);
            let total = tets.iter().map(|&tet| tet_volume(&x, tet)).sum::<f64>() / rest;
            let width = distance(x[8], x[11]) / distance(positions[8], positions[11]);
            println!("{} volumes {volumes}: {total:.4}, worst {worst:.4}, width {width:.4}", backend.name());
            kept.entry(volumes).or_insert_with(Vec::new).push((total, worst));
        }
    }
    for &(total, worst) in &kept[&true] {
        assert!((total - 1.0).abs() < 0.01 && worst < 0.01, "{total}, at worst {worst}");
    }
    assert!(kept[&false].iter().all(|&(total, _)| total < 0.97), "{kept:?}");
}

/// V is signed: a tetrahedron with its tip pushed through its base returns to V₀, not to −V₀.
#[test]
fn an_inverted_tetrahedron_recovers() {
    let gpu = common::gpu();
    for depth in [0.3f32, 1.0, 2.0] {
        let positions = [[0.0f32; 3], [1.0, 0.0, 0.0], [0.2, 0.0, -1.0], [0.3, -depth, -0.3]];
        let mut scene = with_particles(&positions, 1.0);
        assert!(Volume::of(positions) < 0.0);
        scene.add(Volume { particles: [0, 1, 2, 3], rest_volume: 1.0 / 6.0 }, Material::RIGID).unwrap();
        for mut backend in backends(&gpu, &scene, Settings { substeps: 1, iterations: 40, ..no_gravity() }) {
            backend.step(1);
            let volume = 6.0 * tet_volume(&backend.read_positions().unwrap(), [0, 1, 2, 3]);
            assert!((volume - 1.0).abs() < 1e-5, "{} from −{depth} m: 6 V = {volume}", backend.name());
        }
    }
}

/// A compressed triangle and an enlarged one return to A₀ and keep their plane.
#[test]
fn a_triangle_recovers_its_area() {
    let gpu = common::gpu();
    for height in [0.05f32, 0.5, 3.0] {
        let mut scene = with_particles(&[[0.0; 3], [1.0, 0.0, 0.0], [0.4, height, 0.0]], 1.0);
        scene.add(Area { particles: [0, 1, 2], rest_area: 0.5 }, Material::RIGID).unwrap();
        for mut backend in backends(&gpu, &scene, Settings { substeps: 1, iterations: 40, ..no_gravity() }) {
            backend.step(1);
            let [a, b, c] = [0, 1, 2].map(|k| backend.read_positions().unwrap()[k].map(f64::from));
            let normal = cross(sub(b, a), sub(c, a));
            assert!((0.5 * normal[2] - 0.5).abs() < 1e-5, "{} from {height} m: {normal:?}", backend.name());
            assert!(normal[0].abs() + normal[1].abs() < 1e-9, "{} from {height} m: {normal:?}", backend.name());
        }
    }
}

// ------------------------------------------------------------------------------------------------------ balloons

/// A sphere of radius 1: an icosahedron whose triangles are subdivided `levels` times.
fn icosphere(levels: u32) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let unit = |x: [f64; 3]| x.map(|component| component / dot(x, x).sqrt());
    let phi = 0.5 * (1.0 + 5f64.sqrt());
    let mut points = Vec::new();
    for (a, b) in [(1.0, phi), (-1.0, phi), (1.0, -phi), (-1.0, -phi)] {
        points.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]].map(unit));
    }
    // A face is a triple of vertices at edge distance from each other.
    let near = |a: usize, b: usize| dot(points[a], points[b]) > 0.4;
    let mut triangles = Vec::new();
    for a in 0..12usize {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(a, c) {
                    let outwards = dot(points[a], cross(points[b], points[c])) > 0.0;
                    let [b, c] = if outwards { [b, c] } else { [c, b] };
                    triangles.push([a, b, c].map(|k| k as u32));
                }
            }
        }
    }
    for _ in 0..levels {
        let mut middles = BTreeMap::new();
        let mut finer = Vec::new();
        for &[a, b, c] in &triangles {
            let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[a, b]| {
                *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    let middle = [0, 1, 2].map(|axis| points[a as usize][axis] + points[b as usize][axis]);
                    points.push(unit(middle));
                    points.len() as u32 - 1
                })
            });
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    (points, triangles)
}

/// A balloon: particles of 10 g on a sphere of the given radius, with distance constraints along the edges.
struct Balloon {
    scene: Scene,
    surface: ClosedSurface,
    edges: Vec<[u32; 2]>,
    volume: f64,
}

fn balloon(levels: u32, radius: f64, membrane: Material) -> Balloon {
    let (points, triangles) = icosphere(levels);
    let positions: Vec<[f32; 3]> =
        points.iter().map(|x| x.map(|component| (radius * component + 0.3) as f32)).collect();
    let mut scene = with_particles(&positions, 0.01);
    let edges: Vec<[u32; 2]> =
        triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).filter(|[from, to]| from < to).collect();
    add_edges(&mut scene, edges.iter().copied(), membrane);
    let surface = ClosedSurface::new(&triangles).unwrap();
    let volume = surface.volume(|k| positions[k as usize]);
    Balloon { scene, surface, edges, volume }
}

impl Balloon {
    fn inflate(&mut self, pressure: f32, material: Material) {
        let rest_volume = self.volume as f32;
        self.scene.add(Pressure { surface: &self.surface, rest_volume, pressure }, material).unwrap();
    }

    fn volume_of(&self, positions: &[[f32; 3]]) -> f64 {
        self.surface.volume(|k| positions[k as usize])
    }

    /// Σ k (l − l₀) l: equals 3 p V if no other force acts.
    fn virial(&self, positions: &[[f32; 3]], k: f64) -> f64 {
        let start = self.scene.positions();
        let edge = |&[a, b]: &[u32; 2]| {
            let [l, l0] = [positions, start].map(|x| distance(x[a as usize], x[b as usize]));
            k * (l - l0) * l
        };
        self.edges.iter().map(edge).sum()
    }
}

#[test]
fn the_icosphere_has_the_counts_and_volume_of_a_sphere_mesh() {
    let (points, triangles) = icosphere(2);
    let edges = balloon(2, 1.0, Material::RIGID).edges.len();
    assert_eq!((points.len(), triangles.len(), edges), (162, 320, 480));
    let volume = balloon(3, 1.0, Material::RIGID).volume;
    assert!((volume / (4.0 / 3.0 * std::f64::consts::PI) - 1.0).abs() < 0.02, "{volume}");
}

/// The pressure of a lattice of equilateral triangles of springs. Each vertex has three edges of length a and stiffness
/// k, and an area of √3/2 a². At strain ε the energy per area is 3 · ½ k a² ε²/(√3/2 a²) = √3 k ε². With dE = T dA and
/// dA/A = 2 dε the tension is T = √3 k ε. A sphere of radius R has the pressure 2 T/R = 2 √3 k ε/R (Laplace). For large
/// ε, R = R₀ (1 + ε) and T acts on a length that has grown by 1 + ε. The mesh is not exactly equilateral: 2 %.
///
/// For any mesh, scaling all vertices by a common factor gives 3 p V = Σ k (l − l₀) l (virial theorem).
#[test]
fn an_elastic_balloon_holds_the_pressure_of_its_tension() {
    let gpu = common::gpu();
    let (k, radius) = (200.0, 0.5);
    for p in [1.03f32, 1.5] {
        // A rigid gas and a compliant one.
        for alpha in [0.0, 1e-5] {
            let mut balloon = balloon(2, radius, Material::compliant((1.0 / k) as f32));
            balloon.inflate(p, Material::compliant(alpha as f32));
            let settings = Settings { substeps: 10, iterations: 4, damping: 20.0, ..no_gravity() };
            let h = substep(&settings);
            for mut backend in backends(&gpu, &balloon.scene, settings) {
                backend.step(45);
                let x = backend.read_positions().unwrap();
                let volume = balloon.volume_of(&x);
                let gas = f64::from(backend.read_lambdas::<supple::Pressure>().unwrap()[0]) / (h * h);
                let target = f64::from(p) * balloon.volume;
                let name = backend.name();
                assert!((volume - target + alpha * gas).abs() < 1e-5 * target, "{name} p {p} α {alpha}: {volume} m³");
                let virial = balloon.virial(&x, k) / (3.0 * volume);
                let growth = (volume / balloon.volume).cbrt();
                let laplace = 2.0 * 3f64.sqrt() * k * (growth - 1.0) / (radius * growth.powi(2));
                println!("{name} p {p} α {alpha}: λ/h² {gas:.3} Pa, virial {virial:.3} Pa, 2T/R {laplace:.3} Pa");
                assert!((gas / virial - 1.0).abs() < 0.01, "{name} p {p} α {alpha}: {gas} Pa, virial {virial} Pa");
                assert!((gas / laplace - 1.0).abs() < 0.02, "{name} p {p} α {alpha}: {gas} Pa, 2T/R {laplace} Pa");
            }
        }
    }
}

/// A liquid in a bag of springs at rest volume keeps V₀, has no pressure and keeps its momentum.
#[test]
fn a_balloon_at_its_rest_volume_has_no_overpressure() {
    let gpu = common::gpu();
    let mut balloon = balloon(2, 0.5, Material::compliant(1e-3));
    balloon.inflate(1.0, Material::RIGID);
    for mut backend in backends(&gpu, &balloon.scene, no_gravity()) {
        backend.step(30);
        let x = backend.read_positions().unwrap();
        let moved = x.iter().zip(balloon.scene.positions()).map(|(a, b)| distance(*a, *b)).fold(0.0, f64::max);
        assert!((balloon.volume_of(&x) / balloon.volume - 1.0).abs() < 1e-6, "{}", backend.name());
        assert!(moved < 1e-5, "{}: {moved}", backend.name());
    }
}

// -------------------------------------------------------------------------------------------------------- shapes

/// A cube of 1 m with `side`³ particles of 8 kg in total, centred at the origin, as one group. `place` maps each rest
/// position to a position and a velocity.
fn cube(side: u32, material: Material, place: impl Fn([f64; 3]) -> ([f64; 3], [f64; 3])) -> Scene {
    let rest: Vec<[f64; 3]> = (0..side.pow(3))
        .map(|k| [k % side, k / side % side, k / side.pow(2)].map(|k| f64::from(k) / f64::from(side - 1) - 0.5))
        .collect();
    let mass = 8.0 / side.pow(3) as f32;
    let mut scene = Scene::new();
    for &x in &rest {
        let (position, velocity) = place(x);
        let [position, velocity] = [position, velocity].map(|v| v.map(|component| component as f32));
        scene.add_particle(Particle { position, velocity, inverse_mass: 1.0 / mass }).unwrap();
    }
    let particles: Vec<u32> = (0..rest.len() as u32).collect();
    let rest_positions: Vec<[f32; 3]> = rest.iter().map(|x| x.map(|component| component as f32)).collect();
    let masses = vec![mass; rest.len()];
    let group = ShapeMatching { particles: &particles, rest_positions: &rest_positions, masses: &masses };
    scene.add(group, material).unwrap();
    scene
}

/// The sides of the cubes: a group that one thread solves, and a group of 343 particles that a workgroup solves.
const SIDES: [u32; 2] = [3, 7];

/// The largest error of a distance from the first particle [m].
fn misshapen(scene: &Scene, side: u32, x: &[[f32; 3]]) -> f64 {
    let rest = cube(side, Material::RIGID, |x| (x, [0.0; 3]));
    assert_eq!(scene.particle_count(), rest.particle_count());
    let rest = rest.positions();
    (0..x.len())
        .flat_map(|k| [0, x.len() / 2].map(|to| (distance(x[to], x[k]) - distance(rest[to], rest[k])).abs()))
        .fold(0.0, f64::max)
}

/// v rotated by the unit quaternion (x, y, z, w).
fn turned([x, y, z, w]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let axis = [x, y, z];
    let t = cross(axis, v).map(|component| 2.0 * component);
    let u = cross(axis, t);
    [0, 1, 2].map(|k| v[k] + w * t[k] + u[k])
}

/// Linear momentum, and angular momentum about the centre of mass.
fn momenta(scene: &Scene, backend: &dyn Simulation) -> [[f64; 3]; 2] {
    let (x, v) = (backend.read_positions().unwrap(), backend.read_velocities().unwrap());
    let total: f64 = scene.inverse_masses().iter().map(|&w| 1.0 / f64::from(w)).sum();
    let center = momentum(scene, &x).map(|component| component / total);
    let moments: Vec<[f32; 3]> = x
        .iter()
        .zip(&v)
        .map(|(x, v)| cross(sub(x.map(f64::from), center), v.map(f64::from)).map(|component| component as f32))
        .collect();
    [momentum(scene, &v), momentum(scene, &moments)]
}

fn length(v: [f64; 3]) -> f64 {
    dot(v, v).sqrt()
}

#[test]
fn a_rigid_group_takes_its_shape_at_once_and_keeps_its_momenta() {
    let gpu = common::gpu();
    for side in SIDES {
        let scene = cube(side, Material::RIGID, |x| {
            let seed = (1e3 * (x[0] + 10.0 * x[1] + 100.0 * x[2])) as i32 as u32;
            let random = |k: u32| [0, 1, 2].map(|axis| f64::from(noise(seed.wrapping_add(k + axis))));
            let (push, jitter) = (random(0), random(3));
            let position = [0, 1, 2].map(|axis| x[axis] + 0.1 * push[axis]);
            // The cube translates and rotates slowly, and each particle has a random additional velocity.
            let spin = cross([0.2, 0.5, -0.1], x);
            (position, [0, 1, 2].map(|axis| [2.0, -1.0, 3.0][axis] + spin[axis] + 0.5 * jitter[axis]))
        });
        let settings = Settings { substeps: 20, ..no_gravity() };
        for mut backend in backends(&gpu, &scene, Settings { substeps: 1, ..settings }) {
            assert!(misshapen(&scene, side, scene.positions()) > 0.05);
            backend.step(1);
            let off = misshapen(&scene, side, &backend.read_positions().unwrap());
            assert!(off < 1e-5, "{} side {side}: {off} m after a step", backend.name());
        }
        // The angular momentum falls by ω² h t, 2.5e-4 at 0.55 rad/s, as the integrator predicts; see below.
        for mut backend in backends(&gpu, &scene, settings) {
            backend.step(1);
            let [p, l] = momenta(&scene, &*backend);
            backend.step(60);
            let [p1, l1] = momenta(&scene, &*backend);
            let [lost, turned] = [length(sub(p1, p)) / length(p), length(sub(l1, l)) / length(l)];
            let off = misshapen(&scene, side, &backend.read_positions().unwrap());
            println!("{} side {side}: p {lost:.1e}, L {turned:.1e}, shape {off:.1e} m", backend.name());
            assert!(lost < 1e-5, "{} side {side}: lost {lost} of its momentum", backend.name());
            assert!(turned < 4e-4, "{} side {side}: lost {turned} of its angular momentum", backend.name());
            assert!(off < 2e-5, "{} side {side}: {off} m", backend.name());
        }
    }
}

/// A spinning body slows down as the integrator predicts: ω = ω₀/√(1 + 2 ω₀² h t) (derived in `tests/physics/springs.rs`; 7 %
/// in the first second at 10 rad/s and 20 substeps). Its shape stays.
#[test]
fn a_rigid_group_spins_on_by_the_law_of_the_integrator_and_keeps_its_shape() {
    let gpu = common::gpu();
    let omega = 10.0f64;
    for side in SIDES {
        let scene = cube(side, Material::RIGID, |x| (x, cross([0.0, omega, 0.0], x)));
        for substeps in [20, 40] {
            let settings = Settings { substeps, ..no_gravity() };
            for mut backend in backends(&gpu, &scene, settings) {
                let [_, start] = momenta(&scene, &*backend);
                backend.step(60);
                let [_, end] = momenta(&scene, &*backend);
                let kept = end[1] / start[1];
                let law = 1.0 / (1.0 + 2.0 * omega * omega * substep(&settings)).sqrt();
                let off = misshapen(&scene, side, &backend.read_positions().unwrap());
                println!("{} side {side} at {substeps}: {kept:.5}, law {law:.5}, shape {off:.1e} m", backend.name());
                assert!((kept / law - 1.0).abs() < 0.005, "{} at {substeps}: {kept}, law {law}", backend.name());
                assert!(length(end) - end[1] < 1e-4 * length(end), "{}: it tumbles, {end:?}", backend.name());
                assert!(off < 1e-4, "{} at {substeps}: {off} m", backend.name());
            }
        }
    }
}

/// The initial rotation of a group is the applied rotation. After a time t at ω about the same axis it has grown by ω
/// t.
#[test]
fn the_rotation_of_a_group_equals_the_applied_rotation() {
    let gpu = common::gpu();
    let axis = [0.48, 0.6, -0.64];
    let quaternion = |angle: f64| {
        let (sin, cos) = (0.5 * angle).sin_cos();
        [axis[0] * sin, axis[1] * sin, axis[2] * sin, cos]
    };
    let apart = |found: [f32; 4], law: [f64; 4]| {
        // q and −q are the same rotation; the chord is half the angle between them.
        let chord =
            |sign: f64| found.iter().zip(law).map(|(a, b)| (f64::from(*a) - sign * b).powi(2)).sum::<f64>().sqrt();
        2.0 * chord(1.0).min(chord(-1.0))
    };
    for (side, angle) in [(3, 0.3), (3, 2.5), (3, 3.1), (7, -2.0)] {
        let omega = 0.5;
        let scene = cube(side, Material::RIGID, |x| {
            let arm = turned(quaternion(angle), x);
            (arm.map(|component| component + 2.0), cross(axis, arm).map(|component| omega * component))
        });
        for mut backend in backends(&gpu, &scene, no_gravity()) {
            let start = apart(backend.read_rotations().unwrap()[0], quaternion(angle));
            backend.step(60);
            let h = substep(&no_gravity());
            // ∫ ω₀/√(1 + 2 ω₀² h t) dt
            let turn = ((1.0 + 2.0 * omega * omega * h).sqrt() - 1.0) / (omega * h);
            let end = apart(backend.read_rotations().unwrap()[0], quaternion(angle + turn));
            println!("{} side {side}, {angle} rad: off by {start:.1e}, then {end:.1e}", backend.name());
            assert!(start < 2e-6, "{} {angle} rad: {:?}", backend.name(), backend.read_rotations().unwrap());
            assert!(end < 2e-4, "{} {angle} rad: {:?}", backend.name(), backend.read_rotations().unwrap());
        }
    }
}

/// Each particle is pulled to its goal by m (x − g)/α. The goals do not move if x = (1 + s) q, so each particle
/// oscillates at ω = 1/√α. The integrator advances by atan(ω h) per substep: 0.02 % slower here.
#[test]
fn a_soft_group_oscillates_at_one_over_the_root_of_its_compliance() {
    let gpu = common::gpu();
    for (side, omega) in [(3u32, 8.0f64), (7, 20.0)] {
        let scene = cube(side, Material::compliant((1.0 / (omega * omega)) as f32), |x| (x.map(|x| 1.2 * x), [0.0; 3]));
        let settings = Settings { dt: 1.0 / 240.0, substeps: 5, ..no_gravity() };
        for mut backend in backends(&gpu, &scene, settings) {
            let mut crossings = Vec::new();
            let mut previous = 0.1;
            for step in 1..=240 {
                backend.step(1);
                let stretch = -0.5 - f64::from(backend.read_positions().unwrap()[0][0]);
                if previous * stretch < 0.0 {
                    crossings.push((f64::from(step) - stretch / (stretch - previous)) / 240.0);
                }
                previous = stretch;
            }
            let halves = crossings.len() - 1;
            let period = 2.0 * (crossings[halves] - crossings[0]) / halves as f64;
            let law = std::f64::consts::TAU / omega;
            println!("{} side {side} ω {omega}: {period:.5} s, law {law:.5} s", backend.name());
            assert!((period / law - 1.0).abs() < 0.01, "{}: {period} s, law {law} s", backend.name());
        }
    }
}

/// A workgroup solves each group of more than 256 members: the same bits on an exact adapter.
#[test]
fn large_groups_agree_on_both_backends() {
    let gpu = common::gpu();
    let tolerance = if is_exact(&gpu) { 0.0 } else { 2e-5 };
    let mut large = balloon(3, 0.5, Material::compliant(1e-3));
    large.inflate(1.2, Material::compliant(1e-6));
    let shape = cube(7, Material { compliance: 1e-3, damping: 2.0, ..Material::RIGID }, |x| {
        let shear = [x[0] + 0.2 * x[1], x[1] - 0.1 * x[2] * x[2], 1.1 * x[2]];
        (shear, cross([1.0, 5.0, -2.0], x))
    });
    for scene in [large.scene, shape] {
        for sweep in [Sweep::GaussSeidel, Sweep::Jacobi] {
            let settings = Settings { substeps: 3, iterations: 2, sweep, ..Settings::default() };
            let mut pair = Pair::new(&gpu, &scene, settings);
            let passes = pair.passes(2);
            let difference = pair.first_difference(tolerance, passes);
            assert!(difference.is_none(), "by {sweep:?}: {difference:#?}");
        }
    }
}
