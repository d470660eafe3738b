// A whole substep, core by core: one workgroup a core, with the halo of particles that it depends on (src/halos/mod.rs). It ends the substep before
// as velocity_tether does (shaders/velocity.wgsl), or goes on where Tether has left off, then solves the constraints colour by colour, and stores
// its core. It loads from other buffers than it stores to, as others still load what it has solved. Pins are where the substep before began, so
// whoever is tethered to them adds their displacement.
// `sweep`, which solves the constraints of all kinds round by round, is written by src/gpu/halos.rs.

// What a dispatch does first.
struct Schedule {
    // 1 where it ends the substep before.
    advances: u32,
    // 1 where tethers hold.
    tethers: u32,
    padding: vec2u,
}

@group(0) @binding(0) var<uniform> schedule: Schedule;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> old_positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> old_displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> old_residuals: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> new_positions: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> new_displacements: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> new_residuals: array<vec4u>;
// See `Halos::words` in src/halos/mod.rs.
@group(0) @binding(8) var<storage, read> batches: array<u32>;
@group(0) @binding(9) var<storage, read> records: array<vec4u>;
@group(0) @binding(10) var<storage, read> materials: array<ScaledMaterial>;
// As shaders/velocity.wgsl has them.
@group(0) @binding(11) var<storage, read> tether_runs: array<u32>;
@group(0) @binding(12) var<storage, read> tethers: array<vec4u>;

override TETHER_ROWS: u32 = 0u;

// In the place of the local particles of a constraint where a lane has none in a round.
const NONE = 0xffffffffu;

// x and d of a particle, in pieces of eight bytes, which leave no gap between one and the next.
struct Place {
    x_y: vec2f,
    z_dx: vec2f,
    dy_dz: vec2f,
}

var<workgroup> places: array<Place, MOST_PARTICLES>;
// A bit for each place: whether it is pinned. Inverse masses stand in records, as those of particles that are not.
var<workgroup> pins: array<atomic<u32>, MOST_PARTICLES / PIN_BITS>;
var<workgroup> any_pins: atomic<u32>;

// As the projections of single kinds see them: no multiplier is kept.
const KEEP_LAMBDA = false;
var<private> span: Span;
var<private> lambdas: array<f32, 1>;

// What is loaded of a particle before anything is done to any, as memory is slow.
struct Loaded {
    i: u32,
    run: u32,
    // The first of its tethers.
    two: vec4u,
    motion: Motion,
}

fn loaded(i: u32) -> Loaded {
    let run = tether_runs[i];
    let motion = Motion(old_positions[i], old_displacements[i].xyz, unpacked(old_residuals[i]));
    return Loaded(i, run, tethers[run >> 5u], motion);
}

// Velocity, Predict and Tether of a particle.
fn advanced(particle: Loaded) -> Motion {
    var next = predicted(moved(particle.motion, params.velocity_factor, params.zero), params.gravity_step, params.zero);
    if next.position.w == 0.0 || by_thread(schedule.tethers, particle.i) == 0u {
        return next;
    }
    for (var k = 0u; k < TETHER_ROWS; k++) {
        var two = particle.two;
        if k > 0u {
            two = tethers[(particle.run >> 5u) + k];
        }
        next.displacement = pulled_by(anchor_at(two.x), bitcast<f32>(two.y), next, 2u * k < (particle.run & 15u));
        next.displacement = pulled_by(anchor_at(two.z), bitcast<f32>(two.w), next, 2u * k + 1u < (particle.run & 15u));
    }
    return next;
}

fn anchor_at(particle: u32) -> Anchor {
    return Anchor(old_positions[particle].xyz, particle, old_displacements[particle].xyz, 0u);
}

// Where the particle of a local place lies: `slot_of` in src/halos/mod.rs. Entries name slots.
fn slot_of(local: u32) -> u32 {
    return local ^ ((local / BANKS) % BANKS);
}

fn position_at(slot: u32) -> vec3f {
    return vec3f(places[slot].x_y, places[slot].z_dx.x);
}

fn displacement_at(slot: u32) -> vec3f {
    return vec3f(places[slot].z_dx.y, places[slot].dy_dz);
}

fn displace(slot: u32, displacement: vec3f) {
    places[slot].z_dx.y = displacement.x;
    places[slot].dy_dz = displacement.yz;
}

fn is_pinned(slot: u32) -> bool {
    return ((atomicLoad(&pins[slot / PIN_BITS]) >> (slot % PIN_BITS)) & 1u) == 1u;
}

// Puts a particle into its local place, where the substep before has ended.
fn place(local: u32, particle: Loaded, is_core: bool) {
    var motion = particle.motion;
    if by_thread(schedule.advances, particle.i) == 1u {
        motion = advanced(particle);
    }
    let x = motion.position;
    let d = motion.displacement;
    let slot = slot_of(local);
    places[slot] = Place(x.xy, vec2f(x.z, d.x), d.yz);
    if x.w == 0.0 {
        atomicOr(&pins[slot / PIN_BITS], 1u << (slot % PIN_BITS));
        atomicStore(&any_pins, 1u);
    }
    if is_core {
        new_positions[particle.i] = x;
        new_residuals[particle.i] = packed(motion.residual, params.zero);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn halos(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let index = group.x + group.y * 65535u;
    if index >= batches[0] {
        return;
    }
    let head = 1u + HEAD * index;
    let particles_at = batches[head];
    let particle_count = batches[head + 1u];
    let core_count = batches[head + 2u];
    span.zero = params.zero;
    if lane == 0u {
        atomicStore(&any_pins, 0u);
    }
    for (var k = lane; k < MOST_PARTICLES / PIN_BITS; k += WORKGROUP_SIZE) {
        atomicStore(&pins[k], 0u);
    }
    workgroupBarrier();
    // Two at a time, of which one waits for memory while the other does.
    for (var k = lane; k < particle_count; k += 2u * WORKGROUP_SIZE) {
        let other = k + WORKGROUP_SIZE;
        let first = loaded(batches[particles_at + k]);
        let second = loaded(batches[particles_at + min(other, particle_count - 1u)]);
        place(k, first, k < core_count);
        if other < particle_count {
            place(other, second, other < core_count);
        }
    }
    workgroupBarrier();
    sweep(head + 3u, lane);
    for (var k = lane; k < core_count; k += WORKGROUP_SIZE) {
        new_displacements[batches[particles_at + k]] = vec4f(displacement_at(slot_of(k)), 0.0);
    }
}
