// Ends a search: counts the pairs in the list, sets the dispatch size of find_contacts, and resets the dispatches of
// the search to 0. It also runs if the list was valid. Surfaces use no incomplete list: all particles stand still, and
// the next substep searches again.
// One thread in total.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches: see shaders/common/contacts.wgsl.
@group(0) @binding(3) var<storage, read_write> dispatches: array<u32>;
// Indirect dispatches of truncate_displacements by round.
@group(0) @binding(4) var<storage, read_write> late_dispatches: array<u32>;
// Only their lengths are used.
@group(0) @binding(5) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(6) var<storage, read> contacts: array<ActiveContact>;

// Rounds of build_division_planes and truncate_displacements.
override ROUNDS: u32 = 1u;

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
    // At least one workgroup if build_division_planes may have to stop all particles.
    let groups = workgroups(max(count, select(crossings, 1u, is_incomplete)), WORKGROUP_SIZE);
    let tangled = workgroups(max(crossings, 1u), WORKGROUP_SIZE);
    for (var index = 0u; index < SEARCH_PASSES; index++) {
        dispatches[3u * index] = 0u;
    }
    dispatches[CONTACTS_SIZE] = groups.x;
    dispatches[CONTACTS_SIZE + 1u] = groups.y;
    for (var round = 0u; round < ROUNDS; round++) {
        dispatches[DIVIDE_SIZE + 3u * round] = 0u;
        late_dispatches[3u * round] = 0u;
    }
    dispatches[DIVIDE_SIZE + 3u * ROUNDS] = tangled.x;
    dispatches[DIVIDE_SIZE + 3u * ROUNDS + 1u] = tangled.y;
    // At most one contact per pair and two per intersection.
    let solved = workgroups(min(count + 2u * crossings, arrayLength(&contacts)), WORKGROUP_SIZE);
    dispatches[DIVIDE_SIZE + 3u * ROUNDS + 3u] = solved.x;
    dispatches[DIVIDE_SIZE + 3u * ROUNDS + 4u] = solved.y;
    if !is_incomplete {
        atomicStore(&contact_status.stale, HOLDS);
    }
    atomicStore(&contact_status.contact_count, 0u);
    contact_status.now += 1u;
    contact_status.most_pairs = max(contact_status.most_pairs, found);
}
