// Computes the impulses of a kind whose C has three components with gradients of their own: three constraints that are
// solved at once, each with a multiplier. The gradients are nearly orthogonal, so no 3 × 3 system is solved.
// The last ARITY − POINTS entries of a constraint are orientations: x is the parameters m, d a rotation vector.

struct Evaluation {
    s: vec3f,
    // By entry, the gradient of each component.
    grad: array<mat3x3f, ARITY>,
}

// Returns the current place of entry k: a position relative to x₀, or the parameters of an orientation.
fn placed(k: u32, x: vec3f, x0: vec3f, d: vec3f) -> vec3f {
    if k < POINTS {
        return shrunk(relative_to_first(k, x, x0, d));
    }
    return opaque(x + rotation_step(x, d, span.zero), span.zero);
}

// Returns ∇C·(x − x_prev) of each component.
fn travel_of(evaluation: Evaluation, d: Points) -> vec3f {
    var travel = vec3f();
    for (var k = 0u; k < ARITY; k++) {
        let grad = evaluation.grad[k];
        // The gradients at the points sum to zero, so their common displacement cancels.
        let own = opaque(d[k] - select(vec3f(), d[0], k < POINTS), span.zero);
        travel += opaque(vec3f(dot(grad[0], own), dot(grad[1], own), dot(grad[2], own)), span.zero);
    }
    return travel;
}

fn impulses_of(place: u32, record: Record, material: ScaledMaterial, p: Points, d: Points, w: Weights) -> Points {
    let evaluation = evaluate(record, p);
    var weighted = vec3f();
    for (var k = 0u; k < ARITY; k++) {
        let grad = evaluation.grad[k];
        weighted += opaque(vec3f(dot(grad[0], grad[0]), dot(grad[1], grad[1]), dot(grad[2], grad[2])) * w[k], span.zero);
    }
    let travel = travel_of(evaluation, d);
    let delta = delta_lambdas(place, evaluation.s, weighted, travel, material);
    var impulses: Points;
    for (var k = 0u; k < ARITY; k++) {
        let grad = evaluation.grad[k];
        let first = opaque(opaque(grad[0] * delta.x, span.zero) + opaque(grad[1] * delta.y, span.zero), span.zero);
        impulses[k] = opaque(first + opaque(grad[2] * delta.z, span.zero), span.zero);
    }
    return impulses;
}
