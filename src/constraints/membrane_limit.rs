//! Membrane limit: an upper bound on a component of the in-plane strain of a triangle.
//!
//! C = √A (w : E − ε) ≤ 0 with the area A, the weights w and the Green strain E of [`super::Membrane`], whose record and shader this
//! kind shares: C₀ is larger by √A ε. Compliance in m/N. λ stays at or below 0, so a strain below ε causes no force. With a damping time τ
//! the force begins at the strain ε − τ dE/dt.
//!
//! Examples:
//!
//! - A sheet that stiffens: beside a membrane of modulus E₀, a limit of compliance 1/(E₁ − E₀) makes the tension piecewise linear, with
//!   the slope E₁ beyond ε ([`crate::Orthotropic::stiffening`]).
//! - The stretch limit of a fabric along its threads: a rigid limit.
//! - A sheet without stiffness in compression: a limit at ε = 0 of compliance 1/E, without a membrane.

use super::membrane::{edges_along, flat_edges};
use super::{Kind, KindInfo, Membrane, Sample, sample};
use crate::error::{Error, Result};
use glam::DVec2;

/// Keeps a component of the in-plane strain of a triangle at or below a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MembraneLimit {
    /// The component w : E − ε as a [`Membrane`], whose `offset` contains ε.
    pub component: Membrane,
}

static INFO: KindInfo = KindInfo { name: "membrane_limit", unilateral: true, samples, ..*Membrane::INFO };

impl MembraneLimit {
    /// A limit w_uu E_uu + w_vv E_vv + w_uv 2 E_uv ≤ `strain`. `rest` and `weights` are those of [`Membrane::new`]. A stretch s has
    /// the Green strain (s² − 1)/2.
    ///
    /// # Errors
    /// The errors of [`Membrane::new`]; the strain is not finite, or no triangle has it: E_uu of a triangle without length is −½.
    pub fn new(particles: [u32; 3], rest: [[f32; 2]; 3], weights: [f32; 3], strain: f32) -> Result<Self> {
        Self::from_edges(particles, flat_edges(rest), weights.map(f64::from), strain)
    }

    /// The same with the corners at rest in space \[m\], as [`Membrane::along`].
    ///
    /// # Errors
    /// The errors of [`MembraneLimit::new`] and of [`Membrane::along`].
    pub fn along(
        particles: [u32; 3],
        rest: [[f32; 3]; 3],
        warp: [f32; 3],
        weights: [f32; 3],
        strain: f32,
    ) -> Result<Self> {
        let edges = edges_along(rest, warp, || format!("a membrane limit of particles {particles:?}"))?;
        Self::from_edges(particles, edges, weights.map(f64::from), strain)
    }

    pub(crate) fn from_edges(particles: [u32; 3], edges: [DVec2; 2], weights: [f64; 3], strain: f32) -> Result<Self> {
        let what = || format!("a membrane limit of particles {particles:?}");
        if !strain.is_finite() {
            return Err(Error::invalid(format!("strain of {}", what()), strain, "finite"));
        }
        let limit = Self { component: Membrane::beyond(particles, edges, weights, strain.into())? };
        // The strain of a triangle without size is −½ along each thread.
        let least = -0.5 * (weights[0] + weights[1]);
        if limit.is_bounded() && f64::from(strain) <= least {
            let what = format!("strain of {}, whose least strain is {least}", what());
            return Err(Error::invalid(what, strain, "greater, or no triangle is within the limit"));
        }
        limit.check_named(what)?;
        Ok(limit)
    }

    /// True if C is at least −C₀, the value of a triangle without size.
    fn is_bounded(&self) -> bool {
        let [m11, m12, m22] = self.component.coefficients.map(f64::from);
        m11 >= 0.0 && m22 >= 0.0 && m12 * m12 <= (1.0 + 1e-5) * m11 * m22
    }

    fn check_named(&self, what: impl Fn() -> String) -> Result<()> {
        self.component.check_named(&what)?;
        if self.is_bounded() && self.component.offset <= 0.0 {
            let range = "greater than 0, or no triangle is within the limit";
            return Err(Error::invalid(format!("offset of {}", what()), self.component.offset, range));
        }
        Ok(())
    }
}

impl Kind for MembraneLimit {
    const INFO: &'static KindInfo = &INFO;

    fn particles(&self) -> &[u32] {
        &self.component.particles
    }

    fn write_parameters(&self, words: &mut Vec<u32>) {
        self.component.write_parameters(words);
    }

    fn check(&self, index: usize) -> Result<()> {
        self.check_named(|| format!("membrane limit {index}"))
    }
}

/// Stretched beyond the limit, so that it acts.
fn samples() -> Vec<Sample> {
    let rest = [[0.0, 0.0], [1.0, 0.1], [0.2, 0.9]];
    let positions = [[0.1, 0.2, 0.3], [1.5, -0.3, 0.7], [0.2, 1.4, -0.4]];
    [([1.0, 0.0, 0.0], 0.1), ([0.0, 1.0, 0.0], 0.05), ([1.0, 1.0, 0.0], 0.0)]
        .into_iter()
        .filter_map(|(weights, strain)| {
            let limit = MembraneLimit::new([0, 1, 2], rest, weights, strain).ok()?;
            // Stretched so that E_uu = E_vv = ε over the sum of the weights.
            let stretch = (1.0 + 2.0 * strain / (weights[0] + weights[1])).sqrt();
            let limited = rest.map(|[u, v]: [f32; 2]| [stretch * u, stretch * v, 0.0]);
            let [m11, m12, m22] = limit.component.coefficients;
            Some(sample([m11, m12, m22, limit.component.offset], &positions, &limited))
        })
        .collect()
}
