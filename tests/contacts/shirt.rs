//! A shirt on the capsules of a body: no capsule comes through, between the particles either.

use crate::common;
#[path = "../../demos/examples/contacts/shirt_mesh.rs"]
mod pattern;

use glam::{Quat, Vec3};
use pattern::{HALF_WIDTH, body, lift, shirt};
use supple::{ClothMesh, Collider, ContactMaterial, Fabric, Friction, Scene, SelfCollision, Settings, Shape};

const THICKNESS: f32 = 0.005;

/// A mesh whose edges have one triangle, at the openings, or two of opposite directions.
#[test]
fn the_mesh_of_a_shirt_is_a_surface_with_four_openings() {
    for columns in [14, 26] {
        let (positions, triangles) = shirt(2.0 * HALF_WIDTH / columns as f32);
        let mut edges = std::collections::HashMap::new();
        for [a, b, c] in &triangles {
            for edge in [[a, b], [b, c], [c, a]] {
                *edges.entry(edge).or_insert(0) += 1;
            }
        }
        assert!(edges.values().all(|&count| count == 1), "an edge has two triangles of one direction");
        // Each opening is one loop: its edges lead from vertex to vertex.
        let mut next: std::collections::HashMap<u32, u32> =
            edges.keys().filter(|[a, b]| !edges.contains_key(&[*b, *a])).map(|&[&a, &b]| (a, b)).collect();
        let (mut loops, mut longest) = (0, 0);
        while let Some(&start) = next.keys().next() {
            let (mut at, mut length) = (start, 0);
            while let Some(after) = next.remove(&at) {
                (at, length) = (after, length + 1);
            }
            assert_eq!(at, start, "an open border");
            (loops, longest) = (loops + 1, longest.max(length));
        }
        assert_eq!(loops, 4, "neck, hem and two sleeves");
        assert_eq!(longest, 2 * columns, "the hem has the cells of front and back");
        assert!(positions.len() > 300 && triangles.len() > positions.len());
    }
}

/// The distance of a point from a capsule or a sphere, from its surface.
fn distance(collider: &Collider, point: Vec3) -> f32 {
    let local = Quat::from_array(collider.pose.rotation).inverse() * (point - Vec3::from(collider.pose.position));
    match collider.shape {
        Shape::Capsule { radius, half_height } => {
            local.distance(Vec3::Y * local.y.clamp(-half_height, half_height)) - radius
        }
        Shape::Sphere { radius } => local.length() - radius,
        _ => f32::INFINITY,
    }
}

/// The least distance of 28 points of each triangle from the colliders.
fn nearest(scene: &Scene, colliders: &[Collider], positions: &[[f32; 3]]) -> f32 {
    let mut least = f32::INFINITY;
    for triangle in scene.triangles() {
        let [a, b, c] = triangle.map(|i| Vec3::from(positions[i as usize]));
        for (i, j) in (0..=6).flat_map(|i| (0..=6 - i).map(move |j| (i, j))) {
            let point = (i as f32 * a + j as f32 * b + (6 - i - j) as f32 * c) / 6.0;
            least = colliders.iter().map(|collider| distance(collider, point)).fold(least, f32::min);
        }
    }
    least
}

/// A shirt of coarse triangles falls on the shoulders; then the arms swing. 28 points of each triangle stay outside.
#[test]
fn no_capsule_shows_through_a_shirt() {
    let gpu = common::gpu();
    let mut scene = Scene::new();
    let (positions, triangles) = shirt(0.05);
    let fabric = Fabric::COTTON;
    let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
    let cloth = scene.add_cloth_mesh(&mesh).unwrap();
    let friction = Friction::coulomb(0.3);
    let contact = ContactMaterial { thickness: THICKNESS, friction, ..ContactMaterial::default() };
    let contact = scene.add_contact_material(contact).unwrap();
    scene.set_particle_contact(cloth.particles, contact).unwrap();
    let ids = body(0.0).map(|collider| scene.add_collider(Collider { material: contact, ..collider }).unwrap());
    for (self_collision, frames) in [(None, [110, 20]), (Some(SelfCollision::surfaces()), [20, 10])] {
        let settings = Settings { self_collision, damping: 1.0, ..Settings::default() };
        for (mut backend, frames) in common::backends(&gpu, &scene, settings).into_iter().zip(frames) {
            let mut least = f32::INFINITY;
            for frame in 1..=frames {
                let colliders = body(lift((frame + 40) as f32 / 60.0));
                for (&id, collider) in ids.iter().zip(&colliders) {
                    backend.move_collider(id, collider.pose).unwrap();
                }
                backend.step(1);
                if frame % 10 == 0 {
                    least = least.min(nearest(&scene, &colliders, &backend.read_positions().unwrap()));
                }
            }
            let x = backend.read_positions().unwrap();
            let [low, high] = [f32::min, f32::max].map(|most| x.iter().map(|x| x[1]).reduce(most).unwrap());
            println!("{}: {least} m, shirt from {low} m to {high} m", backend.name());
            assert!(least > 0.0, "{}: a capsule comes {} m through", backend.name(), -least);
            assert!(low > 0.6 && high > 1.35, "{}: the shirt is from {low} m to {high} m", backend.name());
        }
    }
}
