// Stretch and shear of a rod segment: Cᵢ = sᵢ (dᵢ·t − δᵢ₃), t = (x₁ − x₀)/l, with the axes dᵢ of the frame p₂.
// Parameters: 1/l, s₁, s₂, s₃. Counterpart, with the derivation: src/constraints/stretch_shear.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let inverse_length = parameter(record, 0u);
    let s = vec3f(parameter(record, 1u), parameter(record, 2u), parameter(record, 3u));
    let t = opaque(opaque(p[1] - p[0], span.zero) * inverse_length, span.zero);
    let frame = axes_of(unit_quaternion(p[2], span.zero), span.zero);
    let strain = vec3f(dot(frame[0], t), dot(frame[1], t), dot(frame[2], t) - 1.0);
    let scale = opaque(s * inverse_length, span.zero);
    let along = mat3x3f(
        opaque(frame[0] * scale.x, span.zero),
        opaque(frame[1] * scale.y, span.zero),
        opaque(frame[2] * scale.z, span.zero),
    );
    let turn = mat3x3f(
        opaque(cross_product(frame[0], t, span.zero) * s.x, span.zero),
        opaque(cross_product(frame[1], t, span.zero) * s.y, span.zero),
        opaque(cross_product(frame[2], t, span.zero) * s.z, span.zero),
    );
    return Evaluation(opaque(strain * s, span.zero), array(mat3x3f(-along[0], -along[1], -along[2]), along, turn));
}
