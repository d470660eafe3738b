use super::*;
use crate::constraints::{Kind, kind_index};
use crate::{ClothGrid, ClothMesh, Distance, Fabric, Material, Particle};

fn trees(scene: &Scene) -> Trees {
    Trees::new(&scene.constraints[kind_index(Distance::INFO)], scene, 0, &[])
}

/// Adds a particle with `links` rigid links to leaves; `ratio` is the mass of a leaf divided by its mass.
fn knot(scene: &mut Scene, links: u32, ratio: f32) -> u32 {
    let hub = scene.add_particle(Particle::default()).unwrap();
    for k in 0..links {
        let (sin, cos) = (2.4 * k as f32).sin_cos();
        let leaf = Particle { position: [cos, 0.1, sin], inverse_mass: 1.0 / ratio, ..Particle::default() };
        let leaf = scene.add_particle(leaf).unwrap();
        let particles = if k % 2 == 0 { [hub, leaf] } else { [leaf, hub] };
        scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
    }
    hub
}

#[test]
fn cloth_has_no_trees() {
    let mut scene = Scene::new();
    scene.add_cloth_grid(&ClothGrid { columns: 12, rows: 9, ..ClothGrid::default() }).unwrap();
    // Equilateral triangles, with bending springs across their edges.
    let (columns, rows) = (9u32, 8u32);
    let place = |k: u32| [(k % columns) as f32 + 0.5 * (k / columns % 2) as f32, 0.0, 0.866 * (k / columns) as f32];
    let positions: Vec<_> = (0..columns * rows).map(place).collect();
    let cells = (0..columns * (rows - 1)).filter(|cell| cell % columns + 1 < columns);
    let triangles: Vec<[u32; 3]> = cells
        .flat_map(|a| {
            let [b, c, d] = [a + 1, a + columns, a + columns + 1];
            if a / columns % 2 == 0 { [[a, c, b], [b, c, d]] } else { [[a, d, b], [a, c, d]] }
        })
        .collect();
    let fabric = Fabric::default();
    scene.add_cloth_mesh(&ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None }).unwrap();
    assert!(trees(&scene).is_empty());
}

#[test]
fn a_junction_is_one_tree_unless_it_is_heavy() {
    for (links, ratio, is_tree) in
        [(3, 1.0, true), (9, 1.0, true), (5, 10.0, true), (5, 0.01, false), (1024, 1.0, true), (1025, 1.0, false)]
    {
        let mut scene = Scene::new();
        let hub = knot(&mut scene, links, ratio);
        let trees = trees(&scene);
        let expected: &[[u32; 4]] = if is_tree { &[[hub, 0, links, 0]] } else { &[] };
        assert_eq!(trees.rows, expected, "{links} links, masses {ratio} : 1");
    }
}

#[test]
fn branches_without_cycles_are_one_tree_with_parents_first() {
    // Three ropes of six links meet in one particle; the last link of each is out of reach.
    let mut scene = Scene::new();
    let hub = scene.add_particle(Particle::default()).unwrap();
    for rope in 0..3 {
        let mut above = hub;
        for k in 1..=6 {
            let position = [rope as f32, k as f32, 0.0];
            let below = scene.add_particle(Particle { position, ..Particle::default() }).unwrap();
            scene.add(Distance { particles: [below, above], rest_length: 1.0 }, Material::RIGID).unwrap();
            above = below;
        }
    }
    let trees = trees(&scene);
    assert_eq!(trees.rows, [[hub, 0, 15, 0]]);
    for (number, &[child, parent, factor, _]) in (0..).zip(&trees.nodes) {
        let above = if parent == ROOT { hub } else { trees.nodes[parent as usize][0] };
        assert!(parent == ROOT || parent < number);
        assert_eq!(if child % 6 == 1 { hub } else { child - 1 }, above);
        // The fifth particle of a rope has a link outside of the tree.
        assert_eq!(factor, if child % 6 == 5 { LEAF_FACTOR } else { 1 });
    }
}

#[test]
fn soft_links_and_repeated_leaves_make_no_tree() {
    let mut scene = Scene::new();
    let hub = scene.add_particle(Particle::default()).unwrap();
    let leaves: Vec<u32> = (0..12).map(|_| scene.add_particle(Particle::default()).unwrap()).collect();
    for &leaf in &leaves {
        scene.add(Distance { particles: [hub, leaf], rest_length: 1.0 }, Material::compliant(1e-3)).unwrap();
    }
    assert!(trees(&scene).is_empty());
    let hub = knot(&mut scene, 12, 1.0);
    scene.add(Distance { particles: [hub, hub + 1], rest_length: 1.0 }, Material::RIGID).unwrap();
    assert!(trees(&scene).is_empty());
}

#[test]
fn trees_of_one_color_share_no_particle_and_links_are_in_one_tree() {
    let mut scene = Scene::new();
    let hubs: Vec<u32> = (0..6).map(|_| knot(&mut scene, 10, 1.0)).collect();
    // A ring of hubs; each is also a leaf of the previous one.
    for k in 0..hubs.len() {
        let particles = [hubs[k], hubs[(k + 1) % hubs.len()]];
        scene.add(Distance { particles, rest_length: 1.0 }, Material::RIGID).unwrap();
    }
    let trees = trees(&scene);
    assert_eq!(trees.rows.len(), hubs.len());
    assert!(trees.colors.len() > 1);
    let set = &scene.constraints[kind_index(Distance::INFO)];
    let mut in_tree = vec![false; set.len()];
    for (color, records) in trees.colors.iter().zip(&trees.records) {
        let mut named = vec![false; scene.particle_count()];
        let mut next = records.first;
        for &[hub, first, count, _] in &trees.rows[color.range()] {
            assert_eq!(first, next);
            next += count;
            let links = &trees.order[first as usize..next as usize];
            let leaves = links.iter().map(|&link| {
                assert!(!std::mem::replace(&mut in_tree[link as usize], true));
                let ends = set.entities_of(link);
                assert!(ends.contains(&hub));
                if ends[0] == hub { ends[1] } else { ends[0] }
            });
            for particle in leaves.chain([hub]) {
                assert!(!std::mem::replace(&mut named[particle as usize], true));
            }
        }
        assert_eq!(next, records.first + records.count);
    }
    assert!(in_tree.iter().all(|&is_in| is_in));
}
