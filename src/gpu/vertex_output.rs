//! Vertex outputs: positions, normals, velocities and tangents in the vertex buffers of the host program.

use super::solver::Solver;
use super::vertex_passes::VertexPasses;
use crate::error::{Error, Result};
use crate::geometry::check_exists;
use crate::scene::{BoundMesh, RenderMesh};
use std::ops::Range;

/// A place for one attribute in a vertex buffer of the program, interleaved or not.
#[derive(Debug, Clone, Copy)]
pub struct VertexTarget<'a> {
    /// The vertex buffer, with the usage STORAGE. It may contain other attributes, and other targets.
    pub buffer: &'a wgpu::Buffer,
    /// Offset of the attribute of the first vertex \[bytes\], a multiple of 4.
    pub offset: u64,
    /// Distance from vertex to vertex \[bytes\], a multiple of 4, at least the size of the format.
    pub stride: u64,
    /// [`wgpu::VertexFormat::Float32x3`] or [`wgpu::VertexFormat::Float32x4`].
    pub format: wgpu::VertexFormat,
}

/// Attributes that [`Solver::encode`] writes into vertex buffers of the program, one value per vertex.
///
/// A mesh repeats vertices along the seams of its texture coordinates. `vertices` maps each vertex to its particle, so that
/// all vertices at one point share a particle ([`crate::scene::weld`], [`RenderMesh`]).
#[derive(Debug, Clone, Copy)]
pub struct VertexOutput<'a> {
    /// The particle of each vertex; empty with `bound`.
    pub vertices: &'a [u32],
    /// Vertices bound to triangles of particles, instead of `vertices`: a detailed mesh that follows a coarse cloth. Its
    /// tangents need neither `triangles` nor `texture_coordinates`.
    pub bound: Option<&'a BoundMesh>,
    /// The triangles of the mesh, as indices of `vertices`. Only tangents need them.
    pub triangles: &'a [[u32; 3]],
    /// Texture coordinates (u, v) of each vertex. Only tangents need them.
    pub texture_coordinates: Option<&'a [[f32; 2]]>,
    /// Positions \[m\]; a fourth component is 1. The bits are those of [`Solver::positions`].
    pub positions: Option<VertexTarget<'a>>,
    /// Unit normals; a fourth component is 0. The bits are those of [`Solver::normals`].
    pub normals: Option<VertexTarget<'a>>,
    /// Velocities [m/s]; a fourth component is 0. The bits are those of [`Solver::velocities`]. Not with `bound`.
    pub velocities: Option<VertexTarget<'a>>,
    /// Unit tangents t: the direction of increasing u, orthogonal to the normal n. A fourth component is the handedness h, 1
    /// or −1; v increases along h (n × t).
    ///
    /// ∂x/∂u of the triangles at a vertex is weighted by their area in texture coordinates (Lengyel 2001). Vertices at which
    /// texture coordinates are mirrored must be split. If ∂x/∂u is 0 or parallel to n, t is any unit vector orthogonal to n.
    pub tangents: Option<VertexTarget<'a>>,
}

impl<'a> VertexOutput<'a> {
    /// Vertices, triangles and texture coordinates of a mesh, without targets.
    pub fn of(mesh: &'a RenderMesh) -> Self {
        let RenderMesh { vertices, triangles, texture_coordinates } = mesh;
        Self { vertices, triangles, texture_coordinates: Some(texture_coordinates), ..Self::EMPTY }
    }
}

impl VertexOutput<'_> {
    /// Number of vertices.
    pub(super) fn count(&self) -> usize {
        self.bound.map_or(self.vertices.len(), |mesh| mesh.vertices.len())
    }

    /// No target, triangle and texture coordinate, for functional update.
    pub const EMPTY: Self = Self {
        vertices: &[],
        bound: None,
        triangles: &[],
        texture_coordinates: None,
        positions: None,
        normals: None,
        velocities: None,
        tangents: None,
    };
}

/// Identifies a vertex output of a solver. Ids of different solvers are not told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VertexOutputId(u32);

/// The vertex outputs of a solver.
#[derive(Debug, Default)]
pub(super) struct VertexOutputs {
    all: Vec<(VertexOutputId, VertexPasses)>,
    last: u32,
}

impl VertexOutputs {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// No outputs; ids of outputs that are added later differ from those of these ones.
    pub fn emptied(&self) -> Self {
        Self { all: Vec::new(), last: self.last }
    }

    pub fn iter(&self) -> impl Iterator<Item = &VertexPasses> {
        self.all.iter().map(|(_, passes)| passes)
    }

    /// Size of their buffers, without those of the program \[bytes\].
    pub fn bytes(&self) -> u64 {
        self.iter().map(|passes| passes.bytes).sum()
    }
}

impl Solver {
    /// Writes attributes of the surface into vertex buffers of the program after each [`Solver::encode`], in the same
    /// compute pass. Also `encode(encoder, 0)` writes them if positions have changed since the last call, or an output was
    /// added.
    ///
    /// ```
    /// # use supple::gpu::{VertexOutput, VertexTarget};
    /// # use supple::{Result, Solver, wgpu};
    /// fn draw_from(solver: &mut Solver, buffer: &wgpu::Buffer, particles: &[u32]) -> Result<()> {
    ///     // Position, normal and texture coordinates: 32 bytes per vertex.
    ///     let at = |offset| {
    ///         let format = wgpu::VertexFormat::Float32x3;
    ///         Some(VertexTarget { buffer, offset, stride: 32, format })
    ///     };
    ///     let output = VertexOutput { vertices: particles, positions: at(0), normals: at(12), ..VertexOutput::EMPTY };
    ///     solver.add_vertex_output(&output)?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// The first output compiles one or two pipelines. Remove an output before its buffer is destroyed. An output stays after
    /// [`Solver::reset`], [`Solver::restore`] and all other changes but [`Solver::replace_scene`], which removes all. Outputs with the same target overwrite each other in the order in which
    /// they were added.
    ///
    /// # Errors
    /// Nothing is added on an error.
    /// - [`Error::Empty`]: no vertices, no target, or no triangles for tangents.
    /// - [`Error::LengthMismatch`]: vertices beside bound ones.
    /// - [`Error::IndexOutOfRange`]: a particle or a vertex does not exist.
    /// - [`Error::LengthMismatch`]: texture coordinates and vertices differ in number.
    /// - [`Error::InvalidValue`]: a texture coordinate is not finite; an offset or a stride is not a multiple of 4; a stride
    ///   is smaller than its format; two targets of the output overlap.
    /// - [`Error::NotEnabled`]: tangents without texture coordinates; normals or tangents of a scene without triangles;
    ///   velocities of bound vertices.
    /// - [`Error::VertexFormat`], [`Error::MissingUsage`], [`Error::BufferTooSmall`], [`Error::SolverBuffer`].
    /// - [`Error::LimitExceeded`]: a target or a table exceeds the limits of the device.
    /// - [`Error::TooLarge`]: more than 60 000 triangles at a vertex.
    /// - [`Error::Gpu`]: a buffer belongs to another device, or was destroyed.
    pub fn add_vertex_output(&mut self, output: &VertexOutput<'_>) -> Result<VertexOutputId> {
        self.check_vertex_output(output)?;
        let passes = VertexPasses::new(&self.store, &self.queue, &self.buffers, output)?;
        let outputs = &mut self.vertex_outputs;
        outputs.last = outputs.last.wrapping_add(1);
        let id = VertexOutputId(outputs.last);
        outputs.all.push((id, passes));
        self.derived_is_stale = true;
        Ok(id)
    }

    /// Removes a vertex output. Its buffers keep the last values.
    ///
    /// # Errors
    /// [`Error::NoVertexOutput`].
    pub fn remove_vertex_output(&mut self, id: VertexOutputId) -> Result<()> {
        let outputs = &mut self.vertex_outputs.all;
        let place = outputs.iter().position(|(own, _)| *own == id).ok_or(Error::NoVertexOutput { number: id.0 })?;
        outputs.remove(place);
        Ok(())
    }

    fn check_vertex_output(&self, output: &VertexOutput<'_>) -> Result<()> {
        let count = output.count();
        if count == 0 {
            return Err(Error::Empty { what: "the vertex list of a vertex output" });
        }
        let targets = [
            ("positions", output.positions),
            ("normals", output.normals),
            ("velocities", output.velocities),
            ("tangents", output.tangents),
        ];
        if targets.iter().all(|(_, target)| target.is_none()) {
            return Err(Error::Empty { what: "the list of targets of a vertex output" });
        }
        let particles = self.particle_count() as usize;
        for (vertex, &particle) in output.vertices.iter().enumerate() {
            check_exists(|| format!("vertex {vertex} of a vertex output"), "particle", &[particle], particles)?;
        }
        if let Some(mesh) = output.bound {
            self.check_bound(output, mesh)?;
        }
        for (index, triangle) in output.triangles.iter().enumerate() {
            check_exists(|| format!("triangle {index} of a vertex output"), "vertex", triangle, count)?;
        }
        if output.bound.is_none() {
            check_texture(output)?;
        }
        if (output.normals.is_some() || output.tangents.is_some() || output.bound.is_some()) && self.index_count() == 0
        {
            let what = "a vertex output of normals or tangents";
            return Err(Error::NotEnabled { what, needed: "a scene with triangles" });
        }
        for (name, target) in targets {
            if let Some(target) = target {
                self.check_target(&format!("the target of {name} of a vertex output"), &target, count as u64)?;
            }
        }
        check_apart(&targets, count as u64)
    }

    /// `Ok` if the particles of bound vertices exist, and nothing contradicts them.
    fn check_bound(&self, output: &VertexOutput<'_>, mesh: &BoundMesh) -> Result<()> {
        if !output.vertices.is_empty() {
            let what = "bound vertices and vertices of a vertex output, of which one list must be empty";
            return Err(Error::LengthMismatch { what, left: mesh.vertices.len(), right: output.vertices.len() });
        }
        if output.velocities.is_some() {
            let (what, needed) = ("a vertex output of velocities", "VertexOutput::vertices instead of bound ones");
            return Err(Error::NotEnabled { what, needed });
        }
        let particles = self.particle_count() as usize;
        for (vertex, bound) in mesh.vertices.iter().enumerate() {
            let what = || format!("bound vertex {vertex} of a vertex output");
            check_exists(what, "particle", &bound.particles, particles)?;
        }
        if output.tangents.is_some() && !mesh.has_tangents() {
            let (what, needed) = ("a vertex output of tangents", "DetailMesh::texture_coordinates of the bound mesh");
            return Err(Error::NotEnabled { what, needed });
        }
        Ok(())
    }

    fn check_target(&self, what: &str, target: &VertexTarget<'_>, count: u64) -> Result<()> {
        let VertexTarget { buffer, offset, stride, format } = *target;
        if !matches!(format, wgpu::VertexFormat::Float32x3 | wgpu::VertexFormat::Float32x4) {
            return Err(Error::VertexFormat { what: what.into(), format: format!("{format:?}") });
        }
        let b = &self.buffers;
        let own =
            [&b.positions, &b.velocities, &b.normals, &b.indices, &b.forces, &b.targets, &b.skinned.poses, &b.frames];
        if own.contains(&buffer) {
            return Err(Error::SolverBuffer { what: what.into() });
        }
        if !buffer.usage().contains(wgpu::BufferUsages::STORAGE) {
            return Err(Error::MissingUsage { what: what.into(), usage: "STORAGE" });
        }
        if !offset.is_multiple_of(4) {
            return Err(Error::invalid(format!("offset of {what}"), offset as f64, "a multiple of 4 bytes"));
        }
        if !stride.is_multiple_of(4) {
            return Err(Error::invalid(format!("stride of {what}"), stride as f64, "a multiple of 4 bytes"));
        }
        if stride < format.size() {
            let expected = match format {
                wgpu::VertexFormat::Float32x3 => "at least 12 bytes, the size of Float32x3",
                _ => "at least 16 bytes, the size of Float32x4",
            };
            return Err(Error::invalid(format!("stride of {what}"), stride as f64, expected));
        }
        let needed = target.end(count);
        if needed > buffer.size() {
            return Err(Error::BufferTooSmall { what: what.into(), size: buffer.size(), needed });
        }
        let limits = self.device.limits();
        let (range, available) = (target.range(count, &limits), limits.max_storage_buffer_binding_size);
        let (limit, needed) = ("max_storage_buffer_binding_size", range.end - range.start);
        if needed > available {
            return Err(Error::LimitExceeded { what: what.into(), limit, needed, available });
        }
        Ok(())
    }
}

impl VertexTarget<'_> {
    /// The bytes of the buffer that a pass binds for a number of vertices.
    pub(super) fn range(&self, count: u64, limits: &wgpu::Limits) -> Range<u64> {
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment);
        let start = self.offset / alignment * alignment;
        start..self.end(count)
    }

    /// The end of the bytes that are written for a number of vertices.
    fn end(&self, count: u64) -> u64 {
        (count - 1).saturating_mul(self.stride).saturating_add(self.offset).saturating_add(self.format.size())
    }

    /// True if two targets write the same bytes for a number of vertices. Targets of different strides must lie in different
    /// ranges.
    fn overlaps(&self, other: &Self, count: u64) -> bool {
        let meet = self.offset < other.end(count) && other.offset < self.end(count);
        if self.buffer != other.buffer || !meet || self.stride != other.stride {
            return self.buffer == other.buffer && meet;
        }
        // The distance from the nearest attribute of the other target before this one.
        let behind = (self.offset % self.stride + self.stride - other.offset % self.stride) % self.stride;
        behind < other.format.size() || self.stride - behind < self.format.size()
    }
}

/// `Ok` if no target writes into the attribute of an earlier one.
fn check_apart(targets: &[(&str, Option<VertexTarget<'_>>)], count: u64) -> Result<()> {
    for (index, (name, target)) in targets.iter().enumerate() {
        let Some(target) = target else { continue };
        if targets[..index].iter().filter_map(|(_, other)| other.as_ref()).any(|other| target.overlaps(other, count)) {
            let what = format!("offset of the target of {name} of a vertex output");
            return Err(Error::invalid(what, target.offset as f64, "outside of the other attributes of the vertex"));
        }
    }
    Ok(())
}

/// `Ok` if the texture coordinates are finite and as many as the vertices, and exist if there are tangents.
fn check_texture(output: &VertexOutput<'_>) -> Result<()> {
    if output.tangents.is_some() && output.triangles.is_empty() {
        return Err(Error::Empty { what: "the triangle list of a vertex output with tangents" });
    }
    let Some(texture) = output.texture_coordinates else {
        let (what, needed) = ("a vertex output of tangents", "VertexOutput::texture_coordinates");
        return if output.tangents.is_some() { Err(Error::NotEnabled { what, needed }) } else { Ok(()) };
    };
    if texture.len() != output.vertices.len() {
        let what = "texture coordinates and vertices of a vertex output";
        return Err(Error::LengthMismatch { what, left: texture.len(), right: output.vertices.len() });
    }
    for (vertex, coordinates) in texture.iter().enumerate() {
        if let Some(&value) = coordinates.iter().find(|value| !value.is_finite()) {
            let what = format!("texture coordinate of vertex {vertex} of a vertex output");
            return Err(Error::invalid(what, value, "finite"));
        }
    }
    Ok(())
}
