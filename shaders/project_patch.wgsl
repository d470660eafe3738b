// Projects the constraints of patches: one workgroup a patch of one layer, which shares no particle with the others of the layer. It keeps
// what its constraints move in its own memory, and solves them by rounds, in each of which no two name the same particle. See
// src/patches.rs. Reads and writes the displacements of the particles of the patch.

// For each patch a head of 8 words: where its particles stand, how many, where its rounds stand, how many, where the local particles of its
// constraints stand, its first record; then all that these point to.
@group(0) @binding(6) var<storage, read> patches: array<u32>;

const HEAD = 8u;

// A mask of rounds has so many bits.
const MOST_ROUNDS = 64u;

// x and w; d.
var<workgroup> places: array<vec4f, MOST_PARTICLES>;
var<workgroup> moves: array<vec4f, MOST_PARTICLES>;
// The first constraint of each round, and behind the last.
var<workgroup> bounds: array<u32, MOST_ROUNDS + 1u>;

// What memory has of a constraint.
struct Constraint {
    record: Record,
    // The local places of its particles, a byte each.
    locals: u32,
}

fn constraint_at(place: u32, locals_at: u32) -> Constraint {
    return Constraint(load(place), patches[locals_at + place]);
}

fn solve_in_patch(place: u32, constraint: Constraint, material: ScaledMaterial) {
    let locals = constraint.locals;
    var d: Points;
    var p: Points;
    var w: Weights;
    let x0 = places[locals & 255u];
    for (var k = 0u; k < ARITY; k++) {
        let local = (locals >> (8u * k)) & 255u;
        let x = places[local];
        d[k] = moves[local].xyz;
        w[k] = x.w;
        p[k] = relative_to_first(k, x.xyz, x0.xyz, d[k]);
    }
    let impulses = impulses_of(place, constraint.record, material, p, d, w);
    for (var k = 0u; k < ARITY; k++) {
        moves[(locals >> (8u * k)) & 255u] = vec4f(d[k] + impulses[k] * w[k], 0.0);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_patch(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let index = group.x + group.y * 65535u;
    if index >= span.count {
        return;
    }
    let head = HEAD * (span.first + index);
    let particles_at = patches[head];
    let particle_count = patches[head + 1u];
    let rounds_at = patches[head + 2u];
    let round_count = patches[head + 3u];
    let locals_at = patches[head + 4u] - patches[head + 5u];
    // While a round is solved, what the next one takes is on its way: memory is slower than a round.
    var place = patches[head + 5u] + lane;
    var next = constraint_at(place, locals_at);
    if lane < round_count {
        bounds[lane] = patches[rounds_at + 2u * lane];
        if lane + 1u == round_count {
            bounds[round_count] = bounds[lane] + patches[rounds_at + 2u * lane + 1u];
        }
    }
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        let particle = patches[particles_at + k];
        places[k] = positions[particle];
        moves[k] = displacements[particle];
    }
    var material = materials[word(next.record, ARITY)];
    workgroupBarrier();
    for (var round = 0u; round < round_count; round++) {
        let end = bounds[round + 1u];
        let own = next;
        let own_place = place;
        place = end + lane;
        next = constraint_at(min(place, bounds[round_count] - 1u), locals_at);
        if own_place < end {
            solve_in_patch(own_place, own, material);
        }
        for (var more = own_place + WORKGROUP_SIZE; more < end; more += WORKGROUP_SIZE) {
            let other = constraint_at(more, locals_at);
            solve_in_patch(more, other, materials[word(other.record, ARITY)]);
        }
        material = materials[word(next.record, ARITY)];
        workgroupBarrier();
    }
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        displacements[patches[particles_at + k]] = moves[k];
    }
}
