// The search at the particle level. Only expired particles search again. Their coarse cells are marked; particles in
// or next to a marked cell are sorted at their predicted positions.
//
// - search_clear_cells: one thread per block of the grid or word of coarse marks. Clears the block, and dilates the
//   marks of expired cells by one cell.
// - search_mark_stale: one thread per SHARE particles, which reduces atomics. Writes the state of a searching
//   particle, lists it and its neighbours, and widens the bounds of displacements in the coarse cells, for fast
//   particles along their path.
// - search_set_horizons: one thread per word of coarse marks. Writes the horizon of each cell, the bounds around each
//   corner, and if fast particles with different displacements pass through a cell.
// - search_count_cells: one thread per listed particle. Counts it in its cell, and writes its horizon, search
//   distance and level.
// - search_sort_into_cells: one thread per listed particle. Writes it with its quantised position and displacement
//   into its cell, and clears its coarse cells. The entry of a cell then is the start of the next cell.
//
// A sorted particle is one row: predicted position, or the middle of its path if fast particles cross it (bits);
// index with level and ROW_MARK. Each thread writes its own particle and rows; all shared words are atomics.

// Particles to sort, flagged LOOKS if they search; from `particle_count` on, the particles that search.
@group(0) @binding(9) var<storage, read_write> lists: array<u32>;

const SHARE = 16u;

fn searches_all() -> bool {
    return is_for_all(atomicLoad(&contact_status.stale), atomicLoad(&contact_status.hurried), contact_status.overfull);
}

// Words of a cell of the coarse grid: see `coarse` in search.wgsl.
const WITHIN = 0u;
const HORIZON = 6u;
const DIFFERS = 7u;
const THROUGH = 8u;
const ABOUT = 14u;

// Clears the bounds that start at this word. Reads first: another thread may have cleared them.
fn empty_bounds(first: u32) {
    if atomicLoad(&cells[first]) == NOTHING {
        return;
    }
    for (var k = 0u; k < 3u; k++) {
        atomicStore(&cells[first + k], NOTHING);
        atomicStore(&cells[first + 3u + k], 0u);
    }
}

// Unit of the THROUGH bounds in quanta: they must represent paths of any length. The other bounds saturate at 30
// thicknesses or more, beyond which particles search in every substep.
const COARSER = 4096.0;

fn quanta_in(bounds: u32) -> f32 {
    return select(1.0, COARSER, bounds == THROUGH);
}

// Returns a displacement relative to the drift, as stored in bounds.
fn quanta_of(displacement: vec3f, bounds: u32) -> vec3u {
    let d = opaque(displacement - contact_status.drift, params.zero);
    let scale = contact_params.inverse_quantum / quanta_in(bounds);
    let quanta = vec3i(round(clamp(d * scale, vec3f(-1e9), vec3f(1e9))));
    return bitcast<vec3u>(quanta) ^ vec3u(SIGN);
}

// Widens the bounds of a cell, given its first word. Reads first: most displacements lie within the bounds.
fn widen_bounds(cell: u32, bounds: u32, displacement: vec3f) {
    let quanta = quanta_of(displacement, bounds);
    let first = cell + bounds;
    for (var k = 0u; k < 3u; k++) {
        let word = first + k;
        if quanta[k] < atomicLoad(&cells[word]) {
            atomicMin(&cells[word], quanta[k]);
        }
        if quanta[k] > atomicLoad(&cells[word + 3u]) {
            atomicMax(&cells[word + 3u], quanta[k]);
        }
    }
}

// Lower and upper bounds of displacements.
struct Bounds {
    low: vec3u,
    high: vec3u,
}

fn bounds_at(first: u32) -> Bounds {
    var bounds: Bounds;
    for (var axis = 0u; axis < 3u; axis++) {
        bounds.low[axis] = atomicLoad(&cells[first + axis]);
        bounds.high[axis] = atomicLoad(&cells[first + 3u + axis]);
    }
    return bounds;
}

// Returns the union of the bounds of `across`³ cells that start one cell below `here`.
fn bounds_from(here: vec3u, across: u32, bounds: u32) -> Bounds {
    var all = Bounds(vec3u(NOTHING), vec3u());
    for (var k = 0u; k < across * across * across; k++) {
        let own = bounds_at(around(here, across, k) + bounds);
        all = Bounds(min(all.low, own.low), max(all.high, own.high));
    }
    return all;
}

// Returns true if the 2×2×2 cells at the lowest corner are empty; their bounds are never read.
fn is_empty_about(here: vec3u) -> bool {
    var least = NOTHING;
    for (var k = 0u; k < 8u; k++) {
        least = min(least, atomicLoad(&cells[around(here, 2u, k) + WITHIN]));
    }
    return least == NOTHING;
}

// Returns an upper bound of the relative displacement of particles in the 3×3×3 cells around a coarse cell [m].
fn extent_around(here: vec3u, bounds: u32) -> f32 {
    let all = bounds_from(here, 3u, bounds);
    return length(vec3f(all.high - all.low) * (contact_params.quantum * quanta_in(bounds)));
}

// Returns an upper bound of the displacement relative to a particle, over the 2×2×2 coarse cells around its nearest
// corner [m]. Particles in other cells are at least half a cell (1.5 × reach) away.
fn extent_about(place: vec3f, displacement: vec3f) -> f32 {
    let corner = opaque(place + opaque1(1.5 * contact_params.reach, params.zero), params.zero);
    let all = bounds_at(coarse(coarse_index(coarse_cell(corner), contact_params.coarse)) + ABOUT);
    let own = quanta_of(displacement, WITHIN);
    return length(vec3f(max(all.high - own, own - all.low)) * contact_params.quantum);
}

// Clears the marks of the coarse grid.
fn end_bounds(thread: u32) {
    for (var word = thread; word < word_count(); word += THREADS) {
        atomicStore(&cells[contact_params.worn_first + word], 0u);
    }
}

fn coarse_cell(place: vec3f) -> vec3u {
    return coarse_at(place, coarse_scale(), contact_params.coarse);
}

// Words of one kind of marks.
fn word_count() -> u32 {
    return words_of_row(contact_params.coarse) * contact_params.coarse * contact_params.coarse;
}

// Returns the index of the last bit of a word, and the mask up to that bit.
fn last_bit() -> u32 {
    return min(contact_params.coarse, 32u) - 1u;
}

fn all_bits() -> u32 {
    return NOTHING >> (31u - last_bit());
}

// Returns the cell of the first bit of a word.
fn first_of_word(word: u32) -> vec3u {
    let size = contact_params.coarse;
    let row = word / words_of_row(size);
    return vec3u(32u * (word % words_of_row(size)), row % size, row / size);
}

// Returns a word of marks, dilated by one cell along x with wrap-around. `other` is the other word of the row, or the
// same word if the row has one.
fn widened(word: u32, other: u32) -> u32 {
    let last = last_bit();
    return (word | (word << 1u) | (other >> last) | (word >> 1u) | (other << last)) & all_bits();
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_clear_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    empty_block(i);
    let size = contact_params.coarse;
    if i < word_count() {
        let here = first_of_word(i);
        var marks = 0u;
        for (var k = 0u; k < 9u; k++) {
            let c = (here.yz + vec2u(k % 3u, k / 3u) + (size - 1u)) & vec2u(size - 1u);
            let word = atomicLoad(&cells[contact_params.worn_first + mark_word(vec3u(here.x, c), size)]);
            let other = (here.x + 32u) & (size - 1u);
            marks |= widened(word, atomicLoad(&cells[contact_params.worn_first + mark_word(vec3u(other, c), size)]));
        }
        atomicStore(&cells[contact_params.nearby_first + i], marks);
    }
    if i == 0u {
        begin_search();
        if searches_all() {
            contact_status.pair_count = 0u;
        }
    }
}

// Returns true if a coarse cell is marked.
fn is_marked(first: u32, cell: vec3u) -> bool {
    let word = atomicLoad(&cells[first + mark_word(cell, contact_params.coarse)]);
    return ((word >> (cell.x % 32u)) & 1u) == 1u;
}

fn goes_far(displacement: vec3f) -> bool {
    return is_fast(displacement, contact_status.drift, contact_params.margin, params.zero);
}

// Path of a fast particle, in steps of at most twice the reach. If two paths meet, their nearest steps lie in
// neighbouring coarse cells, which are 3 × reach wide.
struct Steps {
    end: vec3f,
    step: vec3f,
    count: u32,
}

// Longer paths cross more cells than a thread may visit.
const MOST_STEPS = 256.0;

fn steps_of(own: TrackedParticle) -> Steps {
    let travel = opaque(own.displacement - contact_status.drift, params.zero);
    let count = clamp(ceil(sqrt(opaque_square(travel, params.zero)) / (2.0 * contact_params.reach)), 1.0, MOST_STEPS);
    return Steps(own.place, opaque(travel / count, params.zero), u32(count));
}

// Returns the first word of the coarse cell of a step.
fn cell_of_step(steps: Steps, k: u32) -> u32 {
    let place = opaque(steps.end - opaque(steps.step * f32(k), params.zero), params.zero);
    return coarse(coarse_index(coarse_cell(place), contact_params.coarse));
}

// Returns true if a fast particle with a different displacement passes near the path of a particle.
fn is_crossed(own: TrackedParticle) -> bool {
    let steps = steps_of(own);
    var differs = 0u;
    for (var k = 0u; k <= steps.count; k++) {
        differs |= atomicLoad(&cells[cell_of_step(steps, k) + DIFFERS]);
    }
    return differs != 0u;
}

// Returns true if a particle searches along its path. In partial searches paths are short enough for the cells around
// it.
fn looks_along_way(own: TrackedParticle, horizon: u32) -> bool {
    return horizon == 0u && searches_all() && goes_far(own.displacement);
}

// Returns the position at which a particle is sorted: its predicted position, or the middle of its path for levels
// above 0.
fn stand(own: TrackedParticle, here: vec3f, level: u32) -> vec3f {
    if level > 0u {
        return middle_of_way(here, own.displacement, contact_status.drift, params.zero);
    }
    return here;
}

fn cell_of(stand: vec3f, level: u32) -> u32 {
    let cell = cell_at(stand, contact_params.inverse_cells[level].x);
    return hash_cell(cell, level, contact_params.table_size);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_mark_stale(@builtin(global_invocation_id) id: vec3u) {
    let first = SHARE * thread_index(id);
    if first >= contact_params.alone_end {
        return;
    }
    var looking = 0u;
    var nearby = 0u;
    var far = 0u;
    var fastest = 0.0;
    // Loaded once: compilers cannot assume that these values are constant.
    let all = searches_all();
    let drift = contact_status.drift;
    let now = contact_status.now;
    for (var n = 0u; n < min(contact_params.alone_end - first, SHARE); n++) {
        let particle = elements[first + n].x;
        var d = displacements[particle].xyz;
        var place = opaque(positions[particle].xyz + d, params.zero);
        let before = watched_of_rows(watched[particle]);
        let since = now - before.searched;
        let aside = aside_from_way(before, before.displacement, since, positions[particle].xyz, d, params.zero);
        let looks = all || is_expired(before, opaque_square(aside, params.zero), since, contact_params.margin);
        if looks {
            watched[particle] = rows_of_watched(TrackedParticle(place, now, d, 0u));
            looking |= 1u << n;
            far |= select(0u, 1u << n, all && goes_far(d));
        }
        d = select(before.displacement, d, looks);
        place = select(way_of(before, now, params.zero), place, looks);
        fastest = max(fastest, length(opaque(d - drift, params.zero)));
        if looks || is_marked(contact_params.nearby_first, coarse_cell(place)) {
            nearby |= 1u << n;
        }
    }
    widen_fastest(fastest);
    var slot = atomicAdd(&contact_status.nearby_count, countOneBits(nearby));
    while nearby != 0u {
        let n = firstTrailingBit(nearby);
        let particle = elements[first + n].x;
        lists[slot] = particle | select(0u, LOOKS, ((looking >> n) & 1u) == 1u);
        let own = watched_of_rows(watched[particle]);
        let cell = coarse_index(coarse_cell(way_of(own, now, params.zero)), contact_params.coarse);
        widen_bounds(coarse(cell), WITHIN, own.displacement);
        slot += 1u;
        nearby &= nearby - 1u;
    }
    while far != 0u {
        let own = watched_of_rows(watched[elements[first + firstTrailingBit(far)].x]);
        let steps = steps_of(own);
        for (var k = 0u; k <= steps.count; k++) {
            widen_bounds(cell_of_step(steps, k), THROUGH, own.displacement);
        }
        far &= far - 1u;
    }
    slot = params.particle_count + atomicAdd(&contact_status.renewed_count, countOneBits(looking));
    while looking != 0u {
        lists[slot] = elements[first + firstTrailingBit(looking)].x;
        slot += 1u;
        looking &= looking - 1u;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_set_horizons(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    let size = contact_params.coarse;
    if i >= word_count() {
        return;
    }
    let start = first_of_word(i);
    var row = select(atomicLoad(&cells[contact_params.worn_first + i]), all_bits(), searches_all());
    while row != 0u {
        let here = start + vec3u(firstTrailingBit(row), 0u, 0u);
        let cell = coarse(coarse_index(here, size));
        if atomicLoad(&cells[cell]) != NOTHING {
            // Particles outside of the 2×2×2 cells are at least 1.5 × reach away, up to rounding.
            let further = 0.99 * opaque1(0.5 * contact_params.reach + contact_params.gap, params.zero);
            atomicStore(&cells[cell + HORIZON], horizon(further, extent_around(here, WITHIN), 0.0));
        }
        row &= row - 1u;
    }
    // Corners of all marked cells; some belong to neighbouring cells.
    row = select(atomicLoad(&cells[contact_params.nearby_first + i]), all_bits(), searches_all());
    while row != 0u {
        let here = start + vec3u(firstTrailingBit(row), 0u, 0u);
        let first = coarse(coarse_index(here, size)) + ABOUT;
        row &= row - 1u;
        if is_empty_about(here) {
            continue;
        }
        let all = bounds_from(here, 2u, WITHIN);
        for (var axis = 0u; axis < 3u; axis++) {
            atomicStore(&cells[first + axis], all.low[axis]);
            atomicStore(&cells[first + 3u + axis], all.high[axis]);
        }
    }
    // 32 iterations cover every row length; shorter rows repeat cells. Paths are known only in a full search.
    for (var k = 0u; k < select(0u, 32u, searches_all()); k++) {
        let x = k & last_bit();
        let first = coarse(coarse_index(start + vec3u(x, 0u, 0u), size)) + THROUGH;
        row |= select(0u, 1u << x, atomicLoad(&cells[first]) != NOTHING);
    }
    while row != 0u {
        let here = start + vec3u(firstTrailingBit(row), 0u, 0u);
        let differs = extent_around(here, THROUGH) > contact_params.margin;
        atomicStore(&cells[coarse(coarse_index(here, size)) + DIFFERS], u32(differs));
        row &= row - 1u;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_count_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= atomicLoad(&contact_status.nearby_count) {
        return;
    }
    let row = lists[i];
    let particle = row & ~LOOKS;
    let own = watched_of_rows(watched[particle]);
    let place = way_of(own, contact_status.now, params.zero);
    let further = atomicLoad(&cells[coarse(coarse_index(coarse_cell(place), contact_params.coarse)) + HORIZON]);
    let extent = extent_about(place, own.displacement);
    let speed = length(opaque(own.displacement - contact_status.drift, params.zero));
    let substeps = min(horizon(contact_params.gap, extent, speed + fastest()), further);
    // A particle whose path nothing crosses is sorted at its predicted position.
    var level = 0u;
    if looks_along_way(own, substeps) && is_crossed(own) {
        level = level_of_way(own.displacement, contact_status.drift, contact_params.level_sizes.x, params.zero);
    }
    if row != particle {
        let reach = vec3f(contact_params.reach, contact_params.gap, contact_params.inverse_reach);
        watched[particle][1].w = outlook(substeps, extent, level, reach, params.zero);
    }
    atomicAdd(&cells[cell_of(stand(own, place, level), level)], 1u);
    announce_level(level, 0u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_sort_into_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= atomicLoad(&contact_status.nearby_count) {
        return;
    }
    let row = lists[i];
    let particle = row & ~LOOKS;
    let looks = row != particle;
    let own = watched_of_rows(watched[particle]);
    let place = way_of(own, contact_status.now, params.zero);
    let cell = coarse_index(coarse_cell(place), contact_params.coarse);
    empty_bounds(coarse(cell) + WITHIN);
    let moves_fast = looks && looks_along_way(own, horizon_of(own));
    let level = select(0u, level_of_row(own.horizon), looks);
    let stand = stand(own, place, level);
    let all = searches_all();
    let steps = steps_of(own);
    // 0 iterations if the particle has widened no bounds. A branch would cost software drivers one more iteration.
    for (var k = 0u; k < select(0u, steps.count + 1u, all && goes_far(own.displacement)); k++) {
        empty_bounds(cell_of_step(steps, k) + THROUGH);
    }
    let slot = atomicAdd(&cells[cell_of(stand, level)], 1u);
    let row_mark = select(0u, ROW_MARK, select(looks, moves_fast, all));
    sorted[slot] = vec4u(bitcast<vec3u>(stand), particle | (level << LEVEL_SHIFT) | row_mark);
    let marks = select(0u, FAST, moves_fast) | select(0u, LOOKS, looks);
    set_rough_place(slot, rough_place(stand, contact_params.inverse_cells[level].x) | marks);
    let way = rough_way(own.displacement, contact_status.drift, fastest());
    atomicStore(&cells[contact_params.ways_first + slot], way);
}
