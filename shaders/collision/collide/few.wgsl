// FEW colliders in a uniform buffer. All indices are constants, so drivers load the colliders once for all threads.
// src/gpu/contacts/collider_passes.rs generates `FEW`, `first_near`, `next_near` and `collider_at`.

@group(0) @binding(5) var<uniform> uniform_colliders: array<Collider, FEW>;
var<private> colliders: array<Collider, FEW>;

fn load_colliders() {
    colliders = uniform_colliders;
}
