// Accelerations by wind and air drag on the triangles around a particle (law and source: `Wind` in
// src/settings/wind.rs), and by fields (`Field`).
// accelerations.wgsl and instances.wgsl include it. They define the bindings, `position_at`, `displacement_at`,
// `ring_of` (first and end corner of a particle) and `corner_at`.

const TWO_PI = 6.28318530717958647692;

// Of the same names in src/sim/params.rs: cells, and cycles.
const NOISE_PERIOD = 4096.0;
const GUST_PERIOD = 10.0;
// 2³²
const UNIT = 4294967296.0;

// Parameters of the air, copied from `Params` before the first branch.
struct Air {
    // Mean velocity [m/s].
    velocity: vec3f,
    // Wave vector of the gusts [1/m].
    gust_wave: vec3f,
    // Origin of the turbulence and gusts [m].
    origin: vec3f,
    // Motion of the turbulence since the start [cells], and of the gusts [cycles], each within its period.
    motion: vec4f,
    gust: f32,
    turbulence: f32,
    turbulence_scale: f32,
    drag: f32,
    lift: f32,
    h: f32,
    zero: u32,
}

// `moved` is the motion of turbulence and gusts in 2⁻³² of their periods.
fn air_of(velocity: vec3f, gust_wave: vec3f, moved: vec4u) -> Air {
    let motion = vec4f(moved) * (vec4f(vec3f(NOISE_PERIOD), GUST_PERIOD) / UNIT);
    return Air(velocity, gust_wave, params.air_origin, motion, params.gust, params.turbulence, params.turbulence_scale,
        params.drag, params.lift, params.h, params.zero);
}

fn air_velocity(position: vec3f, air: Air) -> vec3f {
    let x = opaque(position - air.origin, air.zero);
    let phase = TWO_PI * (air.motion.w - dot(air.gust_wave, x));
    let swing = 0.5 * (sin(phase) + sin(2.3 * phase + 1.0));
    let wind = air.velocity * (1.0 + air.gust * swing);
    if by_thread(u32(air.turbulence > 0.0), status.steps) == 1u {
        return wind + noise(x * air.turbulence_scale - air.motion.xyz, air.zero) * air.turbulence;
    }
    return wind;
}

// Returns three hashed values in −1 … 1 for a cell, with the period of the noise (Jarzynski, Olano 2020, `pcg3d`).
fn random(cell: vec3f) -> vec3f {
    var v = (bitcast<vec3u>(vec3i(cell)) & vec3u(u32(NOISE_PERIOD) - 1u)) * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> vec3u(16u);
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    return vec3f(v >> vec3u(8u)) * (1.0 / 8388608.0) - vec3f(1.0);
}

// Returns value noise, −1 … 1 per component: values at the corners of unit cells, interpolated.
fn noise(place: vec3f, zero: u32) -> vec3f {
    let p = clamp(place, vec3f(-1e6), vec3f(1e6));
    let cell = floor(p);
    let f = p - cell;
    let s = f * f * (vec3f(3.0) - f * 2.0);
    var along: array<vec3f, 4>;
    for (var k = 0u; k < 4u; k++) {
        let corner = cell + vec3f(0.0, f32(k & 1u), f32(k >> 1u));
        let start = random(corner);
        along[k] = opaque(start + (random(corner + vec3f(1.0, 0.0, 0.0)) - start) * s.x, zero);
    }
    let low = opaque(along[0] + (along[1] - along[0]) * s.y, zero);
    let high = opaque(along[2] + (along[3] - along[2]) * s.y, zero);
    return low + (high - low) * s.z;
}

fn field_acceleration(field: Field, x: vec3f) -> vec3f {
    let apart = opaque(field.position - x, params.zero);
    let vortex = dot(field.axis, field.axis) > 0.0;
    var out = apart;
    if vortex {
        out = opaque(apart - field.axis * dot(field.axis, apart), params.zero);
    }
    let distance = length(out);
    if distance == 0.0 {
        return vec3f();
    }
    var along = out;
    if vortex {
        along = cross_product(out, field.axis, params.zero);
    }
    let part = distance * field.scale;
    return opaque(along * (field.strength / (distance * (1.0 + part * part))), params.zero);
}

// Returns the acceleration by drag and lift. Each triangle around the particle adds a third of its force, with n
// turned so that v·n ≥ 0: −½ ρ A |v| (v·n) (C_D v̂ + C_L (n − (n·v̂) v̂)).
fn aerodynamics(i: u32, air: Air) -> vec3f {
    let x0 = position_at(i);
    let d0 = displacement_at(i);
    let wind = air_velocity(x0.xyz, air);
    let per_substep = 1.0 / (3.0 * air.h);
    var force = vec3f();
    var rate = 0.0;
    let ring = ring_of(i);
    for (var corner = ring.x; corner < ring.y; corner++) {
        let others = corner_at(corner);
        let travel = d0 + displacement_at(others.x) + displacement_at(others.y);
        let v = travel * per_substep - wind;
        let area_normal =
            cross_product(position_at(others.x).xyz - x0.xyz, position_at(others.y).xyz - x0.xyz, air.zero);
        let speed = length(v);
        let double_area = length(area_normal);
        let most = double_area * speed;
        let flow = dot(area_normal, v);
        if most == 0.0 {
            continue;
        }
        let facing = min(abs(flow) / most, 1.0);
        force -= abs(flow) * (air.drag - air.lift * facing) * v + (flow * air.lift * speed / double_area) * area_normal;
        rate += most;
    }
    // The drag is integrated implicitly, so that it cannot reverse the motion of light cloth.
    return (force / 6.0) * (x0.w / (1.0 + rate * (air.drag + air.lift) / 6.0 * x0.w * air.h));
}

// Returns the acceleration by wind and fields.
fn acceleration_of(i: u32, air: Air) -> vec3f {
    var a = vec3f();
    if by_thread(params.wind, i) == 1u {
        a = aerodynamics(i, air);
    }
    for (var k = 0u; k < by_thread(params.field_count, i); k++) {
        a += field_acceleration(params.fields[k], position_at(i).xyz);
    }
    return a;
}
