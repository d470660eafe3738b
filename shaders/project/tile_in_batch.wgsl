// Where the tiles of a kind in a batch of bodies lie, and their solution phase by phase; shaders/whole.wgsl and shaders/instances.wgsl have the
// bindings. As kinds share names, each top-level name of this file and of all that belongs to the kind gets the kind's own name behind it
// (src/gpu/whole.rs).

alias Points = array<vec3f, ARITY>;
alias Weights = array<f32, ARITY>;

// As in shaders/project_tile.wgsl, but for the last word.
fn tile_words(at: u32, word: u32) -> vec4u {
    return vec4u(batches[at + word], batches[at + word + 1u], batches[at + word + 2u], batches[at + word + 3u]);
}

// What is taken off the number of a particle for its local place, which the last word has for the first.
fn offset_of_moves(at: u32, first: u32) -> u32 {
    return first - (first_move() + batches[at + TILE_WORDS - 1u]);
}

fn move_of(particle: u32, offset: u32) -> vec3f {
    return moves[particle - offset];
}

fn keep_move(particle: u32, offset: u32, d: vec3f) {
    moves[particle - offset] = d;
}

// `head` are the kind's words in the head of the batch, the last of which says where the bounds of its phases stand.
fn solve_tiles(head: u32, lane: u32) {
    let bounds = batches[head + 3u];
    for (var phase = 0u; phase < PHASES; phase++) {
        let end = batches[bounds + phase + 1u];
        for (var at = batches[bounds + phase] + TILE_WORDS * lane; at < end; at += TILE_WORDS * lane_count()) {
            solve_tile(at);
        }
        workgroupBarrier();
    }
}
