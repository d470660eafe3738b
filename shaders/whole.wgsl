// Plays all substeps of a step, but for what begins the first and ends the last: one workgroup a batch of bodies, which shares no particle
// with the others. It keeps the displacements in its own memory; positions and residuals are written by the thread that owns the
// particle, and read by the others of the workgroup after a barrier. See src/whole.rs. Or it sweeps over the constraints once.
// `sweep`, which solves the constraints of all kinds round by round, is written by src/gpu/whole.rs.

// What a dispatch plays.
struct Schedule {
    substeps: u32,
    // The number of the first iteration in its substep, and how many there are.
    first_iteration: u32,
    iterations: u32,
    // 1 where tethers hold.
    tethers: u32,
}

@group(0) @binding(0) var<uniform> schedule: Schedule;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> residuals: array<vec4u>;
// How many batches there are; where the local places of all particles stand, where the tethers; for each batch a head of HEAD words: where
// its particles stand, each with its first tether · 16 + how many it has, how many there are, and four words for each kind; then all that
// these point to. A tether is two words: anchor, length as bits.
@group(0) @binding(5) var<storage, read> batches: array<u32>;
// Of all kinds: those of a constraint are found by its place.
@group(0) @binding(6) var<storage, read> records: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> lambdas: array<f32>;
@group(0) @binding(8) var<storage, read> materials: array<ScaledMaterial>;

override KEEP_LAMBDA: bool = false;

// d of each particle of the batch.
var<workgroup> moves: array<vec3f, MOST_PARTICLES>;

// As the projections of single kinds see it.
var<private> span: Span;

fn place_in_batch(particle: u32) -> vec4f {
    return positions[particle];
}

// The local place of particle k of a constraint: two to a word.
fn local_of(particle: u32, locals: u32, k: u32) -> u32 {
    return (batches[locals + k / 2u] >> (16u * (k % 2u))) & 0xffffu;
}

// The workgroup has no other batch.
fn first_move() -> u32 {
    return 0u;
}

fn lane_count() -> u32 {
    return WORKGROUP_SIZE;
}

fn load_moved(k: u32, i: u32) -> Motion {
    return moved(Motion(positions[i], moves[k], unpacked(residuals[i])), params.velocity_factor, params.zero);
}

fn store(k: u32, i: u32, motion: Motion) {
    positions[i] = motion.position;
    moves[k] = motion.displacement;
    residuals[i] = packed(motion.residual, params.zero);
}

// Velocity and Predict of a free particle, and its tethers: the pins are still where the substep began, and will be there and their
// displacement.
fn advance_free(k: u32, i: u32, run: u32) {
    var motion = predicted(load_moved(k, i), params.gravity_step, params.zero);
    if by_thread(schedule.tethers, i) == 1u {
        for (var t = 0u; t < (run & 15u); t++) {
            let tether = batches[2] + 2u * ((run >> 4u) + t);
            let pin = batches[tether];
            let anchor = Anchor(positions[pin].xyz, pin, moves[batches[batches[1] + pin]], 0u);
            motion.displacement = pulled_by(anchor, bitcast<f32>(batches[tether + 1u]), motion, true);
        }
    }
    store(k, i, motion);
}

// The end of a substep and the start of the next, as the passes AdvanceFree and AdvancePinned play it.
fn advance(particles_at: u32, particle_count: u32, lane: u32) {
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        let i = batches[particles_at + 2u * k];
        if positions[i].w != 0.0 {
            advance_free(k, i, batches[particles_at + 2u * k + 1u]);
        }
    }
    storageBarrier();
    workgroupBarrier();
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        let i = batches[particles_at + 2u * k];
        if positions[i].w == 0.0 {
            store(k, i, predicted(load_moved(k, i), params.gravity_step, params.zero));
        }
    }
    storageBarrier();
    workgroupBarrier();
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn whole(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let index = group.x + group.y * 65535u;
    if index >= batches[0] {
        return;
    }
    let head = 3u + HEAD * index;
    let particles_at = batches[head];
    let particle_count = batches[head + 1u];
    span.zero = params.zero;
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        moves[k] = displacements[batches[particles_at + 2u * k]].xyz;
    }
    workgroupBarrier();
    for (var substep = 0u; substep < by_thread(schedule.substeps, group.x); substep++) {
        if substep > 0u {
            advance(particles_at, particle_count, lane);
        }
        for (var iteration = 0u; iteration < by_thread(schedule.iterations, group.x); iteration++) {
            span.first_iteration = u32(schedule.first_iteration + iteration == 0u);
            sweep(head + 2u, lane);
        }
    }
    for (var k = lane; k < particle_count; k += WORKGROUP_SIZE) {
        displacements[batches[particles_at + 2u * k]] = vec4f(moves[k], 0.0);
    }
}
