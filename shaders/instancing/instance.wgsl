// Where the particles of an instance and their triangles lie: what instances.wgsl and instances_normals.wgsl share. They have the bindings.

// What a dispatch runs; `CrowdRow` in src/gpu/pool.rs.
struct PoolParams {
    substeps: u32,
    iterations: u32,
    // 1 where tethers hold.
    tethers: u32,
    // How many instances there are.
    count: u32,
}

// That of the instance that a workgroup keeps.
var<private> first_particle: u32;

fn ring_of(k: u32) -> vec2u {
    return vec2u(asset[RINGS_AT + k], asset[RINGS_AT + k + 1u]);
}

fn corner_at(corner: u32) -> vec2u {
    return vec2u(asset[CORNERS_AT + 2u * corner], asset[CORNERS_AT + 2u * corner + 1u]);
}
