// Friction of a particle with a collider: limited by µ times the sum of the normal displacements of all passes of the substep.
// Counterpart: src/reference/friction.rs.

// The friction of a particle with one collider in a substep: members of `ColliderContact`.
struct ColliderFriction {
    // 1 + the index of the collider, or 0.
    owner: u32,
    // True if the particle hit the collider after a slip longer than the contact distance: the first pass determines its friction.
    is_impact: bool,
    // Displacements of the particle by this collider [m]: by friction, and along the normal.
    displacement: vec3f,
    push: f32,
}

// Bit of `ColliderContact.owner`: `is_impact`.
const IMPACT = 0x80000000u;

// Slip, displacement along the normal and restitution in the pass [m]; time of impact, 0 to 1; contact distance [m].
struct Slip {
    slip: vec3f,
    push: f32,
    back: f32,
    time: f32,
    keep: f32,
}

struct FrictionResult {
    friction: ColliderFriction,
    // Friction that changes only the velocity.
    beyond: vec3f,
}

// Returns the friction of all passes up to this one. `before` is the friction with the same collider in earlier passes;
// `coefficients` are the static and the kinetic one.
//
// Friction moves the particle back by at most the slip after the impact plus the contact distance: a round collider may
// end there. With restitution, friction on the rest of the slip changes only the velocity.
fn apply_friction(before: ColliderFriction, index: u32, own: Slip, coefficients: vec2f) -> FrictionResult {
    let zero = params.zero;
    var friction = before;
    friction.owner = index + 1u;
    friction.push = opaque1(opaque1(before.push + own.push, zero) + own.back, zero);
    if before.is_impact {
        return FrictionResult(friction, vec3f());
    }
    let l = length(own.slip);
    friction.is_impact = opaque1(l * own.time, zero) > own.keep;
    var held = own.slip;
    if friction.is_impact {
        let share = opaque1(1.0 - own.time, zero) + opaque1(own.keep / l, zero);
        held = opaque(held * opaque1(share, zero), zero);
    }
    // The friction of the substep that would end all slip.
    let sticking = opaque(before.displacement - held, zero);
    let length_of_slip = select(length(sticking), l, own.back > 0.0);
    var share = 1.0;
    if !(length_of_slip <= opaque1(coefficients.x * friction.push, zero)) {
        share = opaque1(coefficients.y * friction.push, zero) / length_of_slip;
    }
    friction.displacement = opaque(sticking * share, zero);
    return FrictionResult(friction, opaque(opaque(own.slip - held, zero) * share, zero));
}
