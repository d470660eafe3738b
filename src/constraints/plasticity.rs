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
//! With an unlimited flow rate a monotonous load leaves p = (ε − Y)/(1 + H). Counterpart: `shaders/schedule/flow.wgsl`.

use super::KindInfo;
use crate::error::{Error, Result, check_non_negative};
use std::f32::consts::PI;

/// Acts as infinity on the GPU.
const UNLIMITED: f32 = 1e30;

/// How a constraint yields, creeps, hardens and breaks; see [`crate::Scene::set_plasticity`]. Strains are relative changes of the
/// rest length of a [`super::Distance`], and changes of the rest angle of a [`super::Hinge`] \[rad\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plasticity {
    /// The elastic strain Y beyond which the rest value changes; infinite = elastic.
    pub yield_strain: f32,
    /// The share of the strain beyond the yield strain that becomes plastic \[1/s\]; infinite = all of it in one step.
    pub flow_rate: f32,
    /// Linear hardening H: the increase of the yield strain per plastic strain.
    pub hardening: f32,
    /// The maximum of the plastic strain, in both directions. For lengths less than 1.
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
            return Err(Error::invalid(
                format!("plasticity of {} constraints", info.name),
                1.0,
                "for distances and hinges only",
            ));
        };
        let fields = [
            ("yield strain", self.yield_strain),
            ("flow rate", self.flow_rate),
            ("hardening", self.hardening),
            ("most plastic strain", self.most),
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
            Measure::Length if self.most >= 1.0 => {
                Err(Error::invalid("most plastic strain of a length", self.most, "less than 1"))
            }
            _ => Ok(()),
        }
    }
}

/// What a plastic strain changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The first parameter is a rest length L₀; p is relative to it.
    Length,
    /// The first parameter is a rest angle \[rad\], the second the scale s of C = s (θ − θ₀); p is added to the angle.
    Angle,
}

/// A constraint with plasticity. Counterpart in `shaders/schedule/flow.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct PlasticRow {
    /// The index of the constraint among those of its kind, and the place of its record.
    pub constraint: u32,
    pub place: u32,
    /// Its material, and the one of broken constraints.
    pub material: u32,
    pub broken_material: u32,
    /// Rest value without plastic strain.
    pub rest: f32,
    pub yield_strain: f32,
    pub flow_rate: f32,
    pub hardening: f32,
    pub most: f32,
    pub rupture: f32,
    pub padding: [u32; 2],
}

/// The state of a plastic constraint. Counterpart in `shaders/schedule/flow.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct PlasticState {
    /// p and q of the [module documentation](self).
    pub strain: f32,
    pub hardened: f32,
    pub is_broken: u32,
    pub padding: u32,
}

impl PlasticRow {
    pub fn new(constraint: u32, place: u32, materials: [u32; 2], rest: f32, plasticity: &Plasticity) -> Self {
        let Plasticity { yield_strain, flow_rate, hardening, most, rupture } = *plasticity;
        let [yield_strain, flow_rate, most, rupture] =
            [yield_strain, flow_rate, most, rupture].map(|value| value.min(UNLIMITED));
        let ([material, broken_material], padding) = (materials, [0; 2]);
        Self {
            constraint,
            place,
            material,
            broken_material,
            rest,
            yield_strain,
            flow_rate,
            hardening,
            most,
            rupture,
            padding,
        }
    }

    /// The rest value with the plastic strain.
    pub fn rest_at(&self, state: PlasticState, measure: Measure) -> f32 {
        match measure {
            Measure::Length => self.rest + self.rest * state.strain,
            Measure::Angle => (self.rest + state.strain).clamp(-PI, PI),
        }
    }

    /// The material that the record names.
    pub fn material_at(&self, state: PlasticState) -> u32 {
        if state.is_broken == 1 { self.broken_material } else { self.material }
    }

    /// The state after a flow for `dt`; `elastic` is the elastic strain.
    pub fn flowed(&self, state: PlasticState, elastic: f32, dt: f32) -> PlasticState {
        let mut after = state;
        let beyond = elastic.abs() - (self.yield_strain + self.hardening * state.hardened);
        if beyond > 0.0 {
            let change = (self.flow_rate * dt).min(1.0) * beyond / (1.0 + self.hardening);
            let signed = if elastic < 0.0 { -change } else { change };
            after.strain = (state.strain + signed).clamp(-self.most, self.most);
            after.hardened += (after.strain - state.strain).abs();
        }
        if (elastic + state.strain).abs() > self.rupture {
            after.is_broken = 1;
        }
        after
    }
}

/// The plastic state of a constraint, as [`crate::Solver::read_plastic_strains`] returns it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlasticStrain {
    /// The index of the constraint among those of its kind.
    pub constraint: u32,
    /// The plastic strain: relative for lengths, \[rad\] for angles.
    pub strain: f32,
    /// True if it is broken.
    pub is_broken: bool,
}

/// The states of plastic constraints for the user.
pub(crate) fn strains(rows: &[PlasticRow], states: &[PlasticState]) -> Vec<PlasticStrain> {
    let strain = |(row, state): (&PlasticRow, &PlasticState)| PlasticStrain {
        constraint: row.constraint,
        strain: state.strain,
        is_broken: state.is_broken == 1,
    };
    rows.iter().zip(states).map(strain).collect()
}
