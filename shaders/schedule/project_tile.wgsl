// Projects the constraints of tiles. src/gpu/tiles.rs generates `solve_tile`.
// One thread per tile of one phase; tiles of a phase share no particle. Reads and writes the displacements of the
// particles of the tile.

// Three rows per tile: first particle, columns of the grid, mask of slots (two words); mask of constraints (three
// words), first record; materials of the constraints.
@group(0) @binding(6) var<storage, read> tiles: array<vec4u>;

fn tile_words(tile: u32, word: u32) -> vec4u {
    return tiles[3u * tile + word / 4u];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_tile(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    solve_tile(span.first + i);
}
