// Accessors of the triangles of an instance; instances.wgsl and instances_normals.wgsl include it and define the
// bindings.

// Parameters of a dispatch; counterpart in src/gpu/instance_pool.rs.
struct PoolParams {
    substeps: u32,
    iterations: u32,
    // 1 if tethers are enabled
    tethers: u32,
    // number of instances
    count: u32,
}

// First particle of the instance of this thread.
var<private> first_particle: u32;

fn ring_of(k: u32) -> vec2u {
    return vec2u(asset[RINGS_AT + k], asset[RINGS_AT + k + 1u]);
}

fn corner_at(corner: u32) -> vec2u {
    return vec2u(asset[CORNERS_AT + 2u * corner], asset[CORNERS_AT + 2u * corner + 1u]);
}
