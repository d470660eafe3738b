//! Welding: vertices of a mesh that lie at one place become one.

use crate::error::check_exists;
use crate::error::{Result, check_finite, check_non_negative};
use glam::DVec3;
use std::collections::HashMap;

/// A mesh without duplicate vertices, and the map from the vertices of the original. See [`weld`].
///
/// The map is what a renderer needs that keeps the original vertices, for instance for texture seams: vertex v of the original is
/// at the particle of vertex `map[v]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weld {
    /// The vertices that are left, in the order of the original \[m\].
    pub positions: Vec<[f32; 3]>,
    /// The triangles that are left, as indices of `positions`. A triangle of which two corners were welded is dropped.
    pub triangles: Vec<[u32; 3]>,
    /// By vertex of the original, its vertex in `positions`.
    pub map: Vec<u32>,
    /// By triangle that is left, its index in the original.
    pub sources: Vec<u32>,
}

/// Joins the vertices of a mesh that are no farther apart than `tolerance` \[m\]; 0 joins those at exactly one place.
///
/// In the order of their indices, each vertex joins the nearest vertex kept so far if that is within the tolerance, and is kept
/// itself otherwise. So no vertex moves by more than the tolerance, and the vertices that are left are farther apart than it. The
/// result is independent of the order of the triangles, and welding again changes nothing.
///
/// ```
/// // Two triangles that share an edge in space, but not in their indices.
/// let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
/// let weld = supple::scene::weld(&positions, &[[0, 1, 2], [3, 4, 5]], 1e-6)?;
/// assert_eq!(weld.triangles, [[0, 1, 2], [1, 3, 2]]);
/// assert_eq!(weld.map, [0, 1, 2, 1, 3, 2]);
/// # Ok::<(), supple::Error>(())
/// ```
///
/// # Errors
/// The tolerance must be finite and at least 0, positions finite, and indices in range.
pub fn weld(positions: &[[f32; 3]], triangles: &[[u32; 3]], tolerance: f32) -> Result<Weld> {
    check_non_negative("tolerance of a weld", tolerance)?;
    for (vertex, &position) in positions.iter().enumerate() {
        check_finite(|| format!("position of mesh vertex {vertex}"), position)?;
    }
    for (index, triangle) in triangles.iter().enumerate() {
        let what = || format!("mesh triangle {index}");
        triangle.iter().try_for_each(|&vertex| check_exists(&what, vertex, positions.len()))?;
    }
    let mut kept = Kept::new(tolerance);
    let map: Vec<u32> = positions.iter().map(|&position| kept.find_or_add(position)).collect();
    let mut weld = Weld { positions: kept.positions, map, ..Weld::default() };
    for (source, triangle) in (0..).zip(triangles) {
        let [a, b, c] = triangle.map(|vertex| weld.map[vertex as usize]);
        if a != b && b != c && c != a {
            weld.triangles.push([a, b, c]);
            weld.sources.push(source);
        }
    }
    Ok(weld)
}

/// Vertices in a hash grid with cells of the tolerance.
struct Kept {
    tolerance: f64,
    positions: Vec<[f32; 3]>,
    /// The last vertex of each cell, and by vertex the one before in its cell.
    cells: HashMap<[u64; 3], u32>,
    before: Vec<Option<u32>>,
}

impl Kept {
    fn new(tolerance: f32) -> Self {
        Self { tolerance: tolerance.into(), positions: Vec::new(), cells: HashMap::new(), before: Vec::new() }
    }

    fn find_or_add(&mut self, position: [f32; 3]) -> u32 {
        let place = DVec3::from(position.map(f64::from));
        // Cells are numbered in f64: far from the origin, where neighbours have the same number, each position has its own.
        let (cell, reach) = if self.tolerance > 0.0 { ((place / self.tolerance).floor(), 1) } else { (place, 0) };
        let mut nearest: Option<(f64, u32)> = None;
        let around = || (-reach..=reach).map(f64::from);
        let offsets = around().flat_map(|x| around().flat_map(move |y| around().map(move |z| DVec3::new(x, y, z))));
        for offset in offsets {
            let mut next = self.cells.get(&key(cell + offset)).copied();
            while let Some(vertex) = next {
                let distance = place.distance(DVec3::from(self.positions[vertex as usize].map(f64::from)));
                let candidate = (distance, vertex);
                if distance <= self.tolerance && nearest.is_none_or(|nearest| candidate < nearest) {
                    nearest = Some(candidate);
                }
                next = self.before[vertex as usize];
            }
        }
        nearest.map_or_else(|| self.add(position, key(cell)), |(_, vertex)| vertex)
    }

    fn add(&mut self, position: [f32; 3], cell: [u64; 3]) -> u32 {
        let vertex = self.positions.len() as u32;
        self.positions.push(position);
        self.before.push(self.cells.insert(cell, vertex));
        vertex
    }
}

/// −0 and 0 are one cell.
fn key(cell: DVec3) -> [u64; 3] {
    cell.to_array().map(|index| (index + 0.0).to_bits())
}
