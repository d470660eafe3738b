// Line bend: C = |t|, t = k₀ (x₀ − x₂) + k₁ (x₁ − x₂), the change of the tangent. Parameters: k₀ = s/a, k₁ = s/b.
// Counterpart: src/constraints/line_bend.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let k0 = parameter(record, 0u);
    let k1 = parameter(record, 1u);
    let t = opaque((p[0] - p[2]) * k0, span.zero) + (p[1] - p[2]) * k1;
    return Evaluation(t, array(k0, k1, -(k0 + k1)));
}
