// The rigid motion that has the linear and angular momentum of a set of particles: d_cm + ω × r, with ω = I⁻¹ L. I is
// regularised as in `solve_symmetric`.
// One workgroup per set; the threads take its particles in turn. Partial sums are added in the order of the threads.
// The pass declares `params`, `positions`, `particle_of(k)` (index of particle k) and `displacement_of(k)`.

// `group::THREADS` in src/constraints/group.rs.
const THREADS = 128u;

struct RigidMotion {
    origin: vec3f,
    // Relative to the origin.
    center: vec3f,
    // The rounding error of `center`.
    center_residual: vec3f,
    d_cm: vec3f,
    omega: vec3f,
    // True if any particle is free.
    is_free: bool,
}

var<workgroup> partial: array<array<vec4f, 3>, THREADS>;

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

// Of the particles first .. first + count. A pin counts with `pin_factor` times the mass of all free particles.
fn rigid_motion(thread: u32, first: u32, count: u32, pin_factor: f32) -> RigidMotion {
    let zero = params.zero;
    var rigid: RigidMotion;
    rigid.origin = positions[particle_of(first)].xyz;
    let end = first + count;

    // Free: Σ m x, Σ m; Σ m d. Pins: Σ x, their number.
    var sums: array<vec4f, 3>;
    for (var k = first + thread; k < end; k += THREADS) {
        let x = positions[particle_of(k)];
        let r = opaque(x.xyz - rigid.origin, zero);
        if x.w != 0.0 {
            let m = 1.0 / x.w;
            sums[0] += vec4f(opaque(r * m, zero), m);
            sums[1] += vec4f(opaque(displacement_of(k) * m, zero), 0.0);
        } else {
            sums[2] += vec4f(r, 1.0);
        }
    }
    sums = total(thread, sums);
    let free = sums[0].w;
    rigid.is_free = free != 0.0;
    // Without a free particle the rest is computed in vain: a return here would make the barriers of the second sum
    // non-uniform.
    let pin_mass = free * pin_factor;
    let weight = select(1.0, opaque1(free + opaque1(sums[2].w * pin_mass, zero), zero), rigid.is_free);
    rigid.center = opaque((sums[0].xyz + opaque(sums[2].xyz * pin_mass, zero)) / weight, zero);
    rigid.d_cm = opaque(sums[1].xyz / weight, zero);

    // Σ m r × d = L, and I as its diagonal and (yz, zx, xy); in w, Σ m r, which is 0 but for rounding.
    sums = array<vec4f, 3>();
    for (var k = first + thread; k < end; k += THREADS) {
        let x = positions[particle_of(k)];
        var m = pin_mass;
        var d = vec3f();
        if x.w != 0.0 {
            m = 1.0 / x.w;
            d = displacement_of(k);
        }
        let r = opaque((x.xyz - rigid.origin) - rigid.center, zero);
        let l = cross_product(r, opaque(d - rigid.d_cm, zero), zero);
        let rest = opaque(r * m, zero);
        sums[0] += vec4f(opaque(l * m, zero), rest.x);
        let squares = opaque(opaque(r.yzx * r.yzx, zero) + r.zxy * r.zxy, zero);
        sums[1] += vec4f(opaque(squares * m, zero), rest.y);
        sums[2] += vec4f(-opaque(opaque(r.yzx * r.zxy, zero) * m, zero), rest.z);
    }
    sums = total(thread, sums);
    rigid.omega = solve_symmetric(sums[1].xyz, sums[2].xyz, sums[0].xyz, zero);
    rigid.center_residual = opaque(vec3f(sums[0].w, sums[1].w, sums[2].w) / weight, zero);
    return rigid;
}

// ω × r at x.
fn rotation_at(rigid: RigidMotion, x: vec3f) -> vec3f {
    let r = opaque(opaque(x - rigid.origin, params.zero) - rigid.center, params.zero);
    return cross_product(rigid.omega, r, params.zero);
}
