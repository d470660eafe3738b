// The elements of surfaces, and particles that stand alone: all look for others at once.

@group(0) @binding(7) var<storage, read> positions: array<vec4f>;
@group(0) @binding(8) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(9) var<storage, read> elements: array<vec4u>;

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
    var x: array<vec3f, 3>;
    var there: array<vec3f, 3>;
    for (var k = 0u; k <= min(arity, 2u); k++) {
        x[k] = positions[particles[k]].xyz;
        there[k] = opaque(x[k] + displacements[particles[k]].xyz, params.zero);
    }
    var contact = vec4u();
    if KIND == PARTICLES {
        contact = contact_particles[particles.x];
    }
    let horizon = contact_status.horizon;
    let end = opaque(center(there[0], there[1], there[2], arity), params.zero);
    let d = opaque(end - center(x[0], x[1], x[2], arity), params.zero);
    if horizon == 0u && is_fast(d, contact_status.drift, contact_params.margin, params.zero) {
        // Against the others, who travelled with the drift.
        let start = opaque(end - opaque(d - contact_status.drift, params.zero), params.zero);
        return Element(particles, end, array(end, start), true, horizon, contact);
    }
    let segment = array(there[0], there[select(0u, 1u, arity == 1u)]);
    return Element(particles, end, segment, false, horizon, contact);
}

fn reach_of(query: Element) -> f32 {
    return contact_params.reach;
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

fn displacement_of(particle: u32) -> vec3f {
    return displacements[particle].xyz;
}

// At the end of the substep, in which they come apart by so much.
fn from_one_to_another(one: u32, another: u32, apart: vec3f) -> vec3f {
    return opaque(positions[another].xyz - positions[one].xyz, params.zero) + apart;
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
