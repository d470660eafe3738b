// Tables of the contacts of a step, one for odd and one for even steps, as hash tables with linear probing. The including
// file declares `event_table` and `contact_events`.
// A contact is noted once per dispatch, so threads of one dispatch never look for the same key: an entry that another
// thread has just claimed is skipped unread. Sums are in the order of the substeps, so they are deterministic.
// Counterparts: src/collision/events.rs and src/reference/events.rs.

// A contact in a step.
struct ContactEntry {
    // Particles and kind, as `pack`; kind 3 is a particle and the index of a collider.
    key: vec4u,
    position: vec3f,
    // Sum of the normal impulses [N s].
    impulse: f32,
    // 0 if the entry is empty, else the stamp of the dispatch that claimed it.
    stamp: atomic<u32>,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

struct ContactEventRow {
    // The key, with the phase in the bits 28 and 29 of the last word.
    key: vec4u,
    position: vec3f,
    impulse: f32,
}

struct ContactEventList {
    // Events, also beyond the capacity; contacts without a place in the table; number of the step.
    count: atomic<u32>,
    lost: atomic<u32>,
    step: u32,
    padding: u32,
    rows: array<ContactEventRow>,
}

const COLLIDER_KIND = 3u;
const MOST_PROBES = 256u;
const NO_ENTRY = 0xffffffffu;

fn table_size() -> u32 {
    return arrayLength(&event_table) / 2u;
}

// Returns the first entry of the table of a step.
fn table_of(step: u32) -> u32 {
    return select(0u, table_size(), (step & 1u) == 1u);
}

fn entry_at(table: u32, key: vec4u, probe: u32) -> u32 {
    var hash = key.x * 0x9e3779b9u;
    hash = (hash ^ (hash >> 15u) ^ key.y) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13u) ^ key.z) * 0xc2b2ae35u;
    hash = (hash ^ (hash >> 16u) ^ key.w) * 0x27d4eb2fu;
    hash ^= hash >> 15u;
    return table + ((hash + probe) & (table_size() - 1u));
}

// Returns the entry of a contact, or NO_ENTRY. No entries may be added to that table in the same dispatch.
fn find_entry(table: u32, key: vec4u) -> u32 {
    for (var probe = 0u; probe < MOST_PROBES; probe++) {
        let at = entry_at(table, key, probe);
        if atomicLoad(&event_table[at].stamp) == 0u {
            return NO_ENTRY;
        }
        if all(event_table[at].key == key) {
            return at;
        }
    }
    return NO_ENTRY;
}

// Adds an impulse to the contact of this step.
fn note_contact(table: u32, key: vec4u, stamp: u32, impulse: f32, position: vec3f) {
    for (var probe = 0u; probe < MOST_PROBES; probe++) {
        let at = entry_at(table, key, probe);
        var claimed = atomicLoad(&event_table[at].stamp);
        if claimed == 0u {
            // Another thread may claim it first, with the same stamp.
            claimed = atomicMax(&event_table[at].stamp, stamp);
            if claimed == 0u {
                event_table[at].key = key;
                event_table[at].position = position;
                event_table[at].impulse = impulse;
                return;
            }
        }
        if claimed != stamp && all(event_table[at].key == key) {
            event_table[at].position = position;
            event_table[at].impulse += impulse;
            return;
        }
    }
    atomicAdd(&contact_events.lost, 1u);
}
