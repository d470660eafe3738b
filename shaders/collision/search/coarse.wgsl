// Motion and size of the elements of a search: the histogram of speeds, and the coarse grid. The words of a coarse cell
// are documented in shaders/common/search.wgsl.

fn coarse_count() -> u32 {
    return contact_params.coarse * contact_params.coarse * contact_params.coarse;
}

// Returns the first word of a cell of the coarse grid.
fn coarse(cell: u32) -> u32 {
    return contact_params.coarse_first + COARSE_WORDS * cell;
}

fn coarse_scale() -> f32 {
    let edge = atomicLoad(&contact_status.edge_radius);
    let triangle = atomicLoad(&contact_status.triangle_radius);
    return inverse_coarse(contact_params.reach, contact_params.level_sizes, edge, triangle, params.zero);
}

fn raise(word: u32, bits: u32) {
    if bits > atomicLoad(&cells[word]) {
        atomicMax(&cells[word], bits);
    }
}

// Classes of the histogram of speeds, four per octave, from a thousandth of the thickness on. Counterparts:
// `ContactParams::speed_class` and `slow` in src/sim/contact_params.rs.
const SPEED_CLASSES = 64u;

fn first_class() -> u32 {
    return bitcast<u32>(contact_params.thickness * 0.0009765625) >> 21u;
}

fn record_speed(speed: f32) {
    let class_bits = bitcast<u32>(speed) >> 21u;
    let bin = min(class_bits - min(class_bits, first_class()), SPEED_CLASSES - 1u);
    atomicAdd(&cells[contact_params.speed_classes + bin], 1u);
    if bitcast<u32>(speed) > atomicLoad(&contact_status.fastest) {
        atomicMax(&contact_status.fastest, bitcast<u32>(speed));
    }
}

fn speed_of_particle(particle: u32) -> f32 {
    let own = tracked_of_rows(tracked[particle], contact_params.quantum);
    return speed_of(own, contact_status.drift, params.zero);
}

// Returns the largest predicted displacement per substep of the particles of an element.
fn speed_of_element(element: vec4u) -> f32 {
    return max(max(speed_of_particle(element.x), speed_of_particle(element.y)), speed_of_particle(element.z));
}

// Returns the largest travel of the particles of an element in this substep beyond half the margin.
fn excess_of(element: vec4u) -> f32 {
    var excess = 0.0;
    for (var k = 0u; k < 3u; k++) {
        let travel = length(opaque(displacements[element[k]].xyz - contact_status.drift, params.zero));
        excess = max(excess, travel - 0.5 * contact_params.margin);
    }
    return excess;
}

// The coarse cells that a box overlaps.
struct CoarseBox {
    low: vec3u,
    size: vec3u,
    count: u32,
}

fn coarse_box(least: vec3f, most: vec3f) -> CoarseBox {
    let low = cell_at(least, coarse_scale());
    let high = cell_at(most, coarse_scale());
    // A box larger than the grid would visit cells twice.
    let size = min(vec3u(high - low) + 1u, vec3u(contact_params.coarse));
    return CoarseBox(bitcast<vec3u>(low), size, size.x * size.y * size.z);
}

// Returns the first word of the k-th cell of the box.
fn coarse_in(box: CoarseBox, k: u32) -> u32 {
    let offset = vec3u(k % box.size.x, (k / box.size.x) % box.size.y, k / (box.size.x * box.size.y));
    return coarse(coarse_index(box.low + offset, contact_params.coarse));
}

// Writes an edge or triangle into the coarse grid. Elements of level 0 go into the cell of their center, and their excess
// into the cells that they may enter. Elements of higher levels go into all cells that they overlap.
fn record_element(element: vec4u, own: ElementState) {
    let excess = excess_of(element);
    let bits = bitcast<u32>(excess);
    let is_wide = own.level > 0u;
    var least = own.middle;
    var most = own.middle;
    if is_wide {
        least = min(min(own.places[0], own.places[1]), own.places[2]);
        most = max(max(own.places[0], own.places[1]), own.places[2]);
        if bits > atomicLoad(&contact_status.wide_excess) {
            atomicMax(&contact_status.wide_excess, bits);
        }
    } else {
        let here = coarse(coarse_at(own.middle, coarse_scale(), contact_params.coarse));
        raise(here + RADIUS + element.w, bitcast<u32>(sqrt(own.square)));
        if element.w == 2u {
            raise(here + SPEED, bitcast<u32>(speed_of_element(element)));
        }
    }
    let box = coarse_box(least - excess, most + excess);
    for (var k = 0u; k < select(0u, box.count, is_wide || excess > 0.0); k++) {
        let first = coarse_in(box, k);
        raise(first + select(EXCESS, WIDE_EXCESS, is_wide), bits);
        let present = select(0u, level_bit(own.level, element.w), is_wide);
        if (atomicLoad(&cells[first + PRESENT]) & present) != present {
            atomicOr(&cells[first + PRESENT], present);
        }
    }
}

// Combines the words of the coarse cell `i` with those around it. Thread 0 also writes the horizon.
fn end_motion(i: u32) {
    if i == 0u {
        set_horizon();
    }
    if i >= coarse_count() {
        return;
    }
    let size = contact_params.coarse;
    let here = vec3u(i % size, (i / size) % size, i / (size * size));
    var near: array<u32, NEAR>;
    for (var k = 0u; k < select(27u, 1u, ONLY_PARTICLES); k++) {
        // Adding size − 1 subtracts 1 modulo size.
        let cell = here + vec3u(k % 3u, (k / 3u) % 3u, k / 9u) + (size - 1u);
        let first = coarse(coarse_index(cell, size));
        for (var word = 0u; word < NEAR; word++) {
            let other = atomicLoad(&cells[first + word]);
            near[word] = select(max(near[word], other), near[word] | other, word == PRESENT);
        }
    }
    for (var word = 0u; word < NEAR; word++) {
        atomicStore(&cells[coarse(i) + NEAR + word], near[word]);
    }
}

// Computes the speed that 63 of 64 particles do not exceed, and the number of substeps for which the list holds: until
// slow particles may have approached each other by the margin. The limit for fast ones keeps their search distance
// short. Counterpart: `ContactParams::horizon` in src/sim/contact_params.rs.
fn set_horizon() {
    var highest = SPEED_CLASSES - 1u;
    var faster = atomicLoad(&cells[contact_params.speed_classes + highest]);
    while highest > 0u && faster <= contact_params.particle_end / 64u {
        highest -= 1u;
        faster += atomicLoad(&cells[contact_params.speed_classes + highest]);
    }
    let slow = bitcast<f32>((first_class() + highest + 1u) << 21u);
    let fastest = 6.0 * bitcast<f32>(atomicLoad(&contact_status.fastest));
    var far = 1000.0;
    if fastest > 0.0 {
        far = 0.666 / opaque1(coarse_scale() * fastest, params.zero);
    }
    contact_status.slow = slow;
    contact_status.horizon = u32(min(min(contact_params.margin / (2.0 * slow), far), 1000.0));
    contact_status.searched = contact_status.now;
}
