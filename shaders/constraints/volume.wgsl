// Volume: C = V − V₀, V = ⅙ a·(b × c) (Müller et al. 2007, §4.3, there for 6 V). Parameters: V₀. Counterpart:
// src/constraints/volume.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let a = p[1] - p[0];
    let b = p[2] - p[0];
    let c = p[3] - p[0];
    let sixth = 1.0 / 6.0;
    let grad1 = opaque(cross_product(b, c, span.zero) * sixth, span.zero);
    let grad2 = opaque(cross_product(c, a, span.zero) * sixth, span.zero);
    let grad3 = opaque(cross_product(a, b, span.zero) * sixth, span.zero);
    let volume = dot(a, grad1);
    return Evaluation(volume - parameter(record, 0u), Points(-(grad1 + grad2 + grad3), grad1, grad2, grad3));
}
