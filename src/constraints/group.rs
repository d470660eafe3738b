//! Groups: constraints of any number of particles.
//!
//! C is a function of a sum over the members, so ∇ᵢC = s rᵢ with a *direction* rᵢ of each member and one common scale
//! s. A projection has three passes over the members. `shaders/schedule/project_group.wgsl` is the counterpart of
//! `solve_group` in `src/reference/constraints.rs`:
//!
//! 1. Sum the moments Σ μ x and Σ μ x qᵀ. They give the [`Frame`]: the centre and, for kinds that rotate, the rotation.
//! 2. Compute every rᵢ and sum Σ rᵢ, Σ value, Σ wᵢ|rᵢ|², Σ rᵢ·(x − x_prev). They give C, s and Δλ.
//! 3. Apply Δxᵢ = wᵢ s Δλ (rᵢ − μᵢ (Σ r/M + Ω × R (qᵢ − q_cm))), K Ω being the torque Σ (x − x_cm) × r. The subtracted
//!    term is 0 except for rounding and for the error of the rotation. It keeps both errors from adding up to a net
//!    force and torque.
//!
//! For kinds that rotate:
//!
//! - Each member has its own multiplier, its accumulated impulse Pᵢ in this substep. With Δλ₀, the Δλ at λ = 0,
//!   ΔPᵢ = s Δλ₀ rᵢ − ω α̃/((1 + γ) Σ w|∇C|² + α̃) Pᵢ. One common λ would add up steps in different directions, because rᵢ/C does
//!   not converge as C approaches 0. For a single group both are equal.
//! - A pinned member weighs [`PIN_WEIGHT`] times the whole group, so the other members are fitted to it.
//!
//! A large group is solved by [`THREADS`] threads, a small one by one thread. If a scene has both, all groups use the
//! variant of the greater part of the work.
//!
//! # Records
//! A record has [`RECORD_WORDS`] words: first row of the members, number of members, first slot of their directions,
//! material, M, and three parameters of the kind. A member has two rows:
//!
//! - particle, share of its mass, μ, first row of its details;
//! - q₀, q₁, q₂, number of detail rows.
//!
//! The detail rows follow the members, separately for each member. A detail row has four particles, which
//! [`crate::Scene::renumber`] renumbers.

use crate::geometry::vector::{Symmetric, dot};
use glam::Vec3;

/// Words in the record of a group.
pub const RECORD_WORDS: usize = 8;
pub(crate) const MATERIAL_WORD: usize = 3;
/// Rows per member, of four words each.
pub const MEMBER_ROWS: usize = 2;
/// Threads that solve one large group; also the workgroup size of that pass.
pub const THREADS: usize = 128;
/// The most members of a small group.
pub const SMALL: usize = 256;
/// The greatest number of members that one thread solves.
pub const MOST_ALONE: usize = 4096;
/// The weight of a pinned member in the fit, as a multiple of the weight of its group.
pub const PIN_WEIGHT: f32 = 10.0;
/// Iterations of the rotation extraction in a projection, starting from the previous rotation.
pub const ROTATION_STEPS: usize = 8;

/// The functions of a group kind; see the [module documentation](self).
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// If true, the frame rotates with the group.
    pub rotates: bool,
    /// Returns rᵢ and the contribution of the member to the sum in C. The position `x` and the positions of other
    /// particles are relative to a common origin.
    pub direction: Direction,
    /// Returns C and s from the parameters and the sum.
    pub measure: fn(&[u32], f32) -> (f32, f32),
}

/// The rows of a record's members.
pub(crate) fn member_rows(record: &[u32]) -> std::ops::Range<usize> {
    let first = record[0] as usize;
    first..first + record[1] as usize * MEMBER_ROWS
}

/// The detail rows of a member, whose two rows are the first of `member`.
pub(crate) fn detail_rows(member: &[[u32; 4]]) -> std::ops::Range<usize> {
    let (first, count) = (member[0][3] as usize, member[1][3] as usize);
    first..first + count
}

/// See [`Group::direction`].
pub type Direction = fn(&Member<'_>, Vec3, &Frame, &dyn Fn(u32) -> Vec3) -> (Vec3, f32);

/// A member, decoded from its rows.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The particle.
    pub particle: u32,
    /// The factor of its inverse mass: greater than 1 if other groups that are solved at the same time share the
    /// particle (mass splitting).
    pub share: f32,
    /// Its weight μ in the fit.
    pub weight: f32,
    /// Its rest position q relative to the centre \[m\].
    pub rest: Vec3,
    /// Its detail rows.
    pub details: &'a [[u32; 4]],
}

impl<'a> Member<'a> {
    /// Reads member `index` of a group whose members begin at row `first`.
    #[inline]
    pub fn read(rows: &'a [[u32; 4]], first: usize, index: usize) -> Self {
        let [a, b] = [rows[first + index * MEMBER_ROWS], rows[first + index * MEMBER_ROWS + 1]];
        Self {
            particle: a[0],
            share: f32::from_bits(a[1]),
            weight: f32::from_bits(a[2]),
            rest: Vec3::new(f32::from_bits(b[0]), f32::from_bits(b[1]), f32::from_bits(b[2])),
            details: &rows[detail_rows(&rows[first + index * MEMBER_ROWS..])],
        }
    }

    /// Encodes the two rows of a member; its details start at row `first_detail`.
    pub fn rows(
        particle: u32,
        weight: f32,
        rest: Vec3,
        first_detail: u32,
        detail_count: u32,
    ) -> [[u32; 4]; MEMBER_ROWS] {
        let [x, y, z] = rest.to_array().map(f32::to_bits);
        [[particle, 1f32.to_bits(), weight.to_bits(), first_detail], [x, y, z, detail_count]]
    }
}

/// Sums of the first pass over the members: Σ μ x, Σ μ q, the columns of Σ μ x qᵀ, and M = Σ μ.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    pub(crate) mean: Vec3,
    pub(crate) rest: Vec3,
    pub(crate) columns: [Vec3; 3],
    pub(crate) total: f32,
}

impl Moments {
    #[inline]
    pub(crate) fn add_member(&mut self, member: &Member<'_>, x: Vec3) {
        let x = x * member.weight;
        self.mean += x;
        self.rest += member.rest * member.weight;
        self.total += member.weight;
        for (column, q) in self.columns.iter_mut().zip(member.rest.to_array()) {
            *column += x * q;
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.mean += other.mean;
        self.rest += other.rest;
        self.total += other.total;
        for (column, other) in self.columns.iter_mut().zip(other.columns) {
            *column += other;
        }
    }
}

/// Sums of the second pass over the members.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub direction: Vec3,
    pub value: f32,
    pub weighted: f32,
    pub travel: f32,
    pub torque: Vec3,
}

impl Sums {
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.direction += other.direction;
        self.value += other.value;
        self.weighted += other.weighted;
        self.travel += other.travel;
        self.torque += other.torque;
    }
}

/// A unit quaternion (x, y, z; w).
pub type Rotation = (Vec3, f32);

/// The initial rotation of a group at the given positions \[m\]: the best fit of extractions from the identity and from
/// half turns about the three axes. Several starts are needed, because at a half turn from the goal the direction of a
/// step is undefined.
pub(crate) fn initial_rotation(record: &[u32], rows: &[[u32; 4]], positions: &[[f32; 3]]) -> Rotation {
    let place = |particle: u32| Vec3::from(positions[particle as usize]);
    let members = (0..record[1] as usize).map(|index| Member::read(rows, record[0] as usize, index));
    let origin = place(rows[record[0] as usize][0]);
    let mut moments = Moments::default();
    members.for_each(|member| moments.add_member(&member, place(member.particle) - origin));
    let starts = [IDENTITY, (Vec3::X, 0.0), (Vec3::Y, 0.0), (Vec3::Z, 0.0)];
    let fit = |rotation: Rotation| {
        let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turned(rotation, axis));
        axes.iter().zip(moments.columns).map(|(r, a)| dot(*r, a)).sum::<f32>()
    };
    let found = starts.map(|start| Frame::new(&moments, true, start, 100).rotation);
    found.into_iter().fold(found[0], |best, other| if fit(other) > 1.001 * fit(best) { other } else { best })
}

/// No rotation.
pub const IDENTITY: Rotation = (Vec3::ZERO, 1.0);

/// The position and rotation of a group relative to its rest shape.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// The position of q = 0: Σ μ x/M − R Σ μ q/M.
    pub center: Vec3,
    /// The weighted mean Σ μ x/M, the centre of rotation.
    pub middle: Vec3,
    /// The weighted mean Σ μ q/M: 0 if no member is pinned.
    pub rest: Vec3,
    /// The total weight M.
    pub total: f32,
    /// The rotation R that best maps q to x − centre.
    pub rotation: Rotation,
    /// The matrix K of K Ω = torque: the derivative of the torque Σ μ (x − centre) × (R q) with respect to a rotation
    /// of R.
    pub(crate) inertia: Symmetric,
}

impl Frame {
    /// Computes the frame from the moments in `steps` iterations from `rotation`.
    pub(crate) fn new(moments: &Moments, rotates: bool, rotation: Rotation, steps: usize) -> Self {
        let total = moments.total;
        let (middle, rest) = (moments.mean / total, moments.rest / total);
        if !rotates {
            return Self { center: middle, middle, rest, total, rotation, inertia: (Vec3::ZERO, Vec3::ZERO) };
        }
        // Moments about the centre.
        let columns: [Vec3; 3] = std::array::from_fn(|k| moments.columns[k] - moments.mean * rest[k]);
        let rotation = (0..steps).fold(rotation, |rotation, _| closer(rotation, &columns));
        let center = middle - turned(rotation, rest);
        Self { center, middle, rest, total, rotation, inertia: inertia(rotation, &columns) }
    }
}

/// Returns tr(P) − P of the symmetric part P of A Rᵀ.
fn inertia(rotation: Rotation, columns: &[Vec3; 3]) -> Symmetric {
    let r = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turned(rotation, axis));
    let rotated = |v: Vec3| [Vec3::new(v.y, v.z, v.x), Vec3::new(v.z, v.x, v.y)];
    let (mut diagonal, mut beside) = (Vec3::ZERO, Vec3::ZERO);
    for (a, r) in columns.iter().zip(r) {
        let ([a1, a2], [r1, r2]) = (rotated(*a), rotated(r));
        diagonal += *a * r;
        beside += a1 * r2 + a2 * r1;
    }
    let trace = diagonal.x + diagonal.y + diagonal.z;
    (Vec3::splat(trace) - diagonal, beside * -0.5)
}

/// Rotates v by a unit quaternion.
#[inline]
pub fn turned((axis, w): Rotation, v: Vec3) -> Vec3 {
    let t = axis.cross(v) * 2.0;
    v + t * w + axis.cross(t)
}

/// Returns a rotation closer to the rotational part of a matrix, by one step from the given rotation.
///
/// The step is a rotation by ω = ⁴⁄₃ Σ rₖ × aₖ/|Σ rₖ·aₖ| (Müller, Bender, Chentanez, Macklin 2016, *A Robust Method to
/// Extract the Rotational Part of Deformations*, alg. 1, with an added factor of ⁴⁄₃). With this factor a step leaves
/// at most 1/3 of the error for any shape; without it, at most 1/2. No matrix is inverted, so a flat or inverted group
/// keeps its rotation. The exponential of ω is approximated by the normalised quaternion (ω/2, 1).
fn closer(rotation: Rotation, columns: &[Vec3; 3]) -> Rotation {
    let r = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turned(rotation, axis));
    let turn = r[0].cross(columns[0]) + r[1].cross(columns[1]) + r[2].cross(columns[2]);
    let stretch = (dot(r[0], columns[0]) + dot(r[1], columns[1]) + dot(r[2], columns[2])).abs();
    if stretch == 0.0 {
        return rotation;
    }
    // Longer steps than 1 rad would overshoot.
    let half = turn * (2.0 / 3.0 / stretch);
    let half = half * (1.0 / (1.0f32).max(crate::geometry::vector::length(half) * 2.0));
    let (axis, w) = rotation;
    let vector = axis + half * w + half.cross(axis);
    let scalar = w - dot(half, axis);
    let norm = (dot(vector, vector) + scalar * scalar).sqrt();
    // A non-finite result, from a non-finite position, is discarded.
    if norm > 0.0 && norm < f32::MAX { (vector / norm, scalar / norm) } else { rotation }
}

impl Group {
    /// C and ∇C for the conformance suite, independent of the solver's passes; see [`super::KindInfo::evaluate`].
    pub(super) fn evaluate(&self, parameters: &[u32], members: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
        let rows: Vec<[u32; 4]> = members.chunks_exact(4).map(|row| [row[0], row[1], row[2], row[3]]).collect();
        let members: Vec<_> = (0..p.len()).map(|index| Member::read(&rows, 0, index)).collect();
        let x = |particle: u32| p[particle as usize] - p[0];
        let mut moments = Moments::default();
        for member in &members {
            moments.add_member(member, x(member.particle));
        }
        let frame = Frame::new(&moments, self.rotates, IDENTITY, 100);
        let directions: Vec<_> =
            members.iter().map(|member| (self.direction)(member, x(member.particle), &frame, &x)).collect();
        let sum = directions.iter().map(|(_, value)| value).sum();
        let (c, scale) = (self.measure)(parameters, sum);
        for (member, (direction, _)) in members.iter().zip(directions) {
            grad[member.particle as usize] = direction * scale;
        }
        c
    }
}
