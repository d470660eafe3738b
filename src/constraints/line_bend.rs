//! Line bend: three particles keep a straight line.
//!
//! C = s |t|, t = (x₀ − x₂)/a + (x₁ − x₂)/b. The vector t is the change of the unit tangent at the middle particle x₂,
//! between segments of rest lengths a and b. The gradients are ∇₀C = s t̂/a, ∇₁C = s t̂/b, ∇₂C = −∇₀C − ∇₁C. Each component of t has its
//! own multiplier.
//!
//! For segments of rest length, C = 2 s sin(δ/2) with the turning angle δ: s δ for small δ. It is the second difference
//! along a curve, as [`super::IsometricBend`] is the Laplacian of a surface (Bergou et al. 2006). The energy is that of
//! a discrete elastic rod without twist, to lowest order (Bergou et al. 2008, eq. 1).
//!
//! Compliance in rad²/J: α = (a + b)/(2 EI) for a rod of flexural rigidity EI [N m²] at s = 1.

use super::{Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Result, check_positive};
use glam::Vec3;

/// Keeps particle 2 on the line between particles 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineBend {
    /// The two ends, then the middle.
    pub particles: [u32; 3],
    /// The rest lengths a and b from the middle to each end \[m\]; positive.
    pub lengths: [f32; 2],
    /// The scale s, positive: bends of different stiffness can share a material. The energy is ½ s²/α |t|².
    pub scale: f32,
}

static INFO: KindInfo = KindInfo {
    name: "line_bend",
    arity: 3,
    orientations: 0,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: true,
    plastic: None,
    compliance_unit: "rad²/J",
    shader: include_str!("../../shaders/constraints/line_bend.wgsl"),
    function: Function::Vector(evaluate),
    samples,
};

impl Kind for LineBend {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.extend(bits(self.lengths.map(|length| self.scale / length)));
    }

    fn check(&self, index: usize) -> Result<()> {
        for length in self.lengths {
            check_positive(&format!("length of line bend {index}"), length)?;
            check_positive(&format!("scale over length of line bend {index}"), self.scale / length)?;
        }
        check_positive(&format!("scale of line bend {index}"), self.scale)
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], k: &mut [f32]) -> Vec3 {
    let [k0, k1] = [0, 1].map(|index| f32::from_bits(parameters[index]));
    k.copy_from_slice(&[k0, k1, -(k0 + k1)]);
    (p[0] - p[2]) * k0 + (p[1] - p[2]) * k1
}

fn samples() -> Vec<Sample> {
    let positions = [[1.0, 0.1, 0.2], [-0.9, 0.3, 0.1], [0.1, -0.1, 0.05]];
    vec![
        sample([1.0, 1.0], &positions, &[[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0; 3]]),
        sample([2.0, 1.0], &positions, &[[0.5, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0; 3]]),
        sample([0.3, 0.6], &positions, &[[0.0, 2.0, 0.0], [0.0, -1.0, 0.0], [0.0; 3]]),
    ]
}
