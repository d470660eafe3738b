// The pairs that come nearer than their thickness in this substep, each with the constraint C = c₀ − n·Σ b d ≤ 0 about its
// closest points at the time of impact; see src/collide/pair.rs.
// One thread a pair. Reads pairs, positions, displacements. Writes contacts, in any order; counts the contacts of each particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> pairs: array<vec4u>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
// Three rows a contact: n and c₀, b, particles.
@group(0) @binding(6) var<storage, read_write> meetings: array<vec4f>;
// Four words a particle: corrections in quanta, and how many contacts it has.
@group(0) @binding(7) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;
// By particle, the marks of the bodies that it has a crossing with; see crossings.wgsl.
@group(0) @binding(9) var<storage, read> tangles: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn contacts(@builtin(global_invocation_id) id: vec3u) {
    let place = thread_index(id);
    if place >= contact_status.pair_count {
        return;
    }
    let row = pairs[place];
    if ONLY_PARTICLES && is_vacant(row) {
        return;
    }
    let kind = pair_kind(row);
    let particles = pair_particles(row);
    let x0 = positions[particles.x].xyz;
    let d0 = displacements[particles.x].xyz;
    var p: Four;
    var d: Four;
    for (var k = 1u; k < 4u; k++) {
        p[k] = opaque(positions[particles[k]].xyz - x0, params.zero);
        d[k] = opaque(displacements[particles[k]].xyz - d0, params.zero);
    }
    let first = contact_particles[particles.x];
    let second = contact_particles[particles.z];
    let thickness =
        thickness_between(contact_params.materials[first.w & 0xffu], contact_params.materials[second.w & 0xffu]);
    let meeting = meet(kind, p, d, thickness, contact_params.recovery, params.zero);
    if !meeting.is_met {
        return;
    }
    if !ONLY_PARTICLES && atomicLoad(&contact_status.crossing_count) > 0u {
        let marks = vec4u(tangles[particles.x], tangles[particles.y], tangles[particles.z], tangles[particles.w]);
        if are_tangled(kind, marks, mark_of(first), mark_of(second)) {
            return;
        }
    }
    let slot = atomicAdd(&contact_status.contact_count, 1u);
    if slot >= contact_params.contact_capacity {
        atomicAdd(&contact_status.lost, 1u);
        return;
    }
    meetings[3u * slot] = vec4f(meeting.contact.normal, meeting.contact.c0);
    meetings[3u * slot + 1u] = meeting.contact.weights;
    meetings[3u * slot + 2u] = bitcast<vec4f>(row);
    for (var k = 0u; k < select(4u, 2u, kind == PARTICLES); k++) {
        atomicAdd(&corrections[4u * particles[k] + 3u], 1);
    }
    let overlap = thickness - closest(kind, p, params.zero).distance;
    if overlap > 0.0 {
        atomicMax(&contact_status.deepest, bitcast<u32>(overlap));
    }
}
