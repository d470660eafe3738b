// Damps the motion of each body relative to its rigid motion, and conserves linear and angular momentum (Müller et
// al. 2007, §3.5): v += k (v_cm + ω × r − v), with d = h v in place of v.
// One workgroup per body (`shaders/integrate/shared/rigid_motion.wgsl`). Reads positions. Writes the displacements of
// its own body; bodies share no particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// first particle, particle count
@group(0) @binding(3) var<storage, read> bodies: array<vec2u>;

fn particle_of(k: u32) -> u32 {
    return k;
}

fn displacement_of(k: u32) -> vec3f {
    return displacements[k].xyz;
}

@compute @workgroup_size(THREADS)
fn body_damping(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    if index >= arrayLength(&bodies) {
        return;
    }
    let body = bodies[index];
    let rigid = rigid_motion(thread, body.x, body.y, 0.0);
    if !rigid.is_free {
        return;
    }
    for (var i = body.x + thread; i < body.x + body.y; i += THREADS) {
        let x = positions[i];
        if x.w != 0.0 {
            let d = displacements[i].xyz;
            let motion = opaque(rigid.d_cm + rotation_at(rigid, x.xyz), params.zero);
            displacements[i] = vec4f(d + (motion - d) * params.body_damping, 0.0);
        }
    }
}
