// The positions of an asset, where a workgroup has no room for them: they are read where they lie.

fn place_in_batch(k: u32) -> vec4f {
    return positions[first_particle + k];
}

fn keep_place(k: u32, x: vec4f) {
}
