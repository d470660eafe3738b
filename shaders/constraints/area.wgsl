// Area: C = A − A₀, ∇₁C = ½ (x₂ − x₀) × n, ∇₂C = ½ n × (x₁ − x₀). Parameters: A₀. Counterpart:
// src/constraints/area.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let a = p[1] - p[0];
    let b = p[2] - p[0];
    let normal = cross_product(a, b, span.zero);
    let double_area = length(normal);
    var half_n = vec3f();
    if double_area > 0.0 {
        half_n = normal * (0.5 / double_area);
    }
    let grad1 = cross_product(b, half_n, span.zero);
    let grad2 = cross_product(half_n, a, span.zero);
    return Evaluation(0.5 * double_area - parameter(record, 0u), Points(-(grad1 + grad2), grad1, grad2));
}
