// The layout of an attribute in the vertex buffer of the host program. vertex_vectors.wgsl and vertex_tangents.wgsl
// include it and declare `stream` and `output`.

struct VertexStream {
    vertex_count: u32,
    // First word of the attribute in the binding, and words from vertex to vertex.
    offset: u32,
    stride: u32,
    // Words of the attribute: 3 or 4.
    components: u32,
    // The fourth word of copied vectors (bits).
    last: u32,
}

fn store_vertex(i: u32, words: vec4u) {
    let first = stream.offset + i * stream.stride;
    output[first] = words.x;
    output[first + 1u] = words.y;
    output[first + 2u] = words.z;
    if by_thread(stream.components, i) == 4u {
        output[first + 3u] = words.w;
    }
}
