//! Volume: a tetrahedron keeps its volume.
//!
//! C = V − V₀ with V = ⅙ a·(b × c), a = x₁ − x₀, b = x₂ − x₀, c = x₃ − x₀ (Müller et al. 2007, §4.3, there for 6 V).
//! The gradients are
//!
//! ∇₁C = ⅙ b × c, ∇₂C = ⅙ c × a, ∇₃C = ⅙ a × b, ∇₀C = −∇₁C − ∇₂C − ∇₃C.
//!
//! V is signed, so an inverted tetrahedron (V < 0) is pushed back to positive volume. Compliance in m⁶/J: α = V₀/K for
//! a bulk modulus K \[Pa\].

use super::{Function, Kind, KindInfo, Sample, sample};
use crate::error::Result;
use crate::geometry::vector::dot;
use glam::Vec3;

/// Keeps the volume of a tetrahedron at `rest_volume`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Volume {
    /// The four particles, ordered so that (x₁ − x₀)·((x₂ − x₀) × (x₃ − x₀)) is positive at rest.
    pub particles: [u32; 4],
    /// The rest volume V₀ \[m³\]; positive.
    pub rest_volume: f32,
}

static INFO: KindInfo = KindInfo {
    name: "volume",
    arity: 4,
    orientations: 0,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: None,
    compliance_unit: "m⁶/J",
    shader: include_str!("../../shaders/constraints/volume.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl Volume {
    /// The signed volume \[m³\] of four points \[m\].
    pub fn of(positions: [[f32; 3]; 4]) -> f32 {
        evaluate(&[0], &positions.map(Vec3::from), &mut [Vec3::ZERO; 4])
    }
}

impl Kind for Volume {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.push(self.rest_volume.to_bits());
    }

    fn check(&self, index: usize) -> Result<()> {
        crate::error::check_positive(&format!("rest volume of volume constraint {index}"), self.rest_volume)
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let rest_volume = f32::from_bits(parameters[0]);
    let (a, b, c) = (p[1] - p[0], p[2] - p[0], p[3] - p[0]);
    let sixth = 1.0 / 6.0;
    grad[1] = b.cross(c) * sixth;
    grad[2] = c.cross(a) * sixth;
    grad[3] = a.cross(b) * sixth;
    grad[0] = -(grad[1] + grad[2] + grad[3]);
    dot(a, grad[1]) - rest_volume
}

fn samples() -> Vec<Sample> {
    let positions = [[0.1, 0.2, 0.3], [1.4, -0.2, 0.5], [0.3, 1.2, -0.4], [0.2, 0.4, 1.5]];
    let corner = |edge: f32| [[0.0; 3], [edge, 0.0, 0.0], [0.0, edge, 0.0], [0.0, 0.0, edge]];
    // The last one is inverted.
    let inverted = [positions[0], positions[2], positions[1], positions[3]];
    vec![
        sample([1.0 / 6.0], &positions, &corner(1.0)),
        sample([0.5625], &positions, &corner(1.5)),
        sample([1.0 / 6.0], &inverted, &corner(1.0)),
    ]
}
