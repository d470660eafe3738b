// Sorts elements into the cells of a hashed grid by counting (Teschner et al. 2003), if the pair list is not valid.
// With surfaces it also runs at the end of each step, to find intersections. The order within a cell is arbitrary;
// later passes do not depend on it.
// This file holds the shared part; search/surfaces.wgsl and search/particles.wgsl hold the passes that differ between
// the levels.
//
// - search_sum_blocks: one thread per block of 64 cells. Writes the sum of their counts.
// - search_scan_blocks: one workgroup. Computes the start of each block (prefix sum). Surfaces: also the horizon of
//   the list. Particle level: also clears the marks of the coarse grid.
// - search_cell_offsets: one thread per block. Writes the start of each of its cells.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
// three particles, type
@group(0) @binding(4) var<storage, read> elements: array<vec4u>;
// Entries of the grid, the coarse grid, the sums of blocks, the marks of coarse cells (see ContactParams), and the
// quantised positions and displacements of the sorted elements.
@group(0) @binding(5) var<storage, read_write> cells: array<atomic<u32>>;
// Rows are documented in search/surfaces.wgsl and search/particles.wgsl.
@group(0) @binding(6) var<storage, read_write> sorted: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> watched: array<array<vec4u, 2>>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;

const BLOCK = 64u;
const THREADS = 128u;
const SIGN = 0x80000000u;
// The lower bound of an empty cell; it exceeds all values.
const NOTHING = 0xffffffffu;

// True for the sort at the end of a step, which uses the positions at that time.
override AT_END: bool = false;

// Returns the first word of a cell of the coarse grid, which follows the fine grid. Words of a cell:
//
// Particle level:
// - 0–5: bounds of the displacements in the cell, in quanta, with the sign bit flipped so that unsigned order
//   applies.
// - 6: largest horizon of its particles in substeps.
// - 7: 1 if the bounds in words 8–13 of the 3×3×3 cells around it differ by more than the margin.
// - 8–13: bounds of the displacements of fast particles whose path passes through the cell.
// - 14–19: bounds of the displacements in the 2×2×2 cells around its lowest corner.
//
// Surfaces, elements of level 0 (bits of positive f32):
// - 0: largest predicted displacement of its triangles per substep.
// - 2: largest travel in this substep, minus half the margin, of elements that may enter the cell.
// - 6, 7: largest distance of the center of an edge, of a triangle from its particles.
// - 1, 3, 8, 9: the maxima of words 0, 2, 6, 7 over the 3×3×3 cells around it.
//
// Surfaces, elements of higher levels that overlap the cell:
// - 4, 5: one bit per level of edges, of triangles.
// - 10: largest travel in this substep, minus half the margin.
// - 11, 12, 13: words 4, 5, 10 combined over the 3×3×3 cells around it.
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
        // Computed on the host, so that all passes use the same rounding.
        return contact_params.inverse_coarse;
    }
    let edge = atomicLoad(&contact_status.edge_radius);
    let triangle = atomicLoad(&contact_status.triangle_radius);
    return inverse_coarse(contact_params.reach, contact_params.level_sizes, edge, triangle, params.zero);
}

// Clears the cells of a block. On software drivers a loop is faster than one thread per cell.
fn empty_block(block: u32) {
    if block * BLOCK >= cell_count() {
        return;
    }
    for (var k = 0u; k < BLOCK; k++) {
        atomicStore(&cells[block * BLOCK + k], 0u);
    }
}

// Marks a level above 0 as used. Reads first: most levels are marked already.
fn announce_level(level: u32, kind: u32) {
    let level_bit = select(0u, 1u << (level + levels_shift(kind)), level > 0u);
    if (atomicLoad(&contact_status.levels) & level_bit) != level_bit {
        atomicOr(&contact_status.levels, level_bit);
    }
}

// Raises the largest displacement relative to the drift.
fn widen_fastest(displacement: f32) {
    let speed = bitcast<u32>(displacement);
    if speed > atomicLoad(&contact_status.fastest) {
        atomicMax(&contact_status.fastest, speed);
    }
}

fn fastest() -> f32 {
    return bitcast<f32>(atomicLoad(&contact_status.fastest));
}

// Initialises a search; called by one thread.
fn begin_search() {
    let samples = min(params.particle_count, 64u);
    let stride = params.particle_count / samples;
    var sum = vec3f();
    for (var k = 0u; k < samples; k++) {
        // Particles with non-finite displacements are quarantined later and are excluded.
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

// Returns the first word of the k-th coarse cell of a block of `across`³ cells that starts one cell below `here`.
fn around(here: vec3u, across: u32, k: u32) -> u32 {
    // Adding size − 1 subtracts 1 modulo size.
    let size = contact_params.coarse;
    let c = (here + vec3u(k % across, (k / across) % across, k / (across * across)) + (size - 1u)) & vec3u(size - 1u);
    return coarse(coarse_index(c, size));
}

// `place` is an index among the sorted elements.
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

// Counterpart: `ContactParams::horizon` in src/sim/contact_params.rs.
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
