//! Contact materials, friction and colliders of a scene.

use super::Scene;
use crate::collision::{
    Collider, ColliderId, Colliders, ContactMaterial, ContactMaterialId, Friction, MAX_CONTACT_MATERIALS,
};
use crate::error::{Error, Result};
use std::ops::Range;

impl Scene {
    /// Adds a contact material. Entry 0 exists from the start: [`ContactMaterial::default`].
    ///
    /// # Errors
    /// A parameter is out of range, or [`MAX_CONTACT_MATERIALS`] exist already.
    pub fn add_contact_material(&mut self, material: ContactMaterial) -> Result<ContactMaterialId> {
        let index = self.contact_materials.len();
        material.check(&format!("contact material {index}"))?;
        if index >= MAX_CONTACT_MATERIALS {
            let (count, limit) = (index as u64 + 1, MAX_CONTACT_MATERIALS as u64);
            return Err(Error::TooLarge { what: "contact materials", count, limit });
        }
        self.contact_materials.push(material);
        Ok(ContactMaterialId(index as u8))
    }

    /// Replaces a contact material.
    ///
    /// # Errors
    /// The material does not exist, or a parameter is out of range.
    pub fn set_contact_material(&mut self, id: ContactMaterialId, material: ContactMaterial) -> Result<()> {
        self.contact_material(id)?;
        material.check(&format!("contact material {}", id.index()))?;
        self.contact_materials[id.index()] = material;
        Ok(())
    }

    /// Returns an entry of the list of contact materials.
    ///
    /// # Errors
    /// The material does not exist.
    pub fn contact_material(&self, id: ContactMaterialId) -> Result<ContactMaterial> {
        self.contact_materials.get(id.index()).copied().ok_or_else(|| Error::IndexOutOfRange {
            what: "contact material id".into(),
            target: "contact material",
            index: id.index() as u64,
            count: self.contact_materials.len() as u64,
        })
    }

    /// Sets the contact material of a range of particles.
    ///
    /// # Errors
    /// A particle or the material does not exist.
    pub fn set_particle_contact(&mut self, particles: Range<u32>, material: ContactMaterialId) -> Result<()> {
        self.contact_material(material)?;
        if particles.is_empty() {
            return Ok(());
        }
        self.check_particle("set_particle_contact", particles.end - 1)?;
        self.particle_contacts[particles.start as usize..particles.end as usize].fill(material);
        Ok(())
    }

    /// Sets the friction between two contact materials, or of one with itself. It overrides
    /// [`ContactMaterial::friction`].
    ///
    /// # Errors
    /// A material does not exist, or a coefficient is out of range.
    pub fn set_friction(&mut self, a: ContactMaterialId, b: ContactMaterialId, friction: Friction) -> Result<()> {
        self.contact_material(a)?;
        self.contact_material(b)?;
        friction.check(&format!("contact materials {} and {}", a.index(), b.index()))?;
        self.friction_pairs.insert([a.0.min(b.0), a.0.max(b.0)], friction);
        Ok(())
    }

    /// Adds a collider.
    ///
    /// # Errors
    /// A parameter is out of range, or the material does not exist.
    pub fn add_collider(&mut self, collider: Collider) -> Result<ColliderId> {
        let index = self.colliders.len();
        Colliders::check(&collider, index, self.contact_materials.len())?;
        self.colliders.push(collider);
        Ok(ColliderId { index: index as u32, generation: 0 })
    }

    /// The initial colliders.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }
}
