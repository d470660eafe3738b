// Writes positions, normals or tangents of vertices that are bound to triangles of particles into the vertex buffer of
// the host program.
// One thread per vertex. Reads positions and normals of three particles, and the vector of its vertex in the frame t, b, n
// of its point. n is the interpolated normal, t the direction of the first edge orthogonal to n, b = n × t. Writes the
// words of its own vertex.
// Counterpart: `BoundVertex::frame` in src/scene/render_mesh/bound.rs.

@group(0) @binding(0) var<uniform> stream: VertexStream;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> surface_normals: array<vec4f>;
// per vertex: three particles and a padding; barycentric coordinates of the second and the third (bits) and paddings
@group(0) @binding(3) var<storage, read> rows: array<array<vec4u, 2>>;
// per vertex: the vector in the frame, and the fourth component
@group(0) @binding(4) var<storage, read> vectors: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> output: array<u32>;

struct Bound {
    base: vec3f,
    // the vector in world space
    vector: vec3f,
}

fn unit(v: vec3f, other: vec3f) -> vec3f {
    let l = length(v);
    return select(other, v / select(1.0, l, l > 0.0), l > 0.0);
}

fn bound(i: u32) -> Bound {
    let corners = rows[i][0].xyz;
    let weights = bitcast<vec2f>(rows[i][1].xy);
    let x0 = positions[corners.x].xyz;
    let edge = positions[corners.y].xyz - x0;
    let other = positions[corners.z].xyz - x0;
    let sum = surface_normals[corners.x].xyz * (1.0 - weights.x - weights.y)
        + surface_normals[corners.y].xyz * weights.x + surface_normals[corners.z].xyz * weights.y;
    let n = unit(sum, unit(cross(edge, other), vec3f(0.0, 1.0, 0.0)));
    let t = unit(edge - n * dot(n, edge), perpendicular(n));
    let b = cross(n, t);
    let v = vectors[i].xyz;
    return Bound((x0 + edge * weights.x) + other * weights.y, (t * v.x + b * v.y) + n * v.z);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn vertex_bound_positions(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < stream.vertex_count {
        let own = bound(i);
        store_vertex(i, bitcast<vec4u>(vec4f(own.base + own.vector, vectors[i].w)));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn vertex_bound_directions(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < stream.vertex_count {
        store_vertex(i, bitcast<vec4u>(vec4f(bound(i).vector, vectors[i].w)));
    }
}
