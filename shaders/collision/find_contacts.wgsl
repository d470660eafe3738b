// Finds the pairs that come nearer than their thickness in this substep. Each yields the constraint C = c₀ − n·Σ b d
// ≤ 0 at its closest points at the time of impact (src/collision/pair.rs).
// One thread per SHARE pairs. Reads pairs, positions and displacements. Appends contacts in any order, and counts the
// contacts of each particle with atomics. The first contact of a particle is marked: it applies the corrections.
// find_contacts/particles.wgsl and find_contacts/surfaces.wgsl hold the differences between the levels.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
// three rows per contact: n and c₀; b; particles with the marks of those whose corrections it applies
@group(0) @binding(6) var<storage, read_write> meetings: array<vec4f>;
// four words per particle: corrections in quanta, number of contacts
@group(0) @binding(7) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;
// Pairs per thread.
override SHARE: u32 = 1u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn find_contacts(@builtin(global_invocation_id) id: vec3u) {
    // Neighbouring threads read neighbouring pairs.
    let thread = thread_index(id);
    let count = contact_status.pair_count;
    let threads = (count + SHARE - 1u) / SHARE;
    if thread >= threads {
        return;
    }
    // All pairs get a cheap test first, because software drivers execute the whole loop body in each iteration.
    var near = 0u;
    for (var n = 0u; n < SHARE; n++) {
        let place = thread + n * threads;
        let row = pairs[min(place, count - 1u)];
        if place < count && (SHARE == 1u || may_meet(row)) {
            near |= 1u << n;
        }
    }
    while near != 0u {
        contact(pairs[min(thread + firstTrailingBit(near) * threads, count - 1u)]);
        near &= near - 1u;
    }
}

// Positions of the particles of a pair relative to the first, and their relative displacements.
struct Pair {
    p: Four,
    d: Four,
    thickness: f32,
}

fn pair_at(particles: vec4u) -> Pair {
    let x0 = positions[particles.x].xyz;
    let d0 = displacements[particles.x].xyz;
    var pair: Pair;
    for (var k = 1u; k < most_members(); k++) {
        pair.p[k] = opaque(positions[particles[k]].xyz - x0, params.zero);
        pair.d[k] = opaque(displacements[particles[k]].xyz - d0, params.zero);
    }
    let first = material_of(contact_particles[particles.x].w);
    let second = material_of(contact_particles[particles.z].w);
    pair.thickness = thickness_between(contact_params.materials[first], contact_params.materials[second]);
    return pair;
}

// Returns false if two particles stay apart: the first test of `meet`.
fn may_meet(row: vec4u) -> bool {
    let vacant = is_vacant(row);
    let pair = pair_at(select(pair_particles(row), vec4u(), vacant));
    let gap = length(pair.p[1]) - pair.thickness;
    return !vacant && (gap <= 0.0 || gap < length(pair.d[1]));
}

fn contact(row: vec4u) {
    if ONLY_PARTICLES && is_vacant(row) {
        return;
    }
    let kind = select(pair_kind(row), PARTICLES, ONLY_PARTICLES);
    let particles = pair_particles(row);
    let pair = pair_at(particles);
    let meeting = meet(kind, pair.p, pair.d, pair.thickness, contact_params.recovery, params.zero);
    if !meeting.is_met {
        return;
    }
    if hold_wrong_sides(kind, particles) {
        return;
    }
    let slot = atomicAdd(&contact_status.contact_count, 1u);
    if slot >= contact_params.contact_capacity {
        atomicAdd(&contact_status.lost, 1u);
        return;
    }
    meetings[3u * slot] = vec4f(meeting.contact.normal, meeting.contact.c0);
    meetings[3u * slot + 1u] = meeting.contact.weights;
    var marked = row;
    for (var k = 0u; k < member_count(kind); k++) {
        let before = atomicAdd(&corrections[4u * particles[k] + 3u], 1);
        marked[k] |= select(0u, SETTLES, contacts_of(before) == 0);
    }
    meetings[3u * slot + 2u] = bitcast<vec4f>(marked);
    make_room(slot);
    let overlap = pair.thickness - closest(kind, pair.p, params.zero).distance;
    if overlap > 0.0 {
        atomicMax(&contact_status.deepest, bitcast<u32>(overlap));
    }
}
