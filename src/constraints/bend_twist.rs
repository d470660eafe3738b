//! Bending and twist of a rod: the rotation between the frames of two segments.
//!
//! With the unit quaternions q₁, q₂ of the frames and the rest rotation u₀ = q̄₁ q₂, the difference from rest is
//!
//! (v, w) = s̄ (q̄₁ q₂) s̄, s² = u₀, and Cᵢ = σᵢ 6 vᵢ/(2 + w),
//!
//! with the vector v and the scalar w ≥ 0. 6 sin(φ/2)/(2 + cos(φ/2)) is the angle φ within 0.15 % up to 80°, and 3 rad at
//! 180°. So C/σ is l (Ω − Ω₀): Ω is the Darboux vector in the axes between both frames, l the distance of the segment
//! centres. C₁ and C₂ bend about d₁ and d₂, C₃ twists. Kugelstadt and Schömer (2016, *Position and Orientation Based
//! Cosserat Rods*, §4.2) use Im(q̄₁ q₂ − u₀), whose moment is that of sin φ. With a = q₁ s, the axes aᵢ of a, and
//! V = Σ vᵢ aᵢ,
//!
//! ∇₂Cᵢ = σᵢ 3/(2 + w) (w aᵢ + V × aᵢ + V vᵢ/(2 + w)), ∇₁Cᵢ = −∇₂Cᵢ,
//!
//! with respect to rotation vectors in the axes of the world. Each component has a multiplier.
//!
//! The energy is ½ l (EI₁ (Ω−Ω₀)₁² + EI₂ (Ω−Ω₀)₂² + GJ (Ω−Ω₀)₃²) for α = l/K and σ = (√(EI₁/K), √(EI₂/K), √(GJ/K)),
//! with any K. A joint that is turned past 180° from rest returns the other way.

use super::OrientationId;
use super::{ComponentGradients, Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Error, Result, check_positive};
use crate::geometry::rotation::{axes, conjugate, product, unit_quaternion};
use glam::{DQuat, Vec3};

/// Keeps the rotation from one frame to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BendTwist {
    entities: [u32; 2],
    /// The rest rotation u₀ = q̄₁ q₂, seen from the first frame: a unit quaternion (x, y, z, w). (0, 0, 0, 1) is straight.
    pub rest: [f32; 4],
    /// The scales σ of bending about d₁ and d₂, and of twist about d₃; positive. The energy is ½ Σ Cᵢ²/α.
    pub scales: [f32; 3],
}

static INFO: KindInfo = KindInfo {
    name: "bend_twist",
    arity: 2,
    orientations: 2,
    record_words: 12,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: Some(super::Measure::Rotation),
    compliance_unit: "rad²/J",
    shader: include_str!("../../shaders/constraints/bend_twist.wgsl"),
    function: Function::Components(evaluate),
    samples,
};

impl BendTwist {
    /// Two frames that are parallel at rest, with equal scales of 1.
    pub const fn new(orientations: [OrientationId; 2]) -> Self {
        let [a, b] = orientations;
        Self { entities: [a.0, b.0], rest: [0.0, 0.0, 0.0, 1.0], scales: [1.0; 3] }
    }

    /// The two orientations.
    pub fn orientations(&self) -> [OrientationId; 2] {
        self.entities.map(OrientationId)
    }

    /// s, the half of the rest rotation.
    fn half_rest(&self) -> [f32; 4] {
        let u = DQuat::from_array(self.rest.map(f64::from)).normalize();
        let u = if u.w < 0.0 { -u } else { u };
        let half = DQuat::from_xyzw(u.x, u.y, u.z, u.w + 1.0).normalize();
        half.to_array().map(|component| component as f32)
    }
}

impl Kind for BendTwist {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.entities
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.extend(bits(self.half_rest()));
        words.extend(bits(self.scales));
    }

    fn check(&self, index: usize) -> Result<()> {
        check_unit(|| format!("rest rotation of bend-twist {index}"), self.rest)?;
        for scale in self.scales {
            check_positive(&format!("scale of bend-twist {index}"), scale)?;
        }
        Ok(())
    }
}

/// `Ok` if a quaternion has the length 1, within 1e-3.
pub(crate) fn check_unit(what: impl Fn() -> String, quaternion: [f32; 4]) -> Result<()> {
    let length = DQuat::from_array(quaternion.map(f64::from)).length();
    if (0.999..=1.001).contains(&length) {
        Ok(())
    } else {
        Err(Error::invalid(format!("length of the {}", what()), length, "1, for a unit quaternion"))
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut ComponentGradients) -> Vec3 {
    let [x, y, z, w, s1, s2, s3] = [0, 1, 2, 3, 4, 5, 6].map(|index| f32::from_bits(parameters[index]));
    let (half, scales) = ((Vec3::new(x, y, z), w), [s1, s2, s3]);
    let a = product(unit_quaternion(p[0]), half);
    let b = product(unit_quaternion(p[1]), conjugate(half));
    let (v, w) = product(conjugate(a), b);
    let (v, w) = if w < 0.0 { (-v, -w) } else { (v, w) };
    let frame = axes(a);
    let across = (frame[0] * v.x + frame[1] * v.y) + frame[2] * v.z;
    let inverse = 1.0 / (2.0 + w);
    let (part, factors) = (v * inverse, Vec3::from(scales) * (3.0 * inverse));
    for (i, axis) in frame.into_iter().enumerate() {
        grad[1][i] = ((axis * w + across.cross(axis)) + across * part[i]) * factors[i];
        grad[0][i] = -grad[1][i];
    }
    v * 2.0 * factors
}

fn samples() -> Vec<Sample> {
    let straight = [0.0, 0.0, 0.0, 1.0];
    let positions = [[0.3, 0.1, -0.2], [0.1, 0.5, 0.2]];
    let with = |[x, y, z, w]: [f32; 4], [a, b, c]: [f32; 3]| [x, y, z, w, a, b, c];
    // Half of the rest rotation: 0.5 rad about x, so the rest rotation is 1 rad.
    let bent = [0.247_403_96, 0.0, 0.0, 0.968_912_4];
    vec![
        sample(with(straight, [1.0; 3]), &positions, &[[0.2, 0.0, 0.1], [0.2, 0.0, 0.1]]),
        // Parameters of 1 rad about x: tan(1/4).
        sample(with(bent, [1.0, 0.7, 1.3]), &positions, &[[0.0; 3], [0.255_341_92, 0.0, 0.0]]),
        // Through half a turn, where the quaternion changes its sign.
        sample(
            with(straight, [0.5, 0.5, 0.8]),
            &[[0.0, 0.95, 0.1], [0.1, -0.9, 0.3]],
            &[[0.6, -0.8, 0.0], [-0.6, 0.8, 0.0]],
        ),
    ]
}
