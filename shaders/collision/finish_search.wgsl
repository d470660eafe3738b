// Ends a search: counts the pairs in the list, sets the dispatch size of find_contacts, and resets the dispatches of
// the search to 0. It also runs if the list was valid. Surfaces use no incomplete list: all particles stand still, and
// the next substep searches again.
// One thread in total.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches: see shaders/common/contacts.wgsl.
@group(0) @binding(3) var<storage, read_write> dispatches: array<u32>;
// Only their lengths are used.
@group(0) @binding(4) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(5) var<storage, read> contacts: array<ActiveContact>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn finish_search(@builtin(global_invocation_id) id: vec3u) {
    if id.x > 0u {
        return;
    }
    let found = atomicLoad(&contact_status.found_count);
    let is_incomplete = atomicLoad(&contact_status.stale) == INCOMPLETE;
    let count = select(min(found, arrayLength(&pairs)), 0u, is_incomplete && !ONLY_PARTICLES);
    contact_status.pair_count = count;
    let crossings = min(atomicLoad(&contact_status.crossing_count), params.particle_count);
    let groups = workgroups(count, WORKGROUP_SIZE);
    let resolved = workgroups(max(crossings, 1u), WORKGROUP_SIZE);
    for (var index = 0u; index < SEARCH_PASSES; index++) {
        dispatches[3u * index] = 0u;
    }
    dispatches[CONTACTS_SIZE] = groups.x;
    dispatches[CONTACTS_SIZE + 1u] = groups.y;
    dispatches[RESOLVE_SIZE] = resolved.x;
    dispatches[RESOLVE_SIZE + 1u] = resolved.y;
    // At most one contact per pair and two per intersection.
    let solved = workgroups(min(count + 2u * crossings, arrayLength(&contacts)), WORKGROUP_SIZE);
    dispatches[SOLVE_SIZE] = solved.x;
    dispatches[SOLVE_SIZE + 1u] = solved.y;
    if atomicLoad(&contact_status.stale) != HOLDS {
        contact_status.searched = contact_status.now;
    }
    if !is_incomplete {
        atomicStore(&contact_status.stale, HOLDS);
    }
    atomicStore(&contact_status.contact_count, 0u);
    atomicStore(&contact_status.cut_round, 0u);
    contact_status.now += 1u;
    contact_status.most_pairs = max(contact_status.most_pairs, found);
}
