//! Explicit constraints, as serde reads them.

use super::format::MaterialFile;
use super::values::{NameOr, OneOrMany, Selection};
use serde::Deserialize;

/// Constraints of one kind, under its name. Each entry makes one constraint for each of its `particles`; whatever a constraint
/// keeps is by default what it is in the shape in which the parts were given.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum Constraint {
    /// Two particles keep their distance.
    Distance {
        /// Pairs of particles.
        particles: Vec<[Selection; 2]>,
        /// The distance that they keep [m]: one for all or one each. Default: as it is.
        rest_length: Option<OneOrMany>,
        /// How they give way [m/N]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Two particles come no farther apart, or no closer, than a length.
    DistanceLimit {
        /// Pairs of particles; either these or `edges_of`.
        particles: Option<Vec<[Selection; 2]>>,
        /// The name of a part: all pairs that its structural and shear links, its segments or its springs connect.
        edges_of: Option<String>,
        /// The limit [m]: one for all or one each. Default: the distance as it is, or the rest length of the edges, times `scale`.
        length: Option<OneOrMany>,
        /// Factor of that default. Default 1.
        scale: Option<f32>,
        /// Which side is forbidden.
        limit: LimitFile,
        /// How they give way [m/N]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Two triangles that share an edge keep the angle between them.
    Hinge {
        /// The two ends of the edge, then the vertex that faces it on either side.
        particles: Vec<[Selection; 4]>,
        /// The angle [rad], −π to π, 0 = flat: one for all or one each. Default: as it is.
        rest_angle: Option<OneOrMany>,
        /// Factor of the angle, so that the energy is scale²/(2 compliance) angle²: one for all or one each. Default 1.
        scale: Option<OneOrMany>,
        /// How they give way [rad²/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// The angle at the last of three particles stays, by its cosine.
    CosineBend {
        /// The two ends, then the middle.
        particles: Vec<[Selection; 3]>,
        /// The angle [rad], 0 to π = straight: one for all or one each. Default: as it is.
        rest_angle: Option<OneOrMany>,
        /// How they give way [m⁴/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Three particles stay in a line.
    LineBend {
        /// The two ends, then the middle.
        particles: Vec<[Selection; 3]>,
        /// The rest lengths from the middle to either end [m], one pair each. Default: as they are.
        lengths: Option<Vec<[f32; 2]>>,
        /// Factor of the turn, so that the energy is scale²/(2 compliance) turn²: one for all or one each. Default 1.
        scale: Option<OneOrMany>,
        /// How they give way [rad²/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// Two triangles that share an edge stay in a plane, by a quadratic energy.
    IsometricBend {
        /// The two ends of the edge, then the vertex that faces it on either side.
        particles: Vec<[Selection; 4]>,
        /// The first three coefficients of each. Default: by the triangles as they are.
        coefficients: Option<Vec<[f32; 3]>>,
        /// Factor of the coefficients: one for all or one each. Default 1.
        scale: Option<OneOrMany>,
        /// How they give way [m²/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// A triangle keeps its area.
    Area {
        /// Its corners.
        particles: Vec<[Selection; 3]>,
        /// The area that it keeps [m²]: one for all or one each. Default: as it is.
        rest_area: Option<OneOrMany>,
        /// How they give way [m⁴/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// A tetrahedron keeps its volume.
    Volume {
        /// Its corners, with (x1 − x0)·((x2 − x0) × (x3 − x0)) > 0.
        particles: Vec<[Selection; 4]>,
        /// The volume that it keeps [m³]: one for all or one each. Default: as it is.
        rest_volume: Option<OneOrMany>,
        /// How they give way [m⁶/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// A closed surface keeps a volume.
    Pressure {
        /// The name of a part whose surface it is; either this or `triangles`.
        part: Option<String>,
        /// Its triangles, counterclockwise seen from outside.
        triangles: Option<Vec<[Selection; 3]>>,
        /// Its volume without pressure [m³]. Default: as it is.
        rest_volume: Option<f32>,
        /// How many times that volume it keeps. Default 1.
        pressure: Option<f32>,
        /// How it gives way [m⁶/J]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
    /// A group of particles keeps its shape.
    ShapeMatching {
        /// The group, each particle once, at least two.
        particles: Vec<Selection>,
        /// Where they are at rest [m], one each, anywhere in space. Default: as they are.
        rest_positions: Option<Vec<[f32; 3]>>,
        /// Their weights in the fit [kg]: one for all or one each. Default: their masses.
        masses: Option<OneOrMany>,
        /// How it gives way [s²]. Default rigid.
        material: Option<NameOr<MaterialFile>>,
    },
}

/// "at_most": resists stretch beyond the length only. "at_least": resists compression below it only.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum LimitFile {
    AtMost,
    AtLeast,
}
