// Bending and twist between two frames: Cᵢ = σᵢ 6 vᵢ/(2 + w), (v, w) = s̄ (q̄₁ q₂) s̄. Parameters: s (x, y, z, w), σ₁, σ₂, σ₃.
// Counterpart, with the derivation: src/constraints/bend_twist.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let zero = span.zero;
    let half_rest = UnitQuaternion(
        vec3f(parameter(record, 0u), parameter(record, 1u), parameter(record, 2u)),
        parameter(record, 3u),
    );
    let s = vec3f(parameter(record, 4u), parameter(record, 5u), parameter(record, 6u));
    let a = quaternion_product(unit_quaternion(p[0], zero), half_rest, zero);
    let b = quaternion_product(unit_quaternion(p[1], zero), quaternion_conjugate(half_rest), zero);
    let turn = quaternion_product(quaternion_conjugate(a), b, zero);
    let v = select(turn.v, -turn.v, turn.w < 0.0);
    let w = select(turn.w, -turn.w, turn.w < 0.0);
    let frame = axes_of(a, zero);
    let first = opaque(opaque(frame[0] * v.x, zero) + opaque(frame[1] * v.y, zero), zero);
    let across = opaque(first + opaque(frame[2] * v.z, zero), zero);
    let inverse = 1.0 / (2.0 + w);
    let part = opaque(v * inverse, zero);
    let factors = opaque(s * opaque1(3.0 * inverse, zero), zero);
    let turns = mat3x3f(
        opaque(opaque(frame[0] * w, zero) + cross_product(across, frame[0], zero), zero),
        opaque(opaque(frame[1] * w, zero) + cross_product(across, frame[1], zero), zero),
        opaque(opaque(frame[2] * w, zero) + cross_product(across, frame[2], zero), zero),
    );
    let grad = mat3x3f(
        opaque(opaque(turns[0] + opaque(across * part.x, zero), zero) * factors.x, zero),
        opaque(opaque(turns[1] + opaque(across * part.y, zero), zero) * factors.y, zero),
        opaque(opaque(turns[2] + opaque(across * part.z, zero), zero) * factors.z, zero),
    );
    let c = opaque(opaque(v * 2.0, zero) * factors, zero);
    return Evaluation(c, array(mat3x3f(-grad[0], -grad[1], -grad[2]), grad));
}
