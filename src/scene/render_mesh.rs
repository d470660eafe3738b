//! Meshes for drawing: vertices split along the seams of texture coordinates, and meshes bound to coarser ones.

mod bound;

pub use bound::{BoundMesh, BoundVertex, DetailMesh, PlacedVertex};

use crate::error::{Error, Result};
use std::collections::HashMap;

/// A mesh with one vertex per particle and texture coordinates, for [`crate::gpu::VertexOutput`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RenderMesh {
    /// The particle of each vertex.
    pub vertices: Vec<u32>,
    /// The triangles, as indices of `vertices`: the index buffer.
    pub triangles: Vec<[u32; 3]>,
    /// The texture coordinates (u, v) of each vertex.
    pub texture_coordinates: Vec<[f32; 2]>,
}

impl RenderMesh {
    /// Splits the corners of triangles of particles by their texture coordinates, given for each corner. Vertices are in the
    /// order of their first use.
    ///
    /// ```
    /// // Two triangles with a seam along the edge between the particles 1 and 2.
    /// let texture = [[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [1.0, 1.0], [0.0, 1.0]]];
    /// let mesh = supple::scene::RenderMesh::new(&[[0, 1, 2], [1, 3, 2]], &texture)?;
    /// assert_eq!(mesh.vertices, [0, 1, 2, 1, 3]);
    /// assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 2]]);
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// The lists differ in length, or a texture coordinate is not finite.
    pub fn new(triangles: &[[u32; 3]], texture: &[[[f32; 2]; 3]]) -> Result<Self> {
        if triangles.len() != texture.len() {
            let what = "triangles and texture coordinates of a render mesh";
            return Err(Error::LengthMismatch { what, left: triangles.len(), right: texture.len() });
        }
        let (mut mesh, mut known) = (Self::default(), HashMap::new());
        for (index, (particles, corners)) in triangles.iter().zip(texture).enumerate() {
            if let Some(&value) = corners.iter().flatten().find(|value| !value.is_finite()) {
                return Err(Error::invalid(format!("texture coordinate of triangle {index}"), value, "finite"));
            }
            let mut vertex = |k: usize| {
                let (particle, coordinates) = (particles[k], corners[k]);
                // Adding 0 turns −0 into 0.
                let key = (particle, coordinates.map(|value| (value + 0.0).to_bits()));
                *known.entry(key).or_insert_with(|| {
                    mesh.vertices.push(particle);
                    mesh.texture_coordinates.push(coordinates);
                    mesh.vertices.len() as u32 - 1
                })
            };
            let split = [vertex(0), vertex(1), vertex(2)];
            mesh.triangles.push(split);
        }
        Ok(mesh)
    }
}
