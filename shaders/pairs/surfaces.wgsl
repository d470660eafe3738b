// The elements of surfaces, and particles that stand alone: all look for others at once.

@group(0) @binding(7) var<storage, read> watched: array<Watched>;
@group(0) @binding(8) var<storage, read> elements: array<vec4u>;

// Rows of a sorted element: see search/surfaces.wgsl.
const ROWS = 2u;

fn all_look() -> bool {
    return true;
}

// Whether what is sorted looks for others itself.
fn looks(word: u32) -> bool {
    return true;
}

fn element(particles: vec3u, arity: u32) -> Element {
    var own: array<Watched, 3>;
    var there: array<vec3f, 3>;
    var d: array<vec3f, 3>;
    var speed = 0.0;
    var travel = 0.0;
    for (var k = 0u; k <= min(arity, 2u); k++) {
        own[k] = watched[particles[k]];
        there[k] = own[k].place;
        d[k] = own[k].displacement;
        speed = max(speed, speed_of(own[k], contact_params.quantum, contact_status.drift, params.zero));
        travel = max(travel, length(opaque(d[k] - contact_status.drift, params.zero)));
    }
    let second = select(particles.x, particles.y, arity == 1u);
    let contacts = array(contact_particles[particles.x], contact_particles[second]);
    let horizon = contact_status.horizon;
    let end = opaque(center(there[0], there[1], there[2], arity), params.zero);
    let moves_fast = max(travel - 0.5 * contact_params.margin, 0.0) > 0.0 || speed > contact_status.slow;
    // Against the others, who travelled with the drift.
    let moved = opaque(center(d[0], d[1], d[2], arity), params.zero);
    let start = opaque(end - opaque(moved - contact_status.drift, params.zero), params.zero);
    var segment = array(there[0], there[select(0u, 1u, arity == 1u)]);
    if moves_fast {
        segment = array(end, start);
    }
    let word = coarse_word(end);
    var others = contact_status.slow;
    if moves_fast {
        others = bitcast<f32>(atomicLoad(&contact_status.fastest));
    } else if arity == 0u {
        // A particle finds triangles, however fast they are.
        others = max(others, bitcast<f32>(cells[word + 1u]));
    }
    var aside = 0.0;
    if arity == 0u {
        aside = bitcast<f32>(cells[word + 3u]);
    } else if moves_fast {
        // Its ends, as it turns on the way of its center.
        aside = 0.5 * length(opaque(d[1] - d[0], params.zero));
    }
    // A speed may be infinite, or none at all.
    let way = select(opaque1(f32(horizon) * opaque1(speed + others, params.zero), params.zero), 0.0, horizon == 0u);
    let reach = opaque1(contact_params.reach + way, params.zero) + aside;
    return Element(particles, end, segment, moves_fast, horizon, reach, array(own[0], own[1]), contacts);
}

// The words of the coarse cell that a place is in.
fn coarse_word(place: vec3f) -> u32 {
    let edge = bitcast<f32>(atomicLoad(&contact_status.edge_radius));
    let triangle = bitcast<f32>(atomicLoad(&contact_status.triangle_radius));
    let scale = inverse_coarse(contact_params.reach, max(2.0 * edge, triangle), params.zero);
    let cell = coarse_index(coarse_at(place, scale, contact_params.coarse), contact_params.coarse);
    return contact_params.tables * contact_params.table_size + COARSE_WORDS * cell;
}

// How far the center of another is from its particles, at most: among all near, or among all.
fn radius_near(query: Element) -> f32 {
    if KIND == PARTICLES {
        return 0.0;
    }
    if query.is_fast {
        let edge = atomicLoad(&contact_status.edge_radius);
        return bitcast<f32>(select(edge, atomicLoad(&contact_status.triangle_radius), KIND == VERTEX_TRIANGLE));
    }
    return bitcast<f32>(cells[coarse_word(query.center) + select(8u, 9u, KIND == VERTEX_TRIANGLE)]);
}

fn other_at(place: u32) -> Other {
    let row = sorted[ROWS * place];
    let first = row.w & ~FAST;
    let fast = row.w != first;
    if KIND == PARTICLES {
        return Other(bitcast<vec3f>(row.xyz), vec3u(first), fast, true, vec3f());
    }
    let more = sorted[ROWS * place + 1u];
    if KIND == EDGES {
        return Other(bitcast<vec3f>(row.xyz), vec3u(first, more.ww), fast, true, bitcast<vec3f>(more.xyz));
    }
    return Other(bitcast<vec3f>(row.xyz), vec3u(first, more.xy), fast, true, vec3f());
}

// At the end of the substep.
fn from_one_to_another(one: Watched, another: Watched) -> vec3f {
    return another.place - one.place;
}

fn pace_against(one: Watched, another: Watched) -> vec3f {
    let quantum = contact_params.quantum;
    return opaque(pace_of(another, quantum) - pace_of(one, quantum), params.zero);
}

// How much nearer a pair may come: in this substep, as it moves, and until the list is made anew, at its pace.
fn way_of_pair(d: Four, paces: Four, horizon: u32) -> f32 {
    return approach(KIND, d) + opaque1(f32(horizon) * approach(KIND, paces), params.zero);
}

// The place in the list of what has been found as the n-th.
fn free_place(n: u32) -> u32 {
    return n;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn pairs_list(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if atomicLoad(&contact_status.stale) == HOLDS {
        return;
    }
    if KIND == VERTEX_TRIANGLE {
        if i < contact_params.alone_end {
            look_around(element(elements[i].xyz, 0u));
        }
        return;
    }
    // In the order of the cells, so that neighbouring threads look into the same ones: particles, then edges.
    let first = select(0u, contact_params.alone_end - contact_params.alone_first, KIND == EDGES);
    let place = first + i;
    let end = select(contact_params.alone_end, contact_params.query_end, KIND == EDGES) - contact_params.alone_first;
    if place < end {
        look_around(element(other_at(place).particles, select(0u, 1u, KIND == EDGES)));
    }
}
