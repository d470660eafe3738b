// Applies the impulses of mass splitting (Tonge, Benevolenski, Voroshilov 2012): d += w Σ impulses. It handles the
// constraints that the colouring leaves over.
//
// - gather_chunks: one thread per chunk of at most 64 impulses of one particle. Reads impulses. Writes its own sum.
// - gather_hubs: one thread per particle. Reads the sums of its chunks. Writes the displacement of its own particle.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read> impulses: array<vec4f>;
@group(0) @binding(4) var<storage, read> slots: array<u32>;
// first slot, count
@group(0) @binding(5) var<storage, read> chunks: array<vec2u>;
@group(0) @binding(6) var<storage, read_write> sums: array<vec4f>;
// particle, first chunk, chunk count, 0
@group(0) @binding(7) var<storage, read> hubs: array<vec4u>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_chunks(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let chunk = chunks[i];
    var sum = vec3f();
    for (var k = 0u; k < chunk.y; k++) {
        sum += impulses[slots[chunk.x + k]].xyz;
    }
    sums[i] = vec4f(sum, 0.0);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_hubs(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let hub = hubs[i];
    var sum = vec3f();
    for (var k = 0u; k < hub.z; k++) {
        sum += sums[hub.y + k].xyz;
    }
    displacements[hub.x] = vec4f(displacements[hub.x].xyz + sum * positions[hub.x].w, 0.0);
}
