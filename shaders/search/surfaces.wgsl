// The elements of surfaces, and particles that stand alone: all are searched at once.
//
// search_clear: one thread a block of the grid, a cell of the coarse grid, a particle, or an element. Empties the cells; takes note of where
//   the particle is to be, and of what some particles travel on average.
// search_count: one thread an element. Counts it in its cell.
// search_bound: one thread a particle, or an element. Widens the bounds of the displacements in its cell of a coarse grid, or that of the
//   sizes of elements.
// search_horizon: one thread a cell of the coarse grid. How differently what is near moves, and how large it is, at most.
// search_fill: one thread an element. Puts it, and its rough place, into its cell, whose entry then is where the next begins.
//
// Two rows a sorted element: its center (bits) and first particle, with the uppermost bit where it moves fast; of an edge from its center to
// its second particle (bits), and that particle, of a triangle its second and third particle.

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_clear(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if holds() {
        return;
    }
    empty_block(i);
    if i < coarse_count() {
        empty_bounds(i);
        atomicStore(&cells[coarse(i) + 6u], 0u);
        atomicStore(&cells[coarse(i) + 7u], 0u);
    }
    let element = contact_params.insert_first + i;
    if element < contact_params.insert_end {
        widen(elements[element]);
    }
    if i < params.particle_count {
        watched[i] = Watched(positions[i].xyz + displacements[i].xyz, contact_status.now, displacements[i].xyz, 0u);
    }
    if i == 0u {
        begin_search();
        contact_status.pair_count = 0u;
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
    return coarse_index(coarse_at(place, coarse_scale(), contact_params.coarse), contact_params.coarse);
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
    let cell = cell_at(center, contact_params.inverse_cells[element.w]);
    return element.w * contact_params.table_size + hash_cell(cell, contact_params.table_size);
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
    if element < contact_params.insert_end {
        widen_cell(elements[element]);
    }
    // The particles are the first of the elements.
    if i >= contact_params.alone_end {
        return;
    }
    let particle = elements[i].x;
    let d = displacements[particle].xyz;
    widen_bounds(coarse_cell(opaque(positions[particle].xyz + d, params.zero)), d);
    widen_fastest(length(opaque(d - contact_status.drift, params.zero)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_horizon(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    let size = contact_params.coarse;
    if holds() || i >= coarse_count() {
        return;
    }
    let here = vec3u(i % size, (i / size) % size, i / (size * size));
    var sizes = vec2u();
    for (var k = 0u; k < 27u; k++) {
        let cell = around(here, k);
        sizes = max(sizes, vec2u(atomicLoad(&cells[cell + 6u]), atomicLoad(&cells[cell + 7u])));
    }
    atomicStore(&cells[coarse(i) + 8u], sizes.x);
    atomicStore(&cells[coarse(i) + 9u], sizes.y);
    if atomicLoad(&cells[coarse(i)]) != NOTHING {
        atomicMax(&contact_status.local, bitcast<u32>(extent_around(here)));
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
    let moves_fast = contact_status.horizon == 0u
        && is_fast(end - start, contact_status.drift, contact_params.margin, params.zero);
    let fast = select(0u, FAST, moves_fast);
    sorted[2u * place] = vec4u(bitcast<vec3u>(end), element.x | fast);
    set_rough_place(place, rough_place(end, contact_params.inverse_cells[element.w]) | fast);
    if element.w == 1u {
        let second = positions[element.y].xyz + displacements[element.y].xyz;
        let half = opaque(second, params.zero) - opaque(end, params.zero);
        sorted[2u * place + 1u] = vec4u(bitcast<vec3u>(half), element.y);
    } else if element.w == 2u {
        sorted[2u * place + 1u] = vec4u(element.yz, 0u, 0u);
    }
}
