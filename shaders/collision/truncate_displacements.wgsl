// Truncates the displacements of particles by the shares of all rounds (Chen et al. 2025, Divide and Truncate), and
// marks the particles. If a pair or a contact was lost, all particles stand still: then nothing crosses, whichever
// pairs are missing.
// One thread per particle. Writes displacement and corrections of its own particle; the mark replaces its number of
// contacts.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(3) var<storage, read_write> contact_status: ContactStatus;

@compute @workgroup_size(WORKGROUP_SIZE)
fn truncate_displacements(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    let stands_still = atomicLoad(&contact_status.stale) == INCOMPLETE;
    if i >= params.particle_count || (!stands_still && atomicLoad(&contact_status.cut_round) == 0u) {
        return;
    }
    let second = params.particle_count + i;
    let cuts = vec4i(corrections[i].xyz, corrections[second].w);
    if !stands_still && all(cuts == vec4i()) {
        return;
    }
    corrections[i] = vec4i(0, 0, 0, CUT);
    corrections[second].w = 0;
    if stands_still {
        displacements[i] = vec4f();
        atomicAdd(&contact_status.truncated, 1u);
        if i == 0u {
            contact_status.halted += 1u;
        }
        return;
    }
    var left = 1.0;
    var count = 0u;
    for (var round = 0u; round < DIVISION_ROUNDS; round++) {
        left = left_after(left, cuts[round], params.zero);
        count += select(0u, 1u, cuts[round] != 0);
    }
    atomicAdd(&contact_status.truncated, count);
    let drift = contact_status.truncation_frame;
    let own = opaque(displacements[i].xyz - drift, params.zero);
    displacements[i] = vec4f(drift + opaque(own * left, params.zero), 0.0);
}
