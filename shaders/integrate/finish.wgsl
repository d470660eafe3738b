// Ends a step: writes v = d/h, counts quarantined particles, advances the clock.
// One thread per particle. Reads displacements and quarantine marks. Writes velocity and mark of its own particle;
// thread 0 writes the clock of the status, the counters are atomics.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> velocities: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> status: Status;

@compute @workgroup_size(WORKGROUP_SIZE)
fn finish(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    velocities[i] = vec4f(displacements[i].xyz / params.h, 0.0);
    let word = residuals[i].w;
    if count_quarantined(word, i) {
        residuals[i].w = word & ~QUARANTINED;
    }
    if i == 0u {
        status.steps += 1u;
        status.air += params.air_step;
        status.last_h = params.h;
    }
}
