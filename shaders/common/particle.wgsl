// What predict.wgsl, solve_tethers.wgsl, velocity.wgsl and whole.wgsl share: the two halves of a substep for one particle, and its tethers, on values.

struct Motion {
    // x and w
    position: vec4f,
    displacement: vec3f,
    residual: Residual,
}

// d += h² g (+ h² a); pinned particles keep their velocity. From here to `moved` d includes the residual r of the position, so that the
// constraints, which read x + d, evaluate the position to more bits than x has: far from the origin velocities would tremble by ulp(x)/h.
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

// x += d, and d −= r, the residual that `predicted` has added. The rest of d stays: d/h is the velocity, damped where the particle is free. A
// position that would not be finite is not taken: the particle stays at its last finite position, at rest, and its residual is marked.
fn integrated(motion: Motion, velocity_factor: f32, zero: u32) -> Motion {
    var next = motion;
    let sum = two_sum(motion.position.xyz, motion.displacement, zero);
    if !is_finite(sum.sum) {
        next.displacement = vec3f();
        next.residual = Residual(vec3f(), vec3f(), QUARANTINED);
        return next;
    }
    let way = two_sum(motion.displacement, -motion.residual.position, zero);
    next.position = vec4f(sum.sum, motion.position.w);
    next.displacement = way.sum;
    next.residual.position = kept_of_position(sum.residual);
    if motion.position.w != 0.0 {
        let rest = opaque(motion.residual.displacement + way.residual, zero);
        next.displacement = opaque(way.sum * velocity_factor, zero);
        next.residual.displacement = kept_of_displacement(rest * velocity_factor);
    }
    return next;
}

// d after the pull of a tether of length L, where there is one: Δx = −(l − L) n where l > L (Kim, Chentanez, Müller-Fischer 2012), a
// unilateral distance constraint of compliance 0 whose other end does not move. `difference` is from there to here, l n.
// What is not taut is left, not added nothing: a pin may be infinitely far.
fn pulled(d: vec3f, difference: vec3f, limit: f32, there: bool) -> vec3f {
    let l = length(difference);
    return select(d, d - difference * ((l - limit) / l), l > limit && there);
}

// The same of a particle that has ended its substep already, by a pin that has not: the pin will be there and its displacement. The residual of
// the pin's position counts twice here, which lengthens or shortens the tether of a pin that moves by half an ulp(x) at most.
fn pulled_by(anchor: Anchor, limit: f32, motion: Motion, there: bool) -> vec3f {
    let d = motion.displacement;
    let difference = ((motion.position.xyz - anchor.position) - anchor.displacement) + (d - anchor.displacement);
    return pulled(d, difference, limit, there);
}
