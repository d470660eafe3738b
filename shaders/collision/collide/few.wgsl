// A few colliders: in a uniform buffer, and each by its own number, so that drivers load what is looked at once for all threads.
// `FEW`, `first_near`, `next_near` and `collider_at` are written by src/gpu/contacts/obstacles.rs.

@group(0) @binding(5) var<uniform> uniform_colliders: array<Collider, FEW>;
var<private> colliders: array<Collider, FEW>;

fn take_colliders() {
    colliders = uniform_colliders;
}
