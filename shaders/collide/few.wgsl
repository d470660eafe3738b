// A few colliders: in a uniform buffer, and one call for each, so that drivers know which one it is and load it once for all threads.
// `FEW` and `collide_with_all` are written by src/gpu/contacts.rs.

@group(0) @binding(5) var<uniform> colliders: array<Collider, FEW>;
