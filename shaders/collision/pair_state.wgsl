// The state of the particles of a pair. The including file declares `positions`, `contact_particles`, `corrections` and
// `contact_status`, and includes contact_sides.wgsl.

// Returns the positions of the particles of a pair relative to the first.
fn relative_positions(particles: vec4u) -> Four {
    let x0 = positions[particles.x].xyz;
    var p: Four;
    for (var k = 1u; k < most_members(); k++) {
        p[k] = opaque(positions[particles[k]].xyz - x0, params.zero);
    }
    return p;
}

// Returns true if the elements of a pair take part in intersections with each other's bodies. A contact would hold them on the
// wrong sides.
fn is_tangled(kind: u32, particles: vec4u) -> bool {
    if ONLY_PARTICLES || atomicLoad(&contact_status.crossing_count) == 0u {
        return false;
    }
    var marks: vec4u;
    for (var k = 0u; k < 4u; k++) {
        marks[k] = u32(atomicLoad(&corrections[mask_word(particles[k], params.particle_count)]));
    }
    let firsts = firsts_of(kind, particles);
    return are_tangled(kind, marks, mark_of(contact_particles[firsts.x]), mark_of(contact_particles[firsts.y]));
}
