//! Groups: constraints that span any number of particles.
//!
//! C is a function of a sum over the members, so that ∇ᵢC = s rᵢ with a *direction* rᵢ of each member and one scale s for
//! all. A projection is two rounds of sums and one of writing; `shaders/schedule/project_group.wgsl` is the twin of
//! `src/reference/constraints.rs`' `solve_group`:
//!
//! 1. the moments Σ μ x and Σ μ x qᵀ give the [`Frame`]: the centre, and for kinds that turn the rotation from rest;
//! 2. every rᵢ, and the sums Σ rᵢ, Σ value, Σ wᵢ|rᵢ|², Σ rᵢ·(x − x_prev) give C, s and Δλ;
//! 3. Δxᵢ = wᵢ s Δλ (rᵢ − μᵢ (Σ r/M + Ω × R (qᵢ − q_cm))). What is taken off is 0 but for rounding and for what the rotation still
//!    lacks, which would otherwise add up to a push and a brake: Ω answers to the torque Σ (x − x_cm) × r.
//!
//! Where the frame turns, rᵢ/C does not settle as C comes near 0, and one λ for all would sum up steps in different directions to no
//! force at all: two groups that overlap would end a tenth aside. So each member has a multiplier of its own, the impulse Pᵢ that
//! it has been given in this substep: ΔPᵢ = s Δλ₀ rᵢ − ω α̃/((1 + γ) Σ w|∇C|² + α̃) Pᵢ, Δλ₀ being Δλ of λ = 0. For a lone group
//! that is the same.
//!
//! Where the frame turns, a pinned member weighs [`PIN_WEIGHT`] times the whole group: the others come to it, however light it
//! would be if it were free.
//!
//! Large groups are solved by [`LANES`] threads each, small ones by one; where a scene has both, all by what most of the work is in.
//!
//! # Records
//! A record is [`RECORD_WORDS`] words: first row of the members, how many members, first slot of their directions, material, M,
//! and three parameters of the kind. A member is two rows: particle, share of its mass, μ, first row of its details;
//! q₀, q₁, q₂, count of details. The details follow the members: rows of four particles, which [`crate::Scene::renumber`] renames, each
//! member's own.

use crate::geometry::vector::{Symmetric, dot};
use glam::Vec3;

/// Words in the record of a group.
pub const RECORD_WORDS: usize = 8;
pub(crate) const MATERIAL_WORD: usize = 3;
/// Rows of four words a member.
pub const MEMBER_ROWS: usize = 2;
/// Threads that solve one large group; also the workgroup size of that pass.
pub const THREADS: usize = 128;
/// Groups of more members than this are large.
pub const SMALL: usize = 256;
/// The most members that one thread solves.
pub const MOST_ALONE: usize = 4096;
/// What a pinned member weighs in the frame, over the weight of its group.
pub const PIN_WEIGHT: f32 = 10.0;
/// Steps of the extraction of a rotation, from where it stood before.
pub const ROTATION_STEPS: usize = 8;

/// What a kind of group adds to the [module documentation](self).
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Whether the frame turns.
    pub rotates: bool,
    /// rᵢ, and what the member adds to the sum that C is made of. `x` is its position in the frame of `origin`, as are those
    /// of `other` particles.
    pub direction: Direction,
    /// C and s, of the parameters and the sum.
    pub measure: fn(&[u32], f32) -> (f32, f32),
}

/// The rows of a record's members.
pub(crate) fn member_rows(record: &[u32]) -> std::ops::Range<usize> {
    let first = record[0] as usize;
    first..first + record[1] as usize * MEMBER_ROWS
}

/// The rows of a member's details; it begins at the first of the rows that are given.
pub(crate) fn detail_rows(member: &[[u32; 4]]) -> std::ops::Range<usize> {
    let (first, count) = (member[0][3] as usize, member[1][3] as usize);
    first..first + count
}

/// See [`Group::direction`].
pub type Direction = fn(&Member<'_>, Vec3, &Frame, &dyn Fn(u32) -> Vec3) -> (Vec3, f32);

/// A member, as it stands in its rows.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The particle.
    pub particle: u32,
    /// By how much its mass is divided, where the group shares its particles with others that are solved at the same time.
    pub share: f32,
    /// Its weight μ in the centre.
    pub weight: f32,
    /// Its rest position q from the centre \[m\].
    pub rest: Vec3,
    /// The rows of its details.
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

    /// Its two rows, `first_detail` being the row at which its details stand.
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

/// Sums of the first round: Σ μ x, Σ μ q, the columns of Σ μ x qᵀ, and M = Σ μ.
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

/// Sums of the second round.
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

/// How a group is turned at the start, where its particles are \[m\]: the best of what is found from no rotation and from half turns
/// about the three axes, since a half turn away from the goal there is no telling which way to turn.
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

/// Where a group is, and how it is turned against its rest pose.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Where q = 0 is: Σ μ x/M, but for R Σ μ q/M.
    pub center: Vec3,
    /// Σ μ x/M, about which it turns.
    pub middle: Vec3,
    /// Σ μ q/M: 0 where nothing is pinned.
    pub rest: Vec3,
    /// M.
    pub total: f32,
    /// The rotation that takes q to x − centre best.
    pub rotation: Rotation,
    /// K of K Ω = torque: how the torque of Σ μ (x − centre) × (R q) answers to a turn of R.
    pub(crate) inertia: Symmetric,
}

impl Frame {
    /// The frame of the moments; the rotation is sought from where it stood.
    pub(crate) fn new(moments: &Moments, rotates: bool, rotation: Rotation, steps: usize) -> Self {
        let total = moments.total;
        let (middle, rest) = (moments.mean / total, moments.rest / total);
        if !rotates {
            return Self { center: middle, middle, rest, total, rotation, inertia: (Vec3::ZERO, Vec3::ZERO) };
        }
        // About the centre.
        let columns: [Vec3; 3] = std::array::from_fn(|k| moments.columns[k] - moments.mean * rest[k]);
        let rotation = (0..steps).fold(rotation, |rotation, _| closer(rotation, &columns));
        let center = middle - turned(rotation, rest);
        Self { center, middle, rest, total, rotation, inertia: inertia(rotation, &columns) }
    }
}

/// tr P − P of the symmetric part P of A Rᵀ.
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

/// v turned by a unit quaternion.
#[inline]
pub fn turned((axis, w): Rotation, v: Vec3) -> Vec3 {
    let t = axis.cross(v) * 2.0;
    v + t * w + axis.cross(t)
}

/// One step from a rotation towards the rotational part of a matrix given by its columns (Müller, Bender, Chentanez, Macklin
/// 2016, *A Robust Method to Extract the Rotational Part of Deformations*, alg. 1): turn by
/// ω = ⁴⁄₃ Σ rₖ × aₖ/|Σ rₖ·aₖ|. Robust: nothing is inverted, and a flat or inverted body keeps the rotation that it had. The
/// factor ⁴⁄₃ is ours: a step then leaves a third of the error at most, be the body round, flat or long, where without it it
/// leaves half. The exponential of ω is taken as the quaternion (ω/2, 1) made a unit, which needs no sine.
fn closer(rotation: Rotation, columns: &[Vec3; 3]) -> Rotation {
    let r = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turned(rotation, axis));
    let turn = r[0].cross(columns[0]) + r[1].cross(columns[1]) + r[2].cross(columns[2]);
    let stretch = (dot(r[0], columns[0]) + dot(r[1], columns[1]) + dot(r[2], columns[2])).abs();
    if stretch == 0.0 {
        return rotation;
    }
    // A step of more than a radian would only overshoot.
    let half = turn * (2.0 / 3.0 / stretch);
    let half = half * (1.0 / (1.0f32).max(crate::geometry::vector::length(half) * 2.0));
    let (axis, w) = rotation;
    let vector = axis + half * w + half.cross(axis);
    let scalar = w - dot(half, axis);
    let norm = (dot(vector, vector) + scalar * scalar).sqrt();
    // What is not finite, by a particle that went astray, is not taken.
    if norm > 0.0 && norm < f32::MAX { (vector / norm, scalar / norm) } else { rotation }
}

impl Group {
    /// C and ∇C by the book, for the conformance suite; see [`super::KindInfo::evaluate`].
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
