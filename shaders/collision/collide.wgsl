// Colliders: no particle within one, nor on the other side of it; friction (Coulomb), restitution, and the
// impulses on the colliders. C = keep − φ(x + d) ≤ 0, φ being the signed distance in the collider's frame, which moves. The twin is
// src/reference/colliders.rs; shaders/collide/ has the shapes, and what lays out the colliders (few.wgsl or many.wgsl).
// What overlaps at the start of a substep is taken out at no more than the recovery speed, which is put into the place and not into the velocity.
// Where surfaces are kept apart it is a part of the way, so that it is cut before what it would pass through, until apply_restitution.wgsl takes it off.
// Where nothing comes between, it is the end of the substep, too, and the start of the next: velocity_predict of velocity.wgsl (the pass
// CollideAdvance), so that a particle is loaded and stored once.
// One thread a particle, for all colliders one after another. Reads colliders. Writes position, or the recovery, displacement and touch of its
// own particle; where it ends the substep, the residual.

@group(0) @binding(0) var<uniform> uniform_params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(6) var<storage, read> collider_data: array<f32>;
@group(0) @binding(7) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> touches: array<ColliderContact>;
@group(0) @binding(9) var<storage, read_write> status: Status;

// Of the uniform buffer: see the prelude.
var<private> params: Params;

// Turns of the search for the time of impact.
const TURNS = 24u;
const NONE = 0xffffffffu;
// What a scene does not need is not compiled: whether there are several colliders, so that the exit of one may lie in another; whether any impact has restitution, and whether impulses on colliders are noted.
override SEVERAL: bool = true;
override RESTITUTES: bool = true;
override NOTES_IMPULSES: bool = true;
// Whether surfaces are kept apart; then there are two of this pass in a substep, and each recovers one half.
override RECOVERS_ON_WAY: bool = false;
// Whether it ends the substep.
override ADVANCES: bool = false;

struct Meet {
    is_met: bool,
    normal: vec3f,
    // How far the particle would be too near at the end.
    depth: f32,
    // The gap at the start.
    start: f32,
    // When they meet: 0 at the start of the substep, 1 at its end.
    time: f32,
}

// `first` is the sample at the start.
fn meet_collider(c: Collider, p: vec3f, delta: vec3f, keep: f32, first: Sample) -> Meet {
    let zero = params.zero;
    var near = first;
    let side = select(1.0, -1.0, near.distance < 0.0 && (c.flags & TWO_SIDED) != 0u);
    let outside = near.distance * side > 0.0;
    // Of ground that ends at its border.
    let beyond = all(near.normal == vec3f());
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
    // A path that enters through the border below the surface comes from above only if the neighbour's surface is no steeper.
    if is_met && beyond && near.distance < 0.0 {
        let deepest = select(opaque1(reach * time, zero), 0.0, (c.flags & TWO_SIDED) != 0u);
        is_met = opaque1(-near.distance * c.size.z, zero) <= deepest;
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
    return Meet(true, out / depth, depth, start, time);
}

// Takes note of an impulse on a collider, at so much from its position.
fn push_on(i: u32, index: u32, impulse: vec3f, arm: vec3f) {
    let moment = cross_product(arm, impulse, params.zero);
    // Most touch one collider: software drivers run through both turns of a loop that they can unroll, so its end is no constant.
    for (var slot = 0u; slot < by_thread(2u, i); slot++) {
        let before = touches[i].pushes[slot].impulse;
        let taken = before.w != 0u;
        if !taken || before.w == index + 1u {
            let impulses = select(vec3f(), bitcast<vec3f>(before.xyz), taken) + impulse;
            let moments = select(vec3f(), touches[i].pushes[slot].moment.xyz, taken) + moment;
            touches[i].pushes[slot].impulse = vec4u(bitcast<vec3u>(impulses), index + 1u);
            touches[i].pushes[slot].moment = vec4f(moments, 0.0);
            return;
        }
    }
    atomicAdd(&status.lost_collider_contacts, 1u);
}

// A particle in the substep.
struct Moving {
    // Where it is, with the recovery; its way, without it.
    x: vec3f,
    d: vec3f,
    recovery: vec3f,
    was_met: bool,
    // How it leaves the colliders that contain it, once that is known.
    exit: Exit,
}

// Before all of a collider is loaded: whatever the shape, it is not nearer than its bound. A half-space that rests is not nearer than its
// plane, but for rounding, which half of the thickness and a share of the distance are more than. Sums of components stand for lengths, which
// are no more: this is asked of every particle, and roots take long.
fn is_near(index: u32, particle: Moving) -> bool {
    let apart = particle.x - offset_of(colliders[index].frame);
    let height = dot(apart, colliders[index].frame.rows[1].xyz);
    let reach = sum_of_components(particle.d);
    let near = colliders[index].near + reach;
    let above = colliders[index].above + 1.001 * reach + 4e-6 * sum_of_components(apart);
    return dot(apart, apart) <= near * near && height <= above;
}

fn sum_of_components(v: vec3f) -> f32 {
    return abs(v.x) + abs(v.y) + abs(v.z);
}

// `rest` is what x leaves of the position.
fn collide_with(i: u32, material: u32, index: u32, w: f32, rest: vec3f, particle: Moving) -> Moving {
    let x = particle.x;
    let d = particle.d;
    var c = collider_at(index);
    // As `by_thread` in the prelude: here all bits count.
    c.flags |= i & 0x80000000u;
    c.shape |= i & 0x80000000u;
    let own = contact_params.materials[material];
    if (c.flags & DISABLED) != 0u || !touch(own, contact_params.materials[c.material]) {
        return particle;
    }
    let zero = params.zero;
    let keep = bitcast<f32>(own.x) + c.margin;
    // Its place is carried along with the collider to the end of the substep; what is left of its way is that against the collider.
    let place = opaque(opaque(x - offset_of(c.frame), zero) + rest, zero);
    let turn = turned_into(c.travel, place, zero);
    let start = opaque(place + turn, zero);
    let way = opaque(d - opaque(turn + offset_of(c.travel), zero), zero);
    let p = turned_into(c.frame, start, zero);
    let delta = turned_into(c.frame, way, zero);
    let near = sample(c, p, keep);
    var exit = particle.exit;
    var is_exit = false;
    if SEVERAL && near.distance < (1.0 - SLACK) * keep && (c.flags & TWO_SIDED) == 0u {
        if exit.owner == UNKNOWN {
            return Moving(x, d, particle.recovery, particle.was_met, Exit(WANTED, vec3f(), 0.0));
        }
        if exit.owner != NONE && exit.owner != index {
            return Moving(x, d, particle.recovery, particle.was_met, exit);
        }
        is_exit = exit.depth > 0.0;
    }
    // From here on all is in the world.
    var meet = Meet();
    if is_exit {
        let depth = opaque1(exit.depth - opaque1(dot(exit.normal, way), zero), zero);
        meet = Meet(depth > 0.0, exit.normal, depth, -exit.depth, 0.0);
    } else {
        meet = meet_collider(c, p, delta, keep, near);
        meet.normal = turned_out_of(c.frame, opaque(meet.normal, zero), zero);
    }
    if !meet.is_met {
        return Moving(x, d, particle.recovery, particle.was_met, exit);
    }
    let normal = meet.normal;

    var out = min(meet.depth, max(-meet.start, 0.0));
    let push = opaque1(meet.depth - out, zero);
    out = min(out, contact_params.recovery * select(1.0, 0.5, RECOVERS_ON_WAY));
    let friction = contact_params.friction[material * 16u + c.material];
    // What the impact gives back, on top of that.
    let speed = opaque1(-dot(normal, opaque(way - params.gravity_step, zero)), zero);
    var back = 0.0;
    if RESTITUTES && push > 0.0 && speed > 2.0 * length(params.gravity_step) {
        // With what it has been given already: by another collider, or earlier in the substep.
        let given = dot(normal, touches[i].bounce.xyz);
        let left = opaque1(opaque1(opaque1(dot(normal, way), zero) + push, zero) + given, zero);
        back = max(opaque1(friction.z * speed, zero) - left, 0.0);
    }
    if friction.z == 0.0 {
        back = 0.0;
    }
    var slip = opaque(way - c.surface_step, zero);
    slip = opaque(slip - opaque(normal * opaque1(dot(normal, slip), zero), zero), zero);
    // It is not taken back farther than so behind where they met: a round collider ends somewhere. What bounces gets all of its impulse
    // at once, so that all of its slip counts, if what is farther back for its velocity alone.
    var l = length(slip);
    var held = slip;
    if opaque1(l * meet.time, zero) > keep {
        held = opaque(slip * opaque1(opaque1(1.0 - meet.time, zero) + opaque1(keep / l, zero), zero), zero);
        if !(RESTITUTES && back > 0.0) {
            l = length(held);
        }
    }
    let grip = opaque1(push + back, zero);
    var share = 1.0;
    if l > opaque1(friction.x * grip, zero) {
        share = opaque1(friction.y * grip, zero) / l;
    }
    let change = opaque(opaque(normal * push, zero) - opaque(held * share, zero), zero);
    var bounce = vec3f();
    if RESTITUTES && back > 0.0 {
        bounce = opaque(opaque(normal * back, zero) - opaque(opaque(slip - held, zero) * share, zero), zero);
        touches[i].bounce += vec4f(bounce, 0.0);
    }
    if NOTES_IMPULSES {
        let impulse = -(opaque(change + bounce, zero) / opaque1(w * params.h, zero));
        push_on(i, index, opaque(impulse, zero), opaque(start + way, zero));
    }
    let away = opaque(normal * out, zero);
    return Moving(opaque(x + away, zero), opaque(d + change, zero), opaque(particle.recovery + away, zero), true, exit);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn collide(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    take_colliders();
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let material = material_of(contact_particles[i].w);
    let x = positions[i];
    let may_meet = x.w != 0.0 && material != UNTOUCHABLE;
    if !ADVANCES && !may_meet {
        return;
    }
    let residual = unpacked(residuals[i]);
    // Without the residual, which is no motion: friction holds against the rest.
    let rest = residual.position;
    let d = displacements[i].xyz;
    let unknown = Exit(UNKNOWN, vec3f(), 0.0);
    var particle = Moving(x.xyz, opaque(d - rest, params.zero), vec3f(), false, unknown);
    if RECOVERS_ON_WAY {
        let recovery = touches[i].recovery.xyz;
        let d = opaque(particle.d - recovery, params.zero);
        particle = Moving(opaque(x.xyz + recovery, params.zero), d, recovery, any(recovery != vec3f()), unknown);
    }
    // Most are near one collider at most: software drivers run through the body of the loop once for all of them, and as the question
    // whether to go on comes last, not once more to find that nothing is left.
    var index = select(NONE, first_near(particle), may_meet);
    if index != NONE {
        loop {
            loop {
                particle = collide_with(i, material, index, x.w, residual.position, particle);
                if SEVERAL && particle.exit.owner == WANTED {
                    break;
                }
                index = next_near(index, particle);
                if index == NONE {
                    break;
                }
            }
            // At most once a particle, outside of the loop over colliders: software drivers run through its loops even where no thread enters.
            if !SEVERAL || particle.exit.owner != WANTED {
                break;
            }
            particle.exit = find_exit(material, particle.x, residual.position);
        }
    }
    if ADVANCES {
        let way = select(d, opaque(particle.d + rest, params.zero), particle.was_met);
        let ended = integrated(Motion(vec4f(particle.x, x.w), way, residual), params.velocity_factor, params.zero);
        let begun = predicted(ended, params.gravity_step, params.zero);
        positions[i] = begun.position;
        displacements[i] = vec4f(begun.displacement, 0.0);
        residuals[i] = packed(begun.residual, params.zero);
        return;
    }
    if !particle.was_met {
        return;
    }
    if RECOVERS_ON_WAY {
        let way = opaque(particle.d + particle.recovery, params.zero);
        displacements[i] = vec4f(opaque(way + rest, params.zero), 0.0);
        touches[i].recovery = vec4f(particle.recovery, length(way));
    } else {
        positions[i] = vec4f(particle.x, x.w);
        displacements[i] = vec4f(opaque(particle.d + rest, params.zero), 0.0);
    }
}
