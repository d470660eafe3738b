// Finds the edges that intersect triangles at the end of a step.
//
// - intersections_clear: one thread per particle. Clears the results of the last step.
// - intersections_find: one thread per edge or triangle. Searches the sorted elements in the cells around it: an edge
//   for triangles of its own and higher levels, a triangle for edges of higher levels.
//
// Appends intersections in any order; later passes sum integers, so results are deterministic. Counters and masks are
// atomics.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
// three particles, type; then per edge the opposite vertices of its triangles
@group(0) @binding(3) var<storage, read> elements: array<vec4u>;
// See search.wgsl.
@group(0) @binding(4) var<storage, read> cells: array<u32>;
// Two rows per sorted element: see search.wgsl.
@group(0) @binding(5) var<storage, read> sorted: array<vec4u>;
@group(0) @binding(6) var<storage, read> contact_particles: array<vec4u>;
// Eight words per intersection: edge, triangle, opposite vertices of the edge, unused.
@group(0) @binding(7) var<storage, read_write> intersections: array<u32>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;
// See find_contacts.wgsl.
@group(0) @binding(9) var<storage, read_write> corrections: array<atomic<i32>>;

const EDGE = 1u;
const TRIANGLE = 2u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn intersections_clear(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < params.particle_count {
        atomicStore(&corrections[mask_word(i, params.particle_count)], 0);
    }
    if i == 0u {
        atomicStore(&contact_status.crossing_count, 0u);
    }
}

// Returns true if an edge and a triangle of one component intersect at rest, or are closer than the thickness.
fn intersects_at_rest(particles: array<u32, 5>, left: u32, right: u32) -> bool {
    let origin = bitcast<vec3f>(contact_particles[particles[0]].xyz);
    var p: Five;
    for (var k = 1u; k < 5u; k++) {
        p[k] = bitcast<vec3f>(contact_particles[particles[k]].xyz) - origin;
    }
    let first = closest(VERTEX_TRIANGLE, Four(p[0], p[2], p[3], p[4]), params.zero).distance;
    let second = closest(VERTEX_TRIANGLE, Four(p[1], p[2], p[3], p[4]), params.zero).distance;
    let edge = element_scale(vec3u(particles[0], particles[1], 0u), 2u);
    let triangle = element_scale(vec3u(particles[2], particles[3], particles[4]), 3u);
    let edge_side = contact_side(left, contact_params.materials[left], edge, params.zero);
    let triangle_side = contact_side(right, contact_params.materials[right], triangle, params.zero);
    return edge_crossing(p, params.zero).is_there || min(first, second) < edge_side.radius + triangle_side.radius;
}

fn test_pair(pair: Pair) {
    let edge = pair.edge;
    let triangle = pair.triangle;
    let particles = array(edge.x, edge.y, triangle.x, triangle.y, triangle.z);
    let origin = positions[edge.x].xyz;
    var p: Five;
    for (var k = 1u; k < 5u; k++) {
        p[k] = opaque(positions[particles[k]].xyz - origin, params.zero);
    }
    let first = contact_particles[edge.x];
    let second = contact_particles[triangle.x];
    let left = material_of(first.w);
    let right = material_of(second.w);
    if !edge_crossing(p, params.zero).is_there || left == UNTOUCHABLE || right == UNTOUCHABLE
        || !touch(contact_params.materials[left], contact_params.materials[right]) {
        return;
    }
    if are_sewn(EDGES, vec4u(edge, triangle.xy)) || are_sewn(EDGES, vec4u(edge, triangle.zz)) {
        return;
    }
    if (first.w >> 8u) == (second.w >> 8u) && intersects_at_rest(particles, left, right) {
        return;
    }
    let wings = wings_of(index_of(edge));
    if wings.x == NO_WING {
        return;
    }
    let place = atomicAdd(&contact_status.crossing_count, 1u);
    for (var k = 0u; k < 5u; k++) {
        let mark = bitcast<i32>(mark_of(select(first, second, k < 2u)));
        atomicOr(&corrections[mask_word(particles[k], params.particle_count)], mark);
    }
    // The buffer holds as many intersections as particles.
    if place < params.particle_count {
        let row = 8u * place;
        for (var k = 0u; k < 5u; k++) {
            intersections[row + k] = particles[k];
        }
        intersections[row + 5u] = wings.x;
        intersections[row + 6u] = wings.y;
    } else {
        atomicAdd(&contact_status.lost, 1u);
    }
}

// Returns the opposite vertices of the triangles at an edge.
fn wings_of(edge: u32) -> vec2u {
    return elements[contact_params.insert_end + edge - contact_params.particle_end].xy;
}

// Returns the index of an edge among the elements, from its particles, by binary search.
fn index_of(ends: vec2u) -> u32 {
    var first = contact_params.particle_end;
    var end = contact_params.query_end;
    while end - first > 1u {
        let middle = first + (end - first) / 2u;
        let own = elements[middle].xy;
        if own.x < ends.x || (own.x == ends.x && own.y <= ends.y) {
            first = middle;
        } else {
            end = middle;
        }
    }
    return first;
}

// An element that searches: an edge for triangles of its own and higher levels, or a triangle for edges of higher
// levels.
struct Element {
    particles: vec3u,
    // True for an edge.
    is_edge: bool,
    // The edge; for a triangle its center, twice.
    segment: array<vec3f, 2>,
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn intersections_find(@builtin(global_invocation_id) id: vec3u) {
    let index = contact_params.particle_end + thread_index(id);
    if index >= contact_params.insert_end {
        return;
    }
    let is_edge = index < contact_params.query_end;
    let all_levels = atomicLoad(&contact_status.levels);
    if is_edge {
        // Edges without triangles (ropes) are skipped: nothing defines a way out.
        if wings_of(index).x == NO_WING {
            return;
        }
    } else if levels_from(1u, all_levels, EDGE) == 0u {
        // All edges are of level 0, so they find the triangles themselves.
        return;
    }
    let row = elements[index];
    let places = array(positions[row.x].xyz, positions[row.y].xyz, positions[row.z].xyz);
    let middle = opaque(center(places[0], places[1], places[2], row.w), params.zero);
    let square = square_size(places, middle, params.zero);
    let level = level_of(square, contact_params.level_sizes[row.w]);
    var query = Element(row.xyz, is_edge, array(middle, middle));
    var kind = EDGE;
    var largest = bitcast<f32>(atomicLoad(&contact_status.edge_radius));
    var own = sqrt(square);
    if is_edge {
        query.segment = array(places[0], places[1]);
        kind = TRIANGLE;
        largest = bitcast<f32>(atomicLoad(&contact_status.triangle_radius));
        own = 0.0;
    }
    var levels = levels_from(level + 1u, all_levels, kind) | select(0u, 1u << level, is_edge);
    var tested = 0u;
    while levels != 0u {
        let other_level = firstTrailingBit(levels);
        levels &= levels - 1u;
        // The tolerance covers rounding.
        let reach = own + radius_in_level(other_level, contact_params.level_sizes[kind], largest) + 1e-6 * length(middle);
        tested = search_level(query, kind, other_level, 1.001 * reach, tested);
    }
    if tested > MOST_OTHERS {
        atomicAdd(&contact_status.lost, 1u);
    }
}

// The edge and the triangle of a pair.
struct Pair {
    edge: vec2u,
    triangle: vec3u,
}

// Returns the pair of an element that searches and the sorted element at `place`.
fn pair_with(query: Element, place: u32) -> Pair {
    let other = sorted_particle(sorted[place].w);
    let more = sorted[place + 1u];
    if query.is_edge {
        return Pair(query.particles.xy, vec3u(other, more.xy));
    }
    return Pair(vec2u(other, more.w), query.particles);
}

// Returns true if an edge ends at a corner of a triangle.
fn are_joined(pair: Pair) -> bool {
    return any(pair.edge.xxx == pair.triangle) || any(pair.edge.yyy == pair.triangle);
}

// Tests the elements around, and returns the number of elements tested so far.
fn search_level(query: Element, kind: u32, level: u32, reach: f32, before: u32) -> u32 {
    let scale = contact_params.inverse_cells[level][kind];
    let low = cell_at(min(query.segment[0], query.segment[1]) - reach, scale);
    let size = vec3u(cell_at(max(query.segment[0], query.segment[1]) + reach, scale) - low) + 1u;
    if f32(size.x) * f32(size.y) * f32(size.z) > f32(MOST_CELLS) {
        atomicAdd(&contact_status.lost, 1u);
        return before;
    }
    var tested = before;
    for (var k = 0u; k < size.y * size.z; k++) {
        let row = low + vec3i(0, vec2i(vec2u(k % size.y, k / size.y)));
        var x = 0u;
        while x < size.x {
            let first_x = row.x + i32(x);
            let run = run_at(vec3i(first_x, row.yz), size.x - x, kind, level);
            tested += run.end - run.start;
            var start = run.start;
            let end = select(run.end, run.start, tested > MOST_OTHERS);
            while start < end {
                // All elements get a cheap test first, so that the threads of a subgroup run the expensive tests at the
                // same time.
                let count = min(end - start, 32u);
                var bits = 0u;
                for (var n = 0u; n < count; n++) {
                    let head = sorted[2u * (start + n)];
                    let middle = bitcast<vec3f>(head.xyz);
                    let cell = cell_at(middle, scale);
                    let apart = from_segment(query.segment, middle, params.zero);
                    // Other cells and levels may share the same table entries.
                    if all(cell.yz == row.yz) && cell.x >= first_x && cell.x < first_x + i32(run.cells)
                        && level_of_row(head.w) == level && dot(apart, apart) < reach * reach
                        && !are_joined(pair_with(query, 2u * (start + n))) {
                        bits |= 1u << n;
                    }
                }
                while bits != 0u {
                    test_pair(pair_with(query, 2u * (start + firstTrailingBit(bits))));
                    bits &= bits - 1u;
                }
                start += count;
            }
            x += run.cells;
        }
    }
    return tested;
}
