//! Welding: merges mesh vertices at equal positions.

use crate::error::{Result, check_finite, check_non_negative};
use crate::geometry::{DistinctPoints, check_exists};

/// A mesh without duplicate vertices, and the map from the original vertices. See [`weld`].
///
/// A renderer that keeps the original vertices, for example for texture seams, uses the map: vertex v of the original
/// is at the particle of vertex `map[v]`. See [`Weld::particles`] and [`crate::Solver::add_vertex_output`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weld {
    /// The remaining vertices \[m\], in the original order.
    pub positions: Vec<[f32; 3]>,
    /// The remaining triangles, as indices of `positions`. Triangles with two welded corners are removed.
    pub triangles: Vec<[u32; 3]>,
    /// The vertex in `positions` of each original vertex.
    pub map: Vec<u32>,
    /// The original index of each remaining triangle.
    pub sources: Vec<u32>,
}

impl Weld {
    /// The particle of each original vertex, if the remaining vertices are the particles from `first` on: the table of
    /// [`crate::gpu::VertexOutput::vertices`].
    pub fn particles(&self, first: u32) -> Vec<u32> {
        self.map.iter().map(|vertex| first + vertex).collect()
    }
}

/// Merges the vertices of a mesh whose distance is at most `tolerance` \[m\]; 0 merges vertices at exactly the same
/// position.
///
/// In index order, each vertex is merged with the nearest remaining vertex within the tolerance, otherwise it remains.
/// So no vertex moves by more than the tolerance, and the remaining vertices are farther apart. The result does not
/// depend on the order of the triangles, and a second weld changes nothing.
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
/// The tolerance is negative or not finite, a position is not finite, or an index is out of range.
pub fn weld(positions: &[[f32; 3]], triangles: &[[u32; 3]], tolerance: f32) -> Result<Weld> {
    check_non_negative("tolerance of a weld", tolerance)?;
    for (vertex, &position) in positions.iter().enumerate() {
        check_finite(|| format!("position of mesh vertex {vertex}"), position)?;
    }
    for (index, triangle) in triangles.iter().enumerate() {
        check_exists(|| format!("mesh triangle {index}"), "vertex", triangle, positions.len())?;
    }
    let mut kept = DistinctPoints::new(tolerance);
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
