//! Explicit constraints, as deserialized by serde.

use super::format::MaterialFile;
use super::values::{NameOr, OneOrMany, Selection};
use serde::Deserialize;

/// Constraints of one kind, keyed by the kind. Each entry of `particles` makes one constraint. Omitted rest values are
/// measured at the rest positions of the parts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum ConstraintFile {
    /// Keeps two particles at a distance.
    Distance {
        /// Pairs of particles.
        particles: Vec<[Selection; 2]>,
        /// The rest length [m]: one for all, or one for each. Default: as measured.
        rest_length: Option<OneOrMany>,
        /// The material [m/N]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps two particles within a maximum distance, or beyond a minimum distance.
    DistanceLimit {
        /// Pairs of particles; either these or `edges_of`.
        particles: Option<Vec<[Selection; 2]>>,
        /// The name of a part: all pairs along its structural and shear edges, its segments or its springs.
        edges_of: Option<String>,
        /// The limit [m]: one for all, or one for each. Default: the distance as measured, or the rest length of the
        /// edges, times `scale`.
        length: Option<OneOrMany>,
        /// The factor of the default limit, not with `length`. Default 1.
        scale: Option<f32>,
        /// The side that is limited: "at_most" or "at_least".
        limit: LimitFile,
        /// The material [m/N]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps the dihedral angle of two triangles that share an edge.
    Hinge {
        /// The two ends of the shared edge, then the opposite vertex of each triangle.
        particles: Vec<[Selection; 4]>,
        /// The rest angle [rad], −π to π, 0 = flat: one for all, or one for each. Default: as measured.
        rest_angle: Option<OneOrMany>,
        /// A factor of C: the energy is scale²/(2 compliance) (angle − rest angle)². One for all, or one for each. Default 1.
        scale: Option<OneOrMany>,
        /// The material [rad²/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps the cosine of the angle at the last of three particles.
    CosineBend {
        /// The two ends, then the middle.
        particles: Vec<[Selection; 3]>,
        /// The rest angle [rad], 0 to π = straight: one for all, or one for each. Default: as measured.
        rest_angle: Option<OneOrMany>,
        /// The material [m⁴/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps three particles on a straight line.
    LineBend {
        /// The two ends, then the middle.
        particles: Vec<[Selection; 3]>,
        /// The rest lengths from the middle to either end [m], one pair for each. Default: as measured.
        lengths: Option<Vec<[f32; 2]>>,
        /// The factor of the turning angle: the energy is scale²/(2 compliance) angle². One for all, or one for each.
        /// Default 1.
        scale: Option<OneOrMany>,
        /// The material [rad²/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps two triangles that share an edge in a plane, by a quadratic energy.
    IsometricBend {
        /// The two ends of the shared edge, then the opposite vertex of each triangle.
        particles: Vec<[Selection; 4]>,
        /// The first three coefficients of each constraint. Default: computed from the rest positions.
        coefficients: Option<Vec<[f32; 3]>>,
        /// The factor of the coefficients: one for all, or one for each. Default 1.
        scale: Option<OneOrMany>,
        /// The material [m²/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps the area of a triangle.
    Area {
        /// The corners.
        particles: Vec<[Selection; 3]>,
        /// The rest area [m²]: one for all, or one for each. Default: as measured.
        rest_area: Option<OneOrMany>,
        /// The material [m⁴/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps a component of the in-plane strain of a triangle at 0.
    Membrane {
        /// The corners.
        particles: Vec<[Selection; 3]>,
        /// The weights of the strain along warp, weft and in shear. Default [1, 0, 0]: the strain along the warp.
        weights: Option<[f32; 3]>,
        /// The direction of the warp. Default: from the first corner to the second.
        direction: Option<[f32; 3]>,
        /// The material [m/N]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps a component of the in-plane strain of a triangle at or below a limit.
    MembraneLimit {
        /// The corners.
        particles: Vec<[Selection; 3]>,
        /// The limit of the Green strain.
        strain: f32,
        /// As for `membrane`.
        weights: Option<[f32; 3]>,
        /// As for `membrane`.
        direction: Option<[f32; 3]>,
        /// The material [m/N]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Resists distortion of a tetrahedron. With a `volume` constraint on the same particles it is a stable neo-Hookean solid.
    NeoHookean {
        /// The corners, with (x1 − x0)·((x2 − x0) × (x3 − x0)) > 0.
        particles: Vec<[Selection; 4]>,
        /// A factor of C: the energy is multiplied by scale². One for all, or one for each. Default 1.
        scale: Option<OneOrMany>,
        /// The material [1/Pa]: the inverse shear modulus. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps the volume of a tetrahedron.
    Volume {
        /// The corners, with (x1 − x0)·((x2 − x0) × (x3 − x0)) > 0.
        particles: Vec<[Selection; 4]>,
        /// The rest volume [m³]: one for all, or one for each. Default: as measured.
        rest_volume: Option<OneOrMany>,
        /// The material [m⁶/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps the volume of a closed surface.
    Pressure {
        /// The name of the part with the surface; either this or `triangles`.
        part: Option<String>,
        /// The triangles of the surface, counterclockwise seen from outside.
        triangles: Option<Vec<[Selection; 3]>>,
        /// The volume at `pressure` 1 [m³]. Default: as measured.
        rest_volume: Option<f32>,
        /// The target volume, as a multiple of `rest_volume`. Default 1.
        pressure: Option<f32>,
        /// The material [m⁶/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Keeps the shape of a group of particles.
    ShapeMatching {
        /// The group: at least two particles, each once.
        particles: Vec<Selection>,
        /// The rest positions [m], one for each particle, in any frame. Default: as measured.
        rest_positions: Option<Vec<[f32; 3]>>,
        /// The weights of the fit [kg]: one for all, or one for each. Default: the masses. Required if a particle has no
        /// mass.
        masses: Option<OneOrMany>,
        /// The material [s²]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
}

/// "at_most": resists stretch beyond the length. "at_least": resists compression below the length.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum LimitFile {
    AtMost,
    AtLeast,
}
