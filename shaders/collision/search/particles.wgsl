// Particles, where nothing else touches: those look anew for others of whose part of the list some is used up. The coarse cells in which they lie
// are marked as worn; the others go on as they did when they last looked, and are sorted only where one of those may meet them.
//
// search_clear: one thread a block of the grid, or a word of marks of the coarse grid. Empties the block; and which coarse cells are near one that is
//   worn.
// search_gather: one thread 16 particles, so that few of them wait for the ends of the lists. Takes note of where it is to be,
//   if it is to look, lists what is near those that are, and widens the bounds of the displacements in its cell of the coarse grid; where it is fast,
//   in those, too, through which it comes.
// search_horizon: one thread a word of marks of the coarse grid. For how many substeps those hold that look in its cells, by how differently what is
//   in those around moves; the bounds of what is about each corner; and through which cells something comes that moves differently from what else
//   comes there.
// search_count: one thread a particle that is near. Counts it in its cell, and takes note of its horizon, by how differently from itself what is
//   about the nearest corner moves and how fast anything is, of how far it looks, and of its level.
// search_fill: one thread a particle that is near. Puts it, and its rough place and way, into its cell, whose entry then is where the next begins, and
//   empties its cells of the coarse grid for the next search.
//
// A row a sorted particle: where it is to be, or the middle of its way where others that are fast cross it (bits); its index, with its level, and
// ROW_MARK.

// The particles that are near those that look, marked by LOOKS where they look themselves; then those that look.
@group(0) @binding(9) var<storage, read_write> lists: array<u32>;

const SHARE = 16u;

fn searches_all() -> bool {
    return is_for_all(atomicLoad(&contact_status.stale), atomicLoad(&contact_status.hurried), contact_status.overfull);
}

// Words of a cell of the coarse grid: the bounds of the displacements in it, for how many substeps those hold at most that look there, whether those
// that come through it differ, and their bounds; the bounds of the displacements in the eight cells about its lowest corner.
const WITHIN = 0u;
const HORIZON = 6u;
const DIFFERS = 7u;
const THROUGH = 8u;
const ABOUT = 14u;

// Empties bounds that begin with this word. Read first: others may have done so.
fn empty_bounds(first: u32) {
    if atomicLoad(&cells[first]) == NOTHING {
        return;
    }
    for (var k = 0u; k < 3u; k++) {
        atomicStore(&cells[first + k], NOTHING);
        atomicStore(&cells[first + 3u + k], 0u);
    }
}

// Ways are told apart by the bounds of what comes through a cell alone, so that there is to be room for any length; within a cell there is room
// for some thirty thicknesses, and what goes farther looks anew in every substep anyway.
const COARSER = 4096.0;

fn quanta_in(bounds: u32) -> f32 {
    return select(1.0, COARSER, bounds == THROUGH);
}

// A displacement against the drift, as bounds have it.
fn quanta_of(displacement: vec3f, bounds: u32) -> vec3u {
    let d = opaque(displacement - contact_status.drift, params.zero);
    let scale = contact_params.inverse_quantum / quanta_in(bounds);
    let quanta = vec3i(round(clamp(d * scale, vec3f(-1e9), vec3f(1e9))));
    return bitcast<vec3u>(quanta) ^ vec3u(SIGN);
}

// Widens the bounds of a cell, which begins with this word. Read first: most widen nothing.
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

// The least and the largest displacements, as bounds have them.
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

// The bounds of several cells together: from the one before this one along each axis on, so many.
fn bounds_from(here: vec3u, across: u32, bounds: u32) -> Bounds {
    var all = Bounds(vec3u(NOTHING), vec3u());
    for (var k = 0u; k < across * across * across; k++) {
        let own = bounds_at(around(here, across, k) + bounds);
        all = Bounds(min(all.low, own.low), max(all.high, own.high));
    }
    return all;
}

// Whether there is nothing in the eight cells about the lowest corner of one: nobody asks for their bounds. (Where all look most of the grid is so.)
fn is_empty_about(here: vec3u) -> bool {
    var least = NOTHING;
    for (var k = 0u; k < 8u; k++) {
        least = min(least, atomicLoad(&cells[around(here, 2u, k) + WITHIN]));
    }
    return least == NOTHING;
}

// How differently the particles in and around a coarse cell, or through these, move, at most [m].
fn extent_around(here: vec3u, bounds: u32) -> f32 {
    let all = bounds_from(here, 3u, bounds);
    return length(vec3f(all.high - all.low) * (contact_params.quantum * quanta_in(bounds)));
}

// How differently from a particle others move that are in the eight coarse cells about the corner nearest to it, at most [m]. What is in none of these is
// half the edge of a cell away, which is one and a half reaches.
fn extent_about(place: vec3f, displacement: vec3f) -> f32 {
    let corner = opaque(place + opaque1(1.5 * contact_params.reach, params.zero), params.zero);
    let all = bounds_at(coarse(coarse_index(coarse_cell(corner), contact_params.coarse)) + ABOUT);
    let own = quanta_of(displacement, WITHIN);
    return length(vec3f(max(all.high - own, own - all.low)) * contact_params.quantum);
}

// Takes the marks off the coarse grid.
fn end_bounds(thread: u32) {
    for (var word = thread; word < word_count(); word += THREADS) {
        atomicStore(&cells[contact_params.worn_first + word], 0u);
    }
}

fn coarse_cell(place: vec3f) -> vec3u {
    return coarse_at(place, coarse_scale(), contact_params.coarse);
}

// Words of marks, of one kind.
fn word_count() -> u32 {
    return words_of_row(contact_params.coarse) * contact_params.coarse * contact_params.coarse;
}

// The last bit of a word, and all up to that.
fn last_bit() -> u32 {
    return min(contact_params.coarse, 32u) - 1u;
}

fn all_bits() -> u32 {
    return NOTHING >> (31u - last_bit());
}

// The cell of the first bit of a word.
fn first_of_word(word: u32) -> vec3u {
    let size = contact_params.coarse;
    let row = word / words_of_row(size);
    return vec3u(32u * (word % words_of_row(size)), row % size, row / size);
}

// A word of marks, and itself turned by one either way: the grid repeats itself. A row has one word, or two of which each continues the other.
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

// Whether a coarse cell has its mark among those that begin there.
fn is_marked(first: u32, cell: vec3u) -> bool {
    let word = atomicLoad(&cells[first + mark_word(cell, contact_params.coarse)]);
    return ((word >> (cell.x % 32u)) & 1u) == 1u;
}

fn goes_far(displacement: vec3f) -> bool {
    return is_fast(displacement, contact_status.drift, contact_params.margin, params.zero);
}

// The way of a particle that is fast, in steps of twice the reach at most: where two meet, their nearest steps lie in neighbouring coarse cells,
// which are three reaches wide.
struct Steps {
    end: vec3f,
    step: vec3f,
    count: u32,
}

// What goes farther crosses more cells than anything may look into.
const MOST_STEPS = 256.0;

fn steps_of(own: TrackedParticle) -> Steps {
    let travel = opaque(own.displacement - contact_status.drift, params.zero);
    let count = clamp(ceil(sqrt(opaque_square(travel, params.zero)) / (2.0 * contact_params.reach)), 1.0, MOST_STEPS);
    return Steps(own.place, opaque(travel / count, params.zero), u32(count));
}

// The first word of the coarse cell that a step is in.
fn cell_of_step(steps: Steps, k: u32) -> u32 {
    let place = opaque(steps.end - opaque(steps.step * f32(k), params.zero), params.zero);
    return coarse(coarse_index(coarse_cell(place), contact_params.coarse));
}

// Whether anything that is fast and moves differently comes near the way of a particle.
fn is_crossed(own: TrackedParticle) -> bool {
    let steps = steps_of(own);
    var differs = 0u;
    for (var k = 0u; k <= steps.count; k++) {
        differs |= atomicLoad(&cells[cell_of_step(steps, k) + DIFFERS]);
    }
    return differs != 0u;
}

// Whether a particle that has its horizon looks along its way: in other searches ways are short enough for the cells around.
fn looks_along_way(own: TrackedParticle, horizon: u32) -> bool {
    return horizon == 0u && searches_all() && goes_far(own.displacement);
}

// Where a particle of a level stands, which is to be here: at the end of its way or in the middle of it.
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
    // Once for all of them: compilers do not know that they stay.
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
            // What is not about the nearest corner is one and a half reaches away, but for the rounding of cells.
            let further = 0.99 * opaque1(0.5 * contact_params.reach + contact_params.gap, params.zero);
            atomicStore(&cells[cell + HORIZON], horizon(further, extent_around(here, WITHIN), 0.0));
        }
        row &= row - 1u;
    }
    // The corners of all cells in which any look: some are of the next ones.
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
    // As many as a row may have; of a shorter one some are looked at twice. Only where all look are ways known.
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
    // What nothing crosses stands where it is to be: what is near it there goes along with it.
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
    // None where it has left no bounds. (Within a branch software drivers run through it once more.)
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
