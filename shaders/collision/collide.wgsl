// Resolves contacts of particles with colliders: C = keep − φ(x + d) ≤ 0, where φ is the signed distance in the
// moving frame of the collider. Adds Coulomb friction and restitution, and records the impulses on colliders.
// Counterpart: src/reference/colliders.rs.
//
// - Overlap at the start of a substep is removed at most at the recovery speed. It changes the position but not the
//   velocity. With surfaces it is part of the displacement until apply_restitution.wgsl removes it, so that
//   truncation limits it too.
// - REPEATS: with contacts between particles, the pass runs several times per substep. The first run removes overlap.
// - ADVANCES (pass CollideAndPredict): the pass also ends the substep and starts the next, like velocity_predict of
//   velocity.wgsl.
//
// One thread per particle, for the colliders near it in sequence. Reads colliders. Writes position or recovery,
// displacement and collider contact of its own particle; with ADVANCES also the residual.
// shaders/collision/collide/ holds the response (response.wgsl), the shapes, the rows of colliders (rows.wgsl), and the
// search for those near a point (near.wgsl, near_by_slabs.wgsl).

@group(0) @binding(0) var<uniform> uniform_params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(6) var<storage, read> collider_data: array<u32>;
@group(0) @binding(7) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> collider_contacts: array<ColliderContact>;
@group(0) @binding(9) var<storage, read_write> status: Status;
// 1 in the first of these passes of a substep, else 0.
@group(0) @binding(10) var<uniform> is_first: u32;

// Copy of the uniform buffer, see shaders/common/params.wgsl.
var<private> params: Params;

// Records of impulses are not compiled if no forces are read.
override NOTES_IMPULSES: bool = true;
// True with surfaces.
override RECOVERS_BY_DISPLACEMENT: bool = false;
// True if the pass also ends the substep.
override ADVANCES: bool = false;
// True if a substep has several of these passes.
override REPEATS: bool = false;

// Overlap is removed once in a substep.
fn removes_overlap() -> bool {
    return is_first == 1u;
}

// Returns the restitution of a particle in the substep [m].
fn bounce_of(i: u32) -> vec3f {
    return collider_contacts[i].bounce.xyz;
}

fn add_bounce(i: u32, bounce: vec3f) {
    collider_contacts[i].bounce += vec4f(bounce, 0.0);
}

// Records the impulse that gives a particle a displacement, along the normal by `normal`; `arm` is the offset from the
// position of the collider.
fn note_push(i: u32, index: u32, w: f32, displacement: vec3f, normal: f32, arm: vec3f) {
    if NOTES_IMPULSES {
        let scale = opaque1(w * params.h, params.zero);
        push_on(i, index, opaque(-(displacement / scale), params.zero), opaque1(normal / scale, params.zero), arm);
    }
}

// Returns the friction of earlier passes of the substep.
fn friction_before(i: u32) -> ColliderFriction {
    if !REPEATS || by_thread(is_first, i) == 1u {
        return ColliderFriction();
    }
    let word = collider_contacts[i].owner;
    return ColliderFriction(word & ~IMPACT, (word & IMPACT) != 0u, collider_contacts[i].friction, collider_contacts[i].bounce.w);
}

fn store_friction(i: u32, friction: ColliderFriction) {
    collider_contacts[i].friction = friction.displacement;
    collider_contacts[i].owner = friction.owner | select(0u, IMPACT, friction.is_impact);
    collider_contacts[i].bounce.w = friction.push;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn collide(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
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
    // Without the residual, which is no motion: static friction would otherwise act on it.
    let rest = residual.position;
    let d = displacements[i].xyz;
    let unknown = Exit(UNKNOWN, vec3f(), 0.0);
    let before = friction_before(i);
    var particle = Moving(x.xyz, opaque(d - rest, params.zero), vec3f(), false, unknown, before);
    if RECOVERS_BY_DISPLACEMENT {
        let recovery = collider_contacts[i].recovery.xyz;
        particle.x = opaque(x.xyz + recovery, params.zero);
        particle.d = opaque(particle.d - recovery, params.zero);
        particle.recovery = recovery;
        particle.was_met = any(recovery != vec3f());
    }
    if may_meet {
        let scale = element_scale(vec3u(i), 1u);
        let side = contact_side(material, contact_params.materials[material], scale, params.zero);
        particle = collide_with_all(i, side, x.w, rest, particle);
    }
    // A particle without contact stores it too: the next pass must not read that of an earlier substep.
    if REPEATS {
        store_friction(i, particle.friction);
    }
    if ADVANCES {
        let displacement = select(d, opaque(particle.d + rest, params.zero), particle.was_met);
        let ended = integrated(Motion(vec4f(particle.x, x.w), displacement, residual), params.velocity_factor, params.zero);
        let begun = predicted(ended, params.gravity_step, params.zero);
        positions[i] = begun.position;
        displacements[i] = vec4f(begun.displacement, 0.0);
        residuals[i] = packed(begun.residual, params.zero);
        return;
    }
    if !particle.was_met {
        return;
    }
    if RECOVERS_BY_DISPLACEMENT {
        let whole = opaque(particle.d + particle.recovery, params.zero);
        displacements[i] = vec4f(opaque(whole + rest, params.zero), 0.0);
        collider_contacts[i].recovery = vec4f(particle.recovery, length(whole));
    } else {
        positions[i] = vec4f(particle.x, x.w);
        displacements[i] = vec4f(opaque(particle.d + rest, params.zero), 0.0);
    }
}
