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
// - 1 + the place of the first contact with it as first particle, in even and in odd substeps; mask of the components
//   that it intersects; the truncation of the last round
// - the other sum of the corrections
@group(0) @binding(7) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;
@group(0) @binding(9) var<storage, read> anchors: array<FrictionAnchor>;

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
    let x0 = positions[particles.x].xyz;
    let d0 = displacements[particles.x].xyz;
    var pair: Pair;
    for (var k = 1u; k < most_members(); k++) {
        pair.p[k] = opaque(positions[particles[k]].xyz - x0, params.zero);
        pair.d[k] = opaque(displacements[particles[k]].xyz - d0, params.zero);
    }
    let first = material_of(contact_particles[particles.x].w);
    let second = material_of(contact_particles[particles.z].w);
    pair.thickness = pair_thickness(kind, particles, first, second);
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
    if keeps_wrong_sides(kind, particles) {
        return;
    }
    let overlap = pair.thickness - closest(kind, pair.p, params.zero).distance;
    if overlap > 0.0 {
        atomicMax(&contact_status.deepest, bitcast<u32>(overlap));
    }
    if overlap > 0.5 * pair.thickness {
        atomicAdd(&contact_status.deep_contacts, 1u);
    }
    let slot = atomicAdd(&contact_status.contact_count, 1u);
    if slot >= arrayLength(&contacts) {
        atomicAdd(&contact_status.lost, 1u);
        atomicStore(&contact_status.stale, INCOMPLETE);
        return;
    }
    var marked = row;
    for (var k = 0u; k < member_count(kind); k++) {
        let before = atomicAdd(&corrections[4u * particles[k] + 3u], 1);
        marked[k] |= select(0u, SETTLES, contacts_of(before) == 0);
    }
    let met = meeting.contact;
    let offset = anchored_offset(row, pair.p, met.normal);
    let next = u32(atomicExchange(&corrections[first_contact(particles.x, contact_status.now)], i32(slot + 1u)));
    contacts[slot] = ActiveContact(vec4f(met.normal, met.c0), met.weights, marked, offset, next, vec3f(), 0.0, vec3f());
}

// Returns the word of `corrections` that holds the first contact of a particle.
fn first_contact(particle: u32, substep: u32) -> u32 {
    return 4u * (params.particle_count + particle) + (substep & 1u);
}

// Limit of the contacts of one first particle that a thread searches.
const LONGEST_LIST = 4096u;

// Returns the tangential offset of the contact points of a pair since they began to stick; 0 for a new contact.
fn anchored_offset(row: vec4u, p: Four, normal: vec3f) -> vec3f {
    var next = u32(atomicLoad(&corrections[first_contact(row.x, contact_status.now - 1u)]));
    for (var n = 0u; n < LONGEST_LIST && next != 0u; n++) {
        let place = next - 1u;
        let word = anchors[place].next;
        if all(anchors[place].pair == row) {
            var offset = anchors[place].offset;
            if (word & SLIDES) == 0u {
                offset = opaque(offset + weighted_sum(anchors[place].weights, p, params.zero), params.zero);
            }
            return opaque(offset - opaque(normal * opaque1(dot(normal, offset), params.zero), params.zero), params.zero);
        }
        next = word & ~SLIDES;
    }
    return vec3f();
}

// Returns true if a contact would hold intersecting elements on the wrong sides.
fn keeps_wrong_sides(kind: u32, particles: vec4u) -> bool {
    if ONLY_PARTICLES || atomicLoad(&contact_status.crossing_count) == 0u {
        return false;
    }
    var marks: vec4u;
    for (var k = 0u; k < 4u; k++) {
        marks[k] = u32(atomicLoad(&corrections[mask_word(particles[k], params.particle_count)]));
    }
    return are_tangled(kind, marks, mark_of(contact_particles[particles.x]), mark_of(contact_particles[particles.z]));
}
