//! Skinned particles: their passes, and changes at run time. Counterpart: `shaders/integrate/skinned.wgsl`.

use super::Reference;
use crate::error::Result;
use crate::geometry::vector::{dot, length};
use crate::scene::{SkinnedLimits, SkinnedPose};
use crate::sim::skinned::{Bind, JUMP, Joint, PoseRow, SkinnedRow, SkinnedState};
use glam::Vec3;
use std::ops::Range;

/// Poses and states by row.
#[derive(Debug, Clone, Default)]
pub(super) struct SkinnedRows {
    pub binds: Vec<Bind>,
    pub rows: Vec<SkinnedRow>,
    pub poses: Vec<PoseRow>,
    pub states: Vec<SkinnedState>,
}

impl Reference {
    /// See [`crate::Solver::set_skinned_poses`].
    ///
    /// # Errors
    /// See there.
    pub fn set_skinned_poses(&mut self, first: u32, poses: &[SkinnedPose]) -> Result<()> {
        let range = self.controls.check_skinned_poses(first, poses)?;
        self.skinned.poses[range].iter_mut().zip(poses).for_each(|(own, &pose)| *own = PoseRow::new(pose));
        Ok(())
    }

    /// See [`crate::Solver::set_skinned_limits`].
    ///
    /// # Errors
    /// See there.
    pub fn set_skinned_limits(&mut self, first: u32, limits: &[SkinnedLimits]) -> Result<()> {
        self.controls.set_skinned_limits(first, limits)?;
        self.skinned.rows = self.controls.skinned_rows();
        Ok(())
    }

    /// See [`crate::Solver::set_joints`].
    ///
    /// # Errors
    /// See there.
    pub fn set_joints(&mut self, first: u32, joints: &[Joint]) -> Result<()> {
        self.controls.set_joints(first, joints).map(drop)
    }

    /// See [`crate::Solver::teleport_skinned`].
    ///
    /// # Errors
    /// See there.
    pub fn teleport_skinned(&mut self, rows: Range<u32>) -> Result<()> {
        let range = self.controls.skinned_range("teleport_skinned", rows.start, rows.len())?;
        self.skinned.states[range].fill(SkinnedState::JUMPS);
        Ok(())
    }

    /// The poses of the skinned particles, by row; see [`crate::Solver::read_skinned_poses`].
    pub fn read_skinned_poses(&self) -> Vec<SkinnedPose> {
        let pose = |row: &PoseRow| SkinnedPose { position: row.position, normal: row.normal };
        self.skinned.poses.iter().map(pose).collect()
    }

    /// Restores the poses of the scene.
    pub(super) fn reset_skinned(&mut self) {
        self.skinned.rows = self.controls.skinned_rows();
        (self.skinned.poses, self.skinned.states) = self.controls.skinned_start();
    }

    pub(super) fn shift_skinned(&mut self, offset: Vec3) {
        for (pose, state) in self.skinned.poses.iter_mut().zip(&mut self.skinned.states) {
            for position in [&mut pose.position, &mut state.position] {
                *position = (Vec3::from(*position) + offset).into();
            }
        }
    }

    pub(super) fn start_skinned(&mut self) {
        for (row, bind) in self.skinned.binds.iter().enumerate() {
            if bind.is_bound == 1 {
                self.skinned.poses[row] = skinned_pose(bind, &self.controls.skinning.joints);
            }
            let i = self.skinned.rows[row].particle as usize;
            if self.controls.inverse_masses[i] == 0.0 {
                let moved = Vec3::from(self.skinned.poses[row].position) - self.positions[i];
                self.velocities[i] = moved / self.params.dt;
                self.fresh[i] = true;
            }
        }
    }

    pub(super) fn limit_skinned(&mut self, is_first: bool) {
        for place in 0..self.skinned.rows.len() {
            let pose = self.skinned.poses[place];
            let state = &mut self.skinned.states[place];
            if is_first {
                if state.substep == JUMP {
                    (state.position, state.substep, state.normal) = (pose.position, 0, pose.normal);
                }
                state.substep += 1;
            }
            let (row, state) = (self.skinned.rows[place], *state);
            let i = row.particle as usize;
            if self.controls.inverse_masses[i] == 0.0 {
                continue;
            }
            let share = state.substep as f32 / self.params.substeps as f32;
            let [from, normal] = [state.position, state.normal].map(Vec3::from);
            let moved = (Vec3::from(pose.position) - from) * share;
            let turn = (Vec3::from(pose.normal) - normal) * share;
            let p = ((self.positions[i] - from) - moved) + self.displacements[i];
            self.displacements[i] += limited(p, normal + turn, &row) - p;
        }
    }

    pub(super) fn finish_skinned(&mut self) {
        for (pose, state) in self.skinned.poses.iter().zip(&mut self.skinned.states) {
            state.substep = 0;
            if Vec3::from(pose.position).is_finite() && Vec3::from(pose.normal).is_finite() {
                (state.position, state.normal) = (pose.position, pose.normal);
            }
        }
    }
}

/// Linear blend skinning of a bind pose.
fn skinned_pose(bind: &Bind, joints: &[Joint]) -> PoseRow {
    let column = |k: usize| {
        let terms = bind.joints.iter().zip(bind.weights).map(|(&joint, weight)| {
            let [x, y, z, _] = joints[joint as usize][k];
            Vec3::new(x, y, z) * weight
        });
        terms.reduce(|sum, term| sum + term).unwrap_or_default()
    };
    let [a, b, c, offset] = [0, 1, 2, 3].map(column);
    let transformed = |v: [f32; 3]| (a * v[0] + b * v[1]) + c * v[2];
    let position = transformed(bind.position) + offset;
    PoseRow { position: position.into(), normal: transformed(bind.normal).into(), ..PoseRow::default() }
}

/// Moves p, relative to the skinned position, within the limits.
fn limited(p: Vec3, normal: Vec3, row: &SkinnedRow) -> Vec3 {
    let mut out = p;
    let l = length(p);
    if l > row.max_distance {
        out = p * (row.max_distance / l);
    }
    let size = length(normal);
    if row.backstop_radius > 0.0 && size > 0.0 {
        out = before_backstop(out, normal / size, row);
    }
    out
}

/// Moves p, relative to the skinned position, out of the backstop; n is the unit normal.
fn before_backstop(p: Vec3, n: Vec3, row: &SkinnedRow) -> Vec3 {
    let (b, r) = (row.backstop_distance, row.backstop_radius);
    let apart = b + r;
    let along = dot(p, n);
    // |q|² − r² for q = p + n (b + r), without the cancellation of large radii
    let behind = b * (b + 2.0 * r);
    let gap = (dot(p, p) + 2.0 * apart * along) + behind;
    if gap.is_nan() || gap >= 0.0 {
        return p;
    }
    let q = p + n * apart;
    let m = length(q);
    let out = if m > 1e-6 * r { p - q * (gap / (m * (m + r))) } else { n * -b };
    let most = row.max_distance;
    if length(out) > most {
        // The nearest point of the circle in which both spheres intersect.
        let z = (behind + most * most) / (2.0 * apart);
        let beside = p - n * along;
        // Orthogonal to n even if p is almost on the axis.
        let side = beside - n * dot(beside, n);
        let across = length(side);
        let radius = ((most - z) * (most + z)).max(0.0).sqrt();
        let scale = if across > 0.0 { radius / across } else { 0.0 };
        return side * scale - n * z;
    }
    out
}
