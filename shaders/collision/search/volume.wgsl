// The space that an element may occupy before the next search, in the frame of the drift. The pass declares
// `contact_particles`.

struct SearchVolume {
    // The particles in the middle of the substep.
    places: array<vec3f, 3>,
    // Mean displacement of the particles in the substep. Contacts deflect particles: each may be up to its whole
    // displacement away from `places`.
    path: vec3f,
    // Further distance from `places`: deviation from `path`, predicted motion, half the distance at which pairs
    // are listed.
    reach: f32,
}

fn tracked_element(element: vec4u) -> array<TrackedParticle, 3> {
    return array(tracked_particle(element.x), tracked_particle(element.y), tracked_particle(element.z));
}

// Returns half the thickness of a particle, without its scale, which is at most 1.
fn radius_of(particle: u32) -> f32 {
    return bitcast<f32>(contact_params.materials[material_of(contact_particles[particle].w)].x);
}

// Returns the distance along the predicted paths below which a pair is listed. Counterpart:
// `ContactParams::listed_distance` in src/sim/contact_params.rs.
fn listed_distance(thickness: f32) -> f32 {
    return thickness + max(contact_params.margin, opaque1(SLACK_OF_PAIR * thickness, params.zero));
}

fn search_volume(element: vec4u, particles: array<TrackedParticle, 3>) -> SearchVolume {
    let drift = contact_status.drift;
    var own: SearchVolume;
    let mean = (particles[0].displacement + particles[1].displacement + particles[2].displacement) * 0.33333334;
    own.path = mean - drift;
    var aside = 0.0;
    var predicted = 0.0;
    for (var k = 0u; k < 3u; k++) {
        let path = particles[k].displacement - drift;
        own.places[k] = particles[k].place - 0.5 * path;
        aside = max(aside, length(path - own.path));
        predicted = max(predicted, length(particles[k].predicted));
    }
    let radius = max(max(radius_of(element.x), radius_of(element.y)), radius_of(element.z));
    let half = 0.5 * listed_distance(2.0 * radius);
    // The tolerances cover rounding.
    own.reach = 1.001 * (aside + f32(contact_status.horizon) * predicted + half) + 1e-3 * length(own.path);
    return own;
}
