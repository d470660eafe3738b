// Any number of colliders, in a storage buffer.

@group(0) @binding(5) var<storage, read> colliders: array<Collider>;

fn load_colliders() {
}

fn collider_count() -> u32 {
    return min(contact_params.collider_count, arrayLength(&colliders));
}

fn collider_at(index: u32) -> Collider {
    return colliders[index];
}
