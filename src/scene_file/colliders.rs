//! Contact materials, friction between them and colliders, as serde reads them.

use super::values::{Either, OneOrMany, Rotation};
use serde::Deserialize;

/// How particles or a collider behave when they touch something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ContactMaterialFile {
    /// Its name, once in the list. "default" is what everything is of that names no other.
    pub name: String,
    /// The distance that two things of this material keep [m], 1e-6 to 1e3; from a collider half of it. Default 0.005.
    pub thickness: Option<f32>,
    /// Friction against the same material; against another the geometric mean of both. Default 0.5.
    pub friction: Option<FrictionFile>,
    /// What is left of the speed of approach after an impact on a collider, 0 to 1; against another material the larger of
    /// both. Default 0.
    pub restitution: Option<f32>,
    /// The groups that it is in, 0 to 31. Default [0].
    pub groups: Option<Vec<u32>>,
    /// The groups that it touches: "all", or a list. Two things touch where each is in a group that the other touches.
    /// Default "all".
    pub touches: Option<Either<AllFile, Vec<u32>>>,
}

/// "all".
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum AllFile {
    All,
}

/// One coefficient at rest and in motion, or one each.
pub(super) type FrictionFile = Either<f32, CoefficientsFile>;

/// Coulomb friction.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct CoefficientsFile {
    /// The coefficient at rest, 0 to 1000.
    #[serde(rename = "static")]
    pub statics: f32,
    /// The coefficient in motion, at most that at rest. Default: the same.
    pub kinetic: Option<f32>,
}

/// Friction between two contact materials, whatever it would be by their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct FrictionPairFile {
    /// The names of the two, or twice that of one. Each pair once.
    pub between: [String; 2],
    /// A coefficient, or one at rest and one in motion.
    pub friction: FrictionFile,
}

/// A shape that particles do not enter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ColliderFile {
    /// A name to refer to it by.
    pub name: Option<String>,
    /// What it is, in its own frame.
    pub shape: ShapeFile,
    /// Where it is [m]. Default [0, 0, 0], or where its motion begins.
    pub position: Option<[f32; 3]>,
    /// How it is turned. Default: not, or as its motion begins.
    pub rotation: Option<Rotation>,
    /// The name of its contact material. Default "default".
    pub contact: Option<String>,
    /// A distance that particles keep on top of half their thickness [m], 0 to 1e3. Default 0.
    #[serde(default)]
    pub margin: f32,
    /// Whether it is a shell that holds both ways, not a solid. Default false.
    #[serde(default)]
    pub two_sided: bool,
    /// How fast its surface runs while its shape stays [m/s], in its own frame: a conveyor belt. Default [0, 0, 0].
    #[serde(default)]
    pub surface_velocity: [f32; 3],
    /// Where it goes over time. Default: it rests.
    pub motion: Option<MotionFile>,
}

/// The shape of a collider, under its name.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum ShapeFile {
    /// Everything behind a plane through the collider's position.
    HalfSpace {
        /// What the plane faces, of any length but 0; instead of a rotation. Default [0, 1, 0].
        normal: Option<[f32; 3]>,
    },
    /// A ball.
    Sphere {
        /// Its radius [m], 1e-6 to 1e6.
        radius: f32,
    },
    /// All points within `radius` of a segment along y.
    Capsule {
        /// Its radius [m], 1e-6 to 1e6.
        radius: f32,
        /// Half the length of the segment [m], 1e-6 to 1e6.
        half_height: f32,
    },
    /// A box.
    Box {
        /// Half its length along each axis [m], 1e-6 to 1e6.
        half_extents: [f32; 3],
    },
    /// The convex hull of some points, of at most 256 planes.
    ConvexHull {
        /// At least 4, not all in a plane [m].
        points: Vec<[f32; 3]>,
    },
    /// Ground over a grid in x and z that is centred at the collider's position; all below it is solid.
    Heightfield {
        /// Grid points along x, 2 or more.
        columns: u32,
        /// Grid points along z, 2 or more.
        rows: u32,
        /// Distance between neighbouring grid points [m], 1e-6 to 1e6.
        spacing: f32,
        /// The heights of the grid points [m]: a row along x after the other.
        heights: Vec<f32>,
        /// Whether the ground ends at the border, as a chunk of a terrain; otherwise it continues level. Default false.
        #[serde(default)]
        ends_at_border: bool,
    },
    /// A triangle mesh, sampled on a grid.
    Mesh(ColliderMeshFile),
}

/// A triangle mesh as a collider: `positions` and `triangles`, or `obj`. It is scaled first, then turned, then moved,
/// then welded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ColliderMeshFile {
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
    /// Vertices that are no farther apart than this [m] become one; at least 0. Default: none.
    pub weld: Option<f32>,
    /// The distance between neighbouring samples [m]. Default 1/64 of the largest side of the mesh.
    pub cell: Option<f32>,
    /// Whether it is a sheet with two sides, which holes may have; otherwise it must be closed and is solid. Particles must keep
    /// a cell from a sheet at least. Default false.
    #[serde(default)]
    pub open: bool,
}

/// Where a collider goes: on straight lines and about one axis between the given times, and still before and after them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct MotionFile {
    /// Times [s] from 0, ascending.
    pub times: Vec<f64>,
    /// Where it is at these times [m]. Default: at its position. Either these or `rotations`, or both.
    pub positions: Option<Vec<[f32; 3]>>,
    /// How it is turned at these times; it takes the shorter way from one to the next. Default: as it stands.
    pub rotations: Option<Vec<Rotation>>,
}
