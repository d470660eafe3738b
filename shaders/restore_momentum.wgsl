// Angular momentum of skins (`src/scene/skins.rs`): removes from each skin the rotation that has the angular momentum which the constraints
// within it have created, d −= ω × r.
//
// save_displacements: one thread a member of a skin. Copies its displacement.
// restore_momentum: one workgroup a skin (`shared/rigid_motion.wgsl`). Reads positions and the copies. Writes the displacements of its members,
// which belong to no other skin.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// first member, member count
@group(0) @binding(3) var<storage, read> skins: array<vec2u>;
// particles
@group(0) @binding(4) var<storage, read> members: array<u32>;
@group(0) @binding(5) var<storage, read_write> saved: array<vec4f>;

// `PIN_FACTOR` in src/reference/bodies.rs.
const PIN_FACTOR = 1e4;

fn particle_of(k: u32) -> u32 {
    return members[k];
}

fn displacement_of(k: u32) -> vec3f {
    return opaque(displacements[members[k]].xyz - saved[k].xyz, params.zero);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn save_displacements(@builtin(global_invocation_id) id: vec3u) {
    let k = thread_index(id);
    if k < arrayLength(&saved) {
        saved[k] = displacements[members[k]];
    }
}

@compute @workgroup_size(LANES)
fn restore_momentum(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let index = group.x + group.y * 65535u;
    if index >= arrayLength(&skins) {
        return;
    }
    let skin = skins[index];
    let created = rigid_motion(lane, skin.x, skin.y, PIN_FACTOR);
    if !created.is_free {
        return;
    }
    for (var k = skin.x + lane; k < skin.x + skin.y; k += LANES) {
        let i = members[k];
        let x = positions[i];
        if x.w != 0.0 {
            displacements[i] = vec4f(displacements[i].xyz - turn_at(created, x.xyz), 0.0);
        }
    }
}
