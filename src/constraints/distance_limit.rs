//! Distance limit: an upper or lower bound on the distance of two particles.
//!
//! C = s (|x₀ − x₁| − L) ≤ 0, ∇₀C = s n, ∇₁C = −s n, n as in [`super::Distance`]. The sign s is 1 for [`Limit::AtMost`]
//! and −1 for [`Limit::AtLeast`]. λ stays at or below 0, so a satisfied constraint does not act. With a
//! damping time τ the force begins where C + τ dC/dt = 0. Compliance in m/N.
//!
//! Examples:
//!
//! - A cord without compression stiffness: an upper limit at its rest length.
//! - A strut without tension stiffness: a lower limit at its rest length.
//! - Slack: both limits.
//! - The stretch limit of cloth (Provot 1995): a rigid upper limit at 1.1 times the rest length. This kind is projected
//!   last, after all soft constraints.

use super::distance::span;
use super::{Function, Kind, KindInfo, Sample, sample};
use crate::error::{Result, check_non_negative, check_positive};
use glam::Vec3;

/// Keeps the distance of two particles at most, or at least, at `length`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceLimit {
    /// The two particles.
    pub particles: [u32; 2],
    /// The limit L \[m\]. Positive, or 0 for [`Limit::AtMost`], which keeps both particles at one position.
    pub length: f32,
    /// The side of the limit: upper or lower.
    pub limit: Limit,
}

/// The direction of a distance limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// l ≤ L: resists stretch beyond L only.
    AtMost,
    /// l ≥ L: resists compression below L only.
    AtLeast,
}

static INFO: KindInfo = KindInfo {
    name: "distance_limit",
    arity: 2,
    orientations: 0,
    record_words: 4,
    unit_gradients: true,
    unilateral: true,
    over_relaxed: false,
    plastic: None,
    compliance_unit: "m/N",
    shader: include_str!("../../shaders/constraints/distance_limit.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl Kind for DistanceLimit {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    /// The sign of the length encodes the limit, so a record has four words.
    fn write_parameters(&self, words: &mut Vec<u32>) {
        let signed = match self.limit {
            Limit::AtMost => self.length,
            Limit::AtLeast => -self.length,
        };
        words.push(signed.to_bits());
    }

    fn check(&self, index: usize) -> Result<()> {
        let what = format!("length of distance limit {index}");
        match self.limit {
            Limit::AtMost => check_non_negative(&what, self.length),
            // A lower limit of 0 has no effect and no sign.
            Limit::AtLeast => check_positive(&what, self.length),
        }
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let limit = f32::from_bits(parameters[0]);
    let (length, n) = span(p);
    let n = if limit < 0.0 { -n } else { n };
    grad[0] = n;
    grad[1] = -n;
    if limit < 0.0 { -limit - length } else { length - limit }
}

fn samples() -> Vec<Sample> {
    // Broken, so that they act.
    vec![
        sample([1.0], &[[0.1, 0.2, -0.3], [1.3, -0.7, 0.4]], &[[0.0; 3], [0.0, 1.0, 0.0]]),
        sample([-2.5], &[[-1.0, 0.0, 0.5], [0.5, 1.0, 0.25]], &[[0.0; 3], [0.0, 2.5, 0.0]]),
        sample([0.25], &[[3.0, 4.0, 5.0], [3.2, 4.1, 4.7]], &[[0.0; 3], [0.0, 0.25, 0.0]]),
    ]
}
