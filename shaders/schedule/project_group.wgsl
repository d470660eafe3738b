// Projects groups: constraints on any number of particles. Method: src/constraints/group.rs. Counterpart:
// src/reference/constraints.rs. The file of the kind (shaders/constraints/) defines the direction of a member
// (`direction`), C and s (`measure`), and ROTATES.
//
// - project, split: one thread per group.
// - project_wide, split_wide: one workgroup of THREADS threads per group; the threads take the members in turn.
//   Partial sums are added in the order of the threads, so results are deterministic.
//
// project and project_wide move the particles of the members, which no other group of the colour shares. split and
// split_wide write impulses, which gather.wgsl applies. All write λ and the rotation of their own group.
// A direction is written before the last barrier and read after it by the same thread, so no thread reads a position
// that has already moved.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// two rows per group: first row, member count, first slot, material; M and the parameters as bits
@group(0) @binding(3) var<storage, read> records: array<vec4u>;
@group(0) @binding(4) var<storage, read> materials: array<ScaledMaterial>;
@group(0) @binding(5) var<storage, read_write> lambdas: array<f32>;
// two rows per member: particle, share, μ, first detail; q, detail count; details follow their member list
@group(0) @binding(6) var<storage, read> members: array<vec4u>;
// rᵢ of each member, or its impulse after a split
@group(0) @binding(7) var<storage, read_write> impulses: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> rotations: array<vec4f>;

override KEEP_LAMBDA: bool = false;

var<workgroup> partial: array<array<vec4f, 4>, THREADS>;

struct GroupRecord {
    first_row: u32,
    count: u32,
    first_slot: u32,
    material: u32,
    parameters: vec4f,
}

struct Member {
    particle: u32,
    share: f32,
    weight: f32,
    rest: vec3f,
    first_detail: u32,
    detail_count: u32,
}

struct Frame {
    // position of q = 0
    center: vec3f,
    // Σ μ x/M
    middle: vec3f,
    // Σ μ q/M
    rest: vec3f,
    // M
    weight: f32,
    rotation: vec4f,
    // K of K Ω = torque: diagonal, and (yz, zx, xy).
    diagonal: vec3f,
    beside: vec3f,
}

fn load_record(place: u32) -> GroupRecord {
    let row = records[2u * place];
    return GroupRecord(row.x, row.y, row.z, row.w, bitcast<vec4f>(records[2u * place + 1u]));
}

fn load_member(record: GroupRecord, index: u32) -> Member {
    let a = members[record.first_row + 2u * index];
    let b = members[record.first_row + 2u * index + 1u];
    var weight = bitcast<f32>(a.z);
    if ROTATES && positions[a.x].w == 0.0 {
        weight = PIN_WEIGHT * record.parameters.x;
    }
    return Member(a.x, bitcast<f32>(a.y), weight, bitcast<vec3f>(b.xyz), a.w, b.w);
}

// Returns x + d of a particle relative to `origin`, which keeps the precision of differences.
fn relative(particle: u32, origin: vec3f) -> vec3f {
    return (positions[particle].xyz - origin) + displacements[particle].xyz;
}

fn turned(rotation: vec4f, v: vec3f) -> vec3f {
    let t = opaque(cross_product(rotation.xyz, v, span.zero) * 2.0, span.zero);
    return opaque(v + opaque(t * rotation.w, span.zero), span.zero) + cross_product(rotation.xyz, t, span.zero);
}

// Returns the rotation after one iteration towards the rotational part of a matrix (Müller, Bender, Chentanez,
// Macklin 2016, alg. 1).
fn closer(rotation: vec4f, columns: array<vec3f, 3>) -> vec4f {
    let r0 = turned(rotation, vec3f(1.0, 0.0, 0.0));
    let r1 = turned(rotation, vec3f(0.0, 1.0, 0.0));
    let r2 = turned(rotation, vec3f(0.0, 0.0, 1.0));
    let turn = opaque(cross_product(r0, columns[0], span.zero) + cross_product(r1, columns[1], span.zero), span.zero)
        + cross_product(r2, columns[2], span.zero);
    let stretch = abs(dot(r0, columns[0]) + dot(r1, columns[1]) + dot(r2, columns[2]));
    if stretch == 0.0 {
        return rotation;
    }
    var half_turn = opaque(turn * (2.0 / 3.0 / stretch), span.zero);
    half_turn = opaque(half_turn * (1.0 / max(1.0, length(half_turn) * 2.0)), span.zero);
    let v = opaque(rotation.xyz + opaque(half_turn * rotation.w, span.zero), span.zero)
        + cross_product(half_turn, rotation.xyz, span.zero);
    let w = rotation.w - dot(half_turn, rotation.xyz);
    let norm = sqrt(dot(v, v) + w * w);
    // A rotation that is not finite is discarded.
    if norm > 0.0 && norm < 3.4028234e38 {
        return vec4f(v / norm, w / norm);
    }
    return rotation;
}

// Returns Σ μ x and M, Σ μ x qᵀ and Σ μ q over every `threads`-th member.
fn moments_of(record: GroupRecord, origin: vec3f, thread: u32, threads: u32) -> array<vec4f, 4> {
    var sums: array<vec4f, 4>;
    for (var k = thread; k < record.count; k += threads) {
        let member = load_member(record, k);
        let x = opaque(relative(member.particle, origin) * member.weight, span.zero);
        sums[0] += vec4f(x, member.weight);
        if ROTATES {
            let q = opaque(member.rest * member.weight, span.zero);
            sums[1] += vec4f(x * member.rest.x, q.x);
            sums[2] += vec4f(x * member.rest.y, q.y);
            sums[3] += vec4f(x * member.rest.z, q.z);
        }
    }
    return sums;
}

fn frame_of(sums: array<vec4f, 4>, start: vec4f) -> Frame {
    var rotation = start;
    let weight = sums[0].w;
    let middle = opaque(sums[0].xyz / weight, span.zero);
    var center = middle;
    var rest = vec3f();
    var columns: array<vec3f, 3>;
    if ROTATES {
        rest = opaque(vec3f(sums[1].w, sums[2].w, sums[3].w) / weight, span.zero);
        // About the centre.
        columns[0] = opaque(sums[1].xyz - sums[0].xyz * rest.x, span.zero);
        columns[1] = opaque(sums[2].xyz - sums[0].xyz * rest.y, span.zero);
        columns[2] = opaque(sums[3].xyz - sums[0].xyz * rest.z, span.zero);
        for (var step = 0u; step < ROTATION_STEPS; step++) {
            rotation = closer(rotation, columns);
        }
    }
    var diagonal = vec3f();
    var beside = vec3f();
    if ROTATES {
        var axes = array(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), vec3f(0.0, 0.0, 1.0));
        for (var k = 0u; k < 3u; k++) {
            let r = turned(rotation, axes[k]);
            let a = columns[k];
            diagonal = opaque(diagonal + opaque(a * r, span.zero), span.zero);
            beside += opaque(opaque(a.yzx * r.zxy, span.zero) + opaque(a.zxy * r.yzx, span.zero), span.zero);
        }
        diagonal = opaque(vec3f(diagonal.x + diagonal.y + diagonal.z), span.zero) - diagonal;
        beside *= -0.5;
    }
    if ROTATES {
        center = opaque(middle - turned(rotation, rest), span.zero);
    }
    return Frame(center, middle, rest, weight, rotation, diagonal, beside);
}

// Writes every `threads`-th direction; returns Σ r and Σ value, Σ w |r|² and Σ r·(x − x_prev), Σ (x − x_cm) × r.
fn directions_of(record: GroupRecord, frame: Frame, origin: vec3f, thread: u32, threads: u32) -> array<vec4f, 4> {
    var sums: array<vec4f, 4>;
    let d0 = displacements[load_member(record, 0u).particle].xyz;
    for (var k = thread; k < record.count; k += threads) {
        let member = load_member(record, k);
        let x = relative(member.particle, origin);
        let r = direction(member, x, frame, origin);
        impulses[record.first_slot + k] = r;
        let w = positions[member.particle].w * member.share;
        let travel = dot(r.xyz, displacements[member.particle].xyz - d0);
        sums[0] += r;
        sums[1] += vec4f(w * dot(r.xyz, r.xyz), travel, 0.0, 0.0);
        if ROTATES {
            sums[2] += vec4f(cross_product(x - frame.middle, r.xyz, span.zero), 0.0);
        }
    }
    return sums;
}

fn load_lambda(place: u32) -> f32 {
    var lambda = 0.0;
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = lambdas[place];
    }
    return lambda;
}

struct Solved {
    record: GroupRecord,
    // Σ r and Ω: the remaining force and torque of the directions
    push: vec3f,
    omega: vec3f,
    frame: Frame,
    // s Δλ, and the share of the earlier impulses that is subtracted
    strength: f32,
    relax: f32,
}

// Returns rᵢ minus its share of the remaining force and torque.
fn balanced(solved: Solved, member: Member, slot: u32) -> vec3f {
    var r = opaque(impulses[slot].xyz - solved.push * (member.weight / solved.frame.weight), span.zero);
    if ROTATES {
        let lever = turned(solved.frame.rotation, opaque(member.rest - solved.frame.rest, span.zero));
        r -= cross_product(solved.omega, opaque(lever, span.zero), span.zero) * member.weight;
    }
    return opaque(r, span.zero);
}

// Returns the impulse on a member. The direction of a rotating group changes between iterations, so each member has a
// multiplier of its own: its impulse in this substep, stored behind the slots.
fn impulse_on(solved: Solved, member: Member, slot: u32) -> vec3f {
    var impulse = opaque(balanced(solved, member, slot) * solved.strength, span.zero);
    if KEEP_LAMBDA && ROTATES {
        let behind = arrayLength(&impulses) / 2u + slot;
        var given = vec3f();
        if by_thread(span.first_iteration, slot) == 0u {
            given = impulses[behind].xyz;
        }
        impulse = opaque(impulse - given * solved.relax, span.zero);
        impulses[behind] = vec4f(given + impulse, 0.0);
    }
    return impulse;
}

fn apply(solved: Solved, thread: u32, threads: u32) {
    for (var k = thread; k < solved.record.count; k += threads) {
        let member = load_member(solved.record, k);
        let impulse = impulse_on(solved, member, solved.record.first_slot + k);
        let d = displacements[member.particle].xyz + impulse * positions[member.particle].w;
        displacements[member.particle] = vec4f(d, 0.0);
    }
}

fn apply_split(solved: Solved, thread: u32, threads: u32) {
    for (var k = thread; k < solved.record.count; k += threads) {
        let slot = solved.record.first_slot + k;
        impulses[slot] = vec4f(impulse_on(solved, load_member(solved.record, k), slot), 0.0);
    }
}

fn solved_by(place: u32, record: GroupRecord, frame: Frame, sums: array<vec4f, 4>, lambda: f32, keep: bool) -> Solved {
    if ROTATES && keep {
        rotations[place] = frame.rotation;
    }
    let c = measure(record.parameters, sums[0].w);
    let weighted = sums[1].x * c.y * c.y;
    let travel = sums[1].y * c.y;
    let material = material_of_kind(materials[record.material], false);
    let delta = delta_lambda(c.x, weighted, travel, lambda, material);
    if KEEP_LAMBDA && keep {
        lambdas[place] = lambda + delta;
    }
    var strength = c.y * delta;
    var relax = 0.0;
    if KEEP_LAMBDA && ROTATES {
        strength = c.y * delta_lambda(c.x, weighted, travel, 0.0, material);
        relax = relaxation(weighted, material);
    }
    let omega = solve_symmetric(frame.diagonal, frame.beside, sums[2].xyz, span.zero);
    return Solved(record, sums[0].xyz, omega, frame, strength, relax);
}

fn solve(place: u32) -> Solved {
    let record = load_record(place);
    let origin = positions[load_member(record, 0u).particle].xyz;
    let frame = frame_of(moments_of(record, origin, 0u, 1u), rotations[place]);
    let sums = directions_of(record, frame, origin, 0u, 1u);
    return solved_by(place, record, frame, sums, load_lambda(place), true);
}

// Returns the sum over all threads to every thread.
fn total(thread: u32, sums: array<vec4f, 4>) -> array<vec4f, 4> {
    // Storage too: the write of thread 0 to the state of the group must follow the reads of the other threads.
    storageBarrier();
    workgroupBarrier();
    partial[thread] = sums;
    storageBarrier();
    workgroupBarrier();
    var whole: array<vec4f, 4>;
    for (var other = 0u; other < THREADS; other++) {
        for (var k = 0u; k < 4u; k++) {
            whole[k] += partial[other][k];
        }
    }
    return whole;
}

fn solve_wide(place: u32, thread: u32) -> Solved {
    let record = load_record(place);
    let origin = positions[load_member(record, 0u).particle].xyz;
    // All threads read the values that thread 0 will write, before the first barrier.
    let start = rotations[place];
    let lambda = load_lambda(place);
    let frame = frame_of(total(thread, moments_of(record, origin, thread, THREADS)), start);
    let sums = total(thread, directions_of(record, frame, origin, thread, THREADS));
    return solved_by(place, record, frame, sums, lambda, thread == 0u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let solved = solve(span.first + i);
    apply(solved, 0u, 1u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn split(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let solved = solve(span.first + i);
    apply_split(solved, 0u, 1u);
}

@compute @workgroup_size(THREADS)
fn project_wide(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let i = group.x + group.y * 65535u;
    if i >= span.count {
        return;
    }
    let solved = solve_wide(span.first + i, thread);
    apply(solved, thread, THREADS);
}

@compute @workgroup_size(THREADS)
fn split_wide(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let i = group.x + group.y * 65535u;
    if i >= span.count {
        return;
    }
    let solved = solve_wide(span.first + i, thread);
    apply_split(solved, thread, THREADS);
}
