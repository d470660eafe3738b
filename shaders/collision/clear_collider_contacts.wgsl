// Marks both impulses of each collider contact as unused (`impulse.w` = 0) at the start of a step.
// One thread per particle. Each thread writes only the collider contact of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> collider_contacts: array<ColliderContact>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn clear_collider_contacts(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    collider_contacts[i].impulses[0].impulse.w = 0u;
    collider_contacts[i].impulses[1].impulse.w = 0u;
}
