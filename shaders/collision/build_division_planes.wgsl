// Builds a division plane between the elements of each pair that would pass through each other, and computes the
// share by which the displacement of each particle is truncated (Chen et al. 2025, Divide and Truncate; `cuts` in
// src/collision/pair.rs).
// One thread per pair. Reads pairs, positions, displacements, intersections, and the marks of truncated particles.
// Writes the shares with an atomic maximum, in place of the corrections, and the dispatch size of
// truncate_displacements.
// The rounds between the first and the last test only pairs of particles that the round before has truncated. The
// last round excuses no pair. If a pair or a contact was lost, the first round has all particles stopped instead.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;
// Indirect dispatches of truncate_displacements by round, then of solve_contacts and apply_corrections.
@group(0) @binding(8) var<storage, read_write> late_dispatches: array<u32>;

override ROUND: u32 = 0u;
override ROUNDS: u32 = 1u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn build_division_planes(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if atomicLoad(&contact_status.stale) == INCOMPLETE {
        dispatch_truncation();
        return;
    }
    if i >= contact_status.pair_count {
        return;
    }
    let row = pairs[i];
    let is_between = ROUND > 0u && ROUND < ROUNDS - 1u;
    if !is_between || has_been_cut(pair_particles(row)) {
        divide_pair(row);
    }
}

// Returns true if the round before has truncated a particle of the pair.
fn has_been_cut(particles: vec4u) -> bool {
    let mark = mark_for_round(ROUND);
    return atomicLoad(&corrections[4u * particles.x + 3u]) == mark
        || atomicLoad(&corrections[4u * particles.y + 3u]) == mark
        || atomicLoad(&corrections[4u * particles.z + 3u]) == mark
        || atomicLoad(&corrections[4u * particles.w + 3u]) == mark;
}

fn divide_pair(row: vec4u) {
    let kind = pair_kind(row);
    let particles = pair_particles(row);
    let x0 = positions[particles.x].xyz;
    var p: Four;
    var e: Four;
    for (var k = 0u; k < 4u; k++) {
        p[k] = opaque(positions[particles[k]].xyz - x0, params.zero);
        e[k] = opaque(displacements[particles[k]].xyz - contact_status.drift, params.zero);
    }
    let first = contact_particles[particles.x];
    let second = contact_particles[particles.z];
    let thickness = pair_thickness(kind, particles, first.w & 0xffu, second.w & 0xffu);
    let cut = cuts(kind, p, e, thickness, ROUND < ROUNDS - 1u, params.zero);
    var marks: vec4u;
    for (var k = 0u; k < 4u; k++) {
        marks[k] = u32(atomicLoad(&corrections[mask_word(particles[k], params.particle_count)]));
    }
    if all(cut == vec4f())
        || (atomicLoad(&contact_status.crossing_count) > 0u && are_tangled(kind, marks, mark_of(first), mark_of(second))) {
        return;
    }
    for (var k = 0u; k < select(4u, 2u, kind == PARTICLES); k++) {
        // Positive floats have the order of their bits.
        atomicMax(&corrections[4u * particles[k]], bitcast<i32>(cut[k]));
    }
    dispatch_truncation();
}

// Sets the size of the dispatch that truncates. All threads write the same values.
fn dispatch_truncation() {
    let groups = workgroups(params.particle_count, WORKGROUP_SIZE);
    late_dispatches[3u * ROUND] = groups.x;
    late_dispatches[3u * ROUND + 1u] = groups.y;
}
