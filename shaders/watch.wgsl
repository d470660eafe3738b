// Whether the list of pairs still holds: it does up to its horizon, while nothing is aside by more than half the margin from where its pace at the
// search would have brought it: among particles its displacement then. What the list leaves out would have stayed thickness + margin apart.
// Where nothing but particles touches, each has a list, so to say, of its own; those of which half is used up are made anew in
// the next search too.
// One thread a particle. Reads positions, displacements, watched. Writes the corrections of its own particle (none, no
// contact), the mark that the list is stale, and with it the size of the search; the marks of coarse cells in which particles are to look for
// others, and that something is so fast that all are to.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> watched: array<array<vec4u, 2>>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;
// Workgroups of the search: see the prelude.
@group(0) @binding(8) var<storage, read_write> dispatches: array<u32>;
// See search.wgsl.
@group(0) @binding(9) var<storage, read_write> cells: array<atomic<u32>>;

// 1/(2√3): where no component of a displacement against the drift is more than this of a length, no two differ by more than that.
const SLOW = 0.28;

// Whether any particle touches nothing at all.
override SOME_UNTOUCHABLE: bool = true;

@compute @workgroup_size(WORKGROUP_SIZE)
fn watch(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    // Its sums were taken by who added them to the displacement; its count, or the mark that it was cut, may have been left.
    if corrections[i].w != 0 {
        // What was cut before a reset is of no account.
        corrections[i].w = select(0, WAS_CUT, corrections[i].w < 0 && contact_status.now > 0u);
    }
    // The host may have marked it: it is enough if one looks.
    var stale = i == 0u && atomicLoad(&contact_status.stale) != HOLDS;
    if !SOME_UNTOUCHABLE || (contact_particles[i].w & 0xffu) != UNTOUCHABLE {
        stale = is_stale(i) || stale;
    }
    // It is enough if one does; the first, where the host has marked it.
    var is_first = false;
    if stale {
        is_first = atomicMax(&contact_status.stale, WORN) == HOLDS || i == 0u;
    }
    set_sizes(select(0u, SEARCH_PASSES, is_first));
}

// Whether the list does not hold for a particle. Marks where it is to look anew.
fn is_stale(i: u32) -> bool {
    let own = watched_of_rows(watched[i]);
    var since = contact_status.now - contact_status.searched;
    var horizon = contact_status.horizon;
    var pace = pace_of(own, contact_params.quantum);
    if ONLY_PARTICLES {
        since = contact_status.now - own.searched;
        horizon = horizon_of(own);
        pace = own.displacement;
    }
    let d = displacements[i].xyz;
    let travelled = opaque(positions[i].xyz - own.place, params.zero);
    let way = opaque(pace * f32(since), params.zero);
    let moved = opaque(opaque(travelled + d, params.zero) - way, params.zero);
    let half = 0.5 * contact_params.margin;
    let aside = dot(moved, moved);
    // Not `>`: what is not finite is watched too.
    var stale = !(aside <= half * half) || since > horizon;
    if !ONLY_PARTICLES {
        // Where the substep began, too: contacts may have moved it aside at the end of the last one.
        let began = opaque(opaque(travelled + own.displacement, params.zero) - way, params.zero);
        stale = stale || dot(began, began) > half * half;
    }
    if ONLY_PARTICLES {
        let against = abs(opaque(d - contact_status.drift, params.zero));
        // Of two that differ by no more than reach + margin, and are farther apart than twice the reach where they are to be, give or take half
        // the margin, none has met the other within the substep.
        if !(max(max(against.x, against.y), against.z) <= SLOW * (contact_params.reach + contact_params.margin)) {
            atomicStore(&contact_status.hurried, 1u);
        }
        if stale || aside > 0.5 * (half * half) || 2u * since > horizon {
            mark_worn(opaque(positions[i].xyz + d, params.zero));
        }
    }
    return stale;
}

fn mark_worn(place: vec3f) {
    let cell = coarse_at(place, contact_params.inverse_coarse, contact_params.coarse);
    let word = contact_params.worn_first + cell.y + contact_params.coarse * cell.z;
    let mark = 1u << cell.x;
    // Read first: most are marked already.
    if (atomicLoad(&cells[word]) & mark) == 0u {
        atomicOr(&cells[word], mark);
    }
}

// The search, which is dispatched only where the list does not hold: so many of its parts, all or none. (Within a branch software drivers
// write the loop out, and run through all of it.)
fn set_sizes(parts: u32) {
    for (var part = 0u; part < parts; part++) {
        var threads = contact_params.search_threads[part / 4u][part % 4u];
        if part == PRUNE && ONLY_PARTICLES {
            threads = max(contact_status.pair_count, 1u);
        }
        let groups = workgroups(threads, WORKGROUP_SIZE);
        dispatches[3u * part] = groups.x;
        dispatches[3u * part + 1u] = groups.y;
    }
}
