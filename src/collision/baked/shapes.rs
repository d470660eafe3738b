//! Test meshes with closed-form distances.

use glam::{Vec2, Vec3};

pub(crate) type Mesh = (Vec<[f32; 3]>, Vec<[u32; 3]>);

/// Pseudo-random numbers in 0 to 1 (xorshift), equal in every run.
pub(crate) fn numbers(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// A sphere of radius 1: an octahedron with `n`² triangles per face.
pub(crate) fn sphere(n: u32) -> Mesh {
    let mut index = std::collections::HashMap::new();
    let mut mesh: Mesh = Default::default();
    for octant in 0..8 {
        let sign = [1, 2, 4].map(|bit| if octant & bit == 0 { 1 } else { -1 });
        let mut at = |a: u32, b: u32| {
            let key = [a as i32 * sign[0], b as i32 * sign[1], (n - a - b) as i32 * sign[2]];
            *index.entry(key).or_insert_with(|| {
                mesh.0.push(Vec3::from(key.map(|x| x as f32)).normalize().into());
                mesh.0.len() as u32 - 1
            })
        };
        for a in 0..n {
            for b in 0..n - a {
                let mut add = |[p, q, r]: [u32; 3]| {
                    mesh.1.push(if sign.iter().product::<i32>() > 0 { [p, q, r] } else { [p, r, q] })
                };
                add([at(a, b), at(a + 1, b), at(a, b + 1)]);
                if a + b + 2 <= n {
                    add([at(a + 1, b), at(a + 1, b + 1), at(a, b + 1)]);
                }
            }
        }
    }
    mesh
}

/// A box centred at the origin.
pub(crate) fn cuboid(half: Vec3) -> Mesh {
    let corner = |i: u32| (half * Vec3::from([1, 2, 4].map(|bit| if i & bit == 0 { -1.0 } else { 1.0 }))).into();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    ((0..8).map(corner).collect(), quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

pub(crate) fn cuboid_distance(half: Vec3, p: Vec3) -> f32 {
    let q = p.abs() - half;
    q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
}

/// A torus about the y axis with `n` × `n` quads.
pub(crate) fn torus(large: f32, small: f32, n: u32) -> Mesh {
    let vertex = |i: u32| {
        let [u, v] = [i / n, i % n].map(|i| i as f32 / n as f32 * std::f32::consts::TAU);
        let r = large + small * v.cos();
        [r * u.cos(), small * v.sin(), r * u.sin()]
    };
    let at = |u: u32, v: u32| u % n * n + v % n;
    let quad = |i: u32| {
        let [u, v] = [i / n, i % n];
        let [a, b, c, d] = [at(u, v), at(u, v + 1), at(u + 1, v + 1), at(u + 1, v)];
        [[a, b, c], [a, c, d]]
    };
    ((0..n * n).map(vertex).collect(), (0..n * n).flat_map(quad).collect())
}

pub(crate) fn torus_distance(large: f32, small: f32, p: Vec3) -> f32 {
    Vec2::new(Vec2::new(p.x, p.z).length() - large, p.y).length() - small
}

/// Six long spikes with sharp edges, where the sign of the distance is hard to determine.
pub(crate) fn star() -> Mesh {
    let (mut vertices, triangles) = sphere(2);
    for vertex in &mut vertices {
        let axis = vertex.iter().any(|x| x.abs() > 0.9);
        *vertex = vertex.map(|x| x * if axis { 1.0 } else { 0.05 });
    }
    (vertices, triangles)
}
