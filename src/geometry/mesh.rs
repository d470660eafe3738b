//! Topology of a triangle mesh: edges, pairs of triangles that share an edge, areas, and defects.

use super::{Distinct, DistinctPoints};
use crate::error::{Error, Result, check_finite};
use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// The edges of a triangle mesh and their adjacency.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    /// Every edge once, lower index first, in order of first use by a triangle.
    pub edges: Vec<[u32; 2]>,
    /// The two vertices opposite a shared edge: one pair for every two consecutive triangles of an edge.
    pub opposites: Vec<[u32; 2]>,
    /// The same pairs with their edge: \[edge vertex 0, edge vertex 1, opposite in the first triangle, opposite in the
    /// second\]. The first triangle runs from edge vertex 0 to edge vertex 1.
    pub hinges: Vec<[u32; 4]>,
    /// Defects of the mesh.
    pub report: MeshReport,
}

/// Defects of a mesh. A mesh with defects can still be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeshReport {
    /// Edges of exactly one triangle.
    pub boundary_edges: u32,
    /// Edges of more than two triangles; each further triangle is paired with the previous one.
    pub non_manifold_edges: u32,
    /// Edges that two triangles traverse in the same direction, so that their normals are opposed.
    pub inconsistent_edges: u32,
    /// Vertices of no triangle. They fall freely, with the mean mass of the other vertices.
    pub isolated_vertices: u32,
    /// Boundary vertices within a thousandth of the mean length of boundary edges of another boundary vertex with a lower
    /// index. They are the two sides of an open seam, as exporters write them along texture seams. [`crate::scene::weld`]
    /// joins them.
    pub coincident_vertices: u32,
}

impl MeshReport {
    /// Returns true if the mesh has no non-manifold edges, inconsistent edges, isolated vertices or open seams.
    /// Boundary edges are allowed; see [`MeshReport::is_closed`].
    pub fn is_clean(&self) -> bool {
        *self == Self { boundary_edges: self.boundary_edges, ..Self::default() }
    }

    /// Logs a warning if the mesh has open seams.
    pub(crate) fn warn_of_seams(&self) {
        let seams = self.coincident_vertices;
        if seams > 0 {
            log::warn!(
                "the cloth mesh has open seams: {seams} boundary vertices lie within a thousandth of an edge of another one and \
                 will part from it; supple::scene::weld joins them"
            );
        }
    }

    /// Returns true if every edge has two triangles that traverse it in opposite directions.
    pub fn is_closed(&self) -> bool {
        self.boundary_edges == 0 && self.non_manifold_edges == 0 && self.inconsistent_edges == 0
    }
}

impl Topology {
    /// Builds the topology of a mesh.
    ///
    /// # Errors
    /// - The mesh has no vertices or no triangles.
    /// - A position is not finite, an index is out of range, or a triangle repeats an index.
    /// - The area of a triangle is at most 1e-12 of its longest edge squared.
    pub fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<Self> {
        check_mesh(positions, triangles)?;
        let mut topology = Self::default();
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b, c], [b, c, a], [c, a, b]]);
        let Distinct { values, places } =
            Distinct::new(positions.len(), sides.clone().map(|[from, to, _]| (from.min(to), from.max(to))));
        // Indexed by the edges in ascending order.
        let mut uses = vec![EdgeUse::default(); values.len()];
        topology.edges.reserve_exact(values.len());
        let mut used = vec![false; positions.len()];
        for ([from, to, opposite], place) in sides.zip(places) {
            used[from as usize] = true;
            let edge = [from.min(to), from.max(to)];
            let ascending = from < to;
            let entry = &mut uses[place as usize];
            if entry.count == 0 {
                topology.edges.push(edge);
            } else {
                if entry.opposite != opposite {
                    let [low, high] = edge;
                    let ends = if entry.ascending { [low, high] } else { [high, low] };
                    topology.opposites.push([entry.opposite, opposite]);
                    topology.hinges.push([ends[0], ends[1], entry.opposite, opposite]);
                }
                topology.report.inconsistent_edges += u32::from(entry.ascending == ascending);
            }
            *entry = EdgeUse { count: entry.count + 1, ascending, opposite };
        }
        let counted = || uses.iter().map(|entry| entry.count).zip(&values);
        let boundary: Vec<(u32, u32)> = counted().filter(|(count, _)| *count == 1).map(|(_, &edge)| edge).collect();
        topology.report.boundary_edges = boundary.len() as u32;
        topology.report.non_manifold_edges = counted().filter(|(count, _)| *count > 2).count() as u32;
        topology.report.coincident_vertices = coincident(positions, &boundary);
        topology.report.isolated_vertices = used.iter().filter(|used| !**used).count() as u32;
        Ok(topology)
    }
}

/// Counts the boundary vertices that lie near an earlier one. See [`MeshReport::coincident_vertices`].
fn coincident(positions: &[[f32; 3]], boundary: &[(u32, u32)]) -> u32 {
    let place = |vertex: u32| DVec3::from(positions[vertex as usize].map(f64::from));
    let length: f64 = boundary.iter().map(|&(a, b)| place(a).distance(place(b))).sum();
    let mut points = DistinctPoints::new((1e-3 * length / boundary.len().max(1) as f64) as f32);
    let mut vertices: Vec<u32> = boundary.iter().flat_map(|&(a, b)| [a, b]).collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices.iter().for_each(|&vertex| _ = points.find_or_add(positions[vertex as usize]));
    (vertices.len() - points.positions.len()) as u32
}

/// The number of uses of an edge, and the direction and opposite vertex of the last one.
#[derive(Clone, Copy, Default)]
struct EdgeUse {
    count: u32,
    ascending: bool,
    opposite: u32,
}

/// Returns `Ok` if every edge has exactly one triangle in each direction.
pub(crate) fn check_closed(triangles: &[[u32; 3]]) -> Result<()> {
    let mut order = Vec::with_capacity(triangles.len() * 3 / 2);
    // Number of traversals of each edge in ascending and descending direction.
    let mut uses: HashMap<[u32; 2], [u32; 2]> = HashMap::with_capacity(triangles.len() * 3 / 2);
    for &[a, b, c] in triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let edge = [from.min(to), from.max(to)];
            uses.entry(edge).or_insert_with(|| {
                order.push(edge);
                [0; 2]
            })[usize::from(from > to)] += 1;
        }
    }
    let [mut boundary_edges, mut non_manifold_edges, mut inconsistent_edges] = [0; 3];
    for &[up, down] in uses.values().filter(|&&uses| uses != [1, 1]) {
        match up + down {
            1 => boundary_edges += 1,
            2 => inconsistent_edges += 1,
            _ => non_manifold_edges += 1,
        }
    }
    match order.into_iter().find(|edge| uses.get(edge) != Some(&[1, 1])) {
        None => Ok(()),
        Some(vertices) => Err(Error::OpenSurface { boundary_edges, non_manifold_edges, inconsistent_edges, vertices }),
    }
}

/// Returns true if a triangle has an area of at most 1e-12 of its longest edge squared, or of NaN.
pub(crate) fn is_degenerate(corners: [[f32; 3]; 3]) -> bool {
    let [a, b, c] = corners.map(Vec3::from);
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    let area = 0.5 * (b - a).cross(c - a).length();
    // An overflow of the squares counts as degenerate.
    !(area.is_finite() && area > 1e-12 * longest)
}

/// The area of a triangle \[m²\].
pub(super) fn area(positions: &[[f32; 3]], triangle: [u32; 3]) -> f32 {
    let [a, b, c] = triangle.map(|vertex| Vec3::from(positions[vertex as usize]));
    0.5 * (b - a).cross(c - a).length()
}

/// A third of the area of every triangle \[m²\], summed at its vertices.
pub(crate) fn vertex_areas(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<f32> {
    let mut areas = vec![0.0f64; positions.len()];
    for &triangle in triangles {
        let share = f64::from(area(positions, triangle)) / 3.0;
        for vertex in triangle {
            areas[vertex as usize] += share;
        }
    }
    areas.into_iter().map(|area| area as f32).collect()
}

fn check_mesh(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<()> {
    for (what, empty) in
        [("vertex list of a cloth mesh", positions.is_empty()), ("triangle list of a cloth mesh", triangles.is_empty())]
    {
        if empty {
            return Err(Error::Empty { what });
        }
    }
    for (vertex, &position) in positions.iter().enumerate() {
        check_finite(|| format!("position of mesh vertex {vertex}"), position)?;
    }
    let mut degenerate: Option<(u32, f32)> = None;
    let mut degenerate_count = 0;
    for (index, &triangle) in triangles.iter().enumerate() {
        crate::geometry::check_indices(|| format!("mesh triangle {index}"), "vertex", &triangle, positions.len())?;
        if is_degenerate(triangle.map(|vertex| positions[vertex as usize])) {
            let area = area(positions, triangle);
            degenerate.get_or_insert((index as u32, area));
            degenerate_count += 1;
        }
    }
    match degenerate {
        None => Ok(()),
        Some((triangle, area)) => Err(Error::DegenerateTriangle {
            triangle,
            particles: triangles[triangle as usize],
            area,
            count: degenerate_count,
        }),
    }
}
