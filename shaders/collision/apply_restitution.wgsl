// Ends a substep with colliders: moves the particle as velocity.wgsl does, adds restitution to the displacement, which is
// then the velocity (Müller et al. 2020, §3.6), and subtracts the recovery of overlap, which is no velocity. Damping and
// truncation scale the recovery like the displacement. Counterpart: src/reference/colliders.rs.
// One thread per particle. Writes position, displacement, residual and collider contact of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> collider_contacts: array<ColliderContact>;

// True if the pass also predicts the next substep.
override PREDICTS: bool = false;

// Subtracts the recovery from a displacement, as far as the displacement still contains it: contacts may have pushed
// the particle back.
fn without_recovery(d: vec3f, recovery: vec3f) -> vec3f {
    let l = length(recovery);
    let normal = opaque(recovery / l, params.zero);
    let along = opaque1(dot(normal, d), params.zero);
    if l > 0.0 && along < l {
        return opaque(d - opaque(normal * max(along, 0.0), params.zero), params.zero);
    }
    return opaque(d - recovery, params.zero);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn apply_restitution(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    var motion = integrated(Motion(positions[i], displacements[i].xyz, unpacked(residuals[i])), params.velocity_factor, params.zero);
    motion.displacement = rebounded(i, motion.displacement);
    if PREDICTS {
        motion = predicted(motion, params.gravity_step, params.zero);
    }
    positions[i] = motion.position;
    displacements[i] = vec4f(motion.displacement, 0.0);
    residuals[i] = packed(motion.residual, params.zero);
}

// Returns the displacement of a particle with restitution and without recovery, and clears both.
fn rebounded(i: u32, displacement: vec3f) -> vec3f {
    let bounce = collider_contacts[i].bounce.xyz;
    let recovery = collider_contacts[i].recovery;
    let was_recovered = any(recovery.xyz != vec3f());
    if !was_recovered && all(bounce == vec3f()) {
        return displacement;
    }
    var d = displacement;
    if was_recovered {
        // `recovery.w` is the length of the displacement before truncation. One of 0 has not been truncated.
        let left = select(1.0, length(d) / recovery.w, recovery.w > 0.0);
        d = without_recovery(d, opaque(recovery.xyz * left, params.zero));
    }
    collider_contacts[i].bounce = vec4f();
    collider_contacts[i].recovery = vec4f();
    return opaque(d + bounce, params.zero);
}
