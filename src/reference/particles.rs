//! Passes over single particles: targets, start, predict, tether, velocity.

use super::Reference;
use crate::geometry::vector::{kept_of_displacement, kept_of_position, length, two_sum};
use glam::Vec3;

impl Reference {
    pub(super) fn targets(&mut self) {
        for target in &self.controls.targets {
            let i = target.particle as usize;
            self.velocities[i] = (Vec3::from(target.position) - self.positions[i]) / self.params.dt;
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
            if let Some(pull) = self.pulls.get_mut(slot) {
                *pull = (l - tether.length).max(0.0);
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
}
