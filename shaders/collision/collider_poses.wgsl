// Poses of a collider in a step, shared by the passes of a scene and of instances: interpolate_colliders.wgsl,
// commit_colliders.wgsl and shaders/instancing/instances_colliders.wgsl. They declare `params` and `contact_params`.
// Counterparts: src/reference/colliders.rs and `ColliderFrame::between`.

// Larger than any distance.
const NO_BOUND = 3e38;

// Returns the collider in a substep: its pose at the start and end, and values that all particles share.
fn interpolated(c: Collider, substep: u32) -> Collider {
    let zero = params.zero;
    let step_share = opaque1(1.0 / f32(contact_params.substeps), zero);
    let start = frame_after(c, opaque1(f32(substep) * step_share, zero), zero);
    let end = frame_after(c, opaque1(f32(substep + 1u) * step_share, zero), zero);
    // (R₁ − R₀) R₀ᵀ and the translation give the displacement of a point from its offset. R₁ R₀ᵀ − 1 would not be
    // exactly 0 for a collider without rotation, and friction would then move particles.
    var travel: ColliderFrame;
    var turns: array<vec3f, 3>;
    if (c.flags & MOVING) != 0u {
        for (var k = 0u; k < 3u; k++) {
            turns[k] = opaque(end.rows[k].xyz - start.rows[k].xyz, zero);
        }
        for (var k = 0u; k < 3u; k++) {
            let across = vec3f(turns[0][k], turns[1][k], turns[2][k]);
            let step = opaque1(end.rows[k].w - start.rows[k].w, zero);
            travel.rows[k] = vec4f(turned_out_of(start, across, zero), step);
        }
    }
    let keep = opaque1(c.margin + contact_params.largest_thickness, zero);
    let distance = opaque1(length(offset_of(travel)), zero);
    var next = c;
    next.substep = substep + 1u;
    // Axes at the end of the substep, position at its start.
    for (var k = 0u; k < 3u; k++) {
        next.frame.rows[k] = vec4f(end.rows[k].xyz, start.rows[k].w);
    }
    next.travel = travel;
    next.surface_step = turned_out_of(end, opaque(c.surface_velocity * params.h, zero), zero);
    next.near = opaque1(c.bound + keep, zero) + distance;
    next.above = select(NO_BOUND, keep, c.shape == HALF_SPACE && (c.flags & MOVING) == 0u);
    return next;
}

// Returns the collider at the end of a step: at its target pose.
fn committed(c: Collider) -> Collider {
    var next = c;
    next.position = c.target_position;
    next.rotation = c.target_rotation;
    next.flags = c.flags & ~MOVING;
    next.substep = 0u;
    return next;
}
