//! Passes over single particles: targets, start, predict, tether, velocity.

use super::Reference;
use crate::geometry::rotation::rotation_between;
use crate::geometry::vector::{kept_of_displacement, kept_of_position, length, two_sum};
use glam::Vec3;

impl Reference {
    pub(super) fn targets(&mut self) {
        for target in &self.controls.targets {
            let (i, goal) = (target.particle as usize, Vec3::from(target.position));
            let moved = if i < self.controls.scene.particle_count() {
                goal - self.positions[i]
            } else {
                rotation_between(self.positions[i], goal)
            };
            self.velocities[i] = moved / self.params.dt;
            self.fresh[i] = true;
        }
    }

    pub(super) fn start(&mut self, i: usize) {
        if std::mem::take(&mut self.fresh[i]) || self.last_h != self.params.h {
            self.displacements[i] = self.velocities[i] * self.params.h;
            self.displacement_residuals[i] = Vec3::ZERO;
        }
    }

    /// d += h² (g + a), and the residual of the position; see the [module documentation](super).
    pub(super) fn predict(&mut self, i: usize) {
        let rest = self.position_residuals[i];
        if self.controls.inverse_masses[i] == 0.0 {
            self.displacements[i] += rest;
            return;
        }
        let mut increment = Vec3::from(self.params.gravity_step);
        if self.params.accelerated == 1 {
            increment += self.accelerations[i] * (self.params.h * self.params.h);
        }
        let increment = increment + self.displacement_residuals[i];
        let (d, residual) = two_sum(self.displacements[i], increment);
        let (d, lost) = two_sum(d, rest);
        self.displacements[i] = d;
        self.displacement_residuals[i] = kept_of_displacement(residual + lost);
    }

    /// Projects a free particle onto the tether lengths (long-range attachments). If `ahead`, the pins have not yet
    /// moved in this substep: their displacements are added.
    pub(super) fn tether(&mut self, i: usize, ahead: bool) {
        if self.controls.inverse_masses[i] == 0.0 {
            return;
        }
        let run = self.controls.compiled.tether_runs[i] as usize;
        let mut d = self.displacements[i];
        for (slot, tether) in (run >> 4..).zip(&self.controls.tether_rows[run >> 4..][..run & 15]) {
            let anchor = tether.anchor as usize;
            let travel = self.displacements[anchor];
            let apart = self.positions[i] - self.positions[anchor];
            let difference = (if ahead { apart - travel } else { apart }) + (d - travel);
            let l = length(difference);
            if let Some(displacement) = self.tether_displacements.get_mut(slot) {
                *displacement = (l - tether.length).max(0.0);
            }
            if l > tether.length {
                d -= difference * ((l - tether.length) / l);
            }
        }
        self.displacements[i] = d;
    }

    pub(super) fn velocity(&mut self, i: usize) {
        let (x, residual) = two_sum(self.positions[i], self.displacements[i]);
        if !x.is_finite() {
            // Quarantine: the particle stays at its last finite position; `Finish` counts it at the end of the step.
            self.displacements[i] = Vec3::ZERO;
            self.displacement_residuals[i] = Vec3::ZERO;
            self.position_residuals[i] = Vec3::ZERO;
            self.quarantined[i] = true;
            return;
        }
        let (d, lost) = two_sum(self.displacements[i], -self.position_residuals[i]);
        self.displacements[i] = d;
        self.positions[i] = x;
        self.position_residuals[i] = kept_of_position(residual);
        if self.controls.inverse_masses[i] != 0.0 {
            self.displacements[i] *= self.params.velocity_factor;
            self.displacement_residuals[i] =
                kept_of_displacement((self.displacement_residuals[i] + lost) * self.params.velocity_factor);
        }
    }

    /// The range of the triangles around a particle.
    pub(super) fn ring(&self, i: usize) -> std::ops::Range<usize> {
        self.controls.compiled.rings.around(i)
    }

    /// Ends a substep and predicts the next.
    pub(super) fn integrate(&mut self, i: usize) {
        self.velocity(i);
        self.predict(i);
    }

    /// Ends a step: velocities, and the count of quarantined particles.
    pub(super) fn finish(&mut self) {
        (0..self.particle_count()).for_each(|i| self.finish_entity(i));
        self.last_h = self.params.h;
        self.last_substeps = self.controls.settings.substeps;
        self.steps = self.steps.wrapping_add(1);
        for (own, step) in self.air.iter_mut().zip(self.params.air_step) {
            *own = own.wrapping_add(step);
        }
    }

    /// The velocity of a particle or an orientation, and the count of quarantined ones.
    pub(super) fn finish_entity(&mut self, i: usize) {
        self.velocities[i] = self.displacements[i] / self.params.h;
        if std::mem::take(&mut self.quarantined[i]) {
            self.count_quarantined(i);
        }
    }

    pub(super) fn count_quarantined(&mut self, i: usize) {
        self.non_finite_count += 1;
        self.first_non_finite = Some(self.first_non_finite.map_or(i as u32, |first| first.min(i as u32)));
    }

    pub(super) fn particle_count(&self) -> usize {
        self.controls.scene.particle_count()
    }

    pub(super) fn make_tether_displacements(&mut self) {
        let count = if self.controls.settings.tether_forces { self.controls.tether_rows.len() } else { 0 };
        self.tether_displacements = vec![0.0; count];
    }
}
