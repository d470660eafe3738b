// Restitution: what an impact gives back is put into the velocity after the particle has moved (Müller et al. 2020, §3.6); and what took it out
// of a collider is taken off again.
// One thread a particle. Takes what its own particle's touch holds.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> touches: array<Touch>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn bounce(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let bounce = touches[i].bounce;
    if any(bounce != vec4f()) {
        displacements[i] = vec4f(displacements[i].xyz + bounce.xyz, 0.0);
        touches[i].bounce = vec4f();
    }
}
