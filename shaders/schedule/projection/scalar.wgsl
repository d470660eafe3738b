// Computes the impulses ∇C Δλ of a kind whose C is a scalar.

struct Evaluation {
    c: f32,
    grad: Points,
}

fn impulses_of(place: u32, record: Record, material: ScaledMaterial, p: Points, d: Points, w: Weights) -> Points {
    let evaluation = evaluate(record, p);
    var weighted = 0.0;
    var travel = 0.0;
    for (var k = 0u; k < ARITY; k++) {
        let grad = evaluation.grad[k];
        if UNIT_GRADIENTS {
            weighted += select(0.0, w[k], any(grad != vec3f()));
        } else {
            weighted += w[k] * dot(grad, grad);
        }
        // The gradients sum to zero, so the common displacement cancels.
        if k > 0u {
            travel += dot(grad, d[k] - d[0]);
        }
    }
    var lambda = 0.0;
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = lambdas[place];
    }
    var delta = delta_lambda(evaluation.c, weighted, travel, lambda, material_of_kind(material, OVER_RELAXED));
    if UNILATERAL {
        delta = unilateral(delta, lambda);
    }
    if KEEP_LAMBDA {
        lambdas[place] = lambda + delta;
    }
    var impulses: Points;
    for (var k = 0u; k < ARITY; k++) {
        impulses[k] = evaluation.grad[k] * delta;
    }
    return impulses;
}
