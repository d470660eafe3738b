//! Compares the pairs that a search lists with those that it must list.

use super::*;
use crate::{ClothMesh, ContactMaterial, Fabric, Particle, Scene, SelfCollision, Settings};
use std::collections::BTreeSet;

/// A pseudorandom number from −1 to 1.
fn noise(seed: u32) -> f32 {
    let mixed = (seed ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    ((mixed ^ mixed >> 16) >> 8) as f32 / 0x0080_0000 as f32 - 1.0
}

/// Triangles from 5 mm to 2 m, most of them small; some fly through the others.
fn soup(count: u32, speed: f32) -> Scene {
    let mut scene = Scene::new();
    let thin = ContactMaterial { thickness: 2e-3, ..ContactMaterial::default() };
    let thin = scene.add_contact_material(thin).unwrap();
    let thick = ContactMaterial { thickness: 2e-2, ..ContactMaterial::default() };
    let thick = scene.add_contact_material(thick).unwrap();
    for index in 0..count {
        let random = |k: u32| noise(64 * index + k);
        let size = 5e-3 * 400f32.powf(random(0).powi(2));
        let middle = [1, 2, 3].map(|k| 0.1 * random(k));
        let corner = |k: u32| [0, 1, 2].map(|axis| middle[axis as usize] + size * random(4 + 3 * k + axis));
        let positions = [0, 1, 2].map(corner);
        let mesh =
            ClothMesh { positions: &positions, triangles: &[[0, 1, 2]], fabric: Fabric::default(), tethers: None };
        let particles = scene.add_cloth_mesh(&mesh).unwrap().particles;
        scene.set_particle_contact(particles.clone(), thin).unwrap();
        // The border of two materials runs through a triangle.
        let second = particles.start + 1;
        scene.set_particle_contact(second..second + 1, if index % 5 == 0 { thick } else { thin }).unwrap();
        let hurry = if index % 40 == 0 { speed } else { 0.01 * speed };
        for particle in particles {
            let velocity = [0, 1, 2].map(|axis| hurry * noise(1000 * particle + axis) + hurry * random(20 + axis));
            scene.set_velocity(particle, velocity).unwrap();
        }
    }
    scene
}

/// Particles in random directions, at speeds of 1 m/s multiplied or divided by up to `times`, at most `fastest`
/// \[m/s\].
fn swarm(count: u32, times: f32, fastest: f32) -> Scene {
    let mut scene = Scene::new();
    let small = ContactMaterial { thickness: 5e-3, ..ContactMaterial::default() };
    let small = scene.add_contact_material(small).unwrap();
    for index in 0..count {
        let random = |k: u32| noise(64 * index + k);
        let speed = times.powf(random(0)).min(fastest);
        let within = |most: f32, k: u32| [0, 1, 2].map(|axis| most * random(k + axis));
        let (position, velocity) = (within(0.1, 1), within(speed, 4));
        let i = scene.add_particle(Particle { position, velocity, ..Particle::default() }).unwrap();
        scene.set_particle_contact(i..i + 1, small).unwrap();
    }
    scene.pin(0).unwrap();
    scene
}

/// The pairs of particles in the list; asserts that each is listed once.
fn listed(backend: &Reference) -> BTreeSet<[u32; 2]> {
    let pairs: Vec<_> = backend.contacts.pairs.iter().map(|&[a, b, ..]| [a.min(b), a.max(b)]).collect();
    let once = BTreeSet::from_iter(pairs.iter().copied());
    assert_eq!(once.len(), pairs.len(), "a pair is there twice");
    once
}

/// The list holds for many substeps; it has each pair that meets in one of them, once.
#[test]
fn all_that_meet_before_the_next_search_is_listed_once() {
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let own = SelfCollision { pairs_per_particle: 64, ..own };
        let settings =
            Settings { dt: 1e-3, substeps: 1, gravity: [0.0; 3], self_collision: Some(own), ..Settings::default() };
        let mut backend = Reference::new(&swarm(1000, 10.0, 0.3), settings).unwrap();
        let (mut met, mut old) = (0, 0);
        for step in 0..60 {
            let before = backend.positions.clone();
            backend.step(1);
            assert_eq!(backend.contacts.lost, 0);
            let listed = listed(&backend);
            old += u32::from(backend.contacts.since_search() > 1);
            for a in 0..1000 {
                for b in a + 1..1000 {
                    let apart = |places: &[Vec3]| places[b as usize] - places[a as usize];
                    if length(from_segment([apart(&before), apart(&backend.positions)], Vec3::ZERO)) < 5e-3 {
                        met += 1;
                        assert!(listed.contains(&[a, b]), "{own:?}, step {step}: {a} and {b} are not listed");
                    }
                }
            }
        }
        println!("{met} meet; in {old} of 60 substeps the list is that of a substep before");
        assert!(met > 100 && old > 20, "{met}, {old}");
    }
}

/// Pairs of particles that meet in a substep are listed at any speed and in any direction, each once.
#[test]
fn all_that_meet_on_their_paths_are_listed_once() {
    for own in [SelfCollision::default(), SelfCollision::surfaces()] {
        let own = SelfCollision { pairs_per_particle: 64, ..own };
        let settings =
            Settings { dt: 1e-3, substeps: 1, gravity: [0.0; 3], self_collision: Some(own), ..Settings::default() };
        let mut backend = Reference::new(&swarm(1000, 1000.0, 100.0), settings).unwrap();
        backend.step(1);
        assert_eq!(backend.contacts.lost, 0);
        let listed = listed(&backend);
        let tracked = &backend.contacts.tracked;
        let (mut met, mut octaves) = (0, BTreeSet::new());
        for a in 0..1000 {
            for b in a + 1..1000 {
                let [one, other] = [a, b].map(|i| &tracked[i as usize]);
                let (end, path) = (one.place - other.place, one.displacement - other.displacement);
                if length(from_segment([end, end - path], Vec3::ZERO)) < 5e-3 {
                    met += 1;
                    octaves.extend([one, other].map(|own| length(own.displacement).log2() as i32));
                    assert!(listed.contains(&[a, b]), "{own:?}: {a} and {b} are not listed");
                }
            }
        }
        println!("{:?}: {met} meet, of speeds {octaves:?}, of {} pairs", own.level, listed.len());
        assert!(met > 100 && octaves.len() > 8, "{met}, {octaves:?}");
    }
}

/// Pairs that may meet before the next search are listed for elements of all sizes, each once.
#[test]
fn all_that_may_meet_is_listed_once() {
    for speed in [0.0, 0.1, 1.0] {
        let scene = soup(240, speed);
        let own = SelfCollision { pairs_per_particle: 256, ..SelfCollision::surfaces() };
        let settings = Settings { gravity: [0.0; 3], substeps: 4, self_collision: Some(own), ..Settings::default() };
        let mut backend = Reference::new(&scene, settings).unwrap();
        backend.step(2);
        assert_eq!(backend.contacts.lost, 0);
        let mut listed = backend.contacts.pairs.clone();
        listed.sort_unstable();
        assert!(listed.windows(2).all(|two| two[0] != two[1]), "{speed} m/s: a pair is there twice");
        let listed: BTreeSet<_> = listed.into_iter().collect();
        let (mut missed, mut found) = (0, 0);
        for a in 0..backend.contact_params.element_end {
            for pair in (0..a).filter_map(|b| backend.pair(a, b)) {
                found += 1;
                missed += u32::from(!listed.contains(&pair));
            }
        }
        println!("{speed} m/s: {} pairs", listed.len());
        assert_eq!((missed, found), (0, listed.len()), "{speed} m/s");
        assert!(found > 500, "{speed} m/s: {found}");
    }
}
