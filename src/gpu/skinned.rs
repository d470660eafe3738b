//! Skinned particles of a solver: buffers, and changes while it runs.

use super::maker::Maker;
use super::readback::Readback;
use super::solver::Solver;
use crate::error::Result;
use crate::scene::{SkinnedLimits, SkinnedPose};
use crate::sim::controls::Controls;
use crate::sim::skinned::{Bind, Joint, PoseRow, SkinnedRow, SkinnedState};
use std::ops::Range;
use wgpu::BufferUsages;

/// Byte sizes of a row in each buffer.
const ROW_BYTES: u64 = size_of::<SkinnedRow>() as u64;
pub(super) const BIND_BYTES: u64 = size_of::<Bind>() as u64;
pub(super) const POSE_BYTES: u64 = size_of::<PoseRow>() as u64;
const STATE_BYTES: u64 = size_of::<SkinnedState>() as u64;

/// The buffers of skinned particles, by row; joints by index.
#[derive(Debug)]
pub(super) struct SkinnedBuffers {
    pub rows: wgpu::Buffer,
    pub binds: wgpu::Buffer,
    pub joints: wgpu::Buffer,
    pub poses: wgpu::Buffer,
    pub states: wgpu::Buffer,
}

impl SkinnedBuffers {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, controls: &Controls) -> Result<Self> {
        let (maker, storage) = (Maker::new(device), BufferUsages::STORAGE);
        let count = controls.scene.skinned().len() as u64;
        let joints = (controls.skinning.joints.len() * size_of::<Joint>()) as u64;
        Ok(Self {
            rows: maker.empty("skinned_rows", count * ROW_BYTES, storage)?,
            binds: maker.filled(queue, "skinned_binds", &controls.skinned_binds(), storage)?,
            joints: maker.empty("joints", joints, storage)?,
            poses: maker.empty("skinned_poses", count * POSE_BYTES, storage)?,
            states: maker.empty("skinned_states", count * STATE_BYTES, storage)?,
        })
    }

    pub fn all(&self) -> [&wgpu::Buffer; 5] {
        let Self { rows, binds, joints, poses, states } = self;
        [rows, binds, joints, poses, states]
    }
}

impl Solver {
    /// Sets the poses of the skinned particles from row `first` on, at the end of the next step. A pose moves there at
    /// constant velocity, and stays until it is set again.
    ///
    /// # Errors
    /// The rows must exist and have no joints ([`crate::Skinned::joints`]); positions and normals must be finite.
    pub fn set_skinned_poses(&mut self, first: u32, poses: &[SkinnedPose]) -> Result<()> {
        let range = self.controls.check_skinned_poses(first, poses)?;
        let rows: Vec<PoseRow> = poses.iter().map(|&pose| PoseRow::new(pose)).collect();
        self.write(&self.buffers.skinned.poses, range.start, &rows);
        Ok(())
    }

    /// Sets the limits of the skinned particles from row `first` on. [`Solver::reset`] restores those of the scene.
    ///
    /// # Errors
    /// The rows must exist, and the limits must be in range ([`SkinnedLimits`]).
    pub fn set_skinned_limits(&mut self, first: u32, limits: &[SkinnedLimits]) -> Result<()> {
        let range = self.controls.set_skinned_limits(first, limits)?;
        self.write(&self.buffers.skinned.rows, range.start, &self.controls.skinned_rows()[range]);
        Ok(())
    }

    /// Sets the joint matrices from joint `first` on, at the end of the next step: 4 × 4, column by column, from the bind pose
    /// to world space. For glTF that is the world matrix of the joint times its inverse bind matrix. Initially all are the
    /// identity.
    ///
    /// Each step computes the poses of all particles with joints by linear blend skinning: position Σ wₖ Mₖ x, normal Σ wₖ Mₖ n.
    /// The normals assume rotations and uniform scales.
    ///
    /// # Errors
    /// The joints must exist ([`crate::Scene::joint_count`]). The matrices must be finite, and their last row (0, 0, 0, 1).
    pub fn set_joints(&mut self, first: u32, joints: &[[[f32; 4]; 4]]) -> Result<()> {
        let range = self.controls.set_joints(first, joints)?;
        self.write(&self.buffers.skinned.joints, range.start, joints);
        Ok(())
    }

    /// Lets the poses of a range of rows jump in the next step, instead of moving from the previous pose. Set the new poses or
    /// joints as well, and the positions of the particles ([`Solver::set_positions`]), in any order.
    ///
    /// # Errors
    /// The rows must exist.
    pub fn teleport_skinned(&mut self, rows: Range<u32>) -> Result<()> {
        let range = self.controls.skinned_range("teleport_skinned", rows.start, rows.len())?;
        self.write(&self.buffers.skinned.states, range.start, &vec![SkinnedState::JUMPS; range.len()]);
        Ok(())
    }

    /// The poses of the skinned particles at the end of the next step, for a pass of the program that skins on the GPU. One row
    /// of 32 bytes per particle, in the order of [`crate::Scene::skinned`]: position \[m\] (three `f32`), 4 bytes of padding,
    /// normal (three `f32`), padding. STORAGE, COPY_DST, COPY_SRC.
    ///
    /// ```wgsl
    /// struct Pose { position: vec3f, normal: vec3f }
    /// @group(0) @binding(0) var<storage, read_write> poses: array<Pose>;
    /// ```
    ///
    /// Write it before [`Solver::encode`] in the same encoder. Each step overwrites the rows of particles with joints. The buffer
    /// is at least 16 bytes long. A position that is not finite quarantines the particle ([`crate::Diagnostics`]) in that step.
    /// [`Solver::reset`] and [`Solver::restore`] write all rows, [`Solver::shift_origin`] shifts them.
    pub fn skinned_poses(&self) -> &wgpu::Buffer {
        &self.buffers.skinned.poses
    }

    /// Requests the poses of the skinned particles, by row.
    pub fn request_skinned_poses(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<SkinnedPose>> {
        let decode = |bytes: &[u8]| {
            let rows = bytemuck::pod_collect_to_vec::<u8, PoseRow>(bytes);
            rows.iter().map(|row| SkinnedPose { position: row.position, normal: row.normal }).collect()
        };
        let size = self.controls.scene.skinned().len() as u64 * POSE_BYTES;
        Readback::new(&self.device, encoder, &self.buffers.skinned.poses, size, decode)
    }

    /// Waits for all submitted work and reads the poses of the skinned particles, by row.
    ///
    /// # Errors
    /// As [`Solver::read_positions`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read_skinned_poses(&self) -> Result<Vec<SkinnedPose>> {
        if self.controls.scene.skinned().is_empty() {
            return Ok(Vec::new());
        }
        super::reading::read(&self.device, &self.queue, |encoder| self.request_skinned_poses(encoder))
    }

    /// Writes limits and joints.
    pub(super) fn upload_skinning(&self) {
        self.write(&self.buffers.skinned.rows, 0, &self.controls.skinned_rows());
        self.write(&self.buffers.skinned.joints, 0, &self.controls.skinning.joints);
    }

    /// Writes the poses of the scene too.
    pub(super) fn reset_skinned(&self) {
        self.upload_skinning();
        let (poses, states) = self.controls.skinned_start();
        self.write(&self.buffers.skinned.poses, 0, &poses);
        self.write(&self.buffers.skinned.states, 0, &states);
    }
}
