// A counting sort of the elements by the cells of a hashed grid (Teschner et al. 2003), where the list of pairs is stale. The order
// of the elements within a cell is free: nothing that follows depends on it.
//
// search_clear: one thread an entry of the grid, or a particle. Empties the entry; takes note of where the particle is to be,
//   and of what some particles travel on average.
// search_count: one thread an element. Counts it in its cell.
// search_bound: one thread a particle, or an element. Widens the bounds of the displacements in its cell of a coarse grid, or that of the
//   sizes of elements.
// search_horizon: one thread a cell of the coarse grid. How differently what is near moves, and how large it is, at most.
// search_sum_blocks: one thread a block of 64 cells. Sums their counts.
// search_scan_blocks: one workgroup. Where each block begins; and for how long the list will hold.
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
// ROWS a sorted element: its center (bits) and first particle, with the uppermost bit where it moves fast; and of surfaces a second: of an
// edge from its center to its second particle (bits), and that particle, of a triangle its second and third particle.
@group(0) @binding(7) var<storage, read_write> sorted: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> watched: array<Watched>;
@group(0) @binding(9) var<storage, read_write> contact_status: ContactStatus;

override ROWS: u32 = 1u;

const BLOCK = 64u;
const LANES = 128u;
const COARSE_CELLS = COARSE * COARSE * COARSE;
const SIGN = 0x80000000u;

fn holds() -> bool {
    return atomicLoad(&contact_status.stale) == 0u;
}

// The coarse grid lies behind the fine one, ten words a cell. 0 to 5: the bounds of the displacements in it, in quanta and with the sign
// turned over, so that they are in order. 6, 7: how far the centers of edges, of triangles in it are from their particles, at most (bits of
// positive f32). 8, 9: the same with the cells around it.
fn coarse(cell: u32) -> u32 {
    return cell_count() + COARSE_WORDS * cell;
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
    if i < COARSE_CELLS {
        for (var k = 0u; k < 3u; k++) {
            atomicStore(&cells[coarse(i) + k], 0xffffffffu);
            atomicStore(&cells[coarse(i) + 3u + k], 0u);
        }
        atomicStore(&cells[coarse(i) + 6u], 0u);
        atomicStore(&cells[coarse(i) + 7u], 0u);
    }
    let element = contact_params.insert_first + i;
    if !ONLY_PARTICLES && element < contact_params.insert_end {
        widen(elements[element]);
    }
    if i < params.particle_count {
        watched[i] = Watched(vec4f(positions[i].xyz + displacements[i].xyz, 0.0), displacements[i]);
    }
    if i == 0u {
        let samples = min(params.particle_count, 64u);
        let stride = params.particle_count / samples;
        var sum = vec3f();
        for (var k = 0u; k < samples; k++) {
            sum += displacements[k * stride].xyz;
        }
        contact_status.drift = select(sum / f32(samples), vec3f(), contact_params.anchored == 1u);
        contact_status.since = 0u;
        atomicStore(&contact_status.local, 0u);
        atomicStore(&contact_status.fastest, 0u);
        contact_status.searches += 1u;
        atomicStore(&contact_status.pair_count, 0u);
    }
}

// How far the particles of an element are to be from its center, at most.
fn size_of(element: vec4u, middle: vec3f) -> f32 {
    var size = 0.0;
    for (var k = 0u; k < 3u; k++) {
        let place = opaque(positions[element[k]].xyz + displacements[element[k]].xyz, params.zero);
        size = max(size, length(opaque(place - middle, params.zero)));
    }
    return size;
}

// Takes note of it. Read first: most widen nothing.
fn widen(element: vec4u) {
    let bits = bitcast<u32>(size_of(element, opaque(center_of(element), params.zero)));
    if element.w == 1u && bits > atomicLoad(&contact_status.edge_radius) {
        atomicMax(&contact_status.edge_radius, bits);
    }
    if element.w == 2u && bits > atomicLoad(&contact_status.triangle_radius) {
        atomicMax(&contact_status.triangle_radius, bits);
    }
}

fn widen_cell(element: vec4u) {
    if element.w == 0u {
        return;
    }
    let middle = opaque(center_of(element), params.zero);
    let bits = bitcast<u32>(size_of(element, middle));
    let word = coarse(coarse_cell(middle)) + 5u + element.w;
    if bits > atomicLoad(&cells[word]) {
        atomicMax(&cells[word], bits);
    }
}

fn coarse_cell(place: vec3f) -> u32 {
    return coarse_at(place, coarse_scale());
}

// How far the center of an element is from its particles, at most, by its type.
fn radius_of(kind: u32) -> f32 {
    if kind == 0u {
        return 0.0;
    }
    if kind == 1u {
        return bitcast<f32>(atomicLoad(&contact_status.edge_radius));
    }
    return bitcast<f32>(atomicLoad(&contact_status.triangle_radius));
}

fn coarse_scale() -> f32 {
    return inverse_coarse(contact_params.reach, max(2.0 * radius_of(1u), radius_of(2u)), params.zero);
}

// Where an element is to be at the end of the substep.
fn center_of(element: vec4u) -> vec3f {
    let a = positions[element.x].xyz + displacements[element.x].xyz;
    // What is known when the shader is compiled saves software drivers the loads of what is not used.
    if ONLY_PARTICLES || element.w == 0u {
        return a;
    }
    let b = positions[element.y].xyz + displacements[element.y].xyz;
    let c = positions[element.z].xyz + displacements[element.z].xyz;
    return center(a, b, c, element.w);
}

fn cell_of(element: vec4u, center: vec3f) -> u32 {
    let table = select(0u, element.w, contact_params.tables > 1u) * contact_params.table_size;
    let scale = inverse_cell(contact_params.reach, contact_params.radii[element.w], params.zero);
    return table + hash_cell(cell_at(center, scale), contact_params.table_size);
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
fn search_bound(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if holds() {
        return;
    }
    let element = contact_params.insert_first + i;
    if !ONLY_PARTICLES && element < contact_params.insert_end {
        widen_cell(elements[element]);
    }
    // The particles are the first of the elements.
    if i >= contact_params.alone_end {
        return;
    }
    let particle = elements[i].x;
    let d = displacements[particle].xyz;
    let cell = coarse(coarse_cell(opaque(positions[particle].xyz + d, params.zero)));
    let quanta = vec3i(round(clamp(d * contact_params.inverse_quantum, vec3f(-1e9), vec3f(1e9))));
    // Read first: most widen nothing.
    for (var k = 0u; k < 3u; k++) {
        let value = bitcast<u32>(quanta[k]) ^ SIGN;
        if value < atomicLoad(&cells[cell + k]) {
            atomicMin(&cells[cell + k], value);
        }
        if value > atomicLoad(&cells[cell + 3u + k]) {
            atomicMax(&cells[cell + 3u + k], value);
        }
    }
    let own = opaque(d - contact_status.drift, params.zero);
    let speed = bitcast<u32>(length(own));
    if speed > atomicLoad(&contact_status.fastest) {
        atomicMax(&contact_status.fastest, speed);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_horizon(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if holds() || i >= COARSE_CELLS {
        return;
    }
    let here = vec3u(i % COARSE, (i / COARSE) % COARSE, i / (COARSE * COARSE));
    let moves = atomicLoad(&cells[coarse(i)]) <= atomicLoad(&cells[coarse(i) + 3u]);
    var low = vec3u(0xffffffffu);
    var high = vec3u();
    var sizes = vec2u();
    for (var k = 0u; k < 27u; k++) {
        // One less along each axis is COARSE − 1 more.
        let c = (here + vec3u(k % 3u, (k / 3u) % 3u, k / 9u) + (COARSE - 1u)) % vec3u(COARSE);
        let cell = coarse(c.x + COARSE * (c.y + COARSE * c.z));
        for (var axis = 0u; axis < 3u; axis++) {
            low[axis] = min(low[axis], atomicLoad(&cells[cell + axis]));
            high[axis] = max(high[axis], atomicLoad(&cells[cell + 3u + axis]));
        }
        sizes = max(sizes, vec2u(atomicLoad(&cells[cell + 6u]), atomicLoad(&cells[cell + 7u])));
    }
    atomicStore(&cells[coarse(i) + 8u], sizes.x);
    atomicStore(&cells[coarse(i) + 9u], sizes.y);
    if moves {
        let extent = length(vec3f(high - low) * contact_params.quantum);
        atomicMax(&contact_status.local, bitcast<u32>(extent));
    }
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

// The twin of `ContactParams::horizon` in src/collide/table.rs.
fn horizon(local: f32, twice: f32) -> u32 {
    var near = 1000.0;
    if local > 0.0 {
        near = contact_params.margin / local;
    }
    var far = 1000.0;
    if twice > 0.0 {
        far = 0.666 / opaque(vec3f(coarse_scale() * twice), params.zero).x;
    }
    return u32(min(min(near, far), 1000.0));
}

var<workgroup> partial: array<u32, LANES>;

@compute @workgroup_size(LANES)
fn search_scan_blocks(@builtin(local_invocation_index) lane: u32) {
    if lane == 0u && !holds() {
        let local = bitcast<f32>(atomicLoad(&contact_status.local));
        let twice = 2.0 * bitcast<f32>(atomicLoad(&contact_status.fastest));
        contact_status.horizon = horizon(local, twice);
    }
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
    var start = positions[element.x].xyz;
    if !ONLY_PARTICLES {
        start = center(start, positions[element.y].xyz, positions[element.z].xyz, element.w);
    }
    let place = atomicAdd(&cells[cell_of(element, end)], 1u);
    let moves_fast = contact_status.horizon == 0u
        && is_fast(end, start, contact_status.drift, contact_params.margin, params.zero);
    let fast = select(0u, 0x80000000u, moves_fast);
    sorted[ROWS * place] = vec4u(bitcast<vec3u>(end), element.x | fast);
    if ONLY_PARTICLES {
        return;
    }
    if element.w == 1u {
        let second = positions[element.y].xyz + displacements[element.y].xyz;
        let half = opaque(second, params.zero) - opaque(end, params.zero);
        sorted[ROWS * place + 1u] = vec4u(bitcast<vec3u>(half), element.y);
    } else if element.w == 2u {
        sorted[ROWS * place + 1u] = vec4u(element.yz, 0u, 0u);
    }
}
