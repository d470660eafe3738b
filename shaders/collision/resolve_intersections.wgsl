// Adds contacts that move edges out of the triangles that they intersect: along the gradient of the length of the
// intersection, at most at the recovery speed (Volino, Magnenat-Thalmann 2006; src/collision/crossing.rs).
// One thread per intersection, at least one. Reads intersections and positions. Appends contacts in any order, and
// counts the contacts of each particle with atomics.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
// See intersections.wgsl.
@group(0) @binding(3) var<storage, read> intersections: array<u32>;
// See find_contacts.wgsl.
@group(0) @binding(4) var<storage, read_write> contacts: array<ActiveContact>;
@group(0) @binding(5) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(6) var<storage, read_write> contact_status: ContactStatus;

@compute @workgroup_size(WORKGROUP_SIZE)
fn resolve_intersections(@builtin(global_invocation_id) id: vec3u) {
    let place = thread_index(id);
    let count = min(atomicLoad(&contact_status.crossing_count), params.particle_count);
    if place >= count {
        return;
    }
    let row = 8u * place;
    let origin = positions[intersections[row]].xyz;
    var p: Five;
    for (var k = 1u; k < 5u; k++) {
        p[k] = opaque(positions[intersections[row + k]].xyz - origin, params.zero);
    }
    let found = edge_crossing(p, params.zero);
    if !found.is_there {
        return;
    }
    let across = cross_product(opaque(p[3] - p[2], params.zero), opaque(p[4] - p[2], params.zero), params.zero);
    let normal = opaque(across / length(across), params.zero);
    let edge = opaque(p[1] / length(p[1]), params.zero);
    var exit = vec3f();
    for (var k = 5u; k < 7u; k++) {
        let wing = intersections[row + k];
        if wing != NO_WING {
            let side = opaque(positions[wing].xyz - origin, params.zero);
            exit = opaque(exit + exit_of_wing(side, edge, normal, params.zero), params.zero);
        }
    }
    let l = length(exit);
    // Neither 0, NaN nor overflow.
    if !(l > 0.0 && l < 1e30) {
        return;
    }
    let plane = vec4f(exit / l, opaque1(contact_params.recovery * min(l, 1.0), params.zero));
    for (var end = 0u; end < 2u; end++) {
        let slot = new_contact();
        if slot == NO_SLOT {
            continue;
        }
        let particles = vec4u(intersections[row + end], intersections[row + 2u], intersections[row + 3u], intersections[row + 4u]);
        let marked = counted(pack(CROSSING, particles));
        let weights = vec4f(1.0, -found.weights);
        contacts[slot] = ActiveContact(plane, weights, marked, vec3f(), 0u, vec3f(), 0.0, vec3f(), 0.0);
    }
}
