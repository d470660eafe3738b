// Computes the force and torque on each collider: the sums of the impulses and moments of all particles, divided by dt.
// One workgroup per collider; thread t sums the particles t, t + THREADS, t + 2 THREADS, ... Reads collider contacts.
// Each workgroup writes only the force and torque of its own collider. Thread 0 adds the partial sums in the order of
// the threads, so results are deterministic.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> collider_contacts: array<ColliderContact>;
// two rows per collider: force, torque
@group(0) @binding(3) var<storage, read_write> forces: array<vec4f>;

// `group::THREADS` in src/constraints/group.rs.
const THREADS = 128u;

var<workgroup> partial: array<array<vec3f, 2>, THREADS>;

@compute @workgroup_size(THREADS)
fn collider_forces(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    var sums: array<vec3f, 2>;
    for (var i = thread; i < params.particle_count; i += THREADS) {
        for (var slot = 0u; slot < 2u; slot++) {
            let push = collider_contacts[i].impulses[slot];
            if push.impulse.w == index + 1u {
                sums[0] += bitcast<vec3f>(push.impulse.xyz);
                sums[1] += push.moment.xyz;
            }
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
