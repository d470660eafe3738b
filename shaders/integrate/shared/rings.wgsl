// Accessors of particles and triangles of a scene; accelerations.wgsl and normals.wgsl include it and define the
// bindings.

fn position_at(i: u32) -> vec4f {
    return positions[i];
}

fn ring_of(i: u32) -> vec2u {
    return vec2u(ring_offsets[i], ring_offsets[i + 1u]);
}

fn corner_at(corner: u32) -> vec2u {
    return ring_corners[corner];
}
