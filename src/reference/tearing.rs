//! Tears of cloth on the CPU.

use super::Reference;
use super::colliders::ColliderContact;
use super::contacts::Contacts;
use super::triangles::TriangleContacts;
use crate::error::Result;
use crate::sim::Tears;

impl Reference {
    /// See [`crate::Solver::tear`].
    ///
    /// # Errors
    /// See there.
    pub fn tear(&mut self) -> Result<Tears> {
        self.controls.check_tears()?;
        let tears = self.controls.tear(&self.read_positions()?);
        if tears.edges.is_empty() {
            return Ok(tears);
        }
        for &[from, to] in &tears.copies {
            let (from, to) = (from as usize, to as usize);
            let rows = [
                &mut self.positions,
                &mut self.displacements,
                &mut self.position_residuals,
                &mut self.displacement_residuals,
                &mut self.velocities,
            ];
            rows.into_iter().for_each(|rows| rows[to] = rows[from]);
            self.fresh[to] = self.fresh[from];
            self.quarantined[to] = self.quarantined[from];
        }
        if self.controls.has_contacts() {
            self.contacts = Contacts::new(self.particle_count());
            self.triangle_contacts = TriangleContacts::default();
            self.collider_contacts.fill(ColliderContact::default());
            self.forget_collider_forces();
        }
        self.make_tether_displacements();
        self.upload();
        self.mark_stale();
        self.derive();
        Ok(tears)
    }

    /// See [`crate::Solver::triangles`].
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.controls.scene.triangles
    }

    /// See [`crate::Solver::inverse_masses`].
    pub fn inverse_masses(&self) -> &[f32] {
        &self.controls.scene.inverse_masses
    }
}
