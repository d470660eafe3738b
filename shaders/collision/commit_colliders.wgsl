// Ends a step: moves each collider to its target pose (collider_poses.wgsl).
// One thread per collider. Writes its own collider.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> colliders: array<Collider>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn commit_colliders(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    // An encoder recorded before colliders were added still binds the old buffer.
    if i >= min(contact_params.collider_count, arrayLength(&colliders)) {
        return;
    }
    colliders[i] = committed(colliders[i]);
}
