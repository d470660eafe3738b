// Faults, counted once a step: what finish.wgsl and instances.wgsl share. They have the bindings. Atomics in every substep would cost software
// drivers a fifth of the pass, whether or not there is anything to count.

// Counts a particle if the last word of its residual says that it was held in this step; whether it was.
fn count_quarantined(word: u32, i: u32) -> bool {
    let held = (word & QUARANTINED) != 0u;
    if held {
        atomicAdd(&status.non_finite_count, 1u);
        atomicMin(&status.first_non_finite, i);
    }
    return held;
}
