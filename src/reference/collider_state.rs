//! Changes of colliders and contact materials at run time.

use super::Reference;
use super::colliders::ColliderContact;
use super::contacts::Contacts;
use super::events::Events;
use super::triangles::TriangleContacts;
use crate::collision::{Collider, ColliderId, ContactMaterial, ContactMaterialId, ContactScale, DISABLED, Pose};
use crate::error::Result;
use glam::Vec3;
use std::ops::Range;

impl Reference {
    /// See [`crate::Solver::add_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn add_collider(&mut self, collider: &Collider) -> Result<ColliderId> {
        let id = self.controls.add_collider(collider)?;
        self.take_collider(id.index());
        Ok(id)
    }

    /// See [`crate::Solver::set_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn set_collider(&mut self, id: ColliderId, collider: &Collider) -> Result<()> {
        let index = self.controls.set_collider(id, collider)?;
        self.take_collider(index);
        Ok(())
    }

    /// See [`crate::Solver::remove_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<()> {
        let index = self.controls.remove_collider(id)?;
        self.colliders[index].flags = DISABLED;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::move_collider`].
    ///
    /// # Errors
    /// See there.
    pub fn move_collider(&mut self, id: ColliderId, pose: Pose) -> Result<()> {
        let index = self.controls.colliders.move_to(id, pose)?;
        let from = self.controls.colliders.rows[index];
        let row = &mut self.colliders[index];
        (row.target_position, row.target_rotation, row.flags) =
            (from.target_position, from.target_rotation, from.flags);
        Ok(())
    }

    /// See [`crate::Solver::set_contact_material`].
    ///
    /// # Errors
    /// See there.
    pub fn set_contact_material(&mut self, id: ContactMaterialId, material: ContactMaterial) -> Result<()> {
        let contacts = self.controls.collider_contacts();
        self.controls.set_contact_material(id, material)?;
        if self.controls.has_begun_since(contacts) {
            self.forget_collider_forces();
        }
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_contact_scales`].
    ///
    /// # Errors
    /// See there.
    pub fn set_contact_scales(&mut self, particles: Range<u32>, scales: &[ContactScale]) -> Result<()> {
        let had_scales = !self.controls.scene.contact_scales.is_empty();
        let contacts = self.controls.collider_contacts();
        self.controls.scene.set_contact_scales(particles.clone(), scales)?;
        if particles.is_empty() {
            return Ok(());
        }
        self.controls.make_plan();
        if !had_scales {
            self.contacts = Contacts::new(self.particle_count());
        }
        if !had_scales || self.controls.has_begun_since(contacts) {
            self.forget_collider_forces();
        }
        self.upload();
        self.mark_stale();
        Ok(())
    }

    /// Copies a collider from the host state, and the data offsets of all.
    fn take_collider(&mut self, index: usize) {
        let rows = &self.controls.colliders.rows;
        self.colliders.resize(rows.len(), rows[index]);
        self.colliders[index] = rows[index];
        for (own, row) in self.colliders.iter_mut().zip(rows) {
            own.data = row.data;
        }
        self.collider_forces = vec![[Vec3::ZERO; 2]; rows.len()];
        self.upload();
        self.mark_stale();
    }

    pub(super) fn forget_collider_forces(&mut self) {
        self.collider_forces.fill([Vec3::ZERO; 2]);
    }

    pub(super) fn reset_contacts(&mut self) {
        self.colliders.clone_from(&self.controls.colliders.rows);
        self.collider_forces = vec![[Vec3::ZERO; 2]; self.colliders.len()];
        self.collider_contacts.fill(ColliderContact::default());
        self.contacts = Contacts::new(self.particle_count());
        self.triangle_contacts = TriangleContacts::default();
        self.lost_collider_contacts = 0;
        self.events = Events::default();
    }
}
