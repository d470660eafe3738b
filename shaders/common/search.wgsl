// The hashed grids of the elements, which the passes of the pair search share.

// Types of elements.
const PARTICLE = 0u;
const EDGE = 1u;
const TRIANGLE = 2u;

fn center(places: array<vec3f, 3>, kind: u32) -> vec3f {
    if kind == PARTICLE {
        return places[0];
    }
    if kind == EDGE {
        return (places[0] + places[1]) * 0.5;
    }
    return ((places[0] + places[1]) + places[2]) * 0.33333334;
}

// Each element is in the grid of its level, which depends on the radius of its volume with its path. A level holds radii up
// to four times those of the level below; the last one holds all larger radii in one cell. So a large element does not
// enlarge the cells of small ones (Ericson 2005, Real-Time Collision Detection, §7.2). `inverse` is 1/radius of level 0.
const LEVELS = 8u;

fn level_of(radius: f32, inverse: f32) -> u32 {
    var level = 0u;
    var limit = 1.0;
    while level < LEVELS - 1u && !(radius * inverse <= limit) {
        level += 1u;
        limit *= 4.0;
    }
    return level;
}

// Returns the cell of a level that contains a point. A product is rounded alike in all passes, a quotient may not be.
fn cell_at(place: vec3f, level: u32, inverse: f32) -> vec3i {
    if level == LEVELS - 1u {
        return vec3i();
    }
    // inverse / 4^level, exactly
    let scale = inverse * bitcast<f32>((127u - 2u * level) << 23u);
    return vec3i(clamp(floor(place * scale), vec3f(-1e9), vec3f(1e9)));
}

// Returns the entry of a cell of a type of element in the table, whose size is a power of two (Teschner et al. 2003,
// Optimized Spatial Hashing).
fn hash_cell(cell: vec3i, level: u32, kind: u32, size: u32) -> u32 {
    let c = bitcast<vec3u>(cell);
    let mixed = (c.y * 2654435769u) ^ (c.z * 2246822519u) ^ ((LEVELS * kind + level) * 3266489917u);
    return ((mixed ^ (mixed >> 15u)) + c.x) & (size - 1u);
}

// The elements of an entry are a linked list. The link of an element is 1 + the index of the next one, or 0, with its
// own level from bit LEVEL_SHIFT on. 2²⁸ elements would exceed every storage binding.
const LEVEL_SHIFT = 28u;

// Returns |v|², rounded identically in all passes.
fn opaque_square(v: vec3f, zero: u32) -> f32 {
    let own = opaque(v, zero);
    let squares = opaque(own * own, zero);
    return opaque1(opaque1(squares.x + squares.y, zero) + squares.z, zero);
}

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
