//! Detailed meshes that follow the surface of simulated cloth.

use crate::error::{Error, Result, check_finite};
use crate::geometry::{NearestTriangles, TangentTable, check_exists};
use crate::scene::{Scene, SkinnedPose};
use glam::Vec3;

/// A detailed mesh at rest, to be bound to a cloth.
#[derive(Debug, Clone, Copy)]
pub struct DetailMesh<'a> {
    /// Positions \[m\], beside the cloth at its initial positions.
    pub positions: &'a [[f32; 3]],
    /// Normals, one for each position.
    pub normals: &'a [[f32; 3]],
    /// The triangles. Only tangents need them.
    pub triangles: &'a [[u32; 3]],
    /// Texture coordinates, one for each position. Only tangents need them.
    pub texture_coordinates: Option<&'a [[f32; 2]]>,
}

/// A vertex bound to a triangle of particles.
///
/// The frame at the vertex is t, b, n. Vector n is the normal of the surface, interpolated between the three particles. Vector t is the
/// direction of the edge from the first to the second particle, orthogonal to n; b = n × t.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BoundVertex {
    /// The particles of the triangle.
    pub particles: [u32; 3],
    /// The barycentric coordinates of the second and of the third particle.
    pub weights: [f32; 2],
    /// The offset from the point of the triangle, in the frame \[m\].
    pub offset: [f32; 3],
    /// The unit normal in the frame.
    pub normal: [f32; 3],
    /// The unit tangent in the frame and its handedness, 1 or −1; 0 without texture coordinates.
    pub tangent: [f32; 4],
}

/// A detailed mesh that moves with a coarse cloth, for [`crate::gpu::VertexOutput`].
///
/// Each vertex is bound to the nearest point of the cloth at rest. It keeps its offset in the frame of that point
/// ([`BoundVertex`]), so a rigid motion of the cloth moves the mesh rigidly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundMesh {
    /// The vertices.
    pub vertices: Vec<BoundVertex>,
}

/// Position, normal and tangent of a bound vertex.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlacedVertex {
    /// Position \[m\].
    pub position: [f32; 3],
    /// Unit normal.
    pub normal: [f32; 3],
    /// Unit tangent, and its handedness.
    pub tangent: [f32; 4],
}

impl BoundMesh {
    /// Binds a mesh to triangles of particles, such as a range of [`Scene::triangles`], at the initial positions of the scene.
    ///
    /// ```
    /// # use supple::scene::{BoundMesh, DetailMesh};
    /// # use supple::{ClothGrid, Scene};
    /// let mut scene = Scene::new();
    /// scene.add_cloth_grid(&ClothGrid { columns: 3, rows: 3, ..ClothGrid::default() })?;
    /// let (positions, normals) = ([[0.3, 0.01, 0.3]], [[0.0, 1.0, 0.0]]);
    /// let mesh = DetailMesh { positions: &positions, normals: &normals, triangles: &[], texture_coordinates: None };
    /// let bound = BoundMesh::new(&scene, scene.triangles(), &mesh)?;
    /// assert!((bound.vertices[0].offset[2].abs() - 0.01).abs() < 1e-6);
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are no triangles, or one names a particle or a vertex that does not exist; lists differ in length; a value is not
    /// finite.
    pub fn new(scene: &Scene, triangles: &[[u32; 3]], mesh: &DetailMesh<'_>) -> Result<Self> {
        for (index, corners) in triangles.iter().enumerate() {
            let what = || format!("triangle {index} of the cloth of a bound mesh");
            check_exists(what, "particle", corners, scene.particle_count())?;
        }
        mesh.check()?;
        let tree = NearestTriangles::new(scene.positions(), triangles);
        let rest = scene.rest_poses();
        let tangents = mesh.tangents();
        let vertices = mesh.positions.iter().zip(mesh.normals).zip(tangents).map(|((&position, &normal), tangent)| {
            let found = tree.nearest(position).ok_or(Error::Empty { what: "the list of triangles of a bound mesh" })?;
            let [_, v, w] = found.weights.map(|weight| weight as f32);
            let bare = BoundVertex { particles: triangles[found.triangle], weights: [v, w], ..BoundVertex::default() };
            let corners = bare.particles.map(|particle| rest[particle as usize]);
            let (base, frame) = bare.frame(corners);
            let local = |v: Vec3| frame.map(|axis| axis.dot(v));
            let [x, y, z] = local(tangent.truncate());
            Ok(BoundVertex {
                offset: local(Vec3::from(position) - base),
                normal: local(Vec3::from(normal).normalize_or_zero()),
                tangent: [x, y, z, tangent.w],
                ..bare
            })
        });
        Ok(Self { vertices: vertices.collect::<Result<_>>()? })
    }

    /// The vertices for given positions \[m\] and unit normals of all particles, as the GPU computes them.
    ///
    /// # Errors
    /// There are fewer positions or normals than the vertices name.
    pub fn placed(&self, positions: &[[f32; 3]], normals: &[[f32; 3]]) -> Result<Vec<PlacedVertex>> {
        let count = positions.len().min(normals.len());
        let place = |(index, vertex): (usize, &BoundVertex)| {
            check_exists(|| format!("vertex {index} of a bound mesh"), "particle", &vertex.particles, count)?;
            let corners = vertex.particles.map(|particle| SkinnedPose {
                position: positions[particle as usize],
                normal: normals[particle as usize],
            });
            let (base, [t, b, n]) = vertex.frame(corners);
            let world = |[x, y, z]: [f32; 3]| (t * x + b * y) + n * z;
            let [x, y, z, handedness] = vertex.tangent;
            Ok(PlacedVertex {
                position: (base + world(vertex.offset)).into(),
                normal: world(vertex.normal).into(),
                tangent: world([x, y, z]).extend(handedness).into(),
            })
        };
        self.vertices.iter().enumerate().map(place).collect()
    }

    /// True if the vertices have tangents.
    pub(crate) fn has_tangents(&self) -> bool {
        self.vertices.iter().all(|vertex| vertex.tangent[3] != 0.0)
    }
}

impl BoundVertex {
    /// The point of the triangle, and the frame t, b, n. Counterpart: `shaders/integrate/vertex_bound.wgsl`.
    fn frame(&self, corners: [SkinnedPose; 3]) -> (Vec3, [Vec3; 3]) {
        let [v, w] = self.weights;
        let [x0, x1, x2] = corners.map(|corner| Vec3::from(corner.position));
        let [n0, n1, n2] = corners.map(|corner| Vec3::from(corner.normal));
        let (edge, other) = (x1 - x0, x2 - x0);
        let base = (x0 + edge * v) + other * w;
        let sum = (n0 * (1.0 - v - w) + n1 * v) + n2 * w;
        let n = unit(sum, unit(edge.cross(other), Vec3::Y));
        let t = unit(edge - n * n.dot(edge), perpendicular(n));
        (base, [t, n.cross(t), n])
    }
}

/// v/|v|, or `other` if |v| is 0.
fn unit(v: Vec3, other: Vec3) -> Vec3 {
    let l = v.length();
    if l > 0.0 { v / l } else { other }
}

/// A unit vector orthogonal to n.
fn perpendicular(n: Vec3) -> Vec3 {
    let size = n.abs();
    let axis = if size.x <= size.y && size.x <= size.z {
        Vec3::X
    } else if size.y <= size.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    (axis - n * n.dot(axis)).normalize()
}

impl DetailMesh<'_> {
    fn check(&self) -> Result<()> {
        let count = self.positions.len();
        if count == 0 {
            return Err(Error::Empty { what: "the vertex list of a bound mesh" });
        }
        let texture = self.texture_coordinates.map_or(count, <[_]>::len);
        for (what, right) in [
            ("positions and normals of a bound mesh", self.normals.len()),
            ("positions and texture coordinates of a bound mesh", texture),
        ] {
            if count != right {
                return Err(Error::LengthMismatch { what, left: count, right });
            }
        }
        for (vertex, (&position, &normal)) in self.positions.iter().zip(self.normals).enumerate() {
            check_finite(|| format!("position of vertex {vertex} of a bound mesh"), position)?;
            check_finite(|| format!("normal of vertex {vertex} of a bound mesh"), normal)?;
        }
        for (vertex, &[u, v]) in self.texture_coordinates.iter().copied().flatten().enumerate() {
            check_finite(|| format!("texture coordinate of vertex {vertex} of a bound mesh"), [u, v, 0.0])?;
        }
        for (index, corners) in self.triangles.iter().enumerate() {
            check_exists(|| format!("triangle {index} of a bound mesh"), "vertex", corners, count)?;
        }
        Ok(())
    }

    /// The tangent of each vertex and its handedness, as [`crate::gpu::VertexOutput::tangents`]; 0 without texture coordinates.
    fn tangents(&self) -> Vec<glam::Vec4> {
        let Some(texture) = self.texture_coordinates else { return vec![glam::Vec4::ZERO; self.positions.len()] };
        let vertices: Vec<u32> = (0..self.positions.len() as u32).collect();
        let table = TangentTable::new(&vertices, self.triangles, texture);
        let at = |vertex: u32| Vec3::from(self.positions[vertex as usize]);
        let tangent = |(&[vertex, first, end, handedness], &normal): (&[u32; 4], &[f32; 3])| {
            let n = Vec3::from(normal).normalize_or(Vec3::Y);
            let corners = &table.corners[first as usize..end as usize];
            let edge = |to: u32, factor: u32| (at(to) - at(vertex)) * f32::from_bits(factor);
            let sum = corners.iter().fold(Vec3::ZERO, |sum, &[a, b, p, q]| sum + (edge(a, p) + edge(b, q)));
            let across = sum - n * n.dot(sum);
            let t = if across.length() > 1e-6 * sum.length() { across.normalize() } else { perpendicular(n) };
            t.extend(f32::from_bits(handedness))
        };
        table.rows.iter().zip(self.normals).map(tangent).collect()
    }
}
