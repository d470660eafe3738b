// Marks the pair list as expired if its horizon has ended, or if a particle deviates from its predicted path by more
// than half the margin. Along the predicted paths, unlisted pairs stay at least thickness + margin apart.
// One thread per particle. Reads positions, displacements and tracked particles. Writes the contact count of its own
// particle, and on surfaces, after an incomplete list, its displacement. The first thread that finds the list expired
// writes the dispatch sizes of the search.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> tracked: array<array<vec4u, 2>>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
// See find_contacts.wgsl.
@group(0) @binding(6) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches of the search: see shaders/common/contacts.wgsl.
@group(0) @binding(8) var<storage, read_write> dispatches: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn validate_pairs(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    clear_contact_list(i);
    // apply_corrections.wgsl has cleared the sums; the count or the truncation mark may remain.
    let contacts = corrections[i].w;
    if contacts != 0 {
        // Truncation before a reset does not count.
        corrections[i].w = select(0, WAS_CUT, contacts < 0 && contact_status.now > 0u);
    }
    if !ONLY_PARTICLES && atomicLoad(&contact_status.stale) == INCOMPLETE {
        limit_displacement(i);
    }
    var is_stale = is_expired(i) && collides(i);
    if i == 0u {
        // The host may have marked the list.
        is_stale = is_stale || atomicLoad(&contact_status.stale) != HOLDS;
    }
    // The first thread that marks the list writes the sizes, or thread 0 if the host has marked it.
    var passes = 0u;
    if is_stale && (atomicMax(&contact_status.stale, EXPIRED) == HOLDS || i == 0u) {
        passes = SEARCH_PASSES;
    }
    for (var index = 0u; index < passes; index++) {
        // search_clear_cells, then search_insert_elements and find_pairs.
        let cleared = max(contact_params.table_size, params.particle_count);
        let groups = workgroups(select(contact_params.element_end, cleared, index == 0u), WORKGROUP_SIZE);
        dispatches[3u * index] = groups.x;
        dispatches[3u * index + 1u] = groups.y;
    }
}

// Limits the displacement to half the margin, so that the next search finds fewer pairs: bodies that are pulled violently
// do not stand still for ever.
fn limit_displacement(i: u32) {
    let d = displacements[i].xyz;
    let half = 0.5 * contact_params.margin;
    let square = opaque_square(d, params.zero);
    if !(square <= half * half) {
        let share = opaque1(half / sqrt(square), params.zero);
        displacements[i] = vec4f(select(vec3f(), opaque(d * share, params.zero), share > 0.0), 0.0);
        atomicAdd(&contact_status.truncated, 1u);
    }
}

// Clears the list of contacts that find_contacts.wgsl fills in this substep, whose number finish_search.wgsl
// increments before.
fn clear_contact_list(i: u32) {
    if (contact_status.now & 1u) == 0u {
        corrections[params.particle_count + i].y = 0;
    } else {
        corrections[params.particle_count + i].x = 0;
    }
}

// Returns true if an element with this particle can collide with another.
fn collides(i: u32) -> bool {
    let material = material_of(contact_particles[i].w);
    return material != UNTOUCHABLE && contact_params.materials[material].w == 1u;
}

// Returns true if the list has expired for a particle at the end of this substep or at its start. Contacts may have
// moved the particle at the end of the last substep.
fn is_expired(i: u32) -> bool {
    let own = tracked_particle(i);
    let since = contact_status.now - contact_status.searched;
    let path = opaque(opaque(own.predicted + contact_status.drift, params.zero) * f32(since), params.zero);
    let travelled = opaque(positions[i].xyz - own.place, params.zero);
    let end = opaque_square(opaque(travelled + displacements[i].xyz, params.zero) - path, params.zero);
    let start = opaque_square(opaque(travelled + own.displacement, params.zero) - path, params.zero);
    let half = 0.5 * contact_params.margin;
    // Not `>`, so that NaN counts too.
    return !(end <= half * half) || start > half * half || since > contact_status.horizon;
}
