// Projects the constraints of a kind with a fixed number of particles. The kind's own file (shaders/kinds/) stands before
// this one and says what C and ∇C are: `evaluate`; shaders/project/ makes impulses of them, for C a number or the length of a
// vector; `src/gpu/pipelines.rs` puts the constants of the kind's descriptor beside them (ARITY, ROWS, UNIT_GRADIENTS,
// UNILATERAL).
//
// project: one thread a constraint of one colour. Reads and writes the displacements of its particles, which no other
// constraint of the colour names.
// split: one thread a constraint of the overflow, or of a Jacobi sweep. Writes its own impulses; gather.wgsl applies them.

// Of split:
@group(0) @binding(6) var<storage, read> shares: array<f32>;
@group(0) @binding(7) var<storage, read_write> impulses: array<vec4f>;

struct Projection {
    particles: array<u32, ARITY>,
    w: Weights,
    d: Points,
    impulses: Points,
}

fn solve(place: u32, record: Record, share: Weights) -> Projection {
    var projection: Projection;
    var p: Points;
    var w: Weights;
    let x0 = positions[word(record, 0u)];
    for (var k = 0u; k < ARITY; k++) {
        let particle = word(record, k);
        let x = positions[particle];
        projection.particles[k] = particle;
        projection.d[k] = displacements[particle].xyz;
        projection.w[k] = x.w;
        w[k] = x.w * share[k];
        p[k] = relative_to_first(k, x.xyz, x0.xyz, projection.d[k]);
    }
    let material = materials[word(record, ARITY)];
    projection.impulses = impulses_of(place, record, material, p, projection.d, w);
    return projection;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    var share: Weights;
    for (var k = 0u; k < ARITY; k++) {
        share[k] = 1.0;
    }
    let projection = solve(place, load(place), share);
    for (var k = 0u; k < ARITY; k++) {
        let d = projection.d[k] + projection.impulses[k] * projection.w[k];
        displacements[projection.particles[k]] = vec4f(d, 0.0);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn split(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    var share: Weights;
    for (var k = 0u; k < ARITY; k++) {
        share[k] = shares[ARITY * i + k];
    }
    let projection = solve(place, load(place), share);
    for (var k = 0u; k < ARITY; k++) {
        impulses[ARITY * i + k] = vec4f(projection.impulses[k], 0.0);
    }
}
