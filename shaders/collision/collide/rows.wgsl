// Access to the colliders of a scene, and to the data of their shapes. The including module declares `contact_params` and
// `collider_data`; near.wgsl and slabs.wgsl have the rest.

@group(0) @binding(5) var<storage, read> colliders: array<Collider>;

fn collider_count() -> u32 {
    return min(contact_params.collider_count, arrayLength(&colliders));
}

fn collider_at(index: u32) -> Collider {
    return colliders[index];
}

fn bound_at(index: u32) -> ColliderBound {
    let up = colliders[index].frame.rows[1].xyz;
    return ColliderBound(offset_of(colliders[index].frame), up, colliders[index].near, colliders[index].above);
}

fn data_at(at: u32) -> f32 {
    return bitcast<f32>(collider_data[shapes_at() + at]);
}
