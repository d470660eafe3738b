//! Strains that colour the surfaces of a demo.

use super::Demo;
use glam::Vec3;

/// The largest strain at each particle: of the edges of the demo, or of the surface if it consists of followers.
pub fn particle_strains(demo: &Demo, positions: &[[f32; 3]]) -> Vec<f32> {
    let place = |positions: &[[f32; 3]], particle: u32| Vec3::from(positions[particle as usize]);
    let (rest, masses) = (demo.scene.positions(), demo.scene.inverse_masses());
    let edges = demo.scene.distances(demo.edges.clone()).map(|distance| (distance.particles, distance.rest_length));
    let follows = |triangle: &&[u32; 3]| triangle.iter().all(|&particle| masses[particle as usize] == 0.0);
    let sides = demo.scene.triangles().iter().filter(follows).flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let sides = sides.map(|[a, b]| ([a, b], place(rest, a).distance(place(rest, b))));
    let mut strains = vec![0f32; positions.len()];
    for ([a, b], rest_length) in edges.chain(sides) {
        let strain = (place(positions, a).distance(place(positions, b)) / rest_length - 1.0).abs();
        for particle in [a, b] {
            strains[particle as usize] = strains[particle as usize].max(strain);
        }
    }
    strains
}
