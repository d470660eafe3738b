// Finds the edges that intersect triangles at the end of a step.
//
// - intersections_clear: one thread per particle. Clears the results of the last step.
// - intersections_find: one thread per edge or triangle. An edge searches for triangles of its own and higher levels, a
//   triangle for edges of higher levels.
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
@group(0) @binding(5) var<storage, read> volumes: array<vec4u>;
@group(0) @binding(6) var<storage, read> contact_particles: array<vec4u>;
// Eight words per intersection: edge, triangle, opposite vertices of the edge, unused.
@group(0) @binding(7) var<storage, read_write> intersections: array<u32>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;
// See find_contacts.wgsl.
@group(0) @binding(9) var<storage, read_write> corrections: array<atomic<i32>>;

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

// Returns true if an edge and a triangle of one body intersect at rest, or are closer than the thickness.
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

fn test(query: Query, other: u32) {
    let is_edge = query.own_type == EDGE;
    let edge = elements[select(other, query.index, is_edge)].xy;
    let triangle = elements[select(query.index, other, is_edge)].xyz;
    // The edge may end at a corner of the triangle.
    if any(edge.xxx == triangle) || any(edge.yyy == triangle) {
        return;
    }
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
    if !edge_crossing(p, params.zero).is_there
        || !touch(contact_params.materials[left], contact_params.materials[right]) {
        return;
    }
    if are_sewn(EDGES, vec4u(edge, triangle.xy)) || are_sewn(EDGES, vec4u(edge, triangle.zz)) {
        return;
    }
    if (first.w >> 8u) == (second.w >> 8u) && intersects_at_rest(particles, left, right) {
        return;
    }
    let wings = wings_of(select(other, query.index, is_edge));
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
    return elements[contact_params.element_end + edge - contact_params.particle_end].xy;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn intersections_find(@builtin(global_invocation_id) id: vec3u) {
    let index = contact_params.particle_end + thread_index(id);
    if index >= contact_params.element_end {
        return;
    }
    let element = elements[index];
    let middle = center_of(index);
    var query = Query(index, TRIANGLE, EDGE, vec2u(contact_params.particle_end, contact_params.edge_end),
        array(middle, middle), path_of(index).w, vec3f());
    if element.w == EDGE {
        // Edges without triangles (ropes) are skipped: nothing defines a way out.
        if wings_of(index).x == NO_WING {
            return;
        }
        query.own_type = EDGE;
        query.other_type = TRIANGLE;
        query.others = vec2u(contact_params.edge_end, contact_params.element_end);
        query.segment = array(positions[element.x].xyz, positions[element.y].xyz);
        query.reach = 0.0;
    }
    if !search(query) {
        atomicAdd(&contact_status.lost, 1u);
    }
}
