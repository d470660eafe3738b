//! The constraint kinds: what each one constrains, its constraint function C and gradient ∇C.
//!
//! A kind is one file here and one shader: this side says what it *is* (descriptor with units, record, C and ∇C, sample
//! cases), `shaders/kinds/<name>.wgsl` evaluates C and ∇C. What is made of them is written once: `shaders/schedule/project.wgsl` and
//! `src/reference/constraints.rs` gather, project and scatter; [`crate::xpbd`] and `shaders/common/xpbd.wgsl` hold the XPBD update. To
//! add a kind, write the two files and name it in [`KINDS`]; colouring, plan, both players and the conformance suite take it
//! from there.
//!
//! | kind | particles | C | compliance |
//! |---|---|---|---|
//! | [`Hinge`] | 4 | dihedral angle s (θ − θ₀) | rad²/J |
//! | [`CosineBend`] | 3 | a·b − cos φ₀ \|a\| \|b\| | m⁴/J |
//! | [`LineBend`] | 3 | s \|(x₀ − x₂)/a + (x₁ − x₂)/b\|, the turn of a line | rad²/J |
//! | [`IsometricBend`] | 4 | \|Σ kᵢ xᵢ\|, the discrete Laplacian | m²/J |
//! | [`Volume`] | 4 | V − V₀ | m⁶/J |
//! | [`Area`] | 3 | A − A₀ | m⁴/J |
//! | [`ShapeMatching`] | any | √Σ m \|x − g\², the distance from the best rigid pose | kg m²/J = s² |
//! | [`Pressure`] | any | V − p V₀ of a closed surface | m⁶/J |
//! | [`Distance`] | 2 | l − L₀ | m²/J = m/N |
//! | [`DistanceLimit`] | 2 | l ≤ L or l ≥ L | m²/J = m/N |
//!
//! # Record
//! A constraint is a record of `u32` words, a multiple of four of them: the particles, then the material, then the
//! parameters of the kind (`f32` as bits). The host sorts records by colour and never looks inside again.
//!
//! A *group* spans any number of particles. Its record begins with the run of its members instead (first row, count, first
//! slot), each member being two rows of four words; see [`group`].

mod area;
mod cosine_bend;
mod distance;
mod distance_limit;
pub mod group;
mod hinge;
mod isometric_bend;
mod line_bend;
mod pressure;
mod shape_matching;
mod volume;
pub mod xpbd;

pub use area::Area;
pub use cosine_bend::CosineBend;
pub use distance::Distance;
pub use distance_limit::{DistanceLimit, Limit};
pub use group::Group;
pub use hinge::Hinge;
pub use isometric_bend::IsometricBend;
pub use line_bend::LineBend;
pub use pressure::{ClosedSurface, Pressure};
pub use shape_matching::ShapeMatching;
pub use volume::Volume;

use crate::error::Result;
use glam::Vec3;

/// The most particles that a constraint of a kind that is not a group names.
pub const MAX_ARITY: usize = 4;

/// Everything the solver needs to know of a kind; see the [module documentation](self).
///
/// Only this crate makes them, and each stands in [`KINDS`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct KindInfo {
    /// The name in labels, errors and shader files.
    pub name: &'static str,
    /// How many particles a constraint of this kind names, at most [`MAX_ARITY`]; 0 for a group.
    pub arity: usize,
    /// Words in a record, a multiple of 4.
    pub record_words: usize,
    /// Whether every ∇ᵢC is a unit vector wherever it exists, so that |∇ᵢC|² is 1 without arithmetic.
    pub unit_gradients: bool,
    /// Whether the constraint is C ≤ 0 instead of C = 0, so that λ may not become positive.
    pub unilateral: bool,
    /// The unit of the compliance α, \[C\]²/J.
    pub compliance_unit: &'static str,
    /// The WGSL of C and ∇C.
    pub shader: &'static str,
    /// C and ∇C on this side.
    pub function: Function,
    /// Constraints in general position, for the conformance suite.
    pub samples: fn() -> Vec<Sample>,
}

/// C and ∇C of a kind.
#[derive(Debug, Clone, Copy)]
pub enum Function {
    /// `evaluate(parameters, p, grad)` returns C and writes ∇C. `p` are the positions \[m\] in any frame that differs from
    /// the world's by a translation (every kind is invariant under it), so that differences keep their precision.
    /// Where the gradient does not exist, it writes zeros.
    Fixed(fn(&[u32], &[Vec3], &mut [Vec3]) -> f32),
    /// The same where C is the length of a vector s = Σ k x: `evaluate(parameters, p, k)` returns s and writes k. Each component of
    /// s is a constraint with a multiplier of its own, as the direction of s may turn from one iteration to the next.
    Vector(fn(&[u32], &[Vec3], &mut [f32]) -> Vec3),
    /// C and ∇C of any number of particles, in sums over them.
    Group(Group),
}

impl KindInfo {
    /// The word of a record that names the material.
    pub(crate) const fn material_word(&self) -> usize {
        match self.function {
            Function::Fixed(_) | Function::Vector(_) => self.arity,
            Function::Group(_) => group::MATERIAL_WORD,
        }
    }

    /// Whether its constraints span any number of particles.
    pub const fn is_group(&self) -> bool {
        matches!(self.function, Function::Group(_))
    }

    /// How many multipliers a constraint has.
    pub(crate) const fn lambda_count(&self) -> usize {
        if matches!(self.function, Function::Vector(_)) { 3 } else { 1 }
    }

    /// λ of each constraint, of its multipliers: of a vector its length, below 0 as C only ever pulls back.
    pub(crate) fn lambdas(&self, multipliers: &[f32]) -> Vec<f32> {
        let length = |v: &[f32]| -crate::geometry::vector::length(Vec3::new(v[0], v[1], v[2]));
        if self.lambda_count() == 1 { multipliers.to_vec() } else { multipliers.chunks_exact(3).map(length).collect() }
    }

    /// The particles of a record, in order.
    pub(crate) fn particles<'a>(&self, record: &'a [u32], rows: &'a [[u32; 4]]) -> impl Iterator<Item = u32> + 'a {
        let (named, members) = match self.function {
            Function::Fixed(_) | Function::Vector(_) => (&record[..self.arity], 0..0),
            Function::Group(_) => (&record[..0], group::member_rows(record)),
        };
        named.iter().copied().chain(rows[members].iter().step_by(group::MEMBER_ROWS).map(|row| row[0]))
    }

    /// C and ∇C of one constraint: its parameters, the rows of its members (none but for a group) and the positions \[m\] of
    /// its particles. Members name places in `p`.
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
            Function::Group(function) => function.evaluate(parameters, members, p, grad),
        }
    }
}

/// One constraint and the positions of its particles: a case of the conformance suite.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The parameters as they stand in the record, after the material.
    pub parameters: Vec<u32>,
    /// The rows of a group's members, which name places in `positions`; empty for other kinds.
    pub members: Vec<u32>,
    /// Positions \[m\] in general position: ∇C exists.
    pub positions: Vec<Vec3>,
    /// Positions \[m\] at which C = 0.
    pub rest: Vec<Vec3>,
}

/// The descriptor of one constraint, as a scene takes it.
pub trait Kind: Copy + std::fmt::Debug {
    /// What the solver knows of the kind.
    const INFO: &'static KindInfo;

    /// The particles that it names, [`KindInfo::arity`] of them; for a group, one a member.
    fn particles(&self) -> &[u32];

    /// Appends the parameters as record words, at most [`KindInfo::record_words`] less particles and material.
    fn write_parameters(&self, words: &mut Vec<u32>);

    /// Appends the rows of a group's members, in the order of [`Kind::particles`]; see [`group`]. `first_row` is the row at
    /// which they begin.
    fn write_members(&self, _first_row: u32, _rows: &mut Vec<[u32; 4]>) {}

    /// Whether the parameters are in range; `index` is the constraint's, for the error.
    fn check(&self, index: usize) -> Result<()>;
}

/// The list of kinds. The order is the order of projection within an iteration: what bends first, what must not stretch
/// last, so that it has the last word.
pub static KINDS: &[&KindInfo] = &[
    Hinge::INFO,
    CosineBend::INFO,
    LineBend::INFO,
    IsometricBend::INFO,
    Volume::INFO,
    Area::INFO,
    ShapeMatching::INFO,
    Pressure::INFO,
    Distance::INFO,
    DistanceLimit::INFO,
];

/// The place of a kind in [`KINDS`].
///
/// # Panics
/// Where the kind does not stand there, as only this crate's do.
pub fn kind_index(info: &KindInfo) -> usize {
    KINDS.iter().position(|kind| kind.name == info.name).expect("every Kind::INFO stands in KINDS")
}

/// The words of parameters in a record.
fn bits<const N: usize>(values: [f32; N]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A sample of a kind that is not a group.
fn sample<const N: usize>(parameters: [f32; N], positions: &[[f32; 3]], rest: &[[f32; 3]]) -> Sample {
    let points = |points: &[[f32; 3]]| points.iter().map(|&x| Vec3::from(x)).collect();
    Sample { parameters: bits(parameters), members: Vec::new(), positions: points(positions), rest: points(rest) }
}
