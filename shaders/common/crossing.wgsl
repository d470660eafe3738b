// Edges that pass through triangles, and the way out; the twin of src/collision/crossing.rs, operation by operation.

alias Five = array<vec3f, 5>;

// What stands for the corner that the second triangle at an edge would have.
const NO_WING = 0xffffffffu;

// The mark of a particle's body, by its row; the twin of `mark` in src/collision/crossing.rs.
fn mark_of(row: vec4u) -> u32 {
    return 1u << (((row.w >> 8u) * 2654435769u) >> 27u);
}

// Whether the elements of a pair have a part in crossings with each other's bodies, by the marks of its particles: contacts would hold
// them where they are, on wrong sides.
fn are_tangled(kind: u32, marks: vec4u, first: u32, second: u32) -> bool {
    if kind == EDGES {
        return ((marks.x | marks.y) & second) != 0u && ((marks.z | marks.w) & first) != 0u;
    }
    return (marks.x & second) != 0u && ((marks.y | marks.z | marks.w) & first) != 0u;
}

struct Crossing {
    // of the triangle's corners
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

// By which way the line of intersection goes on in one of the triangles at the edge: twice its share of the gradient.
fn way_out_of(side: vec3f, edge: vec3f, normal: vec3f, zero: u32) -> vec3f {
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
