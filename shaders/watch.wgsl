// Whether the list of pairs still holds: it does while nothing has moved by more than half the margin since the search,
// against what all travel together. Two things that the list leaves out were thickness + margin apart; so they do not touch.
// One thread a particle. Reads positions, displacements, watched. Writes the corrections of its own particle (none, no
// contact), the mark that the list is stale, and with it the size of the search for pairs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> watched: array<vec4f>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;
// Workgroups of the passes that are dispatched by it: pairs, contacts.
@group(0) @binding(8) var<storage, read_write> dispatches: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn watch(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    corrections[i] = vec4i();
    if (contact_particles[i].w & 0xffu) == UNTOUCHABLE {
        return;
    }
    let travelled = opaque(positions[i].xyz - watched[i].xyz, params.zero) + displacements[i].xyz;
    let drift = opaque(contact_status.drift * f32(contact_status.since), params.zero);
    let moved = opaque(opaque(travelled, params.zero) - drift, params.zero);
    let half = 0.5 * contact_params.margin;
    // Not `>`: what is not finite is watched too.
    if !(dot(moved, moved) <= half * half) {
        atomicStore(&contact_status.stale, 1u);
        // The same by whoever writes it.
        let groups = workgroups(contact_params.query_end, WORKGROUP_SIZE);
        dispatches[0] = groups.x;
        dispatches[1] = groups.y;
    }
}
