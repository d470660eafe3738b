//! The colliders of a running simulation, as rows that the backends read.

mod checkpoint;

use super::collider::{Collider, ColliderId, Pose};
use super::collider_frame::ColliderFrame;
use super::shape::{Baked, HALF_SPACE, HULL};
use super::triangle::meets_triangles;
use crate::error::{Error, Result, check_finite};
use crate::geometry::vector::{dot, sum_of_components};
use glam::Vec3;

/// A collider in the layout of the shaders: `Collider` in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct ColliderRow {
    /// Position at the start of the step. The backend owns this row and the next; the host writes them only when the
    /// collider is teleported.
    pub position: [f32; 3],
    pub shape: u32,
    pub rotation: [f32; 4],
    /// Position at the end of the step.
    pub target_position: [f32; 3],
    /// Bits [`MOVING`], [`TWO_SIDED`], [`DISABLED`].
    pub flags: u32,
    pub target_rotation: [f32; 4],
    pub size: [f32; 3],
    pub bound: f32,
    pub surface_velocity: [f32; 3],
    pub margin: f32,
    /// Number of planes, or of grid points along each axis. The third count of a heightfield is
    /// [`super::Heightfield::ends_at_border`].
    pub counts: [u32; 3],
    /// Offset of the shape's data.
    pub data: u32,
    /// Particles whose distance from the collider's initial position exceeds this plus their displacement have no
    /// contact. The backend computes this and all following fields except `material`.
    pub near: f32,
    /// The same bound on the height above a static half-space.
    pub above: f32,
    pub material: u32,
    /// Index of the next substep.
    pub substep: u32,
    /// Axes at the end of the substep, each with a component of the position at the start.
    pub frame: ColliderFrame,
    /// Motion in the substep of a point at a given offset from the collider's position: a matrix for the offset, and a
    /// translation.
    pub travel: ColliderFrame,
    /// Motion of the conveyor surface in the substep, in world space.
    pub surface_step: [f32; 3],
    pub padding: u32,
}

impl ColliderRow {
    pub fn is_removed(&self) -> bool {
        self.flags & DISABLED != 0
    }

    /// The bound on the height above the collider in a substep, see [`Self::above`]: `keep` \[m\] for a static half-space,
    /// else larger than any height.
    pub fn height_bound(&self, keep: f32) -> f32 {
        if self.shape == HALF_SPACE && self.flags & MOVING == 0 { keep } else { 3e38 }
    }

    /// The motion of a point in a substep relative to the collider, in world space. It has two parts: the start, moved with
    /// the collider to the end of the substep, and the rest of the displacement. `rest` is the residual of the position x, which the
    /// displacement d does not include. Counterpart: `relative_motion` in `shaders/common/contacts.wgsl`.
    pub fn relative_motion(&self, x: Vec3, rest: Vec3, d: Vec3) -> [Vec3; 2] {
        let place = (x - self.frame.offset()) + rest;
        let turn = self.travel.turned_into(place);
        [place + turn, d - (turn + self.travel.offset())]
    }

    /// False for a point outside of the bounds that moves by at most `reach` \[m\]: it has no contact. The bounds are part of
    /// the physics of ground that ends at its border, which is solid down to them. For a static half-space the height above its
    /// plane counts too, with a tolerance for rounding. Counterpart: `is_near` in `shaders/collision/collide/near.wgsl`.
    pub fn is_near(&self, x: Vec3, reach: f32) -> bool {
        let (apart, near) = (x - self.frame.offset(), self.near + reach);
        let above = self.above + 1.001 * reach + 4e-6 * sum_of_components(apart);
        dot(apart, apart) <= near * near && dot(apart, self.frame.directions()[1]) <= above
    }

    /// Byte range of target and flags.
    pub const TARGET: std::ops::Range<usize> = 32..64;
}

/// The target differs from the position.
pub(crate) const MOVING: u32 = 1;
pub(crate) const TWO_SIDED: u32 = 2;
/// The collider is removed.
pub(crate) const DISABLED: u32 = 4;

/// All colliders of a backend, in upload layout.
#[derive(Debug, Clone, Default)]
pub(crate) struct Colliders {
    pub rows: Vec<ColliderRow>,
    /// 0 for the colliders of the scene; a unique number for each collider added later.
    generations: Vec<u32>,
    last_generation: u32,
    /// Data of all shapes. The data of a removed collider is dropped when another one is added.
    pub data: Vec<f32>,
    baked: Vec<Baked>,
}

impl Colliders {
    /// True if a collider may be in contact with triangles whose corners it does not touch: see [`meets_triangles`].
    pub fn meet_triangles(&self, size: f32, keep: f32) -> bool {
        self.rows.iter().any(|row| !row.is_removed() && meets_triangles(row, size, keep))
    }

    /// The greatest number of colliders: each thread reads masks of all of them, and in instances tests all of them.
    const MOST: usize = 4096;
    /// The greatest number of `f32` in all shapes: 1 GiB, more than devices support.
    const MOST_DATA: u64 = 1 << 28;

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// True if particles search for the colliders near them. Removed ones count.
    pub fn are_several(&self) -> bool {
        self.len() > 1
    }

    /// Returns true if a collider exists that is not removed.
    pub fn are_any_left(&self) -> bool {
        self.rows.iter().any(|row| !row.is_removed())
    }

    /// The greatest number of planes of a hull; 0 without hulls.
    pub fn most_planes(&self) -> u32 {
        let hulls = self.rows.iter().filter(|row| row.shape == HULL);
        hulls.map(|row| row.counts[0]).max().unwrap_or(0)
    }

    /// Continues the id numbering of `before`, so ids of colliders added later differ from the old ones.
    pub fn continuing_ids_of(self, before: &Self) -> Self {
        Self { last_generation: self.last_generation.max(before.last_generation), ..self }
    }

    /// Builds the rows of a scene's colliders, which were checked when they were added.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if all shapes together have too much data.
    pub fn new(colliders: &[Collider], material_count: usize) -> Result<Self> {
        let mut all = Self::default();
        for (index, collider) in colliders.iter().enumerate() {
            let (row, baked) = Self::row(collider, index, material_count, true)?;
            all.check_data(None, &baked)?;
            all.rows.push(row);
            all.generations.push(0);
            all.baked.push(baked);
        }
        all.gather_data();
        Ok(all)
    }

    /// Returns `Ok` if the collider is valid at an index.
    pub fn check(collider: &Collider, index: usize, material_count: usize) -> Result<()> {
        Self::check_count(index)?;
        Self::row(collider, index, material_count, false).map(drop)
    }

    fn check_count(index: usize) -> Result<()> {
        if index < Self::MOST {
            return Ok(());
        }
        let (count, limit) = (index as u64 + 1, Self::MOST as u64);
        Err(Error::TooLarge { what: "colliders", count, limit })
    }

    /// Checks the total data size of all shapes if the shape `without` is replaced by `more`.
    fn check_data(&self, without: Option<usize>, more: &Baked) -> Result<()> {
        let others = self.baked.iter().enumerate().filter(|(index, _)| Some(*index) != without);
        let count = others.map(|(_, baked)| baked.data.len() as u64).sum::<u64>() + more.data.len() as u64;
        if count <= Self::MOST_DATA {
            return Ok(());
        }
        Err(Error::TooLarge { what: "numbers in the shapes of all colliders", count, limit: Self::MOST_DATA })
    }

    /// Adds a collider, at the index of a removed one if any exists.
    pub fn add(&mut self, collider: &Collider, material_count: usize) -> Result<ColliderId> {
        let free = self.rows.iter().position(|row| row.is_removed());
        let index = free.unwrap_or(self.rows.len());
        Self::check_count(index)?;
        let (row, baked) = Self::row(collider, index, material_count, true)?;
        self.check_data(Some(index), &baked)?;
        self.last_generation = self.last_generation.wrapping_add(1);
        if index == self.rows.len() {
            self.rows.push(row);
            self.generations.push(self.last_generation);
            self.baked.push(baked);
        } else {
            self.rows[index] = row;
            self.generations[index] = self.last_generation;
            self.baked[index] = baked;
        }
        self.gather_data();
        Ok(ColliderId { index: index as u32, generation: self.generations[index] })
    }

    /// Replaces a collider.
    pub fn set(&mut self, id: ColliderId, collider: &Collider, material_count: usize) -> Result<()> {
        let index = self.find(id)?;
        let (row, baked) = Self::row(collider, index, material_count, true)?;
        self.check_data(Some(index), &baked)?;
        (self.rows[index], self.baked[index]) = (row, baked);
        self.gather_data();
        Ok(())
    }

    pub fn remove(&mut self, id: ColliderId) -> Result<usize> {
        let index = self.find(id)?;
        self.rows[index].flags = DISABLED;
        self.baked[index].data.clear();
        Ok(index)
    }

    /// Sets the pose at the end of the next step.
    pub fn move_to(&mut self, id: ColliderId, pose: Pose) -> Result<usize> {
        let index = self.find(id)?;
        let pose = pose.checked(&format!("collider {index}"))?;
        let row = &mut self.rows[index];
        (row.target_position, row.target_rotation) = (pose.position, pose.rotation);
        row.flags |= MOVING;
        Ok(index)
    }

    /// Commits all targets after a step has been recorded.
    pub fn commit_targets(&mut self) {
        for row in &mut self.rows {
            (row.position, row.rotation) = (row.target_position, row.target_rotation);
            row.flags &= !MOVING;
        }
    }

    pub fn find(&self, id: ColliderId) -> Result<usize> {
        let index = id.index();
        let alive = self.rows.get(index).is_some_and(|row| !row.is_removed());
        if alive && self.generations[index] == id.generation {
            return Ok(index);
        }
        let (what, count) = ("the id of a collider".into(), self.rows.len() as u64);
        let index = index as u64;
        if index < count {
            return Err(Error::NoCollider { index });
        }
        Err(Error::IndexOutOfRange { what, target: "collider", index, count })
    }

    fn row(collider: &Collider, index: usize, material_count: usize, with_data: bool) -> Result<(ColliderRow, Baked)> {
        let what = format!("collider {index}");
        let pose = collider.pose.checked(&what)?;
        if !(0.0..=1e3).contains(&collider.margin) {
            return Err(Error::invalid(format!("margin of {what}"), collider.margin, "0 to 1e3 m"));
        }
        check_finite(|| format!("surface velocity of {what}"), collider.surface_velocity)?;
        if let Some(speed) = collider.surface_velocity.into_iter().find(|speed| speed.abs() > 1e6) {
            return Err(Error::invalid(format!("surface velocity of {what}"), speed, "at most 1e6 m/s either way"));
        }
        if collider.material.index() >= material_count {
            let (index, count) = (collider.material.index() as u64, material_count as u64);
            return Err(Error::IndexOutOfRange { what, target: "contact material", index, count });
        }
        let baked = collider.shape.bake(with_data)?;
        let row = ColliderRow {
            position: pose.position,
            shape: baked.shape,
            rotation: pose.rotation,
            target_position: pose.position,
            flags: if collider.two_sided { TWO_SIDED } else { 0 },
            target_rotation: pose.rotation,
            size: baked.size,
            bound: baked.bound,
            surface_velocity: collider.surface_velocity,
            margin: collider.margin,
            counts: baked.counts,
            data: 0,
            near: 0.0,
            above: 0.0,
            material: collider.material.0.into(),
            substep: 0,
            frame: ColliderFrame::default(),
            travel: ColliderFrame::default(),
            surface_step: [0.0; 3],
            padding: 0,
        };
        Ok((row, baked))
    }

    fn gather_data(&mut self) {
        self.data.clear();
        for (row, baked) in self.rows.iter_mut().zip(&self.baked) {
            row.data = self.data.len() as u32;
            self.data.extend_from_slice(&baked.data);
        }
    }
}
