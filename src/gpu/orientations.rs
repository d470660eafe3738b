//! Orientations of a solver: changes, requests and reads.

use super::readback::Readback;
use super::solver::Solver;
use crate::error::Result;
use crate::geometry::rotation::{parameters_of, quaternion_of};
use crate::scene::OrientationId;
use glam::DQuat;

impl Solver {
    /// The frames of rods after the last step, in the order of [`crate::Scene::orientations`]. A frame is a unit quaternion
    /// (x, y, z, w), the rotation from the axes of the world to d₁, d₂, d₃. STORAGE, VERTEX, COPY_SRC.
    pub fn frames(&self) -> &wgpu::Buffer {
        &self.buffers.frames
    }

    /// Number of orientations.
    pub fn orientation_count(&self) -> u32 {
        self.controls.scene.orientations.len() as u32
    }

    /// Pins orientations at their rotations.
    ///
    /// # Errors
    /// The orientations must exist.
    pub fn pin_orientations(&mut self, ids: &[OrientationId]) -> Result<()> {
        let changed = self.controls.set_orientations_pinned(ids, true)?;
        for &entity in &changed {
            self.write_velocity(entity, &[[0.0; 3]]);
        }
        self.upload_orientation_pins(&changed);
        Ok(())
    }

    /// Releases pinned orientations; each keeps the angular velocity of its last step.
    ///
    /// # Errors
    /// The orientations must exist, and have an inertia in the scene.
    pub fn release_orientations(&mut self, ids: &[OrientationId]) -> Result<()> {
        let changed = self.controls.set_orientations_pinned(ids, false)?;
        self.upload_orientation_pins(&changed);
        Ok(())
    }

    /// Sets the rotation of a pinned orientation at the end of the next step, a unit quaternion (x, y, z, w). The
    /// orientation turns there the short way at constant angular velocity, and stays until it gets another target or is
    /// released. For more than half a turn, set a target in each step.
    ///
    /// A substep turns by 4 atan(ω h/4) instead of ω h: 1 % less at 0.7 rad. The next step corrects the difference.
    ///
    /// # Errors
    /// The orientation must exist and be pinned, the rotation must be a unit quaternion within 1e-3.
    pub fn set_orientation_target(&mut self, id: OrientationId, rotation: [f32; 4]) -> Result<()> {
        let target = self.controls.orientation_target(id, rotation)?;
        self.upload_targets_of(&[target])
    }

    /// Sets the rotations of the orientations from `first` on, unit quaternions (x, y, z, w). Angular velocities stay. A
    /// pinned orientation with a target returns to its target.
    ///
    /// # Errors
    /// The orientations must exist, the rotations must be unit quaternions within 1e-3.
    pub fn set_rotations(&mut self, first: OrientationId, rotations: &[[f32; 4]]) -> Result<()> {
        let entity = self.controls.check_rotations(first, rotations)? as usize;
        let parameters = rotations.iter().map(|own| parameters_of(DQuat::from_array(own.map(f64::from))));
        let masses = &self.controls.inverse_masses[entity..];
        let rows: Vec<[f32; 4]> = parameters.zip(masses).map(|(m, &w)| m.extend(w).into()).collect();
        self.write_orientations(first.index(), &rows);
        Ok(())
    }

    /// Sets the angular velocities of the orientations from `first` on, in the axes of the world [rad/s]. A pinned
    /// orientation without a target turns at its velocity.
    ///
    /// # Errors
    /// The orientations must exist, and the velocities must be finite.
    pub fn set_angular_velocities(&mut self, first: OrientationId, velocities: &[[f32; 3]]) -> Result<()> {
        let entity = self.controls.check_orientation_values("angular velocity", first, velocities)?;
        self.write_velocity(entity, velocities);
        Ok(())
    }

    /// Sets the torques on the orientations from `first` on, in the axes of the world \[N m\]. They act in every substep
    /// until the next call; initially they are 0.
    ///
    /// # Errors
    /// [`crate::Settings::forces`] must be on; the orientations must exist, the torques must be finite.
    pub fn set_torques(&mut self, first: OrientationId, torques: &[[f32; 3]]) -> Result<()> {
        let entity = self.controls.check_torques(first, torques)?;
        let rows: Vec<[f32; 4]> = torques.iter().map(|&[x, y, z]| [x, y, z, 0.0]).collect();
        self.write(&self.buffers.forces, entity as usize, &rows);
        Ok(())
    }

    /// Requests the frames of rods at this point of the encoder: see [`Solver::frames`].
    pub fn request_orientations(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<[f32; 4]>> {
        let size = u64::from(self.orientation_count()) * 16;
        let decode = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, [f32; 4]>(bytes);
        Readback::new(&self.device, encoder, &self.buffers.frames, size, decode)
    }

    /// Uploads the orientations of the scene.
    pub(super) fn upload_orientations(&self) {
        let scene = &self.controls.scene;
        let count = scene.particle_count();
        let masses = &self.controls.inverse_masses[count..];
        let rows: Vec<[f32; 4]> =
            scene.orientations.iter().zip(masses).map(|(own, &w)| own.parameters().extend(w).into()).collect();
        self.write_orientations(0, &rows);
        let velocities: Vec<[f32; 3]> = scene.orientations.iter().map(|own| own.angular_velocity).collect();
        self.write_velocity(count as u32, &velocities);
    }

    /// Writes parameters and inverse inertias of the orientations from `first` on, and their quaternions.
    fn write_orientations(&self, first: usize, rows: &[[f32; 4]]) {
        let entity = self.particle_count() as usize + first;
        self.write(&self.buffers.positions, entity, rows);
        self.write(&self.buffers.residuals, entity, &vec![[0u32; 4]; rows.len()]);
        let frames = rows.iter().map(|&[x, y, z, _]| quaternion_of(glam::Vec3::new(x, y, z)).to_array());
        self.write(&self.buffers.frames, first, &frames.collect::<Vec<_>>());
    }

    fn upload_orientation_pins(&self, changed: &[u32]) {
        for &entity in changed {
            let w = self.controls.inverse_masses[entity as usize];
            self.write(&self.buffers.positions, entity as usize * 4 + 3, &[w]);
        }
        if !changed.is_empty() {
            self.upload_targets();
        }
    }
}
