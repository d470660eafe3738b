// The figures of a step; `Params` in src/sim/controls.rs says what each one is.
struct Params {
    gravity_step: vec3f,
    h: f32,
    wind_velocity: vec3f,
    dt: f32,
    gust_wave: vec3f,
    gust: f32,
    gust_frequency: f32,
    drag: f32,
    lift: f32,
    velocity_factor: f32,
    particle_count: u32,
    pin_count: u32,
    target_count: u32,
    accelerated: u32,
    zero: u32,
    wind: u32,
    forces: u32,
    turbulence: f32,
    air_origin: vec3f,
    turbulence_scale: f32,
    body_damping: f32,
    field_count: u32,
    padding: vec2u,
    fields: array<Field, 8>,
}

// `FieldRow` in src/sim/controls.rs.
struct Field {
    position: vec3f,
    strength: f32,
    // 0 for a point
    axis: vec3f,
    scale: f32,
}

// The records of one pass; `SpanRow` in src/gpu/buffers.rs.
struct Span {
    first: u32,
    count: u32,
    // 1 where λ starts at 0 here.
    first_iteration: u32,
    // 0, which no compiler knows: see `opaque`.
    zero: u32,
}

// Written by the GPU alone; `Status` in src/gpu/buffers.rs.
struct Status {
    steps: u32,
    last_h: f32,
    non_finite_count: atomic<u32>,
    // The lowest index of a particle that was held, u32::MAX if none.
    first_non_finite: atomic<u32>,
    // Touches of a particle with more than two colliders in a step.
    lost_collider_contacts: atomic<u32>,
    padding: u32,
}

// What the roundings of x + d and of d + h² g lost, of which 18 and 8 bits are kept: a word an axis holds 8 of both, the last word the ten
// more of x, which is what slow motion far from the origin lives on.
struct Residual {
    position: vec3f,
    displacement: vec3f,
    // QUARANTINED where the particle was held at its last good place in this step, else 0.
    held: u32,
}

const QUARANTINED = 0x80000000u;

// Words are at least 0, which no compiler knows of `zero`: software drivers would otherwise put them together lane by lane, where they are stored.
fn packed(residual: Residual, zero: u32) -> vec4u {
    let position = bitcast<vec3u>(residual.position);
    let more = (position >> vec3u(6u)) & vec3u(0x3ffu);
    let words = (position & vec3u(0xffff0000u)) | (bitcast<vec3u>(residual.displacement) >> vec3u(16u));
    return max(vec4u(words, more.x | (more.y << 10u) | (more.z << 20u) | residual.held), vec4u(zero));
}

fn unpacked(words: vec4u) -> Residual {
    let more = (vec3u(words.w) >> vec3u(0u, 10u, 20u)) & vec3u(0x3ffu);
    let position = (words.xyz & vec3u(0xffff0000u)) | (more << vec3u(6u));
    return Residual(bitcast<vec3f>(position), bitcast<vec3f>(words.xyz << vec3u(16u)), words.w & QUARANTINED);
}

// A pin as tethers see it: where it began the substep, and its displacement since. `AnchorRow` in src/gpu/buffers.rs.
struct Anchor {
    position: vec3f,
    particle: u32,
    displacement: vec3f,
    padding: u32,
}

// How many pins stand in a uniform buffer, if there are no more: reading them there is cheaper than wherever each thread wishes.
const MOST_ANCHORS = 8u;

override WORKGROUP_SIZE: u32 = 128;

// The same number, of which a compiler thinks that it may differ from thread to thread (an index is less than 2³¹). Where numbers of uniform
// buffers alone decide a branch or end a loop, Mesa's software driver compiles the pass for these numbers, anew at every dispatch (some
// milliseconds), and never frees it.
fn by_thread(value: u32, index: u32) -> u32 {
    return value + (index >> 31u);
}

// The same driver loads a number of a uniform buffer once for all threads where nothing has branched yet, and after that for one thread after
// another. So the dearest passes take all that they read of uniform buffers first thing, into private variables.

// The workgroups of a dispatch for so many threads, in rows of 65 535.
fn workgroups(threads: u32, size: u32) -> vec2u {
    let groups = (threads + size - 1u) / size;
    return vec2u(min(groups, 65535u), (groups + 65534u) / 65535u);
}

// Dispatches of more than 65 535 workgroups are laid out in rows of that many.
fn thread_index(id: vec3u) -> u32 {
    return id.x + id.y * 65535u * WORKGROUP_SIZE;
}
