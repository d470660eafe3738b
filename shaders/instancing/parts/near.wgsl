// Positions of an asset in workgroup memory during a step, beside the displacements.

// x and w
var<workgroup> places: array<vec4f, INSTANCES * ASSET_PARTICLES>;

fn position_at(k: u32) -> vec4f {
    return places[moves_at + k];
}

fn keep_position(k: u32, x: vec4f) {
    places[moves_at + k] = x;
}
