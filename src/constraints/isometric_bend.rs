//! Isometric bend: the bending energy of a sheet that does not stretch, quadratic in the positions.
//!
//! C = |s|, s = Σ kᵢ xᵢ over the four vertices of two triangles that share an edge, k being the cotangents of the rest shape;
//! ∇ᵢC = kᵢ s/|s|, each component of s with a multiplier of its own (Bergou, Wardetzky, Harmon, Zorin, Grinspun 2006, *A Quadratic Bending Model for Inextensible Surfaces*).
//! With e = x₁ − x₀ the edge and cot(a, b) of the rest triangles' angles between edges,
//!
//! k₀ = cot 03 + cot 04, k₁ = cot 01 + cot 02, k₂ = −cot 01 − cot 03, k₃ = −cot 02 − cot 04,
//!
//! 01 and 03 being the angles of triangle (0, 1, 2) at the vertices 0 and 1, 02 and 04 those of triangle (1, 0, 3). For flat
//! triangles of the rest lengths |s| = 2 |e| sin(θ/2), θ being the dihedral angle: |e| θ where θ is small. The rest shape is flat,
//! and the Hessian constant: cheaper and steadier than a [`super::Hinge`]. Compliance in m²/J.

use super::{Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Error, Result};
use glam::{DVec3, Vec3};

/// The triangles (0, 1, 2) and (1, 0, 3) stay in one plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IsometricBend {
    /// The two ends of the edge, then the vertex that faces it on either side.
    pub particles: [u32; 4],
    /// k₀, k₁, k₂ of the [module documentation](super), dimensionless; k₃ = −k₀ − k₁ − k₂.
    pub coefficients: [f32; 3],
}

static INFO: KindInfo = KindInfo {
    name: "isometric_bend",
    arity: 4,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    compliance_unit: "m²/J",
    shader: include_str!("../../shaders/constraints/isometric_bend.wgsl"),
    function: Function::Vector(evaluate),
    samples,
};

impl IsometricBend {
    /// The coefficients of two triangles whose rest shape \[m\] is given; it may be folded, only lengths and angles within a
    /// triangle count.
    ///
    /// # Errors
    /// Both triangles must have an area.
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

    /// C times `scale`: lets bends of different stiffness share a material.
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
    // In the frame of p[0], where its own term is nothing.
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
