// Shifts the origin of all instances: particles as in shift.wgsl, and the placement of each slot in its last step.
// One thread per particle of all slots; the first threads also take one slot each. Reads the offset. Writes position
// and residual of its own particle, and the placement of its own slot. src/gpu/instance_pool.rs generates the
// constants.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> offset: vec4f;
@group(0) @binding(2) var<storage, read_write> positions: array<vec4f>;
// As in instances.wgsl.
@group(0) @binding(3) var<storage, read_write> motions: array<vec4u>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn instances_shift(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= ROWS_OF_SLOTS / 2u {
        return;
    }
    let x = positions[i];
    let sum = two_sum(x.xyz, offset.xyz, params.zero);
    if is_finite(sum.sum) {
        var residual = unpacked(motions[2u * i + 1u]);
        residual.position = kept_of_position(residual.position + sum.residual);
        positions[i] = vec4f(sum.sum, x.w);
        motions[2u * i + 1u] = packed(residual, params.zero);
    }
    if i < ROWS_OF_SLOTS / (2u * ASSET_PARTICLES) {
        let put = ROWS_OF_SLOTS + 2u * i;
        let row = motions[put];
        motions[put] = vec4u(bitcast<vec3u>(opaque(bitcast<vec3f>(row.xyz) + offset.xyz, params.zero)), row.w);
    }
}
