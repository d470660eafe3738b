// The positions of an asset, where a workgroup has no room for them: they are read and written where they lie.

fn position_at(k: u32) -> vec4f {
    return positions[first_particle + k];
}

fn keep_position(k: u32, x: vec4f) {
    positions[first_particle + k] = x;
}
