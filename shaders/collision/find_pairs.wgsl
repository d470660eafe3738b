// Lists the pairs of elements that may come nearer than thickness + margin before the next search. Pairs of fast
// elements are listed too; only the time of impact decides whether they collide.
// One thread per searching element: particles of no triangle and edges in the order of the cells, then all particles, which
// search for triangles. A thread visits the cells around its element, or around the path of a fast element: in the
// grid of its level and in those of higher levels nearby. Fast particles also visit the grid of level 0.
// Reads the sorted elements. Appends pairs in any order with an atomic counter; later passes sum integers, so results
// are deterministic. Counterpart: src/reference/search.rs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
// See search.wgsl.
@group(0) @binding(2) var<storage, read> cells: array<u32>;
@group(0) @binding(3) var<storage, read> sorted: array<vec4u>;
@group(0) @binding(4) var<storage, read> tracked: array<array<vec4u, 2>>;
// three particles, type
@group(0) @binding(5) var<storage, read> elements: array<vec4u>;
// rest position (bits); contact material and component
@group(0) @binding(6) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> pairs: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;

// A searching element: it searches for element centers near a segment.
struct Query {
    // Kind of the pairs: `PairKind` in src/collision/pair.rs.
    kind: u32,
    particles: vec2u,
    // State and contact row of its first particle.
    first: TrackedParticle,
    contact: vec4u,
    // Center as sorted.
    center: vec3f,
    // A particle or an edge at its predicted position; for a fast element the path of its center.
    segment: array<vec3f, 2>,
    is_fast: bool,
    // Own level, and mask of the levels whose grids it searches.
    level: u32,
    levels: u32,
    // Search distance to particles of elements of the same level, and of other levels.
    reach: f32,
    wide_reach: f32,
    // Distance of the particles of a fast edge from its center, else 0.
    half: f32,
}

// The first row of a sorted element.
struct Head {
    center: vec3f,
    particle: u32,
    is_fast: bool,
    level: u32,
}

// A sorted element with both rows.
struct Other {
    center: vec3f,
    particles: vec3u,
    // Of an edge: vector from its center to its second particle.
    half: vec3f,
}

// Returns the element type to search for, by kind of pair; see `ContactElements::elements`.
fn partner(kind: u32) -> u32 {
    return select(select(0u, 1u, kind == EDGES), 2u, kind == VERTEX_TRIANGLE);
}

fn row_at(place: u32) -> vec4u {
    return sorted[select(2u, 1u, ONLY_PARTICLES) * place];
}

fn head_at(place: u32) -> Head {
    let row = row_at(place);
    return Head(bitcast<vec3f>(row.xyz), sorted_particle(row.w), (row.w & FAST) != 0u, level_of_row(row.w));
}

fn other_at(place: u32, kind: u32) -> Other {
    let row = row_at(place);
    let first = sorted_particle(row.w);
    if ONLY_PARTICLES {
        return Other(bitcast<vec3f>(row.xyz), vec3u(first), vec3f());
    }
    let more = sorted[2u * place + 1u];
    let others = select(select(vec2u(first), more.ww, kind == EDGES), more.xy, kind == VERTEX_TRIANGLE);
    let half = select(vec3f(), bitcast<vec3f>(more.xyz), kind == EDGES);
    return Other(bitcast<vec3f>(row.xyz), vec3u(first, others), half);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn find_pairs(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    // Neighbouring threads of this group visit the same cells.
    let sorted_count = contact_params.query_end - contact_params.sphere_first;
    var query: Query;
    if i < sorted_count {
        let is_edge = i >= contact_params.particle_end - contact_params.sphere_first;
        let kind = select(PARTICLES, EDGES, is_edge && !ONLY_PARTICLES);
        let own = other_at(i, kind);
        query = query_of(kind, own.particles.xy, own.center, head_at(i).level);
    } else if !ONLY_PARTICLES && i - sorted_count < contact_params.particle_end {
        query = query_of(VERTEX_TRIANGLE, elements[i - sorted_count].xx, vec3f(), 0u);
    } else {
        return;
    }
    var tested = 0u;
    while query.levels != 0u {
        tested = search_level(query, firstTrailingBit(query.levels), tested);
        query.levels &= query.levels - 1u;
    }
    if tested > MOST_OTHERS {
        lose();
    }
}

// Counts a loss, and marks the list as incomplete.
fn lose() {
    atomicAdd(&contact_status.lost, 1u);
    atomicStore(&contact_status.stale, INCOMPLETE);
}

fn query_of(kind: u32, particles: vec2u, sorted_center: vec3f, level: u32) -> Query {
    let drift = contact_status.drift;
    let arity = select(0u, 1u, kind == EDGES);
    let one = tracked_of_rows(tracked[particles.x], contact_params.quantum);
    let two = tracked_of_rows(tracked[particles.y], contact_params.quantum);
    let speed = max(speed_of(one, drift, params.zero), speed_of(two, drift, params.zero));
    let moves_far = is_fast(one.displacement, drift, contact_params.margin, params.zero)
        || is_fast(two.displacement, drift, contact_params.margin, params.zero);
    let end = opaque(center(one.place, two.place, one.place, arity), params.zero);
    let moved = opaque(center(one.displacement, two.displacement, one.displacement, arity), params.zero);
    // Relative to the other particles, which move with the drift.
    let start = opaque(end - opaque(moved - drift, params.zero), params.zero);
    let contact = contact_particles[particles.x];
    let segment = array(one.place, two.place);
    var query = Query(kind, particles, one, contact, end, segment, false, level, 1u << level, 0.0, 0.0, 0.0);
    query.is_fast = moves_far || speed > contact_status.slow;
    // Rotation of a fast edge around its center.
    var turn = 0.0;
    if query.is_fast {
        query.segment = array(end, start);
        if arity == 1u {
            turn = 0.5 * length(opaque(two.displacement - one.displacement, params.zero));
            query.half = length(opaque(two.place - end, params.zero));
        }
    }
    set_reach(&query, end, start, speed, turn);
    if kind == PARTICLES {
        // Among particles it has the level of its path, and the search distance does not grow for higher levels.
        query.center = sorted_center;
        query.levels = 1u | select(levels_from(level, atomicLoad(&contact_status.levels), 0u), 0u, level == 0u);
        query.wide_reach = query.reach;
    }
    return query;
}

// Sets the search distances, and the levels: its own, and higher levels nearby.
fn set_reach(query: ptr<function, Query>, end: vec3f, start: vec3f, speed: f32, turn: f32) {
    let fastest = bitcast<f32>(atomicLoad(&contact_status.fastest));
    let here = coarse_word(end);
    let is_vertex = (*query).kind != EDGES;
    var others = contact_status.slow;
    if (*query).is_fast {
        others = fastest;
    } else if is_vertex {
        // A particle finds triangles at any speed.
        others = max(others, bitcast<f32>(cells[here + SPEED]));
    }
    // An element finds elements of higher levels at any speed. A particle, or a fast element, also finds elements that
    // contacts keep from their predicted position.
    var wide_excess = bitcast<f32>(atomicLoad(&contact_status.wide_excess));
    var excess = select(0.0, bitcast<f32>(cells[here + EXCESS]), is_vertex || (*query).is_fast);
    var present = atomicLoad(&contact_status.levels);
    if (*query).is_fast {
        let both = max(excess, bitcast<f32>(cells[coarse_word(start) + EXCESS]));
        excess = select(both, wide_excess, (*query).level > 0u && !is_vertex);
    } else if is_vertex || (*query).level == 0u {
        wide_excess = bitcast<f32>(cells[here + WIDE_EXCESS]);
        present = cells[here + PRESENT];
    }
    (*query).reach = reach_among(speed + others) + (turn + excess);
    (*query).wide_reach = reach_among(speed + fastest) + (turn + wide_excess);
    (*query).levels |= levels_from((*query).level + 1u, present, partner((*query).kind));
}

// Returns the search distance for elements that approach by `nearer` per substep.
fn reach_among(nearer: f32) -> f32 {
    // A speed may be infinite or NaN.
    let horizon = contact_status.horizon;
    let path = select(opaque1(f32(horizon) * opaque1(nearer, params.zero), params.zero), 0.0, horizon == 0u);
    return opaque1(contact_params.reach + path, params.zero);
}

// Returns the first combined word of the coarse cell of a point.
fn coarse_word(place: vec3f) -> u32 {
    let edge = atomicLoad(&contact_status.edge_radius);
    let triangle = atomicLoad(&contact_status.triangle_radius);
    let scale = inverse_coarse(contact_params.reach, contact_params.level_sizes, edge, triangle, params.zero);
    return contact_params.coarse_first + COARSE_WORDS * coarse_at(place, scale, contact_params.coarse) + NEAR;
}

// Returns the largest distance of the center of an element of a level from its particles: nearby, or overall.
fn radius_near(query: Query, level: u32) -> f32 {
    if query.kind == PARTICLES {
        return path_radius(level, contact_params.level_sizes.x);
    }
    if level == 0u && !query.is_fast {
        return bitcast<f32>(cells[coarse_word(query.center) + RADIUS + partner(query.kind)]);
    }
    let edge = atomicLoad(&contact_status.edge_radius);
    let largest = bitcast<f32>(select(edge, atomicLoad(&contact_status.triangle_radius), query.kind == VERTEX_TRIANGLE));
    return radius_in_level(level, contact_params.level_sizes[partner(query.kind)], largest);
}

// Returns true if this element lists the pair, so that each pair is listed once. The first rule that applies decides:
// - only one searches the grid of the other: that one lists the pair.
// - only one element is fast: that one.
// - otherwise the element with the larger z, so that a slow element skips the cells above it.
// - at equal z the element with the smaller first particle. Edges with the same first particle make no pair.
fn lists(query: Query, other: Head) -> bool {
    if query.kind == VERTEX_TRIANGLE || query.level != other.level {
        return true;
    }
    if query.is_fast != other.is_fast {
        return query.is_fast;
    }
    if query.center.z != other.center.z {
        return query.center.z > other.center.z;
    }
    return query.particles.x < other.particle;
}

// Candidates of one search: indices of sorted elements. They are tested together, so that the threads of a subgroup
// run the expensive tests at the same time.
const CANDIDATES = 32u;
var<private> candidates: array<u32, CANDIDATES>;

// Searches the grid of a level, and returns the number of elements tested so far.
fn search_level(query: Query, level: u32, before: u32) -> u32 {
    let kind = partner(query.kind);
    let scale = contact_params.inverse_cells[level][kind];
    let gap = select(query.wide_reach, query.reach, level == query.level);
    let reach = (gap + radius_near(query, level)) + query.half;
    var low = cell_at(min(query.segment[0], query.segment[1]) - 1.001 * reach, scale);
    var high = cell_at(max(query.segment[0], query.segment[1]) + 1.001 * reach, scale);
    if query.kind != VERTEX_TRIANGLE && level == query.level && !query.is_fast {
        // Elements with a larger z list the pair.
        high.z = cell_at(query.center, scale).z;
    }
    var size = vec3u(high - low) + 1u;
    // The factors are below 2³², so the product does not overflow f32.
    if f32(size.x) * f32(size.y) * f32(size.z) > f32(MOST_CELLS) {
        low = cell_at(query.segment[0], scale) - 1;
        size = vec3u(3u);
        lose();
    }
    var tested = before;
    // The next cell, the present run, and the first cell of the run.
    var next = vec3u();
    var run = Run();
    var first = low;
    // A sphere around all centers within reach of the segment.
    let middle = 0.5 * (query.segment[0] + query.segment[1]);
    let radius = 1.001 * (reach + 0.5 * length(query.segment[1] - query.segment[0]));
    while next.z < size.z || run.start < run.end {
        var count = 0u;
        while count < CANDIDATES && (next.z < size.z || run.start < run.end) {
            if run.start == run.end {
                first = low + vec3i(next);
                run = run_at(first, size.x - next.x, kind, level);
                tested += run.end - run.start;
                // Limits the number of tests per thread.
                run.start = select(run.start, run.end, tested > MOST_OTHERS);
                next = cell_after(next, run.cells, size);
            }
            // Without branches, because software drivers execute both sides.
            let end = min(run.end, run.start + CANDIDATES - count);
            while run.start < end {
                let other = head_at(run.start);
                // Other cells and levels may share the same table entries.
                let offset = bitcast<vec3u>(cell_at(other.center, scale) - first);
                let is_here = other.level == level && all(offset < vec3u(run.cells, 1u, 1u));
                let apart = other.center - middle;
                candidates[count] = run.start;
                count += select(0u, 1u, is_here && dot(apart, apart) < radius * radius && lists(query, other));
                run.start += 1u;
            }
        }
        list_candidates(query, count, gap, reach);
    }
    return tested;
}

// Returns the cell that follows a run of cells in a box.
fn cell_after(cell: vec3u, count: u32, size: vec3u) -> vec3u {
    if cell.x + count < size.x {
        return vec3u(cell.x + count, cell.yz);
    }
    if cell.y + 1u < size.y {
        return vec3u(0u, cell.y + 1u, cell.z);
    }
    return vec3u(0u, 0u, cell.z + 1u);
}

fn list_candidates(query: Query, count: u32, gap: f32, reach: f32) {
    var kept = 0u;
    for (var k = 0u; k < count; k++) {
        let other = other_at(candidates[k], query.kind);
        let apart = from_segment(query.segment, other.center, params.zero);
        var is_near = dot(apart, apart) < reach * reach && !share_particle(query, other.particles);
        if ONLY_PARTICLES {
            // Rejects most particles before their materials and rest positions are read.
            is_near = is_near && may_meet(query, members(query, other.particles), contact_params.thickness);
        } else if query.kind == EDGES {
            is_near = is_near && is_edge_near(query, other, gap);
        }
        if is_near {
            candidates[kept] = candidates[k];
            kept += 1u;
        }
    }
    for (var k = 0u; k < kept; k++) {
        list(query, other_at(candidates[k], query.kind).particles);
    }
}

// Returns the particles of a pair.
fn members(query: Query, other: vec3u) -> vec4u {
    return select(vec4u(query.particles.x, other), vec4u(query.particles, other.xy), query.kind == EDGES);
}

fn share_particle(query: Query, other: vec3u) -> bool {
    return any(query.particles.xxx == other) || any(query.particles.yyy == other);
}

// Second test of edges: their distance.
fn is_edge_near(query: Query, other: Other, gap: f32) -> bool {
    let first = opaque(other.center - query.segment[0], params.zero);
    let along = opaque(query.segment[1] - query.segment[0], params.zero);
    let p = Four(vec3f(), along, opaque(first - other.half, params.zero), opaque(first + other.half, params.zero));
    return query.is_fast || edges(p, params.zero).distance < gap;
}

// Lists a pair unless its materials do not collide, it meets at a seam, it is near at rest, or it cannot meet before the
// next search.
fn list(query: Query, other: vec3u) {
    let particles = members(query, other);
    let third = contact_particles[particles.z];
    let left = material_of(query.contact.w);
    let right = material_of(third.w);
    // Edges without triangles meet each other as edges.
    let are_cords = query.kind == PARTICLES && !ONLY_PARTICLES && (query.contact.w & third.w & CORD) != 0u;
    if are_cords || left == UNTOUCHABLE || right == UNTOUCHABLE
        || !touch(contact_params.materials[left], contact_params.materials[right])
        || are_sewn(query.kind, particles) {
        return;
    }
    let thickness = pair_thickness(query.kind, particles, left, right);
    if (query.contact.w >> 8u) == (third.w >> 8u)
        && rest_distance(query, particles) < thickness * select(1.0, 1.5, query.kind == PARTICLES) {
        return;
    }
    if !may_meet(query, particles, thickness) {
        return;
    }
    let slot = atomicAdd(&contact_status.found_count, 1u);
    if slot < arrayLength(&pairs) {
        pairs[slot] = pack(query.kind, particles);
    } else {
        lose();
    }
}

fn rest_distance(query: Query, particles: vec4u) -> f32 {
    let origin = bitcast<vec3f>(query.contact.xyz);
    var p: Four;
    for (var k = 1u; k < most_members(); k++) {
        p[k] = opaque(bitcast<vec3f>(contact_particles[particles[k]].xyz) - origin, params.zero);
    }
    return closest(query.kind, p, params.zero).distance;
}

// Returns true if a pair may come nearer than thickness + margin before the next search: by its displacements in this
// substep, then by its predicted displacements.
fn may_meet(query: Query, particles: vec4u, thickness: f32) -> bool {
    var p: Four;
    var d: Four;
    var predicted: Four;
    let first = query.first;
    for (var k = 1u; k < most_members(); k++) {
        let other = tracked_of_rows(tracked[particles[k]], contact_params.quantum);
        d[k] = opaque(other.displacement - first.displacement, params.zero);
        p[k] = opaque(other.place - first.place, params.zero);
        predicted[k] = opaque(other.predicted - first.predicted, params.zero);
    }
    let horizon = f32(contact_status.horizon);
    let path = approach(query.kind, d) + opaque1(horizon * approach(query.kind, predicted), params.zero);
    return closest(query.kind, p, params.zero).distance < (thickness + contact_params.margin) + opaque1(path, params.zero);
}
