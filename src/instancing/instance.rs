//! What an instance of an asset is: where it is put, and how it starts. [`crate::Instances`] plays them.

use crate::collision::Pose;
use crate::error::{Error, Result};
use glam::{Quat, Vec3};

/// Where an instance stands, how it is turned, and how large it is.
///
/// A particle of the asset at x is put at `position` + R(`scale` · x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Where the origin of the asset is \[m\], at most 1e6 either way.
    pub position: [f32; 3],
    /// How it is turned: a quaternion (x, y, z, w), of any length but 0.
    pub rotation: [f32; 4],
    /// How many times as large as the asset it is, 1e-3 to 1e3. All rest lengths scale with it, tethers too, and elastic energies with its
    /// square, so that distances keep their compliance; masses stay. Wind acts on the true areas.
    pub scale: f32,
}

impl Default for Placement {
    /// As the asset lies.
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
    /// At a place \[m\], as the asset is turned, and as large.
    pub fn at(position: [f32; 3]) -> Self {
        Self { position, ..Self::default() }
    }

    /// Where a point of the asset is \[m\].
    pub fn place(&self, point: [f32; 3]) -> [f32; 3] {
        (Vec3::from(self.position) + self.rotation() * (Vec3::from(point) * self.scale)).into()
    }

    /// A direction of the asset, turned.
    pub fn turn(&self, direction: [f32; 3]) -> [f32; 3] {
        (self.rotation() * Vec3::from(direction)).into()
    }

    /// As a unit quaternion.
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

    /// As the shader reads it: position, scale; rotation.
    pub(crate) fn rows(&self) -> [[f32; 4]; 2] {
        let [x, y, z] = self.position;
        [[x, y, z, self.scale], self.rotation().to_array()]
    }
}

/// What an instance is when it is spawned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Instance {
    /// Where it stands.
    pub placement: Placement,
    /// Of its free particles, on top of the velocities that the asset's particles have in its scene, which are turned and scaled with it [m/s].
    pub velocity: [f32; 3],
    /// On top of the wind of [`crate::Settings::wind`] [m/s]; without that there is no air.
    pub wind: [f32; 3],
    /// Its pinned particles; those of the asset where `None`.
    pub pinned: Option<Vec<u32>>,
}

/// Names an instance of a [`crate::gpu::Instances`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstanceId {
    pub(crate) slot: u32,
    /// The slot of a removed instance is taken by others, whose names are not its own.
    pub(crate) generation: u32,
    /// Of which instances it is one.
    pub(crate) owner: u32,
}

impl InstanceId {
    /// Its place in the buffers: its particles begin at slot · particles of the asset.
    pub fn slot(self) -> u32 {
        self.slot
    }
}
