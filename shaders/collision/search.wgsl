// Sorts elements into the cells of a hashed grid by counting (Teschner et al. 2003), if the pair list is not valid.
// Surfaces: it also runs at the end of each step (AT_END), to find intersections; it then measures sizes only. The
// order within a cell is arbitrary; later passes do not depend on it.
//
// - search_clear_cells: one thread per particle, element, or coarse cell. Clears the cells; writes the tracked
//   particles, the drift, and the largest radii of edges and triangles.
// - search_count_cells: one thread per particle or element. Counts the element in its cell; writes its motion and size
//   into the coarse grid, and the speed of the particle into the histogram.
// - search_allocate_cells: one workgroup per block of cells; one thread per coarse cell. Reserves a range of sorted
//   elements for each block, and writes the start of each cell (prefix sum). Writes the coarse words combined over
//   3×3×3 cells, and the horizon.
// - search_sort_into_cells: one thread per element. Writes it into its cell. The entry of a cell then is the start of
//   the next cell of its block.
//
// Contacts stop most of the motion of a substep, so the displacement is a poor prediction. The predicted displacement
// per substep is the mean motion of the predicted position since the last search. Slow particles account for the
// speed of slow ones; the few fast ones search farther and find the slow ones. The horizon is chosen so that slow
// particles approach each other by at most the margin.
// Each thread writes its own elements; shared words are atomics. search/coarse.wgsl holds the coarse grid.
//
// A sorted element is two rows (particle level: one row):
// - center, or for a fast particle the middle of its path (bits); first particle with level and FAST.
// - edge: vector from the center to the second particle (bits), second particle; triangle: second and third particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
// three particles, type
@group(0) @binding(4) var<storage, read> elements: array<vec4u>;
// Cells of the grid, the coarse grid, the starts of blocks, and the histogram of speeds (see ContactParams).
@group(0) @binding(5) var<storage, read_write> cells: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> sorted: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> tracked: array<array<vec4u, 2>>;
@group(0) @binding(8) var<storage, read_write> contact_status: ContactStatus;

// True for the sort at the end of a step, which uses the positions at that time.
override AT_END: bool = false;

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_clear_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    for (var cell = i; cell < contact_params.coarse_first; cell += contact_params.search_threads[0].x) {
        atomicStore(&cells[cell], 0u);
    }
    if !AT_END {
        if i < coarse_count() {
            for (var word = 0u; word < NEAR; word++) {
                atomicStore(&cells[coarse(i) + word], 0u);
            }
        }
        if i < SPEED_CLASSES {
            atomicStore(&cells[contact_params.speed_classes + i], 0u);
        }
        if i < params.particle_count {
            track(i);
        }
    }
    if i == 0u {
        begin_search();
    }
    let index = contact_params.sphere_first + i;
    if !ONLY_PARTICLES && index < contact_params.insert_end {
        let element = elements[index];
        if element.w > 0u {
            raise_radius(element.w, bitcast<u32>(sqrt(state_of(element).square)));
        }
    }
}

fn track(i: u32) {
    let d = displacements[i].xyz;
    let place = opaque(positions[i].xyz + d, params.zero);
    var predicted = d;
    if atomicLoad(&contact_status.stale) != RESET {
        let since = f32(contact_status.now - contact_status.searched);
        predicted = opaque(place - bitcast<vec3f>(tracked[i][0].xyz), params.zero) / since;
    }
    tracked[i] = rows_of_tracked(TrackedParticle(place, d, predicted), contact_params.inverse_quantum);
}

// Initialises a search; called by one thread.
fn begin_search() {
    atomicStore(&contact_status.levels, 0u);
    for (var kind = 0u; kind < 3u; kind++) {
        atomicStore(&contact_status.allocated[kind], 0u);
    }
    if AT_END {
        return;
    }
    // Neither followers nor particles in reserve.
    let samples = min(contact_params.particle_end, 64u);
    let stride = contact_params.particle_end / max(samples, 1u);
    var sum = vec3f();
    for (var k = 0u; k < samples; k++) {
        // Particles with non-finite displacements are quarantined later and are excluded.
        let d = displacements[elements[k * stride].x].xyz;
        sum += select(vec3f(), d, is_finite(d));
    }
    contact_status.drift = select(sum / f32(max(samples, 1u)), vec3f(), contact_params.anchored == 1u);
    atomicStore(&contact_status.fastest, 0u);
    atomicStore(&contact_status.wide_excess, 0u);
    atomicStore(&contact_status.found_count, 0u);
    if atomicLoad(&contact_status.stale) == INCOMPLETE {
        atomicStore(&contact_status.stale, EXPIRED);
    }
    contact_status.searches += 1u;
}

// Raises the largest radius of a type. Reads first, as all functions that raise a shared word: most elements do not
// raise it.
fn raise_radius(kind: u32, bits: u32) {
    if kind == 1u && bits > atomicLoad(&contact_status.edge_radius) {
        atomicMax(&contact_status.edge_radius, bits);
    }
    if kind == 2u && bits > atomicLoad(&contact_status.triangle_radius) {
        atomicMax(&contact_status.triangle_radius, bits);
    }
}

// An element at the end of the substep (or of the step, AT_END): its particles, its center, the largest squared
// distance of a particle from the center, and its level. For a fast particle, the middle and the level of its path.
struct ElementState {
    places: array<vec3f, 3>,
    middle: vec3f,
    square: f32,
    level: u32,
}

fn state_of(element: vec4u) -> ElementState {
    var places: array<vec3f, 3>;
    for (var k = 0u; k < 3u; k++) {
        places[k] = positions[element[k]].xyz;
        if !AT_END {
            places[k] = opaque(places[k] + displacements[element[k]].xyz, params.zero);
        }
    }
    let middle = opaque(center(places[0], places[1], places[2], element.w), params.zero);
    let square = square_size(places, middle, params.zero);
    let level_size = contact_params.level_sizes[element.w];
    if !AT_END && element.w == 0u && moves_far(element.x) {
        let half = half_path(displacements[element.x].xyz, contact_status.drift, params.zero);
        let level = max(level_of(opaque_square(half, params.zero), level_size), 1u);
        return ElementState(places, opaque(middle - half, params.zero), square, level);
    }
    return ElementState(places, middle, square, level_of(square, level_size));
}

fn moves_far(particle: u32) -> bool {
    return is_fast(displacements[particle].xyz, contact_status.drift, contact_params.margin, params.zero);
}

fn cell_of(kind: u32, own: ElementState) -> u32 {
    let cell = cell_at(own.middle, contact_params.inverse_cells[own.level][kind]);
    return kind * contact_params.table_size + hash_cell(cell, own.level, contact_params.table_size);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_count_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    // Particles are the first elements.
    if !AT_END && i < contact_params.particle_end {
        record_speed(speed_of_particle(elements[i].x));
    }
    let index = contact_params.sphere_first + i;
    if index >= contact_params.insert_end {
        return;
    }
    let element = elements[index];
    let own = state_of(element);
    atomicAdd(&cells[cell_of(element.w, own)], 1u);
    let present = level_bit(own.level, element.w);
    if own.level > 0u && (atomicLoad(&contact_status.levels) & present) == 0u {
        atomicOr(&contact_status.levels, present);
    }
    // A fast single particle searches for all others itself, so only its level is recorded.
    if !AT_END && !ONLY_PARTICLES && element.w > 0u {
        record_element(element, own);
    }
}

const THREADS = 32u;
const CELLS_PER_THREAD = 16u;

var<workgroup> sums: array<u32, THREADS>;
var<workgroup> block_start: u32;

@compute @workgroup_size(THREADS)
fn search_allocate_cells(
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = group.x + 65535u * group.y;
    if !AT_END {
        end_motion(block * THREADS + thread);
    }
    let first = block * BLOCK + thread * CELLS_PER_THREAD;
    let is_inside = first < contact_params.coarse_first;
    var counts: array<u32, CELLS_PER_THREAD>;
    var sum = 0u;
    for (var k = 0u; k < select(0u, CELLS_PER_THREAD, is_inside); k++) {
        counts[k] = atomicLoad(&cells[first + k]);
        sum += counts[k];
    }
    sums[thread] = sum;
    workgroupBarrier();
    for (var step = 1u; step < THREADS; step *= 2u) {
        let before = select(0u, sums[max(thread, step) - step], thread >= step);
        workgroupBarrier();
        sums[thread] += before;
        workgroupBarrier();
    }
    if thread == THREADS - 1u && is_inside {
        block_start = reserved(block, sums[thread]);
    }
    workgroupBarrier();
    var start = block_start + sums[thread] - sum;
    for (var k = 0u; k < select(0u, CELLS_PER_THREAD, is_inside); k++) {
        atomicStore(&cells[first + k], start);
        start += counts[k];
    }
}

// Reserves a range of sorted elements for a block, and returns its start. The elements of a type are contiguous.
fn reserved(block: u32, count: u32) -> u32 {
    let kind = block * BLOCK / contact_params.table_size;
    let firsts = vec3u(contact_params.sphere_first, contact_params.particle_end, contact_params.query_end);
    let start = firsts[kind] - contact_params.sphere_first + atomicAdd(&contact_status.allocated[kind], count);
    atomicStore(&cells[contact_params.block_starts + block], start);
    return start;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_sort_into_cells(@builtin(global_invocation_id) id: vec3u) {
    let index = contact_params.sphere_first + thread_index(id);
    if index >= contact_params.insert_end {
        return;
    }
    let element = elements[index];
    let own = state_of(element);
    let slot = atomicAdd(&cells[cell_of(element.w, own)], 1u);
    // The flag is not read for triangles, nor at the end of a step.
    let is_marked = !AT_END && element.w < 2u
        && (speed_of_element(element) > contact_status.slow || moves_far(element.x) || moves_far(element.y));
    let word = element.x | (own.level << LEVEL_SHIFT) | select(0u, FAST, is_marked);
    let row = vec4u(bitcast<vec3u>(own.middle), word);
    if ONLY_PARTICLES {
        sorted[slot] = row;
        return;
    }
    sorted[2u * slot] = row;
    if element.w == 1u {
        let half = own.places[1] - own.middle;
        sorted[2u * slot + 1u] = vec4u(bitcast<vec3u>(half), element.y);
    } else if element.w == 2u {
        sorted[2u * slot + 1u] = vec4u(element.yz, 0u, 0u);
    }
}
