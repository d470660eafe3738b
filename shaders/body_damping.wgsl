// Momentum-conserving damping (Müller et al. 2007, §3.5): each body loses a share k of its motion against itself,
// v += k (v_cm + ω × r − v), with the displacement d = h v in place of v. Linear and angular momentum of the body stay.
// One workgroup a body (`shared/rigid_motion.wgsl`). Reads positions. Writes the displacements of its body, which no other body shares.

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

@compute @workgroup_size(LANES)
fn body_damping(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let index = group.x + group.y * 65535u;
    if index >= arrayLength(&bodies) {
        return;
    }
    let body = bodies[index];
    let rigid = rigid_motion(lane, body.x, body.y, 0.0);
    if !rigid.is_free {
        return;
    }
    for (var i = body.x + lane; i < body.x + body.y; i += LANES) {
        let x = positions[i];
        if x.w != 0.0 {
            let d = displacements[i].xyz;
            let motion = opaque(rigid.d_cm + turn_at(rigid, x.xyz), params.zero);
            displacements[i] = vec4f(d + (motion - d) * params.body_damping, 0.0);
        }
    }
}
