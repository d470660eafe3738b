// Shifts the origin: adds an offset to the skinned poses and to those at the start of the step.
// One thread per skinned particle. Reads the offset. Writes its own pose and state.
// Both buffers have rows of 32 bytes; the fourth word of a state counts substeps.

@group(0) @binding(0) var<uniform> offset: vec4f;
@group(0) @binding(1) var<storage, read_write> poses: array<array<vec4f, 2>>;
@group(0) @binding(2) var<storage, read_write> states: array<array<vec4u, 2>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn shift_skinned(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&poses) {
        return;
    }
    poses[i][0] = vec4f(poses[i][0].xyz + offset.xyz, 0.0);
    let state = states[i][0];
    states[i][0] = vec4u(bitcast<vec3u>(bitcast<vec3f>(state.xyz) + offset.xyz), state.w);
}
