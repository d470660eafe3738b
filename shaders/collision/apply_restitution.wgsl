// Ends the contacts of a substep with colliders: adds restitution to the displacement, which is the velocity here
// (Müller et al. 2020, §3.6), and subtracts the recovery of overlap, which is no velocity. Damping and truncation
// scale the recovery like the displacement. Counterpart: src/reference/colliders.rs.
// One thread per particle. Writes displacement and collider contact of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> collider_contacts: array<ColliderContact>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;

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
    let bounce = collider_contacts[i].bounce.xyz;
    let recovery_and_length = collider_contacts[i].recovery;
    let recovery = recovery_and_length.xyz;
    let was_recovered = any(recovery != vec3f());
    if !was_recovered && all(bounce == vec3f()) {
        return;
    }
    var d = displacements[i].xyz;
    if was_recovered {
        let before = recovery_and_length.w;
        // A displacement of 0 has not been truncated.
        let left = select(1.0, length(d) / before, before > 0.0);
        d = without_recovery(d, opaque(recovery * left, params.zero));
    }
    displacements[i] = vec4f(d + bounce, 0.0);
    collider_contacts[i].bounce = vec4f();
    collider_contacts[i].recovery = vec4f();
}
