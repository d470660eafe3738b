//! Contact materials, their friction and colliders, as deserialized by serde.

use super::values::{Either, OneOrMany, Rotation};
use serde::Deserialize;

/// Scales of the thickness and of the friction of the contact material, by particle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ContactScaleFile {
    /// Factor of the thickness, greater than 0 and at most 1: one value for all, or one for each. Default 1.
    pub thickness: Option<OneOrMany>,
    /// Factor of the friction, 0 to 1: one value for all, or one for each. Default 1.
    pub friction: Option<OneOrMany>,
}

/// The contact properties of particles or of a collider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ContactMaterialFile {
    /// The name, unique in the list. "default" applies if no other material is named.
    pub name: String,
    /// The distance kept between two surfaces of this material [m], 1e-6 to 1e3. Particles keep half of it from a collider.
    /// Default 0.005.
    pub thickness: Option<f32>,
    /// Friction against the same material; against another, the geometric mean of both. Default 0.5.
    pub friction: Option<FrictionFile>,
    /// Restitution coefficient for impacts on a collider, 0 to 1; against another material, the larger of both. Default
    /// 0.
    pub restitution: Option<f32>,
    /// The collision groups of this material, 0 to 31. Default [0].
    pub groups: Option<Vec<u32>>,
    /// The groups that this material collides with: "all", or a list. Two materials collide if each is in a group that
    /// the other collides with. Default "all".
    pub touches: Option<Either<AllFile, Vec<u32>>>,
}

/// "all".
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum AllFile {
    All,
}

/// One coefficient for static and kinetic friction, or one for each.
pub(super) type FrictionFile = Either<f32, CoefficientsFile>;

/// Coulomb friction.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct CoefficientsFile {
    /// The static coefficient, 0 to 1000.
    #[serde(rename = "static")]
    pub statics: f32,
    /// The kinetic coefficient, at most the static one. Default: the static one.
    pub kinetic: Option<f32>,
}

/// Friction between two contact materials, in place of the geometric mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct FrictionPairFile {
    /// The names of the two materials; the same name twice is allowed. Each pair once.
    pub between: [String; 2],
    /// One coefficient, or a static and a kinetic one.
    pub friction: FrictionFile,
}

/// A collider: a shape that particles do not enter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ColliderFile {
    /// The name of the collider.
    pub name: Option<String>,
    /// The shape, in the frame of the collider.
    pub shape: ShapeFile,
    /// The position [m]; not together with positions of `motion`. Default [0, 0, 0].
    pub position: Option<[f32; 3]>,
    /// The rotation; not together with rotations of `motion`. Default: none.
    pub rotation: Option<Rotation>,
    /// The name of its contact material. Default "default".
    pub contact: Option<String>,
    /// An additional distance [m], 0 to 1e3; particles keep it on top of half their thickness. Default 0.
    #[serde(default)]
    pub margin: f32,
    /// If true, the shape is a shell that collides on both sides, not a solid. Default false.
    #[serde(default)]
    pub two_sided: bool,
    /// The velocity of the surface over the fixed shape [m/s], in the frame of the collider: a conveyor belt. Default
    /// [0, 0, 0].
    #[serde(default)]
    pub surface_velocity: [f32; 3],
    /// The motion over time. Default: the collider is at rest.
    pub motion: Option<MotionFile>,
}

/// The shape of a collider, keyed by its type.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum ShapeFile {
    /// All points behind a plane through the position of the collider.
    HalfSpace {
        /// The normal of the plane, of any length but 0; it excludes a rotation. Default [0, 1, 0].
        normal: Option<[f32; 3]>,
    },
    /// A ball.
    Sphere {
        /// The radius [m], 1e-6 to 1e6.
        radius: f32,
    },
    /// All points within `radius` of a segment along y.
    Capsule {
        /// The radius [m], 1e-6 to 1e6.
        radius: f32,
        /// Half the length of the segment [m], 1e-6 to 1e6.
        half_height: f32,
    },
    /// A box.
    Box {
        /// Half the side lengths [m], 1e-6 to 1e6.
        half_extents: [f32; 3],
    },
    /// The convex hull of points, with at most 256 planes.
    ConvexHull {
        /// The points [m]: at least 4, not all in a plane.
        points: Vec<[f32; 3]>,
    },
    /// A heightfield over a grid in x and z, centred at the position of the collider. All points below it are solid.
    Heightfield {
        /// Grid points along x, 2 or more.
        columns: u32,
        /// Grid points along z, 2 or more.
        rows: u32,
        /// Distance between neighbouring grid points [m], 1e-6 to 1e6.
        spacing: f32,
        /// The heights of the grid points [m], one row along x after another.
        heights: Vec<f32>,
        /// If true, the ground ends at the border, as a chunk of a terrain, and is solid down to half the horizontal
        /// diagonal below its lowest height; otherwise it continues level. Default false.
        #[serde(default)]
        ends_at_border: bool,
    },
    /// A triangle mesh, sampled on a grid as a distance field.
    Mesh(ColliderMeshFile),
}

/// The triangle mesh of a collider: `positions` and `triangles`, `obj`, or `gltf`. It is scaled, then rotated, then translated,
/// then welded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct ColliderMeshFile {
    /// The vertices [m].
    pub positions: Option<Vec<[f32; 3]>>,
    /// The triangles, as vertex indices from 0.
    pub triangles: Option<Vec<[u32; 3]>>,
    /// The path of a Wavefront OBJ file, relative to the folder of the scene.
    pub obj: Option<String>,
    /// The path of a glTF 2.0 file (.gltf or .glb), relative to the folder of the scene.
    pub gltf: Option<String>,
    /// The name of the node of the glTF file that is read, with the nodes below it. Default: all nodes.
    pub node: Option<String>,
    /// The scale factor of all coordinates, or one factor per axis. Default 1.
    pub scale: Option<OneOrMany>,
    /// Rotation angles [degrees] about the x axis, then the y axis, then the z axis. Default [0, 0, 0].
    pub rotate: Option<[f32; 3]>,
    /// The translation [m]. Default [0, 0, 0].
    pub translate: Option<[f32; 3]>,
    /// Vertices within this distance [m] are merged; at least 0. Default: no merging. For glTF the default is 0, which merges
    /// equal positions.
    pub weld: Option<f32>,
    /// The spacing of the samples [m]. Default 1/64 of the largest side of the mesh.
    pub cell: Option<f32>,
    /// If true, the mesh is a two-sided sheet, which may have holes; otherwise it must be closed and is solid.
    /// Particles keep at least one cell from a sheet. Default false.
    #[serde(default)]
    pub open: bool,
}

/// The motion of a collider. Positions are interpolated linearly, rotations along the shorter arc; before and after the given
/// times the collider is at rest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct MotionFile {
    /// Times [s] from 0, in ascending order.
    pub times: Vec<f64>,
    /// The positions at these times [m]. Default: the position of the collider. `positions`, `rotations` or both are
    /// required.
    pub positions: Option<Vec<[f32; 3]>>,
    /// The rotations at these times, interpolated along the shorter arc. Default: the rotation of the collider.
    pub rotations: Option<Vec<Rotation>>,
}
