// Instances without colliders: one dispatch runs all substeps of a step.

// Slots of the instances.
@group(0) @binding(7) var<storage, read> live: array<u32>;

fn slot_of(index: u32) -> u32 {
    return live[index];
}

fn begins_step() -> bool {
    return true;
}

fn ends_step() -> bool {
    return true;
}

fn substep_count() -> u32 {
    return pool.substeps;
}

fn rebounded(k: u32, motion: Motion) -> Motion {
    return motion;
}

fn collide_own(substep: u32, thread: u32) {
}
