//! Tests of clusters.

use super::*;
use crate::constraints::{Kind, kind_index};
use crate::{Bending, ClothGrid, ClothMesh, Distance, Fabric, Hinge, Material, Particle, Scene};

fn clustering<K: Kind>(scene: &Scene) -> (&ConstraintSet, Clustering) {
    let set = &scene.constraints[kind_index(K::INFO)];
    (set, Clustering::new(set, scene.particle_count(), 0, &[]))
}

/// Asserts that clusters of a layer and rounds of a cluster share no particle, and that headers point to their
/// data.
fn check(set: &ConstraintSet, clustering: &Clustering, particle_count: usize) {
    let mut seen = vec![false; set.len()];
    let mut next_record = 0;
    for layer in &clustering.layers {
        let mut owner = vec![NOBODY; particle_count];
        for cluster in layer.range() {
            let head: [usize; HEAD] = std::array::from_fn(|word| clustering.words[cluster * HEAD + word] as usize);
            let [particles_at, particles, rounds_at, rounds, locals_at, record, ..] = head;
            assert!(particles <= MOST_PARTICLES && rounds > 0);
            let particles = &clustering.words[particles_at..][..particles];
            for &particle in particles {
                assert_eq!(std::mem::replace(&mut owner[particle as usize], cluster as u32), NOBODY);
            }
            assert_eq!(record, next_record);
            for round in clustering.words[rounds_at..][..2 * rounds].chunks_exact(2) {
                assert_eq!(round[0] as usize, next_record);
                let mut named = vec![false; particles.len()];
                for place in next_record..next_record + round[1] as usize {
                    let constraint = clustering.order[place];
                    assert!(!std::mem::replace(&mut seen[constraint as usize], true));
                    let locals = clustering.words[locals_at + place - record].to_le_bytes();
                    for (&particle, local) in set.entities_of(constraint).iter().zip(locals) {
                        assert_eq!(particles[usize::from(local)], particle);
                        assert!(!std::mem::replace(&mut named[usize::from(local)], true));
                    }
                }
                next_record += round[1] as usize;
            }
        }
    }
    assert_eq!(next_record, clustering.order.len());
}

#[test]
fn a_grid_is_solved_in_a_few_layers() {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 120, rows: 97, ..ClothGrid::default() }).unwrap();
    let (set, clustering) = clustering::<Distance>(&scene);
    check(set, &clustering, scene.particle_count());
    let shares: Vec<_> = clustering.records.iter().map(|span| span.count as f32 / set.len() as f32).collect();
    println!("{shares:?} {:?} {}", clustering.layers, set.len());
    assert_eq!(clustering.order.len(), set.len());
    assert!(clustering.layers.len() <= 3 && shares[0] > 0.8, "{shares:?}");
}

#[test]
fn an_irregular_mesh_with_hinges_is_solved_in_a_few_layers() {
    let mut scene = Scene::new();
    let fabric = Fabric { bending: Bending::Hinges, ..Fabric::default() };
    // A jittered grid; each cell is cut along a random diagonal.
    let (columns, rows) = (110u32, 95u32);
    let random = |k: u32| (k.wrapping_mul(2_654_435_761) >> 20) as f32 / 4096.0 - 0.5;
    let position =
        |k: u32| [(k % columns) as f32 + 0.6 * random(k), 0.0, (k / columns) as f32 + 0.6 * random(k + 7777)];
    let positions: Vec<[f32; 3]> = (0..columns * rows).map(position).collect();
    let mut triangles = Vec::new();
    for cell in (0..columns * (rows - 1)).filter(|cell| cell % columns + 1 < columns) {
        let [a, b, c, d] = [cell, cell + 1, cell + columns, cell + columns + 1];
        let halves = if random(cell) < 0.0 { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] };
        triangles.extend(halves);
    }
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
    scene.add_cloth_mesh(&mesh).unwrap();
    for (set, clustering) in [clustering::<Distance>(&scene), clustering::<Hinge>(&scene)] {
        check(set, &clustering, scene.particle_count());
        let shares: Vec<_> = clustering.records.iter().map(|span| span.count as f32 / set.len() as f32).collect();
        println!("{shares:?} {:?} {}", clustering.layers, set.len());
        assert_eq!(clustering.order.len(), set.len());
    }
}

#[test]
fn sets_that_do_not_shrink_are_coloured() {
    let mut scene = Scene::new();
    for k in 0..5000 {
        scene.add_particle(Particle { position: [k as f32, 0.0, 0.0], ..Particle::default() }).unwrap();
    }
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % 5000
    };
    for _ in 0..40_000 {
        let particles = [random(), random()];
        if particles[0] != particles[1] {
            scene.add(Distance { particles, rest_length: 1.0 }, Material::compliant(1e-3)).unwrap();
        }
    }
    let (set, clustering) = clustering::<Distance>(&scene);
    check(set, &clustering, scene.particle_count());
    println!("{} of {} {:?}", clustering.order.len(), set.len(), clustering.layers);
    assert!(clustering.order.len() < set.len() / 2);
}
