// Shape matching: C = √Σ m |x − g|², g = R q + x_cm (Müller et al. 2005). Counterpart:
// src/constraints/shape_matching.rs.

const ROTATES = true;

// Returns m (x − g) and m |x − g|².
fn direction(member: Member, x: vec3f, frame: Frame, origin: vec3f) -> vec4f {
    let apart = (x - frame.center) - turned(frame.rotation, member.rest);
    let r = opaque(apart * member.weight, span.zero);
    return vec4f(r, dot(r, apart));
}

// C = √Σ, s = 1/C.
fn measure(parameters: vec4f, sum: f32) -> vec2f {
    let c = sqrt(sum);
    return vec2f(c, select(0.0, 1.0 / c, c > 0.0));
}
