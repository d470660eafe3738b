//! Skinned particles of a scene file: as deserialized by serde, and added to the scene.

use super::build::Builder;
use super::error::{At, FileError};
use super::values::Selection;
use crate::scene::{Backstop, Skinned, SkinnedLimits};
use serde::Deserialize;

/// Limits of the distance of particles from their skinned pose. The pose is their start until the program moves it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct SkinnedFile {
    /// The particles; each is skinned at most once, and has no target.
    pub particles: Vec<Selection>,
    /// Maximum distance from the skinned position [m], at least 0. Default: no limit.
    pub max_distance: Option<f32>,
    /// The sphere behind the surface. Default: none.
    pub backstop: Option<BackstopFile>,
}

/// A sphere behind the surface that the particle does not enter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct BackstopFile {
    /// Distance from the skinned position to the sphere [m], at least 0. Default 0.
    #[serde(default)]
    pub distance: f32,
    /// Radius of the sphere [m], greater than 0 and at most 1e6.
    pub radius: f32,
}

impl Builder<'_> {
    /// Adds the skinned particles, whose poses are the start. `has_target` is true for particles with a target.
    pub fn add_skinned(&mut self, files: &[SkinnedFile], has_target: impl Fn(u32) -> bool) -> Result<(), FileError> {
        if files.is_empty() {
            return Ok(());
        }
        let poses = self.scene.rest_poses();
        for (index, file) in files.iter().enumerate() {
            let place = || format!("skinned[{index}]");
            let backstop = file.backstop.as_ref();
            let backstop = backstop.map(|&BackstopFile { distance, radius }| Backstop { distance, radius });
            let limits = SkinnedLimits { max_distance: file.max_distance.unwrap_or(f32::INFINITY), backstop };
            for particle in self.select(&file.particles, None, || format!("skinned[{index}].particles"))? {
                if has_target(particle) {
                    return Err(format!("particle {particle} has a target; it cannot be skinned")).at(place);
                }
                let pose = poses[particle as usize];
                self.scene.add_skinned(Skinned { particle, pose, limits, joints: None }).at(place)?;
            }
        }
        Ok(())
    }
}
