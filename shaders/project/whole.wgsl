// Projects the constraints of one kind in a batch of bodies, round by round; shaders/whole.wgsl and shaders/instances.wgsl have the bindings,
// and say where particles and multipliers lie, and how large the body is: `place_in_batch`, `local_of`, `place_of_lambda`, `shrunk`, `grown`. As kinds
// share names, each top-level name of this file and of all that belongs to the kind gets the kind's own name behind it (src/gpu/whole.rs).

alias Points = array<vec3f, ARITY>;
alias Weights = array<f32, ARITY>;

fn solve_in_batch(place: u32, locals: u32) {
    let record = load(place);
    var travels: Points;
    var d: Points;
    var p: Points;
    var w: Weights;
    let x0 = place_in_batch(word(record, 0u));
    for (var k = 0u; k < ARITY; k++) {
        let x = place_in_batch(word(record, k));
        travels[k] = moves[local_of(word(record, k), locals, k)];
        w[k] = x.w;
        p[k] = shrunk(relative_to_first(k, x.xyz, x0.xyz, travels[k]));
        d[k] = shrunk(travels[k]);
    }
    let impulses = impulses_of(place_of_lambda(place, LAMBDAS), record, materials[word(record, ARITY)], p, d, w);
    for (var k = 0u; k < ARITY; k++) {
        moves[local_of(word(record, k), locals, k)] = travels[k] + impulses[k] * grown(w[k]);
    }
}

// `head` are the kind's words in the head of the batch: where its rounds stand, how many, where the local places of record 0 would stand.
fn solve_rounds(head: u32, lane: u32) {
    let rounds_at = batches[head];
    let round_count = batches[head + 1u];
    let locals_at = batches[head + 2u];
    for (var round = 0u; round < round_count; round++) {
        let first = batches[rounds_at + 2u * round];
        let end = first + batches[rounds_at + 2u * round + 1u];
        for (var place = first + lane; place < end; place += lane_count()) {
            solve_in_batch(place, locals_at + LOCAL_WORDS * place);
        }
        workgroupBarrier();
    }
}
