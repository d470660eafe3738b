// Isometric bend: C = |s|, s = Σ kᵢ xᵢ (Bergou et al. 2006). Parameters: k₀, k₁, k₂; k₃ = −k₀ − k₁ − k₂. Counterpart:
// src/constraints/isometric_bend.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let k0 = parameter(record, 0u);
    let k1 = parameter(record, 1u);
    let k2 = parameter(record, 2u);
    let k3 = -(k0 + k1 + k2);
    // Relative to p[0], whose own term vanishes.
    let first = opaque((p[1] - p[0]) * k1, span.zero) + opaque((p[2] - p[0]) * k2, span.zero);
    let s = opaque(first, span.zero) + (p[3] - p[0]) * k3;
    return Evaluation(s, array(k0, k1, k2, k3));
}
