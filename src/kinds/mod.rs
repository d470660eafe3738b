//! The constraint kinds: what each one constrains, its constraint function C and gradient ∇C.
//!
//! A kind is one file here and one shader: this side says what it *is* (descriptor with units, record, C and ∇C, sample
//! cases), `shaders/project_<name>.wgsl` projects it. The XPBD update itself is written once per side: [`crate::xpbd`] and
//! `shaders/prelude/xpbd.wgsl`. To add a kind, write the two files and name it in [`KINDS`]; colouring, plan, both
//! players and the conformance suite take it from there.
//!
//! # Record
//! A constraint is a record of `u32` words, a multiple of four of them: the particles, then the material, then the
//! parameters of the kind (`f32` as bits). The host sorts records by colour and never looks inside again.

mod distance;

pub use distance::Distance;

use crate::error::{Error, Result};
use glam::Vec3;

/// The most particles that one constraint of any kind names.
pub const MAX_ARITY: usize = 4;

/// Everything the solver needs to know of a kind; see the [module documentation](self).
///
/// Only this crate makes them, and each stands in [`KINDS`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct KindInfo {
    /// The name in labels, errors and shader files.
    pub name: &'static str,
    /// How many particles a constraint of this kind names; at most [`MAX_ARITY`].
    pub arity: usize,
    /// Words in a record, a multiple of 4.
    pub record_words: usize,
    /// Whether every ∇ᵢC is a unit vector wherever it exists, so that |∇ᵢC|² is 1 without arithmetic.
    pub unit_gradients: bool,
    /// The unit of the compliance α, \[C\]²/J.
    pub compliance_unit: &'static str,
    /// The WGSL of the projection: entry points `project_<name>` and `split_<name>`.
    pub shader: &'static str,
    /// `evaluate(parameters, p, grad)` returns C and writes ∇C. `p` are the positions \[m\] in any frame that differs from
    /// the world's by a translation (every kind is invariant under it), so that differences keep their precision.
    /// Where the gradient does not exist, it writes zeros.
    pub evaluate: fn(&[u32], &[Vec3], &mut [Vec3]) -> f32,
    /// Constraints in general position, for the conformance suite.
    pub samples: fn() -> Vec<Sample>,
}

/// One constraint and the positions of its particles: a case of the conformance suite.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The parameters as they stand in the record, after the material.
    pub parameters: Vec<u32>,
    /// Positions \[m\] in general position: ∇C exists.
    pub positions: Vec<Vec3>,
    /// Positions \[m\] at which C = 0.
    pub rest: Vec<Vec3>,
}

/// The descriptor of one constraint, as a scene takes it.
pub trait Kind: Copy + std::fmt::Debug {
    /// What the solver knows of the kind.
    const INFO: &'static KindInfo;

    /// The particles that it names, [`KindInfo::arity`] of them.
    fn particles(&self) -> &[u32];

    /// Appends the parameters as record words, at most [`KindInfo::record_words`] less particles and material.
    fn write_parameters(&self, words: &mut Vec<u32>);

    /// Whether the parameters are in range; `index` is the constraint's, for the error.
    fn check(&self, index: usize) -> Result<()>;
}

/// The list of kinds. The order is the order of projection within an iteration.
pub static KINDS: &[&KindInfo] = &[Distance::INFO];

/// The place of a kind in [`KINDS`].
pub(crate) fn kind_index(info: &KindInfo) -> usize {
    KINDS.iter().position(|kind| kind.name == info.name).expect("every Kind::INFO stands in KINDS")
}

/// Whether all particles that something names exist and differ. `what` names it in the error.
pub(crate) fn check_particles(what: impl Fn() -> String, particles: &[u32], particle_count: usize) -> Result<()> {
    for (position, &particle) in particles.iter().enumerate() {
        if particle as usize >= particle_count {
            let (index, count) = (particle.into(), particle_count as u64);
            return Err(Error::IndexOutOfRange { what: what(), target: "particle", index, count });
        }
        if particles[..position].contains(&particle) {
            return Err(Error::RepeatedIndex { what: what(), particle });
        }
    }
    Ok(())
}
