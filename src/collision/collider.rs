//! Colliders: static or moving shapes that particles do not enter.

use super::material::ContactMaterialId;
use super::shape::Shape;
use crate::error::{Error, Result, check_finite};

/// A shape that particles do not enter.
#[derive(Debug, Clone, PartialEq)]
pub struct Collider {
    /// The shape in the collider's local frame.
    pub shape: Shape,
    /// Position and rotation.
    pub pose: Pose,
    /// Friction, restitution and collision groups. The thickness of the material is not used.
    pub material: ContactMaterialId,
    /// An additional distance \[m\] between particles and the shape, 0 to 1e3. Particles also keep half their
    /// thickness.
    pub margin: f32,
    /// If true, the shape is a shell with contacts on both sides, so particles inside stay inside. Otherwise it is
    /// solid.
    pub two_sided: bool,
    /// Velocity of the surface in the local frame [m/s], at most 1e6 in each direction, while the shape stays in place: a conveyor belt.
    pub surface_velocity: [f32; 3],
}

impl Default for Collider {
    /// The ground: the half-space y ≤ 0.
    fn default() -> Self {
        Self {
            shape: Shape::HalfSpace,
            pose: Pose::default(),
            material: ContactMaterialId::default(),
            margin: 0.0,
            two_sided: false,
            surface_velocity: [0.0; 3],
        }
    }
}

impl Collider {
    /// A shape at a position \[m\], not rotated.
    pub fn new(shape: Shape, position: [f32; 3]) -> Self {
        Self { shape, pose: Pose { position, ..Pose::default() }, ..Self::default() }
    }

    /// The half-space behind the plane through `point` \[m\] with the given normal; the normal need not be normalised.
    ///
    /// # Errors
    /// The normal is not finite or is shorter than 1e-12.
    pub fn half_space(point: [f32; 3], normal: [f32; 3]) -> Result<Self> {
        check_finite(|| "normal of a half-space".into(), normal)?;
        let normal = glam::DVec3::from(normal.map(f64::from));
        if normal.length() < 1e-12 {
            return Err(Error::invalid("length of the normal of a half-space", normal.length(), "at least 1e-12"));
        }
        let rotation = glam::DQuat::from_rotation_arc(glam::DVec3::Y, normal.normalize());
        let rotation = rotation.to_array().map(|component| component as f32);
        Ok(Self { pose: Pose { position: point, rotation }, ..Self::default() })
    }
}

/// A position and a rotation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// The position of the shape's origin \[m\], at most 1e6 m either way.
    pub position: [f32; 3],
    /// The rotation as a quaternion (x, y, z, w) of a length of at least 1e-12.
    pub rotation: [f32; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] }
    }
}

impl Pose {
    /// Checks that the pose is finite, and returns it with a unit quaternion.
    pub(crate) fn checked(&self, what: &str) -> Result<Self> {
        check_finite(|| format!("position of {what}"), self.position)?;
        if let Some(component) = self.position.into_iter().find(|component| component.abs() > 1e6) {
            return Err(Error::invalid(format!("position of {what}"), component, "at most 1e6 m either way"));
        }
        let [x, y, z, w] = self.rotation;
        check_finite(|| format!("rotation of {what}"), [x, y, z])?;
        check_finite(|| format!("rotation of {what}"), [w; 3])?;
        let length = self.rotation.iter().map(|&component| f64::from(component).powi(2)).sum::<f64>().sqrt();
        if length < 1e-12 {
            return Err(Error::invalid(format!("length of the rotation of {what}"), length, "at least 1e-12"));
        }
        let rotation = self.rotation.map(|component| (f64::from(component) / length) as f32);
        Ok(Self { position: self.position, rotation })
    }
}

/// Identifies a collider of a scene or of a backend. Ids of different backends are not told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ColliderId {
    pub(crate) index: u32,
    /// Distinguishes colliders that reuse the index of a removed one.
    pub(crate) generation: u32,
}

impl ColliderId {
    /// The index among the forces of [`crate::Solver::read_collider_forces`].
    pub fn index(self) -> usize {
        self.index as usize
    }
}
