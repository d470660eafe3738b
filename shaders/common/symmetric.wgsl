// Symmetric 3 × 3 matrices, as in src/geometry/vector.rs.

// The diagonal (xx, yy, zz) and the elements beside it (yz, zx, xy).
struct Symmetric {
    diagonal: vec3f,
    beside: vec3f,
}

fn times_symmetric(matrix: Symmetric, v: vec3f, zero: u32) -> vec3f {
    let first = opaque(matrix.diagonal * v, zero) + opaque(matrix.beside.zxy * v.yzx, zero);
    return opaque(opaque(first, zero) + opaque(matrix.beside.yzx * v.zxy, zero), zero);
}

// Returns a matrix plus f (a bᵀ + b aᵀ)/2.
fn plus_outer(matrix: Symmetric, a: vec3f, b: vec3f, f: f32, zero: u32) -> Symmetric {
    let products = opaque(opaque(a.yzx * b.zxy, zero) + opaque(a.zxy * b.yzx, zero), zero);
    return Symmetric(
        opaque(matrix.diagonal + opaque(opaque(a * b, zero) * f, zero), zero),
        opaque(matrix.beside + opaque(products * opaque1(0.5 * f, zero), zero), zero),
    );
}

fn guarded(pivot: f32, least: f32) -> f32 {
    return select(0.0, 1.0 / pivot, pivot > least);
}

// Returns the inverse by LDLᵀ; 0 in the directions of pivots that do not exceed `least`.
fn inverse_symmetric(matrix: Symmetric, least: vec3f, zero: u32) -> Symmetric {
    let d = matrix.diagonal;
    let o = matrix.beside;
    let i0 = guarded(d.x, least.x);
    let l1 = opaque1(o.z * i0, zero);
    let l2 = opaque1(o.y * i0, zero);
    let d1 = opaque1(d.y - opaque1(l1 * o.z, zero), zero);
    let i1 = guarded(d1, least.y);
    let l3 = opaque1(opaque1(o.x - opaque1(l2 * o.z, zero), zero) * i1, zero);
    let most = opaque1(d.z - opaque1(l2 * o.y, zero), zero);
    let i2 = guarded(opaque1(most - opaque1(opaque1(l3 * l3, zero) * d1, zero), zero), least.z);
    let c = opaque1(opaque1(l1 * l3, zero) - l2, zero);
    let xy = opaque1(-opaque1(i1 * l1, zero) - opaque1(i2 * opaque1(l3 * c, zero), zero), zero);
    let zx = opaque1(i2 * c, zero);
    let yz = -opaque1(i2 * l3, zero);
    let square = opaque1(i0 + opaque1(i1 * opaque1(l1 * l1, zero), zero), zero);
    let xx = opaque1(square + opaque1(i2 * opaque1(c * c, zero), zero), zero);
    let yy = opaque1(i1 + opaque1(i2 * opaque1(l3 * l3, zero), zero), zero);
    return Symmetric(vec3f(xx, yy, i2), vec3f(yz, zx, xy));
}
