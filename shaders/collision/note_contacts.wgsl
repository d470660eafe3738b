// Notes the contacts of a substep between particles or surfaces in the table of the step, with their normal impulses
// λ_n/h. A contact without force counts only if the step before has it too: it neither begins nor ends there.
// One thread per contact. Reads contacts, positions, and the counts of steps and substeps. Writes the table: see event_table.wgsl for the races.
// Counterpart: src/reference/events.rs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> contacts: array<ActiveContact>;
@group(0) @binding(3) var<storage, read_write> contact_status: ContactStatus;
@group(0) @binding(4) var<storage, read_write> status: Status;
@group(0) @binding(5) var<storage, read_write> event_table: array<ContactEntry>;
@group(0) @binding(6) var<storage, read_write> contact_events: ContactEventList;

@compute @workgroup_size(WORKGROUP_SIZE)
fn note_contacts(@builtin(global_invocation_id) id: vec3u) {
    let place = thread_index(id);
    if place >= used_count(atomicLoad(&contact_status.contact_count), arrayLength(&contacts)) {
        return;
    }
    let own = contacts[place];
    let kind = pair_kind(own.pair);
    if kind == CROSSING {
        return;
    }
    let key = without_marks(own.pair);
    let impulse = opaque1(own.normal_lambda / params.h, params.zero);
    if impulse == 0.0 && find_entry(table_of(status.steps + 1u), key) == NO_ENTRY {
        return;
    }
    let particles = pair_particles(own.pair);
    var position = positions[particles.x].xyz;
    if !ONLY_PARTICLES && kind == EDGES {
        let second = opaque(positions[particles.y].xyz * own.weights.y, params.zero);
        position = opaque(opaque(position * own.weights.x, params.zero) + second, params.zero);
    }
    // The stamp: not 0, and different in each substep.
    note_contact(table_of(status.steps), key, contact_status.now + 1u, impulse, position);
}
