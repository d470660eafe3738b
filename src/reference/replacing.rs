//! Parts that come and go while a simulation runs.

use super::Reference;
use crate::error::Result;
use crate::scene::{Scene, SceneMap};
use crate::sim::controls::Controls;
use crate::sim::replacing::{Move, moves};

impl Reference {
    /// See [`crate::Solver::replace_scene`].
    ///
    /// # Errors
    /// See there, without the errors of the device.
    pub fn replace_scene(&mut self, scene: &Scene, map: &SceneMap) -> Result<()> {
        let controls = self.controls.replaced(scene, map)?;
        // Resets its copy of the controls.
        let mut new = Self::of(controls.clone())?;
        new.controls = controls;
        new.params = new.controls.params();
        new.contact_params = new.controls.contact_params();
        new.materials = new.controls.scaled_materials();
        new.make_tether_displacements();
        self.carry_particles(&mut new, map);
        self.carry_constraints(&mut new, map);
        new.attached.rows = new.controls.attachment_rows();
        new.attached.states = new.controls.attachment_states();
        new.attached.states.iter_mut().zip(&self.attached.states).for_each(|(own, old)| *own = *old);
        new.skinned.rows = new.controls.skinned_rows();
        for [before, now] in moves(&map.skinned) {
            new.skinned.poses[now as usize] = self.skinned.poses[before as usize];
            new.skinned.states[now as usize] = self.skinned.states[before as usize];
        }
        new.colliders.clone_from(&self.colliders);
        new.collider_forces.clone_from(&self.collider_forces);
        (new.steps, new.last_h, new.last_substeps) = (self.steps, self.last_h, self.last_substeps);
        new.air = self.air;
        new.non_finite_count = self.non_finite_count;
        new.lost_collider_contacts = self.lost_collider_contacts;
        new.derive();
        *self = new;
        Ok(())
    }

    fn carry_particles(&self, new: &mut Self, map: &SceneMap) {
        let entities = self.controls.entity_moves(&new.controls, map);
        carry(&self.positions, &mut new.positions, &entities);
        carry(&self.displacements, &mut new.displacements, &entities);
        carry(&self.position_residuals, &mut new.position_residuals, &entities);
        carry(&self.displacement_residuals, &mut new.displacement_residuals, &entities);
        carry(&self.velocities, &mut new.velocities, &entities);
        carry(&self.fresh, &mut new.fresh, &entities);
        carry(&self.forces, &mut new.forces, &entities);
        carry(&self.quarantined, &mut new.quarantined, &entities);
        let particles: Vec<Move> = moves(&map.particles).collect();
        carry(&self.collider_contacts, &mut new.collider_contacts, &particles);
    }

    fn carry_constraints(&self, new: &mut Self, map: &SceneMap) {
        let (old, kinds): (&Controls, _) = (&self.controls, self.controls.compiled.kinds.len());
        for kind in 0..kinds {
            let records = old.record_moves(&new.controls, map, kind);
            let count = old.compiled.kinds[kind].info.lambda_count();
            let rows = |[before, now]: &Move| {
                (0..count as u32).map({
                    let (before, now) = (*before * count as u32, *now * count as u32);
                    move |k| [before + k, now + k]
                })
            };
            let lambdas: Vec<Move> = records.iter().flat_map(rows).collect();
            carry(&self.lambdas[kind], &mut new.lambdas[kind], &lambdas);
            if !self.lambda_sums[kind].is_empty() {
                carry(&self.lambda_sums[kind], &mut new.lambda_sums[kind], &lambdas);
            }
            if !self.rotations[kind].is_empty() {
                carry(&self.rotations[kind], &mut new.rotations[kind], &records);
            }
            let plastic = old.plastic_moves(&new.controls, map, kind);
            carry(&self.plastic[kind], &mut new.plastic[kind], &plastic);
        }
    }
}

fn carry<T: Clone>(old: &[T], new: &mut [T], moves: &[Move]) {
    for &[before, now] in moves {
        new[now as usize] = old[before as usize].clone();
    }
}
