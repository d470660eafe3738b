// Ends a step of the attachments: computes their mean forces, breaks those whose force exceeds their break force, and puts
// points in space at their targets.
// One thread per attachment. Writes its own state. Mean force: Σ ∇C Δλ/(h dt).

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(2) var<storage, read_write> states: array<AttachmentState>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn finish_attachments(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&states) {
        return;
    }
    let unit = opaque1(params.h * params.dt, params.zero);
    let force = opaque(states[i].sum / unit, params.zero);
    let break_force = attachments[i].break_force;
    if break_force > 0.0 && length(force) > break_force {
        states[i].broken = 1u;
    }
    states[i].force = force;
    states[i].sum = vec3f();
    states[i].moment = vec3f();
    states[i].substep = 0u;
    states[i].anchor = attachments[i].goal;
}
