// Plastic flow of a rest length, the first parameter. Part of flow.wgsl.

struct Evaluation {
    c: f32,
    grad: Points,
}

const REST_WORDS = 1u;

// Returns the elastic strain of a constraint.
fn elastic_of(own: PlasticRow, record: Record, p: Points, strain: vec3f) -> vec3f {
    return vec3f(evaluate(record, p).c / own.rest.x, 0.0, 0.0);
}

// Returns the rest value with a plastic strain.
fn rest_at(own: PlasticRow, strain: vec3f) -> vec4f {
    return vec4f(own.rest.x + opaque1(own.rest.x * strain.x, span.zero), 0.0, 0.0, 0.0);
}
