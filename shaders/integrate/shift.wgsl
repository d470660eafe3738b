// Shifts the origin: adds an offset to all positions and the rounding error to the residuals.
// One thread per particle. Reads the offset. Writes position and residual of its own particle. A position that would
// not be finite is left unchanged.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> offset: vec4f;
@group(0) @binding(2) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn shift(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let x = positions[i];
    let sum = two_sum(x.xyz, offset.xyz, params.zero);
    if is_finite(sum.sum) {
        var residual = unpacked(residuals[i]);
        residual.position = kept_of_position(residual.position + sum.residual);
        positions[i] = vec4f(sum.sum, x.w);
        residuals[i] = packed(residual, params.zero);
    }
}
