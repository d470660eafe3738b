//! Constraint kinds: constraint function C, gradient ∇C and record of each.
//!
//! A kind is one Rust file (descriptor with units, record, C, ∇C, samples) and one shader,
//! `shaders/constraints/<name>.wgsl` (C and ∇C), which [`MembraneLimit`] shares with [`Membrane`]. All other code is common to all
//! kinds:
//!
//! - `shaders/schedule/project.wgsl` and `src/reference/constraints.rs` gather, project and scatter.
//! - [`xpbd`] and `shaders/common/xpbd.wgsl` contain the XPBD update.
//!
//! ARCHITECTURE.md explains how to add a kind. Colouring, plan, both backends and the conformance suite include the kinds in
//! [`KINDS`].
//!
//! | kind | particles | C | compliance |
//! |---|---|---|---|
//! | [`Hinge`] | 4 | dihedral angle s (θ − θ₀) | rad²/J |
//! | [`CosineBend`] | 3 | a·b − cos φ₀ \|a\| \|b\| | m⁴/J |
//! | [`LineBend`] | 3 | s \|(x₀ − x₂)/a + (x₁ − x₂)/b\|, the turn of a line | rad²/J |
//! | [`IsometricBend`] | 4 | \|Σ kᵢ xᵢ\|, the discrete Laplacian | m²/J |
//! | [`BendTwist`] | 2 orientations | \|σ φ\|, the rotation between two frames of a rod, from rest | rad²/J |
//! | [`NeoHookean`] | 4 | √V₀ √(I_C + J² − 4 J), the distortion of a tetrahedron | m³/J = 1/Pa |
//! | [`Volume`] | 4 | V − V₀ | m⁶/J |
//! | [`Area`] | 3 | A − A₀ | m⁴/J |
//! | [`Membrane`] | 3 | √A w : E, a component of the strain of a triangle | m²/J = m/N |
//! | [`ShapeMatching`] | any | √Σ m \|x − g\|², the distance from the best rigid pose | kg m²/J = s² |
//! | [`Pressure`] | any | V − p V₀ of a closed surface | m⁶/J |
//! | [`StretchShear`] | 2, 1 orientation | \|s (Rᵀ (x₁ − x₀)/l − e₃)\|, the strain of a segment of a rod | 1/J |
//! | [`Distance`] | 2 | l − L₀ | m²/J = m/N |
//! | [`MembraneLimit`] | 3 | √A (w : E − ε) ≤ 0, a limit of that component | m²/J = m/N |
//! | [`DistanceLimit`] | 2 | l ≤ L or l ≥ L | m²/J = m/N |
//!
//! # Record
//! A constraint is a record of `u32` words: the particles, the material, and the parameters of the kind (`f32` as
//! bits). The number of words is a multiple of 4. The host sorts records by colour and does not interpret their
//! parameters.
//!
//! An *orientation* is the rotation of a frame. Kinds with orientations name them after their particles. In records of
//! a scene they are numbered from 0; in a compiled scene they follow the particles, and both are *entities*.
//!
//! A *group* has any number of particles. Its record begins with its range of member rows (first row, count, first
//! slot) instead of particles; see [`group`].

mod area;
mod bend_twist;
mod cosine_bend;
mod distance;
mod distance_limit;
pub mod group;
mod hinge;
mod isometric_bend;
mod line_bend;
mod membrane;
mod membrane_limit;
mod neo_hookean;
mod orientation;
pub(crate) mod plasticity;
mod pressure;
mod shape_matching;
mod stretch_shear;
mod volume;
pub mod xpbd;

pub use area::Area;
pub use bend_twist::BendTwist;
pub(crate) use bend_twist::check_unit;
pub use cosine_bend::CosineBend;
pub use distance::Distance;
pub(crate) use distance::is_weld;
pub use distance_limit::{DistanceLimit, Limit};
pub use group::Group;
pub use hinge::Hinge;
pub use isometric_bend::IsometricBend;
pub use line_bend::LineBend;
pub use membrane::Membrane;
pub(crate) use membrane::in_material;
pub use membrane_limit::MembraneLimit;
pub use neo_hookean::NeoHookean;
pub use orientation::OrientationId;
pub use plasticity::{Measure, PlasticStrain, Plasticity};
pub use pressure::{ClosedSurface, Pressure};
pub use shape_matching::ShapeMatching;
pub use stretch_shear::StretchShear;
pub use volume::Volume;

use crate::error::Result;
use glam::Vec3;

/// The greatest number of particles and orientations of a kind that is not a group.
pub const MAX_ARITY: usize = 4;

/// Description of a kind; see the [module documentation](self).
///
/// Only this crate creates them; each is in [`KINDS`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct KindInfo {
    /// The name in labels, errors and shader files.
    pub name: &'static str,
    /// Particles and orientations per constraint, at most [`MAX_ARITY`]; 0 for a group.
    pub arity: usize,
    /// The number of orientations among them; they come last.
    pub orientations: usize,
    /// Words per record, a multiple of 4.
    pub record_words: usize,
    /// If true, every existing ∇ᵢC is a unit vector, so |∇ᵢC|² = 1 needs no arithmetic.
    pub unit_gradients: bool,
    /// If true, the constraint is C ≤ 0 instead of C = 0, and λ stays at or below 0.
    pub unilateral: bool,
    /// If true, Δλ is over-relaxed: half of Σ wᵢ|∇ᵢC|² is subtracted from α̃ in its denominator, down to 0. True for
    /// bends: their λ vary slowly from one constraint to the next, so their corrections largely cancel, and one sweep
    /// with the full denominator is too soft. The solution of many iterations is the same. Not with a
    /// [`crate::Settings::relaxation`] other than 1.
    pub over_relaxed: bool,
    /// What plastic flow changes; `None` if the kind cannot yield.
    pub plastic: Option<Measure>,
    /// The unit of the compliance α, \[C\]²/J.
    pub compliance_unit: &'static str,
    /// The WGSL source of C and ∇C.
    pub shader: &'static str,
    /// C and ∇C for the CPU reference.
    pub function: Function,
    /// Constraints in general position for the conformance suite.
    pub samples: fn() -> Vec<Sample>,
}

/// C and ∇C of a kind.
#[derive(Debug, Clone, Copy)]
pub enum Function {
    /// `evaluate(parameters, p, grad)` returns C and writes ∇C. If the gradient does not exist, it writes zeros. The
    /// positions `p` \[m\] are relative to an arbitrary origin, which keeps the precision of differences: every kind is
    /// invariant under translation.
    Fixed(fn(&[u32], &[Vec3], &mut [Vec3]) -> f32),
    /// A vector constraint, C = |s| with s = Σ k x: `evaluate(parameters, p, k)` returns s and writes k. Each component
    /// of s has its own multiplier, because the direction of s may change between iterations.
    Vector(fn(&[u32], &[Vec3], &mut [f32]) -> Vec3),
    /// Three constraints that are solved at once, C = |s|: `evaluate(parameters, p, grad)` returns s and writes the
    /// gradients of its components. Each component has a multiplier. For an orientation, `p` is its modified Rodrigues
    /// parameters, and the gradient is that by a rotation vector in the axes of the world. Components whose gradients
    /// are far from orthogonal converge slowly.
    Components(Components),
    /// C and ∇C of any number of particles, from sums over them.
    Group(Group),
}

/// `evaluate` of [`Function::Components`].
pub type Components = fn(&[u32], &[Vec3], &mut ComponentGradients) -> Vec3;

/// By particle or orientation, the gradient of each of three components.
pub type ComponentGradients = [[Vec3; 3]; MAX_ARITY];

impl KindInfo {
    /// The index of the material word in a record.
    pub(crate) const fn material_word(&self) -> usize {
        match self.function {
            Function::Group(_) => group::MATERIAL_WORD,
            _ => self.arity,
        }
    }

    /// Returns true if a constraint has any number of particles.
    pub const fn is_group(&self) -> bool {
        matches!(self.function, Function::Group(_))
    }

    /// Multipliers per constraint.
    pub(crate) const fn lambda_count(&self) -> usize {
        if matches!(self.function, Function::Vector(_) | Function::Components(_)) { 3 } else { 1 }
    }

    /// The number of particles per constraint; 0 for a group.
    pub const fn point_count(&self) -> usize {
        self.arity - self.orientations
    }

    /// λ of each constraint. For a vector constraint it is the negative length of the multipliers, because C only pulls
    /// back.
    pub(crate) fn lambdas(&self, multipliers: &[f32]) -> Vec<f32> {
        let length = |v: &[f32]| -crate::geometry::vector::length(Vec3::new(v[0], v[1], v[2]));
        if self.lambda_count() == 1 { multipliers.to_vec() } else { multipliers.chunks_exact(3).map(length).collect() }
    }

    /// The particles of a record, in order.
    pub(crate) fn points<'a>(&self, record: &'a [u32], rows: &'a [[u32; 4]]) -> impl Iterator<Item = u32> + 'a {
        let orientations = self.orientations;
        let count = if self.is_group() { usize::MAX } else { self.arity - orientations };
        self.entities(record, rows).take(count)
    }

    /// The particles and orientations of a record, in order.
    pub(crate) fn entities<'a>(&self, record: &'a [u32], rows: &'a [[u32; 4]]) -> impl Iterator<Item = u32> + 'a {
        let (named, members) = match self.function {
            Function::Group(_) => (&record[..0], group::member_rows(record)),
            _ => (&record[..self.arity], 0..0),
        };
        named.iter().copied().chain(rows[members].iter().step_by(group::MEMBER_ROWS).map(|row| row[0]))
    }

    /// C and ∇C of one constraint from its parameters, its member rows (groups only) and the positions \[m\] of its
    /// particles. Members contain indices into `p`.
    pub fn evaluate(&self, parameters: &[u32], members: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
        match self.function {
            Function::Fixed(evaluate) => evaluate(parameters, p, grad),
            Function::Vector(evaluate) => {
                let mut k = [0.0; MAX_ARITY];
                let s = evaluate(parameters, p, &mut k[..self.arity]);
                let c = crate::geometry::vector::length(s);
                let n = if c > 0.0 { s / c } else { Vec3::ZERO };
                grad.iter_mut().zip(k).for_each(|(grad, k)| *grad = n * k);
                c
            }
            Function::Components(evaluate) => {
                let mut gradients = [[Vec3::ZERO; 3]; MAX_ARITY];
                let s = evaluate(parameters, p, &mut gradients);
                let c = crate::geometry::vector::length(s);
                let n = if c > 0.0 { s / c } else { Vec3::ZERO };
                let along = |[x, y, z]: [Vec3; 3]| (x * n.x + y * n.y) + z * n.z;
                grad.iter_mut().zip(gradients).for_each(|(grad, own)| *grad = along(own));
                c
            }
            Function::Group(function) => function.evaluate(parameters, members, p, grad),
        }
    }
}

/// One constraint and the positions of its particles: a case of the conformance suite.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The parameters as in the record, after the material.
    pub parameters: Vec<u32>,
    /// The member rows of a group, with indices into `positions`; empty for other kinds.
    pub members: Vec<u32>,
    /// Positions \[m\] in general position: ∇C exists. Those of orientations are modified Rodrigues parameters.
    pub positions: Vec<Vec3>,
    /// Positions \[m\] at which C = 0.
    pub rest: Vec<Vec3>,
}

/// The descriptor of one constraint, as passed to a scene.
pub trait Kind: Copy + std::fmt::Debug + Send + Sync {
    /// The description of the kind.
    const INFO: &'static KindInfo;

    /// The particles and then the orientations, [`KindInfo::arity`] in all; for a group, one particle per member.
    fn particles(&self) -> &[u32];

    /// Appends the parameters as record words. Particles, material and parameters together fill at most
    /// [`KindInfo::record_words`].
    fn write_parameters(&self, words: &mut Vec<u32>);

    /// Appends the member rows of a group in the order of [`Kind::particles`]; see [`group`]. The rows start at row
    /// `first_row`.
    fn write_members(&self, _first_row: u32, _rows: &mut Vec<[u32; 4]>) {}

    /// Returns `Ok` if the parameters are in range; `index` is the index of the constraint for the error.
    fn check(&self, index: usize) -> Result<()>;
}

/// All kinds in the order of projection within an iteration: bending first, distances and limits last, so the stiffest constraints
/// have the smallest error.
pub static KINDS: &[&KindInfo] = &[
    Hinge::INFO,
    CosineBend::INFO,
    LineBend::INFO,
    IsometricBend::INFO,
    BendTwist::INFO,
    NeoHookean::INFO,
    Volume::INFO,
    Area::INFO,
    Membrane::INFO,
    ShapeMatching::INFO,
    Pressure::INFO,
    StretchShear::INFO,
    Distance::INFO,
    MembraneLimit::INFO,
    DistanceLimit::INFO,
];

/// The index of a kind in [`KINDS`].
///
/// # Panics
/// If the kind is not in [`KINDS`]; all kinds of this crate are.
pub fn kind_index(info: &KindInfo) -> usize {
    KINDS.iter().position(|kind| kind.name == info.name).expect("every Kind::INFO is in KINDS")
}

/// The record words of parameters.
fn bits<const N: usize>(values: [f32; N]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A sample of a kind that is not a group.
fn sample<const N: usize>(parameters: [f32; N], positions: &[[f32; 3]], rest: &[[f32; 3]]) -> Sample {
    let points = |points: &[[f32; 3]]| points.iter().map(|&x| Vec3::from(x)).collect();
    Sample { parameters: bits(parameters), members: Vec::new(), positions: points(positions), rest: points(rest) }
}
