// Types and functions shared by the collision passes: parameters, colliders, and the state that only the GPU writes.

// Units are documented at `ContactParams` in src/sim/contact_params.rs.
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
    // half the thickness (bits), groups, mask of touched groups, 0
    materials: array<vec4u, 16>,
    // by pair of materials: static and kinetic friction, restitution, 0
    friction: array<vec4f, 256>,
}

// Counterpart: `ColliderRow` in src/collision/collider.rs.
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
    // interpolate_colliders.wgsl writes all members below except `material`.
    near: f32,
    above: f32,
    material: u32,
    substep: u32,
    frame: ColliderFrame,
    travel: ColliderFrame,
    surface_step: vec3f,
    padding: u32,
}

// Rows of a 3×3 matrix; the fourth components are an offset. Counterpart: `ColliderFrame` in
// src/collision/collider.rs.
struct ColliderFrame {
    rows: array<vec4f, 3>,
}

const MOVING = 1u;
const TWO_SIDED = 2u;
const DISABLED = 4u;
// The other shapes are in shaders/collision/collide/shapes.wgsl.
const HALF_SPACE = 0u;
const UNTOUCHABLE = 255u;

// State that only the GPU writes. Counterpart: `ContactStatus` in src/gpu/contacts/status.rs.
struct ContactStatus {
    // Mean displacement of a sample of particles in the substep of the last search [m]; 0 if
    // `ContactParams::anchored` is 1.
    drift: vec3f,
    // Substeps since the start.
    now: u32,
    // HOLDS, EXPIRED or ALL: the state of the pair list.
    stale: atomic<u32>,
    // 1 if a particle is so fast in this substep that the next search must include all particles.
    hurried: atomic<u32>,
    // Surfaces: number of substeps for which the list holds. At the particle level each particle has its own horizon.
    horizon: u32,
    // Predicted displacements per substep, relative to the drift [m]: the bound that 63 of 64 particles keep
    // (surfaces), and the maximum (bits of a positive f32).
    slow: f32,
    fastest: atomic<u32>,
    // Particles whose pairs this search rebuilds, and particles that it sorts: these and their neighbours.
    renewed_count: atomic<u32>,
    nearby_count: atomic<u32>,
    // Edges that intersect triangles at the end of the last step.
    crossing_count: atomic<u32>,
    // Used entries of the pair list, entries that the search has vacated, and pairs that it has found.
    pair_count: u32,
    vacancy_count: atomic<u32>,
    found_count: atomic<u32>,
    // Pairs in the list.
    listed: u32,
    contact_count: atomic<u32>,
    searches: u32,
    most_pairs: u32,
    most_contacts: u32,
    // Pairs, contacts and intersections beyond the capacities, and searches that exceeded MOST_CELLS or MOST_OTHERS.
    lost: atomic<u32>,
    // Largest overlap at the start of a substep [m] (bits of a positive f32).
    deepest: atomic<u32>,
    // Number of truncated displacements.
    truncated: atomic<u32>,
    // Largest distance of the center of an edge, of a triangle from its particles [m] (bits of positive f32).
    edge_radius: atomic<u32>,
    triangle_radius: atomic<u32>,
    // The same at the end of the last step; `end_triangle_radius` and `end_levels` follow below.
    end_edge_radius: atomic<u32>,
    // 1 if pairs exceeded the capacity: the next search includes all particles.
    overfull: u32,
    // Surfaces: the substep of the last search.
    searched: u32,
    end_triangle_radius: atomic<u32>,
    // Levels above 0 in use at the last search, one bit each: of particle paths, then of edges, then of triangles.
    levels: atomic<u32>,
    // Largest travel of an edge or triangle of these levels in the substep of the search, minus half the margin [m]
    // (bits of a positive f32).
    wide_excess: atomic<u32>,
    end_levels: atomic<u32>,
}

// Indirect dispatches, three words each: one per `SearchPass` (src/schedule/plan.rs); find_contacts, which is also
// the first round of build_division_planes on surfaces; its further rounds; resolve_intersections.
const SEARCH_PASSES = 14u;
const PRUNE = 2u;
const CONTACTS_SIZE = 3u * SEARCH_PASSES;
const DIVIDE_SIZE = CONTACTS_SIZE + 3u;

// States of the pair list: valid; expired for some particles; invalid for all.
const HOLDS = 0u;
const EXPIRED = 1u;
const ALL = 2u;

fn is_for_all(stale: u32, hurried: u32, overfull: u32) -> bool {
    return stale == ALL || hurried == 1u || overfull == 1u;
}

// State of a particle at its last search: its predicted position at the end of that substep, the substep, its
// displacement in it, and a word of `outlook`. Surfaces search for all particles at once; they store the predicted
// displacement per substep in `searched` and `horizon` (see `packed_pace`).
struct TrackedParticle {
    place: vec3f,
    searched: u32,
    displacement: vec3f,
    horizon: u32,
}

// The storage layout is two rows because software drivers load and store struct members one by one.
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

// Packs the outcome of a search of one particle into a word: the horizon in substeps, the search distance as a share
// of the reach, and the level. `extent` bounds the displacement of the neighbours relative to the particle in each
// substep. `reach` is the reach, the gap and 1/reach. Counterpart: `ContactParams::reach_within` in
// src/sim/contact_params.rs.
fn outlook(horizon: u32, extent: f32, level: u32, reach: vec3f, zero: u32) -> u32 {
    let far = opaque1(reach.x - opaque1(reach.y - opaque1(f32(horizon) * extent, zero), zero), zero);
    let shares = ceil(opaque1(far * reach.z, zero) * (1.0001 * REACH_SHARES));
    let last = u32(clamp(shares, 1.0, REACH_SHARES)) - 1u;
    return horizon | (select(0xffffu, last, horizon > 0u) << REACH_SHIFT) | (level << LEVEL_SHIFT);
}

// Returns the search distance as a share of the reach.
fn reach_of(watched: TrackedParticle) -> f32 {
    return f32(((watched.horizon >> REACH_SHIFT) & 0xffffu) + 1u) / REACH_SHARES;
}

// Returns the predicted position in substep `now`: the particle repeats its displacement in every substep.
fn way_of(watched: TrackedParticle, now: u32, zero: u32) -> vec3f {
    let way = opaque(watched.displacement * f32(now - watched.searched), zero);
    return opaque(watched.place + way, zero);
}

// Returns the deviation of x + d from the predicted path. `pace` is the predicted displacement per substep.
fn aside_from_way(own: TrackedParticle, pace: vec3f, since: u32, x: vec3f, d: vec3f, zero: u32) -> vec3f {
    let travelled = opaque(x - own.place, zero);
    return opaque(opaque(travelled + d, zero) - opaque(pace * f32(since), zero), zero);
}

// Returns true if a particle joins a search that other particles need: it deviates by more than 0.7 of half the
// margin, or more than two thirds of its horizon have elapsed. `aside` is the squared deviation by `opaque_square`.
// validate_pairs.wgsl marks cells with this test and search_mark_stale selects particles with it; both results must
// agree.
fn is_expired(own: TrackedParticle, aside: f32, since: u32, margin: f32) -> bool {
    let half = 0.5 * margin;
    return !(aside <= 0.5 * (half * half)) || 3u * since > 2u * horizon_of(own);
}

// Unit of the predicted displacement per substep, in units of `ContactParams::quantum`. It is stored as three 16-bit
// integers. Any rounding is valid if all passes use the rounded value. Counterpart: `ContactParams::kept_pace` in
// src/sim/contact_params.rs.
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

// Returns the length of the predicted displacement relative to the drift.
fn speed_of(watched: TrackedParticle, quantum: f32, drift: vec3f, zero: u32) -> f32 {
    return length(opaque(pace_of(watched, quantum) - drift, zero));
}

// Contacts of a particle with colliders. The members are rows because software drivers load and store struct members
// one by one.
struct ColliderContact {
    // Restitution: added to the displacement after the particle has moved.
    bounce: vec4f,
    // Part of the displacement that removes overlap with colliders and is not velocity; w is the length of the whole
    // displacement.
    recovery: vec4f,
    pushes: array<Push, 2>,
}

// Impulse of a particle on a collider in this step.
struct Push {
    // Impulse (bits), and the index of the collider + 1, or 0 if unused.
    impulse: vec4u,
    // Moment of the impulse about the position of the collider.
    moment: vec4f,
}

// Returns true if two contact materials collide with each other.
fn touch(a: vec4u, b: vec4u) -> bool {
    return (a.y & b.z) != 0u && (b.y & a.z) != 0u;
}

const VARIOUS = 0xffffffffu;
// The contact material of all particles, or VARIOUS if they differ. A common material saves a load.
override MATERIAL: u32 = VARIOUS;

// Returns the contact material of a particle. `word` is the last word of its row in contact_particles.
fn material_of(word: u32) -> u32 {
    return select(word & 0xffu, MATERIAL, MATERIAL != VARIOUS);
}

// Returns the distance that two materials keep [m].
fn thickness_between(a: vec4u, b: vec4u) -> f32 {
    return bitcast<f32>(a.x) + bitcast<f32>(b.x);
}

// Rotates v by a unit quaternion.
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

// Rotates a world direction into the frame.
fn turned_into(frame: ColliderFrame, v: vec3f, zero: u32) -> vec3f {
    return opaque(vec3f(dot(frame.rows[0].xyz, v), dot(frame.rows[1].xyz, v), dot(frame.rows[2].xyz, v)), zero);
}

// Rotates a direction of the frame into the world.
fn turned_out_of(frame: ColliderFrame, v: vec3f, zero: u32) -> vec3f {
    let x = opaque(frame.rows[0].xyz * v.x, zero);
    let y = opaque(frame.rows[1].xyz * v.y, zero);
    return opaque(opaque(x + y, zero) + opaque(frame.rows[2].xyz * v.z, zero), zero);
}

// Returns the frame of a collider after a share of the step. Counterpart: `ColliderFrame::after` in
// src/collision/collider.rs.
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

// Returns the center of an element. `arity` is 0 for a particle, 1 for an edge, 2 for a triangle.
fn center(a: vec3f, b: vec3f, c: vec3f, arity: u32) -> vec3f {
    if arity == 0u {
        return a;
    }
    if arity == 1u {
        return (a + b) * 0.5;
    }
    return ((a + b) + c) * 0.33333334;
}

// Flags in the quantised position of a sorted element: it is fast; it searches for neighbours.
const FAST = 0x80000000u;
const LOOKS = 0x40000000u;

// A sorted element stores its first particle, its level from bit LEVEL_SHIFT on, and ROW_MARK in one word. ROW_MARK
// means fast in a search for all elements, and searching in a partial one. 2²⁸ particles would exceed every storage
// binding.
const LEVEL_SHIFT = 28u;
const ROW_MARK = 0x80000000u;

fn sorted_particle(word: u32) -> u32 {
    return word & ((1u << LEVEL_SHIFT) - 1u);
}

fn level_of_row(word: u32) -> u32 {
    return (word >> LEVEL_SHIFT) % LEVELS;
}

// Number of size levels. Each level has a grid of its own, so that one large element does not enlarge the search of
// all others. Counterparts: `ContactParams::size_level` and `radius_in_level` in src/sim/contact_params.rs.
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

// Returns |v|², rounded identically in all passes.
fn opaque_square(v: vec3f, zero: u32) -> f32 {
    let own = opaque(v, zero);
    let squares = opaque(own * own, zero);
    return opaque1(opaque1(squares.x + squares.y, zero) + squares.z, zero);
}

// Returns the largest squared distance of the particles of an element from its center. All passes must round it
// identically, because it selects the grid of the element.
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

// A fast particle is sorted at the midpoint of its path relative to the drift (at the particle level only if other
// paths cross it). Its level follows from half the length of the path and is at least 1. Two particles with crossing
// paths thus find each other, and slow particles (level 0) search only level 0.
fn middle_of_way(end: vec3f, displacement: vec3f, drift: vec3f, zero: u32) -> vec3f {
    return opaque(end - half_way(displacement, drift, zero), zero);
}

fn level_of_way(displacement: vec3f, drift: vec3f, level_size: f32, zero: u32) -> u32 {
    return max(level_of(opaque_square(half_way(displacement, drift, zero), zero), level_size), 1u);
}

fn half_way(displacement: vec3f, drift: vec3f, zero: u32) -> vec3f {
    return opaque(opaque(displacement - drift, zero) * 0.5, zero);
}

// Returns the largest half length of a path of a level [m]. A longer path crosses more cells than a thread may visit.
// Counterpart: `ContactParams::way_radius` in src/sim/contact_params.rs.
fn way_radius(level: u32, level_size: f32) -> f32 {
    return select(level_size * f32(1u << (2u * level)), 0.0, level == 0u);
}

// Returns the first bit of an element type in `ContactStatus.levels`.
fn levels_shift(kind: u32) -> u32 {
    return LEVELS * kind;
}

// Returns the bits of the levels above one.
fn levels_above(bits: u32, level: u32) -> u32 {
    return ((bits & ((1u << LEVELS) - 1u)) >> (level + 1u)) << (level + 1u);
}

// Returns true if an element moves by more than half the margin in the substep, relative to the drift.
fn is_fast(displacement: vec3f, drift: vec3f, margin: f32, zero: u32) -> bool {
    let half = 0.5 * margin;
    return opaque_square(opaque(displacement, zero) - drift, zero) > half * half;
}

// Returns 1/edge of a cell of the coarse grid of surfaces [1/m]. The cell fits elements of level 0. `edge` and
// `triangle` are the largest radii of edges and triangles (bits). Counterpart: `ContactParams::inverse_coarse` in
// src/sim/contact_params.rs.
fn inverse_coarse(reach: f32, level_sizes: vec3f, edge: u32, triangle: u32, zero: u32) -> f32 {
    let edge_radius = radius_in_level(0u, level_sizes.y, bitcast<f32>(edge));
    let radius = max(2.0 * edge_radius, radius_in_level(0u, level_sizes.z, bitcast<f32>(triangle)));
    return 1.0 / opaque1(3.0 * opaque1(reach + radius, zero), zero);
}

// Words per cell of the coarse grid; also in src/sim/contact_params.rs.
const COARSE_WORDS = 20u;

// Returns the cell of the coarse grid that contains a point. The grid has `size` cells along each axis, a power of
// two, and repeats beyond.
fn coarse_at(place: vec3f, scale: f32, size: u32) -> vec3u {
    return bitcast<vec3u>(cell_at(place, scale)) & vec3u(size - 1u);
}

fn coarse_index(c: vec3u, size: u32) -> u32 {
    return c.x + size * (c.y + size * c.z);
}

// Words of one row of marks along x: one bit per coarse cell.
fn words_of_row(size: u32) -> u32 {
    return (size + 31u) / 32u;
}

// Returns the word that holds the mark of a coarse cell; its bit is x % 32.
fn mark_word(c: vec3u, size: u32) -> u32 {
    return c.x / 32u + words_of_row(size) * (c.y + size * c.z);
}

// Returns the grid cell that contains a point.
fn cell_at(center: vec3f, inverse_cell: f32) -> vec3i {
    return vec3i(clamp(floor(center * inverse_cell), vec3f(-1e9), vec3f(1e9)));
}

// Quantises a position to 1/64 of a grid cell: 10 bits per axis, so that it repeats after 16 cells. The two bits
// above hold FAST and LOOKS. The first test of a pair reads only this word.
fn rough_place(place: vec3f, inverse_cell: f32) -> u32 {
    let cell = cell_at(place, inverse_cell);
    let share = clamp(place * inverse_cell - vec3f(cell), vec3f(), vec3f(0.99));
    let c = ((bitcast<vec3u>(cell) << vec3u(6u)) | vec3u(share * 64.0)) & vec3u(1023u);
    return c.x | (c.y << 10u) | (c.z << 20u);
}

// Quantises the displacement relative to the drift to fastest/511: 10 bits per axis. At the particle level the first
// test of a pair reads this word too.
fn rough_way(displacement: vec3f, drift: vec3f, fastest: f32) -> u32 {
    let scale = select(0.0, 511.0 / fastest, are_ways_told(fastest) && fastest > 0.0);
    let quanta = vec3i(round(clamp((displacement - drift) * scale, vec3f(-511.0), vec3f(511.0))));
    let q = bitcast<vec3u>(quanta + 512) & vec3u(1023u);
    return q.x | (q.y << 10u) | (q.z << 20u);
}

fn way_quantum(fastest: f32) -> f32 {
    return select(0.0, fastest / 511.0, are_ways_told(fastest));
}

// Returns false if the largest displacement is 10¹² m or more, where its square may overflow: then quantised
// displacements are not used. The test compares bits because compilers may assume that floats are finite.
fn are_ways_told(fastest: f32) -> bool {
    return bitcast<u32>(fastest) < 0x5368d4a5u;
}

// Returns the component in the lowest 10 bits of four quantised displacements.
fn axis_of_way(rough: vec4u) -> vec4f {
    return vec4f(bitcast<vec4i>(rough & vec4u(1023u)) - 512);
}

// Returns the entry of a cell in a hash table whose size is a power of two (Teschner et al. 2003). Cells in a row
// along x have consecutive entries.
fn hash_cell(cell: vec3i, level: u32, size: u32) -> u32 {
    let c = bitcast<vec3u>(cell);
    let mixed = (c.y * 2654435769u) ^ (c.z * 2246822519u) ^ (level * 3266489917u);
    return ((mixed ^ (mixed >> 15u)) + c.x) & (size - 1u);
}

// Limits of one thread: cells that an element visits, and elements that it tests.
const MOST_CELLS = 4096u;
const MOST_OTHERS = 16384u;

// Returns the vector from a point to the nearest point of a segment.
fn from_segment(segment: array<vec3f, 2>, place: vec3f, zero: u32) -> vec3f {
    let along = opaque(segment[1] - segment[0], zero);
    let square = opaque1(dot(along, along), zero);
    var share = 0.0;
    if square > 0.0 {
        share = opaque1(dot(opaque(place - segment[0], zero), along), zero) / square;
    }
    return opaque(segment[0] + opaque(along * clamp(share, 0.0, 1.0), zero), zero) - place;
}
