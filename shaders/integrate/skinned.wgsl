// Skinned particles: linear blend skinning of their poses, and their limits of distance from the pose.
//
// - start_skinned: computes the poses that joints move, and the velocity by which a pinned particle reaches its pose.
// - limit_skinned: moves a particle into the ball around its skinned position and out of the sphere behind it. The pose
//   moves linearly in the step. limit_skinned_again is the same after contacts.
// - finish_skinned: the pose at the end of the step is that at the start of the next one.
//
// One thread per skinned particle, which writes its own pose, state, velocity and displacement. No particle has two rows.
// Counterpart: src/reference/skinned.rs.

struct SkinnedRow {
    particle: u32,
    max_distance: f32,
    backstop_distance: f32,
    // 0 without a backstop
    backstop_radius: f32,
}

struct Bind {
    position: vec3f,
    // 1 if the joints compute the pose, else 0
    is_bound: u32,
    normal: vec3f,
    padding: u32,
    joints: vec4u,
    weights: vec4f,
}

struct Pose {
    position: vec3f,
    padding: u32,
    normal: vec3f,
    more_padding: u32,
}

// The pose at the start of the step.
struct SkinnedState {
    position: vec3f,
    // substeps of the step that have begun, or JUMP
    substep: u32,
    normal: vec3f,
    padding: u32,
}

// The pose jumps: it is not interpolated in this step.
const JUMP = 0xffffffffu;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<SkinnedRow>;
@group(0) @binding(2) var<storage, read_write> poses: array<Pose>;
@group(0) @binding(3) var<storage, read> positions: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> states: array<SkinnedState>;
@group(0) @binding(5) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(6) var<storage, read> binds: array<Bind>;
// Four columns per joint.
@group(0) @binding(7) var<storage, read> joints: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> velocities: array<vec4f>;

// Column k of the sum of the weighted joint matrices.
fn blended(bind: Bind, k: u32, zero: u32) -> vec3f {
    var sum = opaque(joints[bind.joints.x * 4u + k].xyz * bind.weights.x, zero);
    sum = opaque(sum + opaque(joints[bind.joints.y * 4u + k].xyz * bind.weights.y, zero), zero);
    sum = opaque(sum + opaque(joints[bind.joints.z * 4u + k].xyz * bind.weights.z, zero), zero);
    return opaque(sum + opaque(joints[bind.joints.w * 4u + k].xyz * bind.weights.w, zero), zero);
}

// The product of the matrix of columns a, b, c with v.
fn transformed(a: vec3f, b: vec3f, c: vec3f, v: vec3f, zero: u32) -> vec3f {
    let sum = opaque(opaque(a * v.x, zero) + opaque(b * v.y, zero), zero);
    return opaque(sum + opaque(c * v.z, zero), zero);
}

fn skinned_pose(bind: Bind, zero: u32) -> Pose {
    let a = blended(bind, 0u, zero);
    let b = blended(bind, 1u, zero);
    let c = blended(bind, 2u, zero);
    let position = transformed(a, b, c, bind.position, zero) + blended(bind, 3u, zero);
    return Pose(position, 0u, transformed(a, b, c, bind.normal, zero), 0u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn start_skinned(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&rows) {
        return;
    }
    let bind = binds[i];
    if bind.is_bound == 1u {
        poses[i] = skinned_pose(bind, params.zero);
    }
    let particle = rows[i].particle;
    let x = positions[particle];
    if x.w == 0.0 {
        // As targets.wgsl.
        velocities[particle] = vec4f((poses[i].position - x.xyz) / params.dt, 1.0);
    }
}

// Moves p, relative to the skinned position, out of the backstop; n is the unit normal.
fn before_backstop(p: vec3f, n: vec3f, row: SkinnedRow, zero: u32) -> vec3f {
    let b = row.backstop_distance;
    let r = row.backstop_radius;
    let apart = b + r;
    let along = dot(p, n);
    // |q|² − r² for q = p + n (b + r), without the cancellation of large radii
    let behind = opaque1(b * opaque1(b + 2.0 * r, zero), zero);
    let gap = opaque1(opaque1(dot(p, p), zero) + opaque1(2.0 * apart * along, zero), zero) + behind;
    if !(gap < 0.0) {
        return p;
    }
    let q = opaque(p + opaque(n * apart, zero), zero);
    let m = length(q);
    var out = opaque(n * -b, zero);
    if m > 1e-6 * r {
        out = opaque(p - opaque(q * (gap / opaque1(m * (m + r), zero)), zero), zero);
    }
    let most = row.max_distance;
    if length(out) > most {
        // The nearest point of the circle in which both spheres intersect.
        let z = opaque1(behind + opaque1(most * most, zero), zero) / (2.0 * apart);
        let beside = opaque(p - opaque(n * along, zero), zero);
        // Orthogonal to n even if p is almost on the axis.
        let side = opaque(beside - opaque(n * opaque1(dot(beside, n), zero), zero), zero);
        let across = length(side);
        let radius = sqrt(max(opaque1((most - z) * (most + z), zero), 0.0));
        let scale = select(0.0, radius / across, across > 0.0);
        out = opaque(opaque(side * scale, zero) - opaque(n * z, zero), zero);
    }
    return out;
}

// Moves p, relative to the skinned position, within the limits.
fn limited(p: vec3f, normal: vec3f, row: SkinnedRow, zero: u32) -> vec3f {
    var out = p;
    let l = length(p);
    if l > row.max_distance {
        out = opaque(p * (row.max_distance / l), zero);
    }
    let size = length(normal);
    if row.backstop_radius > 0.0 && size > 0.0 {
        out = before_backstop(out, opaque(normal / size, zero), row, zero);
    }
    return out;
}

fn limit(i: u32) {
    let zero = params.zero;
    let row = rows[i];
    let x = positions[row.particle];
    if x.w == 0.0 {
        return;
    }
    let state = states[i];
    let pose = poses[i];
    let share = f32(state.substep) / f32(params.substeps);
    let moved = opaque((pose.position - state.position) * share, zero);
    let turn = opaque((pose.normal - state.normal) * share, zero);
    let d = displacements[row.particle].xyz;
    let p = opaque(opaque(opaque(x.xyz - state.position, zero) - moved, zero) + d, zero);
    let kept = limited(p, opaque(state.normal + turn, zero), row, zero);
    // Also writes the NaN of a pose that is not finite, which quarantines the particle.
    displacements[row.particle] = vec4f(d + opaque(kept - p, zero), 0.0);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn limit_skinned(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&rows) {
        return;
    }
    if states[i].substep == JUMP {
        states[i] = SkinnedState(poses[i].position, 0u, poses[i].normal, 0u);
    }
    states[i].substep += 1u;
    limit(i);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn limit_skinned_again(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < arrayLength(&rows) {
        limit(i);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn finish_skinned(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&rows) {
        return;
    }
    states[i].substep = 0u;
    // A pose that is not finite quarantines its particle in this step only.
    if is_finite(poses[i].position) && is_finite(poses[i].normal) {
        states[i].position = poses[i].position;
        states[i].normal = poses[i].normal;
    }
}
