// Loops over any number of colliders: `collider_count` of them.

// Returns the first collider that is near, or NONE.
fn first_near(x: vec3f, reach: f32) -> u32 {
    return near_from(0u, x, reach);
}

fn next_near(before: u32, x: vec3f, reach: f32) -> u32 {
    return near_from(before + 1u, x, reach);
}

fn near_from(first: u32, x: vec3f, reach: f32) -> u32 {
    let count = collider_count();
    var index = first;
    while index < count && !is_near(index, x, reach) {
        index++;
    }
    return select(NONE, index, index < count);
}
