// Seams: elements that meet at a seam have no contact with each other. A word per particle, the lowest index of the
// particles at its seam, follows the rows and scales in `contact_particles`, which the including file declares.
// Counterpart: src/sim/seams.rs.

// True if there are seams.
override SEWN: bool = false;

fn seam_of(particle: u32) -> u32 {
    let scales = select(0u, (params.particle_count + 3u) / 4u, SCALED);
    return contact_particles[params.particle_count + scales + particle / 4u][particle % 4u];
}

// Returns true if the elements of a pair meet at a seam.
fn are_sewn(kind: u32, particles: vec4u) -> bool {
    if !SEWN {
        return false;
    }
    let first = seam_of(particles.x);
    let others = vec3u(seam_of(particles.y), seam_of(particles.z), seam_of(particles.w));
    if kind == EDGES {
        return any(others.yz == vec2u(first)) || any(others.yz == others.xx);
    }
    return any(others == vec3u(first));
}
