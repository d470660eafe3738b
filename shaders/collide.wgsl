// Colliders: no particle within one, nor on the other side of it; friction (Coulomb), restitution, and the
// impulses on the colliders. C = keep − φ(x + d) ≤ 0, φ being the signed distance in the collider's frame, which moves. The twin is
// src/reference/colliders.rs; shaders/collide/ has the shapes, and what lays out the colliders (few.wgsl or many.wgsl).
// What overlaps at the start of a substep is taken out at no more than the recovery speed, which is put into the place and not into the velocity.
// Where surfaces are kept apart it is a part of the way, so that it is cut before what it would pass through, until bounce.wgsl takes it off.
// One thread a particle, for all colliders one after another. Reads colliders. Writes position, or the recovery, displacement and touch of its
// own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> residuals: array<vec4u>;
@group(0) @binding(6) var<storage, read> collider_data: array<f32>;
@group(0) @binding(7) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> touches: array<Touch>;
@group(0) @binding(9) var<storage, read_write> status: Status;

// Turns of the search for the time of impact.
const TURNS = 24u;
// What a scene does not need is not compiled: whether any impact has restitution, and whether impulses on colliders are noted.
override RESTITUTES: bool = true;
override NOTES_IMPULSES: bool = true;
// Whether surfaces are kept apart; then there are two of this pass in a substep, and each recovers one half.
override RECOVERS_ON_WAY: bool = false;

struct Meet {
    is_met: bool,
    normal: vec3f,
    // How far the particle would be too near at the end.
    depth: f32,
    // The gap at the start.
    start: f32,
}

fn meet_collider(c: Collider, p: vec3f, delta: vec3f, keep: f32) -> Meet {
    let zero = params.zero;
    var near = sample(c, p, keep);
    let side = select(1.0, -1.0, near.distance < 0.0 && (c.flags & TWO_SIDED) != 0u);
    let outside = near.distance * side > 0.0;
    let start = opaque1(near.distance * side, zero) - keep;
    let reach = length(delta);
    // Under a shell nothing is sure but the distance.
    let sure = select(start, opaque1(near.sure, zero) - keep, side > 0.0);
    var is_met = sure < reach;
    // Conservative advancement to the time of impact: nothing is nearer than the distance says.
    var gap = start;
    var time = 0.0;
    for (var turn = 0u; turn < TURNS && is_met && gap > 1e-3 * keep; turn++) {
        time = min(opaque1(time + opaque1(gap / reach, zero), zero), 1.0);
        near = sample(c, opaque(p + opaque(delta * time, zero), zero), keep);
        gap = opaque1(near.distance * side, zero) - keep;
        is_met = time < 1.0 || gap <= 1e-3 * keep;
    }
    if !is_met {
        return Meet();
    }
    // What comes from outside stays before the plane that it meets first, however thin the shape is behind it.
    var out = vec3f();
    if outside {
        let normal = opaque(near.normal * side, zero);
        let along = opaque1(dot(normal, opaque(delta * (1.0 - time), zero)), zero);
        out = opaque(normal * max(-along - gap, 0.0), zero);
    }
    // And there it is not too near to what else there is: round shapes, inner corners.
    let end = sample(c, opaque(opaque(p + delta, zero) + out, zero), keep);
    let left = keep - opaque1(end.distance * side, zero);
    if left > 0.0 {
        out = opaque(out + opaque(end.normal * opaque1(side * left, zero), zero), zero);
    }
    let depth = length(out);
    if depth == 0.0 {
        return Meet();
    }
    return Meet(true, out / depth, depth, start);
}

// Takes note of an impulse on a collider, at so much from its position.
fn push_on(i: u32, index: u32, impulse: vec3f, arm: vec3f) {
    let moment = cross_product(arm, impulse, params.zero);
    // Most touch one collider: software drivers run through both turns of a loop that they can unroll, so its end is no constant.
    for (var slot = 0u; slot < 2u + params.zero; slot++) {
        let before = touches[i].pushes[slot];
        let taken = before.collider != 0u;
        if !taken || before.collider == index + 1u {
            let impulses = select(vec3f(), vector(before.impulse), taken) + impulse;
            let moments = select(vec3f(), vector(before.moment), taken) + moment;
            touches[i].pushes[slot] = Push(index + 1u, words_of(impulses), words_of(moments));
            return;
        }
    }
    atomicAdd(&status.lost_touches, 1u);
}

// A particle in the substep.
struct Moving {
    // Where it is, with the recovery; its way, without it.
    x: vec3f,
    d: vec3f,
    recovery: vec3f,
    was_met: bool,
}

// Before all of a collider is loaded: whatever the shape, it is not nearer than its bound. A half-space that rests is not nearer than its
// plane, but for rounding, which half of the thickness and a share of the distance are more than.
fn is_near(index: u32, particle: Moving) -> bool {
    let here = colliders[index].position;
    let apart = particle.x - here;
    let far = length(apart);
    let keep = colliders[index].margin + contact_params.thickness;
    let reach = length(particle.d);
    let is_moving = (colliders[index].flags & MOVING) != 0u;
    let way = select(0.0, length(colliders[index].target_position - here), is_moving);
    let up = rotate(colliders[index].rotation, vec3f(0.0, 1.0, 0.0), params.zero);
    let is_above = dot(apart, up) > keep + 1.001 * reach + 4e-6 * far;
    return far <= ((colliders[index].bound + keep) + reach) + way
        && !(is_above && colliders[index].shape == HALF_SPACE && !is_moving);
}

fn collide_with(i: u32, material: u32, index: u32, w: f32, particle: Moving) -> Moving {
    let x = particle.x;
    let d = particle.d;
    var c = collider_at(index);
    // As `by_thread` in the prelude: here all bits count.
    c.flags |= i & 0x80000000u;
    c.shape |= i & 0x80000000u;
    if (c.flags & DISABLED) != 0u || !touch(contact_params.materials[material], contact_params.materials[c.material]) {
        return particle;
    }
    let zero = params.zero;
    let keep = bitcast<f32>(contact_params.materials[material].x) + c.margin;
    let rest = unpacked(residuals[i]).position;
    let step_share = opaque1(1.0 / f32(contact_params.substeps), zero);
    let before = pose_at(c, opaque1(f32(status.substep) * step_share, zero), zero);
    let after = pose_at(c, opaque1(f32(status.substep + 1u) * step_share, zero), zero);
    let p = opaque(rotate_back(before.rotation, opaque(x - before.position, zero) + rest, zero), zero);
    var delta = rotate_back(after.rotation, d, zero);
    if (c.flags & MOVING) != 0u {
        let there = opaque(x - after.position, zero) + opaque(d + rest, zero);
        delta = opaque(rotate_back(after.rotation, there, zero), zero) - p;
    }
    delta = opaque(delta, zero);
    let meet = meet_collider(c, p, delta, keep);
    if !meet.is_met {
        return particle;
    }
    let normal = opaque(meet.normal, zero);

    var out = min(meet.depth, max(-meet.start, 0.0));
    let push = opaque1(meet.depth - out, zero);
    out = min(out, contact_params.recovery * select(1.0, 0.5, RECOVERS_ON_WAY));
    let friction = contact_params.friction[material * 16u + c.material];
    // What the impact gives back, on top of that.
    let gravity = rotate_back(after.rotation, params.gravity_step, zero);
    let speed = opaque1(-dot(normal, opaque(delta - gravity, zero)), zero);
    var back = 0.0;
    if RESTITUTES && push > 0.0 && speed > 2.0 * length(params.gravity_step) {
        // With what it has been given already: by another collider, or earlier in the substep.
        let given = dot(normal, opaque(rotate_back(after.rotation, vector(touches[i].bounce), zero), zero));
        let left = opaque1(opaque1(opaque1(dot(normal, delta), zero) + push, zero) + given, zero);
        back = max(opaque1(friction.z * speed, zero) - left, 0.0);
    }
    if friction.z == 0.0 {
        back = 0.0;
    }
    var slip = opaque(delta - opaque(c.surface_velocity * params.h, zero), zero);
    slip = opaque(slip - opaque(normal * opaque1(dot(normal, slip), zero), zero), zero);
    let l = length(slip);
    let grip = opaque1(push + back, zero);
    var share = 1.0;
    if l > opaque1(friction.x * grip, zero) {
        share = opaque1(friction.y * grip, zero) / l;
    }
    let change = opaque(opaque(normal * push, zero) - opaque(slip * share, zero), zero);
    let bounce = opaque(normal * back, zero);
    if RESTITUTES && back > 0.0 {
        touches[i].bounce = words_of(vector(touches[i].bounce) + rotate(after.rotation, bounce, zero));
    }
    if NOTES_IMPULSES {
        let sum = opaque(change + bounce, zero);
        let impulse = -(rotate(after.rotation, sum, zero) / opaque1(w * params.h, zero));
        let arm = rotate(after.rotation, opaque(p + delta, zero), zero);
        push_on(i, index, opaque(impulse, zero), opaque(arm, zero));
    }
    let away = opaque(rotate(after.rotation, opaque(normal * out, zero), zero), zero);
    let moved = opaque(d + rotate(after.rotation, change, zero), zero);
    return Moving(opaque(x + away, zero), moved, opaque(particle.recovery + away, zero), true);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn collide(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let material = contact_particles[i].w & 0xffu;
    let x = positions[i];
    if x.w == 0.0 || material == UNTOUCHABLE {
        return;
    }
    var particle = Moving(x.xyz, displacements[i].xyz, vec3f(), false);
    if RECOVERS_ON_WAY {
        let recovery = vector(touches[i].recovery);
        particle = Moving(opaque(x.xyz + recovery, params.zero), opaque(particle.d - recovery, params.zero), recovery, any(recovery != vec3f()));
    }
    // Most are near one collider at most: software drivers run through the body of the loop once for all of them.
    var index = next_near(0u, particle);
    while index < contact_params.collider_count {
        particle = collide_with(i, material, index, x.w, particle);
        index = next_near(index + 1u, particle);
    }
    if !particle.was_met {
        return;
    }
    if RECOVERS_ON_WAY {
        let way = opaque(particle.d + particle.recovery, params.zero);
        displacements[i] = vec4f(way, 0.0);
        touches[i].recovery = words_of(particle.recovery);
        touches[i].way = length(way);
    } else {
        positions[i] = vec4f(particle.x, x.w);
        displacements[i] = vec4f(particle.d, 0.0);
    }
}
