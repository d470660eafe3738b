// Counts quarantined particles once per step; finish.wgsl and instances.wgsl include it and define the bindings.
// Atomics in every substep would be slower.

// Counts a particle if the last word of its residual marks it as quarantined in this step. Returns true if so.
fn count_quarantined(word: u32, i: u32) -> bool {
    let held = (word & QUARANTINED) != 0u;
    if held {
        atomicAdd(&status.non_finite_count, 1u);
        atomicMin(&status.first_non_finite, i);
    }
    return held;
}
