// Appends contacts. The including file declares `contacts`, `corrections` and `contact_status`.

const NO_SLOT = 0xffffffffu;

// Returns the place of a new contact, or NO_SLOT if the list is full: then a loss is counted, and the list is incomplete.
fn new_contact() -> u32 {
    let slot = atomicAdd(&contact_status.contact_count, 1u);
    if slot < arrayLength(&contacts) {
        return slot;
    }
    atomicAdd(&contact_status.lost, 1u);
    atomicStore(&contact_status.stale, INCOMPLETE);
    return NO_SLOT;
}

// Counts a contact for each of its particles. Returns its row with marks at the particles that had none before: this contact
// applies their corrections.
fn counted(row: vec4u) -> vec4u {
    let particles = pair_particles(row);
    var marked = row;
    for (var k = 0u; k < member_count(pair_kind(row)); k++) {
        let before = atomicAdd(&corrections[4u * particles[k] + 3u], 1);
        marked[k] |= select(0u, APPLIES, contacts_of(before) == 0);
    }
    return marked;
}
