// Sums the multipliers λ of a kind over the substeps of a step (Settings::mean_forces).
//
// - force_sums_clear: one thread per multiplier. Writes 0 to its own sum, once per step.
// - force_sums_add: one thread per multiplier. Reads its λ after the constraints of a substep, and adds it to its own
//   sum.
//
// Both buffers hold the multipliers in the order of the records and have the same length.

@group(0) @binding(0) var<storage, read_write> sums: array<f32>;
// force_sums_add only:
@group(0) @binding(1) var<storage, read> lambdas: array<f32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn force_sums_clear(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < arrayLength(&sums) {
        sums[i] = 0.0;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn force_sums_add(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < arrayLength(&sums) {
        sums[i] += lambdas[i];
    }
}
