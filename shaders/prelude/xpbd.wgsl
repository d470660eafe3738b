// The XPBD update, the same for every kind; the twin of src/xpbd.rs, operation by operation.
// Macklin, Müller, Chentanez: XPBD: Position-Based Simulation of Compliant Constrained Dynamics (MIG 2016).

struct ScaledMaterial {
    // α̃ = α/h² (eq. 4)
    alpha_tilde: f32,
    // γ = α̃ β̃/h = α β/h (eq. 26)
    gamma: f32,
}

// eq. 18 with the damping of eq. 26. `weighted` is Σ wᵢ|∇ᵢC|², `travel` is ∇C·(x − x_prev).
fn delta_lambda(c: f32, weighted: f32, travel: f32, lambda: f32, material: ScaledMaterial) -> f32 {
    if weighted == 0.0 {
        return 0.0;
    }
    return (-c - material.alpha_tilde * lambda - material.gamma * travel)
        / ((1.0 + material.gamma) * weighted + material.alpha_tilde);
}

struct TwoSum {
    sum: vec3f,
    residual: vec3f,
}

// The same value, which the compiler cannot see through: `zero` is 0 at run time. Drivers simplify (a + b) − a to b.
fn opaque(v: vec3f, zero: u32) -> vec3f {
    return bitcast<vec3f>(bitcast<vec3u>(v) ^ vec3u(zero));
}

// a × b, rounded as the reference rounds it: WGSL's own `cross` may become fused multiply-adds, and its sum be merged into
// the next one.
fn cross_product(a: vec3f, b: vec3f, zero: u32) -> vec3f {
    return opaque(a.yzx * b.zxy - a.zxy * b.yzx, zero);
}

// a + b rounded, and the part that the rounding lost (Knuth's two-sum).
fn two_sum(a: vec3f, b: vec3f, zero: u32) -> TwoSum {
    let sum = opaque(a + b, zero);
    let b_part = opaque(sum - a, zero);
    let a_part = sum - b_part;
    return TwoSum(sum, (a - a_part) + (b - b_part));
}

// A test of the exponent bits: on Vulkan `v != v` is false for NaN.
fn is_finite(v: vec3f) -> bool {
    return all((bitcast<vec3u>(v) & vec3u(0x7f800000u)) != vec3u(0x7f800000u));
}
