// Plastic flow of the rest rotation of a rod joint, whose half is the first four parameters. Part of flow.wgsl.
// Formulas: src/constraints/plasticity.rs.

struct Evaluation {
    s: vec3f,
    grad: array<mat3x3f, ARITY>,
}

const REST_WORDS = 4u;

// Returns the elastic strain of a constraint.
fn elastic_of(own: PlasticRow, record: Record, p: Points, strain: vec3f) -> vec3f {
    let scales = vec3f(parameter(record, 4u), parameter(record, 5u), parameter(record, 6u));
    return evaluate(record, p).s / scales;
}

// Returns the rest value with a plastic strain.
fn rest_at(own: PlasticRow, strain: vec3f) -> vec4f {
    let zero = span.zero;
    let square = dot(strain, strain);
    let root = sqrt(max(36.0 - opaque1(3.0 * square, zero), 0.0));
    let k = opaque1(12.0 + root, zero) / opaque1(36.0 + square, zero);
    let half = UnitQuaternion(own.rest.xyz, own.rest.w);
    let turn = UnitQuaternion(opaque(strain * k, zero), opaque1(6.0 * k, zero) - 2.0);
    let whole = quaternion_product(quaternion_product(half, turn, zero), half, zero);
    let v = select(whole.v, -whole.v, whole.w < 0.0);
    let more = select(whole.w, -whole.w, whole.w < 0.0) + 1.0;
    let size = sqrt(opaque1(dot(v, v), zero) + opaque1(more * more, zero));
    return vec4f(v / size, more / size);
}
