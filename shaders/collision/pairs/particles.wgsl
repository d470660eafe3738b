// Particles, where nothing else touches: those look for others that search/particles.wgsl has found to need it.

@group(0) @binding(7) var<storage, read> watched: array<array<vec4u, 2>>;
// From place `particle_count` on: those that look.
@group(0) @binding(8) var<storage, read> lists: array<u32>;
// Places of the list of pairs that are free, first come first served.
@group(0) @binding(9) var<storage, read> vacancies: array<u32>;

var<private> everyone_looks: bool;

fn all_look() -> bool {
    return everyone_looks;
}

// Which of those with such rough places look for others themselves.
fn look(rough: vec4u) -> vec4<bool> {
    return (rough & vec4u(LOOKS)) != vec4u();
}

// How near others come to a particle, in 64ths of a cell: how far it goes in a substep against the drift, and what a quantum of their ways is; for how
// many substeps it looks, and how near comes what it may meet; how far from where it is to be what may be near is, at most.
struct Nearness {
    displacement: vec3f,
    quantum: f32,
    horizon: f32,
    near: f32,
    far: f32,
}

fn nearness_of(query: Element, box: Box, along: vec3f, slack: f32) -> Nearness {
    let scale = 64.0 * box.scale;
    let displacement = (query.watched[0].displacement - contact_status.drift) * scale;
    let fastest = bitcast<f32>(atomicLoad(&contact_status.fastest));
    let quantum = way_quantum(fastest) * scale;
    let horizon = f32(query.horizon);
    // A way is off by half a quantum along each axis at most, √3/2 of one in all, and what is rounded by a thousandth.
    let told = (contact_params.thickness + contact_params.margin) * scale + slack + 0.87 * quantum * max(horizon, 1.0);
    let far = box.reach * scale + length(along) + slack;
    // Where nothing is known by ways, all that is within reach may be near.
    let near = select(far + length(displacement) * max(horizon, 1.0), told, are_ways_told(fastest));
    return Nearness(displacement, quantum, horizon, near, far);
}

// Which of four others that lie so from where a particle is to be may meet it by their rough ways: the rough twin of `may_meet`. What is fast may not
// stand where it is to be.
fn are_near(four: u32, x: vec4f, y: vec4f, z: vec4f, is_fast: vec4<bool>, own: Nearness) -> vec4<bool> {
    let rough = cells[(contact_params.ways_first + four) >> 2u];
    let dx = axis_of_way(rough) * own.quantum - own.displacement.x;
    let dy = axis_of_way(rough >> vec4u(10u)) * own.quantum - own.displacement.y;
    let dz = axis_of_way(rough >> vec4u(20u)) * own.quantum - own.displacement.z;
    // The way of one that does not move has no direction, and no length.
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
    // Against the others, who travelled with the drift.
    let start = opaque(own.place - opaque(own.displacement - drift, params.zero), params.zero);
    let segment = array(own.place, select(own.place, start, moves_fast));
    let middle = middle_of_way(own.place, own.displacement, drift, params.zero);
    // Where only some look, those near which things move so differently that nothing holds look twice as far instead of along their ways: see
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

// Whether a pair may come nearer than so much before one of them looks again. As both go on as they did when they last looked their way against each
// other is straight; it begins with the substep.
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

// The place in the list of what has been found as the n-th: what is vacant is filled first.
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
