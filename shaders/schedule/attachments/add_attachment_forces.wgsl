// Adds the mean forces and torques of attachments to those on colliders (collider_forces.wgsl).
// One thread per collider, over all attachments in the order of solve_attachments.wgsl. Writes the two rows of its collider.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read> states: array<AttachmentState>;
// two rows per collider: force, torque
@group(0) @binding(4) var<storage, read_write> forces: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn add_attachment_forces(@builtin(global_invocation_id) id: vec3u) {
    let index = thread_index(id);
    if 2u * index + 1u >= arrayLength(&forces) {
        return;
    }
    let zero = params.zero;
    let colors = order[0];
    var force = vec3f();
    var torque = vec3f();
    for (var place = order[1]; place < order[colors + 1u]; place++) {
        let slot = order[place];
        if (attachments[slot].flags & ON_COLLIDER) != 0u && attachments[slot].collider == index {
            force = opaque(force - states[slot].sum, zero);
            torque = opaque(torque + states[slot].moment, zero);
        }
    }
    let unit = opaque1(params.h * params.dt, zero);
    let before = array(forces[2u * index].xyz, forces[2u * index + 1u].xyz);
    forces[2u * index] = vec4f(before[0] + opaque(force / unit, zero), 0.0);
    forces[2u * index + 1u] = vec4f(before[1] + opaque(torque / unit, zero), 0.0);
}
