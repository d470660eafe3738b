// Pairs of surfaces and of particles in no surface: all elements search at once.

@group(0) @binding(7) var<storage, read> watched: array<array<vec4u, 2>>;
@group(0) @binding(8) var<storage, read> elements: array<vec4u>;

// Rows per sorted element: see search/surfaces.wgsl.
const ROWS = 2u;

fn all_look() -> bool {
    return true;
}

// Returns which of four quantised elements search themselves: all.
fn look(rough: vec4u) -> vec4<bool> {
    return vec4<bool>(true);
}

// Parameters of `are_near` in 1/64 of a cell: the segment, 1/(its length)², and the search distance.
struct Nearness {
    along: vec3f,
    inverse: f32,
    near: f32,
}

fn nearness_of(query: Element, box: Box, along: vec3f, slack: f32) -> Nearness {
    let square = dot(along, along);
    // As `from_segment`, with one division; the slack covers the rounding.
    return Nearness(along, select(0.0, 1.0 / square, square > 0.0), 64.0 * box.reach * box.scale + slack);
}

// Returns which of four elements, at an offset from the start of the segment, may be near it.
fn are_near(four: u32, x: vec4f, y: vec4f, z: vec4f, is_fast: vec4<bool>, own: Nearness) -> vec4<bool> {
    let share = clamp((x * own.along.x + y * own.along.y + z * own.along.z) * own.inverse, vec4f(), vec4f(1.0));
    let ax = x - share * own.along.x;
    let ay = y - share * own.along.y;
    let az = z - share * own.along.z;
    return ax * ax + ay * ay + az * az < vec4f(own.near * own.near);
}

fn element(particles: vec3u, arity: u32, level: u32) -> Element {
    var own: array<TrackedParticle, 3>;
    var there: array<vec3f, 3>;
    var d: array<vec3f, 3>;
    var speed = 0.0;
    var goes_far = false;
    for (var k = 0u; k <= min(arity, 2u); k++) {
        own[k] = watched_of_rows(watched[particles[k]]);
        there[k] = own[k].place;
        d[k] = own[k].displacement;
        speed = max(speed, speed_of(own[k], contact_params.quantum, contact_status.drift, params.zero));
        goes_far = goes_far || is_fast(d[k], contact_status.drift, contact_params.margin, params.zero);
    }
    let second = select(particles.x, particles.y, arity == 1u);
    let contacts = array(contact_particles[particles.x], contact_particles[second]);
    let horizon = contact_status.horizon;
    let end = opaque(center(there[0], there[1], there[2], arity), params.zero);
    let moves_fast = goes_far || speed > contact_status.slow;
    // Relative to the other particles, which move with the drift.
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
        // A particle finds triangles at any speed.
        others = max(others, bitcast<f32>(cell_word(word + 1u)));
    }
    // Rotation of a fast edge around its center, and distance of its particles from the center.
    var turn = 0.0;
    var half = 0.0;
    if arity == 1u && moves_fast {
        turn = 0.5 * length(opaque(d[1] - d[0], params.zero));
        half = length(opaque(there[1] - end, params.zero));
    }
    // An element finds elements of higher levels at any speed.
    var wide_excess = bitcast<f32>(atomicLoad(&contact_status.wide_excess));
    // A particle, or a fast element, also finds elements that contacts keep from their predicted position.
    var excess = select(0.0, bitcast<f32>(cell_word(word + 3u)), arity == 0u || moves_fast);
    if moves_fast {
        excess = select(max(excess, bitcast<f32>(cell_word(coarse_word(start) + 3u))), wide_excess, level > 0u);
    }
    let reach = reach_among(speed + others) + (turn + excess);
    if !moves_fast && level == 0u {
        wide_excess = bitcast<f32>(cell_word(word + 13u));
    }
    let wide_reach = reach_among(speed + bitcast<f32>(atomicLoad(&contact_status.fastest))) + (turn + wide_excess);
    return Element(
        particles,
        end,
        segment,
        moves_fast,
        horizon,
        level,
        levels_of(word, level, moves_fast),
        reach,
        wide_reach,
        half,
        array(own[0], own[1]),
        contacts,
    );
}

// Returns the search distance for elements that approach by `nearer` per substep.
fn reach_among(nearer: f32) -> f32 {
    // A speed may be infinite or NaN.
    let horizon = contact_status.horizon;
    let way = select(opaque1(f32(horizon) * opaque1(nearer, params.zero), params.zero), 0.0, horizon == 0u);
    return opaque1(contact_params.reach + way, params.zero);
}

// Returns the mask of the levels that an element searches: its own, and higher levels nearby.
fn levels_of(word: u32, level: u32, moves_fast: bool) -> u32 {
    var near = cell_word(word + 10u + PARTNER[KIND]);
    if moves_fast || level > 0u {
        near = atomicLoad(&contact_status.levels) >> levels_shift(PARTNER[KIND]);
    }
    return (1u << level) | levels_above(near, level);
}

// Returns the first word of the coarse cell of a point.
fn coarse_word(place: vec3f) -> u32 {
    let edge = atomicLoad(&contact_status.edge_radius);
    let triangle = atomicLoad(&contact_status.triangle_radius);
    let scale = inverse_coarse(contact_params.reach, contact_params.level_sizes, edge, triangle, params.zero);
    let cell = coarse_index(coarse_at(place, scale, contact_params.coarse), contact_params.coarse);
    return contact_params.tables * contact_params.table_size + COARSE_WORDS * cell;
}

// Returns the largest distance of the center of an element of a level from its particles: nearby, or overall.
fn radius_near(query: Element, level: u32) -> f32 {
    if KIND == PARTICLES {
        return way_radius(level, contact_params.level_sizes.x);
    }
    if level == 0u && !query.is_fast {
        return bitcast<f32>(cell_word(coarse_word(query.center) + 7u + PARTNER[KIND]));
    }
    let edge = atomicLoad(&contact_status.edge_radius);
    let largest = bitcast<f32>(select(edge, atomicLoad(&contact_status.triangle_radius), KIND == VERTEX_TRIANGLE));
    return radius_in_level(level, contact_params.level_sizes[PARTNER[KIND]], largest);
}

fn other_at(place: u32) -> Other {
    let row = sorted[ROWS * place];
    let first = sorted_particle(row.w);
    let fast = (row.w & ROW_MARK) != 0u;
    let level = level_of_row(row.w);
    if KIND == PARTICLES {
        return Other(bitcast<vec3f>(row.xyz), vec3u(first), fast, true, level, vec3f());
    }
    let more = sorted[ROWS * place + 1u];
    if KIND == EDGES {
        return Other(bitcast<vec3f>(row.xyz), vec3u(first, more.ww), fast, true, level, bitcast<vec3f>(more.xyz));
    }
    return Other(bitcast<vec3f>(row.xyz), vec3u(first, more.xy), fast, true, level, vec3f());
}

fn watched_of(query: Element, particles: vec4u, k: u32) -> TrackedParticle {
    if k < own_count() {
        return query.watched[k];
    }
    return watched_of_rows(watched[particles[k]]);
}

// Returns true if a pair may come nearer than `reach` before the next search: by its displacements in this substep,
// then by its predicted displacements.
fn may_meet(query: Element, particles: vec4u, reach: f32) -> bool {
    var p: Four;
    var d: Four;
    var paces: Four;
    let first = query.watched[0];
    let quantum = contact_params.quantum;
    for (var k = 1u; k < select(4u, 2u, KIND == PARTICLES); k++) {
        let other = watched_of(query, particles, k);
        d[k] = opaque(other.displacement - first.displacement, params.zero);
        p[k] = opaque(other.place - first.place, params.zero);
        paces[k] = opaque(pace_of(other, quantum) - pace_of(first, quantum), params.zero);
    }
    let way = approach(KIND, d) + opaque1(f32(query.horizon) * approach(KIND, paces), params.zero);
    return closest(KIND, p, params.zero).distance < reach + opaque1(way, params.zero);
}

// Returns the entry of the n-th pair found.
fn free_place(n: u32) -> u32 {
    return n;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn pairs_list(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    let i = thread_index(id);
    if KIND == VERTEX_TRIANGLE {
        if i < contact_params.alone_end {
            look_around(element(elements[i].xyz, 0u, 0u));
        }
        return;
    }
    // In the order of the cells, so that neighbouring threads visit the same cells: particles, then edges.
    let first = select(0u, contact_params.alone_end - contact_params.alone_first, KIND == EDGES);
    let place = first + i;
    let end = select(contact_params.alone_end, contact_params.query_end, KIND == EDGES) - contact_params.alone_first;
    if place < end {
        let own = other_at(place);
        var query = element(own.particles, select(0u, 1u, KIND == EDGES), select(0u, own.level, KIND == EDGES));
        if KIND == PARTICLES {
            // Among particles it has the level of its path, and the search distance does not grow for higher levels.
            query.center = own.center;
            query.level = own.level;
            query.levels = levels_of_particle(own.level);
            query.wide_reach = query.reach;
        }
        look_around(query);
    }
}
