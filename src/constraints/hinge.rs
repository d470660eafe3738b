//! Hinge: two triangles that share an edge keep their dihedral angle.
//!
//! C = s (θ − θ₀). The dihedral angle θ is signed, and 0 if both triangles are coplanar. With e = x₁ − x₀,
//! n₂ = (x₂ − x₀) × (x₂ − x₁) and n₃ = (x₃ − x₁) × (x₃ − x₀) it is θ = atan2((n₃ × n₂)·e/|e|, n₂·n₃). Sources: Müller et
//! al. 2007, §4.2; Grinspun et al. 2003, *Discrete Shells*. Unlike the arc cosine of n₂·n₃, atan2 has a gradient at 0 and π. The
//! gradients (Bridson, Marino, Fedkiw 2003) are
//!
//! ∇₂θ = |e| n₂/|n₂|², ∇₃θ = |e| n₃/|n₃|², ∇₀θ = (x₂ − x₁)·ê n₂/|n₂|² + (x₃ − x₁)·ê n₃/|n₃|², ∇₁θ = −(x₂ − x₀)·ê
//! n₂/|n₂|² − (x₃ − x₀)·ê n₃/|n₃|².
//!
//! θ − θ₀ is wrapped to −π to π, so a hinge that is folded past ±π returns the short way. Compliance in rad²/J: the
//! inverse of the stiffness of a torsion spring. If a triangle has no area or the edge no length, the constraint does
//! not act.

use super::{Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Error, Result};
use crate::geometry::vector::{atan2, dot, length};
use glam::Vec3;
use std::f32::consts::{PI, TAU};

/// Keeps the dihedral angle of the triangles (0, 1, 2) and (1, 0, 3) at `rest_angle`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// The two ends of the edge, then the opposite vertex of each triangle.
    pub particles: [u32; 4],
    /// The rest angle θ₀ \[rad\]: −π to π, 0 = flat. Positive if the vertices 2 and 3 are folded towards the normal of
    /// triangle (0, 1, 2).
    pub rest_angle: f32,
    /// The scale s, positive: hinges of different stiffness can share a material. The energy is ½ s²/α (θ − θ₀)².
    pub scale: f32,
}

static INFO: KindInfo = KindInfo {
    name: "hinge",
    arity: 4,
    orientations: 0,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: true,
    plastic: Some(super::Measure::Angle),
    compliance_unit: "rad²/J",
    shader: include_str!("../../shaders/constraints/hinge.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl Hinge {
    /// A hinge with scale 1.
    pub const fn new(particles: [u32; 4], rest_angle: f32) -> Self {
        Self { particles, rest_angle, scale: 1.0 }
    }

    /// The dihedral angle \[rad\] of four points \[m\]; 0 if a triangle has no area.
    pub fn angle(positions: [[f32; 3]; 4]) -> f32 {
        evaluate(&bits([0.0, 1.0]), &positions.map(Vec3::from), &mut [Vec3::ZERO; 4])
    }
}

impl Kind for Hinge {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.extend(bits([self.rest_angle, self.scale]));
    }

    fn check(&self, index: usize) -> Result<()> {
        if (-PI..=PI).contains(&self.rest_angle) {
            return crate::error::check_positive(&format!("scale of hinge {index}"), self.scale);
        }
        Err(Error::invalid(format!("rest angle of hinge {index}"), self.rest_angle, "-π to π"))
    }
}

/// The least square of twice the area of a triangle that a hinge acts on \[m⁴\]: the gradient of smaller ones is beyond the range of
/// `f32`. Counterpart in `shaders/constraints/hinge.wgsl`.
const LEAST_SQUARE: f32 = 1e-30;

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let (rest_angle, scale) = (f32::from_bits(parameters[0]), f32::from_bits(parameters[1]));
    let e = p[1] - p[0];
    let (a0, a1, b0, b1) = (p[2] - p[0], p[2] - p[1], p[3] - p[0], p[3] - p[1]);
    let (n2, n3) = (a0.cross(a1), b1.cross(b0));
    let l = length(e);
    let (square2, square3) = (dot(n2, n2), dot(n3, n3));
    if l == 0.0 || !(square2 >= LEAST_SQUARE && square3 >= LEAST_SQUARE) {
        grad[..4].fill(Vec3::ZERO);
        return 0.0;
    }
    let direction = e / l;
    let angle = atan2(dot(n3.cross(n2), direction), dot(n2, n3));
    let (u2, u3) = (n2 * (scale / square2), n3 * (scale / square3));
    grad[0] = u2 * dot(a1, direction) + u3 * dot(b1, direction);
    grad[1] = -(u2 * dot(a0, direction) + u3 * dot(b0, direction));
    grad[2] = u2 * l;
    grad[3] = u3 * l;
    scale * wrapped(angle - rest_angle)
}

/// An angle between −3π and 3π, wrapped to −π to π.
pub(super) fn wrapped(angle: f32) -> f32 {
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}

fn samples() -> Vec<Sample> {
    let positions = [[0.1, 0.05, -0.1], [1.1, -0.1, 0.2], [0.4, 1.0, 0.5], [0.6, -0.9, 0.3]];
    // Folded by 90°, flat, and almost closed.
    let folded = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 0.0, 1.0]];
    let flat = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.3, -0.8, 0.0]];
    let closed = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 0.989_992_5, 0.141_12]];
    let sharp = [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.4, 0.9, -0.5]];
    vec![
        sample([PI / 2.0, 1.0], &positions, &folded),
        sample([0.0, 1.0], &positions, &flat),
        // Wrapped across ±π.
        sample([3.0, 0.5], &sharp, &closed),
    ]
}
