//! Plastic flow of solids: the edges of a lattice yield.

use crate::common;
use supple::{Distance, Elasticity, Plasticity, Reference, Scene, Settings, TetMesh};

/// A block of 2 × 1 × 1 cubes of 0.1 m, five tetrahedra each.
fn block() -> (Vec<[f32; 3]>, Vec<[u32; 4]>) {
    let at = |x: u32, y: u32, z: u32| x + 3 * (y + 2 * z);
    let points = (0..12).map(|k| [0.1 * (k % 3) as f32, 0.1 * (k / 3 % 2) as f32, 0.1 * (k / 6) as f32]);
    let mut tetrahedra = Vec::new();
    for x in 0..2 {
        let corner = |a: u32, b: u32, c: u32| if x == 0 { at(a, b, c) } else { at(2 - a, b, c) };
        let own = [
            [corner(0, 0, 0), corner(1, 0, 0), corner(0, 1, 0), corner(0, 0, 1)],
            [corner(1, 1, 0), corner(0, 1, 0), corner(1, 0, 0), corner(1, 1, 1)],
            [corner(1, 0, 1), corner(0, 0, 1), corner(1, 1, 1), corner(1, 0, 0)],
            [corner(0, 1, 1), corner(1, 1, 1), corner(0, 0, 1), corner(0, 1, 0)],
            [corner(1, 0, 0), corner(0, 1, 0), corner(0, 0, 1), corner(1, 1, 1)],
        ];
        // The second cube is a mirror image.
        tetrahedra.extend(own.map(|[a, b, c, d]| if x == 0 { [a, b, c, d] } else { [a, c, b, d] }));
    }
    (points.collect(), tetrahedra)
}

/// Deforms the block by a map, releases it, and returns its extent along x and y over that at rest.
fn residual(plasticity: Plasticity, map: impl Fn([f32; 3]) -> [f32; 3]) -> [f32; 2] {
    let (positions, tetrahedra) = block();
    let mut scene = Scene::new();
    let elasticity = Elasticity::Elastic { young: 1e4, bulk: 0.0, damping_time: 0.0 };
    let body = TetMesh { positions: &positions, tetrahedra: &tetrahedra, density: 1000.0, elasticity };
    let parts = scene.add_tetrahedra(&body).unwrap();
    scene.set_plasticity::<Distance>(parts.edges.clone(), plasticity).unwrap();
    let all: Vec<u32> = parts.particles.clone().collect();
    all.iter().for_each(|&particle| scene.pin(particle).unwrap());
    let settings = Settings { gravity: [0.0; 3], damping: 10.0, ..Settings::default() };
    let mut reference = Reference::new(&scene, settings).unwrap();
    for (&particle, &position) in all.iter().zip(&positions) {
        reference.set_target(particle, map(position)).unwrap();
    }
    reference.step(3);
    reference.release(&all).unwrap();
    reference.step(120);
    let x = reference.read_positions().unwrap();
    [common::distance(x[0], x[2]) as f32 / 0.2, common::distance(x[0], x[3]) as f32 / 0.1]
}

/// A uniform stretch strains all edges alike: it leaves (ε − Y)/(1 + H). Without a yield strain a stretch along one axis leaves
/// ε/(1 + H) along it, as each edge keeps the same share of its strain.
#[test]
fn a_strained_block_keeps_the_residual_strain_of_its_edges() {
    for (yield_strain, hardening, strain) in [(0.02, 0.0, 0.1), (0.03, 0.5, 0.2), (0.05, 0.0, -0.15)] {
        let plasticity = Plasticity { yield_strain, hardening, ..Plasticity::default() };
        let [along, across] = residual(plasticity, |x| x.map(|own| own * (1.0 + strain)));
        let law = f32::signum(strain) * (strain.abs() - yield_strain) / (1.0 + hardening);
        for own in [along, across] {
            assert!(((own - 1.0) / law - 1.0).abs() < 0.01, "{strain}: {own}, law {law}");
        }
    }
    let plasticity = Plasticity { yield_strain: 0.0, hardening: 0.5, ..Plasticity::default() };
    let [along, across] = residual(plasticity, |[x, y, z]| [1.01 * x, y, z]);
    assert!(((along - 1.0) / (0.01 / 1.5) - 1.0).abs() < 0.01 && (across - 1.0).abs() < 1e-4, "{along} {across}");
    // Below the yield strain the block returns to its shape.
    let [along, across] = residual(Plasticity { yield_strain: 0.1, ..plasticity }, |[x, y, z]| [1.08 * x, y, z]);
    assert!((along - 1.0).abs() < 1e-4 && (across - 1.0).abs() < 1e-4, "{along} {across}");
}
