// Computes the acceleration of each particle by wind, fields (shaders/integrate/shared/air.wgsl) and user forces.
// One thread per particle. Reads positions and displacements of neighbours, and forces. Writes only the acceleration
// of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read> ring_offsets: array<u32>;
@group(0) @binding(4) var<storage, read> ring_corners: array<vec2u>;
@group(0) @binding(5) var<storage, read_write> particle_accelerations: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> status: Status;
@group(0) @binding(7) var<storage, read> forces: array<vec4f>;

fn displacement_at(i: u32) -> vec3f {
    return displacements[i].xyz;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn accelerations(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    let air = air_of(params.wind_velocity, params.gust_wave, status.air);
    if i >= params.particle_count {
        return;
    }
    var a = acceleration_of(i, air);
    if by_thread(params.forces, i) == 1u {
        a += opaque(forces[i].xyz * positions[i].w, params.zero);
    }
    particle_accelerations[i] = vec4f(a, 0.0);
}
