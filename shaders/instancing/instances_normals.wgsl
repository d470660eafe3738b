// Computes the normals of all instances (shaders/integrate/shared/normal.wgsl) and advances the clock, which must not
// change during instances.wgsl.
// One workgroup per instance. Reads positions. Writes the normals of its own particles; the first thread of all
// writes the status.

@group(0) @binding(0) var<uniform> pool: PoolParams;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> live: array<u32>;
@group(0) @binding(4) var<storage, read> asset: array<u32>;
@group(0) @binding(5) var<storage, read_write> status: Status;
@group(0) @binding(6) var<storage, read_write> surface_normals: array<vec4f>;

fn position_at(k: u32) -> vec4f {
    return positions[first_particle + k];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn instances_normals(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    if index == 0u && thread == 0u {
        status.steps += 1u;
        status.last_h = params.h;
    }
    if index >= pool.count || !SURFACES {
        return;
    }
    first_particle = live[index] * ASSET_PARTICLES;
    for (var k = thread; k < ASSET_PARTICLES; k += WORKGROUP_SIZE) {
        surface_normals[first_particle + k] = vec4f(normal_of(k), 0.0);
    }
}
