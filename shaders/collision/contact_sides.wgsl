// Thickness and friction of the two sides of a contact: those of their contact materials, scaled by particle. A word per
// particle with both scales follows the rows of `contact_particles`, which the including file declares.
// Counterpart: src/reference/contact_sides.rs.

// Returns both scales of a particle in steps.
fn scale_steps(particle: u32) -> vec2u {
    let row = contact_particles[params.particle_count + particle / 4u];
    let word = row[particle % 4u];
    return vec2u(word & 0xffffu, word >> 16u);
}

// Returns the mean scales of the first `count` particles: of the thickness and of the friction.
fn element_scale(particles: vec3u, count: u32) -> vec2f {
    if !SCALED {
        return vec2f(1.0);
    }
    var sum = scale_steps(particles.x);
    if count > 1u {
        sum += scale_steps(particles.y);
    }
    if count > 2u {
        sum += scale_steps(particles.z);
    }
    return mean_scale(sum, count);
}

// Returns the mean scales of the first element of a pair.
fn first_scale(kind: u32, particles: vec4u) -> vec2f {
    return element_scale(particles.xyy, select(1u, 2u, !ONLY_PARTICLES && kind == EDGES));
}

// Returns the mean scales of the second element of a pair.
fn second_scale(kind: u32, particles: vec4u) -> vec2f {
    if ONLY_PARTICLES || kind == PARTICLES {
        return element_scale(particles.yyy, 1u);
    }
    return element_scale(select(particles.yzw, particles.zww, kind == EDGES), select(3u, 2u, kind == EDGES));
}

// Returns the first particles of both elements of a pair, which determine their bodies and contact materials.
fn firsts_of(kind: u32, particles: vec4u) -> vec2u {
    return vec2u(particles.x, select(particles.y, particles.z, !ONLY_PARTICLES && kind == EDGES));
}

// Returns the contact materials of the elements of a pair.
fn pair_materials(kind: u32, particles: vec4u) -> vec2u {
    let firsts = firsts_of(kind, particles);
    return vec2u(material_of(contact_particles[firsts.x].w), material_of(contact_particles[firsts.y].w));
}

// Returns the distance that a pair keeps [m].
fn pair_thickness(kind: u32, particles: vec4u) -> f32 {
    let materials = pair_materials(kind, particles);
    let first = bitcast<f32>(contact_params.materials[materials.x].x);
    let second = bitcast<f32>(contact_params.materials[materials.y].x);
    if !SCALED {
        return first + second;
    }
    let one = opaque1(first * opaque1(first_scale(kind, particles).x, params.zero), params.zero);
    let other = opaque1(second * opaque1(second_scale(kind, particles).x, params.zero), params.zero);
    return opaque1(one + other, params.zero);
}

// Returns static and kinetic friction of a pair.
fn pair_friction(kind: u32, particles: vec4u) -> vec2f {
    let materials = pair_materials(kind, particles);
    let friction = contact_params.friction[materials.x * 16u + materials.y].xy;
    if !SCALED {
        return friction;
    }
    let first = opaque1(first_scale(kind, particles).y, params.zero);
    let second = opaque1(second_scale(kind, particles).y, params.zero);
    return scaled_friction(friction, sqrt(opaque1(first * second, params.zero)), params.zero);
}
