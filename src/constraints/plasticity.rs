//! Plastic flow and rupture of constraints: the rest value of a constraint follows its strain beyond the yield strain.
//!
//! The strain ε is e + p: e is elastic, p plastic (additive plasticity, O'Brien, Bargteil, Hodgins 2002). At the start of
//! each step
//!
//! 1. e is measured at the rest value of p.
//! 2. If |e| exceeds Y + H q, p changes by r (|e| − Y − H q)/(1 + H) in the direction of e. Y is the yield strain, H the
//!    hardening, q the sum of all changes of |p|, and r = min(dt · flow rate, 1). |p| is at most `most`.
//! 3. If |ε| exceeds the rupture strain, the constraint breaks. It has no effect from then on.
//!
//! If |e| is beyond the range of `f32`, p does not change.
//!
//! With an unlimited flow rate a monotonous load leaves p = (ε − Y)/(1 + H). Counterpart: `shaders/schedule/flow.wgsl`.
//!
//! The strain of a joint of a rod is a vector: bends about d₁ and d₂, and twist, in the axes between both frames \[rad\]. Both e and p are
//! vectors, and |e| yields. With the half s of the rest rotation, the rest rotation of p is s d s. Rotation d has the
//! measure p by [`super::BendTwist`]. With φ = |p|, its quaternion is (k p, 6 k − 2), k = (12 + √(36 − 3 φ²))/(36 + φ²). A joint
//! breaks with either of its segments.

use super::KindInfo;
use super::hinge::wrapped;
use crate::error::{Error, Result, check_non_negative};
use crate::geometry::rotation::product;
use crate::geometry::vector::{dot, length};
use glam::Vec3;

/// Acts as infinity on the GPU.
const UNLIMITED: f32 = 1e30;

/// The law by which a constraint yields, creeps, hardens and breaks; see [`crate::Scene::set_plasticity`]. Strains are relative changes of the
/// rest length of a [`super::Distance`] and of a [`super::StretchShear`], and changes of the rest angle of a [`super::Hinge`] \[rad\]. The strain of a
/// [`super::BendTwist`] is the angle from rest \[rad\], which is the change of curvature times the length of the joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plasticity {
    /// The elastic strain Y beyond which the rest value changes; infinite = elastic.
    pub yield_strain: f32,
    /// The share of the strain beyond the yield strain that becomes plastic \[1/s\]; infinite = all of it in one step.
    pub flow_rate: f32,
    /// Linear hardening H: the increase of the yield strain per plastic strain.
    pub hardening: f32,
    /// The maximum of the plastic strain, in both directions. For lengths less than 1, for hinges and joints at most 3.
    pub most: f32,
    /// The total strain beyond which the constraint breaks; infinite = unbreakable.
    pub rupture: f32,
}

impl Default for Plasticity {
    /// Elastic and unbreakable; the plastic strain is at most 0.9.
    fn default() -> Self {
        let never = f32::INFINITY;
        Self { yield_strain: never, flow_rate: never, hardening: 0.0, most: 0.9, rupture: never }
    }
}

impl Plasticity {
    /// All parameters.
    pub(crate) fn values(&self) -> [f32; 5] {
        [self.yield_strain, self.flow_rate, self.hardening, self.most, self.rupture]
    }

    /// Returns `Ok` if the parameters are in range for constraints of a kind.
    pub(crate) fn check(&self, info: &KindInfo) -> Result<()> {
        let Some(measure) = info.plastic else {
            let what = format!("plasticity of {} constraints", info.name);
            return Err(Error::Unsupported {
                what,
                instead: "distances, hinges, and segments and joints of rods have it",
            });
        };
        let fields = [
            ("yield strain", self.yield_strain),
            ("flow rate", self.flow_rate),
            ("hardening", self.hardening),
            ("greatest plastic strain", self.most),
            ("rupture strain", self.rupture),
        ];
        for (name, value) in fields {
            if value != f32::INFINITY {
                check_non_negative(&format!("{name} of a plasticity"), value)?;
            }
        }
        if self.hardening > 1e6 {
            return Err(Error::invalid("hardening of a plasticity", self.hardening, "at most 1e6"));
        }
        match measure {
            Measure::Length | Measure::Stretch if self.most >= 1.0 => {
                Err(Error::invalid("greatest plastic strain of a length", self.most, "less than 1"))
            }
            Measure::Angle | Measure::Rotation if self.most > 3.0 => {
                let what = if measure == Measure::Angle { "hinge" } else { "joint" };
                Err(Error::invalid(format!("greatest plastic strain of a {what}"), self.most, "at most 3 rad"))
            }
            _ => Ok(()),
        }
    }
}

impl KindInfo {
    /// `Ok` if the constraint has a rest value that its strain can be relative to.
    pub(crate) fn check_yields(&self, constraint: u32, parameters: &[u32]) -> Result<()> {
        let rest = f32::from_bits(parameters[0]);
        if self.plastic == Some(Measure::Length) && rest <= 0.0 {
            let what = format!("rest length of {} constraint {constraint}, which is plastic,", self.name);
            return Err(Error::invalid(what, rest, "greater than 0"));
        }
        Ok(())
    }
}

/// The rest value that a plastic strain changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The first parameter is a rest length L₀; p is relative to it.
    Length,
    /// The first parameter is a rest angle \[rad\], the second the scale s of C = s (θ − θ₀); p is added to the angle.
    Angle,
    /// The first parameter is 1/l, the inverse of a rest length; p is relative to l. The fourth is the scale of C₃.
    Stretch,
    /// The first four parameters are the half of a rest rotation, the next three the scales of C; p is a vector.
    Rotation,
}

impl Measure {
    /// The number of parameters that a plastic strain changes.
    pub(crate) fn rest_words(self) -> usize {
        if self == Self::Rotation { 4 } else { 1 }
    }

    /// The elastic strain of a constraint with the parameters of its record, from C. `row` and `state` are its own.
    pub(crate) fn elastic(self, c: Vec3, parameters: &[u32], row: &PlasticRow, state: &PlasticState) -> Vec3 {
        let parameter = |index: usize| f32::from_bits(parameters[index]);
        match self {
            Self::Length => Vec3::new(c.x / row.rest[0], 0.0, 0.0),
            Self::Angle => Vec3::new(c.x / parameter(1), 0.0, 0.0),
            Self::Stretch => Vec3::new((c.z / parameter(3)) * (1.0 + state.strain[0]), 0.0, 0.0),
            Self::Rotation => c / Vec3::new(parameter(4), parameter(5), parameter(6)),
        }
    }
}

/// No segment.
pub(crate) const NO_SEGMENT: u32 = u32::MAX;

/// A constraint with plasticity. Counterpart in `shaders/schedule/flow.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct PlasticRow {
    /// Rest value without plastic strain, in its first [`Measure::rest_words`] components.
    pub rest: [f32; 4],
    /// The index of the constraint among those of its kind, and the place of its record.
    pub constraint: u32,
    pub place: u32,
    /// Its material, and the one of broken constraints.
    pub material: u32,
    pub broken_material: u32,
    pub yield_strain: f32,
    pub flow_rate: f32,
    pub hardening: f32,
    pub most: f32,
    pub rupture: f32,
    /// Of a joint, its segments among the plastic ones, or [`NO_SEGMENT`].
    pub segments: [u32; 2],
    pub padding: u32,
}

/// The state of a plastic constraint. Counterpart in `shaders/schedule/flow.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct PlasticState {
    /// p and q of the [module documentation](self). Only joints have more than one component of p.
    pub strain: [f32; 3],
    pub hardened: f32,
    pub is_broken: u32,
    pub padding: [u32; 3],
}

impl PlasticRow {
    pub fn new(constraint: u32, place: u32, materials: [u32; 2], rest: [f32; 4], plasticity: &Plasticity) -> Self {
        let Plasticity { yield_strain, flow_rate, hardening, most, rupture } = *plasticity;
        let [yield_strain, flow_rate, most, rupture] =
            [yield_strain, flow_rate, most, rupture].map(|value| value.min(UNLIMITED));
        let ([material, broken_material], segments) = (materials, [NO_SEGMENT; 2]);
        Self {
            rest,
            constraint,
            place,
            material,
            broken_material,
            yield_strain,
            flow_rate,
            hardening,
            most,
            rupture,
            segments,
            padding: 0,
        }
    }

    /// The rest value with the plastic strain.
    pub fn rest_at(&self, state: PlasticState, measure: Measure) -> [f32; 4] {
        let [rest, strain] = [self.rest[0], state.strain[0]];
        match measure {
            Measure::Length => [rest + rest * strain, 0.0, 0.0, 0.0],
            Measure::Angle => [wrapped(rest + strain), 0.0, 0.0, 0.0],
            Measure::Stretch => [rest / (1.0 + strain), 0.0, 0.0, 0.0],
            Measure::Rotation => turned_rest(self.rest, state.strain.into()),
        }
    }

    /// The material that the record names.
    pub fn material_at(&self, state: PlasticState) -> u32 {
        if state.is_broken == 1 { self.broken_material } else { self.material }
    }

    /// The state after a flow for `dt`; `elastic` is the elastic strain. A broken constraint keeps its state.
    pub fn flowed(&self, state: PlasticState, elastic: Vec3, dt: f32) -> PlasticState {
        if state.is_broken == 1 {
            return state;
        }
        let (mut after, before) = (state, Vec3::from(state.strain));
        let size = length(elastic);
        let beyond = size - (self.yield_strain + self.hardening * state.hardened);
        if beyond > 0.0 && size > 0.0 && size < UNLIMITED {
            let change = (self.flow_rate * dt).min(1.0) * beyond / (1.0 + self.hardening);
            let sum = before + elastic * (change / size);
            let most = length(sum);
            let strain = if most > self.most { sum * (self.most / most) } else { sum };
            after.strain = strain.into();
            after.hardened += length(strain - before);
        }
        if self.rupture < UNLIMITED && length(elastic + before) > self.rupture {
            after.is_broken = 1;
        }
        after
    }
}

/// The half of the rest rotation s d s; see the [module documentation](self).
fn turned_rest([x, y, z, w]: [f32; 4], strain: Vec3) -> [f32; 4] {
    let square = dot(strain, strain);
    let k = (12.0 + (36.0 - 3.0 * square).max(0.0).sqrt()) / (36.0 + square);
    let half = (Vec3::new(x, y, z), w);
    let (v, w) = product(product(half, (strain * k, 6.0 * k - 2.0)), half);
    let (v, w) = if w < 0.0 { (-v, -w) } else { (v, w) };
    let more = w + 1.0;
    let size = (dot(v, v) + more * more).sqrt();
    let v = v / size;
    [v.x, v.y, v.z, more / size]
}

/// The plastic state of a constraint, as [`crate::Solver::read_plastic_strains`] returns it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlasticStrain {
    /// The index of the constraint among those of its kind.
    pub constraint: u32,
    /// The plastic strain: relative for lengths, \[rad\] for angles. That of a joint is the magnitude of `rotation`.
    pub strain: f32,
    /// The plastic rotation of a joint of a rod: bends about d₁ and d₂, and twist \[rad\]; 0 for other kinds.
    pub rotation: [f32; 3],
    /// True if it is broken.
    pub is_broken: bool,
}

/// The states of plastic constraints for the user.
pub(crate) fn strains(rows: &[PlasticRow], states: &[PlasticState], measure: Option<Measure>) -> Vec<PlasticStrain> {
    let rotates = measure == Some(Measure::Rotation);
    let strain = |(row, state): (&PlasticRow, &PlasticState)| PlasticStrain {
        constraint: row.constraint,
        strain: if rotates { length(state.strain.into()) } else { state.strain[0] },
        rotation: if rotates { state.strain } else { [0.0; 3] },
        is_broken: state.is_broken == 1,
    };
    rows.iter().zip(states).map(strain).collect()
}
