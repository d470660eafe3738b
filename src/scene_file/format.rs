//! The top of the file and its materials, as serde reads them. The comments of the fields are the descriptions of
//! the schema.

use super::colliders::{ColliderFile, ContactMaterialFile, FrictionPairFile};
use super::constraints::Constraint;
use super::parts::Part;
use super::settings::SettingsFile;
use super::values::{Either, Selection, Table, Version};
use serde::Deserialize;

/// A scene of supple: what there is, how it is held together and how it is simulated. Lengths are in m, masses in kg, times in s.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct File {
    /// The schema's address, for editors; it is not read.
    #[serde(rename = "$schema")]
    pub _schema: Option<String>,
    /// The version of the format: 1.
    #[serde(rename = "version")]
    pub _version: Version,
    /// What the scene shows.
    pub title: Option<String>,
    /// How it is simulated.
    #[serde(default)]
    pub settings: SettingsFile,
    /// Materials by name.
    #[serde(default)]
    pub materials: Table<MaterialFile>,
    /// What there is. Particles are counted through all parts, in this order.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Constraints beside those that the parts bring along.
    #[serde(default)]
    pub constraints: Vec<Constraint>,
    /// Runs of particles that count as one body each for `body_damping`; parts other than `particles` are bodies already.
    #[serde(default)]
    pub bodies: Vec<BodyFile>,
    /// Particles that are pinned at the start.
    #[serde(default)]
    pub pins: Vec<Selection>,
    /// Particles that start elsewhere than where they are at rest, or with a velocity. Rest values stay.
    #[serde(default)]
    pub start: Vec<StartFile>,
    /// Where pinned particles go over time.
    #[serde(default)]
    pub targets: Vec<TargetFile>,
    /// Constant forces on particles.
    #[serde(default)]
    pub forces: Vec<ForceFile>,
    /// How things behave that touch, at most 16 with "default", which is there from the start.
    #[serde(default)]
    pub contact_materials: Vec<ContactMaterialFile>,
    /// Friction between two contact materials, where it is not what their own would make it.
    #[serde(default)]
    pub frictions: Vec<FrictionPairFile>,
    /// Shapes that particles do not enter.
    #[serde(default)]
    pub colliders: Vec<ColliderFile>,
}

/// How a constraint gives way.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct MaterialFile {
    /// Compliance [unit of the constraint² / J; m/N for a distance], 0 to 1e18. Default 0: rigid.
    pub compliance: f32,
    /// Damping [J s / unit²; N s/m for a distance], 0 to 1e18. It has no effect on a rigid constraint. Default 0.
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

/// A run of particles that count as one body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct BodyFile {
    /// Its first particle.
    pub first: Selection,
    /// Its last particle.
    pub last: Selection,
}

/// Where particles start.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct StartFile {
    /// Which.
    pub particles: Vec<Selection>,
    /// By how much they are moved [m].
    pub offset: Option<[f32; 3]>,
    /// Where they are instead [m], one for each particle; not together with `offset`.
    pub positions: Option<Vec<[f32; 3]>>,
    /// Their velocity [m/s]. A pinned particle without a target moves at it.
    pub velocity: Option<[f32; 3]>,
}

/// Where pinned particles go over time: along straight lines between the given times, and still before and after them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TargetFile {
    /// Which; all must be pinned, and each may be named by one target only.
    pub particles: Vec<Selection>,
    /// Times [s] from 0, ascending.
    pub times: Vec<f64>,
    /// Where the particle is at these times [m]. For a single particle.
    pub positions: Option<Vec<[f32; 3]>>,
    /// How far each particle is from its start at these times [m]. Either this or `positions`.
    pub offsets: Option<Vec<[f32; 3]>>,
}

/// A constant force on each of some particles.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ForceFile {
    /// Which.
    pub particles: Vec<Selection>,
    /// The force on each [N]; forces on the same particle add up.
    pub force: [f32; 3],
}

/// True, false, or how.
pub(super) type Switch<T> = Either<bool, T>;
