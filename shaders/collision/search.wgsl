// Writes the elements into hashed grids, if the pair list is not valid. Surfaces: it also runs at the end of each step
// (AT_END), to find intersections.
//
// - search_clear_cells: one thread per particle or entry of the table. Empties the entries; writes the tracked
//   particles, the drift and the horizon. Each workgroup of particles computes the drift.
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
// So that sums of masses times displacements stay finite [kg].
const MOST_MASS = 1e20;
// Displacement and mass, at most MOST_MASS.
var<workgroup> samples: array<vec4f, SAMPLES>;
var<workgroup> motion: vec4f;

@compute @workgroup_size(WORKGROUP_SIZE)
fn search_clear_cells(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) workgroup: vec3u,
    @builtin(local_invocation_index) local: u32) {
    let i = thread_index(id);
    if i < contact_params.table_size {
        atomicStore(&cells[i], 0u);
    }
    if i < 3u * LEVELS {
        atomicStore(&contact_status.radii[i], 0u);
    }
    if AT_END || thread_index(workgroup * vec3u(WORKGROUP_SIZE, 1u, 1u)) >= params.particle_count {
        return;
    }
    // Neither followers nor particles in reserve.
    let count = by_thread(min(contact_params.particle_end, SAMPLES), local);
    if local < count {
        // Particles with non-finite displacements are quarantined later and are excluded.
        let particle = elements[local * (contact_params.particle_end / count)].x;
        let d = displacements[particle].xyz;
        let w = positions[particle].w;
        samples[local] = vec4f(select(vec3f(), d, is_finite(d)), select(0.0, min(1.0 / w, MOST_MASS), w > 0.0));
    }
    workgroupBarrier();
    if local == 0u {
        motion = mean_motion(count);
    }
    workgroupBarrier();
    let drift = motion.xyz;
    if i < params.particle_count {
        track(i, drift, FAST * motion.w);
    }
    if i == 0u {
        begin_search(drift, count);
    }
}

// Returns the drift and the spread of the samples: their mean, and the root of the mean square of the differences from it. A
// single sample that differs by more than OUTLIER times the spread is left out: it may be a fast particle. With pins or
// colliders a slow drift counts as 0, because the particles that they hold do not move with it. Counterpart:
// `mean_motion` in src/reference/search.rs.
fn mean_motion(count: u32) -> vec4f {
    var limit = 3e38;
    var mean = vec3f();
    var mean_square = 0.0;
    for (var round = 0u; round < 2u; round++) {
        var sum = vec3f();
        var used = 0.0;
        for (var k = 0u; k < count; k++) {
            if opaque_square(samples[k].xyz - mean, params.zero) <= limit {
                sum += samples[k].xyz;
                used += 1.0;
            }
        }
        let center = mean;
        mean = opaque(sum / max(used, 1.0), params.zero);
        var squares = 0.0;
        for (var k = 0u; k < count; k++) {
            if opaque_square(samples[k].xyz - center, params.zero) <= limit {
                squares += opaque_square(samples[k].xyz - mean, params.zero);
            }
        }
        mean_square = opaque1(squares / max(used, 1.0), params.zero);
        limit = OUTLIER * OUTLIER * mean_square;
    }
    let slow = LEAST_DRIFT * contact_params.margin;
    let is_slow = contact_params.holds_particles == 1u && opaque_square(mean, params.zero) < slow * slow;
    return vec4f(select(mean, vec3f(), is_slow), sqrt(mean_square));
}

// Returns the displacement of the center of mass of the samples. Counterpart: `motion_of_center` in src/reference/search.rs.
fn motion_of_center(count: u32) -> vec3f {
    var sum = vec3f();
    var mass = 0.0;
    for (var k = 0u; k < count; k++) {
        sum += opaque(samples[k].xyz * samples[k].w, params.zero);
        mass += samples[k].w;
    }
    return opaque(sum / max(mass, 1e-30), params.zero);
}

// One outlier among 64 samples differs by up to √63 = 7.9 spreads, two differ by at most √31 = 5.6.
const OUTLIER = 7.0;
// In margins per substep.
const LEAST_DRIFT = 0.1;

// The largest horizon, and the largest predicted travel of a particle within it, in margins, so that a search does not
// reach far. A faster particle ends the list earlier. A particle is fast, and may travel up to MOST_TRAVEL_IF_FAST, if it
// moves by more than FAST times the spread relative to the drift: these are few. Counterparts: src/sim/contact_params.rs.
const MOST_SUBSTEPS = 100u;
const MOST_TRAVEL = 0.5;
const MOST_TRAVEL_IF_FAST = 64.0;
const FAST = 16.0;

// Returns the number of substeps after this one for which the new list holds: half as many again as the last one was
// valid. So it adapts to the motion. Counterpart: `begin_search` in src/reference/search.rs.
fn new_horizon() -> u32 {
    let is_reset = atomicLoad(&contact_status.stale) == RESET;
    let since = select(min(contact_status.now - contact_status.searched, MOST_SUBSTEPS), 0u, is_reset);
    return min(since + since / 2u + 1u, MOST_SUBSTEPS);
}

// Writes the tracked particle. `fast` is the least displacement of a fast particle relative to the drift.
fn track(i: u32, drift: vec3f, fast: f32) {
    let d = displacements[i].xyz;
    let place = opaque(positions[i].xyz + d, params.zero);
    var predicted = d;
    if atomicLoad(&contact_status.stale) != RESET {
        let since = f32(contact_status.now - contact_status.searched);
        predicted = opaque(place - bitcast<vec3f>(tracked[i][0].xyz), params.zero) / since;
    }
    let own = opaque(predicted - drift, params.zero);
    let speed = max(length(own), 1e-30);
    let travel = select(MOST_TRAVEL, MOST_TRAVEL_IF_FAST, speed > fast);
    let fastest = travel * opaque1(contact_params.margin / f32(new_horizon()), params.zero);
    let limited = opaque(own * opaque1(min(fastest / speed, 1.0), params.zero), params.zero);
    tracked[i] = rows_of_tracked(TrackedParticle(place, d, limited));
}

// Starts a search; called by one thread.
fn begin_search(drift: vec3f, count: u32) {
    contact_status.drift = drift;
    contact_status.truncation_frame = vec3f();
    if contact_params.holds_particles == 0u {
        contact_status.truncation_frame = motion_of_center(count);
    }
    contact_status.horizon = new_horizon();
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
