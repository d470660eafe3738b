// The positions of an asset, where a workgroup has room for them besides the displacements: during a step they stand in its memory.

// x and w.
var<workgroup> places: array<vec4f, INSTANCES * ASSET_PARTICLES>;

fn position_at(k: u32) -> vec4f {
    return places[moves_at + k];
}

fn keep_position(k: u32, x: vec4f) {
    places[moves_at + k] = x;
}
