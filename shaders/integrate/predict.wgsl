// Predicts positions: d += h² (g + a). From here on x + d is the predicted position (Macklin et al. 2016, alg. 1,
// line 1).
// One thread per particle. Reads positions and accelerations. Writes displacement and residual of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> accelerations: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> residuals: array<vec4u>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn predict(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    var increment = params.gravity_step;
    if by_thread(params.accelerated, i) == 1u {
        increment += accelerations[i].xyz * (params.h * params.h);
    }
    let next = predicted(Motion(positions[i], displacements[i].xyz, unpacked(residuals[i])), increment, params.zero);
    displacements[i] = vec4f(next.displacement, 0.0);
    residuals[i] = packed(next.residual, params.zero);
}
