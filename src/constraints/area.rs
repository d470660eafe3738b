//! Area: a triangle keeps its area.
//!
//! C = A − A₀, A = ½ |(x₁ − x₀) × (x₂ − x₀)|. The gradients, with the unit normal n:
//!
//! ∇₁C = ½ (x₂ − x₀) × n, ∇₂C = ½ n × (x₁ − x₀), ∇₀C = −∇₁C − ∇₂C.
//!
//! Compliance in m⁴/J. If the triangle has no area, it has no normal, and the constraint does not act.

use super::{Function, Kind, KindInfo, Sample, sample};
use crate::error::Result;
use crate::geometry::vector::length;
use glam::Vec3;

/// Keeps the area of a triangle at `rest_area`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// The three particles.
    pub particles: [u32; 3],
    /// The rest area A₀ \[m²\]; positive.
    pub rest_area: f32,
}

static INFO: KindInfo = KindInfo {
    name: "area",
    arity: 3,
    orientations: 0,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: None,
    compliance_unit: "m⁴/J",
    shader: include_str!("../../shaders/constraints/area.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl Kind for Area {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.push(self.rest_area.to_bits());
    }

    fn check(&self, index: usize) -> Result<()> {
        crate::error::check_positive(&format!("rest area of area constraint {index}"), self.rest_area)
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let rest_area = f32::from_bits(parameters[0]);
    let (a, b) = (p[1] - p[0], p[2] - p[0]);
    let normal = a.cross(b);
    let double_area = length(normal);
    let half_n = if double_area > 0.0 { normal * (0.5 / double_area) } else { Vec3::ZERO };
    grad[1] = b.cross(half_n);
    grad[2] = half_n.cross(a);
    grad[0] = -(grad[1] + grad[2]);
    0.5 * double_area - rest_area
}

fn samples() -> Vec<Sample> {
    let positions = [[0.1, 0.2, 0.3], [1.4, -0.2, 0.5], [0.3, 1.2, -0.4]];
    let rest = [[0.0; 3], [1.0, 0.0, 0.0], [0.3, 1.0, 0.0]];
    vec![
        sample([0.5], &positions, &rest),
        sample([2.0], &positions, &[[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]),
        sample([0.02], &[[0.0; 3], [0.3, 0.01, 0.0], [0.1, 0.3, 0.1]], &[[0.0; 3], [0.2, 0.0, 0.0], [0.1, 0.2, 0.0]]),
    ]
}
