// Neo-Hookean: C = s √(I_C + J² − 4 J), the distortion of a tetrahedron with the deformation gradient F = [a b c] B
// (Macklin, Müller 2021, with both terms of the energy 0 at rest). Parameters: the rows of B, s. Counterpart, with the
// derivation: src/constraints/neo_hookean.rs.

// Strains below this bound have J − 1 by the invariants of the strain.
const SMALL = 0.25;

// Returns a x + b y + c z.
fn combined(a: vec3f, b: vec3f, c: vec3f, x: f32, y: f32, z: f32) -> vec3f {
    let sum = opaque(opaque(a * x, span.zero) + opaque(b * y, span.zero), span.zero);
    return opaque(sum + opaque(c * z, span.zero), span.zero);
}

fn evaluate(record: Record, p: Points) -> Evaluation {
    let row0 = vec3f(parameter(record, 0u), parameter(record, 1u), parameter(record, 2u));
    let row1 = vec3f(parameter(record, 3u), parameter(record, 4u), parameter(record, 5u));
    let row2 = vec3f(parameter(record, 6u), parameter(record, 7u), parameter(record, 8u));
    let a = opaque(p[1] - p[0], span.zero);
    let b = opaque(p[2] - p[0], span.zero);
    let c = opaque(p[3] - p[0], span.zero);
    let f0 = combined(a, b, c, row0.x, row1.x, row2.x);
    let f1 = combined(a, b, c, row0.y, row1.y, row2.y);
    let f2 = combined(a, b, c, row0.z, row1.z, row2.z);
    let squares = opaque(vec3f(dot(f0, f0), dot(f1, f1), dot(f2, f2)), span.zero);
    let diagonal = opaque(opaque(squares - 1.0, span.zero) * 0.5, span.zero);
    let beside = opaque(vec3f(dot(f1, f2), dot(f2, f0), dot(f0, f1)) * 0.5, span.zero);
    let adjugate = opaque(opaque(diagonal.yzx * diagonal.zxy, span.zero) - opaque(beside * beside, span.zero), span.zero);
    let adjugate_beside =
        opaque(opaque(beside.yzx * beside.zxy, span.zero) - opaque(diagonal * beside, span.zero), span.zero);
    // Else the driver may simplify (a + b) − b below.
    let trace = opaque1(diagonal.x + diagonal.y + diagonal.z, span.zero);
    let second = adjugate.x + adjugate.y + adjugate.z;
    let third = dot(vec3f(diagonal.x, beside.z, beside.y), vec3f(adjugate.x, adjugate_beside.z, adjugate_beside.y));
    let c0 = cross_product(f1, f2, span.zero);
    let c1 = cross_product(f2, f0, span.zero);
    let c2 = cross_product(f0, f1, span.zero);
    let j = dot(f0, c0);
    // 2 tr E, 4 II, 8 III
    let parts = opaque(vec3f(2.0 * trace, 4.0 * second, 8.0 * third), span.zero);
    let higher = parts.y + parts.z;
    let largest = max(max(abs(diagonal.x), abs(diagonal.y)), abs(diagonal.z));
    let dilation = opaque(vec3f(select(j - 1.0, (parts.x + higher) / (1.0 + j), j > 0.0 && largest < SMALL)), span.zero);
    let square = opaque(dilation * 2.0, span.zero).x * dilation.x - higher;
    if !(square > 0.0) {
        return Evaluation(0.0, Points());
    }
    let distortion = sqrt(square);
    let s = opaque(opaque(opaque(trace - diagonal, span.zero) * 2.0, span.zero) + opaque(adjugate * 4.0, span.zero), span.zero);
    let t = opaque(opaque(adjugate_beside * 4.0, span.zero) - opaque(beside * 2.0, span.zero), span.zero);
    let k = opaque(dilation * 2.0, span.zero);
    let factor = parameter(record, 9u);
    let scale = factor / distortion;
    let p0 = opaque(opaque(opaque(c0 * k, span.zero) - combined(f0, f1, f2, s.x, t.z, t.y), span.zero) * scale, span.zero);
    let p1 = opaque(opaque(opaque(c1 * k, span.zero) - combined(f0, f1, f2, t.z, s.y, t.x), span.zero) * scale, span.zero);
    let p2 = opaque(opaque(opaque(c2 * k, span.zero) - combined(f0, f1, f2, t.y, t.x, s.z), span.zero) * scale, span.zero);
    let grad1 = combined(p0, p1, p2, row0.x, row0.y, row0.z);
    let grad2 = combined(p0, p1, p2, row1.x, row1.y, row1.z);
    let grad3 = combined(p0, p1, p2, row2.x, row2.y, row2.z);
    let sum = opaque(opaque(grad1 + grad2, span.zero) + grad3, span.zero);
    return Evaluation(factor * distortion, Points(-sum, grad1, grad2, grad3));
}
