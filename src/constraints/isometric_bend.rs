//! Isometric bend: the bending energy of an inextensible sheet, quadratic in the positions.
//!
//! C = |s|, s = Σ kᵢ xᵢ over the four vertices of two triangles that share an edge; ∇ᵢC = kᵢ s/|s|. Each component of s
//! has its own multiplier (Bergou, Wardetzky, Harmon, Zorin, Grinspun 2006, *A Quadratic Bending Model for Inextensible
//! Surfaces*). The coefficients k follow from the cotangents of the rest shape:
//!
//! k₀ = cot 03 + cot 04, k₁ = cot 01 + cot 02, k₂ = −cot 01 − cot 03, k₃ = −cot 02 − cot 04.
//!
//! 01 and 03 are the angles of triangle (0, 1, 2) at vertices 0 and 1; 02 and 04 are those of triangle (1, 0, 3).
//!
//! For triangles of rest shape, |s| = 2 |e| sin(θ/2) with the edge e = x₁ − x₀ and the dihedral angle θ: |e| θ for
//! small θ. The rest shape is flat and the Hessian constant, so this kind is cheaper and more stable than
//! [`super::Hinge`]. Compliance in m²/J.

use super::{Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Error, Result};
use glam::{DVec3, Vec3};

/// Keeps the triangles (0, 1, 2) and (1, 0, 3) coplanar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IsometricBend {
    /// The two ends of the edge, then the opposite vertex of each triangle.
    pub particles: [u32; 4],
    /// k₀, k₁, k₂ of the [module documentation](super), dimensionless; k₃ = −k₀ − k₁ − k₂.
    pub coefficients: [f32; 3],
}

static INFO: KindInfo = KindInfo {
    name: "isometric_bend",
    arity: 4,
    orientations: 0,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: true,
    plastic: None,
    compliance_unit: "m²/J",
    shader: include_str!("../../shaders/constraints/isometric_bend.wgsl"),
    function: Function::Vector(evaluate),
    samples,
};

impl IsometricBend {
    /// Computes the coefficients from a rest shape \[m\]. The rest shape may be folded: only lengths and angles within
    /// each triangle are used.
    ///
    /// # Errors
    /// A triangle has no area.
    pub fn new(particles: [u32; 4], rest: [[f32; 3]; 4]) -> Result<Self> {
        let [x0, x1, x2, x3] = rest.map(|x| Vec3::from(x).as_dvec3());
        let cotangent = |at: DVec3, a: DVec3, b: DVec3| (a - at).dot(b - at) / (a - at).cross(b - at).length();
        let [c01, c02, c03, c04] =
            [cotangent(x0, x1, x2), cotangent(x0, x1, x3), cotangent(x1, x0, x2), cotangent(x1, x0, x3)];
        let coefficients = [c03 + c04, c01 + c02, -c01 - c03].map(|k| k as f32);
        if let Some(k) = coefficients.into_iter().find(|k| !k.is_finite()) {
            let what = format!("cotangent in an isometric bend of particles {particles:?}");
            return Err(Error::invalid(what, k, "finite: both triangles must have an area"));
        }
        Ok(Self { particles, coefficients })
    }

    /// Multiplies C by `scale`: bends of different stiffness can share a material.
    pub fn scaled(self, scale: f32) -> Self {
        Self { coefficients: self.coefficients.map(|k| k * scale), ..self }
    }
}

impl Kind for IsometricBend {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.extend(bits(self.coefficients));
    }

    fn check(&self, index: usize) -> Result<()> {
        match self.coefficients.into_iter().find(|k| !(-1e12..=1e12).contains(k)) {
            None => Ok(()),
            Some(k) => Err(Error::invalid(format!("coefficient of isometric bend {index}"), k, "-1e12 to 1e12")),
        }
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], k: &mut [f32]) -> Vec3 {
    let [k0, k1, k2] = [0, 1, 2].map(|index| f32::from_bits(parameters[index]));
    let k3 = -(k0 + k1 + k2);
    k.copy_from_slice(&[k0, k1, k2, k3]);
    // Relative to p[0], whose own term is then 0.
    (p[1] - p[0]) * k1 + (p[2] - p[0]) * k2 + (p[3] - p[0]) * k3
}

fn samples() -> Vec<Sample> {
    let positions = [[0.1, 0.05, -0.1], [1.1, -0.1, 0.2], [0.4, 1.0, 0.5], [0.6, -0.9, 0.3]];
    let rests = [
        [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, -1.0, 0.0]],
        [[0.0; 3], [1.0, 0.0, 0.0], [0.4, 0.9, 0.0], [0.7, -0.6, 0.0]],
        [[0.0; 3], [2.0, 0.0, 0.0], [0.1, 1.0, 0.0], [1.2, -0.5, 0.0]],
    ];
    let built = rests.map(|rest| (rest, IsometricBend::new([0, 1, 2, 3], rest)));
    built.into_iter().filter_map(|(rest, bend)| Some(sample(bend.ok()?.coefficients, &positions, &rest))).collect()
}
