//! Changes of colliders while a solver runs.

use super::solver::Solver;
use crate::collision::{Collider, ColliderId, ColliderRow, ContactMaterial, ContactMaterialId, ContactScale, Pose};
use crate::error::Result;
use crate::sim::controls::Controls;
use std::ops::Range;

impl Solver {
    /// Adds a collider; it may reuse the index of a removed one. Particles that overlap it are pushed out at
    /// [`crate::Settings::recovery_speed`].
    ///
    /// # Errors
    /// The values must be in range, and the contact material must exist. [`crate::Error::TooLarge`] beyond 4096 colliders.
    /// [`crate::Error::LimitExceeded`] and others of [`Solver::new`] for the first collider, and for the data of meshes.
    pub fn add_collider(&mut self, collider: &Collider) -> Result<ColliderId> {
        self.change_colliders(|controls| controls.add_collider(collider))
    }

    /// Replaces a collider. Its pose changes at once, without a motion.
    ///
    /// # Errors
    /// As [`Solver::add_collider`]; the collider must exist.
    pub fn set_collider(&mut self, id: ColliderId, collider: &Collider) -> Result<()> {
        self.change_colliders(|controls| controls.set_collider(id, collider)).map(drop)
    }

    /// Removes a collider, and releases the attachments to it.
    ///
    /// # Errors
    /// The collider must exist.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<()> {
        let index = self.controls.remove_collider(id)?;
        self.write_collider(index);
        self.write_attachment_order();
        self.renew_contact_params();
        Ok(())
    }

    /// Sets the pose of a collider at the end of the next step. It moves there through the substeps, on a straight line
    /// and about one axis, and pushes and drags particles in contact. Then it rests until the next call.
    ///
    /// No particle passes through it at any speed, except particles that are truncated at other surfaces (see
    /// [`crate::SelfCollisionLevel::Surfaces`]). A rotation of more than half a turn per step takes the shorter way.
    ///
    /// # Errors
    /// The collider must exist. The position must be within 1e6 m of the origin, and the rotation finite and not 0.
    pub fn move_collider(&mut self, id: ColliderId, pose: Pose) -> Result<()> {
        let index = self.controls.colliders.move_to(id, pose)?;
        self.write_collider(index);
        Ok(())
    }

    /// Changes a contact material for all of its particles and colliders. [`Solver::reset`] does not revert the change. Collider forces
    /// are 0 until the next step if restitution or the contacts of triangles with colliders begin with it.
    ///
    /// # Errors
    /// The material must exist, and its values must be in range. [`crate::Error::LimitExceeded`] if buffers for the
    /// first restitution or the first contacts of triangles exceed the limits of the device.
    pub fn set_contact_material(&mut self, id: ContactMaterialId, material: ContactMaterial) -> Result<()> {
        let (before, contacts) = (self.controls.scene.contact_material(id)?, self.controls.collider_contacts());
        self.controls.set_contact_material(id, material)?;
        let needs_passes = self.controls.has_begun_since(contacts) || !self.contacts.fits(&self.controls);
        let remade = self.fit_passes().and_then(|()| if needs_passes { self.remake_collider_passes() } else { Ok(()) });
        if let Err(error) = remade {
            self.controls.set_contact_material(id, before)?;
            return Err(error);
        }
        self.renew_contact_params();
        Ok(())
    }

    /// Changes the scales of thickness and friction of a range of particles, one value each: see
    /// [`crate::Scene::set_contact_scales`]. [`Solver::reset`] does not revert the change.
    ///
    /// The first scales reset all contacts and their friction anchors. Collider forces and the counters of
    /// [`crate::ContactReport`] are 0 until the next step. To avoid this, set scales of 1 in the scene. Later scales set collider forces
    /// to 0 if the contacts of triangles with colliders begin with them.
    ///
    /// # Errors
    /// The particles must exist. Each scale must be in range, and there must be one per particle.
    /// [`crate::Error::LimitExceeded`] can occur with the first scales, if buffers exceed the limits of the device.
    pub fn set_contact_scales(&mut self, particles: Range<u32>, scales: &[ContactScale]) -> Result<()> {
        let (before, contacts) = (self.controls.scene.contact_scales.clone(), self.controls.collider_contacts());
        self.controls.scene.set_contact_scales(particles.clone(), scales)?;
        if particles.is_empty() {
            return Ok(());
        }
        self.controls.make_plan();
        // The first scales need other buffers and passes. Later ones may need the passes of triangles.
        let is_first = before.len() != self.controls.scene.contact_scales.len();
        let remade = if is_first {
            self.remake_contacts()
        } else if self.controls.has_begun_since(contacts) || !self.contacts.fits(&self.controls) {
            self.remake_collider_passes()
        } else {
            Ok(())
        };
        if let Err(error) = remade {
            self.controls.scene.contact_scales = before;
            self.controls.make_plan();
            return Err(error);
        }
        if is_first {
            self.contact_params = self.controls.contact_params();
            self.upload_params();
        } else {
            self.contacts.write_scales(&self.queue, &self.controls, particles);
        }
        self.mark_stale();
        Ok(())
    }

    fn remake_collider_passes(&mut self) -> Result<()> {
        let made = self.other_collider_passes()?;
        self.contacts.set_collider_passes(&self.device, made);
        Ok(())
    }

    fn change_colliders<T>(&mut self, change: impl FnOnce(&mut Controls) -> Result<T>) -> Result<T> {
        let before = self.controls.colliders.clone();
        let changed = change(&mut self.controls)?;
        // The first collider needs new passes and buffers.
        let remade = self.fit_passes().and_then(|()| {
            if self.contacts.contact_passes.is_none() {
                return self.remake_contacts();
            }
            self.remake_collider_passes()
        });
        if let Err(error) = remade {
            self.controls.colliders = before;
            self.controls.make_plan();
            return Err(error);
        }
        self.contact_params = self.controls.contact_params();
        self.upload_params();
        self.mark_stale();
        Ok(changed)
    }

    /// Updates the contact parameters; invalidates the pair list if they changed.
    pub(super) fn renew_contact_params(&mut self) {
        let params = self.controls.contact_params();
        if std::mem::replace(&mut self.contact_params, params) != params {
            self.upload_params();
            self.mark_stale();
        }
    }

    /// Writes the target and the flags of a collider; the GPU keeps its current pose.
    fn write_collider(&self, index: usize) {
        if let Some(collider_passes) = &self.contacts.collider_passes {
            let (first, row) = (ColliderRow::TARGET, &self.controls.colliders.rows[index..=index]);
            let bytes = &bytemuck::cast_slice(row)[first.clone()];
            let place = index * size_of::<ColliderRow>() + first.start;
            self.queue.write_buffer(&collider_passes.colliders, place as u64, bytes);
        }
    }

    /// Sets the forces by the user on all particles and orientations to 0.
    pub(super) fn clear_forces(&self) {
        if self.controls.settings.forces {
            self.write(&self.buffers.forces, 0, &vec![[0.0f32; 4]; self.controls.scene.entity_count()]);
        }
    }
}
