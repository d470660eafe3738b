// Where surfaces touch.

// By particle, the marks of the bodies that it has a crossing with; see intersections.wgsl.
@group(0) @binding(9) var<storage, read> tangles: array<u32>;

// Whether a contact would hold what is entangled where it is.
fn hold_wrong_sides(kind: u32, particles: vec4u) -> bool {
    if atomicLoad(&contact_status.crossing_count) == 0u {
        return false;
    }
    let marks = vec4u(tangles[particles.x], tangles[particles.y], tangles[particles.z], tangles[particles.w]);
    return are_tangled(kind, marks, mark_of(contact_particles[particles.x]), mark_of(contact_particles[particles.z]));
}

// Untangle, which adds others, does.
fn make_room(slot: u32) {}
