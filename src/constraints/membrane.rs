//! Membrane: a triangle of a sheet resists a component of its in-plane strain.
//!
//! C = s w : E with the Green strain E = ½ (FᵀF − I), F = [a b] B, a = x₁ − x₀, b = x₂ − x₀. B is the inverse of the
//! rest edges in material coordinates (warp u, weft v), w a symmetric weight and s = √A the root of the rest area. C is
//! linear in the products of the edges, so a record holds the symmetric matrix m = s B w Bᵀ and C₀ = ½ s tr w:
//!
//! C = ½ (m₁₁ a·a + 2 m₁₂ a·b + m₂₂ b·b) − C₀,
//!
//! ∇₁C = m₁₁ a + m₁₂ b, ∇₂C = m₁₂ a + m₂₂ b, ∇₀C = −∇₁C − ∇₂C.
//!
//! The strain energy of an orthotropic St. Venant-Kirchhoff sheet, ½ A ε·K ε with ε = (E_uu, E_vv, 2 E_uv), is a sum of
//! three such constraints per triangle, by the factors K = L D Lᵀ:
//!
//! | C | compliance | |
//! |---|---|---|
//! | √A (E_uu + ν_vu E_vv) | (1 − ν_uv ν_vu)/E_u | warp, and weft by the Poisson ratio ν_vu = ν_uv E_v/E_u |
//! | √A E_vv | 1/E_v | weft |
//! | √A 2 E_uv | 1/G | shear |
//!
//! [`crate::Orthotropic`] has the moduli in N/m; the compliance is in m/N. Volino, Magnenat-Thalmann, Faure 2009, *A Simple
//! Approach to Nonlinear Tensile Stiffness for Accurate Cloth Simulation*, use the same strain of linear triangles.
//!
//! The second Piola-Kirchhoff tension is linear in E. Against compression the force is greatest at a stretch of 1/√3 and
//! vanishes with the length. If both edges are 0, ∇C is 0 and the constraint does not act.

use super::{Function, Kind, KindInfo, Sample, bits, sample};
use crate::error::{Error, Result};
use crate::geometry::vector::dot;
use glam::{DMat2, DVec2, DVec3, Vec3};

/// Resists a component of the in-plane strain of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Membrane {
    /// The three particles.
    pub particles: [u32; 3],
    /// m₁₁, m₁₂, m₂₂ of the [module documentation](super) \[1/m\].
    pub coefficients: [f32; 3],
    /// C₀ \[m\]: C at zero edges is −C₀.
    pub offset: f32,
}

static INFO: KindInfo = KindInfo {
    name: "membrane",
    arity: 3,
    orientations: 0,
    record_words: 8,
    unit_gradients: false,
    unilateral: false,
    over_relaxed: false,
    plastic: None,
    compliance_unit: "m/N",
    shader: include_str!("../../shaders/constraints/membrane.wgsl"),
    function: Function::Fixed(evaluate),
    samples,
};

impl Membrane {
    /// A membrane with C = √A (w_uu E_uu + w_vv E_vv + w_uv 2 E_uv).
    ///
    /// `rest` has the material coordinates (u, v) of the corners at rest \[m\], `weights` is \[w_uu, w_vv, w_uv\].
    ///
    /// # Errors
    /// The triangle has no area, or a coefficient is not finite.
    pub fn new(particles: [u32; 3], rest: [[f32; 2]; 3], weights: [f32; 3]) -> Result<Self> {
        Self::from_edges(particles, flat_edges(rest), weights.map(f64::from))
    }

    /// The same with the corners at rest in space \[m\]; u runs along `warp` within the plane of the triangle.
    ///
    /// # Errors
    /// The errors of [`Membrane::new`]; the warp is perpendicular to the triangle, within 1e-3 rad.
    pub fn along(particles: [u32; 3], rest: [[f32; 3]; 3], warp: [f32; 3], weights: [f32; 3]) -> Result<Self> {
        let edges = edges_along(rest, warp, || format!("a membrane of particles {particles:?}"))?;
        Self::from_edges(particles, edges, weights.map(f64::from))
    }

    /// [`Membrane::new`] from the edges a and b at rest \[m\].
    pub(crate) fn from_edges(particles: [u32; 3], edges: [DVec2; 2], weights: [f64; 3]) -> Result<Self> {
        Self::beyond(particles, edges, weights, 0.0)
    }

    /// The same with C = √A (w : E − ε) for a strain ε.
    pub(super) fn beyond(particles: [u32; 3], [a, b]: [DVec2; 2], [uu, vv, uv]: [f64; 3], strain: f64) -> Result<Self> {
        let determinant = a.perp_dot(b);
        let inverse = DMat2::from_cols(a, b).inverse();
        let scale = (0.5 * determinant.abs()).sqrt();
        if [uu, vv, uv] == [0.0; 3] {
            let what = format!("greatest weight of a membrane of particles {particles:?}");
            return Err(Error::invalid(what, 0.0, "not 0"));
        }
        let weight = DMat2::from_cols(DVec2::new(uu, uv), DVec2::new(uv, vv));
        let m = inverse * weight * inverse.transpose() * scale;
        let membrane = Self {
            particles,
            coefficients: [m.x_axis.x, m.x_axis.y, m.y_axis.y].map(|m| m as f32),
            offset: (scale * (0.5 * (uu + vv) + strain)) as f32,
        };
        if determinant == 0.0 || !determinant.is_finite() {
            let what = format!("area of a membrane of particles {particles:?}");
            return Err(Error::invalid(what, 0.5 * determinant, "finite and not 0"));
        }
        membrane.check_named(|| format!("a membrane of particles {particles:?}"))?;
        Ok(membrane)
    }

    pub(super) fn check_named(&self, what: impl Fn() -> String) -> Result<()> {
        let values = self.coefficients.map(|value| ("coefficient", value)).into_iter().chain([("offset", self.offset)]);
        match values.into_iter().find(|(_, value)| !(-1e12..=1e12).contains(value)) {
            None => Ok(()),
            Some((name, value)) => Err(Error::invalid(format!("{name} of {}", what()), value, "-1e12 to 1e12")),
        }
    }
}

/// The edges a and b of a triangle in the plane.
pub(super) fn flat_edges(rest: [[f32; 2]; 3]) -> [DVec2; 2] {
    let [x0, x1, x2] = rest.map(|x| DVec2::from(x.map(f64::from)));
    [x1 - x0, x2 - x0]
}

/// The same of a triangle in space, in material coordinates.
pub(super) fn edges_along(rest: [[f32; 3]; 3], warp: [f32; 3], what: impl Fn() -> String) -> Result<[DVec2; 2]> {
    let [x0, x1, x2] = rest.map(|x| DVec3::from(x.map(f64::from)));
    in_material([x1 - x0, x2 - x0], DVec3::from(warp.map(f64::from)), what)
}

/// The edges of a triangle in material coordinates: u along the projection of `warp` to its plane, v perpendicular to
/// it. `what` names the triangle in errors.
pub(crate) fn in_material(edges: [DVec3; 2], warp: DVec3, what: impl Fn() -> String) -> Result<[DVec2; 2]> {
    let normal = edges[0].cross(edges[1]).normalize_or_zero();
    if normal == DVec3::ZERO {
        return Err(Error::invalid(format!("area of {}", what()), 0.0, "greater than 0"));
    }
    let projected = warp - normal * normal.dot(warp);
    let part = projected.length() / warp.length();
    if part.is_nan() || part < 1e-3 {
        let name = format!("cosine between the warp direction and the plane of {}", what());
        return Err(Error::invalid(name, part, "at least 0.001"));
    }
    let u = projected.normalize();
    let v = normal.cross(u);
    Ok(edges.map(|edge| DVec2::new(edge.dot(u), edge.dot(v))))
}

impl Kind for Membrane {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        let [m11, m12, m22] = self.coefficients;
        words.extend(bits([m11, m12, m22, self.offset]));
    }

    fn check(&self, index: usize) -> Result<()> {
        self.check_named(|| format!("membrane {index}"))
    }
}

fn evaluate(parameters: &[u32], p: &[Vec3], grad: &mut [Vec3]) -> f32 {
    let [m11, m12, m22, offset] = [0, 1, 2, 3].map(|index| f32::from_bits(parameters[index]));
    let (a, b) = (p[1] - p[0], p[2] - p[0]);
    grad[1] = a * m11 + b * m12;
    grad[2] = a * m12 + b * m22;
    grad[0] = -(grad[1] + grad[2]);
    0.5 * (dot(a, grad[1]) + dot(b, grad[2])) - offset
}

fn samples() -> Vec<Sample> {
    let rest = [[0.0, 0.0], [1.0, 0.1], [0.2, 0.9]];
    let positions = [[0.1, 0.2, 0.3], [1.3, -0.1, 0.5], [0.2, 1.2, -0.2]];
    // Rotated about the z axis by the angle whose cosine is 0.8.
    let turned = rest.map(|[u, v]: [f32; 2]| [0.8 * u - 0.6 * v, 0.6 * u + 0.8 * v, 0.0]);
    let weights = [[1.0, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
    let built = weights.map(|weights| Membrane::new([0, 1, 2], rest, weights));
    built
        .into_iter()
        .flatten()
        .map(|membrane| {
            let [m11, m12, m22] = membrane.coefficients;
            sample([m11, m12, m22, membrane.offset], &positions, &turned)
        })
        .collect()
}
