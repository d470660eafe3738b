// The XPBD update and vector arithmetic, shared by all kinds of constraints. The CPU counterparts are
// src/constraints/xpbd.rs and src/geometry/vector.rs, with the same operations in the same order.
// Source: Macklin, Müller, Chentanez: XPBD: Position-Based Simulation of Compliant Constrained Dynamics (MIG 2016).

struct ScaledMaterial {
    // α̃ = α/h² (eq. 4)
    alpha_tilde: f32,
    // γ = α̃ β̃/h = α β/h (eq. 26), plus τ/h
    gamma: f32,
    // ω, times the stiffness of PBD
    factor: f32,
    // The part of Σ wᵢ|∇ᵢC|² that over-relaxed kinds subtract from α̃ in the denominator.
    relief: f32,
}

// Returns the material of constraints of a kind: without relief if the kind is not over-relaxed.
fn material_of_kind(material: ScaledMaterial, over_relaxed: bool) -> ScaledMaterial {
    let relief = select(0.0, material.relief, over_relaxed);
    return ScaledMaterial(material.alpha_tilde, material.gamma, material.factor, relief);
}

// Returns Δλ of eq. 18 with the damping of eq. 26. `weighted` is Σ wᵢ|∇ᵢC|²; `travel` is ∇C·(x − x_prev). A relief makes
// α̃ in the denominator smaller; see src/constraints/xpbd.rs.
fn delta_lambda(c: f32, weighted: f32, travel: f32, lambda: f32, material: ScaledMaterial) -> f32 {
    let rest = max(material.alpha_tilde - material.relief * weighted, 0.0);
    let delta = material.factor * ((-c - material.alpha_tilde * lambda - material.gamma * travel)
        / ((1.0 + material.gamma) * weighted + rest));
    // A select, not a branch: GPU compilers do not interleave the constraints of a tile across branches.
    return select(delta, 0.0, weighted == 0.0);
}

// Returns the factor ω α̃/((1 + γ) Σ wᵢ|∇ᵢC|² + α̃) of λ in eq. 18. See src/constraints/xpbd.rs.
fn relaxation(weighted: f32, material: ScaledMaterial) -> f32 {
    if weighted == 0.0 {
        return 0.0;
    }
    return material.factor * (material.alpha_tilde / ((1.0 + material.gamma) * weighted + material.alpha_tilde));
}

// Returns the position of particle k relative to x₀, which keeps the precision of differences.
fn relative_to_first(k: u32, x: vec3f, x0: vec3f, d: vec3f) -> vec3f {
    if k == 0u {
        return d;
    }
    return (x - x0) + d;
}

// Returns v/|v|, or 0 if the length is 0 or NaN, without a branch.
fn direction_of(v: vec3f, length: f32) -> vec3f {
    return select(vec3f(), v, length > 0.0) / select(1.0, length, length > 0.0);
}

// Limits Δλ of a constraint C ≤ 0, so that λ + Δλ ≤ 0.
fn unilateral(delta: f32, lambda: f32) -> f32 {
    return min(lambda + delta, 0.0) - lambda;
}

// Solves K ω = v. `diagonal` is (xx, yy, zz); `beside` is (yz, zx, xy). See src/geometry/vector.rs.
fn solve_symmetric(diagonal: vec3f, beside: vec3f, v: vec3f, zero: u32) -> vec3f {
    let trace = diagonal.x + diagonal.y + diagonal.z;
    if !(trace > 0.0) {
        return vec3f();
    }
    let d = opaque(opaque(diagonal / trace, zero) + 1e-6, zero);
    let o = opaque(beside / trace, zero);
    let l1 = o.z / d.x;
    let l2 = o.y / d.x;
    let d1 = d.y - l1 * o.z;
    let l3 = (o.x - l2 * o.z) / max(d1, 1e-7);
    let d2 = (d.z - l2 * o.y) - l3 * l3 * max(d1, 1e-7);
    // Returns 0 if K is not positive semidefinite beyond rounding.
    if !(d.x > 0.0 && d1 > -1e-5 && d2 > -1e-5) {
        return vec3f();
    }
    let l = opaque(vec3f(l1, l2, l3), zero);
    let pivots = opaque(vec3f(d.x, max(d1, 1e-7), max(d2, 1e-7)), zero);
    let omega = opaque(opaque(solve_ldl(l, pivots, v, zero), zero) / trace, zero);
    let product = opaque(diagonal * omega, zero) + opaque(beside.zxy * omega.yzx, zero);
    let left = opaque(v - opaque(opaque(product, zero) + opaque(beside.yzx * omega.zxy, zero), zero), zero);
    return omega + opaque(opaque(solve_ldl(l, pivots, left, zero), zero) / trace, zero);
}

// Solves L D Lᵀ x = v; the rows of L are (1, 0, 0), (l₁, 1, 0) and (l₂, l₃, 1).
fn solve_ldl(l: vec3f, d: vec3f, v: vec3f, zero: u32) -> vec3f {
    let first = v.y - l.x * v.x;
    let z = ((v.z - l.y * v.x) - l.z * first) / d.z;
    let y = first / d.y - l.z * z;
    return vec3f((v.x / d.x - l.x * y) - l.y * z, y, z);
}

// Returns the angle of the point (x, y) from the x axis, −π to π [rad]; 0 at the origin. Source: Moshier, Cephes
// `atanf`. See src/geometry/vector.rs.
fn atan2_exact(y: f32, x: f32) -> f32 {
    let abs_x = abs(x);
    let abs_y = abs(y);
    let large = max(abs_x, abs_y);
    if large == 0.0 {
        return 0.0;
    }
    let ratio = min(abs_x, abs_y) / large;
    let steep = ratio > 0.41421356;
    let t = select(ratio, (ratio - 1.0) / (ratio + 1.0), steep);
    let z = t * t;
    let p = ((8.0537445e-2 * z - 1.3877686e-1) * z + 1.9977711e-1) * z - 3.333295e-1;
    var angle = p * z * t + t;
    if steep {
        angle += 0.78539816339744831;
    }
    if abs_y > abs_x {
        angle = 1.5707963267948966 - angle;
    }
    if x < 0.0 {
        angle = 3.1415926535897932 - angle;
    }
    return select(angle, -angle, y < 0.0);
}

struct TwoSum {
    sum: vec3f,
    residual: vec3f,
}

// Returns v unchanged; `zero` is 0 at run time. Drivers would otherwise simplify (a + b) − a to b, and fuse or reorder
// products and sums.
fn opaque(v: vec3f, zero: u32) -> vec3f {
    return bitcast<vec3f>(bitcast<vec3u>(v) ^ vec3u(zero));
}

fn opaque1(v: f32, zero: u32) -> f32 {
    return bitcast<f32>(bitcast<u32>(v) ^ zero);
}

// Returns a × b, rounded as on the CPU. WGSL's `cross` may become fused multiply-adds.
fn cross_product(a: vec3f, b: vec3f, zero: u32) -> vec3f {
    return opaque(a.yzx * b.zxy - a.zxy * b.yzx, zero);
}

// Returns a + b rounded, and the rounding error (Knuth's two-sum).
fn two_sum(a: vec3f, b: vec3f, zero: u32) -> TwoSum {
    let sum = opaque(a + b, zero);
    let b_part = opaque(sum - a, zero);
    let a_part = sum - b_part;
    return TwoSum(sum, (a - a_part) + (b - b_part));
}

// Rounds the residuals of positions to 18 bits, and those of displacements to 8 bits.
fn kept_of_position(residual: vec3f) -> vec3f {
    return bitcast<vec3f>((bitcast<vec3u>(residual) + vec3u(0x20u)) & vec3u(0xffffffc0u));
}

fn kept_of_displacement(residual: vec3f) -> vec3f {
    return bitcast<vec3f>((bitcast<vec3u>(residual) + vec3u(0x8000u)) & vec3u(0xffff0000u));
}

// Tests the exponent bits: on Vulkan `v != v` may be false for NaN.
fn is_finite(v: vec3f) -> bool {
    return all((bitcast<vec3u>(v) & vec3u(0x7f800000u)) != vec3u(0x7f800000u));
}
