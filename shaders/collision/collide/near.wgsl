// Loops over the colliders near a point, by their bounds, in the order of their indices. The including file declares
// `bound_at` and `near_from`.

const NONE = 0xffffffffu;

// False with one collider: exits among several are not compiled, nor in a scene the search for others.
override SEVERAL: bool = true;

// Bounds of a collider in a substep: members of `Collider`.
struct ColliderBound {
    // Position at the start, and direction away from a half-space.
    center: vec3f,
    up: vec3f,
    near: f32,
    above: f32,
}

// Returns false if the bounds exclude a contact of a point that moves by at most `reach`. For a static half-space the
// height above its plane counts too, with a tolerance for rounding.
fn is_near(index: u32, x: vec3f, reach: f32) -> bool {
    let bound = bound_at(index);
    let apart = opaque(x - bound.center, params.zero);
    let near = bound.near + reach;
    let above = opaque1(bound.above + opaque1(1.001 * reach, params.zero), params.zero)
        + opaque1(4e-6 * sum_of_components(apart), params.zero);
    return dot(apart, apart) <= near * near && dot(apart, bound.up) <= above;
}

// Bounds the length from above without a square root.
fn sum_of_components(v: vec3f) -> f32 {
    return abs(v.x) + abs(v.y) + abs(v.z);
}

// Returns the first collider that is near, or NONE.
fn first_near(x: vec3f, reach: f32) -> u32 {
    return near_from(0u, x, reach);
}

fn next_near(before: u32, x: vec3f, reach: f32) -> u32 {
    return near_from(before + 1u, x, reach);
}
