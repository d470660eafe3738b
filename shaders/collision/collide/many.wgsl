// Any number of colliders, in a storage buffer.

@group(0) @binding(5) var<storage, read> colliders: array<Collider>;

fn load_colliders() {
}

// Returns the first collider that is near, or NONE.
fn first_near(x: vec3f, reach: f32) -> u32 {
    return near_from(0u, x, reach);
}

fn next_near(before: u32, x: vec3f, reach: f32) -> u32 {
    return near_from(before + 1u, x, reach);
}

fn near_from(first: u32, x: vec3f, reach: f32) -> u32 {
    let count = min(contact_params.collider_count, arrayLength(&colliders));
    var index = first;
    while index < count && !is_near(index, x, reach) {
        index++;
    }
    return select(NONE, index, index < count);
}

fn collider_at(index: u32) -> Collider {
    return colliders[index];
}
