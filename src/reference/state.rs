//! Changes of the state between steps, as [`crate::Solver`] has them.

use super::events::Events;
use super::{Reference, contacts};
use crate::constraints::plasticity::PlasticState;
use crate::constraints::{Kind, kind_index};
use crate::error::Result;
use crate::geometry::vector::{kept_of_position, two_sum};
use crate::scene::{Material, MaterialId};
use crate::schedule::compiled_kind::CompiledKind;
use crate::settings::Settings;
use crate::sim::attachments::IN_SPACE;
use crate::sim::shifted;
use glam::Vec3;

impl Reference {
    /// See [`crate::Solver::set_settings`].
    ///
    /// # Errors
    /// See there.
    pub fn set_settings(&mut self, settings: Settings) -> Result<()> {
        if settings.forces && !self.controls.settings.forces {
            self.forces.fill(Vec3::ZERO);
        }
        let before = self.controls.settings;
        let events = settings.contact_events != before.contact_events;
        let changed = events || settings.self_collision != before.self_collision;
        let spread = settings.needs_other_schedule(&self.controls.settings);
        let kinds = self.controls.compiled.kinds.iter();
        let unsort = |(kind, own): (&CompiledKind, &Vec<_>)| match own.is_empty() {
            true => Vec::new(),
            false => kind.coloring.unsort(own),
        };
        // Empty if the order of the groups does not change.
        let by_group: Vec<_> = kinds.zip(&self.rotations).filter(|_| spread).map(unsort).collect();
        self.controls.set_settings(settings)?;
        for ((own, by_group), kind) in self.rotations.iter_mut().zip(&by_group).zip(&self.controls.compiled.kinds) {
            own.iter_mut().zip(&kind.coloring.order).for_each(|(own, &group)| *own = by_group[group as usize]);
        }
        if changed {
            self.contacts = contacts::Contacts::new(self.particle_count());
        }
        if events {
            self.events = Events::default();
        }
        if changed
            || settings.collider_forces != before.collider_forces
            || settings.triangle_contacts != before.triangle_contacts
        {
            self.forget_collider_forces();
        }
        if spread {
            // λ is stored in the previous order of records.
            self.lambdas.iter_mut().for_each(|lambdas| lambdas.fill(0.0));
            self.make_lambda_sums();
        }
        if settings.tether_forces != before.tether_forces {
            self.make_tether_displacements();
        }
        self.make_impulses();
        self.upload();
        if settings.substep() != before.substep() {
            self.mark_stale();
        }
        Ok(())
    }

    /// See [`crate::Solver::set_material`].
    ///
    /// # Errors
    /// See there.
    pub fn set_material(&mut self, id: MaterialId, material: Material) -> Result<()> {
        self.controls.set_material(id, material)?;
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_constraint`].
    ///
    /// # Errors
    /// See there.
    pub fn set_constraint<K: Kind>(&mut self, index: u32, constraint: K) -> Result<()> {
        self.set_constraints(index, &[constraint])
    }

    /// See [`crate::Solver::set_constraints`].
    ///
    /// # Errors
    /// See there.
    pub fn set_constraints<K: Kind>(&mut self, first: u32, constraints: &[K]) -> Result<()> {
        let (_, parameters) = self.controls.checked_constraints(first, constraints)?;
        if self.controls.begin_seams(kind_index(K::INFO), &parameters)
            && self.controls.settings.self_collision.is_some()
        {
            self.contacts = contacts::Contacts::new(self.particle_count());
            self.forget_collider_forces();
        }
        let changed = self.controls.set_constraints(first, constraints)?;
        if changed.seams {
            self.mark_stale();
        }
        for place in changed.plastic {
            self.plastic[changed.kind][place] = PlasticState::default();
        }
        Ok(())
    }

    /// See [`crate::Solver::pin`].
    ///
    /// # Errors
    /// See there.
    pub fn pin(&mut self, particles: &[u32]) -> Result<()> {
        for particle in self.controls.set_pinned(particles, true)? {
            self.velocities[particle as usize] = Vec3::ZERO;
            self.fresh[particle as usize] = true;
        }
        self.derive();
        self.make_tether_displacements();
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::release`].
    ///
    /// # Errors
    /// See there.
    pub fn release(&mut self, particles: &[u32]) -> Result<()> {
        self.controls.set_pinned(particles, false)?;
        self.make_tether_displacements();
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::set_target`].
    ///
    /// # Errors
    /// See there.
    pub fn set_target(&mut self, particle: u32, position: [f32; 3]) -> Result<()> {
        self.put_targets("set_target", &[(particle, position)])
    }

    /// See [`crate::Solver::set_targets`].
    ///
    /// # Errors
    /// See there.
    pub fn set_targets(&mut self, targets: &[(u32, [f32; 3])]) -> Result<()> {
        self.put_targets("set_targets", targets)
    }

    fn put_targets(&mut self, what: &str, targets: &[(u32, [f32; 3])]) -> Result<()> {
        self.controls.check_targets(what, targets)?;
        self.controls.set_targets(targets);
        self.upload();
        Ok(())
    }

    /// See [`crate::Solver::clear_targets`].
    ///
    /// # Errors
    /// See there.
    pub fn clear_targets(&mut self, particles: &[u32]) -> Result<()> {
        for particle in self.controls.clear_targets(particles)? {
            self.velocities[particle as usize] = Vec3::ZERO;
            self.fresh[particle as usize] = true;
        }
        self.upload();
        self.derive();
        Ok(())
    }

    /// See [`crate::Solver::set_positions`].
    ///
    /// # Errors
    /// See there.
    pub fn set_positions(&mut self, first: u32, positions: &[[f32; 3]]) -> Result<()> {
        self.controls.check_state("position", first, positions)?;
        self.controls.move_targets(first, positions);
        for (i, &position) in (first as usize..).zip(positions) {
            self.positions[i] = position.into();
            self.position_residuals[i] = Vec3::ZERO;
            self.quarantined[i] = false;
            self.displacement_residuals[i] = Vec3::ZERO;
        }
        self.derive();
        Ok(())
    }

    /// See [`crate::Solver::shift_origin`].
    ///
    /// # Errors
    /// See there.
    pub fn shift_origin(&mut self, offset: [f32; 3]) -> Result<()> {
        self.controls.shift_origin(offset)?;
        let count = self.particle_count();
        for (x, rest) in self.positions[..count].iter_mut().zip(&mut self.position_residuals) {
            let (sum, lost) = two_sum(*x, offset.into());
            if sum.is_finite() {
                (*x, *rest) = (sum, kept_of_position(*rest + lost));
            }
        }
        self.shift_skinned(offset.into());
        for (row, state) in self.attached.rows.iter().zip(&mut self.attached.states) {
            if row.flags & IN_SPACE != 0 {
                state.anchor = shifted(state.anchor, offset);
            }
        }
        for (own, row) in self.colliders.iter_mut().zip(&self.controls.colliders.rows) {
            (own.position, own.target_position) = (row.position, row.target_position);
        }
        self.derive();
        self.upload();
        self.mark_stale();
        Ok(())
    }

    /// See [`crate::Solver::set_velocities`].
    ///
    /// # Errors
    /// See there.
    pub fn set_velocities(&mut self, first: u32, velocities: &[[f32; 3]]) -> Result<()> {
        self.controls.check_velocities(first, velocities)?;
        for (i, &velocity) in (first as usize..).zip(velocities) {
            self.velocities[i] = velocity.into();
            self.fresh[i] = true;
        }
        self.derive();
        Ok(())
    }

    /// See [`crate::Solver::set_masses`].
    ///
    /// # Errors
    /// See there.
    pub fn set_masses(&mut self, first: u32, masses: &[f32]) -> Result<()> {
        self.controls.set_masses(first, masses).map(drop)
    }

    /// See [`crate::Solver::set_forces`].
    ///
    /// # Errors
    /// See there.
    pub fn set_forces(&mut self, first: u32, forces: &[[f32; 3]]) -> Result<()> {
        self.controls.check_forces(first, forces)?;
        for (i, &force) in (first as usize..).zip(forces) {
            self.forces[i] = force.into();
        }
        Ok(())
    }
}
