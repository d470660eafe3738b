// Positions of an asset in storage memory, for assets that exceed workgroup memory.

fn position_at(k: u32) -> vec4f {
    return positions[first_particle + k];
}

fn keep_position(k: u32, x: vec4f) {
    positions[first_particle + k] = x;
}
