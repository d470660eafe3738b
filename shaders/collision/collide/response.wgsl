// Response of a particle to colliders, shared by collide.wgsl and the instances (shaders/instancing/parts/collide.wgsl).
// Counterpart: src/reference/colliders.rs.
// The including file declares `params`, `contact_params`, the colliders (`near_from`, `collider_at`, `bound_at`,
// `data_at`) and the state of a particle: `removes_overlap`, `bounce_of`, `add_bounce`, `note_push`.

// Most iterations of conservative advancement.
const MOST_ADVANCES = 24u;

// Restitution is not compiled if no contact material has any.
override RESTITUTES: bool = true;

// The contact of a path with a collider.
struct Impact {
    is_hit: bool,
    normal: vec3f,
    // Overlap at the end of the substep [m].
    depth: f32,
    // Gap at the start [m].
    start_gap: f32,
    // Time of impact: 0 at the start of the substep, 1 at its end.
    time: f32,
}

// Returns the impact of a path from p to p + delta; `first` is the sample at p.
fn find_impact(c: Collider, p: vec3f, delta: vec3f, keep: f32, first: Sample) -> Impact {
    let zero = params.zero;
    var near = first;
    let side = select(1.0, -1.0, near.distance < 0.0 && (c.flags & TWO_SIDED) != 0u);
    let outside = near.distance * side > 0.0;
    // Beyond the border of a heightfield that ends there.
    let beyond = all(near.normal == vec3f());
    let start_gap = opaque1(near.distance * side, zero) - keep;
    let reach = length(delta);
    // Below a two-sided surface only the distance is a safe bound.
    let sure = select(start_gap, opaque1(near.sure, zero) - keep, side > 0.0);
    var is_hit = sure < reach;
    // Conservative advancement: no surface is nearer than the distance.
    var gap = start_gap;
    var time = 0.0;
    for (var advance = 0u; advance < MOST_ADVANCES && is_hit && gap > 1e-3 * keep; advance++) {
        time = min(opaque1(time + opaque1(gap / reach, zero), zero), 1.0);
        near = sample(c, opaque(p + opaque(delta * time, zero), zero), keep);
        gap = opaque1(near.distance * side, zero) - keep;
        is_hit = time < 1.0 || gap <= 1e-3 * keep;
    }
    // A path that enters through the border below the surface comes from above only if the neighbour's surface is no
    // steeper.
    if is_hit && beyond && near.distance < 0.0 {
        let deepest = select(opaque1(reach * time, zero), 0.0, (c.flags & TWO_SIDED) != 0u);
        is_hit = opaque1(-near.distance * c.size.z, zero) <= deepest;
    }
    if !is_hit {
        return Impact();
    }
    // A particle from outside stays in front of the first plane that it meets, even if the shape is thin.
    var out = vec3f();
    if outside {
        let normal = opaque(near.normal * side, zero);
        let along = opaque1(dot(normal, opaque(delta * (1.0 - time), zero)), zero);
        out = opaque(normal * max(-along - gap, 0.0), zero);
    }
    // Corrects the overlap at the new position too: round shapes, inner corners.
    let end = sample(c, opaque(opaque(p + delta, zero) + out, zero), keep);
    let left = keep - opaque1(end.distance * side, zero);
    if left > 0.0 {
        out = opaque(out + opaque(end.normal * opaque1(side * left, zero), zero), zero);
    }
    let depth = length(out);
    if !(depth > 0.0) {
        return Impact();
    }
    return Impact(true, out / depth, depth, start_gap, time);
}

// Motion of a particle in the substep.
struct Moving {
    // Position including the recovery, and displacement without it.
    x: vec3f,
    d: vec3f,
    recovery: vec3f,
    was_met: bool,
    // The exit from the colliders that contain it, if known.
    exit: Exit,
    friction: ColliderFriction,
}

// The contact of a particle with a collider in a substep.
struct ColliderHit {
    impact: Impact,
    // Start position relative to the collider, and displacement relative to it, in world space.
    start: vec3f,
    displacement: vec3f,
    // The contact distance.
    keep: f32,
    surface_step: vec3f,
    material: u32,
}

// Returns the particle after a pass over one collider. If its exit is needed and UNKNOWN, it is WANTED in the result: the caller
// finds it and repeats this collider. `rest` is the residual of the position.
fn collide_with(i: u32, side: ContactSide, index: u32, w: f32, rest: vec3f, before: Moving) -> Moving {
    var particle = before;
    var c = collider_at(index);
    // As `by_thread`, for values that use all bits.
    c.flags |= i & 0x80000000u;
    c.shape |= i & 0x80000000u;
    let own = contact_params.materials[side.material];
    if (c.flags & DISABLED) != 0u || !touch(own, contact_params.materials[c.material]) {
        return particle;
    }
    let zero = params.zero;
    var keep = keep_of(c, side);
    let motion = relative_motion(c, particle.x, rest, particle.d, zero);
    let p = turned_into(c.frame, motion.start, zero);
    let delta = turned_into(c.frame, motion.displacement, zero);
    let near = sample(c, p, keep);
    let exit = particle.exit;
    var is_exit = false;
    let is_solid = SEVERAL && (c.flags & TWO_SIDED) == 0u;
    if is_solid && near.distance < keep + length(delta) {
        keep = opaque1(keep * squeeze(index, c, side, particle.x, rest, near), zero);
    }
    if is_solid && near.distance < (1.0 - SURFACE_TOLERANCE) * keep {
        if exit.owner == UNKNOWN {
            particle.exit = Exit(WANTED, vec3f(), 0.0);
            return particle;
        }
        if exit.owner != NONE && exit.owner != index {
            return particle;
        }
        is_exit = exit.depth > 0.0;
    }
    // The impact is in world space.
    var impact = Impact();
    if is_exit {
        let depth = opaque1(exit.depth - opaque1(dot(exit.normal, motion.displacement), zero), zero);
        impact = Impact(depth > 0.0, exit.normal, depth, -exit.depth, 0.0);
    } else {
        impact = find_impact(c, p, delta, keep, near);
        impact.normal = turned_out_of(c.frame, opaque(impact.normal, zero), zero);
    }
    if !impact.is_hit && particle.friction.owner == index + 1u {
        // A contact of an earlier pass of the substep keeps its friction.
        let end = sample(c, opaque(p + delta, zero), keep);
        impact = Impact(true, turned_out_of(c.frame, opaque(end.normal, zero), zero), 0.0, 0.0, 0.0);
    }
    if impact.is_hit {
        respond(i, index, w, side, ColliderHit(impact, motion.start, motion.displacement, keep, c.surface_step, c.material), &particle);
    }
    return particle;
}

// Moves a particle out of a collider, with friction and restitution.
fn respond(i: u32, index: u32, w: f32, side: ContactSide, hit: ColliderHit, particle: ptr<function, Moving>) {
    let zero = params.zero;
    let normal = hit.impact.normal;
    let displacement = hit.displacement;
    // Initial overlap changes the position and not the velocity.
    let overlap = min(hit.impact.depth, max(-hit.impact.start_gap, 0.0));
    let push = opaque1(hit.impact.depth - overlap, zero);
    let recovered = select(0.0, min(overlap, contact_params.recovery), removes_overlap());
    let friction = contact_params.friction[side.material * 16u + hit.material];
    let coefficients = scaled_friction(friction.xy, side.friction, zero);
    // Restitution, in addition to the push, above the speed that gravity gives in two substeps.
    let speed = opaque1(-dot(normal, opaque(displacement - params.gravity_step, zero)), zero);
    var back = 0.0;
    if RESTITUTES && friction.z > 0.0 && push > 0.0 && speed > 2.0 * length(params.gravity_step) {
        // Includes earlier restitution: by another collider, or earlier in the substep.
        let given = dot(normal, bounce_of(i));
        let left = opaque1(opaque1(opaque1(dot(normal, displacement), zero) + push, zero) + given, zero);
        back = max(opaque1(friction.z * speed, zero) - left, 0.0);
    }
    let relative = opaque(displacement - hit.surface_step, zero);
    let slip = opaque(relative - opaque(normal * opaque1(dot(normal, relative), zero), zero), zero);
    let before = (*particle).friction;
    var of_before = ColliderFriction();
    if before.owner == index + 1u {
        of_before = before;
    }
    let result = apply_friction(of_before, index, Slip(slip, push, back, hit.impact.time, hit.keep), coefficients);
    let change_by_friction = opaque(result.friction.displacement - of_before.displacement, zero);
    let change = opaque(opaque(normal * push, zero) + change_by_friction, zero);
    if before.owner == index + 1u || (before.owner == 0u && push > 0.0) {
        (*particle).friction = result.friction;
    }
    var bounce = vec3f();
    if RESTITUTES && back > 0.0 {
        bounce = opaque(opaque(normal * back, zero) - result.beyond, zero);
        add_bounce(i, bounce);
    }
    note_push(i, index, w, opaque(change + bounce, zero), opaque1(push + back, zero), opaque(hit.start + displacement, zero));
    let away = opaque(normal * recovered, zero);
    (*particle).x = opaque((*particle).x + away, zero);
    (*particle).d = opaque((*particle).d + change, zero);
    (*particle).recovery = opaque((*particle).recovery + away, zero);
    (*particle).was_met = true;
}

// Returns the particle after a pass over all colliders.
fn collide_with_all(i: u32, side: ContactSide, w: f32, rest: vec3f, start: Moving) -> Moving {
    var particle = start;
    var index = first_near(particle.x, sum_of_components(particle.d));
    while index != NONE {
        particle = collide_with(i, side, index, w, rest, particle);
        if SEVERAL && particle.exit.owner == WANTED {
            // Once per particle; the same collider follows again.
            particle.exit = find_exit(side, particle.x, rest);
        } else {
            index = next_near(index, particle.x, sum_of_components(particle.d));
        }
    }
    return particle;
}
