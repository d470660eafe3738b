// Writes the elements into hashed grids, if the pair list is not valid. Surfaces: it also runs at the end of each step
// (AT_END), to find intersections.
//
// - search_clear_cells: one thread per particle or entry of the table. Empties the entries; writes the tracked
//   particles, the drift and the horizon.
// - search_insert_elements: one thread per element. Writes its volume, and adds it to the list of its entry. The order
//   within a list is arbitrary; later passes do not depend on it.
//
// Contacts stop most of the motion of a substep, so the displacement is a poor prediction. The predicted displacement
// per substep is the mean motion of the predicted position since the last search.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
// three particles, type
@group(0) @binding(4) var<storage, read> elements: array<vec4u>;
// By entry of the table, 1 + the index of the first element of its list, or 0.
@group(0) @binding(5) var<storage, read_write> cells: array<atomic<u32>>;
// Two rows per element: the center of its volume (bits) and its link, see shaders/common/search.wgsl; its path and the
// radius of its volume (bits), see search/volume.wgsl.
@group(0) @binding(6) var<storage, read_write> volumes: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> tracked: array<array<vec4u, 2>>;
@group(0) @binding(8) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(9) var<storage, read_write> contact_status: ContactStatus;

// True for the grids at the end of a step, of the positions at that time.
override AT_END: bool = false;

// Maximum number of particles whose mean displacement is the drift.
const SAMPLES = 64u;
var<workgroup> samples: array<vec3f, SAMPLES>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_clear_cells(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < contact_params.table_size {
        atomicStore(&cells[i], 0u);
    }
    if i < 3u * LEVELS {
        atomicStore(&contact_status.radii[i], 0u);
    }
    if AT_END {
        return;
    }
    if i < params.particle_count {
        track(i);
    }
    // Neither followers nor particles in reserve.
    let count = min(contact_params.particle_end, SAMPLES);
    if i < count {
        // Particles with non-finite displacements are quarantined later and are excluded.
        let d = displacements[elements[i * (contact_params.particle_end / count)].x].xyz;
        samples[i] = select(vec3f(), d, is_finite(d));
    }
    workgroupBarrier();
    if i == 0u {
        begin_search(count);
    }
}

// The largest horizon, and the largest predicted travel of a particle within it, in margins. Counterparts:
// src/sim/contact_params.rs.
const MOST_SUBSTEPS = 100u;
const MOST_TRAVEL = 0.5;

// Returns the number of substeps for which the new list holds: half as many again as the last one was valid. So it
// adapts to the motion: the fastest particles end a list whose horizon is too long. Counterpart: `begin_search` in
// src/reference/search.rs.
fn new_horizon() -> u32 {
    let is_reset = atomicLoad(&contact_status.stale) == RESET;
    let since = select(min(contact_status.now - contact_status.searched, MOST_SUBSTEPS), 0u, is_reset);
    return min(since + since / 2u + 1u, MOST_SUBSTEPS);
}

// Writes the tracked particle. Its predicted displacement relative to the drift of the last search is limited, so that a
// search does not reach far. A particle that is faster ends the list earlier.
fn track(i: u32) {
    let d = displacements[i].xyz;
    let place = opaque(positions[i].xyz + d, params.zero);
    var predicted = d;
    if atomicLoad(&contact_status.stale) != RESET {
        let since = f32(contact_status.now - contact_status.searched);
        predicted = opaque(place - bitcast<vec3f>(tracked[i][0].xyz), params.zero) / since;
    }
    let own = opaque(predicted - contact_status.drift, params.zero);
    let fastest = opaque1(MOST_TRAVEL * contact_params.margin, params.zero) / f32(new_horizon());
    let share = opaque1(min(fastest / max(length(own), 1e-30), 1.0), params.zero);
    let limited = opaque(contact_status.drift + opaque(own * share, params.zero), params.zero);
    tracked[i] = rows_of_tracked(TrackedParticle(place, d, limited), contact_params.inverse_quantum);
}

// Starts a search; called by one thread. Other threads read the horizon and the drift of the last search.
fn begin_search(count: u32) {
    var sum = vec3f();
    for (var k = 0u; k < count; k++) {
        sum += samples[k];
    }
    contact_status.new_drift = select(sum / f32(max(count, 1u)), vec3f(), contact_params.anchored == 1u);
    contact_status.new_horizon = new_horizon();
    atomicStore(&contact_status.found_count, 0u);
    if atomicLoad(&contact_status.stale) == INCOMPLETE {
        atomicStore(&contact_status.stale, EXPIRED);
    }
    contact_status.searches += 1u;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_insert_elements(@builtin(global_invocation_id) id: vec3u) {
    let index = thread_index(id);
    if index >= contact_params.element_end {
        return;
    }
    let element = elements[index];
    let own = volume_of(element);
    let middle = center(own.places, element.w);
    var size = 0.0;
    for (var k = 0u; k < 3u; k++) {
        size = max(size, length(own.places[k] - middle));
    }
    // The tolerance covers rounding, far from the origin too.
    let reach = (1.001 * size + own.reach) + 1e-6 * length(middle);
    let radius = reach + length(own.path);
    let level = level_of(radius, contact_params.inverse_level_radius);
    var next = 0u;
    // Elements that are not finite meet no other.
    if radius <= 3e38 {
        raise_radius(LEVELS * element.w + level, bitcast<u32>(radius));
        let cell = cell_at(middle, level, contact_params.inverse_level_radius);
        let entry = hash_cell(cell, level, element.w, contact_params.table_size);
        next = atomicExchange(&cells[entry], index + 1u);
    }
    volumes[2u * index] = vec4u(bitcast<vec3u>(middle), next | (level << LEVEL_SHIFT));
    volumes[2u * index + 1u] = bitcast<vec4u>(vec4f(own.path, reach));
}

fn volume_of(element: vec4u) -> SearchVolume {
    if !AT_END {
        return search_volume(element, tracked_element(element));
    }
    var own: SearchVolume;
    for (var k = 0u; k < 3u; k++) {
        own.places[k] = positions[element[k]].xyz;
    }
    return own;
}

// Reads first, because most elements do not raise the radius.
fn raise_radius(place: u32, bits: u32) {
    if bits > atomicLoad(&contact_status.radii[place]) {
        atomicMax(&contact_status.radii[place], bits);
    }
}
