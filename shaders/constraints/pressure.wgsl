// Pressure: C = V − p V₀ of a closed surface (Müller et al. 2007, §4.4, there for 6 V). Counterpart:
// src/constraints/pressure.rs.

const ROTATES = false;

// Returns r = ⅙ Σ xⱼ × xₖ, and x·r/3, whose sum over all vertices is the volume. The details are corners, two per
// row.
fn direction(member: Member, x: vec3f, frame: Frame, origin: vec3f) -> vec4f {
    var sum = vec3f();
    for (var k = 0u; k < member.detail_count; k++) {
        let row = members[member.first_detail + k];
        let a = relative(row.x, origin) - frame.center;
        let b = relative(row.y, origin) - frame.center;
        let c = relative(row.z, origin) - frame.center;
        let d = relative(row.w, origin) - frame.center;
        sum += cross_product(a, b, span.zero);
        sum += cross_product(c, d, span.zero);
    }
    let r = opaque(sum * (1.0 / 6.0), span.zero);
    return vec4f(r, dot(x - frame.center, r) * (1.0 / 3.0));
}

// C = V − p V₀, s = 1.
fn measure(parameters: vec4f, sum: f32) -> vec2f {
    return vec2f(sum - parameters.y, 1.0);
}
