// Evaluates the constraints of a kind in the chains of rods (src/schedule/chains.rs) at the current positions. The file
// of the kind evaluates C and ∇C. Counterpart: src/reference/chains.rs.
// One thread per constraint. Reads positions, displacements, records, materials and λ. Writes b, α̃/(1 + γ), the relaxation
// factor and the gradients of its own link.

// By record, the link.
@group(0) @binding(6) var<storage, read> links_of: array<u32>;
// LINK_ROWS rows per link: see solve_chains.wgsl.
@group(0) @binding(7) var<storage, read_write> links: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn linearize_chains(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    let record = load(place);
    let x0 = positions[word(record, 0u)].xyz;
    var p: Points;
    var d: Points;
    for (var k = 0u; k < ARITY; k++) {
        let entity = word(record, k);
        d[k] = displacements[entity].xyz;
        p[k] = placed(k, positions[entity].xyz, x0, d[k]);
    }
    let evaluation = evaluate(record, p);
    let travel = travel_of(evaluation, d);
    let material = materials[word(record, ARITY)];
    var lambda = vec3f();
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = vec3f(lambdas[3u * place], lambdas[3u * place + 1u], lambdas[3u * place + 2u]);
    }
    let damped = 1.0 + material.gamma;
    let held = opaque(-evaluation.s - opaque(lambda * material.alpha_tilde, span.zero), span.zero);
    let b = opaque(held - opaque(travel * material.gamma, span.zero), span.zero) / damped;
    let alpha = material.alpha_tilde / damped;
    let at = LINK_ROWS * links_of[place];
    links[at] = vec4f(b, alpha);
    links[at + 1u] = vec4f(material.factor, 0.0, 0.0, 0.0);
    for (var k = 0u; k < ARITY; k++) {
        let grad = evaluation.grad[k];
        links[at + 2u + 3u * k] = vec4f(grad[0], 0.0);
        links[at + 3u + 3u * k] = vec4f(grad[1], 0.0);
        links[at + 4u + 3u * k] = vec4f(grad[2], 0.0);
    }
}
