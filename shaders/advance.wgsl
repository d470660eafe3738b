// velocity, then predict of the next substep, in one sweep: half the dispatches and half the bytes of the two.
// One thread a particle. Writes position, displacement and residual of its own particle, and counts what is not finite.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<Residual>;
@group(0) @binding(4) var<storage, read_write> status: Status;

@compute @workgroup_size(WORKGROUP_SIZE)
fn advance(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let here = moved(Motion(positions[i], displacements[i].xyz, residuals[i], true), params.velocity_factor, params.zero);
    if !here.finite {
        atomicAdd(&status.non_finite_count, 1u);
        atomicMin(&status.first_non_finite, i);
    }
    let next = predicted(here, params.gravity_step, params.zero);
    positions[i] = next.position;
    displacements[i] = vec4f(next.displacement, 0.0);
    residuals[i] = next.residual;
}
