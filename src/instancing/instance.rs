//! Description of an instance of an asset: placement and initial state. [`crate::Instances`] simulates instances.

use crate::collision::Pose;
use crate::error::{Error, Result};
use glam::{Quat, Vec3};

/// Position, rotation and scale of an instance.
///
/// A point x of the asset is at `position` + R(`scale` · x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Position of the asset's origin \[m\]; each component at most 1e6 in magnitude.
    pub position: [f32; 3],
    /// Rotation: a quaternion (x, y, z, w) of any non-zero length.
    pub rotation: [f32; 4],
    /// Scale relative to the asset, 1e-3 to 1e3. Rest lengths and tethers scale with it, elastic energies with its
    /// square: the compliance of distance constraints stays. Masses stay. Wind acts on the scaled areas.
    pub scale: f32,
}

impl Default for Placement {
    /// The identity.
    fn default() -> Self {
        Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: 1.0 }
    }
}

impl From<Pose> for Placement {
    fn from(Pose { position, rotation }: Pose) -> Self {
        Self { position, rotation, scale: 1.0 }
    }
}

impl Placement {
    /// A translation to a position \[m\].
    pub fn at(position: [f32; 3]) -> Self {
        Self { position, ..Self::default() }
    }

    /// Transforms a point of the asset \[m\].
    pub fn place(&self, point: [f32; 3]) -> [f32; 3] {
        (Vec3::from(self.position) + self.rotation() * (Vec3::from(point) * self.scale)).into()
    }

    /// Rotates a direction of the asset.
    pub fn turn(&self, direction: [f32; 3]) -> [f32; 3] {
        (self.rotation() * Vec3::from(direction)).into()
    }

    /// The rotation as a unit quaternion.
    pub(crate) fn rotation(&self) -> Quat {
        let length = self.rotation.iter().map(|&component| f64::from(component).powi(2)).sum::<f64>().sqrt();
        Quat::from_array(self.rotation.map(|component| (f64::from(component) / length) as f32))
    }

    pub(crate) fn check(&self, what: &str) -> Result<()> {
        Pose { position: self.position, rotation: self.rotation }.checked(what)?;
        if (1e-3..=1e3).contains(&self.scale) {
            return Ok(());
        }
        Err(Error::invalid(format!("scale of {what}"), self.scale, "1e-3 to 1e3"))
    }

    /// GPU data: position, scale; rotation.
    pub(crate) fn rows(&self) -> [[f32; 4]; 2] {
        let [x, y, z] = self.position;
        [[x, y, z, self.scale], self.rotation().to_array()]
    }
}

/// Initial state of an instance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Instance {
    /// Position, rotation and scale.
    pub placement: Placement,
    /// Velocity of its free particles [m/s], added to the rotated and scaled velocities of the asset's particles.
    pub velocity: [f32; 3],
    /// Wind [m/s], added to that of [`crate::Settings::wind`]; no effect if that is `None`.
    pub wind: [f32; 3],
    /// The pinned particles. Particles without mass are always pinned. `None`: the pins of the asset.
    pub pinned: Option<Vec<u32>>,
}

/// Handle of an instance of a [`crate::gpu::Instances`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstanceId {
    pub(crate) slot: u32,
    /// Distinguishes successive instances in the same slot.
    pub(crate) generation: u32,
    /// Identifies the [`crate::gpu::Instances`] that it belongs to.
    pub(crate) owner: u32,
}

impl InstanceId {
    /// Index in the buffers: its particles begin at slot · particles of the asset.
    pub fn slot(self) -> u32 {
        self.slot
    }
}
