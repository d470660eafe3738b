// The positions of an asset, where a workgroup has room for them besides the displacements: they stand in its memory too.

// x and w.
var<workgroup> places: array<vec4f, ASSET_PARTICLES>;

fn place_in_batch(k: u32) -> vec4f {
    return places[k];
}

fn keep_place(k: u32, x: vec4f) {
    places[k] = x;
}
