//! The parts of a scene, as serde reads them.

use super::format::{MaterialFile, Switch};
use super::values::{NameOr, OneOrMany, Selection};
use serde::Deserialize;

/// Something that is simulated, under the name of its sort.
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
    /// A soft or rigid body in the shape of a closed triangle mesh.
    SoftBody(SoftBodyFile),
    /// A soft or rigid body of given tetrahedra.
    Tetrahedra(TetrahedraFile),
    /// A closed cloth with a gas inside.
    Balloon(BalloonFile),
    /// Particles without mass, each following four others.
    Followers(FollowersFile),
}

/// Loose particles, held by nothing but `constraints`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ParticlesFile {
    /// A name to refer to them by.
    pub name: Option<String>,
    /// Where they are [m].
    pub positions: Vec<[f32; 3]>,
    /// Velocity of all of them [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// Mass [kg], one for all or one each. Default 1.
    pub mass: Option<OneOrMany>,
    /// Inverse mass [1/kg] instead, 0 to 1e12; 0 is pinned for good.
    pub inverse_mass: Option<OneOrMany>,
    /// Which of them are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// Whether they count as one body for `body_damping`. Default false.
    #[serde(default)]
    pub body: bool,
    /// The name of their contact material. Default "default".
    pub contact: Option<String>,
}

/// A rectangular cloth. Particle (row r, column c) is particle r · columns + c of the part and lies at
/// origin + c/(columns − 1) · column_axis + r/(rows − 1) · row_axis.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ClothGridFile {
    /// A name to refer to it by.
    pub name: Option<String>,
    /// Particles in a row, at least 2.
    pub columns: u32,
    /// Rows, at least 2.
    pub rows: u32,
    /// Where particle (0, 0) lies [m]. Default [-1, 0, -1].
    pub origin: Option<[f32; 3]>,
    /// From the first particle of a row to its last [m]. Default [2, 0, 0].
    pub column_axis: Option<[f32; 3]>,
    /// From the first row to the last [m]. Default [0, 0, 2].
    pub row_axis: Option<[f32; 3]>,
    /// What it is made of. Default "plain".
    pub fabric: Option<NameOr<FabricFile>>,
    /// Tethers to its pins: true, false, or how. Default true.
    pub tethers: Option<Switch<TethersFile>>,
    /// Which of its particles are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// Velocity at the start [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of its particles. Default "default".
    pub contact: Option<String>,
}

/// A cloth in the shape of a triangle mesh, one particle a vertex.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ClothMeshFile {
    /// A name to refer to it by.
    pub name: Option<String>,
    /// Its shape.
    pub mesh: MeshFile,
    /// What it is made of; `shear` is not used. Default "plain".
    pub fabric: Option<NameOr<FabricFile>>,
    /// Tethers to its pins: true, false, or how. Default true.
    pub tethers: Option<Switch<TethersFile>>,
    /// Which of its particles are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// Velocity at the start [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of its particles. Default "default".
    pub contact: Option<String>,
}

/// A rope along a polyline, one particle a point.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct RopeFile {
    /// A name to refer to it by.
    pub name: Option<String>,
    /// Its points [m]; either these or `from`, `to` and `segments`.
    pub points: Option<Vec<[f32; 3]>>,
    /// Its first point [m].
    pub from: Option<[f32; 3]>,
    /// Its last point [m].
    pub to: Option<[f32; 3]>,
    /// Into how many equal segments the way between them is cut.
    pub segments: Option<u32>,
    /// What it is made of.
    pub cord: NameOr<CordFile>,
    /// Tethers to its pins: true, false, or how. Default true.
    pub tethers: Option<Switch<TethersFile>>,
    /// Which of its particles are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// Velocity at the start [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of its particles. Default "default".
    pub contact: Option<String>,
}

/// A body in the shape of a closed triangle mesh, held by a lattice of tetrahedra that the mesh follows. The particles of the part
/// are those of the lattice; the vertices of the mesh come after them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct SoftBodyFile {
    /// A name to refer to it by.
    pub name: Option<String>,
    /// Its shape, closed.
    pub mesh: MeshFile,
    /// The edge of a lattice cube [m].
    pub spacing: f32,
    /// Mass per volume [kg/m³].
    pub density: f32,
    /// What holds it together.
    pub elasticity: ElasticityFile,
    /// Which particles of its lattice are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// Velocity at the start [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of its particles. Default "default".
    pub contact: Option<String>,
}

/// A body of given tetrahedra, one particle a vertex.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TetrahedraFile {
    /// A name to refer to it by.
    pub name: Option<String>,
    /// The vertices [m].
    pub positions: Vec<[f32; 3]>,
    /// The tetrahedra, as indices of vertices from 0, with (x1 − x0)·((x2 − x0) × (x3 − x0)) > 0.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Mass per volume [kg/m³].
    pub density: f32,
    /// What holds it together.
    pub elasticity: ElasticityFile,
    /// Which of its particles are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// Velocity at the start [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of its particles. Default "default".
    pub contact: Option<String>,
}

/// A closed cloth with a gas inside, one particle a vertex.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct BalloonFile {
    /// A name to refer to it by.
    pub name: Option<String>,
    /// Its shape: closed, counterclockwise seen from outside.
    pub mesh: MeshFile,
    /// What its skin is made of. Default "plain".
    pub fabric: Option<NameOr<FabricFile>>,
    /// How many times its volume the gas wants. Default 1.
    pub pressure: Option<f32>,
    /// How the gas gives way [m⁶/J]. Default rigid: a liquid.
    pub gas: Option<NameOr<MaterialFile>>,
    /// Which of its particles are pinned at the start.
    #[serde(default)]
    pub pin: Vec<Selection>,
    /// Velocity at the start [m/s]. Default [0, 0, 0].
    pub velocity: Option<[f32; 3]>,
    /// The name of the contact material of its particles. Default "default".
    pub contact: Option<String>,
}

/// Particles without mass, each wherever the weighted sum of four others is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct FollowersFile {
    /// A name to refer to them by.
    pub name: Option<String>,
    /// The four particles that each follows; the same may be named again with a weight of 0.
    pub sources: Vec<[Selection; 4]>,
    /// The four weights of each, of sum 1.
    pub weights: Vec<[f32; 4]>,
}

/// A triangle mesh: `positions` and `triangles`, or `obj`. It is scaled first, then turned, then moved, then
/// welded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct MeshFile {
    /// The vertices [m].
    pub positions: Option<Vec<[f32; 3]>>,
    /// The triangles, as indices of vertices from 0.
    pub triangles: Option<Vec<[u32; 3]>>,
    /// A Wavefront OBJ file, relative to the folder of the scene.
    pub obj: Option<String>,
    /// Factor of all coordinates, or one for each axis. Default 1.
    pub scale: Option<OneOrMany>,
    /// Angles [degrees] by which it is turned about the x axis, then the y axis, then the z axis. Default [0, 0, 0].
    pub rotate: Option<[f32; 3]>,
    /// By how much it is moved [m]. Default [0, 0, 0].
    pub translate: Option<[f32; 3]>,
    /// Vertices that are no farther apart than this [m] become one, for instance along texture seams; at least 0. Default: none.
    pub weld: Option<f32>,
}

/// What a cloth is made of. What is not given is that of the preset.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct FabricFile {
    /// "plain", "silk", "cotton", "denim", "wool", "leather" or "rubber". Default "plain".
    pub preset: Option<String>,
    /// Mass per area [kg/m²].
    pub area_density: Option<f32>,
    /// Along the weave of a grid, or along the edges of a mesh [m/N].
    pub structural: Option<NameOr<MaterialFile>>,
    /// Along the diagonals of a grid's cells [m/N].
    pub shear: Option<NameOr<MaterialFile>>,
    /// Of the bending springs [m/N].
    pub bend: Option<NameOr<MaterialFile>>,
    /// Flexural rigidity [N m] of the bendings "hinges" and "isometric".
    pub flexural_rigidity: Option<f32>,
    /// What resists bending.
    pub bending: Option<BendingFile>,
    /// How many times its rest length a structural edge may become at most. Default: no limit.
    pub stretch_limit: Option<f32>,
}

/// "springs": distances, cheap. "hinges": dihedral angles, for cloth that stretches or is curved at rest. "isometric": quadratic,
/// for cloth that does not stretch and is flat at rest. "none".
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum BendingFile {
    Springs,
    Hinges,
    Isometric,
    None,
}

/// What a rope is made of. What is not given is that of the preset, if there is one.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct CordFile {
    /// "steel_cable", "nylon", "hemp", "cotton" or "rubber_band".
    pub preset: Option<String>,
    /// Mass per length [kg/m]; needed without a preset.
    pub linear_density: Option<f32>,
    /// Axial stiffness EA [N]: the force that would double its length. Without it and a preset: rigid.
    pub axial_stiffness: Option<f32>,
    /// Damping of each segment [N s/m]. Default 0.
    pub damping: Option<f32>,
    /// Springs from each point to the next but one [m/N]. Default: none.
    pub bend: Option<NameOr<MaterialFile>>,
    /// Flexural rigidity EI [N m²]. Default 0.
    pub flexural_rigidity: Option<f32>,
}

/// How a body is tied to its pins.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct TethersFile {
    /// To how many of its nearest pins each particle is tied, 1 to 8. Default 2.
    pub per_particle: u32,
    /// The length of a tether over that of the material: 1 allows no stretch, 1.05 five per cent. Default 1.
    pub scale: f32,
}

impl Default for TethersFile {
    fn default() -> Self {
        let crate::scene::Tethers { per_particle, scale } = Default::default();
        Self { per_particle, scale }
    }
}

/// What holds a body together.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum ElasticityFile {
    /// Springs along the edges of the tetrahedra, and their volumes.
    Elastic {
        /// Young's modulus [Pa].
        young: f32,
        /// Bulk modulus of the volumes [Pa], on top of that of the springs; 0 for none. Default `young`: with it a body recovers from
        /// flat and inverted shapes.
        bulk: Option<f32>,
        /// Whether volumes are rigid, instead of `bulk`. Default false.
        #[serde(default)]
        incompressible: bool,
        /// Damping time of springs and volumes [s]. Default √(density/young) times the spacing, for tetrahedra times their mean edge.
        damping_time: Option<f32>,
    },
    /// One shape matching group of all particles.
    Rigid {
        /// How it gives way [s²]. Default rigid.
        shape: Option<NameOr<MaterialFile>>,
    },
    /// A shape matching group around every particle.
    Regions {
        /// How many edges each group reaches, 1 to 8.
        rings: u32,
        /// How each gives way [s²]. Default rigid.
        shape: Option<NameOr<MaterialFile>>,
    },
}
