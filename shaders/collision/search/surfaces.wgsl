// The search of surfaces and of particles in no surface: all elements search at once.
//
// - search_clear_cells: one thread per block of the grid, coarse cell, particle, or element. Clears the cells; writes
//   the predicted position and displacement per substep of each particle, and the drift. At the end of a step it only
//   clears.
// - search_count_cells: one thread per element. Counts it in its cell. At the end of a step it also writes the
//   largest radii.
// - search_measure_motion: one thread per particle or element. Adds the particle to the histogram of speeds; writes
//   the largest size and speed of the elements in each coarse cell, and the higher levels that overlap it.
// - search_set_horizons: one thread per coarse cell. Combines these values over the 3×3×3 cells around it.
// - search_sort_into_cells: one thread per element. Writes it and its quantised position into its cell. The entry of
//   a cell then is the start of the next cell.
//
// Contacts stop most of the motion of a substep, so the displacement is a poor prediction. The predicted displacement
// per substep is the mean motion of the predicted position since the last search. Slow particles account for the
// speed of slow ones; the few fast ones search farther and find the slow ones. The horizon is chosen so that slow
// particles approach each other by at most the margin.
// Each thread writes its own elements; shared words are atomics.
//
// A sorted element is two rows:
// - center, or for a fast particle the middle of its path (bits); first particle with level and ROW_MARK.
// - edge: vector from the center to the second particle (bits), second particle; triangle: second and third particle.

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_clear_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    empty_block(i);
    if AT_END {
        if i == 0u {
            atomicStore(&contact_status.end_edge_radius, 0u);
            atomicStore(&contact_status.end_triangle_radius, 0u);
            atomicStore(&contact_status.end_levels, 0u);
        }
        return;
    }
    if i < coarse_count() {
        atomicStore(&cells[coarse(i)], 0u);
        atomicStore(&cells[coarse(i) + 2u], 0u);
        atomicStore(&cells[coarse(i) + 4u], 0u);
        atomicStore(&cells[coarse(i) + 5u], 0u);
        atomicStore(&cells[coarse(i) + 6u], 0u);
        atomicStore(&cells[coarse(i) + 7u], 0u);
        atomicStore(&cells[coarse(i) + 10u], 0u);
    }
    if i < PACES {
        atomicStore(&cells[contact_params.worn_first + i], 0u);
    }
    let element = contact_params.insert_first + i;
    if element < contact_params.insert_end {
        widen(elements[element]);
    }
    if i < params.particle_count {
        let d = displacements[i].xyz;
        let place = opaque(positions[i].xyz + d, params.zero);
        let since = f32(contact_status.now - contact_status.searched);
        var pace = d;
        if atomicLoad(&contact_status.stale) != ALL {
            pace = opaque(place - bitcast<vec3f>(watched[i][0].xyz), params.zero) / since;
        }
        let words = packed_pace(pace, contact_params.inverse_quantum);
        watched[i] = rows_of_watched(TrackedParticle(place, words.x, d, words.y));
    }
    if i == 0u {
        begin_search();
        contact_status.pair_count = 0u;
    }
}

// Classes of the histogram of speeds, four per octave, from a thousandth of the thickness on. It uses the words of
// the marks of the particle level. Counterparts: `ContactParams::pace_class` and `slow` in src/sim/contact_params.rs.
const PACES = 64u;

fn first_class() -> u32 {
    return bitcast<u32>(contact_params.thickness * 0.0009765625) >> 21u;
}

fn pace_class(speed: f32) -> u32 {
    let class_bits = bitcast<u32>(speed) >> 21u;
    return min(class_bits - min(class_bits, first_class()), PACES - 1u);
}

// Computes the speed that 63 of 64 particles do not exceed, and the horizon of the list.
fn end_bounds(thread: u32) {
    if thread > 0u {
        return;
    }
    var highest = PACES - 1u;
    var faster = atomicLoad(&cells[contact_params.worn_first + highest]);
    while highest > 0u && faster <= contact_params.alone_end / 64u {
        highest -= 1u;
        faster += atomicLoad(&cells[contact_params.worn_first + highest]);
    }
    let slow = bitcast<f32>((first_class() + highest + 1u) << 21u);
    contact_status.slow = slow;
    // A third of the limit of the coarse grid, so that the search distance of fast particles stays short.
    contact_status.horizon = horizon(contact_params.margin, 2.0 * slow, 6.0 * fastest());
    contact_status.searched = contact_status.now;
}

fn speed_of_particle(particle: u32) -> f32 {
    return speed_of(watched_of_rows(watched[particle]), contact_params.quantum, contact_status.drift, params.zero);
}

// Returns the travel in this substep beyond half the margin.
fn excess(displacement: vec3f) -> f32 {
    let travel = length(opaque(displacement - contact_status.drift, params.zero));
    return max(travel - 0.5 * contact_params.margin, 0.0);
}

fn goes_far(displacement: vec3f) -> bool {
    return is_fast(displacement, contact_status.drift, contact_params.margin, params.zero);
}

fn excess_of(particle: u32) -> f32 {
    return excess(displacements[particle].xyz);
}

// Returns the largest predicted displacement per substep of the particles of an element.
fn speed_of_element(element: vec4u) -> f32 {
    return max(max(speed_of_particle(element.x), speed_of_particle(element.y)), speed_of_particle(element.z));
}

fn excess_of_element(element: vec4u) -> f32 {
    return max(max(excess_of(element.x), excess_of(element.y)), excess_of(element.z));
}

// An element at the end of the substep (or of the step, AT_END): its particles, its center, the largest squared
// distance of a particle from the center, and its level. For a fast particle, the middle and the level of its path.
struct Standing {
    places: array<vec3f, 3>,
    middle: vec3f,
    square: f32,
    level: u32,
}

fn standing(element: vec4u) -> Standing {
    var places: array<vec3f, 3>;
    var d: array<vec3f, 3>;
    for (var k = 0u; k < 3u; k++) {
        places[k] = positions[element[k]].xyz;
        if !AT_END {
            d[k] = displacements[element[k]].xyz;
            places[k] = opaque(places[k] + d[k], params.zero);
        }
    }
    let middle = opaque(center(places[0], places[1], places[2], element.w), params.zero);
    let square = square_size(places, middle, params.zero);
    let level_size = contact_params.level_sizes[element.w];
    if !AT_END && element.w == 0u && goes_far(d[0]) {
        let way = middle_of_way(middle, d[0], contact_status.drift, params.zero);
        return Standing(places, way, square, level_of_way(d[0], contact_status.drift, level_size, params.zero));
    }
    return Standing(places, middle, square, level_of(square, level_size));
}

// Raises the largest radius. Reads first: most elements do not raise it.
fn widen(element: vec4u) {
    if element.w == 0u {
        return;
    }
    let bits = bitcast<u32>(sqrt(standing(element).square));
    if element.w == 1u && bits > atomicLoad(&contact_status.edge_radius) {
        atomicMax(&contact_status.edge_radius, bits);
    }
    if element.w == 2u && bits > atomicLoad(&contact_status.triangle_radius) {
        atomicMax(&contact_status.triangle_radius, bits);
    }
}

fn widen_cell(element: vec4u) {
    let own = standing(element);
    // A fast single particle searches for all others itself, so only its level is recorded.
    if element.w == 0u {
        announce_level(own.level, 0u);
        return;
    }
    if own.level > 0u {
        announce(element, own.places, own.level);
        return;
    }
    let excess = excess_of_element(element);
    if excess > 0.0 {
        let cells_near = coarse_box(own.middle - excess, own.middle + excess);
        for (var k = 0u; k < cells_near.count; k++) {
            let word = coarse_in(cells_near, k) + 2u;
            if bitcast<u32>(excess) > atomicLoad(&cells[word]) {
                atomicMax(&cells[word], bitcast<u32>(excess));
            }
        }
    }
    let first = coarse(coarse_cell(own.middle));
    let bits = bitcast<u32>(sqrt(own.square));
    let word = first + 5u + element.w;
    if bits > atomicLoad(&cells[word]) {
        atomicMax(&cells[word], bits);
    }
    if element.w == 2u {
        let speed = bitcast<u32>(speed_of_element(element));
        if speed > atomicLoad(&cells[first]) {
            atomicMax(&cells[first], speed);
        }
    }
}

// The coarse cells that a box overlaps.
struct CoarseBox {
    low: vec3u,
    across: vec3u,
    count: u32,
}

fn coarse_box(least: vec3f, most: vec3f) -> CoarseBox {
    let low = cell_at(least, coarse_scale());
    let high = cell_at(most, coarse_scale());
    // A box larger than the grid would visit cells twice.
    let across = min(vec3u(high - low) + 1u, vec3u(contact_params.coarse));
    return CoarseBox(bitcast<vec3u>(low), across, across.x * across.y * across.z);
}

// Returns the first word of the k-th cell of the box.
fn coarse_in(box: CoarseBox, k: u32) -> u32 {
    let offset = vec3u(k % box.across.x, (k / box.across.x) % box.across.y, k / (box.across.x * box.across.y));
    let cell = (box.low + offset) & vec3u(contact_params.coarse - 1u);
    return coarse(coarse_index(cell, contact_params.coarse));
}

// Records an edge or triangle of a level above 0 in the coarse cells that it overlaps. Reads first: most updates
// change nothing.
fn announce(element: vec4u, places: array<vec3f, 3>, level: u32) {
    let excess = excess_of_element(element);
    let excess_bits = bitcast<u32>(excess);
    if excess_bits > atomicLoad(&contact_status.wide_excess) {
        atomicMax(&contact_status.wide_excess, excess_bits);
    }
    announce_level(level, element.w);
    let least = min(min(places[0], places[1]), places[2]);
    let most = max(max(places[0], places[1]), places[2]);
    let cells_near = coarse_box(least - excess, most + excess);
    for (var k = 0u; k < cells_near.count; k++) {
        let first = coarse_in(cells_near, k);
        let word = first + 3u + element.w;
        if (atomicLoad(&cells[word]) & (1u << level)) == 0u {
            atomicOr(&cells[word], 1u << level);
        }
        if excess_bits > atomicLoad(&cells[first + 10u]) {
            atomicMax(&cells[first + 10u], excess_bits);
        }
    }
}

fn coarse_cell(place: vec3f) -> u32 {
    return coarse_index(coarse_at(place, coarse_scale(), contact_params.coarse), contact_params.coarse);
}

fn cell_of(element: vec4u, own: Standing) -> u32 {
    let cell = cell_at(own.middle, contact_params.inverse_cells[own.level][element.w]);
    return element.w * contact_params.table_size + hash_cell(cell, own.level, contact_params.table_size);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_count_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = contact_params.insert_first + thread_index(id);
    if i >= contact_params.insert_end {
        return;
    }
    let element = elements[i];
    let own = standing(element);
    atomicAdd(&cells[cell_of(element, own)], 1u);
    if AT_END {
        widen_end(element.w, own.square, own.level);
    }
}

// Records an element at the end of the step. Reads first: most updates change nothing.
fn widen_end(kind: u32, square: f32, level: u32) {
    let bits = bitcast<u32>(sqrt(square));
    if kind == 1u && bits > atomicLoad(&contact_status.end_edge_radius) {
        atomicMax(&contact_status.end_edge_radius, bits);
    }
    if kind == 2u && bits > atomicLoad(&contact_status.end_triangle_radius) {
        atomicMax(&contact_status.end_triangle_radius, bits);
    }
    if level > 0u {
        let level_bit = 1u << (level + levels_shift(kind));
        if (atomicLoad(&contact_status.end_levels) & level_bit) == 0u {
            atomicOr(&contact_status.end_levels, level_bit);
        }
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_measure_motion(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    let element = contact_params.insert_first + i;
    if element < contact_params.insert_end {
        widen_cell(elements[element]);
    }
    // Particles are the first elements.
    if i >= contact_params.alone_end {
        return;
    }
    let speed = speed_of_particle(elements[i].x);
    atomicAdd(&cells[contact_params.worn_first + pace_class(speed)], 1u);
    widen_fastest(speed);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_set_horizons(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    let size = contact_params.coarse;
    if i >= coarse_count() {
        return;
    }
    let here = vec3u(i % size, (i / size) % size, i / (size * size));
    var fast = vec2u();
    var large = vec2u();
    var levels = vec2u();
    var wide_excess = 0u;
    for (var k = 0u; k < 27u; k++) {
        let cell = around(here, 3u, k);
        fast = max(fast, vec2u(atomicLoad(&cells[cell]), atomicLoad(&cells[cell + 2u])));
        large = max(large, vec2u(atomicLoad(&cells[cell + 6u]), atomicLoad(&cells[cell + 7u])));
        levels |= vec2u(atomicLoad(&cells[cell + 4u]), atomicLoad(&cells[cell + 5u]));
        wide_excess = max(wide_excess, atomicLoad(&cells[cell + 10u]));
    }
    atomicStore(&cells[coarse(i) + 1u], fast.x);
    atomicStore(&cells[coarse(i) + 3u], fast.y);
    atomicStore(&cells[coarse(i) + 8u], large.x);
    atomicStore(&cells[coarse(i) + 9u], large.y);
    atomicStore(&cells[coarse(i) + 11u], levels.x);
    atomicStore(&cells[coarse(i) + 12u], levels.y);
    atomicStore(&cells[coarse(i) + 13u], wide_excess);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_sort_into_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = contact_params.insert_first + thread_index(id);
    if i >= contact_params.insert_end {
        return;
    }
    let element = elements[i];
    let own = standing(element);
    let middle = own.middle;
    let place = atomicAdd(&cells[cell_of(element, own)], 1u);
    // The flag is not read for triangles, nor at the end of a step.
    let moves_fast = !AT_END && element.w < 2u
        && (speed_of_element(element) > contact_status.slow
            || goes_far(displacements[element.x].xyz) || goes_far(displacements[element.y].xyz));
    let row_mark = select(0u, ROW_MARK, moves_fast);
    sorted[2u * place] = vec4u(bitcast<vec3u>(middle), element.x | (own.level << LEVEL_SHIFT) | row_mark);
    let rough_mark = select(0u, FAST, moves_fast);
    set_rough_place(place, rough_place(middle, contact_params.inverse_cells[own.level][element.w]) | rough_mark);
    if element.w == 1u {
        let half = own.places[1] - middle;
        sorted[2u * place + 1u] = vec4u(bitcast<vec3u>(half), element.y);
    } else if element.w == 2u {
        sorted[2u * place + 1u] = vec4u(element.yz, 0u, 0u);
    }
}
