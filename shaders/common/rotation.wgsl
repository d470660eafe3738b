// Orientations as modified Rodrigues parameters m = e tan(θ/4), and rotation vectors. Counterpart, with the formulas:
// src/geometry/rotation.rs.

struct UnitQuaternion {
    v: vec3f,
    w: f32,
}

// Returns m' − m, where m' is the orientation m rotated by the parameters d/4: by 4 atan(|d|/4) about d, in world axes.
fn rotation_step(m: vec3f, d: vec3f, zero: u32) -> vec3f {
    let t = opaque(d * 0.25, zero);
    let mm = dot(m, m);
    let tt = dot(t, t);
    let mt = opaque1(2.0 * dot(m, t), zero);
    let turn = opaque(t * (1.0 - mm), zero) + opaque(cross_product(t, m, zero) * 2.0, zero);
    let along = opaque(m * (mt - opaque1(tt * opaque1(1.0 + mm, zero), zero)), zero);
    return opaque(opaque(turn, zero) + along, zero) / (opaque1(1.0 + opaque1(tt * mm, zero), zero) - mt);
}

// Returns the rotation vector of a small change r of the parameters m.
fn rotation_of_residual(m: vec3f, r: vec3f, zero: u32) -> vec3f {
    let mm = dot(m, m);
    let turn = opaque(r * (1.0 - mm), zero) + opaque(cross_product(m, r, zero) * 2.0, zero);
    let along = opaque(m * opaque1(2.0 * dot(m, r), zero), zero);
    let scale = 1.0 + mm;
    return opaque(opaque(opaque(turn, zero) + along, zero) * (4.0 / (scale * scale)), zero);
}

// Returns the unit quaternion of the parameters m.
fn unit_quaternion(m: vec3f, zero: u32) -> UnitQuaternion {
    let mm = dot(m, m);
    let scale = 1.0 + mm;
    return UnitQuaternion(opaque(opaque(m * 2.0, zero) / scale, zero), (1.0 - mm) / scale);
}

// Returns the product a b.
fn quaternion_product(a: UnitQuaternion, b: UnitQuaternion, zero: u32) -> UnitQuaternion {
    let scaled = opaque(opaque(b.v * a.w, zero) + opaque(a.v * b.w, zero), zero);
    return UnitQuaternion(
        opaque(scaled + cross_product(a.v, b.v, zero), zero),
        opaque1(a.w * b.w, zero) - dot(a.v, b.v),
    );
}

fn quaternion_conjugate(a: UnitQuaternion) -> UnitQuaternion {
    return UnitQuaternion(-a.v, a.w);
}

// Returns the axes d₁, d₂, d₃ of a frame: the columns of its rotation matrix.
fn axes_of(a: UnitQuaternion, zero: u32) -> mat3x3f {
    let square = opaque(a.v * a.v, zero);
    let mixed = opaque(a.v.yzx * a.v.zxy, zero);
    let scaled = opaque(a.v * a.w, zero);
    let plus = opaque(mixed + scaled, zero) * 2.0;
    let minus = opaque(mixed - scaled, zero) * 2.0;
    let diagonal = vec3f(1.0) - opaque(opaque(square.yzx + square.zxy, zero) * 2.0, zero);
    return mat3x3f(
        vec3f(diagonal.x, plus.z, minus.y),
        vec3f(minus.z, diagonal.y, plus.x),
        vec3f(plus.y, minus.x, diagonal.z),
    );
}

// Returns the rotation vector from the parameters `start` to the parameters `end`, the short way.
fn rotation_between(start: vec3f, end: vec3f, zero: u32) -> vec3f {
    let turn = quaternion_product(unit_quaternion(end, zero), quaternion_conjugate(unit_quaternion(start, zero)), zero);
    let v = select(turn.v, -turn.v, turn.w < 0.0);
    let size = length(v);
    if !(size > 0.0) {
        return vec3f();
    }
    return v * (2.0 * atan2_exact(size, abs(turn.w)) / size);
}
