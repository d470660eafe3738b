// Contact events: the contacts that began, continued and ended in a step, from the tables of this step and of the one
// before (event_table.wgsl).
//
// - clear_contact_events, at the start of a step: one thread per entry of a table. Clears the table of the step, which is
//   that of the step before the last, and the list of events.
// - collect_contact_events, at the end: one thread per entry of both tables. Reads the tables; appends to the list in any
//   order. The host sorts it.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> status: Status;
@group(0) @binding(2) var<storage, read_write> event_table: array<ContactEntry>;
@group(0) @binding(3) var<storage, read_write> contact_events: ContactEventList;

@compute @workgroup_size(WORKGROUP_SIZE)
fn clear_contact_events(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= table_size() {
        return;
    }
    let step = status.steps;
    atomicStore(&event_table[table_of(step) + i].stamp, 0u);
    if step == 0u {
        // After a reset there is no step before.
        atomicStore(&event_table[table_of(1u) + i].stamp, 0u);
    }
    if i == 0u {
        atomicStore(&contact_events.count, 0u);
        atomicStore(&contact_events.lost, 0u);
        contact_events.step = step + 1u;
    }
}

const BEGAN = 0u;
const CONTINUED = 1u;
const ENDED = 2u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn collect_contact_events(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&event_table) || atomicLoad(&event_table[i].stamp) == 0u {
        return;
    }
    let key = event_table[i].key;
    let own = table_of(status.steps);
    let other = table_of(status.steps + 1u);
    let is_own = (i >= table_size()) == (own > 0u);
    let has_other = find_entry(select(own, other, is_own), key) != NO_ENTRY;
    if is_own {
        append_event(key, select(BEGAN, CONTINUED, has_other), i, event_table[i].impulse);
    } else if !has_other {
        append_event(key, ENDED, i, 0.0);
    }
}

fn append_event(key: vec4u, phase: u32, entry: u32, impulse: f32) {
    let place = atomicAdd(&contact_events.count, 1u);
    if place < arrayLength(&contact_events.rows) {
        let marked = vec4u(key.xyz, key.w | (phase << 28u));
        contact_events.rows[place] = ContactEventRow(marked, event_table[entry].position, impulse);
    }
}
