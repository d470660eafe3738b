// Projects stars: each solves all constraints of its hub as one linear system (equations: src/schedule/stars.rs).
// Counterpart: src/reference/stars.rs. The file of the kind evaluates C and ∇C.
// One thread per star of one colour; stars of a colour share no particle. Reads positions, records, materials and
// stars. Reads and writes λ and the displacements of the hub and its leaves.

// hub, first record, number of constraints, leaf factor
@group(0) @binding(6) var<storage, read> stars: array<vec4u>;

struct Hub {
    particle: u32,
    position: vec3f,
    displacement: vec3f,
    w: f32,
    leaf_factor: f32,
}

// A linearised constraint: unit gradient at the hub, its row of the system, and the state of its leaf.
struct Link {
    n: vec3f,
    b: f32,
    d: f32,
    lambda: f32,
    // (L b)², L being the distance between hub and leaf.
    reach: f32,
    leaf: u32,
    w: f32,
    displacement: vec3f,
}

fn link_at(place: u32, hub: Hub) -> Link {
    let record = load(place);
    let hub_is_first = word(record, 0u) == hub.particle;
    let leaf = select(word(record, 0u), word(record, 1u), hub_is_first);
    let x = positions[leaf];
    let displacement = displacements[leaf].xyz;
    let relative = opaque(opaque(x.xyz - hub.position, span.zero) + displacement, span.zero);
    let p = Points(
        select(relative, hub.displacement, hub_is_first),
        select(hub.displacement, relative, hub_is_first),
    );
    let evaluation = evaluate(record, p);
    let n = select(evaluation.grad[1], evaluation.grad[0], hub_is_first);
    let material = materials[word(record, ARITY)];
    var lambda = 0.0;
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = lambdas[place];
    }
    let travel = dot(n, hub.displacement - displacement);
    let b = material.factor
        * ((-evaluation.c - material.alpha_tilde * lambda - material.gamma * travel) / (1.0 + material.gamma));
    let weight = select(x.w, max(hub.leaf_factor * x.w, LEAST_LEAF * hub.w), hub.w > 0.0);
    let d = weight + material.alpha_tilde / (1.0 + material.gamma);
    let apart = opaque(relative - hub.displacement, span.zero);
    let reach = dot(apart, apart) * (b * b);
    return Link(n, b, d, lambda, reach, leaf, x.w, displacement);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_stars(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let star = stars[span.first + i];
    let x = positions[star.x];
    let hub = Hub(star.x, x.xyz, displacements[star.x].xyz, x.w, f32(star.w));
    var diagonal = vec3f();
    var beside = vec3f();
    var right = vec3f();
    var reach = 0.0;
    for (var place = star.y; place < star.y + star.z; place++) {
        let link = link_at(place, hub);
        if link.d > 0.0 {
            let scaled = opaque(link.n / link.d, span.zero);
            diagonal = opaque(diagonal + opaque(link.n * scaled, span.zero), span.zero);
            beside = opaque(beside + opaque(link.n.yzx * scaled.zxy, span.zero), span.zero);
            right = opaque(right + opaque(scaled * link.b, span.zero), span.zero);
            reach = max(reach, link.reach);
        }
    }
    let unit = opaque(vec3f(1.0) + opaque(diagonal * hub.w, span.zero), span.zero);
    let moved = opaque(solve_symmetric(unit, opaque(beside * hub.w, span.zero), right, span.zero) * hub.w, span.zero);
    // |moved|² ≤ 2 L |b|: see src/schedule/stars.rs.
    let square = dot(moved, moved);
    var part = 1.0;
    if square * square > 4.0 * reach {
        part = sqrt(sqrt((4.0 * reach) / (square * square)));
    }
    var impulse = vec3f();
    for (var place = star.y; place < star.y + star.z; place++) {
        let link = link_at(place, hub);
        var delta = 0.0;
        if link.d > 0.0 && any(link.n != vec3f()) {
            delta = part * ((link.b - dot(link.n, moved)) / link.d);
        }
        if KEEP_LAMBDA {
            lambdas[place] = link.lambda + delta;
        }
        let given = opaque(link.n * delta, span.zero);
        displacements[link.leaf] = vec4f(link.displacement - opaque(given * link.w, span.zero), 0.0);
        impulse = opaque(impulse + given, span.zero);
    }
    displacements[hub.particle] = vec4f(hub.displacement + opaque(impulse * hub.w, span.zero), 0.0);
}
