// Any number of colliders, one after another.

@group(0) @binding(5) var<storage, read> colliders: array<Collider>;

fn collide_with_all(i: u32, material: u32) {
    for (var index = 0u; index < min(contact_params.collider_count, arrayLength(&colliders)); index++) {
        collide_with(i, material, index);
    }
}
