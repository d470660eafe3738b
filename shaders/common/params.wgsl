// Per-step parameters; units are documented at `Params` in src/sim/params.rs.
struct Params {
    gravity_step: vec3f,
    h: f32,
    wind_velocity: vec3f,
    dt: f32,
    gust_wave: vec3f,
    gust: f32,
    noise_rate: f32,
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
    orientation_count: u32,
    substeps: u32,
    air_step: vec4u,
    fields: array<Field, 8>,
}

// Counterpart: `FieldRow` in src/sim/params.rs.
struct Field {
    position: vec3f,
    strength: f32,
    // 0 for a point field
    axis: vec3f,
    scale: f32,
}

// Records of one pass; counterpart: `SpanRow` in src/gpu/buffers.rs.
struct Span {
    first: u32,
    count: u32,
    // 1 if λ starts at 0 in this iteration
    first_iteration: u32,
    // 0 at run time: see `opaque`
    zero: u32,
}

// State that only the GPU writes; counterpart: `Status` in src/gpu/buffers.rs.
struct Status {
    // Motion of the turbulence and of the gusts since the start, in 2⁻³² of their periods.
    air: vec4u,
    steps: u32,
    last_h: f32,
    non_finite_count: atomic<u32>,
    // lowest index of a quarantined particle, u32::MAX if none
    first_non_finite: atomic<u32>,
    // contacts of a particle with more than two colliders in a step
    lost_collider_contacts: atomic<u32>,
    padding: array<u32, 3>,
}

// Rounding errors of x + d and of d + h² g, kept to 18 and 8 bits. Each of three words holds 8 bits of both errors
// for one axis. The last word holds ten more bits of each component of the position error, which slow motion far from
// the origin needs.
struct Residual {
    position: vec3f,
    displacement: vec3f,
    // QUARANTINED if the particle was reset to its last finite position in this step, else 0
    held: u32,
}

const QUARANTINED = 0x80000000u;

// The maximum with the run-time 0 changes nothing; it keeps software drivers from assembling the words one by one.
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

// A pin as tethers read it: position at the start of the substep, and displacement since. Counterpart: `AnchorRow` in
// src/gpu/buffers.rs.
struct Anchor {
    position: vec3f,
    particle: u32,
    displacement: vec3f,
    padding: u32,
}

// Up to this many pins are stored in a uniform buffer, which is cheaper to read than scattered storage.
const MOST_ANCHORS = 8u;

override WORKGROUP_SIZE: u32 = 128;

// Returns the same value, which the compiler must treat as different per thread (an index is below 2³¹). Mesa's
// software driver recompiles a pass for each value of a uniform that alone decides a branch or ends a loop.
fn by_thread(value: u32, index: u32) -> u32 {
    return value + (index >> 31u);
}

// Mesa's software driver loads a uniform once for all threads before the first branch, and once per thread after it.
// Expensive passes therefore copy their uniforms into private variables first.

// Returns the size of a dispatch in workgroups, in rows of 65 535.
fn workgroups(threads: u32, size: u32) -> vec2u {
    let groups = (threads + size - 1u) / size;
    return vec2u(min(groups, 65535u), (groups + 65534u) / 65535u);
}

// Dispatches of more than 65 535 workgroups are laid out in rows of 65 535.
fn thread_index(id: vec3u) -> u32 {
    return id.x + id.y * 65535u * WORKGROUP_SIZE;
}
