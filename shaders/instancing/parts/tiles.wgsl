// The tiles of one kind in an instance, phase by phase. As kinds share names, src/gpu/sweep.rs puts the name of the kind behind each
// top-level name of this file and of the others that belong to the kind.

// The words of a tile, as in shaders/schedule/project_tile.wgsl.
fn tile_words(at: u32, word: u32) -> vec4u {
    return words_at(at + word);
}

// `head`: the head of the kind, whose last word says where the bounds of its phases stand.
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
