// Whether the list of pairs still holds: it does up to its horizon, while nothing is aside from where its displacement at the search
// would have brought it by more than half the margin. What the list leaves out would have stayed thickness + margin apart.
// One thread a particle. Reads positions, displacements, watched. Writes the corrections of its own particle (none, no
// contact), the mark that the list is stale, and with it the size of the search for
// pairs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> watched: array<Watched>;
@group(0) @binding(5) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;
// Workgroups of the passes that are dispatched by it: pairs, vertex pairs, edge pairs, contacts.
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
    let travelled = opaque(positions[i].xyz - watched[i].place.xyz, params.zero) + displacements[i].xyz;
    let way = opaque(watched[i].displacement.xyz * f32(contact_status.since), params.zero);
    let moved = opaque(opaque(travelled, params.zero) - way, params.zero);
    let half = 0.5 * contact_params.margin;
    // Marked so by the host, or by one of these; and not `>`: what is not finite is watched too.
    if atomicLoad(&contact_status.stale) == 1u || !(dot(moved, moved) <= half * half) || contact_status.since > contact_status.horizon {
        atomicStore(&contact_status.stale, 1u);
        // The same by whoever writes it.
        let lone = select(contact_params.alone_end - contact_params.alone_first, contact_params.alone_end, contact_params.level == 1u);
        let surfaces = select(0u, 1u, contact_params.level == 2u);
        let sizes = array(lone, surfaces * contact_params.alone_end, surfaces * (contact_params.query_end - contact_params.alone_end));
        for (var part = 0u; part < 3u; part++) {
            let groups = workgroups(sizes[part], WORKGROUP_SIZE);
            dispatches[3u * part] = groups.x;
            dispatches[3u * part + 1u] = groups.y;
        }
    }
}
