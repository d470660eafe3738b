// Solves the tiles of one kind in an instance, phase by phase. src/gpu/sweep.rs appends the name of the kind to the
// top-level names of its files.

// Reads words of a tile, laid out as in shaders/schedule/project_tile.wgsl.
fn tile_words(at: u32, word: u32) -> vec4u {
    return words_at(at + word);
}

// `head` is the head of the kind; its last word is the start of the phase bounds.
fn solve_tiles(head: u32, thread: u32) {
    let bounds = asset[head + 2u];
    for (var phase = 0u; phase < PHASES; phase++) {
        let end = asset[bounds + phase + 1u];
        for (var at = asset[bounds + phase] + TILE_WORDS * thread; at < end; at += TILE_WORDS * THREADS) {
            solve_tile(at);
        }
        workgroupBarrier();
    }
}
