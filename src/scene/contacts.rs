//! Contact materials, friction and colliders of a scene.

use super::{Scene, follows};
use crate::collision::{
    Collider, ColliderId, Colliders, ContactMaterial, ContactMaterialId, ContactScale, Friction, MAX_CONTACT_MATERIALS,
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

    /// The contact material of a particle.
    ///
    /// # Errors
    /// The particle does not exist.
    pub fn particle_contact(&self, particle: u32) -> Result<ContactMaterialId> {
        self.check_particle("particle_contact", particle)?;
        Ok(self.particle_contacts[particle as usize])
    }

    /// Sets the scales of thickness and friction of a range of particles, one value each: a painted map. All are 1
    /// before. Contacts of particles, edges and triangles with each other and with colliders use them.
    ///
    /// ```
    /// # use supple::{ClothGrid, ContactScale, Scene};
    /// let mut scene = Scene::new();
    /// let cloth = scene.add_cloth_grid(&ClothGrid { columns: 3, rows: 2, ..ClothGrid::default() })?;
    /// let map = [1.0, 0.8, 0.6, 1.0, 0.8, 0.6].map(|value| ContactScale { thickness: value, ..ContactScale::default() });
    /// scene.set_contact_scales(cloth.particles, &map)?;
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// A particle does not exist, a scale is out of range, or the number of scales is not that of the particles.
    pub fn set_contact_scales(&mut self, particles: Range<u32>, scales: &[ContactScale]) -> Result<()> {
        if particles.len() != scales.len() {
            let what = "particles and their contact scales";
            return Err(Error::LengthMismatch { what, left: particles.len(), right: scales.len() });
        }
        if particles.is_empty() {
            return Ok(());
        }
        self.check_particle("set_contact_scales", particles.end - 1)?;
        particles.clone().zip(scales).try_for_each(|(particle, scale)| scale.check(particle))?;
        self.contact_scales.resize(self.particle_count(), ContactScale::default().pack());
        let own = &mut self.contact_scales[particles.start as usize..particles.end as usize];
        own.iter_mut().zip(scales).for_each(|(own, scale)| *own = scale.pack());
        Ok(())
    }

    /// The scales of a particle, as they are stored.
    ///
    /// # Errors
    /// The particle does not exist.
    pub fn contact_scale(&self, particle: u32) -> Result<ContactScale> {
        self.check_particle("contact_scale", particle)?;
        Ok(self
            .contact_scales
            .get(particle as usize)
            .map_or_else(ContactScale::default, |&word| ContactScale::unpack(word)))
    }

    /// The mean of the scales of an element.
    pub(crate) fn mean_scale(&self, particles: &[u32]) -> ContactScale {
        if self.contact_scales.is_empty() {
            return ContactScale::default();
        }
        ContactScale::mean(particles.iter().map(|&particle| self.contact_scales[particle as usize]))
    }

    /// True for followers and for particles in reserve for tears.
    pub(crate) fn is_contactless(&self, particle: u32) -> bool {
        follows(&self.followers, particle) || self.is_in_reserve(particle)
    }

    /// By contact material, the least scale of the thickness of its particles; 1 without particles.
    pub(crate) fn least_scales(&self) -> Vec<f32> {
        let mut least = vec![1.0f32; self.contact_materials.len()];
        for (material, &word) in self.particle_contacts.iter().zip(&self.contact_scales) {
            let own = &mut least[material.index()];
            *own = own.min(ContactScale::unpack(word).thickness);
        }
        least
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
