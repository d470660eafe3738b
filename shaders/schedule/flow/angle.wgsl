// Plastic flow of a rest angle, the first parameter. Part of flow.wgsl.

struct Evaluation {
    c: f32,
    grad: Points,
}

const REST_WORDS = 1u;

// Returns the elastic strain of a constraint.
fn elastic_of(own: PlasticRow, record: Record, p: Points, strain: vec3f) -> vec3f {
    return vec3f(evaluate(record, p).c / parameter(record, 1u), 0.0, 0.0);
}

// Returns the rest value with a plastic strain, from −π to π.
fn rest_at(own: PlasticRow, strain: vec3f) -> vec4f {
    return vec4f(wrapped(own.rest.x + strain.x), 0.0, 0.0, 0.0);
}
