// Damps the motion of each body relative to its rigid motion, and conserves linear and angular momentum (Müller et
// al. 2007, §3.5): v += k (v_cm + ω × r − v), with d = h v in place of v. ω = I⁻¹ L; I is regularised as in
// `solve_symmetric`.
// One workgroup per body; the threads take its particles in turn. Reads positions. Writes the displacements of its
// own body; bodies share no particle. Partial sums are added in the order of the threads.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// first particle, particle count
@group(0) @binding(3) var<storage, read> bodies: array<vec2u>;

// `group::THREADS` in src/constraints/group.rs.
const THREADS = 128u;

var<workgroup> partial: array<array<vec4f, 3>, THREADS>;

fn mass(x: vec4f) -> f32 {
    return select(0.0, 1.0 / x.w, x.w != 0.0);
}

// Returns the sum over all threads to every thread.
fn total(thread: u32, sums: array<vec4f, 3>) -> array<vec4f, 3> {
    workgroupBarrier();
    partial[thread] = sums;
    workgroupBarrier();
    var whole: array<vec4f, 3>;
    for (var other = 0u; other < THREADS; other++) {
        for (var k = 0u; k < 3u; k++) {
            whole[k] += partial[other][k];
        }
    }
    return whole;
}

@compute @workgroup_size(THREADS)
fn body_damping(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    if index >= arrayLength(&bodies) {
        return;
    }
    let body = bodies[index];
    let origin = positions[body.x].xyz;
    let end = body.x + body.y;

    // Σ m, Σ m x, Σ m d
    var sums: array<vec4f, 3>;
    for (var i = body.x + thread; i < end; i += THREADS) {
        let x = positions[i];
        let m = mass(x);
        sums[0] += vec4f((x.xyz - origin) * m, m);
        sums[1] += vec4f(displacements[i].xyz * m, 0.0);
    }
    sums = total(thread, sums);
    let weight = sums[0].w;
    if weight == 0.0 {
        return;
    }
    let center = opaque(sums[0].xyz / weight, params.zero);
    let d_cm = opaque(sums[1].xyz / weight, params.zero);

    // Σ m r × d = L, and I as its diagonal and (yz, zx, xy)
    sums = array<vec4f, 3>();
    for (var i = body.x + thread; i < end; i += THREADS) {
        let x = positions[i];
        let m = mass(x);
        let r = opaque((x.xyz - origin) - center, params.zero);
        let l = cross_product(r, opaque(displacements[i].xyz - d_cm, params.zero), params.zero);
        sums[0] += vec4f(opaque(l * m, params.zero), 0.0);
        let squares = opaque(opaque(r.yzx * r.yzx, params.zero) + r.zxy * r.zxy, params.zero);
        sums[1] += vec4f(opaque(squares * m, params.zero), 0.0);
        sums[2] -= vec4f(opaque(opaque(r.yzx * r.zxy, params.zero) * m, params.zero), 0.0);
    }
    sums = total(thread, sums);
    let omega = solve_symmetric(sums[1].xyz, sums[2].xyz, sums[0].xyz, params.zero);

    for (var i = body.x + thread; i < end; i += THREADS) {
        let x = positions[i];
        if x.w != 0.0 {
            let d = displacements[i].xyz;
            let rigid = opaque(d_cm + cross_product(omega, (x.xyz - origin) - center, params.zero), params.zero);
            displacements[i] = vec4f(d + (rigid - d) * params.body_damping, 0.0);
        }
    }
}
