// Functions of find_contacts.wgsl for the particle level.

// Indirect dispatch of solve_contacts and apply_corrections.
@group(0) @binding(9) var<storage, read_write> late_dispatches: array<atomic<u32>>;

// First word of that dispatch.
override SEPARATE: u32 = 0u;

// Particles have no intersections.
fn hold_wrong_sides(kind: u32, particles: vec4u) -> bool {
    return false;
}

// Enlarges the dispatch for this contact; only the first contact of each workgroup does.
fn make_room(slot: u32) {
    if slot % WORKGROUP_SIZE == 0u {
        let groups = workgroups(slot + 1u, WORKGROUP_SIZE);
        atomicMax(&late_dispatches[SEPARATE], groups.x);
        atomicMax(&late_dispatches[SEPARATE + 1u], groups.y);
    }
}
