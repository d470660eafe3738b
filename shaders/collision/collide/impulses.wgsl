// Impulses on colliders, which each particle keeps for up to two of them.

// Records an impulse on a collider and its normal part; `arm` is the offset from its position.
fn push_on(i: u32, index: u32, impulse: vec3f, normal: f32, arm: vec3f) {
    let moment = cross_product(arm, impulse, params.zero);
    // Most particles touch one collider: software drivers execute all iterations of a loop that they can unroll, so
    // the bound is not constant.
    for (var slot = 0u; slot < by_thread(2u, i); slot++) {
        let before = collider_contacts[i].impulses[slot].impulse;
        let taken = before.w != 0u;
        if !taken || before.w == index + 1u {
            let sum = select(vec3f(), bitcast<vec3f>(before.xyz), taken) + impulse;
            let moments = select(vec4f(), collider_contacts[i].impulses[slot].moment, taken) + vec4f(moment, normal);
            collider_contacts[i].impulses[slot].impulse = vec4u(bitcast<vec3u>(sum), index + 1u);
            collider_contacts[i].impulses[slot].moment = moments;
            return;
        }
    }
    atomicAdd(&status.lost_collider_contacts, 1u);
}
