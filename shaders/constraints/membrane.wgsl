// Membrane: C = ½ (m₁₁ a·a + 2 m₁₂ a·b + m₂₂ b·b) − C₀, a component of the Green strain of a triangle. Its edges are
// a = x₁ − x₀ and b = x₂ − x₀. Membrane limit: C ≤ 0, and C₀ contains the limit. Parameters: m₁₁, m₁₂, m₂₂, C₀.
// Counterparts: src/constraints/membrane.rs, with the derivation, and src/constraints/membrane_limit.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let m11 = parameter(record, 0u);
    let m12 = parameter(record, 1u);
    let m22 = parameter(record, 2u);
    let a = opaque(p[1] - p[0], span.zero);
    let b = opaque(p[2] - p[0], span.zero);
    let grad1 = opaque(opaque(a * m11, span.zero) + opaque(b * m12, span.zero), span.zero);
    let grad2 = opaque(opaque(a * m12, span.zero) + opaque(b * m22, span.zero), span.zero);
    let c = 0.5 * (dot(a, grad1) + dot(b, grad2)) - parameter(record, 3u);
    return Evaluation(c, Points(-(grad1 + grad2), grad1, grad2));
}
