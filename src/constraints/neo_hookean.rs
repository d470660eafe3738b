//! Neo-Hookean: a tetrahedron resists distortion; with [`super::Volume`] a stable neo-Hookean solid.
//!
//! C = s √(I_C + J² − 4 J) with I_C = tr FᵀF and J = det F. F = [a b c] B with the edges a = x₁ − x₀, b = x₂ − x₀ and
//! c = x₃ − x₀. B is the inverse of the rest edges, s = √V₀ the root of the rest volume.
//!
//! Macklin and Müller 2021, *A Constraint-based Formulation of Stable Neo-Hookean Materials*, take C_H = J − 1 − μ/λ' and
//! C_D = √I_C. Their energy per volume is ½ λ' C_H² + ½ μ I_C. Its linear elasticity has the Lamé parameter λ = λ' − μ. Up
//! to a constant, it equals
//!
//! ½ μ (I_C + J² − 4 J) + ½ λ (J − 1)².
//!
//! Both terms are at least 0 (for the first, the means of s₁², s₂², s₃², J²), and both vanish at rest. Nothing has to
//! cancel, so one sweep leaves a body at rest, however stiff. In small strains e the first is μ e:e. The second is a
//! `Volume` constraint of compliance V₀/λ. The compliance of this kind is 1/μ \[1/Pa\].
//!
//! With the Green strain E, its invariants II and III, and Cof F = J F⁻ᵀ:
//!
//! (C/s)² = 2 (J − 1)² − 4 II − 8 III,
//!
//! ∂C/∂F = s² P/C, P = 2 (J − 1) Cof F − F (2 (tr E I − E) + 4 adj E).
//!
//! No term is larger than a strain, so rounding errors stay proportional to the strain. The gradients are
//! \[∇₁C ∇₂C ∇₃C\] = ∂C/∂F Bᵀ, ∇₀C = −∇₁C − ∇₂C − ∇₃C. At C = 0 they do not exist, and the constraint does not act.
//! C = 0 at rest, and also if all four particles coincide; there J = 0, and `Volume` has no gradient either.
//!
//! Flat (J = 0) and inverted (J < 0) tetrahedra are pushed back to positive volume.

use super::{Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Error, Result};
use crate::geometry::vector::dot;
use glam::{DMat3, DVec3, Vec3};

/// Resists distortion of a tetrahedron: the deviatoric part of a stable neo-Hookean solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeoHookean {
    /// The four particles, ordered so that (x₁ − x₀)·((x₂ − x₀) × (x₃ − x₀)) is positive at rest.
    pub particles: [u32; 4],
    /// The rows of B \[1/m\], the inverse of the matrix with the columns x₁ − x₀, x₂ − x₀, x₃ − x₀ at rest.
    pub rest_inverse: [[f32; 3]; 3],
    /// s \[m^1.5\], the root of the rest volume; positive.
    pub scale: f32,
}

static INFO: KindInfo = KindInfo {
    name: "neo_hookean",
    arity: 4,
    orientations: 0,
    record_words: 16,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: None,
    compliance_unit: "m³/J = 1/Pa",
    shader: include_str!("../../shaders/constraints/neo_hookean.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl NeoHookean {
    /// Computes B and s from a rest shape \[m\].
    ///
    /// # Errors
    /// The rest volume is not positive, or a coefficient is not finite.
    pub fn new(particles: [u32; 4], rest: [[f32; 3]; 4]) -> Result<Self> {
        let [x0, x1, x2, x3] = rest.map(|x| DVec3::from(x.map(f64::from)));
        let edges = DMat3::from_cols(x1 - x0, x2 - x0, x3 - x0);
        let volume = edges.determinant() / 6.0;
        let what = || format!("a neo-Hookean tetrahedron of particles {particles:?}");
        crate::error::check_positive(&format!("volume of {}", what()), volume as f32)?;
        let rest_inverse = edges.inverse().transpose().to_cols_array_2d().map(|row| row.map(|b| b as f32));
        let tetrahedron = Self { particles, rest_inverse, scale: volume.sqrt() as f32 };
        tetrahedron.check_named(what)?;
        Ok(tetrahedron)
    }

    /// Multiplies C by `factor`: tetrahedra of different stiffness can share a material.
    pub fn scaled(self, factor: f32) -> Self {
        Self { scale: self.scale * factor, ..self }
    }

    fn check_named(&self, what: impl Fn() -> String) -> Result<()> {
        if let Some(b) = self.rest_inverse.into_iter().flatten().find(|b| !(-1e12..=1e12).contains(b)) {
            return Err(Error::invalid(format!("inverse rest edge of {}", what()), b, "-1e12 to 1e12"));
        }
        crate::error::check_positive(&format!("scale of {}", what()), self.scale)
    }

    fn parameters(&self) -> [f32; 10] {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.rest_inverse;
        [a, b, c, d, e, f, g, h, i, self.scale]
    }
}

impl Kind for NeoHookean {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        words.extend(bits(self.parameters()));
    }

    fn check(&self, index: usize) -> Result<()> {
        self.check_named(|| format!("neo-Hookean tetrahedron {index}"))
    }
}

/// Strains below this bound have J − 1 by the invariants of the strain, which has a smaller rounding error.
const SMALL: f32 = 0.25;

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let m: [f32; 10] = std::array::from_fn(|index| f32::from_bits(parameters[index]));
    let (a, b, c) = (p[1] - p[0], p[2] - p[0], p[3] - p[0]);
    let [f0, f1, f2] = [0, 1, 2].map(|j| a * m[j] + b * m[3 + j] + c * m[6 + j]);
    // E: its diagonal, and its elements yz, zx, xy. The same for adj E.
    let diagonal = (Vec3::new(dot(f0, f0), dot(f1, f1), dot(f2, f2)) - 1.0) * 0.5;
    let beside = Vec3::new(dot(f1, f2), dot(f2, f0), dot(f0, f1)) * 0.5;
    let adjugate = yzx(diagonal) * zxy(diagonal) - beside * beside;
    let adjugate_beside = yzx(beside) * zxy(beside) - diagonal * beside;
    let trace = diagonal.x + diagonal.y + diagonal.z;
    let second = adjugate.x + adjugate.y + adjugate.z;
    let third =
        dot(Vec3::new(diagonal.x, beside.z, beside.y), Vec3::new(adjugate.x, adjugate_beside.z, adjugate_beside.y));
    let higher = 4.0 * second + 8.0 * third;
    let (c0, c1, c2) = (f1.cross(f2), f2.cross(f0), f0.cross(f1));
    let j = dot(f0, c0);
    let largest = diagonal.x.abs().max(diagonal.y.abs()).max(diagonal.z.abs());
    // J² − 1 = 2 tr E + 4 II + 8 III.
    let dilation = if j > 0.0 && largest < SMALL { (2.0 * trace + higher) / (1.0 + j) } else { j - 1.0 };
    let square = 2.0 * dilation * dilation - higher;
    if square.is_nan() || square <= 0.0 {
        grad[..4].fill(Vec3::ZERO);
        return 0.0;
    }
    let distortion = square.sqrt();
    let s = (Vec3::splat(trace) - diagonal) * 2.0 + adjugate * 4.0;
    let t = adjugate_beside * 4.0 - beside * 2.0;
    let (k, scale) = (2.0 * dilation, m[9] / distortion);
    let p0 = (c0 * k - (f0 * s.x + f1 * t.z + f2 * t.y)) * scale;
    let p1 = (c1 * k - (f0 * t.z + f1 * s.y + f2 * t.x)) * scale;
    let p2 = (c2 * k - (f0 * t.y + f1 * t.x + f2 * s.z)) * scale;
    for row in 0..3 {
        grad[row + 1] = p0 * m[3 * row] + p1 * m[3 * row + 1] + p2 * m[3 * row + 2];
    }
    grad[0] = -(grad[1] + grad[2] + grad[3]);
    m[9] * distortion
}

fn yzx(v: Vec3) -> Vec3 {
    Vec3::new(v.y, v.z, v.x)
}

fn zxy(v: Vec3) -> Vec3 {
    Vec3::new(v.z, v.x, v.y)
}

fn samples() -> Vec<Sample> {
    // A regular tetrahedron.
    let regular = [[0.5, 0.5, 0.5], [-0.5, 0.5, -0.5], [0.5, -0.5, -0.5], [-0.5, -0.5, 0.5]];
    let corner = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let stretched = [[0.53, 0.45, 0.52], [-0.46, 0.54, -0.5], [0.56, -0.5, -0.48], [-0.52, -0.5, 0.54]];
    let moved = [[0.02, 0.01, -0.03], [1.08, -0.04, 0.03], [0.06, 0.95, 0.04], [-0.03, 0.06, 1.04]];
    let cases = [(regular, stretched), (corner, moved), (regular, regular.map(|x| x.map(|x| 1.1 * x)))];
    let built = cases.map(|(rest, positions)| (rest, positions, NeoHookean::new([0, 1, 2, 3], rest)));
    let make = |(rest, positions, built): ([[f32; 3]; 4], [[f32; 3]; 4], Result<NeoHookean>)| {
        Some(sample(built.ok()?.parameters(), &positions, &rest))
    };
    built.into_iter().filter_map(make).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C² from the definition, and ∂(C²/2)/∂F, in f64.
    fn by_definition(f: DMat3) -> (f64, DMat3) {
        let j = f.determinant();
        let (a, b, c) = (f.x_axis, f.y_axis, f.z_axis);
        let cofactor = DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b));
        let square = [a, b, c].map(DVec3::length_squared).iter().sum::<f64>() + j * j - 4.0 * j;
        (square, f + cofactor * (j - 2.0))
    }

    #[test]
    fn c_and_its_gradient_follow_the_definition_for_stretched_flat_and_inverted_tetrahedra() {
        let rest = [[0.0f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let parameters = bits(NeoHookean::new([0, 1, 2, 3], rest).unwrap().parameters());
        let scale = 1.0 / 6f64.sqrt();
        let turn = DMat3::from_rotation_x(0.4) * DMat3::from_rotation_z(1.1);
        for stretches in [
            [1.5, 0.9, 0.7],
            [1.001, 0.999, 1.0005],
            [1.0, 1.0, 0.0],
            [1.0, 1.0, -1.0],
            [-1.0, -1.0, -1.0],
            [0.3, 2.0, -0.5],
            [4.0, 0.5, 0.5],
        ] {
            let f = turn * DMat3::from_diagonal(DVec3::from(stretches)) * DMat3::from_rotation_y(0.3);
            let p = [DVec3::ZERO, f.x_axis, f.y_axis, f.z_axis].map(|x| x.as_vec3());
            let mut grad = [Vec3::NAN; 4];
            let c = evaluate(&parameters, &p, &mut grad);
            let (square, force) = by_definition(f);
            assert!((f64::from(c) / (scale * square.sqrt()) - 1.0).abs() < 1e-3, "{stretches:?}: {c}");
            let expected = [force.x_axis, force.y_axis, force.z_axis].map(|column| column * scale / square.sqrt());
            for (grad, expected) in grad[1..].iter().zip(expected) {
                assert!(grad.as_dvec3().distance(expected) < 1e-3, "{stretches:?}: {grad} of {expected}");
            }
        }
    }

    /// ½ μ C² + ½ λ (J − 1)² is the energy of Macklin and Müller with λ' = λ + μ, up to a constant.
    #[test]
    fn the_energy_is_that_of_the_paper() {
        let (mu, lambda) = (3.0, 7.0);
        let corrected = lambda + mu;
        let difference = |f: DMat3| {
            let (square, _) = by_definition(f);
            let j = f.determinant();
            let invariant: f64 = f.to_cols_array().iter().map(|x| x * x).sum();
            let paper = 0.5 * mu * invariant + 0.5 * corrected * (j - 1.0 - mu / corrected).powi(2);
            paper - 0.5 * mu * square - 0.5 * lambda * (j - 1.0).powi(2)
        };
        let at_rest = difference(DMat3::IDENTITY);
        for stretches in [[1.5, 0.9, 0.7], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0], [0.3, 2.0, -0.5]] {
            let f = DMat3::from_rotation_x(0.4) * DMat3::from_diagonal(DVec3::from(stretches));
            assert!((difference(f) - at_rest).abs() < 1e-9, "{stretches:?}");
        }
    }
}
