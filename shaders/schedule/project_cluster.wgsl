// Projects the constraints of clusters (src/schedule/clusters.rs) in workgroup memory.
// One workgroup per cluster of one layer; clusters of a layer share no particle. The constraints are solved in rounds
// with a barrier after each; constraints of a round share no particle. Reads and writes the displacements of the
// particles of the cluster.

// A head of 8 words per cluster: start and number of its particles, start and number of its rounds, start of the
// local particle indices of its constraints, first record. The arrays follow the heads.
@group(0) @binding(6) var<storage, read> clusters: array<u32>;

const HEAD = 8u;

// Largest number of rounds of a cluster.
const MOST_ROUNDS = 64u;

// x and w; d
var<workgroup> places: array<vec4f, MOST_PARTICLES>;
var<workgroup> moves: array<vec4f, MOST_PARTICLES>;
// First constraint of each round, and the end of the last round.
var<workgroup> bounds: array<u32, MOST_ROUNDS + 1u>;

// A constraint as stored.
struct Constraint {
    record: Record,
    // Local indices of its particles, one byte each.
    locals: u32,
}

fn constraint_at(place: u32, locals_at: u32) -> Constraint {
    return Constraint(load(place), clusters[locals_at + place]);
}

fn position_at(slot: u32) -> vec4f {
    return places[slot];
}

fn displacement_at(slot: u32) -> vec3f {
    return moves[slot].xyz;
}

fn set_displacement(slot: u32, d: vec3f) {
    moves[slot] = vec4f(d, 0.0);
}

fn slots_of(constraint: Constraint) -> Slots {
    var slots: Slots;
    for (var k = 0u; k < ARITY; k++) {
        slots[k] = (constraint.locals >> (8u * k)) & 255u;
    }
    return slots;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_cluster(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    if index >= span.count {
        return;
    }
    let head = HEAD * (span.first + index);
    let particles_at = clusters[head];
    let particle_count = clusters[head + 1u];
    let rounds_at = clusters[head + 2u];
    let round_count = clusters[head + 3u];
    let locals_at = clusters[head + 4u] - clusters[head + 5u];
    // Loads for the next round are issued while a round is solved, to hide their latency.
    var place = clusters[head + 5u] + thread;
    var next = constraint_at(place, locals_at);
    if thread < round_count {
        bounds[thread] = clusters[rounds_at + 2u * thread];
        if thread + 1u == round_count {
            bounds[round_count] = bounds[thread] + clusters[rounds_at + 2u * thread + 1u];
        }
    }
    for (var k = thread; k < particle_count; k += WORKGROUP_SIZE) {
        let particle = clusters[particles_at + k];
        places[k] = positions[particle];
        moves[k] = displacements[particle];
    }
    var material = materials[word(next.record, ARITY)];
    workgroupBarrier();
    for (var round = 0u; round < round_count; round++) {
        let end = bounds[round + 1u];
        let own = next;
        let own_place = place;
        place = end + thread;
        next = constraint_at(min(place, bounds[round_count] - 1u), locals_at);
        if own_place < end {
            solve(own_place, own.record, slots_of(own), material);
        }
        for (var more = own_place + WORKGROUP_SIZE; more < end; more += WORKGROUP_SIZE) {
            let other = constraint_at(more, locals_at);
            solve(more, other.record, slots_of(other), materials[word(other.record, ARITY)]);
        }
        material = materials[word(next.record, ARITY)];
        workgroupBarrier();
    }
    for (var k = thread; k < particle_count; k += WORKGROUP_SIZE) {
        displacements[clusters[particles_at + k]] = moves[k];
    }
}
