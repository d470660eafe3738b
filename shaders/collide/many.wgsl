// Any number of colliders.

@group(0) @binding(5) var<storage, read> colliders: array<Collider>;

// The first from this one on that is near, or one that is not there.
fn next_near(first: u32, particle: Moving) -> u32 {
    let count = min(contact_params.collider_count, arrayLength(&colliders));
    var index = first;
    while index < count && !is_near(index, particle) {
        index++;
    }
    return select(contact_params.collider_count, index, index < count);
}

fn collider_at(index: u32) -> Collider {
    return colliders[index];
}
