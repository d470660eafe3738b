// Adds the sum of its corrections to the displacement of each particle, and clears both sums.
// One thread per contact, for the particles that it is marked to apply. Reads contacts. Writes displacement and
// corrections of these particles; one contact is marked for each particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> tracked: array<array<vec4u, 2>>;
// See find_contacts.wgsl.
@group(0) @binding(5) var<storage, read_write> corrections: array<vec4i>;
@group(0) @binding(6) var<storage, read_write> contact_status: ContactStatus;
@group(0) @binding(7) var<storage, read> contacts: array<ActiveContact>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn apply_corrections(@builtin(global_invocation_id) id: vec3u) {
    let place = thread_index(id);
    if place >= used_count(atomicLoad(&contact_status.contact_count), arrayLength(&contacts)) {
        return;
    }
    let row = contacts[place].pair;
    let particles = pair_particles(row);
    for (var k = 0u; k < member_count(pair_kind(row)); k++) {
        if (row[k] & APPLIES) != 0u {
            apply_to_particle(particles[k]);
        }
    }
}

fn apply_to_particle(i: u32) {
    let sum = corrections[i];
    corrections[i] = vec4i(0, 0, 0, sum.w);
    corrections[2u * params.particle_count + i] = vec4i();
    if any(sum.xyz != vec3i()) {
        let correction = opaque(vec3f(sum.xyz) * contact_params.quantum, params.zero);
        var d = opaque(displacements[i].xyz + correction, params.zero);
        if !ONLY_PARTICLES && sum.w >= WAS_CUT {
            d = within_reach(i, d);
        }
        displacements[i] = vec4f(d, 0.0);
    }
}

// Clamps the displacement of a particle that was truncated in the substep before: it deviates from its predicted path
// by at most half the margin, within which the pair list is valid.
fn within_reach(i: u32, d: vec3f) -> vec3f {
    let own = tracked_particle(i);
    // finish_search.wgsl has already counted this substep. A truncated displacement lies between the frame of truncation and the
    // whole displacement.
    let since = contact_status.now - 1u - contact_status.searched;
    let moved = opaque(opaque(own.predicted + contact_status.drift, params.zero) * f32(since), params.zero);
    let end = opaque(opaque(own.place - positions[i].xyz, params.zero) + moved, params.zero);
    let start = opaque(end - opaque(own.displacement - contact_status.truncation_frame, params.zero), params.zero);
    let aside = -from_segment(array(start, end), d, params.zero);
    let half = 0.5 * contact_params.margin;
    let far = length(aside);
    if far <= half {
        return d;
    }
    atomicAdd(&contact_status.truncated, 1u);
    return d - opaque(aside * opaque1(1.0 - half / far, params.zero), params.zero);
}
