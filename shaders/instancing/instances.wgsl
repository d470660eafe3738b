// Runs a whole step of every instance of an asset, with the loop over the substeps in the shader.
//
// THREADS threads per instance; a workgroup holds INSTANCES instances. Instances share no particles. A particle is
// written only by its own thread and read by other threads after a barrier.
// The substep has the order of a plan with accelerations (src/schedule/plan.rs): Start or Velocity, Accelerations,
// Predict, SolveTethers, constraints; Finish at the end. Without accelerations threads read only pins of other
// threads, so pins are moved first and the rest in one loop.
// Reads the asset, the rows of the instances and the materials. Writes positions, velocities, motions, λ and the
// status.
// The asset is stored once (src/instancing/asset.rs). An instance has particle states, multipliers, and a row with
// its placement, scale, wind, tethers and targets. shaders/instancing/parts/ holds the storage of positions.
// src/gpu/sweep.rs generates `sweep`, which solves all constraints; src/gpu/instance_pool.rs generates the constants.

@group(0) @binding(0) var<uniform> pool: PoolParams;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<uniform> materials: array<ScaledMaterial, MATERIALS>;
// The particles of slot s start at s · ASSET_PARTICLES.
@group(0) @binding(3) var<storage, read_write> positions: array<vec4f>;
// w is 1 if the user has set the velocity. During a step the buffer holds accelerations.
@group(0) @binding(4) var<storage, read_write> velocities: array<vec4f>;
// Two rows per particle: displacement, residual. Then two rows per slot: the placement that its particles have, as in
// the row of the instance; a negative scale marks new particles.
@group(0) @binding(5) var<storage, read_write> motions: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> status: Status;
// Slots of the instances.
@group(0) @binding(7) var<storage, read> live: array<u32>;
// The words of the asset (src/instancing/asset.rs) and the rings of triangles. Then 16 words per slot: position,
// scale; rotation; air velocity, start of its tethers; wave vector of the gusts, start of its targets or 0.
// Then blocks of tethers (pin, length as bits) and targets (position, 1 if set; for each particle).
@group(0) @binding(8) var<storage, read> asset: array<u32>;
@group(0) @binding(9) var<storage, read> records: array<vec4u>;
@group(0) @binding(10) var<storage, read_write> lambdas: array<f32>;

override KEEP_LAMBDA: bool = false;
override TETHER_ROWS: u32 = 0u;

// A thread index beyond all loop bounds.
const BEYOND = 0x0fffffffu;

// Displacements of the particles.
var<workgroup> moves: array<vec3f, INSTANCES * ASSET_PARTICLES>;

// Read by the projections of the kinds.
var<private> span: Span;

// First entry of the instance of this thread in workgroup memory.
var<private> moves_at: u32;

var<private> first_lambda: u32;
var<private> scale: f32;
var<private> inverse_scale: f32;

// LAMBDA_ROOM is a multiple of every number of multipliers.
fn place_of_lambda(place: u32, count: u32) -> u32 {
    return first_lambda / count + place;
}

// Constraints are evaluated at the scale of the asset; the response to an impulse is scaled back.
fn shrunk(v: vec3f) -> vec3f {
    return v * inverse_scale;
}

fn grown(w: f32) -> f32 {
    return w * scale;
}

fn displacement_at(k: u32) -> vec3f {
    return moves[moves_at + k];
}

fn set_displacement(k: u32, d: vec3f) {
    moves[moves_at + k] = d;
}

fn words_at(at: u32) -> vec4u {
    return vec4u(asset[at], asset[at + 1u], asset[at + 2u], asset[at + 3u]);
}

// Rotates v by a unit quaternion.
fn turned(q: vec4f, v: vec3f) -> vec3f {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

// Returns the rotation between two unit quaternions, b a⁻¹.
fn turn_between(a: vec4f, b: vec4f) -> vec4f {
    let q = vec4f(a.w * b.xyz - b.w * a.xyz - cross(b.xyz, a.xyz), dot(a, b));
    return q / length(q);
}

// Change of the placement of an instance.
struct Jump {
    from_place: vec4f,
    to_place: vec4f,
    // The identity if the rotation is unchanged.
    turn: vec4f,
    any: bool,
    is_new: bool,
}

fn jump_of(slot: u32, row: u32) -> Jump {
    let put = ROWS_OF_SLOTS + 2u * slot;
    let was = bitcast<vec4f>(motions[put]);
    let before = vec4f(was.xyz, abs(was.w));
    let after = bitcast<vec4f>(words_at(row));
    let rotations = array(motions[put + 1u], words_at(row + 4u));
    let turns = any(rotations[0] != rotations[1]);
    var turn = vec4f(0.0, 0.0, 0.0, 1.0);
    if turns {
        turn = turn_between(bitcast<vec4f>(rotations[0]), bitcast<vec4f>(rotations[1]));
    }
    return Jump(before, after, turn, turns || any(before != after), was.w < 0.0);
}

// Targets and Start. A changed placement is applied first: it moves the particles rigidly, scales them and rotates
// velocities. A position that would not be finite is left unchanged and quarantined.
fn begin(k: u32, jump: Jump, targets_at: u32) {
    let i = first_particle + k;
    var x = positions[i];
    var v = velocities[i];
    var d = bitcast<vec3f>(motions[2u * i].xyz);
    var residual = unpacked(motions[2u * i + 1u]);
    if jump.is_new || jump.any {
        residual = Residual();
    }
    if jump.any {
        let apart = turned(jump.turn, x.xyz - jump.from_place.xyz) * (jump.to_place.w / jump.from_place.w);
        let carried = jump.to_place.xyz + apart;
        if is_finite(carried) {
            x = vec4f(carried, x.w);
        } else {
            residual.held = QUARANTINED;
        }
        v = vec4f(turned(jump.turn, v.xyz), 1.0);
    }
    if targets_at != 0u && x.w == 0.0 {
        let goal = words_at(targets_at + 4u * k);
        if goal.w == 1u {
            v = vec4f(opaque((bitcast<vec3f>(goal.xyz) - x.xyz) / params.dt, params.zero), 1.0);
        }
    }
    if v.w != 0.0 || status.last_h != params.h {
        d = v.xyz * params.h;
        residual.displacement = vec3f();
    }
    keep(k, Motion(x, d, residual));
}

fn motion_of(k: u32) -> Motion {
    return Motion(position_at(k), moves[moves_at + k], unpacked(motions[2u * (first_particle + k) + 1u]));
}

fn keep(k: u32, motion: Motion) {
    keep_position(k, motion.position);
    moves[moves_at + k] = motion.displacement;
    motions[2u * (first_particle + k) + 1u] = packed(motion.residual, params.zero);
}

// Velocity of one particle.
fn settled(motion: Motion) -> Motion {
    return moved(motion, params.velocity_factor, params.zero);
}

fn pulled_by_tether(motion: Motion, tether: u32, there: bool) -> vec3f {
    let anchor = asset[tether];
    let difference = (motion.position.xyz - position_at(anchor).xyz) + (motion.displacement - moves[moves_at + anchor]);
    return pulled(motion.displacement, difference, bitcast<f32>(asset[tether + 1u]) * scale, there);
}

// Predict and SolveTethers of a free particle. Pins do not change here. Tethers are stored in pairs.
fn advanced(k: u32, motion: Motion, increment: vec3f, tethers_at: u32) -> Motion {
    var next = predicted(motion, increment, params.zero);
    if by_thread(pool.tethers, k) == 0u {
        return next;
    }
    let run = asset[TETHER_RUNS_AT + k];
    let first = tethers_at + 2u * (run >> 4u);
    for (var k = 0u; k < TETHER_ROWS; k++) {
        next.displacement = pulled_by_tether(next, first + 4u * k, 2u * k < (run & 15u));
        next.displacement = pulled_by_tether(next, first + 4u * k + 2u, 2u * k + 1u < (run & 15u));
    }
    return next;
}

// Velocity except in the first substep, then Accelerations, Predict and SolveTethers.
fn begin_accelerated(is_first: bool, air: Air, tethers_at: u32, invocation: u32) {
    if !is_first {
        for (var k = invocation; k < ASSET_PARTICLES; k += THREADS) {
            keep(k, settled(motion_of(k)));
        }
        storageBarrier();
        workgroupBarrier();
    }
    for (var k = invocation; k < ASSET_PARTICLES; k += THREADS) {
        velocities[first_particle + k] = vec4f(acceleration_of(k, air), 0.0);
    }
    workgroupBarrier();
    // Pins first: the tethers of other particles read their displacements.
    for (var k = invocation; k < ASSET_PARTICLES; k += THREADS) {
        if position_at(k).w == 0.0 {
            keep(k, predicted(motion_of(k), params.gravity_step, params.zero));
        }
    }
    storageBarrier();
    workgroupBarrier();
    for (var k = invocation; k < ASSET_PARTICLES; k += THREADS) {
        if position_at(k).w != 0.0 {
            let increment = params.gravity_step + velocities[first_particle + k].xyz * (params.h * params.h);
            keep(k, advanced(k, motion_of(k), increment, tethers_at));
        }
    }
}

// The same without accelerations.
fn begin_substep(is_first: bool, tethers_at: u32, invocation: u32) {
    for (var k = invocation; k < ASSET_PARTICLES; k += THREADS) {
        if position_at(k).w == 0.0 {
            var motion = motion_of(k);
            if !is_first {
                motion = settled(motion);
            }
            keep(k, predicted(motion, params.gravity_step, params.zero));
        }
    }
    storageBarrier();
    workgroupBarrier();
    // Two particles per iteration, to overlap the latency of their loads.
    for (var k = invocation; k < ASSET_PARTICLES; k += 2u * THREADS) {
        let has_other = k + THREADS < ASSET_PARTICLES;
        let other = select(k, k + THREADS, has_other);
        let first = begun(k, is_first, tethers_at);
        let second = begun(other, is_first, tethers_at);
        if first.position.w != 0.0 {
            keep(k, first);
        }
        if has_other && second.position.w != 0.0 {
            keep(other, second);
        }
    }
}

fn begun(k: u32, is_first: bool, tethers_at: u32) -> Motion {
    var motion = motion_of(k);
    if !is_first {
        motion = settled(motion);
    }
    return advanced(k, motion, params.gravity_step, tethers_at);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn instances(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) invocation: u32) {
    let first = (group.x + group.y * 65535u) * INSTANCES;
    if first >= pool.count {
        return;
    }
    let index = first + invocation / THREADS;
    // Threads without an instance take part in barriers only: their index is beyond all particles and constraints.
    let invocation = select(BEYOND, invocation % THREADS, index < pool.count);
    let slot = live[min(index, pool.count - 1u)];
    moves_at = (invocation / THREADS) * ASSET_PARTICLES;
    let row = SLOTS_AT + 16u * slot;
    let air_and_tethers = words_at(row + 8u);
    let wave_and_targets = words_at(row + 12u);
    let air = air_of(bitcast<vec3f>(air_and_tethers.xyz), bitcast<vec3f>(wave_and_targets.xyz));
    let jump = jump_of(slot, row);
    first_particle = slot * ASSET_PARTICLES;
    let tethers_at = air_and_tethers.w;
    first_lambda = slot * LAMBDA_ROOM;
    scale = jump.to_place.w;
    inverse_scale = 1.0 / scale;
    span.zero = params.zero;
    for (var k = invocation; k < ASSET_PARTICLES; k += THREADS) {
        begin(k, jump, wave_and_targets.w);
    }
    storageBarrier();
    workgroupBarrier();
    if invocation == 0u {
        motions[ROWS_OF_SLOTS + 2u * slot] = words_at(row);
        motions[ROWS_OF_SLOTS + 2u * slot + 1u] = words_at(row + 4u);
    }
    for (var substep = 0u; substep < by_thread(pool.substeps, group.x); substep++) {
        if by_thread(params.accelerated, group.x) == 1u {
            begin_accelerated(substep == 0u, air, tethers_at, invocation);
        } else {
            begin_substep(substep == 0u, tethers_at, invocation);
        }
        storageBarrier();
        workgroupBarrier();
        for (var iteration = 0u; iteration < by_thread(pool.iterations, group.x); iteration++) {
            span.first_iteration = u32(iteration == 0u);
            sweep(0u, invocation);
        }
    }
    for (var k = invocation; k < ASSET_PARTICLES; k += THREADS) {
        let i = first_particle + k;
        let motion = settled(motion_of(k));
        var residual = packed(motion.residual, params.zero);
        if count_quarantined(residual.w, i) {
            residual.w &= ~QUARANTINED;
        }
        positions[i] = motion.position;
        motions[2u * i] = bitcast<vec4u>(vec4f(motion.displacement, 0.0));
        motions[2u * i + 1u] = residual;
        velocities[i] = vec4f(motion.displacement / params.h, 0.0);
    }
}
