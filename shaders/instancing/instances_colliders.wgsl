// Interpolates the poses of the colliders of instances for all substeps of a step, then ends the step of the colliders
// (shaders/collision/collider_poses.wgsl).
// One workgroup per collider; its threads take the substeps in turn. Writes the rows of its own collider.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> colliders: array<Collider>;
@group(0) @binding(3) var<storage, read_write> collider_rows: ColliderRows;

@compute @workgroup_size(WORKGROUP_SIZE)
fn instances_colliders(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x;
    let collider = colliders[index];
    for (var substep = thread; substep < contact_params.substeps; substep += WORKGROUP_SIZE) {
        collider_rows.rows[substep * contact_params.collider_count + index] = interpolated(collider, substep);
    }
    storageBarrier();
    workgroupBarrier();
    if thread == 0u {
        colliders[index] = committed(collider);
    }
}
