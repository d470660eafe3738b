// Moves the particles by the sum of their corrections.
// One thread a particle. Writes displacement and corrections of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// In quanta, and how many contacts it has.
@group(0) @binding(3) var<storage, read_write> corrections: array<vec4i>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn settle(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let sum = corrections[i];
    if any(sum.xyz != vec3i()) {
        corrections[i] = vec4i(0, 0, 0, sum.w);
        let correction = opaque(vec3f(sum.xyz) * contact_params.quantum, params.zero);
        displacements[i] = vec4f(displacements[i].xyz + correction, 0.0);
    }
}
