// Intersections of edges with triangles, and the direction that resolves them. The CPU counterpart is
// src/collision/crossing.rs, with the same operations in the same order.

alias Five = array<vec3f, 5>;

// Marks an edge without a second triangle, in place of the opposite vertex.
const NO_WING = 0xffffffffu;

// Returns the body of a particle as one of 32 bits, from its row of contact_particles. Two bodies may share a bit.
// Counterpart: `mark` in src/collision/crossing.rs.
fn mark_of(row: vec4u) -> u32 {
    return 1u << (((row.w >> 8u) * 2654435769u) >> 27u);
}

// Returns the word of `corrections` that holds the marks of the bodies that a particle intersects: see
// shaders/collision/find_contacts.wgsl.
fn mask_word(particle: u32, particle_count: u32) -> u32 {
    return 4u * (particle_count + particle) + 2u;
}

// Returns true if both elements of a pair have a particle that intersects the body of the other. `marks` are the
// marks of the four particles. Contacts between them would hold the particles on the wrong sides.
fn are_tangled(kind: u32, marks: vec4u, first: u32, second: u32) -> bool {
    if kind == EDGES {
        return ((marks.x | marks.y) & second) != 0u && ((marks.z | marks.w) & first) != 0u;
    }
    return (marks.x & second) != 0u && ((marks.y | marks.z | marks.w) & first) != 0u;
}

struct Crossing {
    // Barycentric weights of the corners of the triangle.
    weights: vec3f,
    is_there: bool,
}

fn edge_crossing(p: Five, zero: u32) -> Crossing {
    let ab = opaque(p[3] - p[2], zero);
    let ac = opaque(p[4] - p[2], zero);
    let first = opaque(p[0] - p[2], zero);
    let second = opaque(p[1] - p[2], zero);
    let normal = cross_product(ab, ac, zero);
    let above = opaque1(dot(normal, first), zero);
    let below = opaque1(dot(normal, second), zero);
    let edge = opaque(p[1] - p[0], zero);
    let q = opaque(first + opaque(edge * opaque1(above / opaque1(above - below, zero), zero), zero), zero);
    let square = opaque1(dot(normal, normal), zero);
    let v = opaque1(dot(cross_product(q, ac, zero), normal), zero) / square;
    let w = opaque1(dot(cross_product(ab, q, zero), normal), zero) / square;
    let both = opaque1(v + w, zero);
    let is_there = (above > 0.0) != (below > 0.0) && v >= 0.0 && w >= 0.0 && both <= 1.0;
    return Crossing(vec3f(1.0 - both, v, w), is_there);
}

// Returns the share of one triangle at the edge in the gradient of the length of the intersection, times 2 (Volino,
// Magnenat-Thalmann 2006). `side` is the opposite vertex minus the start of the edge; `edge` and `normal` are unit
// vectors.
fn exit_of_wing(side: vec3f, edge: vec3f, normal: vec3f, zero: u32) -> vec3f {
    let across = cross_product(normal, cross_product(edge, side, zero), zero);
    let l = length(across);
    if !(l > 0.0) {
        return vec3f();
    }
    let steepness = opaque1(dot(edge, normal), zero);
    let into = opaque(side - opaque(edge * opaque1(dot(edge, side), zero), zero), zero);
    let line = opaque(select(across, -across, dot(across, into) < 0.0) / l, zero);
    let turn = 2.0 * opaque1(opaque1(dot(edge, line), zero) / steepness, zero);
    return opaque(line - opaque(normal * turn, zero), zero);
}
