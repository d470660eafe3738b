// Restitution: what an impact gives back is put into the velocity after the particle has moved (Müller et al. 2020, §3.6).
// One thread a particle. Reads touches. Writes the displacement of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> touches: array<Touch>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn bounce(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < params.particle_count {
        displacements[i] = vec4f(displacements[i].xyz + touches[i].bounce.xyz, 0.0);
    }
}
