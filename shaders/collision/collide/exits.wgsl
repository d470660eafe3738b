// Exits: directions in which a particle that starts a substep inside colliders leaves them. The nearest exit that
// lies in no other collider is taken, among all colliders that contain the particle. Its owner pushes; the other
// overlapping colliders do not.
// An exit may lead through one other collider, as in a corner between floor and wall. If no exit is free, each
// collider pushes through its nearest one.
// Counterparts: src/reference/exits.rs and src/collision/exits.rs, with the same operations in the same order.

// States of `Exit.owner`: the exit is unknown; it must be found before the next collider.
const UNKNOWN = 0xfffffffeu;
const WANTED = 0xfffffffdu;
// Largest number of iterations along an axis to find the end of a shape without faces.
const MARCHES = 32u;
// Distance from a surface that counts as on it, as a share of the contact distance.
const SURFACE_TOLERANCE = 0.0625;

struct Exit {
    // Index of the collider; NONE if no exit is free, or UNKNOWN.
    owner: u32,
    // Outward unit normal in world space; unused if `depth` is 0.
    normal: vec3f,
    // Distance along the normal at which the particle keeps its distance [m]; 0 for the nearest exit of the owner.
    depth: f32,
}

// Returns the start position, moved with the collider to the end of the substep, in the frame of the collider.
fn in_frame(c: Collider, x: vec3f, rest: vec3f) -> vec3f {
    return turned_into(c.frame, relative_motion(c, x, rest, vec3f(), params.zero).start, params.zero);
}

// Returns true if a collider collides with the material and has an inside.
fn is_solid_to(c: Collider, material: u32) -> bool {
    let collide = touch(contact_params.materials[material], contact_params.materials[c.material]);
    return (c.flags & (DISABLED | TWO_SIDED)) == 0u && collide;
}

fn keep_of(c: Collider, side: ContactSide) -> f32 {
    return side.radius + c.margin;
}

// Start of a search for exits: a point in or at a collider, reached at `cost` [m]; the index of its next exit, and
// the number of its exits.
struct Origin {
    index: u32,
    x: vec3f,
    cost: f32,
    p: vec3f,
    near: Sample,
    next: u32,
    count: u32,
}

// Level 0 tests the exits of the colliders that contain the particle, level 1 the exits of a collider that blocks one
// of them. One loop covers both levels, because each call of `sample` is inlined.
fn find_exit(side: ContactSide, x: vec3f, rest: vec3f) -> Exit {
    let zero = params.zero;
    var best = Exit(NONE, vec3f(), 0.0);
    var first = best;
    var least = FAR;
    var origins: array<Origin, 2>;
    var level = 0u;
    var next = Origin(first_near(x, 0.0), x, 0.0, vec3f(), Sample(), 0u, 0u);
    while next.index != NONE {
        if next.count == 0u {
            let c = collider_at(next.index);
            if is_solid_to(c, side.material) {
                let keep = keep_of(c, side);
                next.p = in_frame(c, next.x, rest);
                next.near = sample(c, next.p, keep);
                next.count = select(0u, exit_count(c), level == 1u || next.near.distance <= SURFACE_TOLERANCE * keep);
            }
        }
        if next.next >= next.count {
            // All of its exits are tested.
            if level == 1u {
                level = 0u;
                next = origins[0];
            } else {
                next = Origin(next_near(next.index, x, 0.0), x, 0.0, vec3f(), Sample(), 0u, 0u);
            }
            continue;
        }
        let c = collider_at(next.index);
        let keep = keep_of(c, side);
        let k = next.next;
        next.next++;
        let exit = exit_at(c, next.p, keep, next.near, k);
        let cost = opaque1(next.cost + exit.w, zero);
        if cost < least {
            let normal = turned_out_of(c.frame, exit.xyz, zero);
            let end = opaque(next.x + opaque(normal * exit.w, zero), zero);
            if level == 0u {
                first = Exit(next.index, normal, select(exit.w, 0.0, k == 0u));
            }
            let blocker = blocker_of(side, end, rest, next.index, SURFACE_TOLERANCE * keep);
            if blocker == NONE {
                least = cost;
                best = first;
            } else if level == 0u {
                origins[0] = next;
                level = 1u;
                next = Origin(blocker, end, cost, vec3f(), Sample(), 0u, 0u);
            }
        }
    }
    return best;
}

// Colliders are on opposite sides of a particle if the cosine of the angle between their normals is less.
const OPPOSITE = -0.9;

// Returns the share of its distance that a particle between two opposite colliders keeps: what the gap between them
// has room for. Colliders without a gap between them push the particle out. `near` is the sample of collider `c`, which
// has index `owner`.
fn squeeze(owner: u32, c: Collider, side: ContactSide, x: vec3f, rest: vec3f, near: Sample) -> f32 {
    let zero = params.zero;
    let keep = keep_of(c, side);
    let normal = turned_out_of(c.frame, opaque(near.normal, zero), zero);
    var least = 1.0;
    for (var index = first_near(x, 0.0); index != NONE; index = next_near(index, x, 0.0)) {
        let other = collider_at(index);
        if index == owner || !is_solid_to(other, side.material) {
            continue;
        }
        let keep_there = keep_of(other, side);
        let there = sample(other, in_frame(other, x, rest), keep_there);
        let normal_there = turned_out_of(other.frame, opaque(there.normal, zero), zero);
        let room = opaque1(near.distance, zero) + opaque1(there.distance, zero);
        let share = opaque1(room / (keep + keep_there), zero);
        if there.distance < keep_there + side.radius && share > SURFACE_TOLERANCE && opaque1(dot(normal, normal_there), zero) < OPPOSITE {
            least = min(least, share);
        }
    }
    return least;
}

// Larger than any distance.
const FAR = 3.4028234e38;

// Returns a collider other than `owner` that contains a point, or NONE. A point within `slack` of surfaces is moved
// away from them and tested again: it is free in front of a wall, and not in a seam.
fn blocker_of(side: ContactSide, x: vec3f, rest: vec3f, owner: u32, slack: f32) -> u32 {
    let zero = params.zero;
    var place = x;
    var blocker = owner;
    var is_within = false;
    for (var round = 0u; round < 2u && blocker != NONE && !is_within; round++) {
        blocker = NONE;
        var away = vec3f();
        var index = first_near(place, 0.0);
        while index != NONE && !is_within {
            let c = collider_at(index);
            if index != owner && is_solid_to(c, side.material) {
                let near = sample(c, in_frame(c, place, rest), keep_of(c, side));
                is_within = near.distance < -slack;
                if near.distance < slack {
                    blocker = index;
                    away = opaque(away + turned_out_of(c.frame, near.normal, zero), zero);
                }
            }
            index = next_near(index, place, 0.0);
        }
        place = opaque(place + opaque(away * (2.0 * slack), zero), zero);
    }
    return blocker;
}

// The nearest exit, the faces of a box or a hull, and both directions of each axis for a shape without faces.
fn exit_count(c: Collider) -> u32 {
    if is_shape(c, HULL) {
        return 1u + c.counts.x;
    }
    return select(1u, 7u, is_shape(c, BOX) || is_round(c));
}

fn is_round(c: Collider) -> bool {
    return is_shape(c, SPHERE) || is_shape(c, CAPSULE) || is_shape(c, FIELD);
}

// Returns the direction of an exit in the frame of its collider, and the distance along it at which the point keeps
// its distance [m].
fn exit_at(c: Collider, p: vec3f, keep: f32, near: Sample, k: u32) -> vec4f {
    let zero = params.zero;
    if k == 0u {
        return vec4f(near.normal, keep - opaque1(near.distance, zero));
    }
    if is_shape(c, HULL) {
        let plane = hull_plane(c.data + 4u * (k - 1u), p);
        return vec4f(plane.xyz, keep - opaque1(plane.w, zero));
    }
    let number = (k - 1u) / 2u;
    let axis = vec3f(f32(number == 0u), f32(number == 1u), f32(number == 2u));
    let normal = select(axis, -axis, k % 2u == 0u);
    if is_shape(c, BOX) {
        let beyond = opaque1(opaque1(dot(normal, p), zero) - opaque1(dot(axis, c.size), zero), zero);
        return vec4f(normal, keep - beyond);
    }
    var distance = FAR;
    if is_round(c) {
        distance = march(c, p, keep, normal);
    }
    return vec4f(normal, distance);
}

// Returns the distance along a direction at which the point keeps its distance [m]; FAR if it is not found.
fn march(c: Collider, p: vec3f, keep: f32, direction: vec3f) -> f32 {
    let zero = params.zero;
    let least = 0.5 * max(keep, select(0.0, c.size.x, is_shape(c, FIELD)));
    var distance = 0.0;
    var left = keep;
    for (var k = 0u; k < MARCHES && left > 0.0; k++) {
        left = keep - opaque1(sample(c, opaque(p + opaque(direction * distance, zero), zero), keep).distance, zero);
        // The last iteration advances no farther than needed.
        distance = opaque1(distance + select(left, max(left, least), left > 0.0), zero);
    }
    return select(distance, FAR, left > 0.0);
}
