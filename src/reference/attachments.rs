//! Attachments: their passes, changes at run time, and forces. Counterpart: `shaders/schedule/attachments/`.

use super::Reference;
use crate::constraints::xpbd::{ScaledMaterial, delta_lambda, unilateral};
use crate::error::Result;
use crate::geometry::vector::{dot, length};
use crate::scene::{Attachment, AttachmentForce, AttachmentId};
use crate::sim::attachments::{AttachmentRow, AttachmentState, COUNT_MASK, IN_SPACE, ON_COLLIDER, ONLY_PULL};
use glam::Vec3;

/// Rows and states of all attachments.
#[derive(Debug, Clone, Default)]
pub(super) struct Attached {
    pub rows: Vec<AttachmentRow>,
    pub states: Vec<AttachmentState>,
}

/// A target that is not a point of particles, at the end of the substep.
#[derive(Default)]
struct Target {
    /// Position relative to the first particle at the start of the substep \[m\].
    place: Vec3,
    /// Motion in the substep \[m\].
    motion: Vec3,
    /// Offset from the position of the collider \[m\].
    arm: Vec3,
}

impl Reference {
    pub(super) fn solve_attachments(&mut self, first_iteration: bool) {
        for place in self.controls.attachments.places() {
            let index = self.controls.attachments.order[place] as usize;
            self.solve_attachment(index, first_iteration);
        }
    }

    fn solve_attachment(&mut self, index: usize, first_iteration: bool) {
        let (row, mut state) = (self.attached.rows[index], self.attached.states[index]);
        if state.broken != 0 {
            return;
        }
        if first_iteration {
            state.lambda = [0.0; 3];
            state.substep += 1;
        }
        let count = (row.flags & COUNT_MASK) as usize;
        let first = row.particles[0] as usize;
        let (x0, d0) = (self.positions[first], self.displacements[first]);
        let (mut s, mut motion, mut weighted) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for k in 0..count {
            let (i, factor) = (row.particles[k] as usize, row.factors[k]);
            let d = self.displacements[i];
            let p = if k == 0 { d } else { (self.positions[i] - x0) + d };
            s += p * factor;
            motion += (d - d0) * factor;
            weighted += self.controls.inverse_masses[i] * (factor * factor);
        }
        let mut arm = Vec3::ZERO;
        if row.flags & (IN_SPACE | ON_COLLIDER) != 0 {
            let target = self.attachment_target(&row, &state, x0);
            s -= target.place;
            motion -= target.motion - d0;
            arm = target.arm;
        }
        let impulse = impulse_of(&row, &mut state, [s, motion], weighted);
        state.sum = (Vec3::from(state.sum) + impulse).into();
        state.moment = (Vec3::from(state.moment) + arm.cross(-impulse)).into();
        self.attached.states[index] = state;
        for k in 0..count {
            let i = row.particles[k] as usize;
            self.displacements[i] += (impulse * row.factors[k]) * self.controls.inverse_masses[i];
        }
    }

    fn attachment_target(&self, row: &AttachmentRow, state: &AttachmentState, x0: Vec3) -> Target {
        if row.flags & IN_SPACE != 0 {
            let anchor = Vec3::from(state.anchor);
            let step = Vec3::from(row.target) - anchor;
            let start = anchor + step * ((state.substep - 1) as f32 * row.share);
            let end = anchor + step * (state.substep as f32 * row.share);
            return Target { place: end - x0, motion: end - start, arm: Vec3::ZERO };
        }
        let collider = &self.colliders[row.collider as usize];
        let arm = collider.frame.turned_out_of(row.target.into());
        let moved = (collider.frame.offset() - x0) + collider.travel.offset();
        let motion = collider.travel.turned_into(arm) + collider.travel.offset();
        Target { place: moved + arm, motion, arm }
    }

    /// Adds the mean forces and torques of attachments to those on colliders.
    pub(super) fn add_attachment_forces(&mut self) {
        let unit = self.params.h * self.params.dt;
        for index in 0..self.colliders.len() {
            let mut sums = [Vec3::ZERO; 2];
            for place in self.controls.attachments.places() {
                let slot = self.controls.attachments.order[place] as usize;
                let (row, state) = (&self.attached.rows[slot], &self.attached.states[slot]);
                if row.flags & ON_COLLIDER != 0 && row.collider as usize == index {
                    sums[0] -= Vec3::from(state.sum);
                    sums[1] += Vec3::from(state.moment);
                }
            }
            for (own, sum) in self.collider_forces[index].iter_mut().zip(sums) {
                *own += sum / unit;
            }
        }
    }

    /// Ends a step: mean forces, breaks, points in space at their targets.
    pub(super) fn finish_attachments(&mut self) {
        let unit = self.params.h * self.params.dt;
        for (row, state) in self.attached.rows.iter().zip(&mut self.attached.states) {
            let force = Vec3::from(state.sum) / unit;
            state.broken |= u32::from(row.break_force > 0.0 && length(force) > row.break_force);
            state.force = force.into();
            (state.sum, state.moment, state.substep) = ([0.0; 3], [0.0; 3], 0);
            state.anchor = row.target;
        }
        self.controls.attachments.commit_targets();
    }

    /// See [`crate::Solver::attach`].
    ///
    /// # Errors
    /// See there.
    pub fn attach(&mut self, attachment: Attachment) -> Result<AttachmentId> {
        Ok(self.attach_all(&[attachment])?[0])
    }

    /// See [`crate::Solver::attach_all`].
    ///
    /// # Errors
    /// See there.
    pub fn attach_all(&mut self, attachments: &[Attachment]) -> Result<Vec<AttachmentId>> {
        let ids = self.controls.attach_all(attachments)?;
        for index in ids.iter().map(|id| id.index()) {
            self.attached.rows[index] = self.controls.attachment_row(index);
            self.attached.states[index] = self.controls.attachments.initial_state(index);
        }
        Ok(ids)
    }

    /// See [`crate::Solver::release_attachment`].
    ///
    /// # Errors
    /// See there.
    pub fn release_attachment(&mut self, id: AttachmentId) -> Result<()> {
        self.controls.attachments.release(id)
    }

    /// See [`crate::Solver::move_attachment`].
    ///
    /// # Errors
    /// See there.
    pub fn move_attachment(&mut self, id: AttachmentId, position: [f32; 3]) -> Result<()> {
        let index = self.controls.attachments.move_to(id, position)?;
        self.attached.rows[index] = self.controls.attachment_row(index);
        Ok(())
    }

    /// See [`crate::Solver::read_attachments`].
    ///
    /// # Errors
    /// None.
    pub fn read_attachments(&self) -> Result<Vec<AttachmentForce>> {
        Ok(self.controls.attachments.live().map(|id| self.attached.states[id.index()].report(id)).collect())
    }
}

/// The impulse ∇C Δλ on the point \[kg m\]. `s` is x₁ − x₂, `motion` its change in the substep, `weighted` is Σ w k².
fn impulse_of(row: &AttachmentRow, state: &mut AttachmentState, [s, motion]: [Vec3; 2], weighted: f32) -> Vec3 {
    let [alpha_tilde, gamma, factor] = row.material;
    let material = ScaledMaterial { alpha_tilde, gamma, factor, relief: 0.0 };
    let lambda = &mut state.lambda;
    if row.rest_length == 0.0 {
        let mut delta = Vec3::ZERO;
        for axis in 0..3 {
            delta[axis] = delta_lambda(s[axis], weighted, motion[axis], lambda[axis], material);
            lambda[axis] += delta[axis];
        }
        return delta;
    }
    let l = length(s);
    if l.is_nan() || l <= 0.0 {
        return Vec3::ZERO;
    }
    let n = s / l;
    let mut delta = delta_lambda(l - row.rest_length, weighted, dot(n, motion), lambda[0], material);
    if row.flags & ONLY_PULL != 0 {
        delta = unilateral(delta, lambda[0]);
    }
    lambda[0] += delta;
    n * delta
}
