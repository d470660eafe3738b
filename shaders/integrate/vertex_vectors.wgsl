// Copies positions, normals or velocities of particles into the vertex buffer of the host program.
// One thread per vertex. Reads the particle of its vertex and the vector of that particle. Writes the words of its own
// vertex; the host checks that the stride is at least the size of the format.

@group(0) @binding(0) var<uniform> stream: VertexStream;
@group(0) @binding(1) var<storage, read> vectors: array<vec4u>;
// particle per vertex
@group(0) @binding(2) var<storage, read> vertices: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn vertex_vectors(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < stream.vertex_count {
        // Words, not numbers: a copy keeps all bits.
        store_vertex(i, vec4u(vectors[vertices[i]].xyz, stream.last));
    }
}
