// Sets the velocity of kinematic particles so that they reach their targets within the step: v = (target − x)/dt. For
// an orientation, target and position are modified Rodrigues parameters, and the velocity is an angular velocity.
// One thread per target. Reads goals and positions. Writes the velocity of its own particle or orientation; none has
// two targets.

struct Target {
    position: vec3f,
    particle: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> goals: array<Target>;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> velocities: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn targets(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    // An encoder recorded before the targets outgrew their buffer still binds the old buffer.
    if i >= min(params.target_count, arrayLength(&goals)) {
        return;
    }
    let goal = goals[i];
    // w = 1: start.wgsl converts this velocity to a displacement.
    let place = positions[goal.particle].xyz;
    var moved = goal.position - place;
    if goal.particle >= params.particle_count {
        moved = rotation_between(place, goal.position, params.zero);
    }
    velocities[goal.particle] = vec4f(moved / params.dt, 1.0);
}
