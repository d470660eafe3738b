// Bounds of colliders, tested before a whole collider is loaded.

const NONE = 0xffffffffu;

// Returns false if the bounds exclude a contact of a point that moves by at most `reach`. For a static half-space the
// height above its plane counts too, with a tolerance for rounding.
fn is_near(index: u32, x: vec3f, reach: f32) -> bool {
    let apart = x - offset_of(colliders[index].frame);
    let height = dot(apart, colliders[index].frame.rows[1].xyz);
    let near = colliders[index].near + reach;
    let above = colliders[index].above + 1.001 * reach + 4e-6 * sum_of_components(apart);
    return dot(apart, apart) <= near * near && height <= above;
}

// Bounds the length from above without a square root.
fn sum_of_components(v: vec3f) -> f32 {
    return abs(v.x) + abs(v.y) + abs(v.z);
}
