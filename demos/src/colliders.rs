//! Meshes of collider shapes for drawing, placed at their poses, and their buffers.

use super::Demo;
use super::shapes::Surface;
use glam::{Quat, Vec3};
use supple::wgpu::{self, util::DeviceExt};
use supple::{Collider, Pose, Shape};

/// Half the side of the square that represents a half-space [m].
const PLANE: f32 = 1.5;
/// Segments around the axis of a round shape, and from pole to pole.
const AROUND: u32 = 64;
const ALONG: u32 = 32;

/// Points with normals, and triangles.
#[derive(Debug, Default)]
pub struct ColliderMesh {
    points: Vec<[Vec3; 2]>,
    pub triangles: Vec<[u32; 3]>,
}

impl ColliderMesh {
    /// The mesh in the frame of the collider; empty if the drawn ground represents it.
    pub fn new(collider: &Collider, ground: f32) -> Self {
        let mut mesh = Self::default();
        match collider.shape {
            Shape::HalfSpace => {
                let up = turn(&collider.pose) * Vec3::Y;
                if up.y < 0.9999 || (collider.pose.position[1] - ground).abs() > 0.01 {
                    mesh.face(Vec3::ZERO, Vec3::Y, [Vec3::X, Vec3::NEG_Z].map(|axis| axis * PLANE));
                }
            }
            // A two-sided sphere is drawn as its lower half, so that its inside is visible.
            Shape::Sphere { radius } => mesh.round(radius, 0.0, if collider.two_sided { ALONG / 2 } else { 0 }),
            Shape::Capsule { radius, half_height } => mesh.round(radius, half_height, 0),
            Shape::Box { half_extents } => {
                let extents = Vec3::from(half_extents);
                for normal in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|axis| [axis, -axis]) {
                    let side = if normal.y == 0.0 { Vec3::Y } else { Vec3::X };
                    mesh.face(normal * extents, normal, [side, normal.cross(side)].map(|axis| axis * extents));
                }
            }
            // Other shapes are drawn only if the demo provides a mesh.
            _ => {}
        }
        mesh
    }

    /// The surface of a mesh, in the frame of the collider.
    pub fn of_surface((positions, triangles): &Surface) -> Self {
        let place = |vertex: u32| Vec3::from(positions[vertex as usize]);
        let mut normals = vec![Vec3::ZERO; positions.len()];
        for &[a, b, c] in triangles {
            let normal = (place(b) - place(a)).cross(place(c) - place(a));
            [a, b, c].iter().for_each(|&vertex| normals[vertex as usize] += normal);
        }
        let points = normals.iter().zip(positions).map(|(normal, &point)| [point.into(), normal.normalize_or_zero()]);
        Self { points: points.collect(), triangles: triangles.clone() }
    }

    /// A rectangle with the given center, normal and half axes.
    fn face(&mut self, center: Vec3, normal: Vec3, [u, v]: [Vec3; 2]) {
        let base = self.points.len() as u32;
        for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
            self.points.push([center + u * a + v * b, normal]);
        }
        self.triangles.extend([[base, base + 1, base + 2], [base + 2, base + 1, base + 3]]);
    }

    /// A capsule along y, or a ball; the first rows from the top are omitted.
    fn round(&mut self, radius: f32, half_height: f32, first: u32) {
        let base = self.points.len() as u32;
        // The equator occurs twice, at either end of the segment.
        let rows: Vec<(u32, f32)> = (first..=ALONG)
            .flat_map(|row| match row.cmp(&(ALONG / 2)) {
                std::cmp::Ordering::Less => vec![(row, half_height)],
                std::cmp::Ordering::Equal => vec![(row, half_height), (row, -half_height)],
                std::cmp::Ordering::Greater => vec![(row, -half_height)],
            })
            .collect();
        for &(row, shift) in &rows {
            let (sin, cos) = (row as f32 / ALONG as f32 * std::f32::consts::PI).sin_cos();
            for column in 0..AROUND {
                let (z, x) = (column as f32 / AROUND as f32 * std::f32::consts::TAU).sin_cos();
                let normal = Vec3::new(x * sin, cos, z * sin);
                self.points.push([normal * radius + Vec3::Y * shift, normal]);
            }
        }
        for row in 0..rows.len() as u32 - 1 {
            for column in 0..AROUND {
                let [a, b] = [column, (column + 1) % AROUND].map(|column| base + row * AROUND + column);
                self.triangles.extend([[a, b, a + AROUND], [b, b + AROUND, a + AROUND]]);
            }
        }
    }

    /// Points and normals at a pose.
    pub fn placed(&self, pose: &Pose) -> impl Iterator<Item = [[f32; 4]; 2]> {
        let (turn, position) = (turn(pose), Vec3::from(pose.position));
        self.points.iter().map(move |&[point, normal]| {
            [(turn * point + position).extend(1.0).into(), (turn * normal).extend(0.0).into()]
        })
    }

    pub fn point_count(&self) -> usize {
        self.points.len()
    }
}

/// The signed distance of a point from the surface of a collider [m]; `None` for unknown shapes.
pub fn signed_distance(collider: &Collider, pose: &Pose, point: [f32; 3]) -> Option<f64> {
    let p = (turn(pose).inverse() * (Vec3::from(point) - Vec3::from(pose.position))).as_dvec3();
    Some(match collider.shape {
        Shape::HalfSpace => p.y,
        Shape::Sphere { radius } => p.length() - f64::from(radius),
        Shape::Capsule { radius, half_height } => {
            let half_height = f64::from(half_height);
            (p - p.y.clamp(-half_height, half_height) * glam::DVec3::Y).length() - f64::from(radius)
        }
        Shape::Box { half_extents } => {
            let beyond = p.abs() - Vec3::from(half_extents).as_dvec3();
            beyond.max(glam::DVec3::ZERO).length() + beyond.max_element().min(0.0)
        }
        _ => return None,
    })
}

fn turn(pose: &Pose) -> Quat {
    Quat::from_array(pose.rotation).normalize()
}

/// The colliders of a scene, transformed on the host when one moves.
pub struct DrawnColliders {
    meshes: Vec<ColliderMesh>,
    poses: Vec<Pose>,
    points: wgpu::Buffer,
    normals: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
}

impl DrawnColliders {
    pub fn new(device: &wgpu::Device, demo: &Demo) -> Self {
        let look = |(index, collider)| match demo.meshes.iter().find(|mesh| mesh.0 == index) {
            Some((_, surface)) => ColliderMesh::of_surface(surface),
            None => ColliderMesh::new(collider, demo.ground),
        };
        let meshes: Vec<_> = demo.scene.colliders().iter().enumerate().map(look).collect();
        let mut triangles = Vec::new();
        let mut base = 0;
        for mesh in &meshes {
            triangles.extend(mesh.triangles.iter().map(|triangle| triangle.map(|point| base + point)));
            base += mesh.point_count() as u32;
        }
        let index_count = triangles.len() as u32 * 3;
        triangles.push([0; 3]);
        let usage = wgpu::BufferUsages::INDEX;
        let contents = bytemuck::cast_slice(&triangles);
        let indices =
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some("colliders"), contents, usage });
        let room = || {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("colliders"),
                size: u64::from(base.max(1)) * 16,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Self { meshes, poses: Vec::new(), points: room(), normals: room(), indices, index_count }
    }

    pub fn place(&mut self, queue: &wgpu::Queue, poses: Vec<Pose>) {
        if self.poses == poses {
            return;
        }
        let placed = self.meshes.iter().zip(&poses).flat_map(|(mesh, pose)| mesh.placed(pose));
        let (points, normals): (Vec<_>, Vec<_>) = placed.map(|[point, normal]| (point, normal)).unzip();
        queue.write_buffer(&self.points, 0, bytemuck::cast_slice(&points));
        queue.write_buffer(&self.normals, 0, bytemuck::cast_slice(&normals));
        self.poses = poses;
    }

    pub fn draw(&self, pass: &mut wgpu::RenderPass) {
        // Browsers warn about draws of zero instances.
        if self.index_count == 0 {
            return;
        }
        pass.set_vertex_buffer(0, self.points.slice(..));
        pass.set_vertex_buffer(1, self.normals.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..self.index_count, 0, 0..1);
    }
}
