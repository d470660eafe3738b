// Hinge: C = s (θ − θ₀) with the dihedral angle θ; the difference lies between −π and π (Müller et al. 2007, §4.2).
// Gradients: Bridson, Marino, Fedkiw 2003. Parameters: θ₀, s. Counterpart, with the derivation:
// src/constraints/hinge.rs.

const PI = 3.1415926535897932;
const TAU = 6.2831853071795865;
// The least square of twice the area of a triangle that a hinge acts on [m⁴].
const LEAST_SQUARE = 1e-30;

// Wraps an angle between −3π and 3π to −π to π.
fn wrapped(angle: f32) -> f32 {
    if angle > PI {
        return angle - TAU;
    }
    if angle < -PI {
        return angle + TAU;
    }
    return angle;
}

fn evaluate(record: Record, p: Points) -> Evaluation {
    let e = p[1] - p[0];
    let a0 = p[2] - p[0];
    let a1 = p[2] - p[1];
    let b0 = p[3] - p[0];
    let b1 = p[3] - p[1];
    let n2 = cross_product(a0, a1, span.zero);
    let n3 = cross_product(b1, b0, span.zero);
    let l = length(e);
    let square2 = dot(n2, n2);
    let square3 = dot(n3, n3);
    if l == 0.0 || !(square2 >= LEAST_SQUARE && square3 >= LEAST_SQUARE) {
        return Evaluation(0.0, Points());
    }
    let direction = e / l;
    let angle = atan2_exact(dot(cross_product(n3, n2, span.zero), direction), dot(n2, n3));
    let scale = parameter(record, 1u);
    let u2 = opaque(n2 * (scale / square2), span.zero);
    let u3 = opaque(n3 * (scale / square3), span.zero);
    let c = wrapped(angle - parameter(record, 0u));
    return Evaluation(scale * c, Points(
        opaque(u2 * dot(a1, direction), span.zero) + u3 * dot(b1, direction),
        -(opaque(u2 * dot(a0, direction), span.zero) + u3 * dot(b0, direction)),
        u2 * l,
        u3 * l,
    ));
}
