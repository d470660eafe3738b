//! The XPBD update, the same for every kind. `shaders/prelude/xpbd.wgsl` is its twin, operation by operation.
//!
//! Macklin, Müller, Chentanez: *XPBD: Position-Based Simulation of Compliant Constrained Dynamics* (MIG 2016).

use glam::Vec3;

/// Compliance and damping as the update takes them: scaled by the substep.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct ScaledMaterial {
    /// α̃ = α/h² (eq. 4).
    pub alpha_tilde: f32,
    /// γ = α̃ β̃/h with β̃ = h² β (eq. 26), so γ = α β/h.
    pub gamma: f32,
}

/// Δλ of eq. 18, with the damping of eq. 26:
/// Δλ = (−C − α̃ λ − γ ∇C·(x − x_prev)) / ((1 + γ) Σ wᵢ|∇ᵢC|² + α̃).
///
/// `weighted` is Σ wᵢ|∇ᵢC|², `travel` is ∇C·(x − x_prev). Where `weighted` is 0 (all particles pinned, or no gradient)
/// nothing can move, and Δλ is 0 instead of 0/0.
#[inline]
pub fn delta_lambda(c: f32, weighted: f32, travel: f32, lambda: f32, material: ScaledMaterial) -> f32 {
    if weighted == 0.0 {
        return 0.0;
    }
    let ScaledMaterial { alpha_tilde, gamma } = material;
    (-c - alpha_tilde * lambda - gamma * travel) / ((1.0 + gamma) * weighted + alpha_tilde)
}

/// a·b, summed left to right as the GPU does it.
#[inline]
pub fn dot(a: Vec3, b: Vec3) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// |a| by [`dot`].
#[inline]
pub fn length(a: Vec3) -> f32 {
    dot(a, a).sqrt()
}

/// `sum` = a + b rounded, and the part that the rounding lost (Knuth's two-sum).
#[inline]
pub fn two_sum(a: Vec3, b: Vec3) -> (Vec3, Vec3) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}
