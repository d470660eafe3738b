// Cuts the ways of particles; where it does, it is looked once more at the pairs of what was cut, for what was not in the way of each other
// may now be.
// One thread a particle. Writes displacement and corrections of its own particle, where a mark then stands in place of the count of its
// contacts; and the size of the next round.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(3) var<storage, read_write> contact_status: ContactStatus;
// Workgroups of the passes that are dispatched by it: pairs, vertex pairs, edge pairs, contacts, rounds of divide.
@group(0) @binding(4) var<storage, read_write> dispatches: array<u32>;

override ROUND: u32 = 0u;
override ROUNDS: u32 = 1u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn truncate_displacements(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let cut = bitcast<f32>(corrections[i].x);
    if corrections[i].x != 0 {
        corrections[i].x = 0;
    }
    if !(cut > 0.0) {
        return;
    }
    corrections[i].w = mark_for_round(ROUND + 1u);
    let drift = contact_status.drift;
    let own = opaque(displacements[i].xyz - drift, params.zero);
    displacements[i] = vec4f(drift + opaque(own * opaque1(1.0 - cut, params.zero), params.zero), 0.0);
    atomicAdd(&contact_status.truncated, 1u);
    // The same by whoever writes it.
    let shares = select(1u, PAIRS_BETWEEN, is_between(ROUND + 1u, ROUNDS));
    let groups = workgroups((contact_status.pair_count + shares - 1u) / shares, WORKGROUP_SIZE);
    dispatches[DIVIDE_SIZE + 3u * ROUND] = groups.x;
    dispatches[DIVIDE_SIZE + 3u * ROUND + 1u] = groups.y;
}
