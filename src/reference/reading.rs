//! Results, under the names that [`crate::Solver`] has for them.

use super::Reference;
use crate::collision::{ColliderForce, ContactReport};
use crate::constraints::{Kind, ShapeMatching, kind_index};
use crate::error::{Error, Result};
use crate::scene::TetherForce;
use crate::schedule::plan::Plan;
use crate::settings::Settings;
use crate::sim::{Diagnostics, Running};
use glam::Vec3;

impl Reference {
    /// The plan that it runs.
    #[doc(hidden)]
    pub fn plan(&self) -> &Plan {
        &self.controls.plan
    }

    /// See [`crate::Solver::execution`]. Constraints are solved sequentially in the order of this execution.
    pub fn execution(&self) -> Running {
        self.controls.running()
    }

    /// The current settings.
    pub fn settings(&self) -> &Settings {
        &self.controls.settings
    }

    /// Positions x \[m\].
    ///
    /// # Errors
    /// None; like [`crate::Solver::read_positions`] it returns a result.
    pub fn read_positions(&self) -> Result<Vec<[f32; 3]>> {
        Ok(self.positions[..self.particle_count()].iter().map(|&x| x.into()).collect())
    }

    /// Displacements d over the substep \[m\], to compare backends pass by pass.
    ///
    /// # Errors
    /// None.
    pub fn read_displacements(&self) -> Result<Vec<[f32; 3]>> {
        Ok(self.displacements[..self.particle_count()].iter().map(|&d| d.into()).collect())
    }

    /// Velocities [m/s] after the last step.
    ///
    /// # Errors
    /// None.
    pub fn read_velocities(&self) -> Result<Vec<[f32; 3]>> {
        Ok(self.velocities[..self.particle_count()].iter().map(|&v| v.into()).collect())
    }

    /// Unit vertex normals of the surfaces; empty in a scene without surfaces.
    ///
    /// # Errors
    /// None.
    pub fn read_normals(&self) -> Result<Vec<[f32; 3]>> {
        if self.controls.scene.triangles.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.normals.iter().map(|&n| n.into()).collect())
    }

    /// See [`crate::Solver::read_lambdas`]. The reference keeps λ at all settings.
    ///
    /// # Errors
    /// None.
    pub fn read_lambdas<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_lambdas_of(kind_index(K::INFO))
    }

    /// The same by the index of the kind in [`crate::constraints::KINDS`].
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] if there is no such kind.
    pub fn read_lambdas_of(&self, kind: usize) -> Result<Vec<f32>> {
        let Some(compiled) = self.controls.compiled.kinds.get(kind) else {
            let (what, count) = ("read_lambdas_of".into(), self.controls.compiled.kinds.len() as u64);
            return Err(Error::IndexOutOfRange { what, target: "kind", index: kind as u64, count });
        };
        Ok(compiled.coloring.unsort(&compiled.info.lambdas(&self.lambdas[kind])))
    }

    /// See [`crate::Solver::read_constraint_forces`].
    ///
    /// # Errors
    /// None.
    pub fn read_constraint_forces<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_constraint_forces_of(kind_index(K::INFO))
    }

    /// The same by the index of the kind in [`crate::constraints::KINDS`].
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] if there is no such kind.
    pub fn read_constraint_forces_of(&self, kind: usize) -> Result<Vec<f32>> {
        // Before the first step all λ are 0.
        let square = if self.last_h > 0.0 { self.last_h * self.last_h } else { 1.0 };
        Ok(self.read_lambdas_of(kind)?.into_iter().map(|lambda| lambda / square).collect())
    }

    /// See [`crate::Solver::read_mean_forces`].
    ///
    /// # Errors
    /// See there.
    pub fn read_mean_forces<K: Kind>(&self) -> Result<Vec<f32>> {
        self.read_mean_forces_of(kind_index(K::INFO))
    }

    /// The same by the index of the kind in [`crate::constraints::KINDS`].
    ///
    /// # Errors
    /// As [`crate::Solver::read_mean_forces_of`].
    pub fn read_mean_forces_of(&self, kind: usize) -> Result<Vec<f32>> {
        self.controls.check_mean_forces(kind)?;
        Ok(self.controls.mean_forces(kind, &self.lambda_sums[kind], (self.last_h, self.last_substeps)))
    }

    /// See [`crate::Solver::read_tether_forces`].
    ///
    /// # Errors
    /// None.
    pub fn read_tether_forces(&self) -> Result<Vec<TetherForce>> {
        Ok(self.controls.tether_forces(&self.tether_displacements, self.last_h))
    }

    /// See [`crate::Solver::read_rotations`].
    ///
    /// # Errors
    /// None.
    pub fn read_rotations(&self) -> Result<Vec<[f32; 4]>> {
        let kind = kind_index(ShapeMatching::INFO);
        let rows: Vec<[f32; 4]> = self.rotations[kind].iter().map(|&(axis, w)| axis.extend(w).into()).collect();
        Ok(self.controls.compiled.kinds[kind].coloring.unsort(&rows))
    }

    /// See [`crate::Solver::read_collider_forces`].
    ///
    /// # Errors
    /// None.
    pub fn read_collider_forces(&self) -> Result<Vec<ColliderForce>> {
        if !self.controls.settings.collider_forces {
            return Ok(Vec::new());
        }
        let force = |&[force, torque]: &[Vec3; 2]| ColliderForce { force: force.into(), torque: torque.into() };
        Ok(self.collider_forces.iter().map(force).collect())
    }

    /// See [`crate::Solver::read_contacts`].
    ///
    /// # Errors
    /// None.
    pub fn read_contacts(&self) -> Result<ContactReport> {
        Ok(self.contact_report())
    }

    /// See [`crate::Solver::read_diagnostics`].
    ///
    /// # Errors
    /// None.
    pub fn read_diagnostics(&self) -> Result<Diagnostics> {
        let &Self { steps, non_finite_count, first_non_finite, lost_collider_contacts, .. } = self;
        Ok(Diagnostics { steps, non_finite_count, first_non_finite, lost_collider_contacts })
    }
}
