// Marks the pair list as stale if its horizon has ended, or if a particle deviates from its predicted path by more
// than half the margin. Along the predicted paths, unlisted pairs stay thickness + margin apart.
// At the particle level each particle has its own horizon, and a search renews all expired particles (`is_expired`).
// One thread per SHARE particles. Reads positions, displacements and tracked particles. Surfaces: writes the contact
// count of its own particles. Particle level: marks the coarse cells of expired particles, and requests a full search
// if a particle is too fast, with atomics. The first thread that finds the list stale writes the dispatch sizes of
// the search.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> watched: array<array<vec4u, 2>>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches of the search: see shaders/common/find_contacts.wgsl.
@group(0) @binding(8) var<storage, read_write> dispatches: array<u32>;
// See search.wgsl.
@group(0) @binding(9) var<storage, read_write> cells: array<atomic<u32>>;

// Below 1/(2√3): if no component of a displacement relative to the drift exceeds this share of a length, no two
// displacements differ by more than that length.
const SLOW = 0.28;

// Particles per thread, at most 32.
override SHARE: u32 = 1u;

// True if contacts of some particles are disabled.
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
        // Neighbouring threads read neighbouring particles.
        let i = min(thread + n * threads, params.particle_count - 1u);
        let is_own = thread + n * threads < params.particle_count;
        if !ONLY_PARTICLES {
            // apply_corrections.wgsl has cleared the sums; the count or the truncation mark may remain.
            let contacts = corrections[i].w;
            if contacts != 0 && is_own {
                // Truncation before a reset does not count.
                corrections[i].w = select(0, WAS_CUT, contacts < 0 && substep.now > 0u);
            }
        }
        let look = look_at(i, substep);
        let touches = !SOME_UNTOUCHABLE || material_of(contact_particles[i].w) != UNTOUCHABLE;
        stale = stale || (look.is_stale && touches);
        is_hurried = is_hurried || (look.is_hurried && touches);
        worn |= select(0u, 1u << n, look.is_expired && touches);
    }
    // Rare updates follow the loop, because software drivers execute them in each iteration.
    if is_hurried {
        atomicStore(&contact_status.hurried, 1u);
    }
    while worn != 0u {
        let i = min(thread + firstTrailingBit(worn) * threads, params.particle_count - 1u);
        mark_worn(opaque(positions[i].xyz + displacements[i].xyz, params.zero));
        worn &= worn - 1u;
    }
    // The host may have marked the list as stale; thread 0 reads that.
    stale = stale || (thread == 0u && atomicLoad(&contact_status.stale) != HOLDS);
    // One thread writes the sizes: the first to mark the list, or thread 0 if the host has marked it.
    var is_first = false;
    if stale {
        is_first = atomicMax(&contact_status.stale, EXPIRED) == HOLDS || thread == 0u;
    }
    set_sizes(select(0u, SEARCH_PASSES, is_first));
}

// Values of ContactStatus that all particles share.
struct Substep {
    now: u32,
    searched: u32,
    horizon: u32,
    drift: vec3f,
}

struct Look {
    // The list is not valid for the particle.
    is_stale: bool,
    // The particle joins the next search.
    is_expired: bool,
    // The particle is so fast that the next search must include all particles.
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
    // Not `>`, so that NaN counts too.
    let is_aside = !(aside <= half * half);
    var look = Look(is_aside || since > horizon, false, false);
    if !ONLY_PARTICLES {
        // Also at the start of the substep: contacts may have moved the particle at the end of the last one.
        let began = aside_from_way(own, pace, since, x, own.displacement, params.zero);
        look.is_stale = look.is_stale || opaque_square(began, params.zero) > half * half;
    }
    if ONLY_PARTICLES {
        let against = abs(opaque(d - substep.drift, params.zero));
        // Assume two predicted positions that are more than twice the reach apart (± half the margin). If the
        // displacements differ by at most reach + margin, the particles have not met within the substep.
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
    // Read first: most cells are marked already.
    if (atomicLoad(&cells[word]) & mark) == 0u {
        atomicOr(&cells[word], mark);
    }
}

// Sets the dispatch sizes of the first `parts` passes of the search: all or none. A loop instead of a branch, because
// software drivers unroll a loop inside a branch and execute all of it.
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
