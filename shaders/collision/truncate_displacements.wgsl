// Truncates the displacements of particles (Chen et al. 2025, Divide and Truncate), and marks them for the next
// round, which tests their pairs again. If a pair or a contact was lost, all particles stand still: then nothing
// crosses, whichever pairs are missing.
// One thread per particle. Writes displacement and corrections of its own particle; the mark replaces its number of
// contacts. All threads that truncate write the same size of the next round.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(3) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches: those of the search, of find_contacts, and of the rounds of build_division_planes.
@group(0) @binding(4) var<storage, read_write> dispatches: array<u32>;

override ROUND: u32 = 0u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn truncate_displacements(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let stands_still = atomicLoad(&contact_status.stale) == INCOMPLETE;
    let cut = select(bitcast<f32>(corrections[i].x), 1.0, stands_still);
    if corrections[i].x != 0 {
        corrections[i].x = 0;
    }
    if !(cut > 0.0) {
        return;
    }
    corrections[i].w = mark_for_round(ROUND + 1u);
    atomicAdd(&contact_status.truncated, 1u);
    if stands_still {
        displacements[i] = vec4f();
        if i == 0u {
            contact_status.halted += 1u;
        }
        return;
    }
    let drift = contact_status.drift;
    let own = opaque(displacements[i].xyz - drift, params.zero);
    displacements[i] = vec4f(drift + opaque(own * opaque1(1.0 - cut, params.zero), params.zero), 0.0);
    // All threads write the same values.
    let groups = workgroups(contact_status.pair_count, WORKGROUP_SIZE);
    dispatches[DIVIDE_SIZE + 3u * ROUND] = groups.x;
    dispatches[DIVIDE_SIZE + 3u * ROUND + 1u] = groups.y;
}
