// Access to the colliders of a scene, in the storage of few.wgsl or stored.wgsl, and to the data of their shapes.

fn bound_at(index: u32) -> ColliderBound {
    let up = colliders[index].frame.rows[1].xyz;
    return ColliderBound(offset_of(colliders[index].frame), up, colliders[index].near, colliders[index].above);
}

fn data_at(at: u32) -> f32 {
    return collider_data[at];
}
