// The displacement that a velocity means: d = h v, where the velocity was set from outside (its w is 1) or the substep
// has changed since the last step. Elsewhere d has held the velocity all along, more exactly than v.
// One thread a particle. Reads velocities, status. Writes displacement, residual and mark of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> velocities: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> status: Status;

@compute @workgroup_size(WORKGROUP_SIZE)
fn start(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let v = velocities[i];
    if v.w != 0.0 || status.last_h != params.h {
        velocities[i] = vec4f(v.xyz, 0.0);
        displacements[i] = vec4f(v.xyz * params.h, 0.0);
        var residual = unpacked(residuals[i]);
        residual.displacement = vec3f();
        residuals[i] = packed(residual, params.zero);
    }
}
