// Pairs at the particle level: only the particles that search/particles.wgsl has listed search.

@group(0) @binding(7) var<storage, read> watched: array<array<vec4u, 2>>;
// From `particle_count` on: the particles that search.
@group(0) @binding(8) var<storage, read> lists: array<u32>;
// Vacated entries of the pair list, taken in order.
@group(0) @binding(9) var<storage, read> vacancies: array<u32>;

var<private> everyone_looks: bool;

fn all_look() -> bool {
    return everyone_looks;
}

// Returns which of four quantised elements search themselves.
fn look(rough: vec4u) -> vec4<bool> {
    return (rough & vec4u(LOOKS)) != vec4u();
}

// Parameters of `are_near`; lengths in 1/64 of a cell.
struct Nearness {
    // per substep, relative to the drift
    displacement: vec3f,
    // unit of quantised displacements
    quantum: f32,
    // in substeps
    horizon: f32,
    // distance that counts as near
    near: f32,
    // largest distance from the predicted position
    far: f32,
}

fn nearness_of(query: Element, box: Box, along: vec3f, slack: f32) -> Nearness {
    let scale = 64.0 * box.scale;
    let displacement = (query.watched[0].displacement - contact_status.drift) * scale;
    let fastest = bitcast<f32>(atomicLoad(&contact_status.fastest));
    let quantum = way_quantum(fastest) * scale;
    let horizon = f32(query.horizon);
    // A quantised displacement has an error of at most half a quantum per axis, √3/2 quanta in total; 0.87 includes
    // rounding.
    let told = (contact_params.thickness + contact_params.margin) * scale + slack + 0.87 * quantum * max(horizon, 1.0);
    let far = box.reach * scale + length(along) + slack;
    // Without quantised displacements all elements within reach may be near.
    let near = select(far + length(displacement) * max(horizon, 1.0), told, are_ways_told(fastest));
    return Nearness(displacement, quantum, horizon, near, far);
}

// Returns which of four elements, at an offset from the predicted position of a particle, may meet it: `may_meet`
// with quantised displacements. Fast elements always pass, because they may be sorted elsewhere.
fn are_near(four: u32, x: vec4f, y: vec4f, z: vec4f, is_fast: vec4<bool>, own: Nearness) -> vec4<bool> {
    let rough = cells[(contact_params.ways_first + four) >> 2u];
    let dx = axis_of_way(rough) * own.quantum - own.displacement.x;
    let dy = axis_of_way(rough >> vec4u(10u)) * own.quantum - own.displacement.y;
    let dz = axis_of_way(rough >> vec4u(20u)) * own.quantum - own.displacement.z;
    // Avoids a division by 0 for equal displacements.
    let square = max(dx * dx + dy * dy + dz * dz, vec4f(1e-20));
    let when = clamp(-(x * dx + y * dy + z * dz) / square, vec4f(-1.0), vec4f(own.horizon));
    let ax = x + when * dx;
    let ay = y + when * dy;
    let az = z + when * dz;
    let may_meet = ax * ax + ay * ay + az * az < vec4f(own.near * own.near);
    return (may_meet | is_fast) & (x * x + y * y + z * z < vec4f(own.far * own.far));
}

fn element(particle: u32) -> Element {
    let own = watched_of_rows(watched[particle]);
    let horizon = horizon_of(own);
    let level = level_of_row(own.horizon);
    let drift = contact_status.drift;
    let moves_fast = horizon == 0u && everyone_looks && is_fast(own.displacement, drift, contact_params.margin, params.zero);
    // Relative to the other particles, which move with the drift.
    let start = opaque(own.place - opaque(own.displacement - drift, params.zero), params.zero);
    let segment = array(own.place, select(own.place, start, moves_fast));
    let middle = middle_of_way(own.place, own.displacement, drift, params.zero);
    // In a partial search a particle without horizon searches twice the reach instead of its path; see
    // validate_pairs.wgsl.
    let reach = contact_params.reach * select(reach_of(own), 2.0, horizon == 0u && !everyone_looks);
    let contact = contact_particles[particle];
    return Element(
        vec3u(particle),
        select(own.place, middle, level > 0u),
        segment,
        moves_fast,
        horizon,
        level,
        levels_of_particle(level),
        reach,
        reach,
        0.0,
        array(own, own),
        array(contact, contact),
    );
}

fn radius_near(query: Element, level: u32) -> f32 {
    return way_radius(level, contact_params.level_sizes.x);
}

fn other_at(place: u32) -> Other {
    let row = sorted[place];
    let marked = (row.w & ROW_MARK) != 0u;
    let moves_fast = marked && everyone_looks;
    let looks = marked || everyone_looks;
    return Other(bitcast<vec3f>(row.xyz), vec3u(sorted_particle(row.w)), moves_fast, looks, level_of_row(row.w), vec3f());
}

// Returns true if a pair may come nearer than `reach` before one of them searches again. Both repeat their
// displacements, so the relative path is straight. It starts with the substep.
fn may_meet(query: Element, particles: vec4u, reach: f32) -> bool {
    let now = contact_status.now;
    let zero = params.zero;
    let one = query.watched[0];
    let another = watched_of_rows(watched[particles.y]);
    let apart = opaque(way_of(another, now, zero) - way_of(one, now, zero), zero);
    let d = opaque(another.displacement - one.displacement, zero);
    let end = opaque(apart + opaque(d * f32(query.horizon), zero), zero);
    return length(opaque(from_segment(array(end, opaque(apart - d, zero)), vec3f(), zero), zero)) < reach;
}

// Returns the entry of the n-th pair found: vacated entries first.
fn free_place(n: u32) -> u32 {
    let vacant = atomicLoad(&contact_status.vacancy_count);
    if n < vacant {
        return vacancies[n];
    }
    return contact_status.pair_count + (n - vacant);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn pairs_list(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    let i = thread_index(id);
    if i >= atomicLoad(&contact_status.renewed_count) {
        return;
    }
    everyone_looks = is_for_all(atomicLoad(&contact_status.stale), atomicLoad(&contact_status.hurried), contact_status.overfull);
    look_around(element(lists[params.particle_count + i]));
}
