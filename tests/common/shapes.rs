//! Closed surfaces.

use glam::Vec3;
use std::collections::HashMap;

/// Vertices and triangles, counterclockwise seen from outside.
pub type Surface = (Vec<[f32; 3]>, Vec<[u32; 3]>);

/// An icosahedron whose triangles are subdivided `cuts` times, with vertices on a sphere around the origin.
pub fn icosphere(cuts: u32, radius: f32) -> Surface {
    let g = 0.5 * (1.0 + 5f32.sqrt());
    let mut vertices: Vec<Vec3> = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        vertices.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    // A face is a triple of vertices at distance 2 from each other.
    let near = |a: usize, b: usize| (vertices[a].distance(vertices[b]) - 2.0).abs() < 1e-3;
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let outward = (vertices[b] - vertices[a]).cross(vertices[c] - vertices[a]).dot(vertices[a]) > 0.0;
                    triangles.push(if outward { [a, b, c] } else { [a, c, b] }.map(|vertex| vertex as u32));
                }
            }
        }
    }
    for _ in 0..cuts {
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let mut middle = |a: u32, b: u32, vertices: &mut Vec<Vec3>| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                vertices.push((vertices[a as usize].normalize() + vertices[b as usize].normalize()).normalize());
                vertices.len() as u32 - 1
            })
        };
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[from, to]| middle(from, to, &mut vertices));
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    (vertices.into_iter().map(|vertex| (vertex.normalize() * radius).into()).collect(), triangles)
}

/// The triangles of a cube whose corner k has the coordinates of bits 0, 1 and 2 of k along x, y and z.
pub const CUBE: [[u32; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
];

/// The corners of a cube with the triangles of [`CUBE`].
pub fn cube_corners(center: [f64; 3], half: f64) -> Vec<[f32; 3]> {
    let corner = |k: usize, axis: usize| center[axis] + half * if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
    (0..8).map(|k| [0, 1, 2].map(|axis| corner(k, axis) as f32)).collect()
}
