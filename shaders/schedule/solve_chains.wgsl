// Solves the chains of rods (src/schedule/chains.rs): a block LDLᵀ decomposition with two blocks of 3 × 3 beside the
// diagonal, from one end to the other and back. Source: Deul, Kugelstadt, Weiler, Bender 2018. Counterpart:
// src/reference/chains.rs.
// One thread per chain of one colour; chains of a colour share no particle and no orientation. Reads inverse masses and
// its links. Reads and writes its factors, λ, and the displacements of its entities.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// first link, number of links
@group(0) @binding(3) var<storage, read> chains: array<vec2u>;
// record and SEGMENT, three entities
@group(0) @binding(4) var<storage, read> link_rows: array<vec4u>;
// LINK_ROWS rows per link: b and α̃/(1 + γ); relaxation factor; nine gradients.
@group(0) @binding(5) var<storage, read> links: array<vec4f>;
// FACTOR_ROWS rows per link: D⁻¹; L to the link before; L to the one before that; y of L y = b, then Δλ.
@group(0) @binding(6) var<storage, read_write> factors: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> joint_lambdas: array<f32>;
@group(0) @binding(8) var<storage, read_write> segment_lambdas: array<f32>;

override KEEP_LAMBDA: bool = false;

const INVERSE = 0u;
const BESIDE = 3u;
const NEXT = 6u;
const Y = 9u;
const NO_ENTITY = 0xffffffffu;
const SEGMENT = 0x80000000u;

// Factor on the inverse inertias of frames.
var<private> inverse_inertia_factor: f32;

// The rows of a 3 × 3 matrix.
struct Matrix {
    a: vec3f,
    b: vec3f,
    c: vec3f,
}

// Returns the gradients of entity k of a link.
fn gradient_at(place: u32, k: u32) -> Matrix {
    let at = LINK_ROWS * place + 2u + 3u * k;
    return Matrix(links[at].xyz, links[at + 1u].xyz, links[at + 2u].xyz);
}

fn factor_at(place: u32, row: u32) -> Matrix {
    let at = FACTOR_ROWS * place + row;
    return Matrix(factors[at].xyz, factors[at + 1u].xyz, factors[at + 2u].xyz);
}

fn set_factor(place: u32, row: u32, matrix: Matrix) {
    let at = FACTOR_ROWS * place + row;
    factors[at] = vec4f(matrix.a, 0.0);
    factors[at + 1u] = vec4f(matrix.b, 0.0);
    factors[at + 2u] = vec4f(matrix.c, 0.0);
}

fn y_at(place: u32) -> vec3f {
    return factors[FACTOR_ROWS * place + Y].xyz;
}

// Returns A v.
fn times(m: Matrix, v: vec3f) -> vec3f {
    return vec3f(dot(m.a, v), dot(m.b, v), dot(m.c, v));
}

// Returns A Bᵀ.
fn times_transposed(m: Matrix, n: Matrix) -> Matrix {
    return Matrix(times(n, m.a), times(n, m.b), times(n, m.c));
}

fn minus(m: Matrix, n: Matrix) -> Matrix {
    return Matrix(opaque(m.a - n.a, span.zero), opaque(m.b - n.b, span.zero), opaque(m.c - n.c, span.zero));
}

// Returns Aᵀ v.
fn transposed_times(m: Matrix, v: vec3f) -> vec3f {
    let first = opaque(opaque(m.a * v.x, span.zero) + opaque(m.b * v.y, span.zero), span.zero);
    return opaque(first + opaque(m.c * v.z, span.zero), span.zero);
}

// Returns the inverse of a symmetric matrix; 0 in the directions of pivots that do not exceed `least`.
fn inverse_of(d: Matrix, least: vec3f) -> Matrix {
    let m = inverse_symmetric(Symmetric(vec3f(d.a.x, d.b.y, d.c.z), vec3f(d.c.y, d.c.x, d.b.x)), least, span.zero);
    let o = m.beside;
    return Matrix(vec3f(m.diagonal.x, o.z, o.y), vec3f(o.z, m.diagonal.y, o.x), vec3f(o.y, o.x, m.diagonal.z));
}

// Returns the inverse mass of entity k of a link, or its inverse inertia times `inverse_inertia_factor`.
fn weight_of(row: vec4u, k: u32) -> f32 {
    let is_frame = k == 2u || (row.x & SEGMENT) == 0u;
    return positions[row[1u + k]].w * select(1.0, inverse_inertia_factor, is_frame);
}

// Adds w G Hᵀ.
fn coupled(sum: Matrix, w: f32, own: Matrix, other: Matrix) -> Matrix {
    let product = times_transposed(own, other);
    return Matrix(
        opaque(sum.a + opaque(product.a * w, span.zero), span.zero),
        opaque(sum.b + opaque(product.b * w, span.zero), span.zero),
        opaque(sum.c + opaque(product.c * w, span.zero), span.zero),
    );
}

// Adds the coupling of entity k of a link with the entities of another one.
fn coupled_all(sum: Matrix, row: vec4u, place: u32, k: u32, same: vec3u, other: u32) -> Matrix {
    let entity = row[1u + k];
    if entity == NO_ENTITY || all(same != vec3u(entity)) {
        return sum;
    }
    let m = select(select(2u, 1u, same.y == entity), 0u, same.x == entity);
    return coupled(sum, weight_of(row, k), gradient_at(place, k), gradient_at(other, m));
}

// Returns J W Jᵀ of two links.
fn coupling(place: u32, other: u32) -> Matrix {
    let row = link_rows[place];
    let same = link_rows[other].yzw;
    var sum = Matrix();
    sum = coupled_all(sum, row, place, 0u, same, other);
    sum = coupled_all(sum, row, place, 1u, same, other);
    return coupled_all(sum, row, place, 2u, same, other);
}

// Computes the row of a link: its blocks of L and D⁻¹, and y of L y = b.
fn decompose(first: u32, place: u32) {
    let head = links[LINK_ROWS * place];
    var diagonal = coupling(place, place);
    let sum = vec3f(diagonal.a.x, diagonal.b.y, diagonal.c.z);
    let least = opaque(sum * LEAST_COMPLIANCE, span.zero);
    let added = max(vec3f(head.w), least);
    diagonal.a.x = opaque1(diagonal.a.x + added.x, span.zero);
    diagonal.b.y = opaque1(diagonal.b.y + added.y, span.zero);
    diagonal.c.z = opaque1(diagonal.c.z + added.z, span.zero);
    var y = head.xyz;
    var beside = Matrix();
    if place > first + 1u {
        let far = coupling(place, place - 2u);
        let next = times_transposed(far, factor_at(place - 2u, INVERSE));
        diagonal = minus(diagonal, times_transposed(far, next));
        beside = times_transposed(far, factor_at(place - 1u, BESIDE));
        y = opaque(y - times(next, y_at(place - 2u)), span.zero);
        set_factor(place, NEXT, next);
    }
    if place > first {
        let near = minus(coupling(place, place - 1u), beside);
        beside = times_transposed(near, factor_at(place - 1u, INVERSE));
        diagonal = minus(diagonal, times_transposed(near, beside));
        y = opaque(y - times(beside, y_at(place - 1u)), span.zero);
    }
    set_factor(place, INVERSE, inverse_of(diagonal, opaque(least * 0.25, span.zero)));
    set_factor(place, BESIDE, beside);
    factors[FACTOR_ROWS * place + Y] = vec4f(y, 0.0);
}

// Adds Δλ to λ, and w ∇C Δλ to the displacements.
fn apply(place: u32, delta: vec3f, keeps: bool) {
    let row = link_rows[place];
    if KEEP_LAMBDA {
        let at = 3u * (row.x & ~SEGMENT);
        for (var k = 0u; k < AXES; k++) {
            if (row.x & SEGMENT) != 0u {
                segment_lambdas[at + k] = select(0.0, segment_lambdas[at + k], keeps) + delta[k];
            } else {
                joint_lambdas[at + k] = select(0.0, joint_lambdas[at + k], keeps) + delta[k];
            }
        }
    }
    for (var k = 0u; k < ENTITIES; k++) {
        let entity = row[1u + k];
        if entity != NO_ENTITY {
            let impulse = transposed_times(gradient_at(place, k), delta);
            let moved = displacements[entity].xyz + opaque(impulse * weight_of(row, k), span.zero);
            displacements[entity] = vec4f(moved, 0.0);
        }
    }
}

// Computes Δλ of each link.
fn solve_links(first: u32, count: u32) {
    let end = first + count;
    for (var place = first; place < end; place++) {
        decompose(first, place);
    }
    var z1 = vec3f();
    var z2 = vec3f();
    for (var back = 1u; back <= count; back++) {
        let place = end - back;
        var z = times(factor_at(place, INVERSE), y_at(place));
        if back > 1u {
            z = opaque(z - transposed_times(factor_at(place + 1u, BESIDE), z1), span.zero);
        }
        if back > 2u {
            z = opaque(z - transposed_times(factor_at(place + 2u, NEXT), z2), span.zero);
        }
        factors[FACTOR_ROWS * place + Y] = vec4f(opaque(z * links[LINK_ROWS * place + 1u].x, span.zero), 0.0);
        z2 = z1;
        z1 = z;
    }
}

// Returns the square of the largest rotation of a segment by Δλ.
fn largest_rotation(first: u32, count: u32) -> f32 {
    let end = first + count;
    var largest = 0.0;
    for (var place = first; place < end; place++) {
        let row = link_rows[place];
        if (row.x & SEGMENT) == 0u {
            continue;
        }
        var rotation = vec3f();
        for (var other = max(place, first + 2u) - 2u; other < min(place + 3u, end); other++) {
            let same = link_rows[other].yzw == vec3u(row.w);
            if any(same) {
                let k = select(select(2u, 1u, same.y), 0u, same.x);
                rotation = opaque(rotation + transposed_times(gradient_at(other, k), y_at(other)), span.zero);
            }
        }
        rotation = opaque(rotation * weight_of(row, 2u), span.zero);
        largest = max(largest, dot(rotation, rotation));
    }
    return largest;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_chains(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let chain = chains[span.first + i];
    let most = opaque1(MOST_ROTATION * MOST_ROTATION, span.zero);
    inverse_inertia_factor = 1.0;
    var largest = most;
    for (var solve = 0u; solve < SOLVES; solve++) {
        inverse_inertia_factor = max(opaque1(inverse_inertia_factor * (most / largest), span.zero), LEAST_INVERSE_INERTIA);
        solve_links(chain.x, chain.y);
        largest = largest_rotation(chain.x, chain.y);
        if largest <= most || inverse_inertia_factor == LEAST_INVERSE_INERTIA {
            break;
        }
    }
    let keeps = by_thread(span.first_iteration, chain.x) == 0u;
    let scale = select(1.0, sqrt(most / largest), largest > most);
    for (var back = 1u; back <= chain.y; back++) {
        let place = chain.x + chain.y - back;
        apply(place, opaque(y_at(place) * scale, span.zero), keeps);
    }
}
