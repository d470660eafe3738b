//! Passes over orientations: start, integrate, finish. Counterpart: `shaders/integrate/orientations.wgsl`.
//!
//! An orientation is a row behind the particles. Its position is its modified Rodrigues parameters m, its displacement d
//! the rotation vector of the substep in the axes of the world, its inverse mass the inverse inertia. The residual of
//! its position is that of m.

use super::Reference;
use crate::error::Result;
use crate::geometry::rotation::{parameters_of, quaternion_of, rotation_of_residual, rotation_step, short_parameters};
use crate::geometry::vector::{kept_of_displacement, kept_of_position, two_sum};
use crate::scene::OrientationId;
use glam::{DQuat, Vec3};

impl Reference {
    pub(super) fn orientations(&self) -> std::ops::Range<usize> {
        self.controls.scene.particle_count()..self.positions.len()
    }

    /// Converts angular velocities to rotation vectors, and predicts.
    pub(super) fn start_orientation(&mut self, i: usize) {
        self.start(i);
        self.predict_orientation(i);
    }

    /// d += h² w τ, and the rotation of the residual of m.
    fn predict_orientation(&mut self, i: usize) {
        let rest = rotation_of_residual(self.positions[i], self.position_residuals[i]);
        let w = self.controls.inverse_masses[i];
        if w == 0.0 {
            self.displacements[i] += rest;
            return;
        }
        let mut increment = self.displacement_residuals[i];
        if self.params.forces == 1 {
            increment += self.forces[i] * w * (self.params.h * self.params.h);
        }
        let (d, residual) = two_sum(self.displacements[i], increment);
        let (d, lost) = two_sum(d, rest);
        self.displacements[i] = d;
        self.displacement_residuals[i] = kept_of_displacement(residual + lost);
    }

    /// Turns m by d; d remains as the angular velocity.
    pub(super) fn turn(&mut self, i: usize) {
        let (before, d) = (self.positions[i], self.displacements[i]);
        let (m, residual) = two_sum(before, rotation_step(before, d));
        if !m.is_finite() {
            self.displacements[i] = Vec3::ZERO;
            self.displacement_residuals[i] = Vec3::ZERO;
            self.position_residuals[i] = Vec3::ZERO;
            self.quarantined[i] = true;
            return;
        }
        let rest = rotation_of_residual(before, self.position_residuals[i]);
        let (d, lost) = two_sum(d, -rest);
        self.displacements[i] = d;
        self.positions[i] = short_parameters(m);
        // The other parameters of the same orientation have other residuals.
        let is_kept = self.positions[i] == m;
        self.position_residuals[i] = if is_kept { kept_of_position(residual) } else { Vec3::ZERO };
        if self.controls.inverse_masses[i] != 0.0 {
            self.displacements[i] *= self.params.velocity_factor;
            self.displacement_residuals[i] =
                kept_of_displacement((self.displacement_residuals[i] + lost) * self.params.velocity_factor);
        }
    }

    pub(super) fn integrate_orientation(&mut self, i: usize) {
        self.turn(i);
        self.predict_orientation(i);
    }

    /// See [`crate::Solver::read_orientations`].
    ///
    /// # Errors
    /// None.
    pub fn read_orientations(&self) -> Result<Vec<[f32; 4]>> {
        Ok(self.positions[self.orientations()].iter().map(|&m| quaternion_of(m).to_array()).collect())
    }

    /// See [`crate::Solver::read_angular_velocities`].
    ///
    /// # Errors
    /// None.
    pub fn read_angular_velocities(&self) -> Result<Vec<[f32; 3]>> {
        Ok(self.velocities[self.orientations()].iter().map(|&v| v.into()).collect())
    }

    /// The rotation vectors of the orientations in the substep \[rad\], to compare backends pass by pass.
    ///
    /// # Errors
    /// None.
    pub fn read_rotation_vectors(&self) -> Result<Vec<[f32; 3]>> {
        Ok(self.displacements[self.orientations()].iter().map(|&d| d.into()).collect())
    }

    /// See [`crate::Solver::pin_orientations`].
    ///
    /// # Errors
    /// See there.
    pub fn pin_orientations(&mut self, ids: &[OrientationId]) -> Result<()> {
        for entity in self.controls.set_orientations_pinned(ids, true)? {
            self.velocities[entity as usize] = Vec3::ZERO;
            self.fresh[entity as usize] = true;
        }
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::release_orientations`].
    ///
    /// # Errors
    /// See there.
    pub fn release_orientations(&mut self, ids: &[OrientationId]) -> Result<()> {
        self.controls.set_orientations_pinned(ids, false)?;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_orientation_target`].
    ///
    /// # Errors
    /// See there.
    pub fn set_orientation_target(&mut self, id: OrientationId, rotation: [f32; 4]) -> Result<()> {
        let target = self.controls.orientation_target(id, rotation)?;
        self.controls.set_targets(&[target]);
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_rotations`].
    ///
    /// # Errors
    /// See there.
    pub fn set_rotations(&mut self, first: OrientationId, rotations: &[[f32; 4]]) -> Result<()> {
        let entity = self.controls.check_rotations(first, rotations)?;
        for (i, rotation) in (entity as usize..).zip(rotations) {
            self.positions[i] = parameters_of(DQuat::from_array(rotation.map(f64::from)));
            self.position_residuals[i] = Vec3::ZERO;
            self.displacement_residuals[i] = Vec3::ZERO;
            self.quarantined[i] = false;
        }
        Ok(())
    }

    /// See [`crate::Solver::set_angular_velocities`].
    ///
    /// # Errors
    /// See there.
    pub fn set_angular_velocities(&mut self, first: OrientationId, velocities: &[[f32; 3]]) -> Result<()> {
        let entity = self.controls.check_orientation_values("angular velocity", first, velocities)?;
        for (i, &velocity) in (entity as usize..).zip(velocities) {
            self.velocities[i] = velocity.into();
            self.fresh[i] = true;
        }
        Ok(())
    }

    /// See [`crate::Solver::set_torques`].
    ///
    /// # Errors
    /// See there.
    pub fn set_torques(&mut self, first: OrientationId, torques: &[[f32; 3]]) -> Result<()> {
        let entity = self.controls.check_torques(first, torques)?;
        for (i, &torque) in (entity as usize..).zip(torques) {
            self.forces[i] = torque.into();
        }
        Ok(())
    }
}
