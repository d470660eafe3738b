// The normals of the surfaces: the sum of the triangles around a particle, each weighted by its area.
// One thread a particle. Reads positions. Writes the normal of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> ring_offsets: array<u32>;
@group(0) @binding(3) var<storage, read> ring_corners: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> surface_normals: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn normals(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let x = positions[i].xyz;
    var sum = vec3f();
    let end = ring_offsets[i + 1u];
    for (var corner = ring_offsets[i]; corner < end; corner++) {
        let others = ring_corners[corner];
        sum += cross_product(positions[others.x].xyz - x, positions[others.y].xyz - x, params.zero);
    }
    let l = length(sum);
    surface_normals[i] = vec4f(0.0, 1.0, 0.0, 0.0);
    if l > 0.0 {
        surface_normals[i] = vec4f(sum / l, 0.0);
    }
}
