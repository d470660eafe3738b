// Projects the constraints of tiles: one thread a tile of one phase, which shares no particle with the others of the phase. `solve_tile` is in
// shaders/project/tile.wgsl and src/gpu/tiles.rs. Reads and writes the displacements of the particles of the tile.

// Three rows a tile: first particle, columns of its grid, which slots there are (two words); which links there are (three words), first
// record; the materials of the links.
@group(0) @binding(6) var<storage, read> tiles: array<vec4u>;

fn tile_words(tile: u32, word: u32) -> vec4u {
    return tiles[3u * tile + word / 4u];
}

// All displacements are in one buffer.
fn offset_of_moves(tile: u32, first: u32) -> u32 {
    return 0u;
}

fn place_in_batch(particle: u32) -> vec4f {
    return positions[particle];
}

fn move_of(particle: u32, offset: u32) -> vec3f {
    return displacements[particle].xyz;
}

fn keep_move(particle: u32, offset: u32, d: vec3f) {
    displacements[particle] = vec4f(d, 0.0);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_tile(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    solve_tile(span.first + i);
}
