// Sets the displacement d = h v if the user has set the velocity (w = 1) or the substep has changed. Otherwise d
// already holds the velocity, more precisely than v.
// One thread per particle. Reads velocities and status. Writes displacement, residual and mark of its own particle.

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
