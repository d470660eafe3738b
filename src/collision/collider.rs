//! Colliders: shapes that particles do not enter, at rest or moving.

use super::material::ContactMaterialId;
use super::shape::{Baked, Shape};
use crate::error::{Error, Result, check_finite};
use crate::geometry::vector::dot;
use glam::{Quat, Vec3};

/// A shape that particles do not enter.
#[derive(Debug, Clone, PartialEq)]
pub struct Collider {
    /// What it is, in its own frame.
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
    /// Friction and restitution, and what it touches. The thickness of a collider's material is not used.
    pub material: ContactMaterialId,
    /// A distance \[m\] that particles keep on top of half their thickness, 0 to 1e3.
    pub margin: f32,
    /// Whether it is a shell that holds both ways, not a solid: what is inside stays inside.
    pub two_sided: bool,
    /// How fast its surface runs [m/s], in its own frame, while its shape stays: a conveyor belt.
    pub surface_velocity: [f32; 3],
}

impl Default for Collider {
    /// The ground: all below y = 0.
    fn default() -> Self {
        Self {
            shape: Shape::HalfSpace,
            pose: Pose::default(),
            material: ContactMaterialId::default(),
            margin: 0.0,
            two_sided: false,
            surface_velocity: [0.0; 3],
        }
    }
}

impl Collider {
    /// A shape at a place \[m\], not turned.
    pub fn new(shape: Shape, position: [f32; 3]) -> Self {
        Self { shape, pose: Pose { position, ..Pose::default() }, ..Self::default() }
    }

    /// Everything behind the plane through `point` \[m\] with the given normal, of any length.
    ///
    /// # Errors
    /// The normal must be finite and longer than 1e-12.
    pub fn half_space(point: [f32; 3], normal: [f32; 3]) -> Result<Self> {
        check_finite(|| "normal of a half-space".into(), normal)?;
        let normal = glam::DVec3::from(normal.map(f64::from));
        if normal.length() < 1e-12 {
            return Err(Error::invalid("length of the normal of a half-space", normal.length(), "at least 1e-12"));
        }
        let rotation = glam::DQuat::from_rotation_arc(glam::DVec3::Y, normal.normalize());
        let rotation = rotation.to_array().map(|component| component as f32);
        Ok(Self { pose: Pose { position: point, rotation }, ..Self::default() })
    }
}

/// A place and an orientation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Where the origin of the shape is \[m\].
    pub position: [f32; 3],
    /// How it is turned: a quaternion (x, y, z, w), of any length but 0.
    pub rotation: [f32; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] }
    }
}

impl Pose {
    /// Whether it is finite; returns it with a unit quaternion.
    pub(crate) fn checked(&self, what: &str) -> Result<Self> {
        check_finite(|| format!("position of {what}"), self.position)?;
        if let Some(component) = self.position.into_iter().find(|component| component.abs() > 1e6) {
            return Err(Error::invalid(format!("position of {what}"), component, "at most 1e6 m either way"));
        }
        let [x, y, z, w] = self.rotation;
        check_finite(|| format!("rotation of {what}"), [x, y, z])?;
        check_finite(|| format!("rotation of {what}"), [w; 3])?;
        let length = self.rotation.iter().map(|&component| f64::from(component).powi(2)).sum::<f64>().sqrt();
        if length < 1e-12 {
            return Err(Error::invalid(format!("length of the rotation of {what}"), length, "greater than 0"));
        }
        let rotation = self.rotation.map(|component| (f64::from(component) / length) as f32);
        Ok(Self { position: self.position, rotation })
    }
}

/// Names a collider of a scene or of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColliderId {
    pub(crate) index: u32,
    /// A removed collider's place is taken by others, whose names are not its own.
    pub(crate) generation: u32,
}

impl ColliderId {
    /// Its place among the forces of [`crate::Solver::read_collider_forces`].
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// A collider as the shaders read it: `Collider` in `shaders/common/contacts.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct ColliderRow {
    /// Where it is at the start of the step. This row and the next are the players' own, and set by the host only where the
    /// collider jumps.
    pub position: [f32; 3],
    pub shape: u32,
    pub rotation: [f32; 4],
    /// Where it is to be at the end of the step.
    pub target_position: [f32; 3],
    /// [`MOVING`], [`TWO_SIDED`], [`DISABLED`].
    pub flags: u32,
    pub target_rotation: [f32; 4],
    pub size: [f32; 3],
    pub bound: f32,
    pub surface_velocity: [f32; 3],
    pub margin: f32,
    /// How many planes, or points of a grid along each axis; of a heightfield the third is [`super::Heightfield::overlap`] (bits).
    pub counts: [u32; 3],
    /// Where in the data it begins.
    pub data: u32,
    /// What ends its way in the substep farther from where the collider starts does not touch it. This and what follows is reckoned by
    /// the players, but for the material.
    pub near: f32,
    /// The same of what is higher above it, where it is a half-space that rests.
    pub above: f32,
    pub material: u32,
    /// Which substep is next.
    pub substep: u32,
    /// Its axes at the end of the substep, and beside each the component of its position at the start.
    pub frame: ColliderFrame,
    /// How far it takes in the substep what is at so much from its position: a matrix, to be multiplied by that, and an offset.
    pub travel: ColliderFrame,
    /// How far its surface goes in the substep, in the world.
    pub surface_step: [f32; 3],
    pub padding: u32,
}

impl ColliderRow {
    /// The bytes of the target and the flags.
    pub const TARGET: std::ops::Range<usize> = 32..64;
}

/// Its target is not its place.
pub(crate) const MOVING: u32 = 1;
pub(crate) const TWO_SIDED: u32 = 2;
/// There is none.
pub(crate) const DISABLED: u32 = 4;

/// All colliders of a player, as it uploads them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Colliders {
    pub rows: Vec<ColliderRow>,
    /// Of a scene's 0; of what was added since, a number of its own.
    generations: Vec<u32>,
    last_generation: u32,
    /// The data of all shapes. What a removed one leaves behind is swept away with the next that is added.
    pub data: Vec<f32>,
    baked: Vec<Baked>,
}

impl Colliders {
    /// How many a scene may have: a thread looks at each.
    const MOST: usize = 4096;
    /// Of the numbers of all their shapes: 1 GiB, more than what devices take.
    const MOST_DATA: u64 = 1 << 28;

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether there are any that have not been removed.
    pub fn are_any_left(&self) -> bool {
        self.rows.iter().any(|row| row.flags & DISABLED == 0)
    }

    /// These, in the place of others, whose names are not to become those of what is added from now on.
    pub fn after(self, before: &Self) -> Self {
        Self { last_generation: before.last_generation, ..self }
    }

    /// Those of a scene, which were checked one by one when they were added.
    ///
    /// # Errors
    /// [`Error::TooLarge`] where all their shapes together have too many numbers.
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

    /// Whether a collider is one that may stand at a place.
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

    /// Whether the data of all shapes have room, when one of them has been changed.
    fn check_data(&self, without: Option<usize>, more: &Baked) -> Result<()> {
        let others = self.baked.iter().enumerate().filter(|(index, _)| Some(*index) != without);
        let count = others.map(|(_, baked)| baked.data.len() as u64).sum::<u64>() + more.data.len() as u64;
        if count <= Self::MOST_DATA {
            return Ok(());
        }
        Err(Error::TooLarge { what: "numbers in the shapes of all colliders", count, limit: Self::MOST_DATA })
    }

    /// Adds one, in the place of one that was removed where there is any.
    pub fn add(&mut self, collider: &Collider, material_count: usize) -> Result<ColliderId> {
        let free = self.rows.iter().position(|row| row.flags & DISABLED != 0);
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

    /// Puts another in its place.
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

    /// Says where it is to be at the end of the next step.
    pub fn move_to(&mut self, id: ColliderId, pose: Pose) -> Result<usize> {
        let index = self.find(id)?;
        let pose = pose.checked(&format!("collider {index}"))?;
        let row = &mut self.rows[index];
        (row.target_position, row.target_rotation) = (pose.position, pose.rotation);
        row.flags |= MOVING;
        Ok(index)
    }

    /// A step has been recorded: all are where they were to be.
    pub fn arrive(&mut self) {
        for row in &mut self.rows {
            (row.position, row.rotation) = (row.target_position, row.target_rotation);
            row.flags &= !MOVING;
        }
    }

    pub fn find(&self, id: ColliderId) -> Result<usize> {
        let index = id.index();
        let alive = self.rows.get(index).is_some_and(|row| row.flags & DISABLED == 0);
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
        let mut baked = collider.shape.bake(with_data)?;
        if let Shape::Heightfield(ground) = &collider.shape {
            baked.counts[2] = ground.overlap(pose.position).to_bits();
        }
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

/// v turned by a unit quaternion; its twin is in `shaders/common/contacts.wgsl`.
pub(crate) fn rotate(q: Quat, v: Vec3) -> Vec3 {
    let axis = Vec3::new(q.x, q.y, q.z);
    let t = axis.cross(v) * 2.0;
    (v + t * q.w) + axis.cross(t)
}

/// Three rows and an offset, as the axes of a collider in the world and its position. The twin is in
/// `shaders/common/contacts.wgsl`.
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

    /// Where a collider is after a share of the step. Its turn is interpolated on the straight line between the two quaternions: the
    /// axis is right, the speed by 1 % at 60° a step.
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

    /// What a collider does in a substep that is here before and there after: its frame and its travel.
    pub fn between(start: Self, end: Self) -> [Self; 2] {
        // (R₁ − R₀) R₀ᵀ; see `shaders/collision/interpolate_colliders.wgsl`.
        let (from, to) = (start.turned(), end.turned());
        let turn = [0, 1, 2].map(|k| start.turned_out_of(to[k] - from[k]));
        [Self::new(end.directions(), start.offset()), Self::new(turn, end.offset() - start.offset())]
    }

    fn directions(&self) -> [Vec3; 3] {
        self.rows.map(|[x, y, z, _]| Vec3::new(x, y, z))
    }

    /// The rows across.
    fn turned(&self) -> [Vec3; 3] {
        [0, 1, 2].map(|k| Vec3::from(self.rows.map(|row| row[k])))
    }

    pub fn offset(&self) -> Vec3 {
        Vec3::from(self.rows.map(|[.., of]| of))
    }

    /// A direction of the world, as the collider has it.
    pub fn turned_into(&self, v: Vec3) -> Vec3 {
        Vec3::from(self.directions().map(|row| dot(row, v)))
    }

    /// A direction of the collider, as the world has it.
    pub fn turned_out_of(&self, v: Vec3) -> Vec3 {
        let [x, y, z] = self.directions();
        (x * v.x + y * v.y) + z * v.z
    }
}
