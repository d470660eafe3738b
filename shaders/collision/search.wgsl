// A counting sort by the cells of a hashed grid (Teschner et al. 2003), where the list of pairs no longer holds; of surfaces at the end of each step,
// too, for the crossings. The order within a cell is free: nothing that follows depends on it. What is the same for all elements stands here; what
// each of them does, in search/surfaces.wgsl, and where nothing but particles touches, in search/particles.wgsl.
//
// search_sum_blocks: one thread a block of 64 cells. Sums their counts.
// search_scan_blocks: one workgroup. Where each block begins; of surfaces, for how long the list will hold; of particles, takes the marks off the
//   coarse grid.
// search_starts: one thread a block. Where each of its cells begins.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
// three particles, type
@group(0) @binding(4) var<storage, read> elements: array<vec4u>;
// The entries of the grid, the coarse grid, the sums of blocks, the marks of coarse cells (see ContactParams), and the rough places and
// ways of the sorted elements.
@group(0) @binding(5) var<storage, read_write> cells: array<atomic<u32>>;
// By rows; which ones, search/surfaces.wgsl and search/particles.wgsl say.
@group(0) @binding(6) var<storage, read_write> sorted: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> watched: array<array<vec4u, 2>>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;

const BLOCK = 64u;
const THREADS = 128u;
const SIGN = 0x80000000u;
// The bounds of an empty cell: no number is as low as this one, nor as high as 0.
const NOTHING = 0xffffffffu;

// Whether it is the sort at the end of a step, of elements where they are then.
override AT_END: bool = false;

// The coarse grid lies behind the fine one, COARSE_WORDS words a cell.
// Of particles 0 to 5: the bounds of the displacements in it, in quanta and with the sign turned over, so that they are in order; 6: for how many
// substeps they need not look again, at most; 8 to 13: the bounds of the displacements of what is fast and comes through it; 7: whether these differ
// by more than the margin from each other, or in the cells around; 14 to 19: the bounds of the displacements in the eight cells about its lowest
// corner.
// Of surfaces, of elements of level 0, bits of positive f32, 0: how far the triangles in it go in a substep, at most; 2: how far what may be in it
// travels in this one beyond half the margin; 1, 3: the same with the cells around it; 6, 7: how far the centers of edges, of triangles in it are
// from their particles, at most; 8, 9: the same with the cells around it. Of those of further levels that come into it, 4, 5: a bit for each level
// of edges, of triangles; 10: how far they travel in this substep beyond half the margin; 11, 12, 13: the same with the cells around it.
fn coarse(cell: u32) -> u32 {
    return cell_count() + COARSE_WORDS * cell;
}

fn cell_count() -> u32 {
    return contact_params.tables * contact_params.table_size;
}

fn coarse_count() -> u32 {
    return contact_params.coarse * contact_params.coarse * contact_params.coarse;
}

fn coarse_scale() -> f32 {
    if ONLY_PARTICLES {
        // Of the host: passes must not round it differently.
        return contact_params.inverse_coarse;
    }
    let edge = atomicLoad(&contact_status.edge_radius);
    let triangle = atomicLoad(&contact_status.triangle_radius);
    return inverse_coarse(contact_params.reach, contact_params.level_sizes, edge, triangle, params.zero);
}

// Empties the cells of a block: software drivers store faster in a loop than from as many threads.
fn empty_block(block: u32) {
    if block * BLOCK >= cell_count() {
        return;
    }
    for (var k = 0u; k < BLOCK; k++) {
        atomicStore(&cells[block * BLOCK + k], 0u);
    }
}

// Takes note that there is something of a level, if that is above 0. Read first: most is known.
fn announce_level(level: u32, kind: u32) {
    let level_bit = select(0u, 1u << (level + levels_shift(kind)), level > 0u);
    if (atomicLoad(&contact_status.levels) & level_bit) != level_bit {
        atomicOr(&contact_status.levels, level_bit);
    }
}

// Takes note of how fast something is against the drift.
fn widen_fastest(displacement: f32) {
    let speed = bitcast<u32>(displacement);
    if speed > atomicLoad(&contact_status.fastest) {
        atomicMax(&contact_status.fastest, speed);
    }
}

fn fastest() -> f32 {
    return bitcast<f32>(atomicLoad(&contact_status.fastest));
}

// What is to be known before any element is looked at; one thread does it.
fn begin_search() {
    let samples = min(params.particle_count, 64u);
    let stride = params.particle_count / samples;
    var sum = vec3f();
    for (var k = 0u; k < samples; k++) {
        // What is not finite will be held, and is none of the others' business.
        let d = displacements[k * stride].xyz;
        sum += select(vec3f(), d, is_finite(d));
    }
    contact_status.drift = select(sum / f32(samples), vec3f(), contact_params.anchored == 1u);
    atomicStore(&contact_status.fastest, 0u);
    atomicStore(&contact_status.levels, 0u);
    atomicStore(&contact_status.wide_excess, 0u);
    contact_status.searches += 1u;
    atomicStore(&contact_status.renewed_count, 0u);
    atomicStore(&contact_status.nearby_count, 0u);
    atomicStore(&contact_status.vacancy_count, 0u);
    atomicStore(&contact_status.found_count, 0u);
}

// The first word of the k-th coarse cell, of so many along each axis, from the one before this one on.
fn around(here: vec3u, across: u32, k: u32) -> u32 {
    // One less along each axis is `size` − 1 more.
    let size = contact_params.coarse;
    let c = (here + vec3u(k % across, (k / across) % across, k / (across * across)) + (size - 1u)) & vec3u(size - 1u);
    return coarse(coarse_index(c, size));
}

// By place among the sorted elements.
fn set_rough_place(place: u32, word: u32) {
    atomicStore(&cells[contact_params.rough_first + place], word);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_sum_blocks(@builtin(global_invocation_id) id: vec3u) {
    let block = thread_index(id);
    if block * BLOCK >= cell_count() {
        return;
    }
    var sum = 0u;
    for (var k = 0u; k < BLOCK; k++) {
        sum += atomicLoad(&cells[block * BLOCK + k]);
    }
    atomicStore(&cells[contact_params.sums_first + block], sum);
}

// The twin of `ContactParams::horizon` in src/sim/contact_params.rs.
fn horizon(gap: f32, local: f32, most: f32) -> u32 {
    var near = 1000.0;
    if local > 0.0 {
        near = gap / local;
    }
    var far = 1000.0;
    if most > 0.0 {
        far = 0.666 / opaque(vec3f(coarse_scale() * most), params.zero).x;
    }
    return u32(min(min(near, far), 1000.0));
}

var<workgroup> partial: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn search_scan_blocks(@builtin(local_invocation_index) thread: u32) {
    if !AT_END {
        end_bounds(thread);
    }
    let blocks = cell_count() / BLOCK;
    let share = (blocks + THREADS - 1u) / THREADS;
    let first = min(thread * share, blocks);
    let end = min(first + share, blocks);
    var sum = 0u;
    for (var block = first; block < end; block++) {
        sum += atomicLoad(&cells[contact_params.sums_first + block]);
    }
    partial[thread] = sum;
    workgroupBarrier();
    var start = 0u;
    for (var other = 0u; other < thread; other++) {
        start += partial[other];
    }
    for (var block = first; block < end; block++) {
        let word = contact_params.sums_first + block;
        let count = atomicLoad(&cells[word]);
        atomicStore(&cells[word], start);
        start += count;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_cell_offsets(@builtin(global_invocation_id) id: vec3u) {
    let block = thread_index(id);
    if block * BLOCK >= cell_count() {
        return;
    }
    var start = atomicLoad(&cells[contact_params.sums_first + block]);
    for (var k = 0u; k < BLOCK; k++) {
        let cell = block * BLOCK + k;
        let count = atomicLoad(&cells[cell]);
        atomicStore(&cells[cell], start);
        start += count;
    }
}
