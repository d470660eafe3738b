//! The XPBD update, the same for every kind. `shaders/common/xpbd.wgsl` is its twin, operation by operation.
//!
//! Macklin, Müller, Chentanez: *XPBD: Position-Based Simulation of Compliant Constrained Dynamics* (MIG 2016).

/// Compliance, damping and stiffness as the update takes them: scaled by the substep.
///
/// Every mode of the solver is a row of these (`src/sim/controls.rs` fills it): PBD is α̃ = γ = 0 with its stiffness as the factor.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct ScaledMaterial {
    /// α̃ = α/h² (eq. 4).
    pub alpha_tilde: f32,
    /// γ = α̃ β̃/h with β̃ = h² β (eq. 26), so γ = α β/h; and τ/h on top, see [`crate::Material::damping_time`].
    pub gamma: f32,
    /// The share of Δλ that is taken: relaxation ω, times the stiffness k or k' of PBD.
    pub factor: f32,
    /// A row is 16 bytes: one load.
    pub padding: f32,
}

/// Δλ of eq. 18, with the damping of eq. 26:
/// Δλ = ω (−C − α̃ λ − γ ∇C·(x − x_prev)) / ((1 + γ) Σ wᵢ|∇ᵢC|² + α̃).
///
/// `weighted` is Σ wᵢ|∇ᵢC|², `travel` is ∇C·(x − x_prev). Where `weighted` is 0 (all particles pinned, or no gradient)
/// nothing can move, and Δλ is 0 instead of 0/0.
#[inline]
pub fn delta_lambda(c: f32, weighted: f32, travel: f32, lambda: f32, material: ScaledMaterial) -> f32 {
    if weighted == 0.0 {
        return 0.0;
    }
    let ScaledMaterial { alpha_tilde, gamma, factor, .. } = material;
    factor * ((-c - alpha_tilde * lambda - gamma * travel) / ((1.0 + gamma) * weighted + alpha_tilde))
}

/// The share of what a multiplier already is that an iteration takes back: the ω α̃/((1 + γ) Σ wᵢ|∇ᵢC|² + α̃) of eq. 18, for
/// multipliers that are kept as impulses.
#[inline]
pub fn relaxation(weighted: f32, material: ScaledMaterial) -> f32 {
    if weighted == 0.0 {
        return 0.0;
    }
    let ScaledMaterial { alpha_tilde, gamma, factor, .. } = material;
    factor * (alpha_tilde / ((1.0 + gamma) * weighted + alpha_tilde))
}

/// What is left of Δλ where the constraint is C ≤ 0 and can only push down: λ + Δλ stays at or below 0.
#[inline]
pub fn unilateral(delta: f32, lambda: f32) -> f32 {
    (lambda + delta).min(0.0) - lambda
}
