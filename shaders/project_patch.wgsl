// Projects the constraints of patches: one workgroup a patch of one layer, which shares no particle with the others of the layer. It keeps
// what its constraints move in its own memory, and solves them by rounds, in each of which no two name the same particle. See
// src/patches.rs. Reads and writes the displacements of the particles of the patch.

// For each patch a head of 8 words: where its particles stand, how many, where its rounds stand, how many, where the local particles of its
// constraints stand, its first record; then all that these point to.
@group(0) @binding(6) var<storage, read> patches: array<u32>;

const HEAD = 8u;

// x and w; d.
var<workgroup> places: array<vec4f, MOST_PARTICLES>;
var<workgroup> moves: array<vec3f, MOST_PARTICLES>;

fn solve_in_patch(place: u32, locals: u32) {
    let record = load(place);
    var d: Points;
    var p: Points;
    var w: Weights;
    let x0 = places[locals & 255u];
    for (var k = 0u; k < ARITY; k++) {
        let local = (locals >> (8u * k)) & 255u;
        let x = places[local];
        d[k] = moves[local];
        w[k] = x.w;
        // All in the frame of x₀, so that differences keep their precision.
        p[k] = (x.xyz - x0.xyz) + d[k];
    }
    let impulses = impulses_of(place, record, materials[word(record, ARITY)], p, d, w);
    for (var k = 0u; k < ARITY; k++) {
        moves[(locals >> (8u * k)) & 255u] = d[k] + impulses[k] * w[k];
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_patch(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let index = group.x + group.y * 65535u;
    if index >= span.count {
        return;
    }
    let head = HEAD * (span.first + index);
    let particles_at = patches[head];
    let particle_count = patches[head + 1u];
    let rounds_at = patches[head + 2u];
    let round_count = patches[head + 3u];
    let locals_at = patches[head + 4u] - patches[head + 5u];
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        let particle = patches[particles_at + k];
        places[k] = positions[particle];
        moves[k] = displacements[particle].xyz;
    }
    workgroupBarrier();
    for (var round = 0u; round < round_count; round++) {
        let first = patches[rounds_at + 2u * round];
        let end = first + patches[rounds_at + 2u * round + 1u];
        for (var place = first + lane; place < end; place += WORKGROUP_SIZE) {
            solve_in_patch(place, patches[locals_at + place]);
        }
        workgroupBarrier();
    }
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        displacements[patches[particles_at + k]] = vec4f(moves[k], 0.0);
    }
}
