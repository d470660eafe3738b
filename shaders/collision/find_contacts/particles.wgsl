// Where nothing but particles touches.

// Workgroups of separate and settle.
@group(0) @binding(9) var<storage, read_write> late_dispatches: array<atomic<u32>>;

// Where those stand.
override SEPARATE: u32 = 0u;

// Nothing is entangled.
fn hold_wrong_sides(kind: u32, particles: vec4u) -> bool {
    return false;
}

// As many workgroups as it takes for this contact, too: each begins with one.
fn make_room(slot: u32) {
    if slot % WORKGROUP_SIZE == 0u {
        let groups = workgroups(slot + 1u, WORKGROUP_SIZE);
        atomicMax(&late_dispatches[SEPARATE], groups.x);
        atomicMax(&late_dispatches[SEPARATE + 1u], groups.y);
    }
}
