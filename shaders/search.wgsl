// A counting sort of the elements by the cells of a hashed grid (Teschner et al. 2003), where the list of pairs is stale. The order
// of the elements within a cell is free: nothing that follows depends on it.
//
// search_clear: one thread an entry of the grid, or a particle. Empties the entry; takes note of where the particle is to be,
//   and of what some particles travel on average.
// search_count: one thread an element. Counts it in its cell.
// search_sum_blocks: one thread a block of 64 cells. Sums their counts.
// search_scan_blocks: one workgroup. Where each block begins.
// search_starts: one thread a block. Where each of its cells begins.
// search_fill: one thread an element. Puts it into its cell, whose entry then is where the next begins.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
// three particles, type
@group(0) @binding(4) var<storage, read> elements: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> cells: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> sums: array<u32>;
// center; element, with its uppermost bit where it moves fast
@group(0) @binding(7) var<storage, read_write> sorted: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> watched: array<vec4f>;
@group(0) @binding(9) var<storage, read_write> contact_status: ContactStatus;

const BLOCK = 64u;
const LANES = 128u;

fn holds() -> bool {
    return atomicLoad(&contact_status.stale) == 0u;
}

fn cell_count() -> u32 {
    return contact_params.tables * contact_params.table_size;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_clear(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if holds() {
        return;
    }
    if i < cell_count() {
        atomicStore(&cells[i], 0u);
    }
    if i < params.particle_count {
        watched[i] = vec4f(positions[i].xyz + displacements[i].xyz, 0.0);
    }
    if i == 0u {
        let samples = min(params.particle_count, 64u);
        let stride = params.particle_count / samples;
        var sum = vec3f();
        for (var k = 0u; k < samples; k++) {
            sum += displacements[k * stride].xyz;
        }
        contact_status.drift = sum / f32(samples);
        contact_status.since = 0u;
        contact_status.searches += 1u;
        atomicStore(&contact_status.pair_count, 0u);
    }
}

// Where an element is to be at the end of the substep.
fn center_of(element: vec4u) -> vec3f {
    let a = positions[element.x].xyz + displacements[element.x].xyz;
    if element.w == 0u {
        return a;
    }
    let b = positions[element.y].xyz + displacements[element.y].xyz;
    let c = positions[element.z].xyz + displacements[element.z].xyz;
    return center(a, b, c, element.w);
}

fn cell_of(element: vec4u, center: vec3f) -> u32 {
    let table = select(0u, element.w, contact_params.tables > 1u) * contact_params.table_size;
    return table + hash_cell(cell_at(center, contact_params.inverse_cells[element.w]), contact_params.table_size);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_count(@builtin(global_invocation_id) id: vec3u) {
    let i = contact_params.insert_first + thread_index(id);
    if holds() || i >= contact_params.insert_end {
        return;
    }
    let element = elements[i];
    atomicAdd(&cells[cell_of(element, center_of(element))], 1u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_sum_blocks(@builtin(global_invocation_id) id: vec3u) {
    let block = thread_index(id);
    if holds() || block * BLOCK >= cell_count() {
        return;
    }
    var sum = 0u;
    for (var k = 0u; k < BLOCK; k++) {
        sum += atomicLoad(&cells[block * BLOCK + k]);
    }
    sums[block] = sum;
}

var<workgroup> partial: array<u32, LANES>;

@compute @workgroup_size(LANES)
fn search_scan_blocks(@builtin(local_invocation_index) lane: u32) {
    // Nothing to do where the list holds, but the barrier is for all.
    let blocks = select(cell_count() / BLOCK, 0u, holds());
    let share = (blocks + LANES - 1u) / LANES;
    let first = min(lane * share, blocks);
    let end = min(first + share, blocks);
    var sum = 0u;
    for (var block = first; block < end; block++) {
        sum += sums[block];
    }
    partial[lane] = sum;
    workgroupBarrier();
    var start = 0u;
    for (var other = 0u; other < lane; other++) {
        start += partial[other];
    }
    for (var block = first; block < end; block++) {
        let count = sums[block];
        sums[block] = start;
        start += count;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_starts(@builtin(global_invocation_id) id: vec3u) {
    let block = thread_index(id);
    if holds() || block * BLOCK >= cell_count() {
        return;
    }
    var start = sums[block];
    for (var k = 0u; k < BLOCK; k++) {
        let cell = block * BLOCK + k;
        let count = atomicLoad(&cells[cell]);
        atomicStore(&cells[cell], start);
        start += count;
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_fill(@builtin(global_invocation_id) id: vec3u) {
    let i = contact_params.insert_first + thread_index(id);
    if holds() || i >= contact_params.insert_end {
        return;
    }
    let element = elements[i];
    let end = center_of(element);
    let start = center(positions[element.x].xyz, positions[element.y].xyz, positions[element.z].xyz, element.w);
    let place = atomicAdd(&cells[cell_of(element, end)], 1u);
    let fast = select(0u, 0x80000000u, is_fast(end, start, contact_status.drift, contact_params.margin, params.zero));
    sorted[place] = vec4f(end, bitcast<f32>(i | fast));
}
