// Functions of find_contacts.wgsl for surfaces.

// Per particle: mask of the components that it intersects; see intersections.wgsl.
@group(0) @binding(9) var<storage, read> tangles: array<u32>;

// Returns true if a contact would hold intersecting elements on the wrong sides.
fn hold_wrong_sides(kind: u32, particles: vec4u) -> bool {
    if atomicLoad(&contact_status.crossing_count) == 0u {
        return false;
    }
    let marks = vec4u(tangles[particles.x], tangles[particles.y], tangles[particles.z], tangles[particles.w]);
    return are_tangled(kind, marks, mark_of(contact_particles[particles.x]), mark_of(contact_particles[particles.z]));
}

// resolve_intersections.wgsl sets the dispatch size, because it adds contacts.
fn make_room(slot: u32) {}
