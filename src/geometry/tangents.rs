//! Directions of increasing texture coordinates, as sums over the edges of the triangles at each vertex.

use super::grouped;

/// The rows that `shaders/integrate/vertex_tangents.wgsl` reads.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TangentTable {
    /// Per vertex: particle, first corner, end of the corners, handedness (bits).
    pub rows: Vec<[u32; 4]>,
    /// Per corner of a triangle: particles of the next two corners, factors of the edges to them (bits).
    pub corners: Vec<[u32; 4]>,
}

/// A corner of a triangle.
#[derive(Clone, Copy, Default)]
struct Corner {
    others: [u32; 2],
    factors: [f64; 2],
    /// Twice the signed area in texture coordinates.
    area: f64,
}

impl TangentTable {
    /// Builds the table for vertices at given particles. The triangles are indices of `vertices`.
    ///
    /// Within a triangle, ∂x/∂u = (Δv₂ e₁ − Δv₁ e₂)/D, with the edges e from a corner, their differences of texture
    /// coordinates, and D = Δu₁ Δv₂ − Δu₂ Δv₁ (Lengyel 2001). Weighted by |D|, a triangle adds sign(D) (Δv₂ e₁ − Δv₁ e₂).
    pub fn new(vertices: &[u32], triangles: &[[u32; 3]], texture: &[[f32; 2]]) -> Self {
        let particle = |vertex: u32| vertices[vertex as usize];
        let corner = |a: u32, b: u32, c: u32| {
            let [[u, v], [u1, v1], [u2, v2]] = [a, b, c].map(|vertex| texture[vertex as usize].map(f64::from));
            let area = (u1 - u) * (v2 - v) - (u2 - u) * (v1 - v);
            let sign = if area == 0.0 { 0.0 } else { area.signum() };
            let factors = [sign * (v2 - v), -sign * (v1 - v)];
            (a, Corner { others: [particle(b), particle(c)], factors, area })
        };
        let around = triangles.iter().flat_map(|&[a, b, c]| [corner(a, b, c), corner(b, c, a), corner(c, a, b)]);
        let (offsets, corners) = grouped(vertices.len(), around);
        let mut table = Self { rows: Vec::with_capacity(vertices.len()), corners: Vec::with_capacity(corners.len()) };
        for (&particle, ends) in vertices.iter().zip(offsets.windows(2)) {
            let own = &corners[ends[0] as usize..ends[1] as usize];
            // The greatest factor of a vertex is 1, so that small texture coordinates do not underflow.
            let greatest = own.iter().flat_map(|corner| corner.factors).fold(0.0, |most: f64, k| most.max(k.abs()));
            let scale = if greatest > 0.0 { 1.0 / greatest } else { 0.0 };
            let factor = |k: f64| ((k * scale) as f32).to_bits();
            table.corners.extend(own.iter().map(|corner| {
                let ([b, c], [first, second]) = (corner.others, corner.factors);
                [b, c, factor(first), factor(second)]
            }));
            let area: f64 = own.iter().map(|corner| corner.area).sum();
            let handedness = if area < 0.0 { -1f32 } else { 1.0 };
            table.rows.push([particle, ends[0], ends[1], handedness.to_bits()]);
        }
        table
    }

    /// The greatest number of triangles at a vertex.
    pub fn most_corners(&self) -> u32 {
        self.rows.iter().map(|row| row[2] - row[1]).max().unwrap_or(0)
    }
}
