//! The exits of a shape from a point inside. The counterpart is `shaders/collision/collide/exits.wgsl`, operation by
//! operation.

use super::colliders::ColliderRow;
use super::shape::{BOX, CAPSULE, FIELD, HULL, SPHERE, Sample, sample};
use crate::geometry::vector::dot;
use glam::Vec3;

/// Iterations of the search along an axis for the boundary of a shape without faces.
const MARCHES: u32 = 32;

/// A point inside a collider, in its local frame.
pub(crate) struct Exits<'a> {
    pub collider: &'a ColliderRow,
    pub data: &'a [f32],
    pub p: Vec3,
    /// The distance that the point must keep from the surface \[m\].
    pub keep: f32,
    /// The sample at the point.
    pub near: Sample,
}

impl Exits<'_> {
    /// The number of exits: the nearest one, and each face of a hull or both directions of each axis of other shapes.
    pub fn count(&self) -> u32 {
        match self.collider.shape {
            BOX | SPHERE | CAPSULE | FIELD => 7,
            HULL => 1 + self.collider.counts[0],
            _ => 1,
        }
    }

    /// Direction of an exit, and the distance along it to where the point keeps its distance \[m\].
    pub fn exit(&self, k: u32) -> (Vec3, f32) {
        if k == 0 {
            return (self.near.normal, self.keep - self.near.distance);
        }
        if self.collider.shape == HULL {
            let planes = self.data.get(self.collider.data as usize..).unwrap_or_default().as_chunks::<4>().0;
            let [x, y, z, offset] = planes.get(k as usize - 1).copied().unwrap_or_default();
            let normal = Vec3::new(x, y, z);
            return (normal, self.keep - (dot(normal, self.p) - offset));
        }
        let axis = Vec3::AXES[(k as usize - 1) / 2 % 3];
        let normal = if k.is_multiple_of(2) { -axis } else { axis };
        if self.collider.shape == BOX {
            let beyond = dot(normal, self.p) - dot(axis, Vec3::from(self.collider.size));
            return (normal, self.keep - beyond);
        }
        (normal, self.march(normal))
    }

    /// The distance along a direction to where the point keeps its distance \[m\]; `f32::MAX` if the search does not
    /// end.
    fn march(&self, direction: Vec3) -> f32 {
        let cell = if self.collider.shape == FIELD { self.collider.size[0] } else { 0.0 };
        let least = 0.5 * self.keep.max(cell);
        let mut distance = 0.0;
        for _ in 0..MARCHES {
            let left = self.keep - sample(self.collider, self.data, self.p + direction * distance, self.keep).distance;
            if left <= 0.0 {
                // Corrects the overshoot.
                return distance + left;
            }
            distance += left.max(least);
        }
        f32::MAX
    }
}
