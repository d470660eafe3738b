//! The top level of the file and its materials, as deserialized by serde. The doc comments of the fields are the
//! descriptions of the JSON Schema.

use super::attachments::AttachmentFile;
use super::colliders::{ColliderFile, ContactMaterialFile, FrictionPairFile};
use super::constraints::ConstraintFile;
use super::parts::Part;
use super::plasticity::{PlasticityFile, WeakEdgesFile};
use super::settings::SettingsFile;
use super::skinned::SkinnedFile;
use super::values::{Either, Selection, Table, Version};
use serde::Deserialize;

/// A scene of supple: particles, constraints, colliders and settings. Lengths are in m, masses in kg, times in s.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct File {
    /// The address of the schema, for editors; it is not read.
    #[serde(rename = "$schema")]
    pub _schema: Option<String>,
    /// The version of the format: 1.
    #[serde(rename = "version")]
    pub _version: Version,
    /// The title of the scene.
    pub title: Option<String>,
    /// The simulation settings.
    #[serde(default)]
    pub settings: SettingsFile,
    /// Materials by name.
    #[serde(default)]
    pub materials: Table<MaterialFile>,
    /// The parts of the scene. Particles are numbered through all parts, in this order.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Constraints in addition to those of the parts.
    #[serde(default)]
    pub constraints: Vec<ConstraintFile>,
    /// Ranges of particles that form one body each for `body_damping`. Parts other than `particles` already are bodies.
    #[serde(default)]
    pub bodies: Vec<BodyFile>,
    /// Particles that are pinned at the start.
    #[serde(default)]
    pub pins: Vec<Selection>,
    /// Particles that start away from their rest positions, or with a velocity. Rest values do not change.
    #[serde(default)]
    pub start: Vec<StartFile>,
    /// The motions of pinned particles.
    #[serde(default)]
    pub targets: Vec<TargetFile>,
    /// Constant forces on particles.
    #[serde(default)]
    pub forces: Vec<ForceFile>,
    /// Contact materials, at most 16 including "default", which always exists.
    #[serde(default)]
    pub contact_materials: Vec<ContactMaterialFile>,
    /// Friction between two contact materials, in place of the geometric mean.
    #[serde(default)]
    pub frictions: Vec<FrictionPairFile>,
    /// Colliders: shapes that particles do not enter.
    #[serde(default)]
    pub colliders: Vec<ColliderFile>,
    /// Attachments of points to other points, to points in space, and to colliders.
    #[serde(default)]
    pub attachments: Vec<AttachmentFile>,
    /// Limits of the distance of particles from a skinned pose.
    #[serde(default)]
    pub skinned: Vec<SkinnedFile>,
    /// Plasticity and rupture of the edges or hinges of parts, and of rods.
    #[serde(default)]
    pub plasticity: Vec<PlasticityFile>,
    /// Strengths of edges of cloths that tear.
    #[serde(default)]
    pub weak_edges: Vec<WeakEdgesFile>,
}

/// The material of a constraint.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct MaterialFile {
    /// Compliance [(unit of C)²/J; m/N for a distance], 0 to 1e18. Default 0: rigid.
    pub compliance: f32,
    /// Damping [J s/(unit of C)²; N s/m for a distance], 0 to 1e18. It has no effect on a rigid constraint. Default 0.
    pub damping: f32,
    /// Damping time [s], for rigid constraints too. Default 0.
    pub damping_time: f32,
    /// Stiffness of the methods `pbd` and `naive_pbd`, 0 to 1. Default 1.
    pub stiffness: f32,
}

impl Default for MaterialFile {
    fn default() -> Self {
        let crate::scene::Material { compliance, damping, damping_time, stiffness } = crate::scene::Material::RIGID;
        Self { compliance, damping, damping_time, stiffness }
    }
}

impl From<MaterialFile> for crate::scene::Material {
    fn from(file: MaterialFile) -> Self {
        let MaterialFile { compliance, damping, damping_time, stiffness } = file;
        Self { compliance, damping, damping_time, stiffness }
    }
}

/// A range of particles that form one body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct BodyFile {
    /// The first particle.
    pub first: Selection,
    /// The last particle, included.
    pub last: Selection,
}

/// The initial state of particles.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct StartFile {
    /// The particles.
    pub particles: Vec<Selection>,
    /// The displacement from the rest positions [m].
    pub offset: Option<[f32; 3]>,
    /// The initial positions [m], one for each particle; excludes `offset`.
    pub positions: Option<Vec<[f32; 3]>>,
    /// The velocity [m/s]. A pinned particle without a target moves at this velocity.
    pub velocity: Option<[f32; 3]>,
}

/// The motion of pinned particles: linear between the given times, and at rest before and after them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TargetFile {
    /// The particles; all must be pinned, and each belongs to at most one target.
    pub particles: Vec<Selection>,
    /// Times [s] from 0, in ascending order.
    pub times: Vec<f64>,
    /// The positions at these times [m], for a single particle.
    pub positions: Option<Vec<[f32; 3]>>,
    /// The displacements from the rest positions at these times [m]. Either this or `positions`.
    pub offsets: Option<Vec<[f32; 3]>>,
}

/// A constant force on each of some particles.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ForceFile {
    /// The particles.
    pub particles: Vec<Selection>,
    /// The force on each [N]; forces on the same particle add up.
    pub force: [f32; 3],
}

/// True, false, or the parameters.
pub(super) type Switch<T> = Either<bool, T>;
