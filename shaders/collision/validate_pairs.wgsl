// Whether the list of pairs still holds: it does up to its horizon, while nothing is aside by more than half the margin from where its pace at the
// search would have brought it: among particles its displacement then. What the list leaves out would have stayed thickness + margin apart.
// Where nothing but particles touches, each has a list, so to say, of its own; those of which two thirds are used up are made anew in
// the next search too.
// One thread SHARE particles. Reads positions, displacements, watched. Writes, of surfaces, the corrections of its own particles (none, no
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

// How many particles a thread looks at, at most 32.
override SHARE: u32 = 1u;

// Whether any particle touches nothing at all.
override SOME_UNTOUCHABLE: bool = true;

@compute @workgroup_size(WORKGROUP_SIZE)
fn validate_pairs(@builtin(global_invocation_id) id: vec3u) {
    let thread = thread_index(id);
    let threads = (params.particle_count + SHARE - 1u) / SHARE;
    if thread >= threads {
        return;
    }
    let substep = Substep(contact_status.now, contact_status.searched, contact_status.horizon, contact_status.drift);
    var worn = 0u;
    var stale = false;
    var is_hurried = false;
    for (var n = 0u; n < SHARE; n++) {
        // Neighbouring threads have neighbouring particles.
        let i = min(thread + n * threads, params.particle_count - 1u);
        let is_own = thread + n * threads < params.particle_count;
        if !ONLY_PARTICLES {
            // Its sums were taken by who added them to the displacement; its count, or the mark that it was cut, may have been left.
            let contacts = corrections[i].w;
            if contacts != 0 && is_own {
                // What was cut before a reset is of no account.
                corrections[i].w = select(0, WAS_CUT, contacts < 0 && substep.now > 0u);
            }
        }
        let look = look_at(i, substep);
        let touches = !SOME_UNTOUCHABLE || material_of(contact_particles[i].w) != UNTOUCHABLE;
        stale = stale || (look.is_stale && touches);
        is_hurried = is_hurried || (look.is_hurried && touches);
        worn |= select(0u, 1u << n, look.is_expired && touches);
    }
    // What is rare is done once for all of them: software drivers run through it whether or not any has it.
    if is_hurried {
        atomicStore(&contact_status.hurried, 1u);
    }
    while worn != 0u {
        let i = min(thread + firstTrailingBit(worn) * threads, params.particle_count - 1u);
        mark_worn(opaque(positions[i].xyz + displacements[i].xyz, params.zero));
        worn &= worn - 1u;
    }
    // The host may have marked it: it is enough if one looks.
    stale = stale || (thread == 0u && atomicLoad(&contact_status.stale) != HOLDS);
    // It is enough if one does; the first, where the host has marked it.
    var is_first = false;
    if stale {
        is_first = atomicMax(&contact_status.stale, EXPIRED) == HOLDS || thread == 0u;
    }
    set_sizes(select(0u, SEARCH_PASSES, is_first));
}

// What a particle is looked at with: see ContactStatus.
struct Substep {
    now: u32,
    searched: u32,
    horizon: u32,
    drift: vec3f,
}

struct Look {
    // The list does not hold for it.
    is_stale: bool,
    // It is to look anew in the next search.
    is_expired: bool,
    // It is so fast that all are to.
    is_hurried: bool,
}

fn look_at(i: u32, substep: Substep) -> Look {
    let own = watched_of_rows(watched[i]);
    var since = substep.now - substep.searched;
    var horizon = substep.horizon;
    var pace = pace_of(own, contact_params.quantum);
    if ONLY_PARTICLES {
        since = substep.now - own.searched;
        horizon = horizon_of(own);
        pace = own.displacement;
    }
    let d = displacements[i].xyz;
    let x = positions[i].xyz;
    let moved = aside_from_way(own, pace, since, x, d, params.zero);
    let half = 0.5 * contact_params.margin;
    let aside = opaque_square(moved, params.zero);
    // Not `>`: what is not finite is watched too.
    let is_aside = !(aside <= half * half);
    var look = Look(is_aside || since > horizon, false, false);
    if !ONLY_PARTICLES {
        // Where the substep began, too: contacts may have moved it aside at the end of the last one.
        let began = aside_from_way(own, pace, since, x, own.displacement, params.zero);
        look.is_stale = look.is_stale || opaque_square(began, params.zero) > half * half;
    }
    if ONLY_PARTICLES {
        let against = abs(opaque(d - substep.drift, params.zero));
        // Of two that differ by no more than reach + margin, and are farther apart than twice the reach where they are to be, give or take half
        // the margin, none has met the other within the substep.
        let most = max(max(against.x, against.y), against.z);
        look.is_hurried = !(most <= SLOW * (contact_params.reach + contact_params.margin));
        look.is_expired = is_expired(own, aside, since, contact_params.margin);
    }
    return look;
}

fn mark_worn(place: vec3f) {
    let cell = coarse_at(place, contact_params.inverse_coarse, contact_params.coarse);
    let word = contact_params.worn_first + mark_word(cell, contact_params.coarse);
    let mark = 1u << (cell.x % 32u);
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
