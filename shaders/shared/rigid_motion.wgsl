// The rigid motion of some particles that has their momentum and their angular momentum: d_cm + ω × r, with ω = I⁻¹ L, I being kept from
// singularity as in `solve_symmetric`. One workgroup a set of particles, whose threads take them in turns; the sums go through workgroup memory
// and are added in the order of the lanes. The pass has `params`, `positions`, `particle_of(k)`, the index of particle k, and
// `displacement_of(k)`, its motion.

// `group::LANES` in src/kinds/group.rs.
const LANES = 128u;

struct RigidMotion {
    origin: vec3f,
    // Relative to the origin.
    center: vec3f,
    d_cm: vec3f,
    omega: vec3f,
    // Whether any particle is free.
    is_free: bool,
}

var<workgroup> partial: array<array<vec4f, 3>, LANES>;

// The sum over all lanes, for every lane.
fn total(lane: u32, sums: array<vec4f, 3>) -> array<vec4f, 3> {
    workgroupBarrier();
    partial[lane] = sums;
    workgroupBarrier();
    var whole: array<vec4f, 3>;
    for (var other = 0u; other < LANES; other++) {
        for (var k = 0u; k < 3u; k++) {
            whole[k] += partial[other][k];
        }
    }
    return whole;
}

// Of the particles first .. first + count. A pin counts `pin_factor` times the mass of all that is free.
fn rigid_motion(lane: u32, first: u32, count: u32, pin_factor: f32) -> RigidMotion {
    let zero = params.zero;
    var rigid: RigidMotion;
    rigid.origin = positions[particle_of(first)].xyz;
    let end = first + count;

    // Free: Σ m x, Σ m; Σ m d. Pins: Σ x, their number.
    var sums: array<vec4f, 3>;
    for (var k = first + lane; k < end; k += LANES) {
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
    sums = total(lane, sums);
    let free = sums[0].w;
    rigid.is_free = free != 0.0;
    if !rigid.is_free {
        return rigid;
    }
    let pin_mass = free * pin_factor;
    let weight = opaque1(free + opaque1(sums[2].w * pin_mass, zero), zero);
    rigid.center = opaque((sums[0].xyz + opaque(sums[2].xyz * pin_mass, zero)) / weight, zero);
    rigid.d_cm = opaque(sums[1].xyz / weight, zero);

    // L, and I as its diagonal and (yz, zx, xy); beside them Σ m r, which rounding has left.
    sums = array<vec4f, 3>();
    for (var k = first + lane; k < end; k += LANES) {
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
    sums = total(lane, sums);
    rigid.omega = solve_symmetric(sums[1].xyz, sums[2].xyz, sums[0].xyz, zero);
    rigid.center = opaque(rigid.center + opaque(vec3f(sums[0].w, sums[1].w, sums[2].w) / weight, zero), zero);
    return rigid;
}

// ω × r at x.
fn turn_at(rigid: RigidMotion, x: vec3f) -> vec3f {
    let r = opaque(opaque(x - rigid.origin, params.zero) - rigid.center, params.zero);
    return cross_product(rigid.omega, r, params.zero);
}
