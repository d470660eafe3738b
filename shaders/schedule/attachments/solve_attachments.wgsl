// Solves all attachments, colour by colour (docs/decisions/0031-attachments.md).
// One workgroup. Its threads solve the attachments of a colour, which share no particle; a barrier ends the colour. Each
// thread writes the displacements of the particles of its attachment, and the state of the attachment.
// Reads positions, colliders, rows and the order: number of colours, bounds of the colours, attachments by colour.
// C = x₁ − x₂ with one λ per component, or C = |x₁ − x₂| − L (Macklin, Müller, Chentanez 2016).
// Counterpart: src/reference/attachments.rs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(4) var<storage, read> order: array<u32>;
@group(0) @binding(5) var<storage, read_write> states: array<AttachmentState>;
@group(0) @binding(6) var<storage, read> colliders: array<Collider>;
// 1 if λ starts at 0
@group(0) @binding(7) var<uniform> first_iteration: vec4u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_attachments(@builtin(local_invocation_index) thread: u32) {
    // The order is read-only, so the loop is uniform.
    let colors = order[0];
    for (var color = 0u; color < colors; color++) {
        let end = order[color + 2u];
        for (var place = order[color + 1u] + thread; place < end; place += WORKGROUP_SIZE) {
            solve(order[place]);
        }
        storageBarrier();
    }
}

fn solve(index: u32) {
    let zero = params.zero;
    var state = states[index];
    if state.broken != 0u {
        return;
    }
    if by_thread(first_iteration.x, index) != 0u {
        state.lambda = vec3f();
        state.substep += 1u;
    }
    let flags = attachments[index].flags;
    let count = flags & COUNT_MASK;
    let first = attachments[index].particles[0];
    let x0 = positions[first].xyz;
    let d0 = displacements[first].xyz;
    var s = vec3f();
    var motion = vec3f();
    var weighted = 0.0;
    for (var k = 0u; k < count; k++) {
        let particle = attachments[index].particles[k];
        let factor = attachments[index].factors[k];
        let x = positions[particle];
        let d = displacements[particle].xyz;
        let p = opaque(relative_to_first(k, x.xyz, x0, d), zero);
        s = opaque(s + opaque(p * factor, zero), zero);
        motion = opaque(motion + opaque(opaque(d - d0, zero) * factor, zero), zero);
        weighted = opaque1(weighted + opaque1(x.w * opaque1(factor * factor, zero), zero), zero);
    }
    var arm = vec3f();
    if (flags & (IN_SPACE | ON_COLLIDER)) != 0u {
        let goal = goal_of(index, state, x0);
        s = opaque(s - goal.place, zero);
        motion = opaque(motion - opaque(goal.motion - d0, zero), zero);
        arm = goal.arm;
    }
    let solved = impulse_of(index, state.lambda, s, motion, weighted);
    state.lambda = solved.lambda;
    state.sum = opaque(state.sum + solved.impulse, zero);
    state.moment = opaque(state.moment + cross_product(arm, -solved.impulse, zero), zero);
    states[index] = state;
    for (var k = 0u; k < count; k++) {
        let particle = attachments[index].particles[k];
        let push = opaque(solved.impulse * attachments[index].factors[k], zero);
        let moved = displacements[particle].xyz + opaque(push * positions[particle].w, zero);
        displacements[particle] = vec4f(moved, 0.0);
    }
}

// A target that is not a point of particles, at the end of the substep.
struct Goal {
    // Position relative to the first particle at the start of the substep [m].
    place: vec3f,
    // Motion in the substep [m].
    motion: vec3f,
    // Offset from the position of the collider [m].
    arm: vec3f,
}

fn goal_of(index: u32, state: AttachmentState, x0: vec3f) -> Goal {
    let zero = params.zero;
    let goal = attachments[index].goal;
    if (attachments[index].flags & IN_SPACE) != 0u {
        let step = opaque(goal - state.anchor, zero);
        let share = attachments[index].share;
        let before = opaque1(f32(state.substep - 1u) * share, zero);
        let after = opaque1(f32(state.substep) * share, zero);
        let start = opaque(state.anchor + opaque(step * before, zero), zero);
        let end = opaque(state.anchor + opaque(step * after, zero), zero);
        return Goal(opaque(end - x0, zero), opaque(end - start, zero), vec3f());
    }
    let collider = colliders[attachments[index].collider];
    let arm = turned_out_of(collider.frame, goal, zero);
    let moved = opaque(opaque(offset_of(collider.frame) - x0, zero) + offset_of(collider.travel), zero);
    let motion = opaque(turned_into(collider.travel, arm, zero) + offset_of(collider.travel), zero);
    return Goal(opaque(moved + arm, zero), motion, arm);
}

struct Solved {
    lambda: vec3f,
    // ∇C Δλ on the point [kg m]
    impulse: vec3f,
}

// `s` is x₁ − x₂, `motion` its change in the substep, `weighted` is Σ w k².
fn impulse_of(index: u32, lambda: vec3f, s: vec3f, motion: vec3f, weighted: f32) -> Solved {
    let zero = params.zero;
    let scaled = attachments[index].material;
    let material = ScaledMaterial(scaled.x, scaled.y, scaled.z, 0.0);
    let rest_length = attachments[index].rest_length;
    if rest_length == 0.0 {
        let delta = opaque(
            vec3f(
                delta_lambda(s.x, weighted, motion.x, lambda.x, material),
                delta_lambda(s.y, weighted, motion.y, lambda.y, material),
                delta_lambda(s.z, weighted, motion.z, lambda.z, material),
            ),
            zero,
        );
        return Solved(opaque(lambda + delta, zero), delta);
    }
    let l = length(s);
    if !(l > 0.0) {
        return Solved(lambda, vec3f());
    }
    let n = opaque(s / l, zero);
    let travel = opaque1(dot(n, motion), zero);
    var delta = opaque1(delta_lambda(l - rest_length, weighted, travel, lambda.x, material), zero);
    if (attachments[index].flags & ONLY_PULL) != 0u {
        delta = opaque1(unilateral(delta, lambda.x), zero);
    }
    return Solved(vec3f(opaque1(lambda.x + delta, zero), lambda.yz), opaque(n * delta, zero));
}
