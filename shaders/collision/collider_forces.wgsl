// Computes the force and torque on each collider: the sums of the impulses and moments of all particles, divided by dt.
// Reads collider contacts. Two passes:
//
// - mark_touched_colliders: one workgroup per block of particles. Writes the mask of the colliders that the block
//   touches.
// - collider_forces: one workgroup per collider. Thread t sums the particles t, t + THREADS, t + 2 THREADS, ... of the
//   blocks whose mask may contain the collider, so most particles that touch only others are skipped.
//   Thread 0 adds the partial sums in the order of the threads, so results are deterministic.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> collider_contacts: array<ColliderContact>;
// Per block: bit k is set if a particle touches a collider whose index is k modulo 32.
@group(0) @binding(2) var<storage, read_write> masks: array<u32>;
// two rows per collider: force, torque
@group(0) @binding(3) var<storage, read_write> forces: array<vec4f>;

// `group::THREADS` in src/constraints/group.rs.
const THREADS = 128u;
// Particles per block; `MASK_BLOCK` in src/gpu/contacts/force_passes.rs.
const MASK_BLOCK = 512u;

var<workgroup> partial: array<array<vec3f, 2>, THREADS>;
var<workgroup> partial_masks: array<u32, THREADS>;

fn bit_of(collider: u32) -> u32 {
    return 1u << (collider % 32u);
}

// `owner` is the index of the collider + 1, or 0.
fn mask_of(owner: u32) -> u32 {
    return select(bit_of(owner - 1u), 0u, owner == 0u);
}

@compute @workgroup_size(THREADS)
fn mark_touched_colliders(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let block = group.x + group.y * 65535u;
    var mask = 0u;
    for (var offset = thread; offset < MASK_BLOCK; offset += THREADS) {
        let i = block * MASK_BLOCK + offset;
        if i < params.particle_count {
            mask |= mask_of(collider_contacts[i].impulses[0].impulse.w);
            mask |= mask_of(collider_contacts[i].impulses[1].impulse.w);
        }
    }
    partial_masks[thread] = mask;
    workgroupBarrier();
    if thread == 0u && block < arrayLength(&masks) {
        var whole = 0u;
        for (var other = 0u; other < THREADS; other++) {
            whole |= partial_masks[other];
        }
        masks[block] = whole;
    }
}

// The impulse and the moment if they act on the collider, otherwise 0.
fn push_on(collider: u32, push: ColliderImpulse) -> array<vec3f, 2> {
    if push.impulse.w != collider + 1u {
        return array<vec3f, 2>();
    }
    return array(bitcast<vec3f>(push.impulse.xyz), push.moment.xyz);
}

@compute @workgroup_size(THREADS)
fn collider_forces(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    var sums: array<vec3f, 2>;
    for (var first = 0u; first < params.particle_count; first += MASK_BLOCK) {
        if (masks[first / MASK_BLOCK] & bit_of(index)) == 0u {
            continue;
        }
        for (var i = first + thread; i < min(first + MASK_BLOCK, params.particle_count); i += THREADS) {
            let one = push_on(index, collider_contacts[i].impulses[0]);
            let other = push_on(index, collider_contacts[i].impulses[1]);
            sums = array(sums[0] + one[0] + other[0], sums[1] + one[1] + other[1]);
        }
    }
    partial[thread] = sums;
    workgroupBarrier();
    if thread == 0u && 2u * index + 1u < arrayLength(&forces) {
        var whole: array<vec3f, 2>;
        for (var other = 0u; other < THREADS; other++) {
            whole[0] += partial[other][0];
            whole[1] += partial[other][1];
        }
        forces[2u * index] = vec4f(whole[0] / params.dt, 0.0);
        forces[2u * index + 1u] = vec4f(whole[1] / params.dt, 0.0);
    }
}
