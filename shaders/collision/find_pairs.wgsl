// Lists the pairs of elements whose distance may fall below `listed_distance` on the predicted paths within the horizon.
// One thread per element: a particle searches for triangles, and for other particles if it is in no triangle; an edge for
// edges; a triangle for particles of higher levels.
// Reads the grids. Appends pairs in any order with an atomic counter; later passes sum integers, so results are
// deterministic. Counterpart of `list`: `pair` in src/reference/search/pairs.rs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
// See search.wgsl.
@group(0) @binding(2) var<storage, read> cells: array<u32>;
@group(0) @binding(3) var<storage, read> volumes: array<vec4u>;
@group(0) @binding(4) var<storage, read> tracked: array<array<vec4u, 2>>;
// three particles, type
@group(0) @binding(5) var<storage, read> elements: array<vec4u>;
// rest position (bits); contact material and component
@group(0) @binding(6) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> pairs: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;

// The particles of the element that searches.
var<private> own_particles: array<TrackedParticle, 3>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn find_pairs(@builtin(global_invocation_id) id: vec3u) {
    let index = thread_index(id);
    if index >= contact_params.element_end {
        return;
    }
    let element = elements[index];
    own_particles = tracked_element(element);
    let own = search_volume(element, own_particles);
    var query = Query(index, element.w, 0u, vec2u(), array(own.places[0], own.places[1]), own.reach, own.path);
    if element.w == TRIANGLE {
        query.segment = array(center_of(index), center_of(index));
        query.reach = path_of(index).w;
    }
    // Bit k: it searches for elements of type k. Edges search for edges, triangles for particles.
    var types = 1u << select(PARTICLE, EDGE, element.w == EDGE);
    if !ONLY_PARTICLES && element.w == PARTICLE {
        types = (1u << TRIANGLE) | select(0u, 1u << PARTICLE, index >= contact_params.sphere_first);
    }
    let firsts = vec4u(0u, contact_params.particle_end, contact_params.edge_end, contact_params.element_end);
    while types != 0u {
        let wanted = firstTrailingBit(types);
        types &= types - 1u;
        query.other_type = wanted;
        query.others = vec2u(firsts[wanted], firsts[wanted + 1u]);
        if element.w == PARTICLE && wanted == PARTICLE {
            query.others.x = contact_params.sphere_first;
        }
        if !search(query) {
            lose();
        }
    }
    // True if llvmpipe has ended the loop: see MOST_ITERATIONS.
    if types != 0u {
        lose();
    }
}

// Counts a loss, and marks the list as incomplete.
fn lose() {
    atomicAdd(&contact_status.lost, 1u);
    atomicStore(&contact_status.stale, INCOMPLETE);
}

// Tests a pair of elements. The order of its particles does not depend on the element that searches.
fn test(query: Query, other: u32) {
    let one = elements[query.index];
    let two = elements[other];
    let own = own_particles;
    let others = tracked_element(two);
    if ONLY_PARTICLES || (query.own_type == PARTICLE && query.other_type == PARTICLE) {
        let particles = vec4u(min(one.x, two.x), vec3u(max(one.x, two.x)));
        list(PARTICLES, particles, array(own[0], others[0], others[0], others[0]));
    } else if query.own_type == EDGE && one.x < two.x {
        list(EDGES, vec4u(one.xy, two.xy), array(own[0], own[1], others[0], others[1]));
    } else if query.own_type == EDGE {
        list(EDGES, vec4u(two.xy, one.xy), array(others[0], others[1], own[0], own[1]));
    } else if query.own_type == PARTICLE {
        list(VERTEX_TRIANGLE, vec4u(one.x, two.xyz), array(own[0], others[0], others[1], others[2]));
    } else {
        list(VERTEX_TRIANGLE, vec4u(two.x, one.xyz), array(others[0], own[0], own[1], own[2]));
    }
}

fn share_particle(kind: u32, particles: vec4u) -> bool {
    if kind == EDGES {
        return any(particles.zw == particles.xx) || any(particles.zw == particles.yy);
    }
    return any(particles.yzw == particles.xxx);
}

// Lists a pair that may meet before the next search. Not if its elements share a particle, if their materials do not
// collide, if they meet at a seam, or if they are in contact at rest.
fn list(kind: u32, particles: vec4u, tracked_members: array<TrackedParticle, 4>) {
    if share_particle(kind, particles) {
        return;
    }
    let firsts = firsts_of(kind, particles);
    let first = contact_particles[firsts.x].w;
    let second = contact_particles[firsts.y].w;
    // Edges without triangles meet each other as edges.
    let are_cords = kind == PARTICLES && !ONLY_PARTICLES && (first & second & CORD) != 0u;
    if are_cords || !touch(contact_params.materials[material_of(first)], contact_params.materials[material_of(second)])
        || are_sewn(kind, particles) {
        return;
    }
    let thickness = pair_thickness(kind, particles);
    let bound = approach_of(kind, tracked_members);
    if !(bound.distance < listed_distance(thickness) + bound.decrease) {
        return;
    }
    if (first >> 8u) == (second >> 8u)
        && rest_distance(kind, particles) < thickness * select(1.0 + SLACK_OF_PAIR, 1.5, kind == PARTICLES) {
        return;
    }
    let slot = atomicAdd(&contact_status.found_count, 1u);
    if slot < arrayLength(&pairs) {
        pairs[slot] = pack(kind, particles);
    } else {
        lose();
    }
}

fn rest_distance(kind: u32, particles: vec4u) -> f32 {
    let origin = bitcast<vec3f>(contact_particles[particles.x].xyz);
    var p: Four;
    for (var k = 1u; k < most_members(); k++) {
        p[k] = opaque(bitcast<vec3f>(contact_particles[particles[k]].xyz) - origin, params.zero);
    }
    return closest(kind, p, params.zero).distance;
}

// A bound of the motion of a pair: its distance in the middle of the substep, and the largest decrease of it until the
// next search [m]. Contacts deflect particles, so the decrease in the substep is bounded by twice that on straight paths.
struct Approach {
    distance: f32,
    decrease: f32,
}

fn approach_of(kind: u32, particles: array<TrackedParticle, 4>) -> Approach {
    var p: Four;
    var d: Four;
    var predicted: Four;
    let first = particles[0];
    for (var k = 1u; k < most_members(); k++) {
        let other = particles[k];
        d[k] = opaque(other.displacement - first.displacement, params.zero);
        p[k] = opaque(opaque(other.place - first.place, params.zero) - opaque(d[k] * 0.5, params.zero), params.zero);
        predicted[k] = opaque(other.predicted - first.predicted, params.zero);
    }
    let later = opaque1(f32(contact_status.horizon) * approach(kind, predicted), params.zero);
    return Approach(closest(kind, p, params.zero).distance, opaque1(approach(kind, d) + later, params.zero));
}
