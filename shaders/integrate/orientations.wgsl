// Motion of orientations: the rows behind the particles in positions, displacements, residuals and velocities. The
// position of an orientation is its modified Rodrigues parameters m, its displacement d the rotation vector of the
// substep in the axes of the world, its w the inverse inertia. Counterpart: src/reference/orientations.rs.
//
// - start_orientations: d = h ω if the user has set ω or the substep has changed, then d += h² w τ with the torque τ.
// - integrate_orientations: turns m by d; d remains as the angular velocity. Then d += h² w τ of the next substep.
// - finish_orientations: turns m by d, writes ω = d/h and the quaternion, counts quarantined orientations.
//
// One thread per orientation. Reads torques and status. Writes only the rows of its own orientation; counters of the
// status are atomics.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> velocities: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> status: Status;
// Forces on particles, then torques on orientations.
@group(0) @binding(6) var<storage, read> forces: array<vec4f>;
// Unit quaternions (x, y, z, w).
@group(0) @binding(7) var<storage, read_write> frames: array<vec4f>;

fn load_motion(i: u32) -> Motion {
    return Motion(positions[i], displacements[i].xyz, unpacked(residuals[i]));
}

fn store(i: u32, motion: Motion) {
    positions[i] = motion.position;
    displacements[i] = vec4f(motion.displacement, 0.0);
    residuals[i] = packed(motion.residual, params.zero);
}

// d += h² w τ, and the rotation of the residual of m.
fn predicted_turn(motion: Motion, i: u32) -> Motion {
    var increment = vec3f();
    if by_thread(params.forces, i) == 1u {
        increment = opaque(opaque(forces[i].xyz * motion.position.w, params.zero) * (params.h * params.h), params.zero);
    }
    var turning = motion;
    turning.residual.position = rotation_of_residual(motion.position.xyz, motion.residual.position, params.zero);
    turning = predicted(turning, increment, params.zero);
    turning.residual.position = motion.residual.position;
    return turning;
}

// Turns m by d, then d −= the rotation of the residual, which `predicted_turn` has added.
fn turned(motion: Motion) -> Motion {
    let zero = params.zero;
    var next = motion;
    let m = motion.position.xyz;
    let sum = two_sum(m, rotation_step(m, motion.displacement, zero), zero);
    if !is_finite(sum.sum) {
        next.displacement = vec3f();
        next.residual = Residual(vec3f(), vec3f(), QUARANTINED);
        return next;
    }
    let moved = two_sum(motion.displacement, -rotation_of_residual(m, motion.residual.position, zero), zero);
    next.displacement = moved.sum;
    let square = dot(sum.sum, sum.sum);
    // The other parameters of the same orientation, −m/|m|², have another residual.
    next.position = vec4f(select(sum.sum, -opaque(sum.sum / square, zero), square > 1.0), motion.position.w);
    next.residual.position = select(kept_of_position(sum.residual), vec3f(), square > 1.0);
    if motion.position.w != 0.0 {
        let rest = opaque(motion.residual.displacement + moved.residual, zero);
        next.displacement = opaque(moved.sum * params.velocity_factor, zero);
        next.residual.displacement = kept_of_displacement(rest * params.velocity_factor);
    }
    return next;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn start_orientations(@builtin(global_invocation_id) id: vec3u) {
    let k = thread_index(id);
    if k >= params.orientation_count {
        return;
    }
    let i = params.particle_count + k;
    var motion = load_motion(i);
    let v = velocities[i];
    if v.w != 0.0 || status.last_h != params.h {
        velocities[i] = vec4f(v.xyz, 0.0);
        motion.displacement = opaque(v.xyz * params.h, params.zero);
        motion.residual.displacement = vec3f();
    }
    store(i, predicted_turn(motion, i));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn integrate_orientations(@builtin(global_invocation_id) id: vec3u) {
    let k = thread_index(id);
    if k >= params.orientation_count {
        return;
    }
    let i = params.particle_count + k;
    store(i, predicted_turn(turned(load_motion(i)), i));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn finish_orientations(@builtin(global_invocation_id) id: vec3u) {
    let k = thread_index(id);
    if k >= params.orientation_count {
        return;
    }
    let i = params.particle_count + k;
    var motion = turned(load_motion(i));
    if count_quarantined(motion.residual.held, i) {
        motion.residual.held = 0u;
    }
    store(i, motion);
    velocities[i] = vec4f(motion.displacement / params.h, 0.0);
    let frame = unit_quaternion(motion.position.xyz, params.zero);
    frames[k] = vec4f(frame.v, frame.w);
}
