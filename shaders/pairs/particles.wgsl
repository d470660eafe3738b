// Particles, where nothing else touches: those look for others that search/particles.wgsl has found to need it.

@group(0) @binding(7) var<storage, read> watched: array<Watched>;
// From place `particle_count` on: those that look.
@group(0) @binding(8) var<storage, read> lists: array<u32>;
// Places of the list of pairs that are free, first come first served.
@group(0) @binding(9) var<storage, read> vacancies: array<u32>;

fn all_look() -> bool {
    return is_for_all(atomicLoad(&contact_status.stale), atomicLoad(&contact_status.hurried), contact_status.overfull);
}

// Whether what is sorted looks for others itself.
fn looks(word: u32) -> bool {
    return (word & LOOKS) != 0u;
}

fn element(particle: u32) -> Element {
    let own = watched[particle];
    // Against the others, who travelled with the drift.
    let start = opaque(own.place - opaque(own.displacement - contact_status.drift, params.zero), params.zero);
    let moves_fast = own.horizon == 0u && all_look()
        && is_fast(own.displacement, contact_status.drift, contact_params.margin, params.zero);
    let segment = array(own.place, select(own.place, start, moves_fast));
    // Where only some look, those near which things move by more than the margin in the substep look twice as far instead of along their ways: see
    // watch.wgsl.
    let reach = contact_params.reach * select(1.0, 2.0, own.horizon == 0u && !all_look());
    let contact = contact_particles[particle];
    return Element(
        vec3u(particle),
        own.place,
        segment,
        moves_fast,
        own.horizon,
        0u,
        1u,
        reach,
        reach,
        0.0,
        array(own, own),
        array(contact, contact),
    );
}

fn radius_near(query: Element, level: u32) -> f32 {
    return 0.0;
}

fn other_at(place: u32) -> Other {
    let row = sorted[place];
    let particle = row.w & ~(FAST | LOOKS);
    return Other(bitcast<vec3f>(row.xyz), vec3u(particle), (row.w & FAST) != 0u, looks(row.w), 0u, vec3f());
}

// As both go on as they did when they last looked.
fn from_one_to_another(one: Watched, another: Watched) -> vec3f {
    let now = contact_status.now;
    return way_of(another, now, params.zero) - way_of(one, now, params.zero);
}

// They go on as they move.
fn pace_against(one: Watched, another: Watched) -> vec3f {
    return vec3f();
}

// How much nearer a pair may come: in this substep, and while the list holds.
fn way_of_pair(d: Four, paces: Four, horizon: u32) -> f32 {
    return max(f32(horizon), 1.0) * approach(KIND, d);
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
    let i = thread_index(id);
    if atomicLoad(&contact_status.stale) == HOLDS || i >= atomicLoad(&contact_status.renewed_count) {
        return;
    }
    look_around(element(lists[params.particle_count + i]));
}
