//! Adds the rods of a scene file to the scene.

use super::Part;
use super::build::{Builder, Built};
use super::colliders::ContactScaleFile;
use super::error::At;
use super::values::{OneOrMany, Selection};
use crate::scene::{OrientationId, Rod, RodMaterial, RodParts, RodRest};
use serde::Deserialize;

/// A rod with bending and twist along a polyline, one particle per point and one frame per segment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) struct RodFile {
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
    /// The radius of the cross-section [m], or the half axes [a, b] of an ellipse along d1 and d2.
    pub radius: OneOrMany,
    /// Young's modulus [Pa].
    pub young: f32,
    /// Poisson's ratio, greater than -1 and at most 0.5. Default 0.3.
    pub poisson_ratio: Option<f32>,
    /// Density [kg/m³].
    pub density: f32,
    /// Damping time [s]. Default 0.
    #[serde(default)]
    pub damping_time: f32,
    /// The shape without load. Default "straight".
    #[serde(default)]
    pub rest: RodRestFile,
    /// If true, a segment connects the last point with the first. Default false.
    #[serde(default)]
    pub closed: bool,
    /// The direction of d1 at the first point. Default any.
    pub normal: Option<[f32; 3]>,
    /// The angle by which the frames turn about the rod from the first to the last point [rad]. Default 0.
    #[serde(default)]
    pub twist: f32,
    /// The least inertia of the frame of a segment, as a multiple of its mass times the square of its length. Default 1.
    pub frame_inertia: Option<f32>,
    /// The clamped ends: their points and frames are pinned.
    #[serde(default)]
    pub clamp: Vec<RodEnd>,
    /// The angular velocity of the frame of the clamp at the first point [rad/s]. Default [0, 0, 0].
    pub first_spin: Option<[f32; 3]>,
    /// The angular velocity of the frame of the clamp at the last point [rad/s]. Default [0, 0, 0].
    pub last_spin: Option<[f32; 3]>,
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

/// The shape of a rod without load.
#[derive(Debug, Clone, Copy, Deserialize, Default)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum RodRestFile {
    /// Straight and without twist.
    #[default]
    Straight,
    /// The initial shape.
    Shape,
    /// Constant curvatures about d1 and d2 and twist about d3 [1/m, 1/m, rad/m].
    Darboux([f32; 3]),
}

/// An end of a rod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "scene-schema", derive(schemars::JsonSchema))]
pub(super) enum RodEnd {
    /// The first point.
    First,
    /// The last point.
    Last,
}

impl Builder<'_> {
    pub fn add_rod(&mut self, place: &str, file: &RodFile) -> Built {
        let points = self.polyline(place, "rod", (&file.points, file.from, file.to, file.segments))?;
        let radius =
            |axis: usize| file.radius.get(if matches!(file.radius, OneOrMany::Scalar(_)) { 0 } else { axis }, 2);
        let mut radii = [0.0; 2];
        for (axis, own) in radii.iter_mut().enumerate() {
            *own = radius(axis).at(|| format!("{place}.radius"))?;
        }
        let material = RodMaterial {
            radii,
            young: file.young,
            poisson_ratio: file.poisson_ratio.unwrap_or(0.3),
            density: file.density,
            damping_time: file.damping_time,
        };
        let plain = Rod::new(&points, material);
        let rod = Rod {
            rest: match file.rest {
                RodRestFile::Straight => RodRest::Straight,
                RodRestFile::Shape => RodRest::Shape,
                RodRestFile::Darboux(darboux) => RodRest::Darboux(darboux),
            },
            closed: file.closed,
            normal: file.normal,
            twist: file.twist,
            frame_inertia: file.frame_inertia.unwrap_or(plain.frame_inertia),
            clamped: [RodEnd::First, RodEnd::Last].map(|end| file.clamp.contains(&end)),
            ..plain
        };
        let parts = self.scene.add_rod(&rod).at(|| place.into())?;
        self.spin(place, parts.clamps, [("first_spin", file.first_spin), ("last_spin", file.last_spin)])?;
        let RodParts { particles, joints, segments, .. } = parts;
        Ok(Part { particles, joints, segments, radii, ..Part::empty() })
    }

    fn spin(
        &mut self,
        place: &str,
        clamps: [Option<OrientationId>; 2],
        spins: [(&str, Option<[f32; 3]>); 2],
    ) -> Result<(), super::error::FileError> {
        for (clamp, (field, spin)) in clamps.into_iter().zip(spins) {
            let Some(spin) = spin else { continue };
            let Some(id) = clamp else {
                return Err("this end of the rod is not clamped").at(|| format!("{place}.{field}"));
            };
            self.scene.set_angular_velocity(id, spin).at(|| format!("{place}.{field}"))?;
        }
        Ok(())
    }
}
