//! Cosine bend: three particles keep the angle at the middle one; without an arc cosine.
//!
//! C = a·b − cos φ₀ |a| |b|, a = x₀ − x₂, b = x₁ − x₂. The gradients are
//!
//! ∇₀C = b − cos φ₀ |b| a/|a|, ∇₁C = a − cos φ₀ |a| b/|b|, ∇₂C = −∇₀C − ∇₁C.
//!
//! This is the cheap angle constraint of the PBD literature, for ropes and for the lines of a grid. Compliance in m⁴/J.
//!
//! At φ₀ = π (straight) and φ₀ = 0 the gradient vanishes with C, so small bends are not resisted: C ≈ ½ |a| |b| δ² at
//! an angle of π − δ. If the stiffness of small bends matters, use [`super::Hinge`] or [`super::IsometricBend`].

use super::{Function, Kind, KindInfo, Sample, sample};
use crate::error::{Error, Result};
use crate::geometry::vector::{dot, length};
use glam::Vec3;

/// Keeps the angle at particle 2 between particles 0 and 1 at `rest_angle`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineBend {
    /// The two ends, then the middle.
    pub particles: [u32; 3],
    /// The rest angle φ₀ \[rad\]: 0 to π, π = straight.
    pub rest_angle: f32,
}

static INFO: KindInfo = KindInfo {
    name: "cosine_bend",
    arity: 3,
    orientations: 0,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: true,
    plastic: None,
    compliance_unit: "m⁴/J",
    shader: include_str!("../../shaders/constraints/cosine_bend.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl Kind for CosineBend {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.push((f64::from(self.rest_angle).cos() as f32).to_bits());
    }

    fn check(&self, index: usize) -> Result<()> {
        if (0.0..=std::f32::consts::PI).contains(&self.rest_angle) {
            return Ok(());
        }
        Err(Error::invalid(format!("rest angle of cosine bend {index}"), self.rest_angle, "0 to π"))
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let cosine = f32::from_bits(parameters[0]);
    let (a, b) = (p[0] - p[2], p[1] - p[2]);
    let (length_a, length_b) = (length(a), length(b));
    if length_a == 0.0 || length_b == 0.0 {
        grad[..3].fill(Vec3::ZERO);
        return 0.0;
    }
    grad[0] = b - a * (cosine * length_b / length_a);
    grad[1] = a - b * (cosine * length_a / length_b);
    grad[2] = -(grad[0] + grad[1]);
    dot(a, b) - cosine * length_a * length_b
}

fn samples() -> Vec<Sample> {
    let positions = [[1.0, 0.1, 0.2], [-0.3, 0.9, 0.1], [0.1, -0.1, 0.05]];
    let right = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0; 3]];
    let obtuse = [[1.0, 0.0, 0.0], [-0.5, 0.866_025_4, 0.0], [0.0; 3]];
    let straight = [[1.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0; 3]];
    vec![
        sample([0.0], &positions, &right),
        sample([-0.5], &positions, &obtuse),
        sample([-1.0], &[[1.0, 0.4, 0.0], [-1.1, 0.3, 0.3], [0.0; 3]], &straight),
    ]
}
