// Writes tangents into the vertex buffer of the host program: ∂x/∂u, orthogonal to the normal, and the handedness.
// One thread per vertex. Reads positions and normals, and the edges of the triangles at its vertex with their factors
// (src/geometry/tangents.rs). Writes the words of its own vertex.
// Lengyel 2001, Computing Tangent Space Basis Vectors for an Arbitrary Mesh.

@group(0) @binding(0) var<uniform> stream: VertexStream;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> surface_normals: array<vec4f>;
// per vertex: particle, first corner, end of the corners, handedness (bits)
@group(0) @binding(3) var<storage, read> rows: array<vec4u>;
// per corner: particles of the next two corners, factors of the edges to them (bits)
@group(0) @binding(4) var<storage, read> corners: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn vertex_tangents(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= stream.vertex_count {
        return;
    }
    let row = rows[i];
    let x = positions[row.x].xyz;
    let n = surface_normals[row.x].xyz;
    var sum = vec3f();
    for (var k = row.y; k < row.z; k++) {
        let corner = corners[k];
        let factors = bitcast<vec2f>(corner.zw);
        sum += (positions[corner.x].xyz - x) * factors.x + (positions[corner.y].xyz - x) * factors.y;
    }
    let across = sum - n * dot(n, sum);
    let l = length(across);
    var t = perpendicular(n);
    if l > 1e-6 * length(sum) {
        t = across / l;
    }
    store_vertex(i, vec4u(bitcast<vec3u>(t), row.w));
}
