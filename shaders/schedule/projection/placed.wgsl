// The current place of a particle, for kinds without orientations.

// Returns the position of particle k relative to x₀.
fn placed(k: u32, x: vec3f, x0: vec3f, d: vec3f) -> vec3f {
    return shrunk(relative_to_first(k, x, x0, d));
}
