//! Orientations: the frames of rods.

use super::{Scene, too_large};
use crate::constraints::OrientationId;
use crate::constraints::{KindInfo, check_unit};
use crate::error::{Error, Result, check_finite};
use crate::geometry::rotation::parameters_of;
use crate::geometry::{check_exists, check_indices};
use glam::{DQuat, Vec3};

/// A frame that rotates: a rotation without a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orientation {
    /// The rotation from the axes of the world to those of the frame, a unit quaternion (x, y, z, w).
    pub rotation: [f32; 4],
    /// Angular velocity in the axes of the world [rad/s].
    pub angular_velocity: [f32; 3],
    /// Inverse moment of inertia [1/(kg m²)], about every axis; 0 = permanently pinned.
    pub inverse_inertia: f32,
}

impl Default for Orientation {
    fn default() -> Self {
        Self { rotation: [0.0, 0.0, 0.0, 1.0], angular_velocity: [0.0; 3], inverse_inertia: 1.0 }
    }
}

impl Scene {
    /// Adds an orientation and returns its index.
    ///
    /// # Errors
    /// The rotation is not a unit quaternion within 1e-3, the angular velocity is not finite, or the inverse inertia is
    /// not in 0 to 1e18 1/(kg m²).
    pub fn add_orientation(&mut self, orientation: Orientation) -> Result<OrientationId> {
        let index = self.orientations.len();
        let total = self.entity_count() as u64 + 1;
        if total > u64::from(u32::MAX) {
            return Err(too_large("particles and orientations", total));
        }
        check_unit(|| format!("rotation of orientation {index}"), orientation.rotation)?;
        check_finite(|| format!("angular velocity of orientation {index}"), orientation.angular_velocity)?;
        check_inverse_inertia(|| format!("inverse inertia of orientation {index}"), orientation.inverse_inertia)?;
        self.push_orientation(orientation, false);
        Ok(OrientationId(index as u32))
    }

    /// Pins an orientation. Until it is released, it turns at its own angular velocity (0 by default) or to a target
    /// ([`crate::Solver::set_orientation_target`]).
    ///
    /// # Errors
    /// The orientation does not exist.
    pub fn pin_orientation(&mut self, id: OrientationId) -> Result<()> {
        self.check_orientation("pin_orientation", id)?;
        self.orientation_pins[id.index()] = true;
        Ok(())
    }

    /// Sets the initial angular velocity of an orientation, in the axes of the world [rad/s].
    ///
    /// # Errors
    /// The orientation does not exist, or the velocity is not finite.
    pub fn set_angular_velocity(&mut self, id: OrientationId, velocity: [f32; 3]) -> Result<()> {
        self.check_orientation("set_angular_velocity", id)?;
        check_finite(|| format!("angular velocity of orientation {}", id.0), velocity)?;
        self.orientations[id.index()].angular_velocity = velocity;
        Ok(())
    }

    /// Sets the initial rotation of an orientation, a unit quaternion (x, y, z, w). Rest shapes stay.
    ///
    /// # Errors
    /// The orientation does not exist, or the rotation is not a unit quaternion within 1e-3.
    pub fn set_rotation(&mut self, id: OrientationId, rotation: [f32; 4]) -> Result<()> {
        self.check_orientation("set_rotation", id)?;
        check_unit(|| format!("rotation of orientation {}", id.0), rotation)?;
        self.orientations[id.index()].rotation = rotation;
        Ok(())
    }

    /// The orientations at the start, in the order of their indices.
    pub fn orientations(&self) -> &[Orientation] {
        &self.orientations
    }

    /// The id of the orientation with an index, as in [`RodParts`](crate::RodParts).
    ///
    /// # Errors
    /// The orientation does not exist.
    pub fn orientation(&self, index: u32) -> Result<OrientationId> {
        self.check_orientation("orientation", OrientationId(index))?;
        Ok(OrientationId(index))
    }

    pub(crate) fn check_orientation(&self, what: &str, id: OrientationId) -> Result<()> {
        check_exists(|| what.into(), "orientation", &[id.0], self.orientations.len())
    }

    /// `Ok` if the particles and the orientations of a constraint exist and are not repeated.
    pub(super) fn check_entities(&self, what: impl Fn() -> String, info: &KindInfo, entities: &[u32]) -> Result<()> {
        let (points, orientations) = entities.split_at(entities.len() - info.orientations);
        check_indices(&what, "particle", points, self.particle_count())?;
        points.iter().try_for_each(|&particle| self.check_in_use(&what(), particle))?;
        check_indices(&what, "orientation", orientations, self.orientations.len())
    }

    pub(super) fn push_orientation(&mut self, orientation: Orientation, is_pinned: bool) {
        self.orientations.push(orientation);
        self.orientation_pins.push(is_pinned);
    }

    /// The number of entities: particles, then orientations.
    pub(crate) fn entity_count(&self) -> usize {
        self.positions.len() + self.orientations.len()
    }

    /// The index of an orientation among the entities.
    pub(crate) fn entity_of(&self, id: OrientationId) -> u32 {
        self.positions.len() as u32 + id.0
    }

    /// The inverse masses and inertias of all entities at the start; 0 if pinned.
    pub(crate) fn entity_weights(&self) -> Vec<f32> {
        let of_particle =
            |particle| if self.is_pinned(particle) { 0.0 } else { self.inverse_masses[particle as usize] };
        let of_orientation = |(own, &pinned): (&Orientation, &bool)| if pinned { 0.0 } else { own.inverse_inertia };
        let particles = (0..self.positions.len() as u32).map(of_particle);
        particles.chain(self.orientations.iter().zip(&self.orientation_pins).map(of_orientation)).collect()
    }

    /// The positions and the parameters of the orientations at the start.
    pub(crate) fn entity_places(&self) -> impl Iterator<Item = [f32; 3]> + '_ {
        let parameters = |own: &Orientation| own.parameters().into();
        self.positions.iter().copied().chain(self.orientations.iter().map(parameters))
    }

    /// The velocities and angular velocities at the start.
    pub(crate) fn entity_velocities(&self) -> impl Iterator<Item = [f32; 3]> + '_ {
        self.velocities.iter().copied().chain(self.orientations.iter().map(|own| own.angular_velocity))
    }
}

impl Orientation {
    /// The modified Rodrigues parameters of the rotation.
    pub(crate) fn parameters(&self) -> Vec3 {
        parameters_of(DQuat::from_array(self.rotation.map(f64::from)))
    }
}

/// The greatest inverse inertia [1/(kg m²)].
const MAX_INVERSE_INERTIA: f32 = 1e18;

/// Returns `Ok` if an inverse inertia [1/(kg m²)] is in 0 to `MAX_INVERSE_INERTIA`.
fn check_inverse_inertia(what: impl FnOnce() -> String, value: f32) -> Result<()> {
    if (0.0..=MAX_INVERSE_INERTIA).contains(&value) { Ok(()) } else { Err(Error::invalid(what(), value, "0 to 1e18")) }
}

/// The inverse [1/(kg m²)] of a moment of inertia that a builder has computed.
pub(crate) fn invert_inertia(what: impl Fn() -> String, inertia: f32) -> Result<f32> {
    if inertia > 0.0 && inertia.is_finite() {
        check_inverse_inertia(|| format!("inverse {}", what()), 1.0 / inertia)?;
        return Ok(1.0 / inertia);
    }
    Err(Error::invalid(what(), inertia, "finite and greater than 0"))
}
