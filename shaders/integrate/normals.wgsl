// Computes the normals of surfaces (shaders/integrate/shared/normal.wgsl).
// One thread per particle. Reads positions. Writes the normal of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> ring_offsets: array<u32>;
@group(0) @binding(3) var<storage, read> ring_corners: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> surface_normals: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn normals(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < params.particle_count {
        surface_normals[i] = vec4f(normal_of(i), 0.0);
    }
}
