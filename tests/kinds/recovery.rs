//! Elastic bodies return to their rest shape from compressed, flat, inverted and random shapes.

use crate::common::shapes::CUBE;
use crate::common::{backends, gpu, noise};
use glam::Vec3;
use supple::scene::Lattice;
use supple::{Collider, Elasticity, Pose, Reference, Scene, Settings, Shape, SoftBody, TetMesh, Volume};

/// A box of cubes with a given edge length along each axis.
struct Body {
    scene: Scene,
    lattice: Lattice,
    size: Vec3,
}

impl Body {
    fn new(cells: [u32; 3], spacing: f32, density: f32, young: f32) -> Self {
        Self::of(cells, spacing, density, Elasticity::elastic(young, density, spacing))
    }

    fn of(cells: [u32; 3], spacing: f32, density: f32, elasticity: Elasticity) -> Self {
        let size = Vec3::from(cells.map(|n| n as f32)) * spacing;
        let corner = |k: u32| (size * Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32)).to_array();
        let positions: Vec<[f32; 3]> = (0..8).map(corner).collect();
        let body = SoftBody { positions: &positions, triangles: &CUBE, spacing, density, elasticity };
        let mut scene = Scene::new();
        scene.add_soft_body(&body).unwrap();
        Self { scene, lattice: Lattice::new(&positions, &CUBE, spacing).unwrap(), size }
    }

    fn rest(&self) -> impl Iterator<Item = Vec3> {
        self.lattice.positions.iter().map(|&x| Vec3::from(x) - self.size / 2.0)
    }

    /// The time in which sound crosses the body [s].
    fn crossing(&self, density: f32, young: f32) -> f32 {
        self.size.max_element() * (density / young).sqrt()
    }

    /// Σ m |v|²/2 [J].
    fn kinetic_energy(&self, velocities: &[[f32; 3]]) -> f64 {
        let weights = &self.scene.inverse_masses()[..self.lattice.positions.len()];
        let energy = |(&w, &v): (&f32, &[f32; 3])| 0.5 * Vec3::from(v).as_dvec3().length_squared() / f64::from(w);
        weights.iter().zip(velocities).map(energy).sum()
    }

    /// The number of tetrahedra without positive volume; the volume relative to rest; and the largest relative error of
    /// a distance along a space diagonal or an axis.
    fn faults(&self, x: &[[f32; 3]]) -> (usize, f64, f64) {
        let volume = |t: &[u32; 4], x: &[[f32; 3]]| f64::from(Volume::of(t.map(|vertex| x[vertex as usize])));
        let inverted = self.lattice.tetrahedra.iter().filter(|t| volume(t, x) <= 0.0).count();
        let total = |x: &[[f32; 3]]| self.lattice.tetrahedra.iter().map(|t| volume(t, x)).sum::<f64>();
        let rest: Vec<Vec3> = self.rest().collect();
        let corners: Vec<usize> =
            (0..rest.len()).filter(|&k| (rest[k].abs() - self.size / 2.0).abs().max_element() < 1e-3).collect();
        assert_eq!(corners.len(), 8);
        let mut extent = 0f64;
        for &a in &corners {
            for &b in corners.iter().filter(|&&b| b > a) {
                let at_rest = rest[a].distance(rest[b]);
                let now = Vec3::from(x[a]).distance(Vec3::from(x[b]));
                extent = extent.max(f64::from((now / at_rest - 1.0).abs()));
            }
        }
        (inverted, total(x) / total(&self.lattice.positions), extent)
    }

    /// The named initial shapes.
    fn shapes(&self) -> Vec<(&'static str, Vec<Vec3>)> {
        let size = self.size.max_element();
        let random = |salt: u32, k: usize| Vec3::from([0, 1, 2].map(|axis| noise(salt + 3 * k as u32 + axis)));
        let map = |f: &dyn Fn(usize, Vec3) -> Vec3| self.rest().enumerate().map(|(k, x)| f(k, x)).collect::<Vec<_>>();
        let diagonal = Vec3::new(1.0, -2.0, 3.0).normalize();
        let tiny = 1e-4 * size;
        vec![
            ("a tenth of its height", map(&|_, x| x * Vec3::new(1.0, 0.1, 1.0))),
            ("flat", map(&|_, x| x * Vec3::new(1.0, 0.0, 1.0))),
            ("flat askew", map(&|_, x| x - diagonal * x.dot(diagonal))),
            ("flat, with noise", map(&|k, x| x * Vec3::new(0.0, 1.0, 1.0) + random(1, k) * tiny)),
            ("a line", map(&|k, x| x * Vec3::X + random(2, k) * tiny)),
            ("a point", map(&|k, _| random(3, k) * tiny)),
            ("mirrored", map(&|_, x| x * Vec3::new(1.0, -1.0, 1.0))),
            ("inside out", map(&|k, x| -x + random(4, k) * tiny)),
            ("folded", map(&|_, x| Vec3::new(x.x, x.y.abs(), x.z))),
            ("random", map(&|k, _| random(5, k) * 0.5 * self.size)),
        ]
    }

    fn set(&self, shape: &[Vec3]) -> Scene {
        let mut scene = self.scene.clone();
        for (particle, &x) in (0..).zip(shape) {
            scene.set_position(particle, (x + self.size / 2.0).to_array()).unwrap();
        }
        scene
    }
}

fn still() -> Settings {
    Settings { gravity: [0.0; 3], ..Settings::default() }
}

/// The allowed peak speed: several times the speed of sound.
fn peak_allowed(density: f32, young: f32) -> f32 {
    10.0 * (young / density).sqrt()
}

/// On the reference: each shape, soft and stiff, coarse and fine, a cube and a slab.
#[test]
fn a_body_of_the_default_elasticity_recovers_from_every_shape() {
    for (cells, spacing, density, young) in [
        ([4, 4, 4], 0.1f32, 300.0f32, 2e4f32),
        ([3, 3, 3], 0.02, 1000.0, 1e3),
        ([4, 4, 4], 0.05, 1000.0, 1e5),
        ([4, 4, 4], 0.1, 300.0, 1e6),
        ([6, 2, 5], 0.1, 1000.0, 1e5),
    ] {
        let body = Body::new(cells, spacing, density, young);
        let seconds = (15.0 * body.crossing(density, young)).max(1.0);
        // From a point, a slab may fold over itself without inverted tetrahedra.
        let is_slab = cells[1] < 3;
        for (what, shape) in body.shapes().into_iter().filter(|(what, _)| !is_slab || *what != "a point") {
            let case = format!("{what}, {cells:?} of {spacing} m, {density} kg/m³, {young} Pa");
            let mut reference = Reference::new(&body.set(&shape), still()).unwrap();
            let (mut peak, mut energy) = (0f32, 0f64);
            for _ in 0..(seconds * 60.0) as u32 {
                reference.step(1);
                let v = &reference.read_velocities().unwrap()[..shape.len()];
                peak = v.iter().fold(peak, |peak, &v| peak.max(Vec3::from(v).length()));
                energy = energy.max(body.kinetic_energy(v));
            }
            let (inverted, volume, extent) = body.faults(&reference.read_positions().unwrap());
            let left = body.kinetic_energy(&reference.read_velocities().unwrap()[..shape.len()]) / energy;
            println!(
                "{case}: {inverted}, volume {volume:.4}, extent off {extent:.4}, peak {peak:.1} m/s, {left:.1e} left"
            );
            assert_eq!(inverted, 0, "{case}: tetrahedra are inverted");
            assert!((volume - 1.0).abs() < 0.02, "{case}: {volume} of its volume");
            assert!(extent < 0.03, "{case}: extents are off by {extent}");
            assert!(peak < peak_allowed(density, young), "{case}: {peak} m/s");
            assert!(left < 0.1, "{case}: {left} of the most kinetic energy is left");
        }
    }
}

#[test]
fn a_flat_a_mirrored_and_a_random_body_recover_on_both_backends() {
    recovers_on_both_backends(&Body::new([3, 3, 3], 0.1, 300.0, 2e4));
}

#[test]
fn a_flat_a_mirrored_and_a_random_neo_hookean_body_recover_on_both_backends() {
    let elasticity = Elasticity::neo_hookean(2e4, 0.3, 300.0, 0.1);
    recovers_on_both_backends(&Body::of([3, 3, 3], 0.1, 300.0, elasticity));
}

fn recovers_on_both_backends(body: &Body) {
    let gpu = gpu();
    for (what, shape) in body.shapes().into_iter().filter(|(what, _)| ["flat", "mirrored", "random"].contains(what)) {
        for mut backend in backends(&gpu, &body.set(&shape), still()) {
            backend.step(60);
            let (inverted, volume, extent) = body.faults(&backend.read_positions().unwrap());
            println!("{}: {what}: {inverted}, volume {volume:.4}, extent off {extent:.4}", backend.name());
            assert_eq!(inverted, 0, "{}: {what}", backend.name());
            assert!((volume - 1.0).abs() < 0.02 && extent < 0.03, "{}: {what}: {volume}, {extent}", backend.name());
        }
    }
}

/// A neo-Hookean body recovers from flat shapes at any Poisson ratio, and from inverted ones up to 0.4. Above that, single
/// tetrahedra turn one by one and may form a knot. A point and a line are minima of the energy (Smith, de Goes, Kim 2018).
#[test]
fn a_neo_hookean_body_recovers_from_flat_and_inverted_shapes() {
    for (cells, spacing, density, young, ratio) in [
        ([4, 4, 4], 0.1f32, 300.0f32, 2e4f32, 0.3f32),
        ([3, 3, 3], 0.02, 1000.0, 1e3, 0.4),
        ([4, 4, 4], 0.05, 1000.0, 1e5, 0.0),
        ([4, 4, 4], 0.1, 300.0, 1e6, 0.4),
        ([4, 4, 4], 0.1, 300.0, 2e4, 0.49),
        ([6, 2, 5], 0.1, 1000.0, 1e5, 0.2),
    ] {
        let body = Body::of(cells, spacing, density, Elasticity::neo_hookean(young, ratio, density, spacing));
        let seconds = (30.0 * body.crossing(density, young)).max(1.0);
        let flat = ["a tenth of its height", "flat", "flat askew", "flat, with noise"];
        let inverted = ["mirrored", "inside out", "folded"];
        let is_tested = |what: &str| flat.contains(&what) || (ratio <= 0.4 && inverted.contains(&what));
        for (what, shape) in body.shapes().into_iter().filter(|(what, _)| is_tested(what)) {
            let case = format!("{what}, {cells:?} of {spacing} m, {density} kg/m³, {young} Pa, ν {ratio}");
            let mut reference = Reference::new(&body.set(&shape), still()).unwrap();
            reference.step((seconds * 60.0) as u32);
            let (inverted, volume, extent) = body.faults(&reference.read_positions().unwrap());
            println!("{case}: {inverted}, volume {volume:.4}, extent off {extent:.4}");
            assert_eq!(inverted, 0, "{case}: tetrahedra are inverted");
            assert!((volume - 1.0).abs() < 0.02, "{case}: {volume} of its volume");
            assert!(extent < 0.03, "{case}: extents are off by {extent}");
        }
    }
}

/// Distance constraints alone are at rest in the mirror image; volume constraints invert it back.
#[test]
fn a_mirrored_tetrahedral_mesh_recovers_only_by_its_volumes() {
    let lattice = Body::new([3, 3, 3], 0.2, 500.0, 1e5).lattice;
    for (bulk, sign) in [(0.0, -1.0), (1e5, 1.0)] {
        let elasticity = Elasticity::Elastic { young: 1e5, bulk, damping_time: 0.014 };
        let (positions, tetrahedra) = (&lattice.positions[..], &lattice.tetrahedra[..]);
        let mut scene = Scene::new();
        scene.add_tetrahedra(&TetMesh { positions, tetrahedra, density: 500.0, elasticity }).unwrap();
        for (particle, &[x, y, z]) in (0..).zip(positions) {
            scene.set_position(particle, [-x, y, z]).unwrap();
        }
        let mut reference = Reference::new(&scene, still()).unwrap();
        reference.step(120);
        let x = reference.read_positions().unwrap();
        let volume = |t: &[u32; 4], x: &[[f32; 3]]| Volume::of(t.map(|vertex| x[vertex as usize]));
        for t in tetrahedra {
            let part = volume(t, &x) / volume(t, positions) * sign;
            assert!((part - 1.0).abs() < 0.05, "bulk {bulk}: a tetrahedron has {part} of its volume");
        }
    }
}

/// The body lands on a floor faster than its speed of sound, and is then pressed flat by a plate that lifts again.
#[test]
fn a_body_recovers_from_a_hard_landing_and_from_a_press() {
    let body = Body::new([4, 4, 4], 0.1, 300.0, 2e4);
    let floor = || Collider::new(Shape::HalfSpace, [0.0; 3]);
    let mut landing = body.scene.clone();
    landing.add_collider(floor()).unwrap();
    for particle in 0..body.lattice.positions.len() as u32 {
        let [x, y, z] = landing.positions()[particle as usize];
        landing.set_position(particle, [x, y + 0.05, z]).unwrap();
        landing.set_velocity(particle, [0.0, -10.0, 0.0]).unwrap();
    }
    let mut press = body.scene.clone();
    press.add_collider(floor()).unwrap();
    let plate = Collider::new(Shape::Box { half_extents: [1.0, 0.05, 1.0] }, [0.2, 0.47, 0.2]);
    let plate = press.add_collider(plate).unwrap();
    for (what, scene, plate) in [("a landing", landing, None), ("a press", press, Some(plate))] {
        let mut reference = Reference::new(&scene, Settings::default()).unwrap();
        for step in 0..210 {
            let time = (step + 1) as f32 / 60.0;
            let height = if time < 1.0 { (0.47 - 0.82 * time).max(0.06) } else { (0.06 + 2.0 * (time - 1.0)).min(1.0) };
            if let Some(plate) = plate {
                reference.move_collider(plate, Pose { position: [0.2, height, 0.2], ..Pose::default() }).unwrap();
            }
            reference.step(1);
        }
        let (inverted, volume, extent) = body.faults(&reference.read_positions().unwrap());
        println!("{what}: {inverted}, volume {volume:.4}, extent off {extent:.4}");
        assert_eq!(inverted, 0, "{what}");
        assert!((volume - 1.0).abs() < 0.1 && extent < 0.1, "{what}: {volume}, {extent}");
    }
}
