// Solves trees: the links of each as one linear system (equations: src/schedule/trees.rs). Counterpart:
// src/reference/trees.rs. The file of the kind evaluates C and ∇C.
// One thread per tree of one colour; trees of a colour share no particle. Reads positions, records, materials, trees and
// nodes. Reads and writes λ, the state of its nodes, and the displacements of its particles.

// By tree: root, first record, number of links, first node. Then by node: child, number of the link above, factor on the
// inverse mass of the child.
@group(0) @binding(6) var<storage, read> trees: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> nodes: array<vec4f>;

// Rows of a node: n, b; length or −1 of a weld, α̃/(1 + γ), λ, Δλ; k, 1/s, inverse masses of the child with its factor and of the parent;
// q; r; A, then V; g; Δx of the child. Of a weld, q and r are the diagonal of S⁻¹ and the elements beside it.
const SIZES = 1u;
const WEIGHTS = 2u;
const Q = 3u;
const R = 4u;
const DIAGONAL = 5u;
const BESIDE = 6u;
const G = 7u;
const SHIFT = 8u;

fn row_of(node: u32, row: u32) -> vec3f {
    return nodes[TREE_ROWS * node + row].xyz;
}

fn set_row(node: u32, row: u32, v: vec3f) {
    nodes[TREE_ROWS * node + row] = vec4f(v, 0.0);
}

fn matrix_of(node: u32) -> Symmetric {
    return Symmetric(row_of(node, DIAGONAL), row_of(node, BESIDE));
}

fn set_matrix(node: u32, matrix: Symmetric) {
    set_row(node, DIAGONAL, matrix.diagonal);
    set_row(node, BESIDE, matrix.beside);
}

// Returns m I; 0 for a pinned particle.
fn mass_of(w: f32) -> Symmetric {
    return Symmetric(vec3f(select(0.0, 1.0 / w, w > 0.0)), vec3f());
}

// Returns P v, n being a unit vector.
fn across(n: vec3f, v: vec3f) -> vec3f {
    return opaque(v - opaque(n * dot(n, v), span.zero), span.zero);
}

// Returns true for a weld, a distance of rest length 0. WELDS is true if the kind is `Distance`.
fn is_weld(node: u32) -> bool {
    return WELDS && nodes[TREE_ROWS * node + SIZES].x < 0.0;
}

// Returns the vector b n + V g of a weld.
fn weld_gap(node: u32) -> vec3f {
    let head = nodes[TREE_ROWS * node];
    let carried = times_symmetric(matrix_of(node), row_of(node, G), span.zero);
    return opaque(opaque(head.xyz * head.w, span.zero) + carried, span.zero);
}

// Evaluates a link at the current positions.
fn evaluate_node(place: u32, node: u32, row: vec4u) {
    let record = load(place);
    let parent_is_first = word(record, 1u) == row.x;
    let above = select(word(record, 1u), word(record, 0u), parent_is_first);
    let x = positions[row.x];
    let parent = positions[above];
    let displacement = displacements[row.x].xyz;
    let above_displacement = displacements[above].xyz;
    let relative = opaque(opaque(x.xyz - parent.xyz, span.zero) + displacement, span.zero);
    let p = Points(
        select(relative, above_displacement, parent_is_first),
        select(above_displacement, relative, parent_is_first),
    );
    let evaluation = evaluate(record, p);
    let n = select(evaluation.grad[1], evaluation.grad[0], parent_is_first);
    let material = materials[word(record, ARITY)];
    let last = lambdas[place];
    let lambda = select(0.0, last, by_thread(span.first_iteration, place) == 0u);
    let travel = dot(n, above_displacement - displacement);
    let b = material.factor
        * ((-evaluation.c - material.alpha_tilde * lambda - material.gamma * travel) / (1.0 + material.gamma));
    let apart = opaque(relative - above_displacement, span.zero);
    var length = sqrt(dot(apart, apart));
    var stiffness = select(abs(last) / length, 0.0, all(n == vec3f()));
    if WELDS && bitcast<f32>(word(record, ARITY + 1u)) == 0.0 {
        length = -1.0;
        stiffness = 0.0;
    }
    let alpha = material.alpha_tilde / (1.0 + material.gamma);
    let at = TREE_ROWS * node;
    nodes[at] = vec4f(n, b);
    nodes[at + SIZES] = vec4f(length, alpha, lambda, 0.0);
    nodes[at + WEIGHTS] = vec4f(stiffness, 0.0, x.w * f32(row.z), parent.w);
}

// Raises the geometric stiffness to that of the multiplier just found.
fn stiffen(node: u32) {
    let at = TREE_ROWS * node;
    let sizes = nodes[at + SIZES];
    if any(nodes[at].xyz != vec3f()) && !is_weld(node) {
        nodes[at + WEIGHTS].x = max(nodes[at + WEIGHTS].x, abs(sizes.z + sizes.w) / sizes.x);
    }
}

// Computes S⁻¹ of a weld, and adds its contributions to A and g of its parent.
fn add_weld(node: u32, v: Symmetric, matrix: ptr<function, Symmetric>, g_above: ptr<function, vec3f>) {
    let at = TREE_ROWS * node;
    let least = vec3f(LEAST_LEAF * nodes[at + WEIGHTS].w);
    let softened = Symmetric(max(v.diagonal + nodes[at + SIZES].y, least), v.beside);
    let inverse = inverse_symmetric(softened, vec3f(), span.zero);
    set_row(node, Q, inverse.diagonal);
    set_row(node, R, inverse.beside);
    (*matrix).diagonal = opaque((*matrix).diagonal + inverse.diagonal, span.zero);
    (*matrix).beside = opaque((*matrix).beside + inverse.beside, span.zero);
    *g_above = opaque(*g_above + times_symmetric(inverse, weld_gap(node), span.zero), span.zero);
}

// Computes q, r and 1/s of a node, and adds its contributions to A and g of its parent.
fn add_link(node: u32, v: Symmetric, matrix: ptr<function, Symmetric>, g_above: ptr<function, vec3f>) {
    let at = TREE_ROWS * node;
    let head = nodes[at];
    let n = head.xyz;
    let weights = nodes[at + WEIGHTS];
    let k = weights.x;
    let g = row_of(node, G);
    let q = times_symmetric(v, n, span.zero);
    let r = opaque(n - opaque(across(n, q) * k, span.zero), span.zero);
    let along = dot(n, q);
    let s = max(nodes[at + SIZES].y + along, LEAST_LEAF * weights.w);
    let inverse_s = select(0.0, 1.0 / s, s > 0.0 && any(n != vec3f()));
    nodes[at + WEIGHTS].y = inverse_s;
    set_row(node, Q, q);
    set_row(node, R, r);
    // k P − k² P V P, with P V P = V − n qᵀ − q nᵀ + (n·q) n nᵀ.
    let square = opaque1(k * k, span.zero);
    let added = opaque(vec3f(k) - opaque(v.diagonal * square, span.zero), span.zero);
    var sum = *matrix;
    sum.diagonal = opaque(sum.diagonal + added, span.zero);
    sum.beside = opaque(sum.beside - opaque(v.beside * square, span.zero), span.zero);
    sum = plus_outer(sum, n, q, 2.0 * square, span.zero);
    sum = plus_outer(sum, n, n, opaque1(-k - opaque1(square * along, span.zero), span.zero), span.zero);
    *matrix = plus_outer(sum, r, r, inverse_s, span.zero);
    let carried = opaque(*g_above + opaque(across(n, times_symmetric(v, g, span.zero)) * k, span.zero), span.zero);
    let force = opaque1(opaque1(head.w + dot(q, g), span.zero) * inverse_s, span.zero);
    *g_above = opaque(carried + opaque(r * force, span.zero), span.zero);
}

// Computes V of a node, and adds its contributions to A and g of its parent.
fn eliminate_node(node: u32, parent: u32, top: ptr<function, Symmetric>, top_g: ptr<function, vec3f>) {
    let at = TREE_ROWS * node;
    let n = nodes[at].xyz;
    let k = nodes[at + WEIGHTS].x;
    let stiff = Symmetric(opaque(row_of(node, DIAGONAL) + k, span.zero), row_of(node, BESIDE));
    let own = plus_outer(stiff, n, n, -k, span.zero);
    var v = Symmetric();
    if nodes[at + WEIGHTS].z > 0.0 {
        v = inverse_symmetric(own, vec3f(), span.zero);
    }
    set_matrix(node, v);
    var matrix = *top;
    var g_above = *top_g;
    if parent != ROOT {
        matrix = matrix_of(parent);
        g_above = row_of(parent, G);
    }
    if is_weld(node) {
        add_weld(node, v, &matrix, &g_above);
    } else {
        add_link(node, v, &matrix, &g_above);
    }
    if parent != ROOT {
        set_matrix(parent, matrix);
        set_row(parent, G, g_above);
    } else {
        *top = matrix;
        *top_g = g_above;
    }
}

// Computes Δλ and Δx of a node; returns the square of the shift across the link, and L |b|.
fn substitute_node(node: u32, above: vec3f) -> vec2f {
    let at = TREE_ROWS * node;
    let head = nodes[at];
    let n = head.xyz;
    let weights = nodes[at + WEIGHTS];
    let g = row_of(node, G);
    if is_weld(node) {
        let inverse = Symmetric(row_of(node, Q), row_of(node, R));
        let impulse = times_symmetric(inverse, opaque(weld_gap(node) - above, span.zero), span.zero);
        // The change to its magnitude; a weld pulls.
        let lambda = nodes[at + SIZES].z;
        let sum = opaque(opaque(n * lambda, span.zero) + impulse, span.zero);
        nodes[at + SIZES].w = -sqrt(dot(sum, sum)) - lambda;
        set_row(node, SHIFT, times_symmetric(matrix_of(node), opaque(g - impulse, span.zero), span.zero));
        return vec2f();
    }
    let left = opaque1(opaque1(head.w + dot(row_of(node, Q), g), span.zero) - dot(row_of(node, R), above), span.zero);
    let delta = opaque1(left * weights.y, span.zero);
    nodes[at + SIZES].w = delta;
    let carried = opaque(across(n, above) * weights.x, span.zero);
    let force = opaque(opaque(g + carried, span.zero) - opaque(n * delta, span.zero), span.zero);
    let shift = times_symmetric(matrix_of(node), force, span.zero);
    set_row(node, SHIFT, shift);
    let turn = across(n, opaque(shift - above, span.zero));
    return vec2f(dot(turn, turn), nodes[at + SIZES].x * abs(head.w));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_trees(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let tree = trees[span.first + i];
    let root = positions[tree.x].w;
    for (var k = 0u; k < tree.z; k++) {
        evaluate_node(tree.y + k, tree.w + k, trees[TREES + tree.w + k]);
    }
    var top_shift = vec3f();
    for (var round = 0u; round < ROUNDS; round++) {
        for (var k = 0u; k < tree.z; k++) {
            if round > 0u {
                stiffen(tree.w + k);
            }
            set_matrix(tree.w + k, mass_of(nodes[TREE_ROWS * (tree.w + k) + WEIGHTS].z));
            set_row(tree.w + k, G, vec3f());
        }
        var top = mass_of(root);
        var top_g = vec3f();
        for (var k = tree.z; k > 0u; k--) {
            let node = tree.w + k - 1u;
            let parent = trees[TREES + node].y;
            eliminate_node(node, select(tree.w + parent, ROOT, parent == ROOT), &top, &top_g);
        }
        top_shift = vec3f();
        if root > 0.0 {
            top_shift = times_symmetric(inverse_symmetric(top, vec3f(), span.zero), top_g, span.zero);
        }
        var turned = 0.0;
        var reach = 0.0;
        for (var k = 0u; k < tree.z; k++) {
            let parent = trees[TREES + tree.w + k].y;
            var above = top_shift;
            if parent != ROOT {
                above = row_of(tree.w + parent, SHIFT);
            }
            let found = substitute_node(tree.w + k, above);
            turned = max(turned, found.x);
            reach = max(reach, found.y);
        }
        if !(turned > MOST_TURN * reach) {
            break;
        }
    }
    displacements[tree.x] = vec4f(displacements[tree.x].xyz + top_shift, 0.0);
    for (var k = 0u; k < tree.z; k++) {
        let node = tree.w + k;
        let row = trees[TREES + node];
        let sizes = nodes[TREE_ROWS * node + SIZES];
        lambdas[tree.y + k] = sizes.z + sizes.w;
        let moved = displacements[row.x].xyz + opaque(row_of(node, SHIFT) / f32(row.z), span.zero);
        displacements[row.x] = vec4f(moved, 0.0);
    }
}
