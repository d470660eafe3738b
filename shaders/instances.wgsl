// Plays a step for every instance of an asset: LANES threads an instance, which shares no particle with the others, so that the loop over the
// substeps is in here; INSTANCES small ones have a workgroup together. What the asset is stands once (src/whole.rs, its only batch); an instance
// has the state of its particles, its multipliers, and a row that says where it was put, how large, in which wind, and where its own tethers and
// targets stand.
// The order of a substep is that of a plan with accelerations (src/plan.rs): Start or Velocity, Accelerations, Predict, Tether, the constraints;
// Finish at the end. A particle is written by the thread that owns it, and read by the others of the workgroup after a barrier; without
// accelerations none looks at others than pins, so pins come first, and the others go from Velocity to Tether at once.
// shaders/instances/ says where positions are kept, shaders/shared/instance.wgsl where the particles of an instance and their triangles lie.
// `sweep`, which solves the constraints of all kinds round by round, is written by src/gpu/whole.rs, the constants of the asset by
// src/gpu/crowd.rs.

@group(0) @binding(0) var<uniform> crowd: Crowd;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<uniform> materials: array<ScaledMaterial, MATERIALS>;
// Those of the instance in slot s begin at s · ASSET_PARTICLES.
@group(0) @binding(3) var<storage, read_write> positions: array<vec4f>;
// w is 1 where the velocity is fresh from outside. During a step, accelerations.
@group(0) @binding(4) var<storage, read_write> velocities: array<vec4f>;
// Two rows a particle: displacement, residual. Then two for each slot: where its particles were put, as the row of the instance has it, but
// with the scale below 0 where they are new.
@group(0) @binding(5) var<storage, read_write> motions: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> status: Status;
// The slots of the instances.
@group(0) @binding(7) var<storage, read> live: array<u32>;
// The words of the batch (shaders/whole.wgsl), the rings of triangles, 16 words for each slot (position, scale; rotation; velocity of the air,
// where its tethers stand; wave vector of the gusts, where its targets stand or 0), and blocks of tethers (anchor, length as bits) and targets
// (position, 1 where there is one; for each particle).
@group(0) @binding(8) var<storage, read> batches: array<u32>;
@group(0) @binding(9) var<storage, read> records: array<vec4u>;
@group(0) @binding(10) var<storage, read_write> lambdas: array<f32>;

override KEEP_LAMBDA: bool = false;
override TETHER_ROWS: u32 = 0u;

// A number of a thread at which no loop begins.
const BEYOND = 0x0fffffffu;

// The only batch: where its head says of its particles where they stand, and where the heads of kinds begin.
const PARTICLES_AT = 3u;
const KINDS_AT = 5u;

// d of each particle.
var<workgroup> moves: array<vec3f, INSTANCES * ASSET_PARTICLES>;

// As the projections of single kinds see it.
var<private> span: Span;

// Where what the workgroup keeps of the instance of this thread begins.
var<private> moves_at: u32;

var<private> first_lambda: u32;
var<private> scale: f32;
var<private> inverse_scale: f32;

fn local_of(particle: u32, locals: u32, k: u32) -> u32 {
    return moves_at + particle;
}

fn first_move() -> u32 {
    return moves_at;
}

fn lane_count() -> u32 {
    return LANES;
}

// Room for multipliers is a multiple of every count.
fn place_of_lambda(place: u32, count: u32) -> u32 {
    return first_lambda / count + place;
}

// What is `scale` times as large as the asset is as large as it to its constraints; what an impulse moves by so much of inverse mass is larger.
fn shrunk(v: vec3f) -> vec3f {
    return v * inverse_scale;
}

fn grown(w: f32) -> f32 {
    return w * scale;
}

fn place_in_batch(k: u32) -> vec4f {
    return position_at(k);
}

fn displacement_at(k: u32) -> vec3f {
    return moves[moves_at + k];
}

fn words_at(at: u32) -> vec4u {
    return vec4u(batches[at], batches[at + 1u], batches[at + 2u], batches[at + 3u]);
}

// v, turned by a unit quaternion.
fn turned(q: vec4f, v: vec3f) -> vec3f {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

// The turn from one unit quaternion to another: b a⁻¹.
fn turn_between(a: vec4f, b: vec4f) -> vec4f {
    let q = vec4f(a.w * b.xyz - b.w * a.xyz - cross(b.xyz, a.xyz), dot(a, b));
    return q / length(q);
}

// Where a particle was put, and now is to be.
struct Jump {
    from_place: vec4f,
    to_place: vec4f,
    // No turn is exactly none.
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

// Targets and Start, and before these the way to another place, on which the shape is kept and velocities are turned. What would get beyond
// all numbers stays where it is.
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
            residual.held = HELD;
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

// Velocity.
fn settled(motion: Motion) -> Motion {
    return moved(motion, params.velocity_factor, params.zero);
}

// Where tethers stand (anchor, length as bits), and where the run of them that each particle has.
struct Tethering {
    at: u32,
    runs_at: u32,
}

fn pulled_by_tether(motion: Motion, tether: u32, there: bool) -> vec3f {
    let anchor = batches[tether];
    let difference = (motion.position.xyz - position_at(anchor).xyz) + (motion.displacement - moves[moves_at + anchor]);
    return pulled(motion.displacement, difference, bitcast<f32>(batches[tether + 1u]) * scale, there);
}

// Predict and Tether of a free particle. Pins, to which tethers lead, stay as they are here. Two tethers a turn, as they stand in twos.
fn advanced(k: u32, motion: Motion, increment: vec3f, tethering: Tethering) -> Motion {
    var next = predicted(motion, increment, params.zero);
    if by_thread(crowd.tethers, k) == 0u {
        return next;
    }
    let run = batches[tethering.runs_at + 2u * k];
    let first = tethering.at + 2u * (run >> 4u);
    for (var k = 0u; k < TETHER_ROWS; k++) {
        next.displacement = pulled_by_tether(next, first + 4u * k, 2u * k < (run & 15u));
        next.displacement = pulled_by_tether(next, first + 4u * k + 2u, 2u * k + 1u < (run & 15u));
    }
    return next;
}

// Velocity of all, unless it is the first substep, then Accelerations, then Predict and Tether.
fn begin_accelerated(is_first: bool, air: Air, tethering: Tethering, lane: u32) {
    if !is_first {
        for (var k = lane; k < ASSET_PARTICLES; k += LANES) {
            keep(k, settled(motion_of(k)));
        }
        storageBarrier();
        workgroupBarrier();
    }
    for (var k = lane; k < ASSET_PARTICLES; k += LANES) {
        velocities[first_particle + k] = vec4f(acceleration_of(k, air), 0.0);
    }
    workgroupBarrier();
    // Pins first: the tethers of the others read their displacements.
    for (var k = lane; k < ASSET_PARTICLES; k += LANES) {
        if position_at(k).w == 0.0 {
            keep(k, predicted(motion_of(k), params.gravity_step, params.zero));
        }
    }
    storageBarrier();
    workgroupBarrier();
    for (var k = lane; k < ASSET_PARTICLES; k += LANES) {
        if position_at(k).w != 0.0 {
            let increment = params.gravity_step + velocities[first_particle + k].xyz * (params.h * params.h);
            keep(k, advanced(k, motion_of(k), increment, tethering));
        }
    }
}

// The same without accelerations.
fn begin_substep(is_first: bool, tethering: Tethering, lane: u32) {
    for (var k = lane; k < ASSET_PARTICLES; k += LANES) {
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
    // Two at a time, as GPUs have nothing else to do while they wait for what they load.
    for (var k = lane; k < ASSET_PARTICLES; k += 2u * LANES) {
        let has_other = k + LANES < ASSET_PARTICLES;
        let other = select(k, k + LANES, has_other);
        let first = begun(k, is_first, tethering);
        let second = begun(other, is_first, tethering);
        if first.position.w != 0.0 {
            keep(k, first);
        }
        if has_other && second.position.w != 0.0 {
            keep(other, second);
        }
    }
}

fn begun(k: u32, is_first: bool, tethering: Tethering) -> Motion {
    var motion = motion_of(k);
    if !is_first {
        motion = settled(motion);
    }
    return advanced(k, motion, params.gravity_step, tethering);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn instances(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let first = (group.x + group.y * 65535u) * INSTANCES;
    if first >= crowd.count {
        return;
    }
    let index = first + thread / LANES;
    // Threads that have no instance go along to the barriers, beyond all particles and constraints.
    let lane = select(BEYOND, thread % LANES, index < crowd.count);
    let slot = live[min(index, crowd.count - 1u)];
    moves_at = (thread / LANES) * ASSET_PARTICLES;
    let row = SLOTS_AT + 16u * slot;
    let air_and_tethers = words_at(row + 8u);
    let wave_and_targets = words_at(row + 12u);
    let air = air_of(bitcast<vec3f>(air_and_tethers.xyz), bitcast<vec3f>(wave_and_targets.xyz));
    let jump = jump_of(slot, row);
    first_particle = slot * ASSET_PARTICLES;
    let tethering = Tethering(air_and_tethers.w, batches[PARTICLES_AT] + 1u);
    first_lambda = slot * LAMBDA_ROOM;
    scale = jump.to_place.w;
    inverse_scale = 1.0 / scale;
    span.zero = params.zero;
    for (var k = lane; k < ASSET_PARTICLES; k += LANES) {
        begin(k, jump, wave_and_targets.w);
    }
    storageBarrier();
    workgroupBarrier();
    if lane == 0u {
        motions[ROWS_OF_SLOTS + 2u * slot] = words_at(row);
        motions[ROWS_OF_SLOTS + 2u * slot + 1u] = words_at(row + 4u);
    }
    for (var substep = 0u; substep < by_thread(crowd.substeps, group.x); substep++) {
        if by_thread(params.accelerated, group.x) == 1u {
            begin_accelerated(substep == 0u, air, tethering, lane);
        } else {
            begin_substep(substep == 0u, tethering, lane);
        }
        storageBarrier();
        workgroupBarrier();
        for (var iteration = 0u; iteration < by_thread(crowd.iterations, group.x); iteration++) {
            span.first_iteration = u32(iteration == 0u);
            sweep(KINDS_AT, lane);
        }
    }
    for (var k = lane; k < ASSET_PARTICLES; k += LANES) {
        let i = first_particle + k;
        let motion = settled(motion_of(k));
        var residual = packed(motion.residual, params.zero);
        if count_held(residual.w, i) {
            residual.w &= ~HELD;
        }
        positions[i] = motion.position;
        motions[2u * i] = bitcast<vec4u>(vec4f(motion.displacement, 0.0));
        motions[2u * i + 1u] = residual;
        velocities[i] = vec4f(motion.displacement / params.h, 0.0);
    }
}
