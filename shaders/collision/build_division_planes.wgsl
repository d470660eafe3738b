// Builds a division plane between the elements of each pair that would pass through each other, and computes the
// share by which the displacement of each particle is truncated (Chen et al. 2025, Divide and Truncate; `cuts` in
// src/collision/pair.rs).
// One thread per pair. Reads pairs, positions, displacements, intersections, and the shares of earlier rounds. Writes
// the shares of its round with an atomic maximum, one word a round, in place of the corrections.
// A round returns at once if the round before has truncated nothing. The rounds between the first and the last test
// only pairs of particles that the round before has truncated. The last round excuses no pair.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;

override ROUND: u32 = 0u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn build_division_planes(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= contact_status.pair_count || atomicLoad(&contact_status.cut_round) < ROUND {
        return;
    }
    let row = pairs[i];
    let is_between = ROUND > 0u && ROUND < DIVISION_ROUNDS - 1u;
    if !is_between || has_been_cut(pair_particles(row)) {
        divide_pair(row);
    }
}

// Returns true if the round before has truncated a particle of the pair.
fn has_been_cut(particles: vec4u) -> bool {
    return cut_of(particles.x, ROUND - 1u) != 0
        || cut_of(particles.y, ROUND - 1u) != 0
        || cut_of(particles.z, ROUND - 1u) != 0
        || cut_of(particles.w, ROUND - 1u) != 0;
}

// Returns the bits of the share by which a round has truncated a particle.
fn cut_of(particle: u32, round: u32) -> i32 {
    return atomicLoad(&corrections[cut_word(particle, round, params.particle_count)]);
}

// Returns the displacement of a particle relative to the frame of truncation, truncated by the rounds before.
fn displacement_of(particle: u32) -> vec3f {
    var left = 1.0;
    for (var round = 0u; round < ROUND; round++) {
        left = left_after(left, cut_of(particle, round), params.zero);
    }
    return opaque(opaque(displacements[particle].xyz - contact_status.truncation_frame, params.zero) * left, params.zero);
}

fn divide_pair(row: vec4u) {
    let kind = pair_kind(row);
    let particles = pair_particles(row);
    let p = relative_positions(particles);
    var e: Four;
    for (var k = 0u; k < 4u; k++) {
        e[k] = displacement_of(particles[k]);
    }
    let cut = cuts(kind, p, e, pair_thickness(kind, particles), ROUND < DIVISION_ROUNDS - 1u, params.zero);
    if all(cut == vec4f()) || is_tangled(kind, particles) {
        return;
    }
    for (var k = 0u; k < select(4u, 2u, kind == PARTICLES); k++) {
        // Positive floats have the order of their bits.
        atomicMax(&corrections[cut_word(particles[k], ROUND, params.particle_count)], bitcast<i32>(cut[k]));
    }
    atomicMax(&contact_status.cut_round, ROUND + 1u);
}
