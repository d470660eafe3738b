// Removes the pairs of particles that search again from the pair list (particle level only).
// One thread per entry of the list, at least one. Reads tracked particles. Writes its own entry, appends vacated
// entries with an atomic counter; thread 0 writes the dispatch sizes of the rest of the search.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> watched: array<array<vec4u, 2>>;
@group(0) @binding(2) var<storage, read_write> pairs: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> vacancies: array<u32>;
@group(0) @binding(4) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches: pairs_list, then search_count_cells and search_sort_into_cells.
@group(0) @binding(5) var<storage, read_write> dispatches: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_remove_stale_pairs(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i == 0u {
        let looking = workgroups(atomicLoad(&contact_status.renewed_count), WORKGROUP_SIZE);
        let nearby = workgroups(atomicLoad(&contact_status.nearby_count), WORKGROUP_SIZE);
        dispatches[0] = looking.x;
        dispatches[1] = looking.y;
        dispatches[3] = nearby.x;
        dispatches[4] = nearby.y;
    }
    if i >= contact_status.pair_count {
        return;
    }
    let pair = pairs[i];
    var vacant = is_vacant(pair);
    if !vacant {
        let now = contact_status.now;
        vacant = watched[pair.x][0].w == now || watched[pair.y][0].w == now;
    }
    if vacant {
        pairs[i] = VACANT;
        vacancies[atomicAdd(&contact_status.vacancy_count, 1u)] = i;
    }
}
