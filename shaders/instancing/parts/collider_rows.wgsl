// Colliders of all instances. instances_colliders.wgsl writes the rows, parts/collide.wgsl reads them.

struct ColliderRows {
    // Planes, heights and distances of all shapes.
    data: array<f32, COLLIDER_DATA>,
    // By substep of the step, then by collider.
    rows: array<Collider>,
}
