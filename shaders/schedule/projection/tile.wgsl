// Helpers for the projection of a tile (src/schedule/tiling.rs). src/gpu/tiles.rs generates `solve_tile`, with one
// block per constraint of the pattern, so that the particles of a tile stay in registers.
// `solve_tile` loads the particles, calls `projected` (solve.wgsl) for each constraint, and stores the displacements.
// project_tile.wgsl and shaders/instancing/parts/tiles.wgsl define the layout of tiles.

// Parameters of the kind: constants in the shader if all tiles share them, otherwise loaded.
alias Record = vec4f;

fn parameter(record: Record, index: u32) -> f32 {
    return record[index];
}

// Hides constant parameters from the compiler, which would otherwise reassociate terms and differ from the CPU.
fn opaque_record(words: vec4u) -> Record {
    return bitcast<vec4f>(words ^ vec4u(span.zero));
}

fn load(place: u32) -> Record {
    return vec4f(load_word(place, ARITY + 1u), load_word(place, ARITY + 2u), load_word(place, ARITY + 3u), load_word(place, ARITY + 4u));
}

fn load_word(place: u32, word: u32) -> f32 {
    return bitcast<f32>(records[place * ROWS + word / 4u][word % 4u]);
}

// Returns the particle of a slot; the first particle of the tile if the slot is empty, so that loads stay valid.
fn particle_at(tile: vec4u, is_there: bool, row: u32, column: u32) -> u32 {
    return tile.x + select(0u, row * tile.y + column, is_there);
}

fn has(bits: u32, bit: u32) -> bool {
    return (bits & (1u << bit)) != 0u;
}
