// Interpolates the pose of each collider at the start and end of the next substep, and precomputes values that all
// particles share.
// One thread per collider. Writes its own collider. Counterpart: src/reference/colliders.rs, which does not need
// `above`.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read_write> colliders: array<Collider>;

// Larger than any distance.
const NEVER = 3e38;

@compute @workgroup_size(WORKGROUP_SIZE)
fn interpolate_colliders(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    // As in commit_colliders.wgsl.
    if i >= min(contact_params.collider_count, arrayLength(&colliders)) {
        return;
    }
    let zero = params.zero;
    let c = colliders[i];
    let step_share = opaque1(1.0 / f32(contact_params.substeps), zero);
    let start = frame_after(c, opaque1(f32(c.substep) * step_share, zero), zero);
    let end = frame_after(c, opaque1(f32(c.substep + 1u) * step_share, zero), zero);
    // (R₁ − R₀) R₀ᵀ and the translation give the displacement of a point from its offset. R₁ R₀ᵀ − 1 would not be
    // exactly 0 for a collider without rotation, and friction would then move particles.
    var travel: ColliderFrame;
    var turns: array<vec3f, 3>;
    if (c.flags & MOVING) != 0u {
        for (var k = 0u; k < 3u; k++) {
            turns[k] = opaque(end.rows[k].xyz - start.rows[k].xyz, zero);
        }
        for (var k = 0u; k < 3u; k++) {
            let across = vec3f(turns[0][k], turns[1][k], turns[2][k]);
            let step = opaque1(end.rows[k].w - start.rows[k].w, zero);
            travel.rows[k] = vec4f(turned_out_of(start, across, zero), step);
        }
    }
    let keep = opaque1(c.margin + contact_params.thickness, zero);
    let way = opaque1(length(offset_of(travel)), zero);
    colliders[i].substep = c.substep + 1u;
    for (var k = 0u; k < 3u; k++) {
        colliders[i].frame.rows[k] = vec4f(end.rows[k].xyz, start.rows[k].w);
    }
    colliders[i].travel = travel;
    colliders[i].surface_step = turned_out_of(end, opaque(c.surface_velocity * params.h, zero), zero);
    colliders[i].near = opaque1(c.bound + keep, zero) + way;
    colliders[i].above = select(NEVER, keep, c.shape == HALF_SPACE && (c.flags & MOVING) == 0u);
}
