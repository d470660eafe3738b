//! Skinned particles while a simulation runs: their limits, and the joint matrices.

use crate::error::{Error, Result, check_finite};
use crate::geometry::check_range;
use crate::scene::{Skinned, SkinnedLimits, SkinnedPose};
use crate::sim::controls::Controls;
use crate::words::{WordReader, WordWriter};
use std::ops::Range;

/// A joint matrix, column by column; the last row is (0, 0, 0, 1).
pub(crate) type Joint = [[f32; 4]; 4];

/// The value of [`SkinnedState::substep`] if the pose jumps: the next step does not interpolate it.
pub(crate) const JUMP: u32 = u32::MAX;

/// A skinned particle: `SkinnedRow` in `shaders/integrate/skinned.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct SkinnedRow {
    pub particle: u32,
    /// Maximum distance from the skinned position \[m\].
    pub max_distance: f32,
    pub backstop_distance: f32,
    /// 0 without a backstop.
    pub backstop_radius: f32,
}

/// The bind pose and the joints of a skinned particle: `Bind` in `shaders/integrate/skinned.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Bind {
    pub position: [f32; 3],
    /// 1 if the joints compute the pose, else 0.
    pub is_bound: u32,
    pub normal: [f32; 3],
    pub padding: u32,
    pub joints: [u32; 4],
    pub weights: [f32; 4],
}

/// A skinned pose: `Pose` in `shaders/integrate/skinned.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct PoseRow {
    pub position: [f32; 3],
    pub padding: u32,
    pub normal: [f32; 3],
    pub more_padding: u32,
}

/// The pose at the start of the step: `SkinnedState` in `shaders/integrate/skinned.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct SkinnedState {
    pub position: [f32; 3],
    /// Number of substeps of this step that have begun, or [`JUMP`].
    pub substep: u32,
    pub normal: [f32; 3],
    pub padding: u32,
}

impl SkinnedState {
    /// The state of a pose that jumps.
    pub const JUMPS: Self = Self { position: [0.0; 3], substep: JUMP, normal: [0.0; 3], padding: 0 };
}

impl PoseRow {
    pub fn new(SkinnedPose { position, normal }: SkinnedPose) -> Self {
        Self { position, normal, ..Self::default() }
    }
}

impl Bind {
    pub fn new(skinned: &Skinned) -> Self {
        let SkinnedPose { position, normal } = skinned.pose;
        let Some(own) = skinned.joints else { return Self { position, normal, ..Self::default() } };
        Self { position, is_bound: 1, normal, padding: 0, joints: own.joints, weights: own.weights }
    }
}

/// The limits and the joint matrices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skinning {
    pub limits: Vec<SkinnedLimits>,
    pub joints: Vec<Joint>,
}

impl Controls {
    /// `Ok` if the particle may have a target.
    pub fn check_not_skinned(&self, what: &str, particle: u32) -> Result<()> {
        if self.scene.skinned.contains(particle) { Err(Error::Skinned { what: what.into(), particle }) } else { Ok(()) }
    }

    /// Restores the limits of the scene and the bind pose. The total shift of the origin moves the joints.
    pub(super) fn reset_skinning(&mut self) {
        let [x, y, z] = self.shift.total().map(|component| component as f32);
        let joint = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [x, y, z, 1.0]];
        self.skinning.limits = self.scene.skinned.rows.iter().map(|skinned| skinned.limits).collect();
        self.skinning.joints = vec![joint; self.scene.joint_count() as usize];
    }

    /// The range of `count` rows of skinned particles from `first` on.
    pub fn skinned_range(&self, what: &str, first: u32, count: usize) -> Result<Range<usize>> {
        check_range(what, "skinned particle", first, count, self.scene.skinned.rows.len())
    }

    /// `Ok` if these poses of the rows from `first` on can be set; returns the range of the rows.
    pub fn check_skinned_poses(&self, first: u32, poses: &[SkinnedPose]) -> Result<Range<usize>> {
        let range = self.skinned_range("set_skinned_poses", first, poses.len())?;
        for (row, pose) in range.clone().zip(poses) {
            if self.scene.skinned.rows[row].joints.is_some() {
                let needed = "rows without joints; call set_joints to move the others";
                return Err(Error::NotEnabled { what: "set_skinned_poses", needed });
            }
            check_finite(|| format!("position of skinned particle {row}"), pose.position)?;
            check_finite(|| format!("normal of skinned particle {row}"), pose.normal)?;
        }
        Ok(range)
    }

    /// Sets limits of the rows from `first` on; returns the range of the rows.
    pub fn set_skinned_limits(&mut self, first: u32, limits: &[SkinnedLimits]) -> Result<Range<usize>> {
        let range = self.skinned_range("set_skinned_limits", first, limits.len())?;
        range.clone().zip(limits).try_for_each(|(row, limits)| limits.check(row))?;
        self.skinning.limits[range.clone()].copy_from_slice(limits);
        Ok(range)
    }

    /// Sets joint matrices from `first` on; returns the range of the joints.
    pub fn set_joints(&mut self, first: u32, joints: &[Joint]) -> Result<Range<usize>> {
        let range = check_range("set_joints", "joint", first, joints.len(), self.skinning.joints.len())?;
        range.clone().zip(joints).try_for_each(|(index, joint)| check_joint(index, joint))?;
        self.skinning.joints[range.clone()].copy_from_slice(joints);
        Ok(range)
    }

    /// The rows of the skinned particles.
    pub fn skinned_rows(&self) -> Vec<SkinnedRow> {
        let row = |(skinned, limits): (&Skinned, &SkinnedLimits)| {
            let [backstop_distance, backstop_radius] =
                limits.backstop.map_or([0.0; 2], |own| [own.distance, own.radius]);
            SkinnedRow {
                particle: skinned.particle,
                max_distance: limits.max_distance,
                backstop_distance,
                backstop_radius,
            }
        };
        self.scene.skinned.rows.iter().zip(&self.skinning.limits).map(row).collect()
    }

    /// The bind poses and joints, which no shift of the origin moves.
    pub fn skinned_binds(&self) -> Vec<Bind> {
        self.shift.start_skinned(&self.scene).iter().map(Bind::new).collect()
    }

    /// The poses and the states at the start.
    pub fn skinned_start(&self) -> (Vec<PoseRow>, Vec<SkinnedState>) {
        let poses: Vec<PoseRow> = self.scene.skinned.rows.iter().map(|skinned| PoseRow::new(skinned.pose)).collect();
        let state =
            |&PoseRow { position, normal, .. }: &PoseRow| SkinnedState { position, substep: 0, normal, padding: 0 };
        let states = poses.iter().map(state).collect();
        (poses, states)
    }

    /// `Ok` if all joints are finite after a shift.
    pub(super) fn check_joint_shift(&self, offset: [f32; 3]) -> Result<()> {
        for (index, joint) in self.skinning.joints.iter().enumerate() {
            check_joint(index, &shifted_joint(joint, offset))?;
        }
        Ok(())
    }

    pub(super) fn shift_joints(&mut self, offset: [f32; 3]) {
        self.skinning.joints.iter_mut().for_each(|joint| *joint = shifted_joint(joint, offset));
    }

    pub(super) fn write_skinning(&self, w: &mut WordWriter) {
        w.list(&self.skinned_rows());
        w.list(&self.skinning.joints);
    }

    pub(super) fn read_skinning(&mut self, r: &mut WordReader<'_>) -> Result<()> {
        let rows: Vec<SkinnedRow> = r.list_of("skinned particles", self.scene.skinned.rows.len())?;
        let limits = rows.iter().map(|row| {
            let backstop = crate::scene::Backstop { distance: row.backstop_distance, radius: row.backstop_radius };
            SkinnedLimits { max_distance: row.max_distance, backstop: (row.backstop_radius != 0.0).then_some(backstop) }
        });
        let limits: Vec<SkinnedLimits> = limits.collect();
        limits.iter().enumerate().try_for_each(|(row, limits)| limits.check(row))?;
        let joints: Vec<Joint> = r.list_of("joints", self.skinning.joints.len())?;
        joints.iter().enumerate().try_for_each(|(index, joint)| check_joint(index, joint))?;
        self.skinning = Skinning { limits, joints };
        Ok(())
    }
}

fn shifted_joint(joint: &Joint, offset: [f32; 3]) -> Joint {
    let mut joint = *joint;
    joint[3].iter_mut().zip(offset).for_each(|(own, offset)| *own += offset);
    joint
}

/// `Ok` if a joint matrix is finite and its last row is (0, 0, 0, 1).
fn check_joint(index: usize, joint: &Joint) -> Result<()> {
    if let Some(&value) = joint.iter().flatten().find(|value| !value.is_finite()) {
        return Err(Error::invalid(format!("matrix of joint {index}"), value, "finite"));
    }
    for (column, (own, expected)) in joint.iter().zip([0.0, 0.0, 0.0, 1.0]).enumerate() {
        if (own[3] - expected).abs() > 1e-5 {
            let what = format!("last component of column {column} of joint {index}");
            return Err(Error::invalid(what, own[3], "0, and 1 in the last column: matrices are affine, by columns"));
        }
    }
    Ok(())
}
