//! The parts of a scene, as deserialized by serde.

use super::colliders::ContactScaleFile;
use super::format::{MaterialFile, Switch};
use super::mesh::MeshFile;
use super::plasticity::TearingFile;
use super::rods::RodFile;
use super::values::{NameOr, OneOrMany, Selection};
use serde::Deserialize;

/// A part of the scene, keyed by its type.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum Part {
    /// Loose particles.
    Particles(ParticlesFile),
    /// A rectangular cloth.
    ClothGrid(ClothGridFile),
    /// A cloth in the shape of a triangle mesh.
    ClothMesh(ClothMeshFile),
    /// A rope along a polyline.
    Rope(RopeFile),
    /// A rod with bending and twist along a polyline.
    Rod(RodFile),
    /// A soft or rigid body in the shape of a closed triangle mesh.
    SoftBody(SoftBodyFile),
    /// A soft or rigid body of given tetrahedra.
    Tetrahedra(TetrahedraFile),
    /// A closed cloth filled with gas.
    Balloon(BalloonFile),
    /// Massless particles, each the weighted sum of four others.
    Followers(FollowersFile),
}

/// Loose particles, connected by `constraints` only.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ParticlesFile {
    /// The name of the part.
    pub name: Option<String>,
    /// The positions [m].
    pub positions: Vec<[f32; 3]>,
    /// The initial velocity of all particles [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// Mass [kg]: one value for all, or one for each. Default 1.
    pub mass: Option<OneOrMany>,
    /// Inverse mass [1/kg] in place of `mass`, 0 to 1e12; 0 pins the particle permanently.
    pub inverse_mass: Option<OneOrMany>,
    /// The particles that are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// If true, the particles form one body for `body_damping`. Default false.
    #[serde(default)]
    pub body: bool,
    /// The name of the contact material. Default "default".
    pub contact: Option<String>,
    /// Scales of thickness and friction, for all particles or for each.
    pub contact_scale: Option<ContactScaleFile>,
}

/// A rectangular cloth. Particle (row r, column c) is particle r · columns + c of the part and lies at
/// origin + c/(columns − 1) · column_axis + r/(rows − 1) · row_axis.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ClothGridFile {
    /// The name of the part.
    pub name: Option<String>,
    /// Particles in a row, at least 2.
    pub columns: u32,
    /// Rows, at least 2.
    pub rows: u32,
    /// The position of particle (0, 0) [m]. Default [-1, 0, -1].
    pub origin: Option<[f32; 3]>,
    /// The vector from the first particle of a row to the last [m]. Default [2, 0, 0].
    pub column_axis: Option<[f32; 3]>,
    /// The vector from the first row to the last [m]. Default [0, 0, 2].
    pub row_axis: Option<[f32; 3]>,
    /// The fabric, by name or by its properties. Default "plain".
    pub fabric: Option<NameOr<FabricFile>>,
    /// Tethers (long-range attachments) to the pins: true, false, or their parameters. Default true.
    pub tethers: Option<Switch<TethersFile>>,
    /// The particles that are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// The initial velocity [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of the particles. Default "default".
    pub contact: Option<String>,
    /// Scales of thickness and friction, for all particles or for each.
    pub contact_scale: Option<ContactScaleFile>,
}

/// A cloth in the shape of a triangle mesh, one particle per vertex.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ClothMeshFile {
    /// The name of the part.
    pub name: Option<String>,
    /// The mesh at rest.
    pub mesh: MeshFile,
    /// The fabric, by name or by its properties; `shear` is not used. Default "plain".
    pub fabric: Option<NameOr<FabricFile>>,
    /// Tethers (long-range attachments) to the pins: true, false, or their parameters. Default true.
    pub tethers: Option<Switch<TethersFile>>,
    /// The particles that are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// The initial velocity [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of the particles. Default "default".
    pub contact: Option<String>,
    /// Scales of thickness and friction, for all particles or for each.
    pub contact_scale: Option<ContactScaleFile>,
}

/// A rope along a polyline, one particle per point.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct RopeFile {
    /// The name of the part.
    pub name: Option<String>,
    /// The points [m]; either these or `from`, `to` and `segments`.
    pub points: Option<Vec<[f32; 3]>>,
    /// The first point [m].
    pub from: Option<[f32; 3]>,
    /// The last point [m].
    pub to: Option<[f32; 3]>,
    /// The number of equal segments between `from` and `to`.
    pub segments: Option<u32>,
    /// The cord, by name or by its properties.
    pub cord: NameOr<CordFile>,
    /// Tethers (long-range attachments) to the pins: true, false, or their parameters. Default true.
    pub tethers: Option<Switch<TethersFile>>,
    /// The particles that are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// The initial velocity [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of the particles. Default "default".
    pub contact: Option<String>,
    /// Scales of thickness and friction, for all particles or for each.
    pub contact_scale: Option<ContactScaleFile>,
}

/// A body in the shape of a closed triangle mesh, simulated by a lattice of tetrahedra that the mesh follows. The
/// particles of the part are those of the lattice, then the vertices of the mesh.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct SoftBodyFile {
    /// The name of the part.
    pub name: Option<String>,
    /// The surface at rest; it must be closed.
    pub mesh: MeshFile,
    /// The edge length of a lattice cube [m].
    pub spacing: f32,
    /// Mass per volume [kg/m³].
    pub density: f32,
    /// The constraints of the body and their stiffness.
    pub elasticity: ElasticityFile,
    /// The particles of the lattice that are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// The initial velocity [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of the particles. Default "default".
    pub contact: Option<String>,
    /// Scales of thickness and friction, for all particles or for each.
    pub contact_scale: Option<ContactScaleFile>,
}

/// A body of given tetrahedra, one particle per vertex.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TetrahedraFile {
    /// The name of the part.
    pub name: Option<String>,
    /// The vertices [m].
    pub positions: Vec<[f32; 3]>,
    /// The tetrahedra, as indices of vertices from 0, with (x1 − x0)·((x2 − x0) × (x3 − x0)) > 0.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Mass per volume [kg/m³].
    pub density: f32,
    /// The constraints of the body and their stiffness.
    pub elasticity: ElasticityFile,
    /// The particles that are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// The initial velocity [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of the particles. Default "default".
    pub contact: Option<String>,
    /// Scales of thickness and friction, for all particles or for each.
    pub contact_scale: Option<ContactScaleFile>,
}

/// A closed cloth filled with gas, one particle per vertex.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct BalloonFile {
    /// The name of the part.
    pub name: Option<String>,
    /// The mesh at rest: closed, counterclockwise seen from outside.
    pub mesh: MeshFile,
    /// The fabric of the skin, by name or by its properties. Default "plain".
    pub fabric: Option<NameOr<FabricFile>>,
    /// The target volume of the gas, as a multiple of the rest volume. Default 1.
    pub pressure: Option<f32>,
    /// The pressure above that of the air around, for any volume [Pa]; instead of `pressure` and `gas`.
    pub pascals: Option<f32>,
    /// The material of the gas [m⁶/J]. Default rigid: a liquid.
    pub gas: Option<NameOr<MaterialFile>>,
    /// The particles that are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// The initial velocity [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of the particles. Default "default".
    pub contact: Option<String>,
    /// Scales of thickness and friction, for all particles or for each.
    pub contact_scale: Option<ContactScaleFile>,
}

/// Massless particles, each at the weighted sum of four others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct FollowersFile {
    /// The name of the part.
    pub name: Option<String>,
    /// The four source particles of each follower. A source may repeat with weight 0.
    pub sources: Vec<[Selection; 4]>,
    /// The four weights of each follower; their sum is 1.
    pub weights: Vec<[f32; 4]>,
}

/// The properties of a cloth. Omitted fields are those of the preset.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct FabricFile {
    /// "plain", "silk", "cotton", "denim", "stretch_denim", "wool", "leather" or "rubber". Default "plain".
    pub preset: Option<String>,
    /// Mass per area [kg/m²].
    pub area_density: Option<f32>,
    /// The material along the weave of a grid, or along the edges of a mesh [m/N].
    pub structural: Option<NameOr<MaterialFile>>,
    /// The material along the diagonals of the cells of a grid [m/N].
    pub shear: Option<NameOr<MaterialFile>>,
    /// The material of the bending springs [m/N].
    pub bend: Option<NameOr<MaterialFile>>,
    /// Flexural rigidity [N m] of the bending models "hinges" and "isometric".
    pub flexural_rigidity: Option<f32>,
    /// The bending model.
    pub bending: Option<BendingFile>,
    /// The maximum length of a structural edge, as a multiple of its rest length. Default: no limit.
    pub stretch_limit: Option<f32>,
    /// In-plane elasticity of given moduli, in place of `structural` and `shear`. Default: none.
    pub membrane: Option<MembraneFile>,
    /// How the cloth tears. Default: never.
    pub tearing: Option<TearingFile>,
}

/// An orthotropic membrane.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct MembraneFile {
    /// Modulus along the warp [N/m].
    pub warp: f32,
    /// Modulus along the weft [N/m]. Default: as the warp.
    pub weft: Option<f32>,
    /// Shear modulus [N/m]. Default: that of an isotropic sheet of the warp modulus.
    pub shear: Option<f32>,
    /// Poisson ratio: contraction along the weft per extension along the warp. Default 0.
    #[serde(default)]
    pub poisson_ratio: f32,
    /// The direction of the warp. Default: along the rows of a grid, along the first texture coordinate of a mesh.
    pub direction: Option<[f32; 3]>,
    /// Higher moduli along the warp beyond given strains, at most two, by rising strain. Default: none.
    #[serde(default)]
    #[cfg_attr(feature = "scene-schema", schemars(length(max = 2)))]
    pub warp_pieces: Vec<TensionPieceFile>,
    /// The same along the weft.
    #[serde(default)]
    #[cfg_attr(feature = "scene-schema", schemars(length(max = 2)))]
    pub weft_pieces: Vec<TensionPieceFile>,
}

/// A piece of a piecewise linear tension.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TensionPieceFile {
    /// The Green strain at which the piece begins.
    pub strain: f32,
    /// The modulus in the piece [N/m]. Default: infinite, which limits the strain.
    pub modulus: Option<f32>,
}

/// "springs": distance constraints, cheap. "hinges": dihedral angles, for cloth that stretches or is curved at rest.
/// "isometric": a quadratic energy, for cloth that does not stretch and is flat at rest. "none": no bending resistance.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum BendingFile {
    Springs,
    Hinges,
    Isometric,
    None,
}

/// The properties of a rope. Omitted fields are those of the preset, if one is given.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct CordFile {
    /// "steel_cable", "nylon", "hemp", "cotton" or "rubber_band".
    pub preset: Option<String>,
    /// Mass per length [kg/m]; required without a preset.
    pub linear_density: Option<f32>,
    /// Axial stiffness EA [N]: the force at which the length doubles. Default without a preset: rigid.
    pub axial_stiffness: Option<f32>,
    /// Damping of each segment [N s/m]. Default 0.
    pub damping: Option<f32>,
    /// The material of the springs from each point to the next but one [m/N]. Default: no springs.
    pub bend: Option<NameOr<MaterialFile>>,
    /// Flexural rigidity EI [N m²]. Default 0.
    pub flexural_rigidity: Option<f32>,
}

/// The parameters of tethers.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TethersFile {
    /// The number of nearest pins that each particle is tethered to, 1 to 8. Default 2.
    pub per_particle: u32,
    /// The length of a tether divided by the rest length along the material: 1.05 allows 5 % stretch. Default 1.
    pub scale: f32,
}

impl Default for TethersFile {
    fn default() -> Self {
        let crate::scene::Tethers { per_particle, scale } = Default::default();
        Self { per_particle, scale }
    }
}

/// The constraints of a body and their stiffness.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum ElasticityFile {
    /// Distance constraints along the edges of the tetrahedra, and volume constraints.
    Elastic {
        /// Young's modulus [Pa].
        young: f32,
        /// Bulk modulus of the volume constraints [Pa], in addition to that of the distance constraints; 0 for none.
        /// Default `young`, with which a body recovers from flat and inverted shapes.
        bulk: Option<f32>,
        /// If true, volumes are rigid and `bulk` must be omitted. Default false.
        #[serde(default)]
        incompressible: bool,
        /// Damping time of distance and volume constraints [s]. Default √(density/young) times the spacing; for
        /// tetrahedra, times their mean edge length.
        damping_time: Option<f32>,
    },
    /// A stable neo-Hookean solid: distortion and volume constraints of each tetrahedron.
    NeoHookean {
        /// Young's modulus [Pa].
        young: f32,
        /// Poisson ratio, 0 to 0.4999.
        poisson_ratio: f32,
        /// Damping time of the constraints [s]. Default √(density/young) times the spacing; for tetrahedra, times their
        /// mean edge length.
        damping_time: Option<f32>,
    },
    /// One shape matching group of all particles.
    Rigid {
        /// The material [s²]. Default rigid.
        shape: Option<NameOr<MaterialFile>>,
    },
    /// One shape matching group around each particle.
    Regions {
        /// The radius of each group in edges, 1 to 8.
        rings: u32,
        /// The material [s²]. Default rigid.
        shape: Option<NameOr<MaterialFile>>,
    },
}
