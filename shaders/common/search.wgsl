// Definitions that the passes of the pair search share: tracked particles, size levels, cells, and the coarse grid.

// State of a particle at the last search: position and displacement at the end of that substep, and the displacement
// per substep that is predicted for the following substeps.
struct TrackedParticle {
    place: vec3f,
    displacement: vec3f,
    predicted: vec3f,
}

// A tracked particle is stored in two rows. The last words hold the predicted displacement as three 16-bit integers,
// in units of PREDICTION_QUANTUM quanta. Any rounding is valid because all passes read the rounded value. Counterpart:
// `ContactParams::rounded_prediction` in src/sim/contact_params.rs.
const PREDICTION_QUANTUM = 16384.0;

fn rows_of_tracked(own: TrackedParticle, inverse_quantum: f32) -> array<vec4u, 2> {
    let quanta = clamp(own.predicted * (inverse_quantum / PREDICTION_QUANTUM), vec3f(-32767.0), vec3f(32767.0));
    let q = bitcast<vec3u>(vec3i(round(quanta))) & vec3u(0xffffu);
    let place = vec4u(bitcast<vec3u>(own.place), q.x | (q.y << 16u));
    return array(place, vec4u(bitcast<vec3u>(own.displacement), q.z));
}

fn tracked_of_rows(rows: array<vec4u, 2>, quantum: f32) -> TrackedParticle {
    let words = vec3u(rows[0].w << 16u, rows[0].w, rows[1].w << 16u);
    let predicted = vec3f(bitcast<vec3i>(words) >> vec3u(16u)) * (quantum * PREDICTION_QUANTUM);
    return TrackedParticle(bitcast<vec3f>(rows[0].xyz), bitcast<vec3f>(rows[1].xyz), predicted);
}

// Returns the length of the predicted displacement relative to the drift.
fn speed_of(own: TrackedParticle, drift: vec3f, zero: u32) -> f32 {
    return length(opaque(own.predicted - drift, zero));
}

// Returns true if a particle moves by more than half the margin in the substep, relative to the drift.
fn is_fast(displacement: vec3f, drift: vec3f, margin: f32, zero: u32) -> bool {
    let half = 0.5 * margin;
    return opaque_square(opaque(displacement, zero) - drift, zero) > half * half;
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

// A sorted element stores its first particle, its level from bit LEVEL_SHIFT on, and FAST in one word. 2²⁸ particles
// would exceed every storage binding.
const LEVEL_SHIFT = 28u;
const FAST = 0x80000000u;

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

// A fast particle is sorted at the midpoint of its path relative to the drift. Its level follows from half the length
// of the path and is at least 1. Two particles with crossing paths thus find each other, and slow particles (level 0)
// search only level 0.
fn half_path(displacement: vec3f, drift: vec3f, zero: u32) -> vec3f {
    return opaque(opaque(displacement - drift, zero) * 0.5, zero);
}

// Returns the largest half length of a path of a level [m]. A longer path crosses more cells than a thread may visit.
// Counterpart: `ContactParams::path_radius` in src/sim/contact_params.rs.
fn path_radius(level: u32, level_size: f32) -> f32 {
    return select(level_size * f32(1u << (2u * level)), 0.0, level == 0u);
}

// Returns the bit of a level of an element type in `ContactStatus.levels` and in the coarse grid.
fn level_bit(level: u32, kind: u32) -> u32 {
    return 1u << (level + LEVELS * kind);
}

// Returns the levels of an element type that stand in such a word, one bit each, from `first` on.
fn levels_from(first: u32, word: u32, kind: u32) -> u32 {
    return (((word >> (LEVELS * kind)) & ((1u << LEVELS) - 1u)) >> first) << first;
}

// Words of a cell of the coarse grid. All are maxima over elements of level 0 (bits of positive f32) unless stated:
// - SPEED: largest predicted displacement of its triangles per substep.
// - EXCESS: largest travel in this substep, minus half the margin, of edges and triangles that may enter the cell.
// - RADIUS + type: largest distance of the center of an edge (type 1), of a triangle (2) from its particles.
// - PRESENT: levels above 0 of edges and triangles that overlap the cell, by `level_bit`.
// - WIDE_EXCESS: EXCESS of these.
// - NEAR + word: the word combined over the 3×3×3 cells around it.
const SPEED = 0u;
const EXCESS = 1u;
const RADIUS = 1u;
const PRESENT = 4u;
const WIDE_EXCESS = 5u;
const NEAR = 6u;
const COARSE_WORDS = 12u;

// Returns 1/edge of a cell of the coarse grid [1/m]. The cell fits elements of level 0. `edge` and `triangle` are the
// largest radii of edges and triangles (bits). Counterpart: `ContactParams::inverse_coarse` in
// src/sim/contact_params.rs.
fn inverse_coarse(reach: f32, level_sizes: vec3f, edge: u32, triangle: u32, zero: u32) -> f32 {
    let edge_radius = radius_in_level(0u, level_sizes.y, bitcast<f32>(edge));
    let radius = max(2.0 * edge_radius, radius_in_level(0u, level_sizes.z, bitcast<f32>(triangle)));
    return 1.0 / opaque1(3.0 * opaque1(reach + radius, zero), zero);
}

// Returns the index of the cell of the coarse grid that contains a point. The grid has `size` cells along each axis, a
// power of two, and repeats beyond.
fn coarse_at(place: vec3f, scale: f32, size: u32) -> u32 {
    return coarse_index(bitcast<vec3u>(cell_at(place, scale)), size);
}

fn coarse_index(cell: vec3u, size: u32) -> u32 {
    let c = cell & vec3u(size - 1u);
    return c.x + size * (c.y + size * c.z);
}

// Returns the grid cell that contains a point.
fn cell_at(center: vec3f, inverse_cell: f32) -> vec3i {
    return vec3i(clamp(floor(center * inverse_cell), vec3f(-1e9), vec3f(1e9)));
}

// Returns the entry of a cell in a hash table whose size is a power of two (Teschner et al. 2003). Cells in a row
// along x have consecutive entries.
fn hash_cell(cell: vec3i, level: u32, size: u32) -> u32 {
    let c = bitcast<vec3u>(cell);
    let mixed = (c.y * 2654435769u) ^ (c.z * 2246822519u) ^ (level * 3266489917u);
    return ((mixed ^ (mixed >> 15u)) + c.x) & (size - 1u);
}

// Cells of a block: the sorted elements of consecutive cells of a block are contiguous. Table sizes are multiples of
// it.
const BLOCK = 512u;

// Limits of one thread: cells that an element visits, and elements that it tests.
const MOST_CELLS = 4096u;
const MOST_OTHERS = 32768u;

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
