// Computes the impulses of a kind whose C is the length of a vector s = Σ k x: three constraints sₓ, s_y, s_z, each
// with a multiplier. The gradient of each component is k along its axis, so one Σ w k² serves all three.
// A single multiplier along s would not converge to a force, because the direction of s changes between iterations.

struct Evaluation {
    s: vec3f,
    k: array<f32, ARITY>,
}

fn impulses_of(place: u32, record: Record, material: ScaledMaterial, p: Points, d: Points, w: Weights) -> Points {
    let evaluation = evaluate(record, p);
    var weighted = 0.0;
    var travel = vec3f();
    for (var k = 0u; k < ARITY; k++) {
        weighted += w[k] * (evaluation.k[k] * evaluation.k[k]);
        if k > 0u {
            travel += (d[k] - d[0]) * evaluation.k[k];
        }
    }
    let delta = delta_lambdas(place, evaluation.s, vec3f(weighted), travel, material);
    var impulses: Points;
    for (var k = 0u; k < ARITY; k++) {
        impulses[k] = delta * evaluation.k[k];
    }
    return impulses;
}
