// Solves the links of a tile one after another; see src/tiling.rs. `solve_tile` is written by src/gpu/tiles.rs, link by link, so that what a tile
// touches stays in registers: it loads the slots, calls `solve_link` for each link of the pattern, and stores the displacements. Where tiles and
// particles lie say shaders/project_tile.wgsl and shaders/project/tile_in_batch.wgsl.

// The parameters of the kind: written into the shader where all tiles agree, else loaded.
alias Record = vec4f;

fn parameter(record: Record, index: u32) -> f32 {
    return record[index];
}

// Parameters that stand in the shader, but no compiler knows: with constants drivers put terms together otherwise than the reference does.
fn opaque_record(words: vec4u) -> Record {
    return bitcast<vec4f>(words ^ vec4u(span.zero));
}

fn load(place: u32) -> Record {
    return vec4f(load_word(place, ARITY + 1u), load_word(place, ARITY + 2u), load_word(place, ARITY + 3u), load_word(place, ARITY + 4u));
}

fn load_word(place: u32, word: u32) -> f32 {
    return bitcast<f32>(records[place * ROWS + word / 4u][word % 4u]);
}

// The particle of a slot; of one that is not there, the first: something to read.
fn particle_at(tile: vec4u, is_there: bool, row: u32, column: u32) -> u32 {
    return tile.x + select(0u, row * tile.y + column, is_there);
}

fn has(bits: u32, bit: u32) -> bool {
    return (bits & (1u << bit)) != 0u;
}

// The displacements of the particles of a link after its projection.
fn solve_link(place: u32, record: Record, material: ScaledMaterial, x: array<vec4f, ARITY>, d: Points) -> Points {
    var travels: Points;
    var p: Points;
    var w: Weights;
    for (var k = 0u; k < ARITY; k++) {
        w[k] = x[k].w;
        p[k] = shrunk(relative_to_first(k, x[k].xyz, x[0].xyz, d[k]));
        travels[k] = shrunk(d[k]);
    }
    let impulses = impulses_of(place_of_lambda(place, LAMBDAS), record, material, p, travels, w);
    var moved: Points;
    for (var k = 0u; k < ARITY; k++) {
        moved[k] = d[k] + impulses[k] * grown(w[k]);
    }
    return moved;
}
