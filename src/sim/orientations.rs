//! Pins and targets of orientations.

use crate::constraints::check_unit;
use crate::error::{Error, Result};
use crate::geometry::check_range;
use crate::geometry::rotation::parameters_of;
use crate::scene::OrientationId;
use crate::sim::controls::Controls;
use glam::DQuat;

impl Controls {
    /// Pins or releases orientations; returns the entities that changed.
    pub fn set_orientations_pinned(&mut self, ids: &[OrientationId], pinned: bool) -> Result<Vec<u32>> {
        for &id in ids {
            self.scene.check_orientation(if pinned { "pin_orientations" } else { "release_orientations" }, id)?;
            if !pinned && self.scene.orientations[id.index()].inverse_inertia == 0.0 {
                let what = format!("inverse inertia of orientation {}, which is to be released,", id.0);
                return Err(Error::invalid(what, 0.0, "greater than 0: the orientation has no inertia in the scene"));
            }
        }
        let mut changed = Vec::new();
        for &id in ids {
            let entity = self.scene.entity_of(id);
            if self.is_pinned(entity) != pinned {
                let free = self.scene.orientations[id.index()].inverse_inertia;
                self.inverse_masses[entity as usize] = if pinned { 0.0 } else { free };
                self.remove_target(entity);
                changed.push(entity);
            }
        }
        Ok(changed)
    }

    /// The target of a pinned orientation: its entity, and the parameters of the rotation.
    pub fn orientation_target(&self, id: OrientationId, rotation: [f32; 4]) -> Result<(u32, [f32; 3])> {
        self.scene.check_orientation("set_orientation_target", id)?;
        check_unit(|| format!("target of orientation {}", id.0), rotation)?;
        let entity = self.scene.entity_of(id);
        if !self.is_pinned(entity) {
            return Err(Error::OrientationNotPinned { orientation: id.0 });
        }
        let parameters = parameters_of(DQuat::from_array(rotation.map(f64::from)));
        Ok((entity, parameters.into()))
    }

    /// `Ok` if forces are enabled, the orientations exist and the torques are finite. Returns the first entity.
    pub fn check_torques(&self, first: OrientationId, torques: &[[f32; 3]]) -> Result<u32> {
        if !self.settings.forces {
            return Err(Error::NotEnabled { what: "set_torques", needed: "Settings::forces = true" });
        }
        self.check_orientation_values("torque", first, torques)
    }

    /// `Ok` if the orientations of `rotations`, one per orientation from `first` on, exist and the rotations are unit
    /// quaternions. Returns the first entity.
    pub fn check_rotations(&self, first: OrientationId, rotations: &[[f32; 4]]) -> Result<u32> {
        let values: Vec<[f32; 3]> = rotations.iter().map(|&[x, y, z, _]| [x, y, z]).collect();
        let entity = self.check_orientation_values("rotation", first, &values)?;
        for (index, &rotation) in (first.0..).zip(rotations) {
            check_unit(|| format!("rotation of orientation {index}"), rotation)?;
        }
        Ok(entity)
    }

    /// `Ok` if the orientations of `values`, one per orientation from `first` on, exist and the values are finite.
    /// Returns the first entity.
    pub fn check_orientation_values(&self, what: &str, first: OrientationId, values: &[[f32; 3]]) -> Result<u32> {
        check_range(what, "orientation", first.0, values.len(), self.scene.orientations.len())?;
        for (index, &value) in (first.0..).zip(values) {
            crate::error::check_finite(|| format!("{what} of orientation {index}"), value)?;
        }
        Ok(self.scene.entity_of(first))
    }
}
