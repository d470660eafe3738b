//! Stretch and shear of a rod segment: two particles and the frame between them.
//!
//! The strain is Γ = Rᵀ (x₁ − x₀)/l − e₃ with the rest length l and the frame R = (d₁, d₂, d₃). Γ₁ and Γ₂ shear the
//! segment across its frame, Γ₃ stretches it. Source: Kugelstadt, Schömer 2016, *Position and Orientation Based Cosserat
//! Rods*, eq. 27, here in the axes of the frame. C has the components Cᵢ = sᵢ Γᵢ, each with a multiplier, and
//!
//! ∇₁Cᵢ = sᵢ dᵢ/l, ∇₀Cᵢ = −∇₁Cᵢ, ∇_R Cᵢ = sᵢ dᵢ × (x₁ − x₀)/l,
//!
//! where ∇_R is with respect to a rotation vector in the axes of the world.
//!
//! The energy is ½ l (GA (Γ₁² + Γ₂²) + EA Γ₃²) for α = 1/(EA l) \[1/J\], s = (√(GA/EA), √(GA/EA), 1).

use super::OrientationId;
use super::{ComponentGradients, Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Result, check_positive};
use crate::geometry::rotation::{axes, unit_quaternion};
use crate::geometry::vector::dot;
use glam::Vec3;

/// Keeps the line between two particles along the axis d₃ of a frame, at its rest length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StretchShear {
    /// Particles, orientation.
    entities: [u32; 3],
    /// The rest length l \[m\]; positive.
    pub rest_length: f32,
    /// The scales s of the shear along d₁ and d₂, and of the stretch along d₃; positive. The energy is ½ Σ sᵢ² Γᵢ²/α.
    pub scales: [f32; 3],
}

static INFO: KindInfo = KindInfo {
    name: "stretch_shear",
    arity: 3,
    orientations: 1,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: Some(super::Measure::Stretch),
    compliance_unit: "1/J",
    shader: include_str!("../../shaders/constraints/stretch_shear.wgsl"),
    function: Function::Components(evaluate),
    samples,
};

impl StretchShear {
    /// A segment between two particles with the frame of an orientation, with equal scales of 1.
    pub const fn new(particles: [u32; 2], orientation: OrientationId, rest_length: f32) -> Self {
        let [a, b] = particles;
        Self { entities: [a, b, orientation.0], rest_length, scales: [1.0; 3] }
    }

    /// The two particles.
    pub fn particles(&self) -> [u32; 2] {
        [self.entities[0], self.entities[1]]
    }

    /// The orientation.
    pub fn orientation(&self) -> OrientationId {
        OrientationId(self.entities[2])
    }
}

impl Kind for StretchShear {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.entities
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        let [s1, s2, s3] = self.scales;
        words.extend(bits([1.0 / self.rest_length, s1, s2, s3]));
    }

    fn check(&self, index: usize) -> Result<()> {
        check_positive(&format!("rest length of stretch-shear {index}"), self.rest_length)?;
        check_positive(&format!("inverse rest length of stretch-shear {index}"), 1.0 / self.rest_length)?;
        for scale in self.scales {
            check_positive(&format!("scale of stretch-shear {index}"), scale)?;
        }
        Ok(())
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut ComponentGradients) -> Vec3 {
    let [inverse_length, s1, s2, s3] = [0, 1, 2, 3].map(|index| f32::from_bits(parameters[index]));
    let scales = [s1, s2, s3];
    let t = (p[1] - p[0]) * inverse_length;
    let frame = axes(unit_quaternion(p[2]));
    let strain = Vec3::new(dot(frame[0], t), dot(frame[1], t), dot(frame[2], t) - 1.0);
    for (i, axis) in frame.into_iter().enumerate() {
        grad[1][i] = axis * (scales[i] * inverse_length);
        grad[0][i] = -grad[1][i];
        grad[2][i] = axis.cross(t) * scales[i];
    }
    strain * Vec3::from(scales)
}

fn samples() -> Vec<Sample> {
    let positions = [[0.1, -0.2, 0.3], [0.6, 0.9, 0.5], [0.3, 0.1, -0.2]];
    vec![
        sample([1.0, 1.0, 1.0, 1.0], &positions, &[[0.0; 3], [0.0, 0.0, 1.0], [0.0; 3]]),
        sample([2.0, 0.6, 0.6, 1.0], &positions, &[[0.1, 0.2, 0.3], [0.6, 0.2, 0.3], [0.0, 0.414_213_56, 0.0]]),
        // A frame turned by more than 180°: |m| > 1.
        sample(
            [0.8, 0.5, 0.7, 1.2],
            &[[0.1, 0.2, 0.0], [-0.9, 0.3, 0.8], [0.9, -0.6, 0.4]],
            &[[0.0; 3], [0.0, 0.0, -1.25], [1.0, 0.0, 0.0]],
        ),
    ]
}
