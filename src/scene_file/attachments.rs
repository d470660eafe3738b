//! Attachments of a scene file: as deserialized by serde, and added to the scene.

use super::build::Builder;
use super::error::{At, FileError, Reason};
use super::format::MaterialFile;
use super::values::{NameOr, Selection};
use crate::collision::ColliderId;
use crate::scene::{Attachment, AttachmentId, AttachmentTarget, ParticlePoint};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Ties a point of particles to another point, to a point in space, or to a point of a collider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct AttachmentFile {
    /// The name of the attachment.
    pub name: Option<String>,
    /// The point that is tied.
    pub point: PointFile,
    /// The other end.
    pub target: AttachmentTargetFile,
    /// Rest length [m], at least 0. Default 0.
    #[serde(default)]
    pub rest_length: f32,
    /// If true, the attachment pulls and does not push; it needs a rest length. Default false.
    #[serde(default)]
    pub only_pull: bool,
    /// The material, by name or by its properties. Default: rigid.
    pub material: Option<NameOr<MaterialFile>>,
    /// The mean force in a step [N] at which it breaks, greater than 0. Default: it never breaks.
    pub break_force: Option<f32>,
}

/// A point given by particles and their weights.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct PointFile {
    /// 1 to 4 particles, one per selection.
    pub particles: Vec<Selection>,
    /// Their barycentric weights, of sum 1. Default: equal weights.
    pub weights: Option<Vec<f32>>,
}

/// The other end of an attachment, keyed by its type.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum AttachmentTargetFile {
    /// Another point of particles.
    Point(PointFile),
    /// A point in space [m].
    Position([f32; 3]),
    /// A point of a collider.
    Collider {
        /// The name of the collider.
        name: String,
        /// The point in the frame of the collider [m].
        point: [f32; 3],
    },
}

impl Builder<'_> {
    /// Adds the attachments; returns those with a name. `colliders` are the named colliders.
    pub fn add_attachments(
        &mut self,
        files: &[AttachmentFile],
        colliders: &BTreeMap<String, ColliderId>,
    ) -> Result<BTreeMap<String, AttachmentId>, FileError> {
        let mut names = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            let of = |field: &str| format!("attachments[{index}]{field}");
            if let Some(name) = &file.name {
                if name.is_empty() {
                    return Err("a name must not be empty").at(|| of(".name"));
                }
                if names.contains_key(name) {
                    return Err(format!("two attachments are named {name:?}")).at(|| of(".name"));
                }
            }
            let target = match &file.target {
                AttachmentTargetFile::Point(point) => {
                    AttachmentTarget::Particles(self.particle_point(point, &of(".target.point"))?)
                }
                AttachmentTargetFile::Position(position) => AttachmentTarget::Space(*position),
                AttachmentTargetFile::Collider { name, point } => {
                    let id = colliders.get(name).copied();
                    let id = id.ok_or_else(|| format!("no collider is named {name:?}"));
                    AttachmentTarget::Collider { id: id.at(|| of(".target.collider.name"))?, point: *point }
                }
            };
            let attachment = Attachment {
                point: self.particle_point(&file.point, &of(".point"))?,
                target,
                rest_length: file.rest_length,
                only_pull: file.only_pull,
                material: self.material(file.material.as_ref()).at(|| of(".material"))?,
                break_force: file.break_force,
            };
            let id = self.scene.add_attachment(attachment).at(|| of(""))?;
            names.extend(file.name.clone().map(|name| (name, id)));
        }
        Ok(names)
    }

    fn particle_point(&self, file: &PointFile, place: &str) -> Result<ParticlePoint, FileError> {
        let mut particles = Vec::with_capacity(4);
        for (index, selection) in file.particles.iter().enumerate() {
            particles.push(self.one(selection).at(|| format!("{place}.particles[{index}]"))?);
        }
        let equal = || vec![1.0 / particles.len() as f32; particles.len()];
        let weights = file.weights.clone().unwrap_or_else(equal);
        point_of(&particles, &weights).at(|| place.to_owned())
    }
}

fn point_of(particles: &[u32], weights: &[f32]) -> Result<ParticlePoint, Reason> {
    if particles.len() != weights.len() {
        return Err(format!("{} weights for {} particles", weights.len(), particles.len()).into());
    }
    match (particles, weights) {
        (&[particle], &[weight]) if (weight - 1.0).abs() <= 1e-3 => Ok(ParticlePoint::Particle(particle)),
        (&[_], &[weight]) => Err(format!("the weight of its only particle is {weight}, but must be 1").into()),
        (&[a, b], &[v, w]) => Ok(ParticlePoint::Edge([a, b], [v, w])),
        (&[a, b, c], &[u, v, w]) => Ok(ParticlePoint::Triangle([a, b, c], [u, v, w])),
        (&[a, b, c, d], &[t, u, v, w]) => Ok(ParticlePoint::Tetrahedron([a, b, c, d], [t, u, v, w])),
        _ => Err(format!("{} particles, but a point has 1 to 4", particles.len()).into()),
    }
}
