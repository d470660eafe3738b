// Moves followers: massless particles of surfaces that are drawn but not simulated. x = Σ w x over four source
// particles, and the same for velocities (linear free-form deformation, Sederberg, Parry 1986).
// One thread per follower. Reads its sources, which are no followers. Writes position, velocity and displacement of
// its own particle, and counts it if its position or velocity would not be finite: it then stays in place.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> velocities: array<vec4f>;
// three rows per follower: particle, 0, 0, 0; sources; weights (bits)
@group(0) @binding(3) var<storage, read> followers: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> residuals: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> status: Status;

// Blends relative to the first source, so that only differences are rounded.
fn blend(x: array<vec3f, 4>, weights: vec4f) -> vec3f {
    var sum = opaque((x[1] - x[0]) * weights.y, params.zero);
    sum = opaque(sum + opaque((x[2] - x[0]) * weights.z, params.zero), params.zero);
    sum = opaque(sum + opaque((x[3] - x[0]) * weights.w, params.zero), params.zero);
    return x[0] + sum;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn follow(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= arrayLength(&followers) / 3u {
        return;
    }
    let particle = followers[3u * i].x;
    let s = followers[3u * i + 1u];
    let weights = bitcast<vec4f>(followers[3u * i + 2u]);
    let x = array(positions[s.x].xyz, positions[s.y].xyz, positions[s.z].xyz, positions[s.w].xyz);
    let v = array(velocities[s.x].xyz, velocities[s.y].xyz, velocities[s.z].xyz, velocities[s.w].xyz);
    let place = blend(x, weights);
    let velocity = blend(v, weights);
    if is_finite(place) && is_finite(velocity) {
        positions[particle] = vec4f(place, 0.0);
        velocities[particle] = vec4f(velocity, 0.0);
    } else {
        velocities[particle] = vec4f();
        atomicAdd(&status.non_finite_count, 1u);
        atomicMin(&status.first_non_finite, particle);
    }
    // A follower has no displacement during a step.
    displacements[particle] = vec4f();
    residuals[particle] = vec4u();
}
