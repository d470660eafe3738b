//! Meshes that joints move: poses on the host, weights for clothes, and capsules that enclose limbs.

use crate::collision::{Collider, Pose, Shape};
use crate::error::{Error, Result, check_finite};
use crate::geometry::{NearestTriangles, check_exists};
use crate::scene::{JointWeights, MAX_JOINTS, SkinnedPose};
use glam::{Mat3, Mat4, Quat, Vec3};
use std::collections::BTreeMap;

/// A triangle mesh in its bind pose, with joint weights by vertex: the body of a character.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SkinnedMesh {
    /// Positions \[m\].
    pub positions: Vec<[f32; 3]>,
    /// Normals, one for each position.
    pub normals: Vec<[f32; 3]>,
    /// The triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Joints and weights, one for each position.
    pub weights: Vec<JointWeights>,
}

/// A capsule that moves with a joint: the collider of a limb.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointCapsule {
    /// The joint.
    pub joint: u32,
    /// The ends of the segment in the bind pose \[m\].
    pub ends: [[f32; 3]; 2],
    /// Radius \[m\].
    pub radius: f32,
}

impl JointCapsule {
    /// The collider in the bind pose, with default values: [`Shape::Capsule`] at [`JointCapsule::pose`]. A sphere is a capsule of the
    /// least length.
    pub fn collider(&self) -> Collider {
        let [a, b] = self.ends.map(Vec3::from);
        let shape = Shape::Capsule { radius: self.radius, half_height: (0.5 * a.distance(b)).max(1e-6) };
        Collider { shape, pose: self.pose(&Mat4::IDENTITY.to_cols_array_2d()), ..Collider::default() }
    }

    /// The pose of the collider, for [`crate::Solver::move_collider`], by the matrix of the joint
    /// ([`crate::Solver::set_joints`]). A scale has no effect on the radius.
    pub fn pose(&self, joint: &[[f32; 4]; 4]) -> Pose {
        let [a, b] = self.ends.map(Vec3::from);
        let joint = Mat4::from_cols_array_2d(joint);
        let along = (b - a).try_normalize().unwrap_or(Vec3::Y);
        let (_, turn, _) = joint.to_scale_rotation_translation();
        let rotation = (turn * Quat::from_rotation_arc(Vec3::Y, along)).normalize();
        Pose { position: joint.transform_point3(0.5 * (a + b)).into(), rotation: rotation.into() }
    }
}

impl SkinnedMesh {
    /// Checks the lists, the indices and the weights, and normalises the weights.
    ///
    /// # Errors
    /// The lists differ in length. A position or a normal is not finite. A vertex or a joint does not exist. A weight is not
    /// finite or negative, or all weights of a vertex are 0.
    pub fn checked(mut self, joint_count: u32) -> Result<Self> {
        let (what, count) = ("positions and normals of a skinned mesh", self.positions.len());
        for (what, right) in
            [(what, self.normals.len()), ("positions and weights of a skinned mesh", self.weights.len())]
        {
            if count != right {
                return Err(Error::LengthMismatch { what, left: count, right });
            }
        }
        if joint_count > MAX_JOINTS {
            let (what, limit) = ("joints of a skinned mesh", MAX_JOINTS.into());
            return Err(Error::TooLarge { what, count: joint_count.into(), limit });
        }
        for (vertex, (&position, &normal)) in self.positions.iter().zip(&self.normals).enumerate() {
            check_finite(|| format!("position of vertex {vertex}"), position)?;
            check_finite(|| format!("normal of vertex {vertex}"), normal)?;
        }
        for (index, corners) in self.triangles.iter().enumerate() {
            check_exists(|| format!("triangle {index} of a skinned mesh"), "vertex", corners, count)?;
        }
        for (vertex, own) in self.weights.iter_mut().enumerate() {
            let what = || format!("weights of vertex {vertex}");
            *own = own.normalised(what)?;
            let used = own.joints.iter().zip(own.weights).filter(|(_, weight)| *weight > 0.0);
            if let Some((&joint, _)) = used.clone().find(|(joint, _)| **joint >= joint_count) {
                let count = joint_count.into();
                return Err(Error::IndexOutOfRange { what: what(), target: "joint", index: joint.into(), count });
            }
        }
        Ok(self)
    }

    /// The poses of all vertices by linear blend skinning on the host, as [`crate::Solver::set_joints`] has it; normals are not
    /// normalised.
    ///
    /// # Errors
    /// A vertex names a joint without a matrix.
    pub fn posed(&self, joints: &[[[f32; 4]; 4]]) -> Result<Vec<SkinnedPose>> {
        let pose = |(vertex, own): (usize, &JointWeights)| {
            let mut blend = Mat4::ZERO;
            for (&joint, weight) in own.joints.iter().zip(own.weights) {
                let Some(matrix) = joints.get(joint as usize) else {
                    let (what, count) = (format!("weights of vertex {vertex}"), joints.len() as u64);
                    return Err(Error::IndexOutOfRange { what, target: "joint", index: joint.into(), count });
                };
                blend += Mat4::from_cols_array_2d(matrix) * weight;
            }
            let [position, normal] = [self.positions[vertex], self.normals[vertex]].map(Vec3::from);
            let position = blend.transform_point3(position).into();
            Ok(SkinnedPose { position, normal: blend.transform_vector3(normal).into() })
        };
        let vertices = self.weights.iter().enumerate().take(self.positions.len().min(self.normals.len()));
        vertices.map(pose).collect()
    }

    /// The weights of points, such as the particles of a cloth: those of the nearest point of the mesh, interpolated between its
    /// three vertices.
    ///
    /// # Errors
    /// The mesh has no triangles. A triangle names a vertex without a position or weights, or a point is not finite.
    pub fn weights_at(&self, points: &[[f32; 3]]) -> Result<Vec<JointWeights>> {
        let count = self.positions.len().min(self.weights.len());
        for (index, corners) in self.triangles.iter().enumerate() {
            check_exists(|| format!("triangle {index} of a skinned mesh"), "vertex", corners, count)?;
        }
        for (index, &point) in points.iter().enumerate() {
            check_finite(|| format!("point {index}"), point)?;
        }
        let tree = NearestTriangles::new(&self.positions, &self.triangles);
        let weights = |&point: &[f32; 3]| {
            let found = tree.nearest(point).ok_or(Error::Empty { what: "the triangle list of a skinned mesh" })?;
            let mut sums: Vec<(u32, f32)> = Vec::with_capacity(12);
            for (&vertex, share) in self.triangles[found.triangle].iter().zip(found.weights) {
                let own = &self.weights[vertex as usize];
                for (&joint, &weight) in own.joints.iter().zip(&own.weights).filter(|(_, weight)| **weight > 0.0) {
                    let add = share as f32 * weight;
                    match sums.iter_mut().find(|(known, _)| *known == joint) {
                        Some((_, sum)) => *sum += add,
                        None => sums.push((joint, add)),
                    }
                }
            }
            JointWeights::largest(&sums)
        };
        points.iter().map(weights).collect()
    }

    /// One capsule for each joint that has the largest weight of at least four vertices, fitted to these vertices in the bind
    /// pose.
    ///
    /// The axis is the direction of their greatest variance. The radius is the root mean square of their distances from the axis,
    /// which is that of a limb if the vertices lie on a cylinder. A round end is within the vertices, except that it encloses
    /// the border on the vertices of another joint: the capsules of a limb overlap.
    ///
    /// The mesh must be that of [`SkinnedMesh::checked`]; triangles of vertices that do not exist are skipped.
    pub fn capsules(&self) -> Vec<JointCapsule> {
        let owner = |own: &JointWeights| {
            let largest = (0..4).rev().max_by(|&a, &b| own.weights[a].total_cmp(&own.weights[b])).unwrap_or(0);
            own.joints[largest]
        };
        let owners: Vec<u32> = self.weights.iter().map(owner).collect();
        let mut owned: BTreeMap<u32, Vec<Vec3>> = BTreeMap::new();
        for (&position, &joint) in self.positions.iter().zip(&owners) {
            owned.entry(joint).or_default().push(position.into());
        }
        // By two joints, the vertices of the first that share a triangle with the second.
        let mut borders: BTreeMap<[u32; 2], Vec<Vec3>> = BTreeMap::new();
        for (&a, &b) in
            self.triangles.iter().flat_map(|corners| corners.iter().flat_map(|a| corners.iter().map(move |b| (a, b))))
        {
            let owner = |vertex: u32| owners.get(vertex as usize).copied();
            if let (Some(own), Some(other), Some(&position)) = (owner(a), owner(b), self.positions.get(a as usize))
                && own != other
            {
                borders.entry([own, other]).or_default().push(position.into());
            }
        }
        let capsules = owned.iter().filter(|(_, points)| points.len() >= 4);
        let capsule = |(&joint, points): (&u32, &Vec<Vec3>)| {
            let own: Vec<&[Vec3]> =
                borders.range([joint, 0]..=[joint, u32::MAX]).map(|(_, points)| points.as_slice()).collect();
            fitted(joint, points, &own)
        };
        capsules.filter_map(capsule).collect()
    }
}

/// The capsule of some points; `None` if they are at one place or on a line. `borders` are those of them that are beside another
/// joint, by joint.
fn fitted(joint: u32, points: &[Vec3], borders: &[&[Vec3]]) -> Option<JointCapsule> {
    let scale = 1.0 / points.len() as f32;
    let centre = points.iter().sum::<Vec3>() * scale;
    let axis = main_axis(points.iter().map(|&point| point - centre));
    let along = |point: Vec3| (point - centre).dot(axis);
    let mean = |points: &[Vec3], value: &dyn Fn(Vec3) -> f32| {
        points.iter().map(|&point| value(point)).sum::<f32>() / points.len() as f32
    };
    let squared = |point: Vec3| ((point - centre).length_squared() - along(point) * along(point)).max(0.0);
    let radius = mean(points, &squared).sqrt();
    let [first, last] = points.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[first, last], &point| {
        [first.min(along(point)), last.max(along(point))]
    });
    let (mut low, mut high) = (first + radius, last - radius);
    // A part that is shorter than wide is a sphere.
    if low > high {
        (low, high) = (0.5 * (low + high), 0.5 * (low + high));
    }
    // A round end encloses the border on another joint.
    for border in borders {
        let (place, cap) = (mean(border, &along), (radius * radius - mean(border, &squared)).max(0.0).sqrt());
        (low, high) = (low.min(place + cap), high.max(place - cap));
    }
    let ends = [low, high].map(|place| (centre + axis * place).into());
    (radius > 0.0).then_some(JointCapsule { joint, ends, radius })
}

/// The direction of greatest variance, by power iteration.
fn main_axis(offsets: impl Iterator<Item = Vec3> + Clone) -> Vec3 {
    let mut sum = Mat3::ZERO;
    for offset in offsets {
        sum += Mat3::from_cols(offset * offset.x, offset * offset.y, offset * offset.z);
    }
    // Not orthogonal to the axis of any limb in a usual pose.
    let mut axis = Vec3::new(0.36, 0.8, 0.48);
    for _ in 0..64 {
        axis = (sum * axis).try_normalize().unwrap_or(axis);
    }
    axis
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed tube of radius 0.1 about the axis through `from` and `to`.
    fn tube(from: Vec3, to: Vec3, joint: u32) -> SkinnedMesh {
        let turn = Quat::from_rotation_arc(Vec3::Y, (to - from).normalize());
        let mut mesh = SkinnedMesh::default();
        for ring in 0..11 {
            for place in 0..12 {
                let (sin, cos) = (place as f32 * std::f32::consts::TAU / 12.0).sin_cos();
                let out = turn * Vec3::new(cos, 0.0, sin);
                mesh.positions.push((from.lerp(to, ring as f32 / 10.0) + 0.1 * out).into());
                mesh.normals.push(out.into());
                mesh.weights.push(JointWeights::rigid(joint));
                let (a, b) = (ring * 12 + place, ring * 12 + (place + 1) % 12);
                if ring < 10 {
                    mesh.triangles.extend([[a, a + 12, b], [b, a + 12, b + 12]]);
                }
            }
        }
        mesh
    }

    #[test]
    fn a_capsule_fits_a_tube_and_moves_with_its_joint() {
        let (from, to) = (Vec3::new(0.2, 1.0, 0.1), Vec3::new(0.9, 0.6, 0.3));
        let mesh = tube(from, to, 3).checked(4).unwrap();
        let [capsule] = mesh.capsules()[..] else { panic!() };
        assert_eq!(capsule.joint, 3);
        assert!((capsule.radius - 0.1).abs() < 1e-4, "{capsule:?}");
        let along = (to - from).normalize();
        let [a, b] = capsule.ends.map(Vec3::from);
        let [a, b] = if (b - a).dot(along) > 0.0 { [a, b] } else { [b, a] };
        assert!(a.distance(from + 0.1 * along) < 1e-3 && b.distance(to - 0.1 * along) < 1e-3, "{capsule:?}");
        let joint = Mat4::from_rotation_translation(Quat::from_rotation_z(0.8), Vec3::new(0.0, 2.0, 0.0));
        let pose = capsule.pose(&joint.to_cols_array_2d());
        let Shape::Capsule { half_height, .. } = capsule.collider().shape else { panic!() };
        let end = Vec3::from(pose.position) + Quat::from_array(pose.rotation) * Vec3::new(0.0, half_height, 0.0);
        let expected = capsule.ends.map(|end| joint.transform_point3(end.into()));
        assert!(expected.iter().any(|expected| expected.distance(end) < 1e-5), "{end}");
    }

    #[test]
    fn the_capsule_of_a_part_shorter_than_wide_is_a_collider() {
        let mesh = tube(Vec3::ZERO, 0.05 * Vec3::Y, 0).checked(1).unwrap();
        let [capsule] = mesh.capsules()[..] else { panic!() };
        let ball = JointCapsule { joint: 0, ends: [[0.0; 3]; 2], radius: 0.1 };
        for capsule in [capsule, ball] {
            crate::scene::Scene::new().add_collider(capsule.collider()).unwrap();
        }
    }

    #[test]
    fn capsules_of_a_limb_enclose_their_common_border() {
        let mut mesh = tube(Vec3::ZERO, Vec3::Y, 0);
        mesh.weights[66..].fill(JointWeights::rigid(1));
        let [lower, upper] = mesh.capsules()[..] else { panic!() };
        let heights = |capsule: &JointCapsule| {
            let [a, b] = capsule.ends.map(|end| end[1]);
            [a.min(b), a.max(b)]
        };
        // Rings 0 to 4 and half of ring 5 belong to the first joint, the rest to the second.
        let ([low, high], [next_low, next_high]) = (heights(&lower), heights(&upper));
        assert!((low - 0.1).abs() < 0.02 && (next_high - 0.9).abs() < 0.02, "{lower:?} {upper:?}");
        assert!(high > 0.4 && next_low < 0.6, "{lower:?} {upper:?}");
    }

    #[test]
    fn weights_of_points_are_interpolated_on_the_nearest_triangle() {
        let mesh = SkinnedMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            normals: vec![[0.0, 0.0, 1.0]; 3],
            triangles: vec![[0, 1, 2]],
            weights: [0, 1, 2].map(JointWeights::rigid).into(),
        };
        let weights = mesh.weights_at(&[[0.25, 0.25, 0.1], [2.0, -1.0, 0.0]]).unwrap();
        assert_eq!((weights[0].joints[0], weights[0].weights), (0, [0.5, 0.25, 0.25, 0.0]));
        assert_eq!(weights[1], JointWeights::rigid(1));
        assert!(SkinnedMesh::default().weights_at(&[[0.0; 3]]).is_err());
    }

    #[test]
    fn a_bad_skinned_mesh_is_an_error() {
        let good = tube(Vec3::ZERO, Vec3::Y, 0);
        let changed = |change: fn(&mut SkinnedMesh)| {
            let mut mesh = good.clone();
            change(&mut mesh);
            mesh.checked(1).unwrap_err().to_string()
        };
        let cases = [
            (
                changed(|mesh| mesh.normals.truncate(131)),
                "positions and normals of a skinned mesh: 132 against 131 entries",
            ),
            (
                changed(|mesh| mesh.triangles[4][1] = 200),
                "triangle 4 of a skinned mesh names vertex 200, but there are only 132",
            ),
            (
                changed(|mesh| mesh.weights[7] = JointWeights::rigid(2)),
                "weights of vertex 7 names joint 2, but there is only 1",
            ),
            (
                changed(|mesh| mesh.weights[7].weights[0] = 0.0),
                "sum of the weights of vertex 7 is 0, but must be greater than 0",
            ),
            (changed(|mesh| mesh.positions[2][0] = f32::NAN), "position of vertex 2 is NaN, but must be finite"),
        ];
        for (error, expected) in cases {
            assert_eq!(error, expected);
        }
        assert!(good.posed(&[]).is_err());
    }
}
