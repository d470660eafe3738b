//! The exits of a shape for a point inside of it; `shaders/collision/collide/exits.wgsl` is the WGSL counterpart, operation by operation.

use super::collider::ColliderRow;
use super::shape::{BOX, CAPSULE, FIELD, HULL, SPHERE, Sample, sample};
use crate::geometry::vector::dot;
use glam::Vec3;

/// Iterations of the search along an axis for the end of a shape without faces.
const MARCHES: u32 = 32;

/// A point inside of a collider, in its frame.
pub(crate) struct Exits<'a> {
    pub collider: &'a ColliderRow,
    pub data: &'a [f32],
    pub p: Vec3,
    /// The distance that it keeps.
    pub keep: f32,
    /// The sample at the point.
    pub near: Sample,
}

impl Exits<'_> {
    /// The nearest one, the faces of a box or a hull, the axes of a shape without faces.
    pub fn count(&self) -> u32 {
        match self.collider.shape {
            BOX | SPHERE | CAPSULE | FIELD => 7,
            HULL => 1 + self.collider.counts[0],
            _ => 1,
        }
    }

    /// The direction of an exit, and how far along it the point keeps its distance \[m\].
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

    /// How far it is along a direction to where the distance is kept \[m\]; more than any distance where no end is found.
    fn march(&self, direction: Vec3) -> f32 {
        let cell = if self.collider.shape == FIELD { self.collider.size[0] } else { 0.0 };
        let least = 0.5 * self.keep.max(cell);
        let mut way = 0.0;
        for _ in 0..MARCHES {
            let left = self.keep - sample(self.collider, self.data, self.p + direction * way, self.keep).distance;
            if left <= 0.0 {
                // Not farther than needed.
                return way + left;
            }
            way += left.max(least);
        }
        f32::MAX
    }
}
