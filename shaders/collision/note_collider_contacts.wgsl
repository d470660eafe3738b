// Notes the contacts of particles with colliders of a step in the table of the step, with their normal impulses.
// One thread per particle. Reads positions and collider contacts. Writes the table: see event_table.wgsl for the races.
// Counterpart: src/reference/events.rs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> collider_contacts: array<ColliderContact>;
@group(0) @binding(3) var<storage, read_write> status: Status;
@group(0) @binding(4) var<storage, read_write> event_table: array<ContactEntry>;
@group(0) @binding(5) var<storage, read_write> contact_events: ContactEventList;

@compute @workgroup_size(WORKGROUP_SIZE)
fn note_collider_contacts(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    for (var slot = 0u; slot < 2u; slot++) {
        let owner = collider_contacts[i].impulses[slot].impulse.w;
        if owner != 0u {
            let key = vec4u(i, owner - 1u, 0u, COLLIDER_KIND << 30u);
            let impulse = collider_contacts[i].impulses[slot].moment.w;
            note_contact(table_of(status.steps), key, 0xffffffffu, impulse, positions[i].xyz);
        }
    }
}
