// Plastic flow of the rest length of a rod segment, whose inverse is the first parameter. Part of flow.wgsl.

struct Evaluation {
    s: vec3f,
    grad: array<mat3x3f, ARITY>,
}

const REST_WORDS = 1u;

// Returns the elastic strain of a constraint.
fn elastic_of(own: PlasticRow, record: Record, p: Points, strain: vec3f) -> vec3f {
    let stretch = evaluate(record, p).s.z / parameter(record, 3u);
    return vec3f(opaque1(stretch, span.zero) * opaque1(1.0 + strain.x, span.zero), 0.0, 0.0);
}

// Returns the rest value with a plastic strain.
fn rest_at(own: PlasticRow, strain: vec3f) -> vec4f {
    return vec4f(own.rest.x / opaque1(1.0 + strain.x, span.zero), 0.0, 0.0, 0.0);
}
