// Removes from each skin (`src/schedule/skins.rs`) the angular momentum that the constraints within it have created:
// d −= ω × r. See docs/decisions/0025-balloon-skins.md.
// save_displacements: one thread per member of a skin. Reads displacements. Writes the saved displacement of its member.
// restore_momentum: one workgroup per skin (`shaders/integrate/shared/rigid_motion.wgsl`). Reads positions and saved
// displacements. Writes the displacements of its members; skins share no particle.

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

@compute @workgroup_size(THREADS)
fn restore_momentum(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    if index >= arrayLength(&skins) {
        return;
    }
    let skin = skins[index];
    var created = rigid_motion(thread, skin.x, skin.y, PIN_FACTOR);
    if !created.is_free {
        return;
    }
    created.center = opaque(created.center + created.center_residual, params.zero);
    for (var k = skin.x + thread; k < skin.x + skin.y; k += THREADS) {
        let i = members[k];
        let x = positions[i];
        if x.w != 0.0 {
            displacements[i] = vec4f(displacements[i].xyz - rotation_at(created, x.xyz), 0.0);
        }
    }
}
