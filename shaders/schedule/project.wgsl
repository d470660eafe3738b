// Projects constraints of a kind with a fixed number of particles, in storage buffers.
//
// - project: one thread per constraint of one colour. Reads and writes the displacements of its particles; the
//   constraints of a colour share no particle.
// - split: one thread per constraint that is solved by mass splitting. Writes its own impulses; gather.wgsl applies
//   them.

// split only:
@group(0) @binding(6) var<storage, read> shares: array<f32>;
@group(0) @binding(7) var<storage, read_write> impulses: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn project(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    let record = load(place);
    solve(place, record, particles_of(record), materials[word(record, ARITY)]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn split(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    let record = load(place);
    var x: Positions;
    var d: Points;
    for (var k = 0u; k < ARITY; k++) {
        let particle = word(record, k);
        let own = positions[particle];
        x[k] = vec4f(own.xyz, own.w * shares[ARITY * i + k]);
        d[k] = displacements[particle].xyz;
    }
    let given = project_constraint(place, record, materials[word(record, ARITY)], x, d);
    for (var k = 0u; k < ARITY; k++) {
        impulses[ARITY * i + k] = vec4f(given[k], 0.0);
    }
}
