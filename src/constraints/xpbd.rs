//! The XPBD update, the same for every kind. Its counterpart is `shaders/common/xpbd.wgsl`, operation by operation.
//!
//! Macklin, Müller, Chentanez: *XPBD: Position-Based Simulation of Compliant Constrained Dynamics* (MIG 2016).

/// Compliance, damping and relaxation of a material, scaled by the substep.
///
/// `src/sim/params.rs` computes them for every method. PBD has α̃ = γ = 0 and its stiffness as the factor.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct ScaledMaterial {
    /// α̃ = α/h² (eq. 4).
    pub alpha_tilde: f32,
    /// γ = α β/h + τ/h: the damping of eq. 26 (γ = α̃ β̃/h, β̃ = h² β), and [`crate::Material::damping_time`] τ.
    pub gamma: f32,
    /// The factor of Δλ: relaxation ω, times the stiffness k or k' of PBD.
    pub factor: f32,
    /// The part of Σ wᵢ|∇ᵢC|² that over-relaxed kinds subtract from α̃ in the denominator: ½, or 0 if ω is not 1.
    pub relief: f32,
}

impl ScaledMaterial {
    /// The material of constraints of a kind: without relief if the kind is not over-relaxed.
    #[inline]
    pub fn of(self, info: &super::KindInfo) -> Self {
        Self { relief: if info.over_relaxed { self.relief } else { 0.0 }, ..self }
    }
}

/// Δλ of eq. 18 with the damping of eq. 26: Δλ = ω (−C − α̃ λ − γ ∇C·(x − x_prev)) / ((1 + γ) Σ wᵢ|∇ᵢC|² + α̃).
///
/// If the material has a relief r, α̃ in the denominator becomes max(α̃ − r Σ wᵢ|∇ᵢC|², 0); see
/// [`super::KindInfo::over_relaxed`].
///
/// `weighted` is Σ wᵢ|∇ᵢC|², `travel` is ∇C·(x − x_prev). If `weighted` is 0 (all particles pinned, or no gradient), Δλ
/// is 0 instead of 0/0.
#[inline]
pub fn delta_lambda(c: f32, weighted: f32, travel: f32, lambda: f32, material: ScaledMaterial) -> f32 {
    if weighted == 0.0 {
        return 0.0;
    }
    let ScaledMaterial { alpha_tilde, gamma, factor, relief } = material;
    let rest = (alpha_tilde - relief * weighted).max(0.0);
    factor * ((-c - alpha_tilde * lambda - gamma * travel) / ((1.0 + gamma) * weighted + rest))
}

/// The share of the accumulated multiplier that an iteration removes: ω α̃/((1 + γ) Σ wᵢ|∇ᵢC|² + α̃) of eq. 18. Used
/// for multipliers that are stored as impulses.
#[inline]
pub fn relaxation(weighted: f32, material: ScaledMaterial) -> f32 {
    if weighted == 0.0 {
        return 0.0;
    }
    let ScaledMaterial { alpha_tilde, gamma, factor, .. } = material;
    factor * (alpha_tilde / ((1.0 + gamma) * weighted + alpha_tilde))
}

/// Clamps Δλ of an inequality C ≤ 0 so that λ + Δλ stays at or below 0.
#[inline]
pub fn unilateral(delta: f32, lambda: f32) -> f32 {
    (lambda + delta).min(0.0) - lambda
}
