//! Rods with bending and twist: Cosserat rods (Kugelstadt, Schömer 2016; Deul, Kugelstadt, Weiler, Bender 2018).

use super::orientation::invert_inertia;
use super::{Orientation, OrientationId, Particle, RodMaterial, RodStiffness, Scene};
use crate::constraints::{BendTwist, Kind, StretchShear};
use crate::error::{Error, Result, check_finite, check_non_negative};
use glam::{DQuat, DVec3};
use std::ops::Range;

/// The shape of a rod without load.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RodRest {
    /// Straight and without twist.
    #[default]
    Straight,
    /// The initial shape.
    Shape,
    /// Constant curvatures about d₁ and d₂ and twist about d₃ [1/m, 1/m, rad/m]: a helix.
    Darboux([f32; 3]),
}

/// A rod along a polyline.
///
/// Each segment has a frame (d₁, d₂, d₃) with d₃ along the segment. The frames at the start follow from `normal` by
/// parallel transport, and turn by `twist` in addition.
///
/// ```
/// # use supple::{Rod, RodMaterial, Scene};
/// let points: Vec<[f32; 3]> = (0..11).map(|k| [0.1 * k as f32, 0.0, 0.0]).collect();
/// let rubber = RodMaterial::round(0.005, 1e6, 0.48, 1100.0);
/// let mut scene = Scene::new();
/// let rod = scene.add_rod(&Rod { clamped: [true, false], ..Rod::new(&points, rubber) })?;
/// assert_eq!(rod.frames.len(), 10);
/// # Ok::<(), supple::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rod<'a> {
    /// The points \[m\]: at least two, three if the rod is closed; consecutive ones different.
    pub points: &'a [[f32; 3]],
    /// The cross-section and the material.
    pub material: RodMaterial,
    /// The shape without load.
    pub rest: RodRest,
    /// True for a ring: a segment connects the last point with the first. The ends are joined after the twist, so that
    /// the twist stays.
    pub closed: bool,
    /// The direction of d₁ at the first point, of which the part across the first segment counts; `None` for any.
    pub normal: Option<[f32; 3]>,
    /// The angle by which the frames turn about the rod from the first to the last point \[rad\].
    pub twist: f32,
    /// The least moment of inertia of the frame of a segment, as a multiple of m l² with its mass m and length l. Above
    /// it, the polar inertia of the cross-section counts. The default 1 converges in fewer substeps, and slows
    /// waves of twist; static shapes and waves of bending that are long compared with l do not change. 0 is the
    /// inertia of the cross-section.
    pub frame_inertia: f32,
    /// True for an end that is clamped: its point is pinned, and its frame by an orientation at the point. Targets and
    /// velocities of both move the clamp.
    pub clamped: [bool; 2],
}

impl<'a> Rod<'a> {
    /// A straight or bent open rod with free ends, without twist, that is straight at rest.
    pub const fn new(points: &'a [[f32; 3]], material: RodMaterial) -> Self {
        Self {
            points,
            material,
            rest: RodRest::Straight,
            closed: false,
            normal: None,
            twist: 0.0,
            frame_inertia: 1.0,
            clamped: [false; 2],
        }
    }
}

/// Index ranges of a rod in the scene.
#[derive(Debug, Clone, PartialEq)]
pub struct RodParts {
    /// The particles, one per point.
    pub particles: Range<u32>,
    /// The orientations of the segments, as indices ([`Scene::orientation`]).
    pub frames: Range<u32>,
    /// The orientations of the clamped ends.
    pub clamps: [Option<OrientationId>; 2],
    /// The stretch-shear constraints of the segments.
    pub segments: Range<u32>,
    /// The bend-twist constraints: of the first clamp, between consecutive segments, of the last clamp.
    pub joints: Range<u32>,
}

/// The geometry of a rod.
struct Shape {
    lengths: Vec<f64>,
    /// The frames of the segments.
    frames: Vec<DQuat>,
    /// The frames at both ends; that of a closed rod at its last end continues that of the first segment.
    ends: [DQuat; 2],
}

/// A bend-twist constraint before it is added.
struct Joint {
    /// Indices of frames; those of the clamps follow.
    frames: [usize; 2],
    length: f64,
    rest: DQuat,
}

impl Scene {
    /// Adds a rod. Each segment gives half of its mass to each end; its frame has the inertia of
    /// [`Rod::frame_inertia`].
    ///
    /// # Errors
    /// - There are fewer than two points (three if the rod is closed), a point is not finite, consecutive points
    ///   coincide, or the rod is both closed and clamped.
    /// - A parameter of the material, the rest shape, the normal or the twist is out of range.
    pub fn add_rod(&mut self, rod: &Rod) -> Result<RodParts> {
        let (points, closed) = (rod.points, rod.closed);
        rod.material.check()?;
        let base = self.check_capacity("particles", points.len())?;
        let shape = Shape::new(rod, base)?;
        let joints = shape.joints(rod)?;
        let count = shape.lengths.len();
        let density = f64::from(rod.material.linear_density());
        let mass_of = |segment: usize| density * shape.lengths[segment];
        let masses = (0..points.len()).map(|point| {
            let before = if point > 0 || closed { mass_of((point + count - 1) % count) } else { 0.0 };
            let after = if point < count { mass_of(point) } else { 0.0 };
            super::invert_mass(|| format!("mass of point {point} of a rod"), (0.5 * (before + after)) as f32)
        });
        let masses: Vec<f32> = masses.collect::<Result<_>>()?;
        let frames = (0..count).map(|segment| {
            let inertia = rod.material.inertia(shape.lengths[segment], rod.frame_inertia) as f32;
            invert_inertia(|| format!("inertia of segment {segment} of a rod"), inertia)
        });
        let inertias: Vec<f32> = frames.collect::<Result<_>>()?;
        for (segment, &length) in shape.lengths.iter().enumerate() {
            rod.material.segment(length).check(&format!("segment {segment} of a rod"))?;
        }
        for (index, joint) in joints.iter().enumerate() {
            rod.material.joint(joint.length).check(&format!("joint {index} of a rod"))?;
        }
        for (&position, inverse_mass) in points.iter().zip(masses) {
            self.push_particle(Particle { position, velocity: [0.0; 3], inverse_mass });
        }
        Ok(self.push_rod(rod, (&shape, &joints), base, &inertias))
    }

    /// Adds the orientations and the constraints of a rod whose first particle is `base`.
    fn push_rod(&mut self, rod: &Rod, (shape, joints): (&Shape, &[Joint]), base: u32, inertias: &[f32]) -> RodParts {
        let (count, point_count) = (shape.lengths.len(), rod.points.len() as u32);
        let first_frame = self.orientations.len() as u32;
        let oriented = |frame: DQuat, inverse_inertia: f32| Orientation {
            rotation: frame.to_array().map(|component| component as f32),
            inverse_inertia,
            ..Orientation::default()
        };
        for (&frame, &inverse) in shape.frames.iter().zip(inertias) {
            self.push_orientation(oriented(frame, inverse), false);
        }
        let mut clamps = [None; 2];
        for (end, [point, segment]) in [[0, 0], [point_count - 1, count as u32 - 1]].into_iter().enumerate() {
            if rod.clamped[end] {
                clamps[end] = Some(OrientationId(self.orientations.len() as u32));
                // Half of the inertia of the segment, for a clamp that is released.
                self.push_orientation(oriented(shape.ends[end], 2.0 * inertias[segment as usize]), true);
                self.pinned[(base + point) as usize] = true;
            }
        }
        let (first_segment, first_joint) = (self.kind_count(StretchShear::INFO), self.kind_count(BendTwist::INFO));
        let RodStiffness { stretch, shear, .. } = rod.material.stiffness();
        let across = (shear / stretch).sqrt();
        for (segment, &length) in (0u32..).zip(&shape.lengths) {
            let particles = [base + segment, base + (segment + 1) % point_count];
            let material = self.intern(rod.material.segment(length));
            let frame = OrientationId(first_frame + segment);
            let mut own = StretchShear::new(particles, frame, length as f32);
            own.scales = [across, across, 1.0];
            self.push_constraint(&own, material);
            self.cord_edges.push(particles);
        }
        let id = |index: usize| match index.checked_sub(count) {
            None => OrientationId(first_frame + index as u32),
            Some(end) => clamps[end].unwrap_or(OrientationId(first_frame)),
        };
        for joint in joints {
            let material = self.intern(rod.material.joint(joint.length));
            let mut own = BendTwist::new(joint.frames.map(id));
            own.rest = joint.rest.to_array().map(|component| component as f32);
            own.scales = rod.material.joint_scales();
            self.push_constraint(&own, material);
        }
        let particles = base..base + point_count;
        self.bodies.push(particles.clone());
        RodParts {
            particles,
            frames: first_frame..first_frame + count as u32,
            clamps,
            segments: first_segment..self.kind_count(StretchShear::INFO),
            joints: first_joint..self.kind_count(BendTwist::INFO),
        }
    }
}

impl Shape {
    fn new(rod: &Rod, base: u32) -> Result<Self> {
        let least = if rod.closed { 3 } else { 2 };
        if rod.points.len() < least {
            let what = if rod.closed {
                "segment list of a closed rod (it has fewer than three points)"
            } else {
                "segment list of a rod (it has fewer than two points)"
            };
            return Err(Error::Empty { what });
        }
        if rod.closed && rod.clamped.contains(&true) {
            let clamps = rod.clamped.iter().filter(|clamped| **clamped).count();
            return Err(Error::invalid("number of clamped ends of a closed rod", clamps as f64, "0"));
        }
        for (point, &position) in rod.points.iter().enumerate() {
            check_finite(|| format!("point {point} of a rod"), position)?;
        }
        check_non_negative("frame inertia of a rod", rod.frame_inertia)?;
        if !rod.twist.is_finite() {
            return Err(Error::invalid("twist of a rod", rod.twist, "finite"));
        }
        let points: Vec<DVec3> = rod.points.iter().map(|point| DVec3::from(point.map(f64::from))).collect();
        let count = if rod.closed { points.len() } else { points.len() - 1 };
        let sides: Vec<DVec3> = (0..count).map(|k| points[(k + 1) % points.len()] - points[k]).collect();
        let lengths: Vec<f64> = sides.iter().map(|side| side.length()).collect();
        let is_long = |length: f64| length as f32 > 0.0 && (length as f32).is_finite();
        if let Some(segment) = lengths.iter().position(|&length| !is_long(length)) {
            let next = (segment + 1) % points.len();
            return Err(Error::ZeroLength {
                what: format!("segment {segment} of a rod"),
                particles: [base + segment as u32, base + next as u32],
                length: lengths[segment] as f32,
            });
        }
        let tangents: Vec<DVec3> = sides.iter().zip(&lengths).map(|(&side, &length)| side / length).collect();
        let (frames, ends) = transported(rod, &tangents, &lengths)?;
        Ok(Self { lengths, frames, ends })
    }

    /// The bend-twist constraints.
    fn joints(&self, rod: &Rod) -> Result<Vec<Joint>> {
        let count = self.frames.len();
        let darboux = match rod.rest {
            RodRest::Darboux(darboux) => {
                check_finite(|| "rest curvature and twist of a rod".into(), darboux)?;
                DVec3::from(darboux.map(f64::from))
            }
            _ => DVec3::ZERO,
        };
        let joint = |frames: [usize; 2], length: f64, turn: DQuat| {
            let rest = if rod.rest == RodRest::Shape { turn } else { DQuat::from_scaled_axis(darboux * length) };
            Joint { frames, length, rest }
        };
        let mut joints = Vec::with_capacity(count + 1);
        if rod.clamped[0] {
            let turn = self.ends[0].conjugate() * self.frames[0];
            joints.push(joint([count, 0], 0.5 * self.lengths[0], turn));
        }
        for k in 1..count {
            let turn = self.frames[k - 1].conjugate() * self.frames[k];
            joints.push(joint([k - 1, k], 0.5 * (self.lengths[k - 1] + self.lengths[k]), turn));
        }
        if rod.clamped[1] {
            let turn = self.frames[count - 1].conjugate() * self.ends[1];
            joints.push(joint([count - 1, count + 1], 0.5 * self.lengths[count - 1], turn));
        }
        if rod.closed {
            // At the last end the frame of the first segment is `ends[1]`; both are joined as they are.
            let joined = self.ends[1].conjugate() * self.frames[0];
            let turn = self.frames[count - 1].conjugate() * self.ends[1];
            let mut last = joint([count - 1, 0], 0.5 * (self.lengths[count - 1] + self.lengths[0]), turn);
            last.rest *= joined;
            joints.push(last);
        }
        Ok(joints)
    }
}

/// The frames of the segments by parallel transport and twist, and those at both ends.
fn transported(rod: &Rod, tangents: &[DVec3], lengths: &[f64]) -> Result<(Vec<DQuat>, [DQuat; 2])> {
    let (first, last) = (tangents[0], tangents[tangents.len() - 1]);
    let mut normal = first.any_orthonormal_vector();
    if let Some(given) = rod.normal {
        check_finite(|| "normal of a rod".into(), given)?;
        let given = DVec3::from(given.map(f64::from));
        let across = given - first * first.dot(given);
        let part = across.length() / given.length();
        if part.is_nan() || part < 1e-3 {
            let what = "sine between the normal of a rod and its first segment";
            return Err(Error::invalid(what, part, "at least 0.001"));
        }
        normal = across.normalize();
    }
    let total: f64 = lengths.iter().sum();
    let frame = |normal: DVec3, tangent: DVec3, along: f64| {
        // The columns of the rotation are d₁, d₂, d₃.
        let normal = (normal - tangent * tangent.dot(normal)).normalize();
        let axes = glam::DMat3::from_cols(normal, tangent.cross(normal), tangent);
        let turn = DQuat::from_rotation_z(f64::from(rod.twist) * along / total);
        (DQuat::from_mat3(&axes) * turn).normalize()
    };
    let start = frame(normal, first, 0.0);
    let (mut frames, mut along) = (Vec::with_capacity(tangents.len()), 0.0);
    for (k, (&tangent, &length)) in tangents.iter().zip(lengths).enumerate() {
        if k > 0 {
            normal = DQuat::from_rotation_arc(tangents[k - 1], tangent) * normal;
        }
        frames.push(frame(normal, tangent, along + 0.5 * length));
        along += length;
    }
    if !rod.closed {
        return Ok((frames, [start, frame(normal, last, total)]));
    }
    let normal = DQuat::from_rotation_arc(last, first) * normal;
    Ok((frames, [start, frame(normal, first, total + 0.5 * lengths[0])]))
}
