// Accessors of particles in storage buffers: the slot of a particle is its index.

fn position_at(particle: u32) -> vec4f {
    return positions[particle];
}

fn displacement_at(particle: u32) -> vec3f {
    return displacements[particle].xyz;
}

fn set_displacement(particle: u32, d: vec3f) {
    displacements[particle] = vec4f(d, 0.0);
}
