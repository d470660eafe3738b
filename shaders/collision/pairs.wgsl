// Lists the pairs of elements that may come nearer than thickness + margin before the next search. Pairs of fast
// elements are listed too; only the time of impact decides whether they collide.
// Three passes, one per kind of pair; one thread per searching element. A thread visits the cells around its element,
// or around the path of a fast element: in the grid of its level and in those of higher levels nearby. Fast particles
// also visit the grid of level 0.
// Reads the sorted elements. Appends pairs in any order with an atomic counter; later passes sum integers, so results
// are deterministic.
// pairs/surfaces.wgsl and pairs/particles.wgsl hold the differences between the levels. Counterpart:
// src/reference/search.rs.

@group(0) @binding(0) var<uniform> uniform_params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
// Start of the next cell; then the coarse grid, and the quantised positions and displacements of the sorted elements,
// see search.wgsl. Four words per load.
@group(0) @binding(2) var<storage, read> cells: array<vec4u>;
@group(0) @binding(3) var<storage, read> sorted: array<vec4u>;
// rest position (bits); contact material and component
@group(0) @binding(4) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> pairs: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> contact_status: ContactStatus;

// Copy of the uniform buffer, see shaders/common/params.wgsl.
var<private> params: Params;

// Kind of pair: `PairKind` in src/collision/pair.rs.
override KIND: u32 = 0u;

// A searching element: it searches for element centers near a segment.
struct Element {
    particles: vec3u,
    // Center as sorted.
    center: vec3f,
    // A particle or an edge at its predicted position; for a fast element the path of its center.
    segment: array<vec3f, 2>,
    is_fast: bool,
    // Substeps for which the result is valid.
    horizon: u32,
    // Own level, and mask of the levels whose grids it searches.
    level: u32,
    levels: u32,
    // Search distance to particles of elements of the same level, and of other levels.
    reach: f32,
    wide_reach: f32,
    // Distance of the particles of a fast edge from its center, else 0.
    half: f32,
    // Tracked particles of the element, and their rows in contact_particles; the second entry is for edges.
    watched: array<TrackedParticle, 2>,
    contacts: array<vec4u, 2>,
}

fn cell_word(place: u32) -> u32 {
    return cells[place >> 2u][place & 3u];
}

// Number of particles that the searching element contributes to a pair.
fn own_count() -> u32 {
    return select(1u, 2u, KIND == EDGES);
}

fn contact_of(query: Element, particles: vec4u, k: u32) -> vec4u {
    if k < own_count() {
        return query.contacts[k];
    }
    return contact_particles[particles[k]];
}

// A sorted element.
struct Other {
    center: vec3f,
    particles: vec3u,
    is_fast: bool,
    // True if it searches too.
    looks: bool,
    level: u32,
    // Of an edge: vector from its center to its second particle.
    half: vec3f,
}

// Candidates in runs of 32 sorted elements: first index, and one bit per element. Expensive tests follow once several
// runs are full, because software drivers execute the whole loop body in each iteration.
const RUNS = 24u;
const ALL_BITS = 0xffffffffu;
var<private> found: array<vec2u, RUNS>;

// Returns the particles of the pair of two elements.
fn pair_of(query: Element, other: Other) -> vec4u {
    if KIND == EDGES {
        return vec4u(query.particles.xy, other.particles.xy);
    }
    return vec4u(query.particles.x, other.particles);
}

fn place_at_rest(row: vec4u) -> vec3f {
    return bitcast<vec3f>(row.xyz);
}

// Returns true if this element lists the pair, so that each pair is listed once. The first rule that applies decides:
// - only one element searches, or only one searches the grid of the other: that one lists the pair.
// - only one element is fast: that one.
// - otherwise the element with the larger z, so that a slow element skips the cells above it in a full search.
fn finds(query: Element, other: Other) -> bool {
    if KIND == VERTEX_TRIANGLE {
        return all(query.particles.xxx != other.particles);
    }
    if !other.looks || query.level != other.level {
        return true;
    }
    if query.is_fast != other.is_fast {
        return query.is_fast;
    }
    if query.center.z != other.center.z {
        return query.center.z > other.center.z;
    }
    let lower = query.particles.x < other.particles.x;
    if KIND == PARTICLES {
        return lower;
    }
    return lower || (query.particles.x == other.particles.x && query.particles.y < other.particles.y);
}

// Returns the distance that two particles keep, given their rows in contact_particles.
fn thickness_of(left: vec4u, right: vec4u) -> f32 {
    return thickness_between(contact_params.materials[material_of(left.w)], contact_params.materials[material_of(right.w)]);
}

// Returns true if two particles of one component are neighbours at rest; these form no pair.
fn are_neighbours(left: vec4u, right: vec4u) -> bool {
    let apart = length(opaque(place_at_rest(right) - place_at_rest(left), params.zero));
    return (left.w >> 8u) == (right.w >> 8u) && apart < 1.5 * thickness_of(left, right);
}

// Second test: distance and `finds`; for edges also their gap, for particles their distance at rest.
fn is_near(query: Element, other: Other, box: Box) -> bool {
    let apart = from_segment(query.segment, other.center, params.zero);
    // Excludes cells outside of the box, whose quantised positions may repeat within it.
    let is_here = other.level == box.level && all(bitcast<vec3u>(cell_at(other.center, box.scale) - box.low) < box.size);
    if !is_here || !(dot(apart, apart) < box.reach * box.reach) || !finds(query, other) {
        return false;
    }
    if KIND == PARTICLES {
        return !are_neighbours(query.contacts[0], contact_particles[other.particles.x]);
    }
    if KIND != EDGES {
        return true;
    }
    if any(query.particles.xxyy == other.particles.xyxy) {
        return false;
    }
    let first = opaque(other.center - query.segment[0], params.zero);
    let along = opaque(query.segment[1] - query.segment[0], params.zero);
    let p = Four(vec3f(), along, opaque(first - other.half, params.zero), opaque(first + other.half, params.zero));
    return query.is_fast || closest(KIND, p, params.zero).distance < box.gap;
}

// Returns true if slow elements of this level with a larger z find this element.
fn is_found_from_above(query: Element, level: u32) -> bool {
    return KIND != VERTEX_TRIANGLE && level == query.level && !query.is_fast;
}

fn list(query: Element, other: Other) {
    let particles = pair_of(query, other);
    let first = query.contacts[0];
    let third = contact_particles[particles.z];
    let left = material_of(first.w);
    let right = material_of(third.w);
    if left == UNTOUCHABLE || right == UNTOUCHABLE
        || !touch(contact_params.materials[left], contact_params.materials[right]) {
        return;
    }
    let thickness = thickness_of(first, third);
    if KIND != PARTICLES && (first.w >> 8u) == (third.w >> 8u) {
        let origin = place_at_rest(first);
        let rest = Four(
            vec3f(),
            place_at_rest(contact_of(query, particles, 1u)) - origin,
            place_at_rest(third) - origin,
            place_at_rest(contact_particles[particles.w]) - origin,
        );
        if closest(KIND, rest, params.zero).distance < thickness {
            return;
        }
    }
    if !may_meet(query, particles, thickness + contact_params.margin) {
        return;
    }
    let slot = free_place(atomicAdd(&contact_status.found_count, 1u));
    if slot < contact_params.pair_capacity {
        pairs[slot] = pack(KIND, particles);
    } else {
        atomicAdd(&contact_status.lost, 1u);
    }
}

// Element type to search for, by kind of pair; see `ContactElements::elements`.
const PARTNER = array(0u, 2u, 1u);

// Returns the levels that a particle searches for particles: level 0, and for a fast particle its own level and those
// above.
fn levels_of_particle(level: u32) -> u32 {
    if level == 0u {
        return 1u;
    }
    return 1u | levels_above(atomicLoad(&contact_status.levels), level - 1u);
}

fn look_around(query: Element) {
    var levels = query.levels;
    while levels != 0u {
        look_around_in(query, firstTrailingBit(levels));
        levels &= levels - 1u;
    }
    if looked > MOST_OTHERS {
        atomicAdd(&contact_status.lost, 1u);
    }
}

fn look_around_in(query: Element, level: u32) {
    let scale = contact_params.inverse_cells[level][PARTNER[KIND]];
    let gap = select(query.wide_reach, query.reach, level == query.level);
    let reach = (gap + radius_near(query, level)) + query.half;
    var low = cell_at(min(query.segment[0], query.segment[1]) - 1.001 * reach, scale);
    var high = cell_at(max(query.segment[0], query.segment[1]) + 1.001 * reach, scale);
    if is_found_from_above(query, level) && all_look() {
        high.z = cell_at(query.center, scale).z;
    }
    var size = vec3u(high - low) + 1u;
    // The factors are below 2³², so the product does not overflow f32.
    if f32(size.x) * f32(size.y) * f32(size.z) > f32(MOST_CELLS) {
        low = cell_at(query.segment[0], scale) - 1;
        size = vec3u(3u);
        atomicAdd(&contact_status.lost, 1u);
    }
    let boxes = (size + MOST_ACROSS - 1u) / MOST_ACROSS;
    for (var k = 0u; k < boxes.x * boxes.y * boxes.z; k++) {
        let corner = MOST_ACROSS * vec3u(k % boxes.x, (k / boxes.x) % boxes.y, k / (boxes.x * boxes.y));
        look_into(query, Box(low + vec3i(corner), min(size - corner, vec3u(MOST_ACROSS)), level, scale, gap, reach));
    }
}

// A part of the cells that an element visits. Quantised positions are unambiguous within MOST_ACROSS cells.
struct Box {
    low: vec3i,
    size: vec3u,
    level: u32,
    // 1/edge of a cell [1/m]
    scale: f32,
    // Search distance from the element to others, and to their centers [m].
    gap: f32,
    reach: f32,
}

const MOST_ACROSS = 15u;

// Number of elements that this thread has tested.
var<private> looked: u32;

// Parameters of the first test, in 1/64 of a cell from the lowest corner of the box.
struct Sight {
    // lowest corner, as quantised positions store it
    corner: vec3u,
    // Start of the segment minus half a unit, because a quantised position stands for the middle of its unit.
    start: vec3f,
    // Slow elements above this height list the pair themselves.
    height: f32,
    nearness: Nearness,
}

fn sight_of(query: Element, box: Box) -> Sight {
    let origin = vec3f(box.low);
    let start = 64.0 * (query.segment[0] * box.scale - origin);
    // The middle of a unit is at most √3/2 of a unit away. Far from the origin, products with the scale add three or
    // four rounding errors of 2⁻²⁴ along each of three axes.
    let far = abs(origin);
    let slack = 1.0 + 4e-5 * max(max(far.x, far.y), far.z);
    let height = select(1e9, 64.0 * (query.center.z * box.scale - origin.z) + slack, is_found_from_above(query, box.level));
    let end = 64.0 * (query.segment[1] * box.scale - origin);
    return Sight(bitcast<vec3u>(box.low) << vec3u(6u), start - 0.5, height, nearness_of(query, box, end - start, slack));
}

// The bits of the cell along y and z in a quantised position.
const ROW_BITS = 0x3c0f0000u;

fn row_bits(low: vec3i, across: vec2u) -> u32 {
    let cell = (bitcast<vec2u>(low.yz) + across) & vec2u(15u);
    return (cell.x << 16u) | (cell.y << 26u);
}

// First test: returns which of four elements may be near, in a row of cells along x. Other rows may share the same
// table entries.
fn may_be_near(four: u32, sight: Sight, row: u32) -> vec4<bool> {
    let rough = cells[(contact_params.rough_first + four) >> 2u];
    let x = vec4f(bitcast<vec4i>((rough - sight.corner.x) & vec4u(1023u)));
    let y = vec4f(bitcast<vec4i>(((rough >> vec4u(10u)) - sight.corner.y) & vec4u(1023u)));
    let z = vec4f(bitcast<vec4i>(((rough >> vec4u(20u)) - sight.corner.z) & vec4u(1023u)));
    let is_fast = (rough & vec4u(FAST)) != vec4u();
    let finds_this = (z > vec4f(sight.height)) & !is_fast & look(rough);
    let is_near = are_near(four, x - sight.start.x, y - sight.start.y, z - sight.start.z, is_fast, sight.nearness);
    return ((rough & vec4u(ROW_BITS)) == vec4u(row)) & is_near & !finds_this;
}

fn look_into(query: Element, box: Box) {
    let low = box.low;
    let size = box.size;
    let kind = PARTNER[KIND];
    let table = select(0u, kind, contact_params.tables > 1u) * contact_params.table_size;
    let size_of_table = contact_params.table_size;
    let sight = sight_of(query, box);
    // Each iteration tests up to RUNS runs, then continues at the same row, x and position. Counters replace integer
    // divisions, which are slow.
    var across = vec2u();
    var x = 0u;
    var done = 0u;
    while across.y < size.z {
        var runs = 0u;
        while across.y < size.z && runs < RUNS {
            let row = row_bits(low, across);
            let first = hash_cell(low + vec3i(0, vec2i(across)), box.level, size_of_table);
            while x < size.x && runs < RUNS {
                // The cells of a row are consecutive; the end of the table splits them into two parts.
                let entry = (first + x) & (size_of_table - 1u);
                let part = min(size.x - x, size_of_table - entry);
                var start = 0u;
                if table + entry > 0u {
                    start = cell_word(table + entry - 1u);
                }
                var end = cell_word(table + entry + part - 1u);
                // Limits the number of tests per thread.
                looked += select(0u, end - start, done == 0u);
                if looked > MOST_OTHERS {
                    end = start;
                }
                // Tests four elements at a time; elements of other rows are masked out below.
                let first = start + done;
                let base = first & ~3u;
                let stop = max(min(end, base + 32u), first);
                var bits = 0u;
                for (var four = base; four < stop; four += 4u) {
                    let near = may_be_near(four, sight, row);
                    let marks = select(vec4u(), vec4u(1u, 2u, 4u, 8u), near);
                    bits |= (marks.x | marks.y | marks.z | marks.w) << (four - base);
                }
                // A shift by 32 would be a shift by 0.
                bits &= select((ALL_BITS >> (32u - (stop - base))) & (ALL_BITS << (first - base)), 0u, stop == first);
                if bits != 0u {
                    found[runs] = vec2u(base, bits);
                    runs += 1u;
                }
                let more = stop < end;
                done = select(0u, stop - start, more);
                x += select(part, 0u, more);
            }
            if x >= size.x {
                x = 0u;
                across.x += 1u;
                if across.x == size.y {
                    across = vec2u(0u, across.y + 1u);
                }
            }
        }
        var run = 0u;
        var bits = found[0].y;
        var stays = 0u;
        while run < runs {
            let n = firstTrailingBit(bits);
            if is_near(query, other_at(found[run].x + n), box) {
                stays |= 1u << n;
            }
            bits &= bits - 1u;
            if bits == 0u {
                found[run].y = stays;
                stays = 0u;
                run += 1u;
                bits = found[min(run, RUNS - 1u)].y;
            }
        }
        run = 0u;
        bits = found[0].y;
        while run < runs {
            if bits != 0u {
                list(query, other_at(found[run].x + firstTrailingBit(bits)));
                bits &= bits - 1u;
            }
            while bits == 0u && run < runs {
                run += 1u;
                bits = found[min(run, RUNS - 1u)].y;
            }
        }
    }
}
