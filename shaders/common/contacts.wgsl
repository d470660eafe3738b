// What the passes of contacts share: their figures, colliders, and what the GPU keeps for itself.

// `ContactParams` in src/sim/contact_params.rs says what each one is.
struct ContactParams {
    collider_count: u32,
    substeps: u32,
    recovery: f32,
    level: u32,
    margin: f32,
    quantum: f32,
    inverse_quantum: f32,
    thickness: f32,
    table_size: u32,
    tables: u32,
    insert_first: u32,
    insert_end: u32,
    query_end: u32,
    alone_first: u32,
    alone_end: u32,
    pair_capacity: u32,
    contact_capacity: u32,
    reach: f32,
    anchored: u32,
    coarse: u32,
    level_sizes: vec3f,
    sums_first: u32,
    worn_first: u32,
    nearby_first: u32,
    inverse_coarse: f32,
    rough_first: u32,
    gap: f32,
    inverse_reach: f32,
    ways_first: u32,
    padding: u32,
    search_threads: array<vec4u, 4>,
    inverse_cells: array<vec4f, LEVELS>,
    // half the thickness (bits), groups, touches, 0
    materials: array<vec4u, 16>,
    // by material and material: static and kinetic friction, restitution, 0
    friction: array<vec4f, 256>,
}

// `ColliderRow` in src/collision/collider.rs.
struct Collider {
    position: vec3f,
    shape: u32,
    rotation: vec4f,
    target_position: vec3f,
    flags: u32,
    target_rotation: vec4f,
    size: vec3f,
    bound: f32,
    surface_velocity: vec3f,
    margin: f32,
    counts: vec3u,
    data: u32,
    // What follows is written by interpolate_colliders.wgsl, but for the material.
    near: f32,
    above: f32,
    material: u32,
    substep: u32,
    frame: ColliderFrame,
    travel: ColliderFrame,
    surface_step: vec3f,
    padding: u32,
}

// Three rows, and beside each a component of an offset. `ColliderFrame` in src/collision/collider.rs.
struct ColliderFrame {
    rows: array<vec4f, 3>,
}

const MOVING = 1u;
const TWO_SIDED = 2u;
const DISABLED = 4u;
// The other shapes are in shaders/collision/collide/shapes.wgsl.
const HALF_SPACE = 0u;
const UNTOUCHABLE = 255u;

// Written by the GPU alone; `ContactStatus` in src/gpu/contacts/status.rs.
struct ContactStatus {
    // Mean displacement of some particles at the last search: what all are taken to travel together; 0 where anything is held
    // (`ContactParams::anchored`).
    drift: vec3f,
    // Substeps since the start.
    now: u32,
    // EXPIRED or ALL where the list of pairs no longer holds.
    stale: atomic<u32>,
    // 1 where anything is so fast in this substep that all is to be sought anew, if anything is.
    hurried: atomic<u32>,
    // Substeps for which the list holds, if nothing is deflected. Of particles alone each has its own.
    horizon: u32,
    // Of surfaces, how far most go in a substep against the drift, at most; and how far any goes (bits of a positive f32).
    slow: f32,
    fastest: atomic<u32>,
    // Particles that look for others in this search, and those among which they do.
    renewed_count: atomic<u32>,
    nearby_count: atomic<u32>,
    // Edges that passed through triangles at the end of the last step.
    crossing_count: atomic<u32>,
    // Places of the list that are in use, and how many of them a search has made vacant, and what it has found.
    pair_count: u32,
    vacancy_count: atomic<u32>,
    found_count: atomic<u32>,
    // Pairs in the list.
    listed: u32,
    contact_count: atomic<u32>,
    searches: u32,
    most_pairs: u32,
    most_contacts: u32,
    // Pairs and contacts that found no room, and elements that did not see all around them.
    lost: atomic<u32>,
    // Largest overlap at the start of a substep (bits of a positive f32).
    deepest: atomic<u32>,
    // Ways of particles that were cut.
    truncated: atomic<u32>,
    // How far the center of an edge, of a triangle is from its particles, at most (bits of positive f32).
    edge_radius: atomic<u32>,
    triangle_radius: atomic<u32>,
    // The same of edges at the end of the last step; of triangles, and the levels of which there are any, below.
    end_edge_radius: atomic<u32>,
    // 1 where pairs found no room: then the next search is for all.
    overfull: u32,
    // Of surfaces, the substep of the last search.
    searched: u32,
    end_triangle_radius: atomic<u32>,
    // At the last search, a bit for each level above 0 of which there are any: of the ways of particles, then of edges, of triangles.
    levels: atomic<u32>,
    // How far beyond half the margin elements of these levels travel in the substep of the search, at most (bits of a positive f32).
    wide_excess: atomic<u32>,
    end_levels: atomic<u32>,
}

// Rows of three words of what is dispatched: by `SearchPass` in src/schedule/plan.rs, then contacts (of surfaces: and the first round of divide),
// further rounds of divide, untangle.
const SEARCH_PASSES = 14u;
const PRUNE = 2u;
const CONTACTS_SIZE = 3u * SEARCH_PASSES;
const DIVIDE_SIZE = CONTACTS_SIZE + 3u;

// Whether the list of pairs holds, or what has used up its part of it is to be sought anew, or all.
const HOLDS = 0u;
const EXPIRED = 1u;
const ALL = 2u;

fn is_for_all(stale: u32, hurried: u32, overfull: u32) -> bool {
    return stale == ALL || hurried == 1u || overfull == 1u;
}

// Where a particle was to be when it last looked for others, its displacement then, in which substep that was, and for how many it
// holds, with how far it looked and the level on which its way stood above that: see `outlook`. Of surfaces, which all look at once, the last two are
// its pace.
struct TrackedParticle {
    place: vec3f,
    searched: u32,
    displacement: vec3f,
    horizon: u32,
}

// As it is stored: in two rows, as software drivers load and store each member by itself.
fn watched_of_rows(rows: array<vec4u, 2>) -> TrackedParticle {
    return TrackedParticle(bitcast<vec3f>(rows[0].xyz), rows[0].w, bitcast<vec3f>(rows[1].xyz), rows[1].w);
}

fn rows_of_watched(watched: TrackedParticle) -> array<vec4u, 2> {
    let place = vec4u(bitcast<vec3u>(watched.place), watched.searched);
    return array(place, vec4u(bitcast<vec3u>(watched.displacement), watched.horizon));
}

fn horizon_of(watched: TrackedParticle) -> u32 {
    return watched.horizon & ((1u << REACH_SHIFT) - 1u);
}

const REACH_SHIFT = 12u;
const REACH_SHARES = 65536.0;

// What a particle knows of its look, in a word: for how many substeps that holds; how far it looks, in shares of the reach, if nothing about it goes farther
// against it in each of these than `extent`; its level. The twin is `ContactParams::reach_within` in src/sim/contact_params.rs.
// `reach` is that, the gap, and 1/the reach.
fn outlook(horizon: u32, extent: f32, level: u32, reach: vec3f, zero: u32) -> u32 {
    let far = opaque1(reach.x - opaque1(reach.y - opaque1(f32(horizon) * extent, zero), zero), zero);
    let shares = ceil(opaque1(far * reach.z, zero) * (1.0001 * REACH_SHARES));
    let last = u32(clamp(shares, 1.0, REACH_SHARES)) - 1u;
    return horizon | (select(0xffffu, last, horizon > 0u) << REACH_SHIFT) | (level << LEVEL_SHIFT);
}

// How far that is, as a share of the reach.
fn reach_of(watched: TrackedParticle) -> f32 {
    return f32(((watched.horizon >> REACH_SHIFT) & 0xffffu) + 1u) / REACH_SHARES;
}

// Where a particle is that has gone on so.
fn way_of(watched: TrackedParticle, now: u32, zero: u32) -> vec3f {
    let way = opaque(watched.displacement * f32(now - watched.searched), zero);
    return opaque(watched.place + way, zero);
}

// How far a particle, which is to be at x + d in a substep, is aside from its way.
fn aside_from_way(own: TrackedParticle, pace: vec3f, since: u32, x: vec3f, d: vec3f, zero: u32) -> vec3f {
    let travelled = opaque(x - own.place, zero);
    return opaque(opaque(travelled + d, zero) - opaque(pace * f32(since), zero), zero);
}

// Whether a particle is to look anew in a search that others need: it is aside by 7 tenths of what makes the list stale, or has used up
// two thirds of its horizon. `aside` is the square of how far, by `opaque_square`: watch marks the coarse cells in which search_gather lets
// particles look, and both are to come to the same.
fn is_expired(own: TrackedParticle, aside: f32, since: u32, margin: f32) -> bool {
    let half = 0.5 * margin;
    return !(aside <= 0.5 * (half * half)) || 3u * since > 2u * horizon_of(own);
}

// How far a particle of a surface is taken to go in each substep, in three times 16 bits: any guess will do, if all reckon with the same.
// `ContactParams::kept_pace` in src/sim/contact_params.rs.
const PACE_QUANTUM = 16384.0;

fn packed_pace(pace: vec3f, inverse_quantum: f32) -> vec2u {
    let quanta = clamp(pace * (inverse_quantum / PACE_QUANTUM), vec3f(-32767.0), vec3f(32767.0));
    let q = bitcast<vec3u>(vec3i(round(quanta))) & vec3u(0xffffu);
    return vec2u(q.x | (q.y << 16u), q.z);
}

fn pace_of(watched: TrackedParticle, quantum: f32) -> vec3f {
    let words = vec3u(watched.searched << 16u, watched.searched, watched.horizon << 16u);
    return vec3f(bitcast<vec3i>(words) >> vec3u(16u)) * (quantum * PACE_QUANTUM);
}

// How fast that is against what all travel together.
fn speed_of(watched: TrackedParticle, quantum: f32, drift: vec3f, zero: u32) -> f32 {
    return length(opaque(pace_of(watched, quantum) - drift, zero));
}

// What happened to a particle at colliders. Of rows, as software drivers load and store each member by itself.
struct ColliderContact {
    // Added to its displacement after it has moved: restitution.
    bounce: vec4f,
    // What of its displacement takes it out of colliders, and is none of its velocity; and the length of all of the displacement.
    recovery: vec4f,
    pushes: array<Push, 2>,
}

// What a particle has done to a collider in this step.
struct Push {
    // Bits, and the collider's place + 1; 0 where there is none.
    impulse: vec4u,
    // Of the impulse, about the collider's position.
    moment: vec4f,
}

// Whether two contact materials touch each other.
fn touch(a: vec4u, b: vec4u) -> bool {
    return (a.y & b.z) != 0u && (b.y & a.z) != 0u;
}

const VARIOUS = 0xffffffffu;
// The contact material of all particles, if they have the same one: then nothing is loaded to know it.
override MATERIAL: u32 = VARIOUS;

// That of a particle, by the last word of its row in contact_particles.
fn material_of(word: u32) -> u32 {
    return select(word & 0xffu, MATERIAL, MATERIAL != VARIOUS);
}

// How far apart things of two materials are kept.
fn thickness_between(a: vec4u, b: vec4u) -> f32 {
    return bitcast<f32>(a.x) + bitcast<f32>(b.x);
}

// v turned by a unit quaternion.
fn rotate(q: vec4f, v: vec3f, zero: u32) -> vec3f {
    let t = opaque(cross_product(q.xyz, v, zero) * 2.0, zero);
    return opaque(v + opaque(t * q.w, zero), zero) + cross_product(q.xyz, t, zero);
}

fn frame_at(position: vec3f, rotation: vec4f, zero: u32) -> ColliderFrame {
    let x = opaque(rotate(rotation, vec3f(1.0, 0.0, 0.0), zero), zero);
    let y = opaque(rotate(rotation, vec3f(0.0, 1.0, 0.0), zero), zero);
    let z = opaque(rotate(rotation, vec3f(0.0, 0.0, 1.0), zero), zero);
    return ColliderFrame(array(vec4f(x, position.x), vec4f(y, position.y), vec4f(z, position.z)));
}

fn offset_of(frame: ColliderFrame) -> vec3f {
    return vec3f(frame.rows[0].w, frame.rows[1].w, frame.rows[2].w);
}

// A direction of the world, as the collider has it whose axes the rows are.
fn turned_into(frame: ColliderFrame, v: vec3f, zero: u32) -> vec3f {
    return opaque(vec3f(dot(frame.rows[0].xyz, v), dot(frame.rows[1].xyz, v), dot(frame.rows[2].xyz, v)), zero);
}

// A direction of the collider, as the world has it.
fn turned_out_of(frame: ColliderFrame, v: vec3f, zero: u32) -> vec3f {
    let x = opaque(frame.rows[0].xyz * v.x, zero);
    let y = opaque(frame.rows[1].xyz * v.y, zero);
    return opaque(opaque(x + y, zero) + opaque(frame.rows[2].xyz * v.z, zero), zero);
}

// Where a collider is after a share of the step; the twin of `ColliderFrame::after` in src/collision/collider.rs.
fn frame_after(c: Collider, share: f32, zero: u32) -> ColliderFrame {
    if (c.flags & MOVING) == 0u {
        return frame_at(c.position, c.rotation, zero);
    }
    let moved = c.position + opaque(opaque(c.target_position - c.position, zero) * share, zero);
    var goal = c.target_rotation;
    if opaque(vec3f(dot(c.rotation.xyz, goal.xyz)), zero).x + c.rotation.w * goal.w < 0.0 {
        goal = -goal;
    }
    let axis = opaque(c.rotation.xyz + opaque(opaque(goal.xyz - c.rotation.xyz, zero) * share, zero), zero);
    let w = opaque(vec3f(c.rotation.w + opaque(vec3f((goal.w - c.rotation.w) * share), zero).x), zero).x;
    let l = sqrt(opaque(vec3f(dot(axis, axis)), zero).x + w * w);
    if l == 0.0 {
        return frame_at(moved, c.rotation, zero);
    }
    return frame_at(moved, vec4f(axis / l, w / l), zero);
}

// The center of an element: a particle, an edge, a triangle.
fn center(a: vec3f, b: vec3f, c: vec3f, arity: u32) -> vec3f {
    if arity == 0u {
        return a;
    }
    if arity == 1u {
        return (a + b) * 0.5;
    }
    return ((a + b) + c) * 0.33333334;
}

// In the rough place of a sorted element: that it is fast, or looks for others.
const FAST = 0x80000000u;
const LOOKS = 0x40000000u;

// In the row of a sorted element, beside its first particle, its level, and above that ROW_MARK: where all look, that it is fast, else that it looks.
// (As many particles as there would be no room for have 4 GiB of places, more than any binding.)
const LEVEL_SHIFT = 28u;
const ROW_MARK = 0x80000000u;

fn sorted_particle(word: u32) -> u32 {
    return word & ((1u << LEVEL_SHIFT) - 1u);
}

fn level_of_row(word: u32) -> u32 {
    return (word >> LEVEL_SHIFT) % LEVELS;
}

// Levels of elements by their size: each has its own grid, or one that is large would have all look as far as it is. The twins are
// `ContactParams::level` and `radius_in_level` in src/sim/contact_params.rs.
const LEVELS = 8u;

fn level_of(square_size: f32, level_size: f32) -> u32 {
    var level = 0u;
    var limit = level_size * level_size;
    while level < LEVELS - 1u && !(square_size < limit) {
        level += 1u;
        limit *= 16.0;
    }
    return level;
}

// The square of a length, the same in all passes.
fn opaque_square(v: vec3f, zero: u32) -> f32 {
    let own = opaque(v, zero);
    let squares = opaque(own * own, zero);
    return opaque1(opaque1(squares.x + squares.y, zero) + squares.z, zero);
}

// The square of how far the particles of an element are from its center, at most. All passes are to come to the same, or it would be sought in
// another grid than where it stands.
fn square_size(places: array<vec3f, 3>, middle: vec3f, zero: u32) -> f32 {
    var largest = 0.0;
    for (var k = 0u; k < 3u; k++) {
        largest = max(largest, opaque_square(places[k] - opaque(middle, zero), zero));
    }
    return largest;
}

fn radius_in_level(level: u32, level_size: f32, largest: f32) -> f32 {
    return select(min(largest, level_size * f32(1u << (2u * level))), largest, level == LEVELS - 1u);
}

// A particle that is fast stands in the middle of its way, against what all travel together, and its level is by half of that way, 1 at least: so two
// that cross each other's way find each other, and what is slow need not look for them. The level of what is slow is 0.
fn middle_of_way(end: vec3f, displacement: vec3f, drift: vec3f, zero: u32) -> vec3f {
    return opaque(end - half_way(displacement, drift, zero), zero);
}

fn level_of_way(displacement: vec3f, drift: vec3f, level_size: f32, zero: u32) -> u32 {
    return max(level_of(opaque_square(half_way(displacement, drift, zero), zero), level_size), 1u);
}

fn half_way(displacement: vec3f, drift: vec3f, zero: u32) -> vec3f {
    return opaque(opaque(displacement - drift, zero) * 0.5, zero);
}

// The twin is `ContactParams::way_radius` in src/sim/contact_params.rs: how long half of a way of a level is, at most. What is faster yet crosses more
// cells than anything may look into.
fn way_radius(level: u32, level_size: f32) -> f32 {
    return select(level_size * f32(1u << (2u * level)), 0.0, level == 0u);
}

// Where the bits of a type begin in ContactStatus.levels.
fn levels_shift(kind: u32) -> u32 {
    return LEVELS * kind;
}

// Of a bit for each level, those above one.
fn levels_above(bits: u32, level: u32) -> u32 {
    return ((bits & ((1u << LEVELS) - 1u)) >> (level + 1u)) << (level + 1u);
}

// Whether an element moves by more than half the margin in the substep, against what all travel together.
fn is_fast(displacement: vec3f, drift: vec3f, margin: f32, zero: u32) -> bool {
    let half = 0.5 * margin;
    return opaque_square(opaque(displacement, zero) - drift, zero) > half * half;
}

// 1/the edge of a cell of the coarse grid of surfaces, whose edges and triangles (bits) are so large; it is made for those of level 0. The twin is
// `ContactParams::inverse_coarse` in src/sim/contact_params.rs.
fn inverse_coarse(reach: f32, level_sizes: vec3f, edge: u32, triangle: u32, zero: u32) -> f32 {
    let edge_radius = radius_in_level(0u, level_sizes.y, bitcast<f32>(edge));
    let radius = max(2.0 * edge_radius, radius_in_level(0u, level_sizes.z, bitcast<f32>(triangle)));
    return 1.0 / opaque1(3.0 * opaque1(reach + radius, zero), zero);
}

// Words of a cell of the coarse grid; the twin is in src/sim/contact_params.rs.
const COARSE_WORDS = 20u;

// The cell of the coarse grid that a place is in, of so many along each axis, a power of two: it repeats itself beyond.
fn coarse_at(place: vec3f, scale: f32, size: u32) -> vec3u {
    return bitcast<vec3u>(cell_at(place, scale)) & vec3u(size - 1u);
}

fn coarse_index(c: vec3u, size: u32) -> u32 {
    return c.x + size * (c.y + size * c.z);
}

// Marks of coarse cells: a bit for each of a row along x, in as many words as that takes.
fn words_of_row(size: u32) -> u32 {
    return (size + 31u) / 32u;
}

// The word of the mark of a cell; its bit is x % 32.
fn mark_word(c: vec3u, size: u32) -> u32 {
    return c.x / 32u + words_of_row(size) * (c.y + size * c.z);
}

// The cell of the grid that a place is in.
fn cell_at(center: vec3f, inverse_cell: f32) -> vec3i {
    return vec3i(clamp(floor(center * inverse_cell), vec3f(-1e9), vec3f(1e9)));
}

// Of a place in the grid, the cell and the 64th of it along each axis, in 10 bits each, so that it repeats itself after 16 cells; the two bits above
// are for FAST and LOOKS. By this word of a sorted element it is looked at first.
fn rough_place(place: vec3f, inverse_cell: f32) -> u32 {
    let cell = cell_at(place, inverse_cell);
    let share = clamp(place * inverse_cell - vec3f(cell), vec3f(), vec3f(0.99));
    let c = ((bitcast<vec3u>(cell) << vec3u(6u)) | vec3u(share * 64.0)) & vec3u(1023u);
    return c.x | (c.y << 10u) | (c.z << 20u);
}

// How far a particle goes in a substep against the drift, in 10 bits an axis: a quantum is a 511th of how far any goes. By this word, too, a sorted
// particle is looked at first.
fn rough_way(displacement: vec3f, drift: vec3f, fastest: f32) -> u32 {
    let scale = select(0.0, 511.0 / fastest, are_ways_told(fastest) && fastest > 0.0);
    let quanta = vec3i(round(clamp((displacement - drift) * scale, vec3f(-511.0), vec3f(511.0))));
    let q = bitcast<vec3u>(quanta + 512) & vec3u(1023u);
    return q.x | (q.y << 10u) | (q.z << 20u);
}

fn way_quantum(fastest: f32) -> f32 {
    return select(0.0, fastest / 511.0, are_ways_told(fastest));
}

// Whether anything is known by rough ways: not where the fastest goes 10¹² m, whose square might have no end. By the bits of a positive number, as
// compilers may take it that each is finite.
fn are_ways_told(fastest: f32) -> bool {
    return bitcast<u32>(fastest) < 0x5368d4a5u;
}

// Of four ways, in quanta, the component in the lowest bits.
fn axis_of_way(rough: vec4u) -> vec4f {
    return vec4f(bitcast<vec4i>(rough & vec4u(1023u)) - 512);
}

// The entry of a cell of a level in a table whose size is a power of two (Teschner et al. 2003); cells in a row along x have entries in
// a row, so that they can be looked at in one run.
fn hash_cell(cell: vec3i, level: u32, size: u32) -> u32 {
    let c = bitcast<vec3u>(cell);
    let mixed = (c.y * 2654435769u) ^ (c.z * 2246822519u) ^ (level * 3266489917u);
    return ((mixed ^ (mixed >> 15u)) + c.x) & (size - 1u);
}

// How many cells an element looks into, and how many others it looks at: bounds of a thread's time.
const MOST_CELLS = 4096u;
const MOST_OTHERS = 16384u;

// From a place to the nearest point of a segment.
fn from_segment(segment: array<vec3f, 2>, place: vec3f, zero: u32) -> vec3f {
    let along = opaque(segment[1] - segment[0], zero);
    let square = opaque1(dot(along, along), zero);
    var share = 0.0;
    if square > 0.0 {
        share = opaque1(dot(opaque(place - segment[0], zero), along), zero) / square;
    }
    return opaque(segment[0] + opaque(along * clamp(share, 0.0, 1.0), zero), zero) - place;
}
