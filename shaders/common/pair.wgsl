// Geometry of the pairs that may collide: two particles, a vertex and a triangle, or two edges. The CPU counterpart
// is src/collision/pair.rs, with the same operations in the same order.

const PARTICLES = 0u;
const VERTEX_TRIANGLE = 1u;
const EDGES = 2u;
const CROSSING = 3u;

// Closest points of a pair: n and the weights b, where the distance is n·Σ b x.
struct Closest {
    normal: vec3f,
    distance: f32,
    weights: vec4f,
}

// C = c₀ − n·Σ b d ≤ 0
struct Contact {
    normal: vec3f,
    c0: f32,
    weights: vec4f,
}

struct Meeting {
    contact: Contact,
    is_met: bool,
}

// A contact in a substep. Counterpart: `ActiveContact` in src/reference/contacts.rs.
struct ActiveContact {
    // n and c₀.
    plane: vec4f,
    weights: vec4f,
    // Particles and kind, as `pack`, with APPLIES.
    pair: vec4u,
    // Tangential offset of the contact points since they began to stick [m].
    offset: vec3f,
    // 1 + the place of the next contact of the same list, or 0; see `first_contact` in find_contacts.wgsl.
    next: u32,
    // Multipliers of friction and of the normal constraint [kg m].
    friction_lambda: vec3f,
    normal_lambda: f32,
    // Change of the multipliers in the iteration before, a displacement times mass [kg m].
    change: vec3f,
    // Distance that the contact keeps: the thickness, or less if the elements were nearer when they met [m].
    distance: f32,
}

// A contact of the last substep, with its friction anchor. The offset of the contact points is `offset` if the contact
// slid, else `offset` + Σ b x.
struct PreviousContact {
    pair: vec4u,
    // The weights b of the particles but the first.
    weights: vec3f,
    distance: f32,
    offset: vec3f,
    // As `ActiveContact.next`, with SLIDES.
    next: u32,
}

const SLIDES = 0x80000000u;

// True if all pairs are pairs of particles: the code for the other kinds is not compiled.
override ONLY_PARTICLES: bool = false;

alias Four = array<vec3f, 4>;

// Largest number of particles of a pair.
fn most_members() -> u32 {
    return select(4u, 2u, ONLY_PARTICLES);
}

fn member_count(kind: u32) -> u32 {
    return select(4u, 2u, ONLY_PARTICLES || kind == PARTICLES);
}

// Returns the number of entries of a full list that are used. Their choice depends on the order of the threads, so
// surfaces use none of them and stand still.
fn used_count(found: u32, capacity: u32) -> u32 {
    return select(min(found, capacity), 0u, !ONLY_PARTICLES && found > capacity);
}

fn pack(kind: u32, particles: vec4u) -> vec4u {
    return vec4u(particles.xyz, particles.w | (kind << 30u));
}

fn pair_kind(row: vec4u) -> u32 {
    return row.w >> 30u;
}

// Flag in the row of a contact, beside a particle: this contact applies the corrections of the particle. Particle
// indices are below 2²⁸, see LEVEL_SHIFT.
const APPLIES = 0x20000000u;

fn without_marks(row: vec4u) -> vec4u {
    return row & vec4u(~APPLIES);
}

fn pair_particles(row: vec4u) -> vec4u {
    return row & vec4u(APPLIES - 1u);
}

fn closest(kind: u32, p: Four, zero: u32) -> Closest {
    if ONLY_PARTICLES || kind == PARTICLES {
        return apart(p[0] - p[1], vec4f(1.0, -1.0, 0.0, 0.0));
    }
    if kind == VERTEX_TRIANGLE {
        return vertex_triangle(p, zero);
    }
    return edges(p, zero);
}

fn apart(difference: vec3f, weights: vec4f) -> Closest {
    let l = length(difference);
    if l > 0.0 {
        return Closest(difference / l, l, weights);
    }
    return Closest(vec3f(0.0, 1.0, 0.0), 0.0, weights);
}

// Vertex p₀ and triangle p₁ p₂ p₃ (Ericson 2005, Real-Time Collision Detection, §5.1.5).
fn vertex_triangle(p: Four, zero: u32) -> Closest {
    let ab = opaque(p[2] - p[1], zero);
    let ac = opaque(p[3] - p[1], zero);
    let ap = opaque(p[0] - p[1], zero);
    let d1 = opaque1(dot(ab, ap), zero);
    let d2 = opaque1(dot(ac, ap), zero);
    if d1 <= 0.0 && d2 <= 0.0 {
        return apart(ap, vec4f(1.0, -1.0, 0.0, 0.0));
    }
    let bp = opaque(p[0] - p[2], zero);
    let d3 = opaque1(dot(ab, bp), zero);
    let d4 = opaque1(dot(ac, bp), zero);
    if d3 >= 0.0 && d4 <= d3 {
        return apart(bp, vec4f(1.0, 0.0, -1.0, 0.0));
    }
    let cp = opaque(p[0] - p[3], zero);
    let d5 = opaque1(dot(ab, cp), zero);
    let d6 = opaque1(dot(ac, cp), zero);
    if d6 >= 0.0 && d5 <= d6 {
        return apart(cp, vec4f(1.0, 0.0, 0.0, -1.0));
    }
    let vc = opaque1(opaque1(d1 * d4, zero) - opaque1(d3 * d2, zero), zero);
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = opaque1(d1 / (d1 - d3), zero);
        return apart(ap - opaque(ab * t, zero), vec4f(1.0, t - 1.0, -t, 0.0));
    }
    let vb = opaque1(opaque1(d5 * d2, zero) - opaque1(d1 * d6, zero), zero);
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = opaque1(d2 / (d2 - d6), zero);
        return apart(ap - opaque(ac * t, zero), vec4f(1.0, t - 1.0, 0.0, -t));
    }
    let va = opaque1(opaque1(d3 * d6, zero) - opaque1(d5 * d4, zero), zero);
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = opaque1((d4 - d3) / (opaque1(d4 - d3, zero) + opaque1(d5 - d6, zero)), zero);
        return apart(bp - opaque(opaque(p[3] - p[2], zero) * t, zero), vec4f(1.0, 0.0, t - 1.0, -t));
    }
    let sum = opaque1(va + vb, zero) + vc;
    let v = opaque1(vb / sum, zero);
    let w = opaque1(vc / sum, zero);
    let weights = vec4f(1.0, opaque1(v + w, zero) - 1.0, -v, -w);
    let cross_ = cross_product(ab, ac, zero);
    let l = length(cross_);
    if l == 0.0 {
        return apart(ap, vec4f(1.0, -1.0, 0.0, 0.0));
    }
    let normal = opaque(cross_ / l, zero);
    let height = dot(normal, ap);
    return Closest(select(normal, -normal, height < 0.0), abs(height), weights);
}

// Edges p₀ p₁ and p₂ p₃ (Ericson 2005, §5.1.9).
fn edges(p: Four, zero: u32) -> Closest {
    let d1 = opaque(p[1] - p[0], zero);
    let d2 = opaque(p[3] - p[2], zero);
    let r = opaque(p[0] - p[2], zero);
    let a = opaque1(dot(d1, d1), zero);
    let e = opaque1(dot(d2, d2), zero);
    let f = opaque1(dot(d2, r), zero);
    let b = opaque1(dot(d1, d2), zero);
    let c = opaque1(dot(d1, r), zero);
    let ae = opaque1(a * e, zero);
    let square = ae - opaque1(b * b, zero);
    // The sine of the angle between the edges is above 0.01. Below, their cross product is mostly rounding.
    let oblique = square > 1e-4 * ae;
    var s = 0.5;
    if oblique {
        s = clamp((opaque1(b * f, zero) - opaque1(c * e, zero)) / square, 0.0, 1.0);
    }
    var t = 0.0;
    if e > 0.0 {
        t = (opaque1(b * s, zero) + f) / e;
    }
    if t < 0.0 || t > 1.0 {
        t = clamp(t, 0.0, 1.0);
        s = 0.0;
        if a > 0.0 {
            s = clamp((opaque1(b * t, zero) - c) / a, 0.0, 1.0);
        }
    }
    s = opaque1(s, zero);
    t = opaque1(t, zero);
    let weights = vec4f(1.0 - s, s, t - 1.0, -t);
    let difference = opaque(r + opaque(d1 * s, zero), zero) - opaque(d2 * t, zero);
    let inside = s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0;
    if !(oblique && inside) {
        return apart(difference, weights);
    }
    let cross_ = cross_product(d1, d2, zero);
    let normal = opaque(cross_ / length(cross_), zero);
    let height = dot(normal, r);
    return Closest(select(normal, -normal, height < 0.0), abs(height), weights);
}

// Upper bound of the decrease of the distance of a pair in the substep [m]: the largest relative displacement of two of
// its particles.
fn approach(kind: u32, d: Four) -> f32 {
    if ONLY_PARTICLES || kind == PARTICLES {
        return length(d[1] - d[0]);
    }
    let two = max(length(d[2] - d[0]), length(d[3] - d[0]));
    if kind == VERTEX_TRIANGLE {
        return max(length(d[1] - d[0]), two);
    }
    return max(two, max(length(d[2] - d[1]), length(d[3] - d[1])));
}

// Iterations of conservative advancement.
const MOST_ADVANCES_OF_PAIR = 10u;

// Elements are in contact if their distance exceeds the thickness by at most this share of it. The solve leaves gaps of this
// size, and a contact that ended would lose its friction anchor.
const SLACK_OF_PAIR = 0.05;

// Elements that are nearer than their thickness when they meet keep their distance. It grows at this share of the
// recovery speed up to the thickness, because the separation becomes velocity.
const SEPARATION = 0.05;
// They keep at least this share of the thickness: closer, truncation would hold them.
const NEAREST = 0.1;

fn on_the_way(p: Four, d: Four, time: f32, zero: u32) -> Four {
    return Four(
        opaque(p[0] + opaque(d[0] * time, zero), zero),
        opaque(p[1] + opaque(d[1] * time, zero), zero),
        opaque(p[2] + opaque(d[2] * time, zero), zero),
        opaque(p[3] + opaque(d[3] * time, zero), zero),
    );
}

// Finds the contact of a pair that comes nearer than `thickness` on the path from p to p + d, by conservative
// advancement. `recovery` limits the correction of the initial overlap [m].
fn meet(kind: u32, p: Four, d: Four, thickness: f32, recovery: f32, zero: u32) -> Meeting {
    var near = closest(kind, p, zero);
    var gap = near.distance - thickness;
    var meeting: Meeting;
    if gap > opaque1(SLACK_OF_PAIR * thickness, zero) {
        let reach = approach(kind, d);
        if gap >= reach {
            return meeting;
        }
        var time = 0.0;
        var advances = 0u;
        while advances < MOST_ADVANCES_OF_PAIR && gap > opaque1(SLACK_OF_PAIR * thickness, zero) {
            time = opaque1(time + opaque1(gap / reach, zero), zero);
            if time > 1.0 {
                return meeting;
            }
            near = closest(kind, on_the_way(p, d, time, zero), zero);
            gap = near.distance - thickness;
            advances++;
        }
    }
    let normal = opaque(near.normal, zero);
    let c0 = min(thickness - opaque1(dot(normal, weighted_sum(near.weights, p, zero)), zero), recovery);
    meeting.contact = Contact(normal, c0, near.weights);
    let depth = c0 - opaque1(dot(normal, weighted_sum(near.weights, d, zero)), zero);
    meeting.is_met = depth > opaque1(-SLACK_OF_PAIR * thickness, zero);
    return meeting;
}

// Share of its gap that a pair keeps in a substep, and share of its thickness that it keeps always.
const LEFT = 0.2;
const FLOOR = 0.02;

// Rounds of build_division_planes.
const DIVISION_ROUNDS = 4u;

// Returns the first of the three words of `corrections` that hold a sum of the corrections of a particle: 0 or 1. See
// shaders/collision/solve_contacts.wgsl.
fn sum_word(particle: u32, sum: u32, particle_count: u32) -> u32 {
    return 4u * (particle + 2u * sum * particle_count);
}

// Returns the word of `corrections` that holds the share by which a round truncates a particle: a word of the first
// sum, then the last word of the second row; see find_contacts.wgsl.
fn cut_word(particle: u32, round: u32, particle_count: u32) -> u32 {
    return select(4u * particle + round, 4u * (particle_count + particle) + 3u, round == 3u);
}

// Mark of a particle whose displacement was truncated, in place of its number of contacts.
const CUT = -1;

// Flag beside the number of contacts of a particle: its displacement was truncated in the substep before.
const WAS_CUT = 0x1000000;

fn contacts_of(word: i32) -> i32 {
    return word & (WAS_CUT - 1);
}

// Returns the share of a displacement that is left if a round truncates what is left before it; `cut` has the bits of
// the share of the round.
fn left_after(left: f32, cut: i32, zero: u32) -> f32 {
    return opaque1(left * opaque1(1.0 - bitcast<f32>(cut), zero), zero);
}

// Returns the share by which the displacement e of each particle is shortened so that the elements do not pass
// through each other (Chen et al. 2025, Divide and Truncate). 0 means no truncation. If `excused`, a pair that stays
// apart along its motion is not truncated. Counterpart: src/collision/pair.rs.
fn cuts(kind: u32, p: Four, e: Four, thickness: f32, excused: bool, zero: u32) -> vec4f {
    var near = closest(kind, p, zero);
    // Elements that start at one point have no sides.
    if near.distance == 0.0 {
        return vec4f();
    }
    let normal = opaque(near.normal, zero);
    // The first element lies above the plane, from `lowest` up; the second lies below.
    let seconds = select(1u, 2u, kind == EDGES);
    let members = select(4u, 2u, kind == PARTICLES);
    var heights: vec4f;
    var speeds: vec4f;
    var lowest = 0.0;
    var highest = -1e30;
    var above = 0.0;
    var below = 0.0;
    for (var k = 0u; k < members; k++) {
        heights[k] = opaque1(dot(normal, p[k]), zero);
        speeds[k] = opaque1(dot(normal, e[k]), zero);
        if k < seconds {
            speeds[k] = -speeds[k];
            lowest = min(lowest, heights[k]);
            above = max(above, speeds[k]);
        } else {
            highest = max(highest, heights[k]);
            below = max(below, speeds[k]);
        }
    }
    let free_gap = opaque1((1.0 - LEFT) * max((lowest - highest) - opaque1(FLOOR * thickness, zero), 0.0), zero);
    let gap_below = opaque1(free_gap * opaque1(below / max(above + below, 1e-30), zero), zero);
    // Rounding of the quotient on GPUs could make this negative.
    let gap_above = max(free_gap - gap_below, 0.0);
    var cut: vec4f;
    for (var k = 0u; k < members; k++) {
        let own = select((highest - heights[k]) + gap_below, (heights[k] - lowest) + gap_above, k < seconds);
        if speeds[k] > own {
            cut[k] = 1.0 - opaque1(own / speeds[k], zero);
        }
    }
    if !excused || all(cut == vec4f()) {
        return cut;
    }
    // Elements that move together are excused: conservative advancement of the relative motion.
    var d: Four;
    for (var k = 1u; k < 4u; k++) {
        d[k] = opaque(e[k] - e[0], zero);
    }
    let floor_ = max(LEFT * min(near.distance, thickness), min(0.9 * near.distance, opaque1(FLOOR * thickness, zero)));
    let reach = approach(kind, d);
    var left = near.distance - floor_;
    var time = 0.0;
    for (var advances = 0u; advances < MOST_ADVANCES_OF_PAIR; advances++) {
        time = opaque1(time + opaque1(left / reach, zero), zero);
        if !(time < 1.0) {
            return vec4f();
        }
        near = closest(kind, on_the_way(p, d, time, zero), zero);
        left = near.distance - floor_;
        if left <= 0.0 {
            break;
        }
    }
    return cut;
}

// Returns Σ b x.
fn weighted_sum(b: vec4f, x: Four, zero: u32) -> vec3f {
    if ONLY_PARTICLES {
        return opaque(opaque(x[0] * b.x, zero) + opaque(x[1] * b.y, zero), zero);
    }
    let two = opaque(x[0] * b.x, zero) + opaque(x[1] * b.y, zero);
    let three = opaque(two, zero) + opaque(x[2] * b.z, zero);
    return opaque(opaque(three, zero) + opaque(x[3] * b.w, zero), zero);
}
