//! Requests of state in an encoder, without waiting, and the size of the buffers.

use super::buffers::Status;
use super::contacts::ContactStatus;
use super::instances::Instances;
use super::readback::{Readback, decode_vectors};
use super::solver::Solver;
use crate::collision::events::event_bytes;
use crate::collision::{ColliderForce, ContactEvents, ContactReport};
use crate::error::{Error, Result};
use crate::instancing::InstanceId;
use crate::scene::{Ray, RayHit};
use crate::sim::Diagnostics;

impl Solver {
    /// Requests the positions \[m\] at this point of the encoder.
    pub fn request_positions(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<[f32; 3]>> {
        self.request_vectors(encoder, &self.buffers.positions)
    }

    /// Requests the normals at this point of the encoder.
    ///
    /// # Errors
    /// [`Error::NotEnabled`] in a scene without surfaces.
    pub fn request_normals(&self, encoder: &mut wgpu::CommandEncoder) -> Result<Readback<Vec<[f32; 3]>>> {
        if self.index_count() == 0 {
            return Err(Error::NotEnabled { what: "request_normals", needed: "a scene with triangles" });
        }
        Ok(self.request_vectors(encoder, &self.buffers.normals))
    }

    /// The first triangle or particle on a ray at the given positions \[m\], such as those of a recent [`Solver::request_positions`]: as
    /// [`crate::Scene::pick`], with the triangles after tears and replacements of the scene. It does not wait.
    ///
    /// # Errors
    /// As [`crate::Scene::pick`].
    pub fn pick_at(&self, ray: &Ray, positions: &[[f32; 3]]) -> Result<Option<RayHit>> {
        self.controls.scene.pick(ray, positions)
    }

    /// Requests the velocities [m/s] at this point of the encoder.
    pub fn request_velocities(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<[f32; 3]>> {
        self.request_vectors(encoder, &self.buffers.velocities)
    }

    /// Requests the GPU's diagnostic counters.
    pub fn request_diagnostics(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Diagnostics> {
        request_status(&self.device, encoder, &self.buffers.status)
    }

    /// Requests the mean force and torque on every collider in the last step, indexed by [`crate::ColliderId::index`].
    ///
    /// A rigid body engine that uses them receives the mean of a past step. It should extrapolate with the last change
    /// (`examples/rapier.rs`), or bodies gain energy. Empty if there are no colliders or
    /// [`crate::Settings::collider_forces`] is off.
    pub fn request_collider_forces(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Vec<ColliderForce>> {
        let decode = |bytes: &[u8]| {
            let rows = bytes.chunks_exact(32).map(bytemuck::pod_read_unaligned::<[[f32; 4]; 2]>);
            rows.map(|[[x, y, z, _], [a, b, c, _]]| ColliderForce { force: [x, y, z], torque: [a, b, c] }).collect()
        };
        let count = self.controls.colliders.len() as u64;
        let collider_passes = self.contacts.collider_passes.as_ref().filter(|_| self.controls.settings.collider_forces);
        let forces = collider_passes.map(|collider_passes| &collider_passes.forces);
        let (buffer, size) = forces.map_or((&self.buffers.status, 0), |forces| (forces, count * 32));
        Readback::new(&self.device, encoder, buffer, size, decode)
    }

    /// Requests the counters of self-collision.
    pub fn request_contacts(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<ContactReport> {
        let (has_surfaces, capacities) = (self.controls.settings.keeps_surfaces_apart(), self.controls.capacities);
        let decode = move |bytes: &[u8]| {
            let status: ContactStatus = bytemuck::pod_read_unaligned(&bytes[..size_of::<ContactStatus>()]);
            status.report(has_surfaces, capacities)
        };
        Readback::new(&self.device, encoder, &self.contacts.status, size_of::<ContactStatus>() as u64, decode)
    }

    /// Requests the contact events of the last step: contacts that began, continued and ended, with their impulses.
    ///
    /// Each step replaces the events of the one before, so record one step per `encode` and request after each. The
    /// order is that of the kinds and particles, on both backends.
    ///
    /// # Errors
    /// [`crate::Error::NotEnabled`] if [`crate::Settings::contact_events`] is 0.
    pub fn request_contact_events(&self, encoder: &mut wgpu::CommandEncoder) -> Result<Readback<ContactEvents>> {
        self.controls.settings.check_contact_events()?;
        Ok(self.copy_contact_events(encoder))
    }

    /// Copies the list of contact events, which must be enabled.
    pub(super) fn copy_contact_events(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<ContactEvents> {
        let [size, _] = event_bytes(self.controls.settings.contact_events);
        Readback::new(&self.device, encoder, &self.buffers.contact_events, size, ContactEvents::decode)
    }

    pub(super) fn request_vectors(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::Buffer,
    ) -> Readback<Vec<[f32; 3]>> {
        if self.derived_is_stale {
            self.record(encoder, self.controls.plan.derived(), None);
        }
        Readback::new(&self.device, encoder, source, u64::from(self.particle_count()) * 16, decode_vectors)
    }

    /// Size of all GPU buffers \[bytes\], without pending readbacks, vertex buffers of the program and overhead of the driver.
    pub fn memory_bytes(&self) -> u64 {
        self.buffers.bytes() + self.contacts.bytes() + self.vertex_outputs.bytes()
    }
}

impl Instances {
    /// Requests the positions \[m\] of an instance at this point of the encoder.
    ///
    /// # Errors
    /// [`crate::Error::NoInstance`].
    pub fn request_positions(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        id: InstanceId,
    ) -> Result<Readback<Vec<[f32; 3]>>> {
        let slot = self.pool.slot(id)?;
        Ok(self.request_vectors(encoder, &self.buffers.positions, slot))
    }

    /// Requests the velocities [m/s] of an instance at this point of the encoder.
    ///
    /// # Errors
    /// [`crate::Error::NoInstance`].
    pub fn request_velocities(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        id: InstanceId,
    ) -> Result<Readback<Vec<[f32; 3]>>> {
        let slot = self.pool.slot(id)?;
        Ok(self.request_vectors(encoder, &self.buffers.velocities, slot))
    }

    /// Requests the GPU's diagnostic counters; [`Instances::owner`] maps the first quarantined particle to its
    /// instance.
    pub fn request_diagnostics(&self, encoder: &mut wgpu::CommandEncoder) -> Readback<Diagnostics> {
        request_status(&self.device, encoder, &self.buffers.status)
    }

    pub(super) fn request_vectors(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::Buffer,
        slot: u32,
    ) -> Readback<Vec<[f32; 3]>> {
        let size = u64::from(self.particle_count()) * 16;
        Readback::of_part(&self.device, encoder, source, u64::from(slot) * size, size, decode_vectors)
    }

    /// Size of all GPU buffers \[bytes\].
    pub fn memory_bytes(&self) -> u64 {
        self.buffers.bytes() + self.colliders.as_ref().map_or(0, |colliders| colliders.bytes)
    }
}

/// Requests the GPU's diagnostic counters.
pub(super) fn request_status(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    status: &wgpu::Buffer,
) -> Readback<Diagnostics> {
    let decode = |bytes: &[u8]| {
        let status: Status = bytemuck::pod_read_unaligned(&bytes[..size_of::<Status>()]);
        let first_non_finite = (status.first_non_finite != u32::MAX).then_some(status.first_non_finite);
        let Status { steps, non_finite_count, lost_collider_contacts, .. } = status;
        Diagnostics { steps, non_finite_count, first_non_finite, lost_collider_contacts }
    };
    Readback::new(device, encoder, status, size_of::<Status>() as u64, decode)
}
