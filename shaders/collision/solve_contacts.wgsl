// Computes the normal and friction corrections of all contacts at once by mass splitting (Tonge, Benevolenski,
// Voroshilov 2012). A particle with n contacts counts as n particles of 1/n of its mass.
// Correction: Δxₖ = wₖ bₖ (depth · normal − friction)/Σ wᵢ nᵢ bᵢ², where nᵢ is the number of contacts of particle i.
// One thread per contact. Reads contacts and displacements. Adds the corrections of its particles with atomics.
// Corrections are rounded to whole quanta, so the sum does not depend on the order.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(5) var<storage, read> meetings: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;

@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_contacts(@builtin(global_invocation_id) id: vec3u) {
    let place = thread_index(id);
    let count = min(atomicLoad(&contact_status.contact_count), contact_params.contact_capacity);
    if place == 0u {
        contact_status.most_contacts = max(contact_status.most_contacts, count);
    }
    if place >= count {
        return;
    }
    let plane = meetings[3u * place];
    let weights = meetings[3u * place + 1u];
    let row = bitcast<vec4u>(meetings[3u * place + 2u]);
    let particles = pair_particles(row);
    let members = member_count(pair_kind(row));
    let d0 = displacements[particles.x].xyz;
    var d: Four;
    var w: vec4f;
    var most: vec4f;
    var weight = 0.0;
    for (var k = 0u; k < most_members(); k++) {
        d[k] = opaque(displacements[particles[k]].xyz - d0, params.zero);
    }
    for (var k = 0u; k < members; k++) {
        w[k] = positions[particles[k]].w;
        let n = f32(contacts_of(atomicLoad(&corrections[4u * particles[k] + 3u])));
        let b = weights[k];
        // The limit keeps the sum of all corrections within i32.
        most[k] = min(1e9, 2e9 / n);
        weight = opaque1(weight, params.zero)
            + opaque1(opaque1(w[k] * n, params.zero) * opaque1(b * b, params.zero), params.zero);
    }
    let travel = weighted_sum(weights, d, params.zero);
    let along = opaque1(dot(plane.xyz, travel), params.zero);
    let depth = opaque1(plane.w - along, params.zero);
    if !(depth > 0.0 && weight > 0.0) {
        return;
    }
    let left = material_of(contact_particles[particles.x].w);
    let right = material_of(contact_particles[particles.z].w);
    let friction = contact_params.friction[left * 16u + right];
    let slip = opaque(travel - opaque(plane.xyz * along, params.zero), params.zero);
    let l = length(slip);
    var share = 1.0;
    if l > opaque1(friction.x * depth, params.zero) {
        share = opaque1(friction.y * depth, params.zero) / l;
    }
    if pair_kind(row) == CROSSING {
        // An intersection has no friction.
        share = 0.0;
    }
    let change =
        opaque(opaque(plane.xyz * depth, params.zero) - opaque(slip * share, params.zero), params.zero) / weight;
    for (var k = 0u; k < members; k++) {
        let factor = opaque1(opaque1(w[k] * weights[k], params.zero) * contact_params.inverse_quantum, params.zero);
        let quanta = vec3i(round(clamp(opaque(change, params.zero) * factor, vec3f(-most[k]), vec3f(most[k]))));
        atomicAdd(&corrections[4u * particles[k]], quanta.x);
        atomicAdd(&corrections[4u * particles[k] + 1u], quanta.y);
        atomicAdd(&corrections[4u * particles[k] + 2u], quanta.z);
    }
}
