// Ends a substep with colliders: moves the particle as velocity.wgsl does, adds restitution to the displacement, which is
// then the velocity (Müller et al. 2020, §3.6), and subtracts the recovery of overlap, which is no velocity. Damping and
// truncation scale the recovery like the displacement. Contacts may have pushed the particle back: this part of the
// recovery has carried a load, so it is an impulse on the collider. Counterpart: src/reference/colliders.rs.
// One thread per particle. Reads colliders. Writes position, displacement, residual and collider contact of its own
// particle, and counts lost impulses.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> collider_contacts: array<ColliderContact>;
@group(0) @binding(5) var<storage, read> colliders: array<Collider>;
@group(0) @binding(6) var<storage, read_write> status: Status;

// True if the pass also predicts the next substep.
override PREDICTS: bool = false;
override NOTES_IMPULSES: bool = true;

// A displacement without the recovery, and the part of the recovery that has carried a load.
struct Recovered {
    displacement: vec3f,
    carried: vec3f,
}

// Subtracts the recovery from a displacement, as far as the displacement still contains it. Contacts have pushed the
// particle back by the rest.
fn without_recovery(d: vec3f, recovery: vec3f) -> Recovered {
    let l = length(recovery);
    let normal = opaque(recovery / l, params.zero);
    let along = opaque1(dot(normal, d), params.zero);
    if l > 0.0 && along < l {
        let left = max(along, 0.0);
        let own = opaque(d - opaque(normal * left, params.zero), params.zero);
        return Recovered(own, opaque(normal * opaque1(l - left, params.zero), params.zero));
    }
    return Recovered(opaque(d - recovery, params.zero), vec3f());
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn apply_restitution(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    var motion = integrated(Motion(positions[i], displacements[i].xyz, unpacked(residuals[i])), params.velocity_factor, params.zero);
    motion.displacement = rebounded(i, motion);
    if PREDICTS {
        motion = predicted(motion, params.gravity_step, params.zero);
    }
    positions[i] = motion.position;
    displacements[i] = vec4f(motion.displacement, 0.0);
    residuals[i] = packed(motion.residual, params.zero);
}

// Returns the displacement of a particle with restitution and without recovery, and clears both.
fn rebounded(i: u32, motion: Motion) -> vec3f {
    let bounce = collider_contacts[i].bounce.xyz;
    let recovery = collider_contacts[i].recovery;
    let was_recovered = any(recovery.xyz != vec3f());
    if !was_recovered && all(bounce == vec3f()) {
        return motion.displacement;
    }
    var d = motion.displacement;
    if was_recovered {
        // `recovery.w` is the length of the displacement before truncation. One of 0 has not been truncated.
        let left = select(1.0, length(d) / recovery.w, recovery.w > 0.0);
        let recovered = without_recovery(d, opaque(recovery.xyz * left, params.zero));
        if NOTES_IMPULSES {
            push_by_recovery(i, motion.position, recovered.carried);
        }
        d = recovered.displacement;
    }
    collider_contacts[i].bounce = vec4f();
    collider_contacts[i].recovery = vec4f();
    return opaque(d + bounce, params.zero);
}

// Notes the impulse of a particle whose recovery has carried a load, `carried` [m], on a collider: on that of the two of
// this step that it has pressed most in this direction.
fn push_by_recovery(i: u32, position: vec4f, carried: vec3f) {
    let zero = params.zero;
    if all(carried == vec3f()) {
        return;
    }
    let factor = opaque1(1.0 / opaque1(position.w * params.h, zero), zero);
    let impulse = opaque(carried * -factor, zero);
    let first = collider_contacts[i].impulses[0].impulse;
    let second = collider_contacts[i].impulses[1].impulse;
    var owner = first.w;
    let along_second = opaque1(dot(bitcast<vec3f>(second.xyz), impulse), zero);
    if second.w != 0u && along_second > opaque1(dot(bitcast<vec3f>(first.xyz), impulse), zero) {
        owner = second.w;
    }
    if owner != 0u {
        // The collider is at the end of the substep too.
        let at = opaque(offset_of(colliders[owner - 1u].frame) + offset_of(colliders[owner - 1u].travel), zero);
        let arm = opaque(position.xyz - at, zero);
        push_on(i, owner - 1u, impulse, opaque1(length(carried) * factor, zero), arm);
    }
}
