// Motion of one particle over a substep, and the correction by a tether, as functions of values. predict.wgsl,
// solve_tethers.wgsl, velocity.wgsl, collide.wgsl and instances.wgsl use them.

struct Motion {
    // x and w
    position: vec4f,
    displacement: vec3f,
    residual: Residual,
}

// Predicts: d += h² g (+ h² a). Pinned particles keep their velocity. Until `moved`, d includes the residual r of the
// position, so that constraints evaluate x + d to more bits than x has. Without r, velocities far from the origin
// would have an error of ulp(x)/h.
fn predicted(motion: Motion, increment: vec3f, zero: u32) -> Motion {
    var next = motion;
    let rest = motion.residual.position;
    if motion.position.w == 0.0 {
        next.displacement = opaque(motion.displacement + rest, zero);
        return next;
    }
    let sum = two_sum(motion.displacement, increment + motion.residual.displacement, zero);
    let all = two_sum(sum.sum, rest, zero);
    next.displacement = all.sum;
    next.residual.displacement = kept_of_displacement(sum.residual + all.residual);
    return next;
}

// Integrates: x += d, then d −= r, the residual that `predicted` has added. d/h is the velocity, damped if the
// particle is free. A particle whose position would not be finite is quarantined: it stays at its last finite
// position, at rest.
fn integrated(motion: Motion, velocity_factor: f32, zero: u32) -> Motion {
    var next = motion;
    let sum = two_sum(motion.position.xyz, motion.displacement, zero);
    if !is_finite(sum.sum) {
        next.displacement = vec3f();
        next.residual = Residual(vec3f(), vec3f(), QUARANTINED);
        return next;
    }
    let moved = two_sum(motion.displacement, -motion.residual.position, zero);
    next.position = vec4f(sum.sum, motion.position.w);
    next.displacement = moved.sum;
    next.residual.position = kept_of_position(sum.residual);
    if motion.position.w != 0.0 {
        let rest = opaque(motion.residual.displacement + moved.residual, zero);
        next.displacement = opaque(moved.sum * velocity_factor, zero);
        next.residual.displacement = kept_of_displacement(rest * velocity_factor);
    }
    return next;
}

// Returns d after the correction of a tether of length L: Δx = −(l − L) n if l > L (Kim, Chentanez, Müller-Fischer
// 2012). It is a unilateral distance constraint of compliance 0 to a fixed pin. `difference` is l n, from the pin to
// the particle. `select` is used because 0 × ∞ would be NaN for a pin at infinity.
fn pulled(d: vec3f, difference: vec3f, limit: f32, there: bool) -> vec3f {
    let l = length(difference);
    return select(d, d - difference * ((l - limit) / l), l > limit && there);
}

// Returns the same for a particle that has ended its substep, and a pin that has not. The residual of the pin counts
// twice, which changes the length of the tether by at most half an ulp(x).
fn pulled_by(anchor: Anchor, limit: f32, motion: Motion, there: bool) -> vec3f {
    let d = motion.displacement;
    let difference = ((motion.position.xyz - anchor.position) - anchor.displacement) + (d - anchor.displacement);
    return pulled(d, difference, limit, there);
}
