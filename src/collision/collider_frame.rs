//! Rotations and frames of colliders.

use super::colliders::{ColliderRow, MOVING};
use crate::geometry::vector::dot;
use glam::{Quat, Vec3};

/// Rotates v by a unit quaternion; the counterpart is in `shaders/common/contacts.wgsl`.
pub(crate) fn rotate(q: Quat, v: Vec3) -> Vec3 {
    let axis = Vec3::new(q.x, q.y, q.z);
    let t = axis.cross(v) * 2.0;
    (v + t * q.w) + axis.cross(t)
}

/// A 3 × 3 matrix in rows and an offset: for example the axes of a collider in world space and its position. The
/// counterpart is in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct ColliderFrame {
    rows: [[f32; 4]; 3],
}

impl ColliderFrame {
    fn new(rows: [Vec3; 3], offset: Vec3) -> Self {
        let row = |k: usize| rows[k].extend(offset[k]).to_array();
        Self { rows: [row(0), row(1), row(2)] }
    }

    fn at(position: Vec3, rotation: Quat) -> Self {
        Self::new(Vec3::AXES.map(|axis| rotate(rotation, axis)), position)
    }

    /// The frame of a collider at a fraction of the step. The rotation is interpolated linearly between the quaternions
    /// and normalised: the axis is exact, the angular speed has an error of 1 % at 60° per step.
    pub fn after(row: &ColliderRow, share: f32) -> Self {
        let (position, rotation) = (Vec3::from(row.position), Quat::from_array(row.rotation));
        if row.flags & MOVING == 0 {
            return Self::at(position, rotation);
        }
        let moved = position + (Vec3::from(row.target_position) - position) * share;
        let axis = Vec3::new(rotation.x, rotation.y, rotation.z);
        let [x, y, z, w] = row.target_rotation;
        let (mut target_axis, mut target_w) = (Vec3::new(x, y, z), w);
        if dot(axis, target_axis) + rotation.w * target_w < 0.0 {
            (target_axis, target_w) = (-target_axis, -target_w);
        }
        let axis = axis + (target_axis - axis) * share;
        let w = rotation.w + (target_w - rotation.w) * share;
        let l = (dot(axis, axis) + w * w).sqrt();
        if l == 0.0 {
            return Self::at(moved, rotation);
        }
        Self::at(moved, Quat::from_xyzw(axis.x / l, axis.y / l, axis.z / l, w / l))
    }

    /// Frame and travel of a collider in a substep between two frames.
    pub fn between(start: Self, end: Self) -> [Self; 2] {
        // (R₁ − R₀) R₀ᵀ; see `shaders/collision/collider_poses.wgsl`.
        let (from, to) = (start.turned(), end.turned());
        let turn = [0, 1, 2].map(|k| start.turned_out_of(to[k] - from[k]));
        [Self::new(end.directions(), start.offset()), Self::new(turn, end.offset() - start.offset())]
    }

    pub fn directions(&self) -> [Vec3; 3] {
        self.rows.map(|[x, y, z, _]| Vec3::new(x, y, z))
    }

    /// The columns of the matrix.
    fn turned(&self) -> [Vec3; 3] {
        [0, 1, 2].map(|k| Vec3::from(self.rows.map(|row| row[k])))
    }

    pub fn offset(&self) -> Vec3 {
        Vec3::from(self.rows.map(|[.., of]| of))
    }

    /// Transforms a direction from world to local space.
    pub fn turned_into(&self, v: Vec3) -> Vec3 {
        Vec3::from(self.directions().map(|row| dot(row, v)))
    }

    /// Transforms a direction from local to world space.
    pub fn turned_out_of(&self, v: Vec3) -> Vec3 {
        let [x, y, z] = self.directions();
        (x * v.x + y * v.y) + z * v.z
    }
}
