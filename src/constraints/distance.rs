//! Distance: two particles keep their distance.
//!
//! C = |x₀ − x₁| − L₀, ∇₀C = n = (x₀ − x₁)/|x₀ − x₁|, ∇₁C = −n (Müller et al. 2007, §4.1). Compliance in m/N: the
//! inverse of the stiffness of a spring.
//!
//! If both particles coincide, n = 0 and the constraint does not act. L₀ = 0 welds or sews two particles together; within a tree
//! (`src/schedule/trees.rs`) it acts with all three components, also where they coincide.

use super::{Function, Kind, KindInfo, Sample, sample};
use crate::error::Result;
use glam::Vec3;

/// Keeps two particles at the distance `rest_length`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// The two particles.
    pub particles: [u32; 2],
    /// The rest length L₀ \[m\]; at 0 both particles coincide.
    pub rest_length: f32,
}

static INFO: KindInfo = KindInfo {
    name: "distance",
    arity: 2,
    orientations: 0,
    record_words: 4,
    unit_gradients: true,
    unilateral: false,
    over_relaxed: false,
    plastic: Some(super::Measure::Length),
    compliance_unit: "m/N",
    shader: include_str!("../../shaders/constraints/distance.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl Kind for Distance {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.push(self.rest_length.to_bits());
    }

    fn check(&self, index: usize) -> Result<()> {
        crate::error::check_non_negative(&format!("rest length of distance constraint {index}"), self.rest_length)
    }
}

/// True if the rest length is 0: both particles are one point.
pub(crate) fn is_weld(parameters: &[u32]) -> bool {
    f32::from_bits(parameters[0]) == 0.0
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let rest_length = f32::from_bits(parameters[0]);
    let (length, n) = span(p);
    grad[0] = n;
    grad[1] = -n;
    length - rest_length
}

/// The distance of two points, and the unit vector from the second to the first; 0 if they coincide.
pub(super) fn span(p: &[Vec3]) -> (f32, Vec3) {
    let difference = p[0] - p[1];
    let length = crate::geometry::vector::length(difference);
    (length, if length > 0.0 { difference / length } else { Vec3::ZERO })
}

fn samples() -> Vec<Sample> {
    let rest = |length: f32| [[0.0; 3], [0.0, length, 0.0]];
    vec![
        sample([1.0], &[[0.1, 0.2, -0.3], [1.3, -0.7, 0.4]], &rest(1.0)),
        sample([2.5], &[[-1.0, 0.0, 0.5], [0.5, 1.0, 0.25]], &rest(2.5)),
        sample([0.5], &[[3.0, 4.0, 5.0], [3.2, 4.1, 4.7]], &rest(0.5)),
    ]
}
