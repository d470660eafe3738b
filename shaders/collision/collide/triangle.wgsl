// The contact of a triangle with a collider: the deepest point of the triangle, and its exit from the collider.
// Counterpart: src/collision/triangle.rs, which explains the method and the constants.

// Number of steps, length of the first, and ratio of each length to the one before.
struct Steps {
    count: u32,
    first: f32,
    ratio: f32,
}

const SEARCH = Steps(7u, 0.6, 0.65);
const SEARCH_AGAIN = Steps(3u, 0.2, 0.5);
const SHIFT = 0.1;
const EXIT_STEPS = 6u;
const LEAST_SLOPE = 0.1;
const SLACK = 0.05;
const TOLERANCE = 0.02;
const NO_WEIGHT = 0.02;

alias Corners = array<vec3f, 3>;

// A collider, and the parameters of its contact with a triangle, in the frame of the collider.
struct TriangleView {
    collider: Collider,
    // Distance that the triangle keeps [m].
    keep: f32,
    // −1 on the inner side of a two-sided collider, else 1.
    side: f32,
    // Bit k is 1 if the edge opposite of corner k is a border of the surface.
    borders: u32,
}

// Corners, unit normal (0 if the area is 0), and radius about the center.
struct Face {
    e: Corners,
    normal: vec3f,
    radius: f32,
}

struct DeepestPoint {
    is_met: bool,
    weights: vec3f,
    // Outward unit vector, and the displacement along it that ends the contact [m].
    normal: vec3f,
    depth: f32,
}

struct Found {
    near: Sample,
    weights: vec3f,
}

fn mixed(weights: vec3f, e: Corners) -> vec3f {
    let zero = params.zero;
    let first = opaque(opaque(e[0] * weights.x, zero) + opaque(e[1] * weights.y, zero), zero);
    return opaque(first + opaque(e[2] * weights.z, zero), zero);
}

fn sample_at(view: TriangleView, p: vec3f) -> Sample {
    let own = sample(view.collider, p, view.keep);
    if view.side < 0.0 {
        return Sample(-own.normal, -own.distance, -own.distance);
    }
    return own;
}

fn direction(v: vec3f) -> vec3f {
    return opaque(direction_of(v, length(v)), params.zero);
}

fn deepest_point(view: TriangleView, e: Corners) -> DeepestPoint {
    let zero = params.zero;
    let center = opaque(opaque(opaque(e[0] + e[1], zero) + e[2], zero) * (1.0 / 3.0), zero);
    let lengths = vec3f(length(e[0] - center), length(e[1] - center), length(e[2] - center));
    let radius = opaque1(max(max(lengths.x, lengths.y), lengths.z), zero);
    let first = sample_at(view, center);
    if first.sure >= view.keep + radius {
        return DeepestPoint();
    }
    var goal = view.keep;
    for (var k = 0u; k < 3u; k++) {
        goal = opaque1(min(goal, sample_at(view, e[k]).distance), zero);
    }
    let limit = goal - opaque1(SLACK * view.keep, zero);
    // A convex distance is nowhere less than its tangent at the center.
    var least = 0.0;
    for (var k = 0u; k < 3u; k++) {
        least = min(least, opaque1(dot(first.normal, opaque(e[k] - center, zero)), zero));
    }
    let shape = view.collider.shape;
    let is_convex = view.side > 0.0 && shape != HEIGHTFIELD && shape != FIELD;
    if select(first.sure - radius, first.distance + least, is_convex) >= limit {
        return DeepestPoint();
    }
    let normal = direction(cross_product(opaque(e[1] - e[0], zero), opaque(e[2] - e[0], zero), zero));
    let face = Face(e, normal, radius);
    let found = search_deepest(view, face, vec3f(), vec3f(1.0 / 3.0), SEARCH);
    let weights = found.weights;
    let at_corner = max(max(weights.x, weights.y), weights.z) > 1.0 - NO_WEIGHT;
    if at_corner || found.near.distance >= limit {
        return DeepestPoint();
    }
    return with_exit(view, face, found, limit);
}

// Returns the deepest point of a triangle, shifted by `shift`, from the point with `weights` on.
fn search_deepest(view: TriangleView, face: Face, shift: vec3f, weights: vec3f, steps: Steps) -> Found {
    let zero = params.zero;
    var e = face.e;
    for (var k = 0u; k < 3u; k++) {
        e[k] = opaque(e[k] + shift, zero);
    }
    var own = weights;
    var step = opaque1(steps.first * face.radius, zero);
    var deepest = Found();
    var p = vec3f();
    for (var turn = 0u; turn <= steps.count; turn++) {
        p = mixed(own, e);
        let near = sample_at(view, p);
        if turn == 0u || near.distance < deepest.near.distance {
            deepest = Found(near, own);
        }
        let along = opaque(near.normal - opaque(face.normal * opaque1(dot(face.normal, near.normal), zero), zero), zero);
        let l = length(along);
        if l < 1e-4 {
            break;
        }
        let next = opaque(p - opaque(along * opaque1(step / l, zero), zero), zero);
        own = -vertex_triangle(Four(next, e[0], e[1], e[2]), zero).weights.yzw;
        step = opaque1(step * steps.ratio, zero);
    }
    return deepest;
}

fn with_exit(view: TriangleView, face: Face, found: Found, goal: f32) -> DeepestPoint {
    let zero = params.zero;
    let weights = found.weights;
    let gap = goal - found.near.distance;
    if all(face.normal == vec3f()) {
        return DeepestPoint(true, weights, found.near.normal, gap);
    }
    let shift = opaque(face.normal * opaque1(SHIFT * face.radius, zero), zero);
    var distances = vec2f();
    for (var k = 0u; k < 2u; k++) {
        distances[k] = search_deepest(view, face, select(shift, -shift, k == 1u), weights, SEARCH_AGAIN).near.distance;
    }
    let normal = select(-face.normal, face.normal, distances.x >= distances.y);
    let depth = exit_depth(view, face, found, normal, goal);
    let opposite = select(select(2u, 1u, weights.y < NO_WEIGHT), 0u, weights.x < NO_WEIGHT);
    if weights[opposite] < NO_WEIGHT && ((view.borders >> opposite) & 1u) == 1u {
        let edge = direction(opaque(face.e[(opposite + 2u) % 3u] - face.e[(opposite + 1u) % 3u], zero));
        let away = opaque(found.near.normal - opaque(edge * opaque1(dot(edge, found.near.normal), zero), zero), zero);
        let beside = direction(away);
        let beside_depth = opaque1(gap / opaque1(dot(beside, found.near.normal), zero), zero);
        if beside_depth < depth {
            return DeepestPoint(true, weights, beside, beside_depth);
        }
    }
    return DeepestPoint(true, weights, normal, depth);
}

// Returns the displacement along `normal` at which the deepest point has the distance `goal`.
fn exit_depth(view: TriangleView, face: Face, start: Found, normal: vec3f, goal: f32) -> f32 {
    let zero = params.zero;
    let tolerance = opaque1(TOLERANCE * view.keep, zero);
    var low = 0.0;
    var near = start.near;
    // Depth and distance beyond the goal; 0 without.
    var high = vec2f();
    for (var turn = 0u; turn < EXIT_STEPS; turn++) {
        let gap = goal - near.distance;
        if low > 0.0 && gap <= tolerance {
            break;
        }
        var slope = max(opaque1(dot(near.normal, normal), zero), LEAST_SLOPE);
        if high.x > 0.0 {
            slope = opaque1((high.y - near.distance) / (high.x - low), zero);
        }
        let depth = opaque1(low + opaque1(gap / slope, zero), zero);
        let there = search_deepest(view, face, opaque(normal * depth, zero), start.weights, SEARCH_AGAIN).near;
        if there.distance <= goal {
            low = depth;
            near = there;
            continue;
        }
        if there.distance <= goal + tolerance {
            return opaque1(low + opaque1(gap * opaque1((depth - low) / (there.distance - near.distance), zero), zero), zero);
        }
        high = vec2f(depth, there.distance);
    }
    return low;
}
