//! Skinned particles of a scene file: as deserialized by serde, and added to the scene.

use super::build::Builder;
use super::error::{At, FileError, Reason};
use super::values::Selection;
use crate::scene::{Backstop, Scene, Skinned, SkinnedLimits};
use serde::Deserialize;
use std::collections::HashSet;

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
    /// Adds the skinned particles of maps and of the list, whose poses are the start.
    pub fn add_skinned(&mut self, files: &[SkinnedFile], with_target: &HashSet<u32>) -> Result<(), FileError> {
        if files.is_empty() && self.max_distances.is_empty() {
            return Ok(());
        }
        let poses = self.scene.rest_poses();
        let add = |scene: &mut Scene, particle: u32, limits| -> Result<(), Reason> {
            if with_target.contains(&particle) {
                return Err(format!("particle {particle} has a target; it cannot be skinned").into());
            }
            scene.add_skinned(Skinned { particle, pose: poses[particle as usize], limits, joints: None })?;
            Ok(())
        };
        for (place, distances) in std::mem::take(&mut self.max_distances) {
            for (particle, max_distance) in distances {
                add(&mut self.scene, particle, SkinnedLimits { max_distance, backstop: None }).at(|| place.clone())?;
            }
        }
        for (index, file) in files.iter().enumerate() {
            let backstop = file.backstop.as_ref();
            let backstop = backstop.map(|&BackstopFile { distance, radius }| Backstop { distance, radius });
            let limits = SkinnedLimits { max_distance: file.max_distance.unwrap_or(f32::INFINITY), backstop };
            for particle in self.select(&file.particles, None, || format!("skinned[{index}].particles"))? {
                add(&mut self.scene, particle, limits).at(|| format!("skinned[{index}]"))?;
            }
        }
        Ok(())
    }
}
