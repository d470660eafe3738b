// What predict.wgsl, tether.wgsl, velocity.wgsl and whole.wgsl share: the two halves of a substep for one particle, and its tethers, on values.

struct Motion {
    // x and w
    position: vec4f,
    displacement: vec3f,
    residual: Residual,
}

// d += h² g (+ h² a); pinned particles go on as they move.
fn predicted(motion: Motion, increment: vec3f, zero: u32) -> Motion {
    var next = motion;
    if motion.position.w != 0.0 {
        let sum = two_sum(motion.displacement, increment + motion.residual.displacement, zero);
        next.displacement = sum.sum;
        next.residual.displacement = kept_of_displacement(sum.residual);
    }
    return next;
}

// x += d. The displacement stays: d/h is the velocity, damped where the particle is free. A position that would not be
// finite is not taken: the particle stays at its last good place, at rest, and its residual says so.
fn moved(motion: Motion, velocity_factor: f32, zero: u32) -> Motion {
    var next = motion;
    let sum = two_sum(motion.position.xyz, motion.displacement + motion.residual.position, zero);
    if !is_finite(sum.sum) {
        next.displacement = vec3f();
        next.residual = Residual(vec3f(), vec3f(), HELD);
        return next;
    }
    next.position = vec4f(sum.sum, motion.position.w);
    next.residual.position = kept_of_position(sum.residual);
    if motion.position.w != 0.0 {
        next.displacement *= velocity_factor;
        next.residual.displacement = kept_of_displacement(motion.residual.displacement * velocity_factor);
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

// The same of a particle that has ended its substep already, by a pin that has not: it will be there and its displacement.
fn pulled_by(anchor: Anchor, limit: f32, motion: Motion, there: bool) -> vec3f {
    let d = motion.displacement;
    let difference = ((motion.position.xyz - anchor.position) - anchor.displacement) + (d - anchor.displacement);
    return pulled(d, difference, limit, there);
}
