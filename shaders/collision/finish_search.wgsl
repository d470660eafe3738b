// Ends a search: updates the counts of the pair list, sets the dispatch size of find_contacts, and resets the
// dispatches of the search to 0. It also runs if the list was valid.
// One thread in total.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches of the search, of find_contacts, of the rounds of build_division_planes, and of
// resolve_intersections: see shaders/common/find_contacts.wgsl.
@group(0) @binding(3) var<storage, read_write> dispatches: array<u32>;
// Indirect dispatches of truncate_displacements by round (particle level: of pairs_list, search_count_cells and
// search_sort_into_cells), then of solve_contacts and apply_corrections.
@group(0) @binding(4) var<storage, read_write> late_dispatches: array<u32>;

// Rounds of build_division_planes and truncate_displacements.
override ROUNDS: u32 = 1u;
// Pairs per thread of find_contacts.
override SHARE: u32 = 1u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn finish_search(@builtin(global_invocation_id) id: vec3u) {
    if id.x > 0u {
        return;
    }
    if atomicLoad(&contact_status.stale) != HOLDS {
        // Pairs that were found fill vacated entries first, then new ones.
        let found = atomicLoad(&contact_status.found_count);
        let vacant = atomicLoad(&contact_status.vacancy_count);
        let room = contact_params.pair_capacity - contact_status.pair_count;
        let wanted = found - min(found, vacant);
        let added = min(wanted, room);
        contact_status.overfull = select(0u, 1u, wanted > room);
        contact_status.listed = contact_status.pair_count - vacant + min(found, vacant) + added;
        contact_status.pair_count += added;
    }
    let count = contact_status.pair_count;
    let crossings = min(atomicLoad(&contact_status.crossing_count), params.particle_count);
    let groups = workgroups((count + SHARE - 1u) / SHARE, WORKGROUP_SIZE);
    let tangled = workgroups(max(crossings, 1u), WORKGROUP_SIZE);
    for (var part = 0u; part < SEARCH_PASSES; part++) {
        dispatches[3u * part] = 0u;
    }
    dispatches[CONTACTS_SIZE] = groups.x;
    dispatches[CONTACTS_SIZE + 1u] = groups.y;
    for (var round = 0u; round < ROUNDS; round++) {
        dispatches[DIVIDE_SIZE + 3u * round] = 0u;
        late_dispatches[3u * round] = 0u;
    }
    // find_contacts or resolve_intersections sets the size to the number of contacts.
    late_dispatches[3u * ROUNDS] = 0u;
    late_dispatches[3u * ROUNDS + 1u] = 1u;
    dispatches[DIVIDE_SIZE + 3u * ROUNDS] = tangled.x;
    dispatches[DIVIDE_SIZE + 3u * ROUNDS + 1u] = tangled.y;
    atomicStore(&contact_status.stale, HOLDS);
    atomicStore(&contact_status.hurried, 0u);
    atomicStore(&contact_status.contact_count, 0u);
    // For the next search.
    atomicStore(&contact_status.edge_radius, 0u);
    atomicStore(&contact_status.triangle_radius, 0u);
    contact_status.now += 1u;
    contact_status.most_pairs = max(contact_status.most_pairs, contact_status.listed);
}
