// Finds the pairs that come nearer than their thickness in this substep. Each yields the constraint C = c₀ − n·Σ b d
// ≤ 0 at its closest points at the time of impact (src/collision/pair.rs).
// One thread per pair. Reads pairs, positions and displacements. Appends contacts in any order, and counts the
// contacts of each particle with atomics. The first contact of a particle is marked: it applies the corrections.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> contacts: array<ActiveContact>;
// Rows of four words, each row for all particles:
// - a sum of the corrections in quanta; number of contacts
// - 1 + the place of the first contact of a list (see `first_contact`), in even and in odd substeps; mask of the bodies that the
//   particle intersects; the truncation of the last round
// - the other sum of the corrections
@group(0) @binding(7) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;
@group(0) @binding(9) var<storage, read> previous: array<PreviousContact>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn find_contacts(@builtin(global_invocation_id) id: vec3u) {
    let place = thread_index(id);
    if place < contact_status.pair_count {
        contact(pairs[place]);
    }
}

// Positions of the particles of a pair relative to the first, and their relative displacements.
struct Pair {
    p: Four,
    d: Four,
    thickness: f32,
}

fn pair_at(kind: u32, particles: vec4u) -> Pair {
    let d0 = displacements[particles.x].xyz;
    var pair: Pair;
    pair.p = relative_positions(particles);
    for (var k = 1u; k < most_members(); k++) {
        pair.d[k] = opaque(displacements[particles[k]].xyz - d0, params.zero);
    }
    pair.thickness = pair_thickness(kind, particles);
    return pair;
}

fn contact(row: vec4u) {
    let kind = select(pair_kind(row), PARTICLES, ONLY_PARTICLES);
    let particles = pair_particles(row);
    let pair = pair_at(kind, particles);
    let meeting = meet(kind, pair.p, pair.d, pair.thickness, contact_params.recovery, params.zero);
    if !meeting.is_met {
        return;
    }
    if is_tangled(kind, particles) {
        return;
    }
    let start = closest(kind, pair.p, params.zero).distance;
    let overlap = pair.thickness - start;
    if overlap > 0.0 {
        atomicMax(&contact_status.deepest, bitcast<u32>(overlap));
    }
    if overlap > 0.5 * pair.thickness {
        atomicAdd(&contact_status.deep_contacts, 1u);
    }
    let slot = new_contact();
    if slot == NO_SLOT {
        return;
    }
    let met = meeting.contact;
    let place = previous_place(row);
    var kept = max(start, opaque1(NEAREST * pair.thickness, params.zero));
    var offset = vec3f();
    if place != NO_SLOT {
        kept = previous[place].distance;
        offset = anchored_offset(place, pair.p, met.normal);
    }
    let distance = min(opaque1(kept + opaque1(SEPARATION * contact_params.recovery, params.zero), params.zero), pair.thickness);
    let c0 = min(met.c0, distance - opaque1(dot(met.normal, weighted_sum(met.weights, pair.p, params.zero)), params.zero));
    let next = u32(atomicExchange(&corrections[first_contact(particles, contact_status.now)], i32(slot + 1u)));
    let marked = counted(row);
    contacts[slot] = ActiveContact(vec4f(met.normal, c0), met.weights, marked, offset, next, vec3f(), 0.0, vec3f(), distance);
}

// Returns the word of `corrections` that holds the first contact of the list of a pair. There are as many lists as particles.
// Both elements select the list, so that it is short even if one of them has contacts with thousands of others.
fn first_contact(particles: vec4u, substep: u32) -> u32 {
    return 4u * (params.particle_count + (particles.x + 31u * particles.z) % params.particle_count) + (substep & 1u);
}

// Limit of the contacts of one list that a thread searches. Eight threads together stay below the iterations after which
// Mesa's llvmpipe ends all loops.
const LONGEST_LIST = 4096u;

// Returns the place of the contact of a pair in the last substep, or NO_SLOT.
fn previous_place(row: vec4u) -> u32 {
    var next = u32(atomicLoad(&corrections[first_contact(pair_particles(row), contact_status.now - 1u)]));
    for (var n = 0u; n < LONGEST_LIST && next != 0u; n++) {
        let place = next - 1u;
        if all(previous[place].pair == row) {
            return place;
        }
        next = previous[place].next & ~SLIDES;
    }
    return NO_SLOT;
}

// Returns the tangential offset of the contact points of a pair since they began to stick.
fn anchored_offset(place: u32, p: Four, normal: vec3f) -> vec3f {
    var offset = previous[place].offset;
    if (previous[place].next & SLIDES) == 0u {
        let moved = weighted_sum(vec4f(0.0, previous[place].weights), p, params.zero);
        offset = opaque(offset + moved, params.zero);
    }
    return opaque(offset - opaque(normal * opaque1(dot(normal, offset), params.zero), params.zero), params.zero);
}
