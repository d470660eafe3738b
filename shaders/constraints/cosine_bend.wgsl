// Cosine bend: C = a·b − cos φ₀ |a| |b| with a = x₀ − x₂, b = x₁ − x₂. Parameters: cos φ₀. Counterpart, with the
// derivation: src/constraints/cosine_bend.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let cosine = parameter(record, 0u);
    let a = p[0] - p[2];
    let b = p[1] - p[2];
    let length_a = length(a);
    let length_b = length(b);
    if length_a == 0.0 || length_b == 0.0 {
        return Evaluation(0.0, Points());
    }
    let grad0 = opaque(b - a * (cosine * length_b / length_a), span.zero);
    let grad1 = opaque(a - b * (cosine * length_a / length_b), span.zero);
    return Evaluation(dot(a, b) - cosine * length_a * length_b, Points(grad0, grad1, -(grad0 + grad1)));
}
