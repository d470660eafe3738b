// The accelerations of a particle by wind and air drag on the triangles around it (`Wind` in src/settings.rs has the law and
// its source), by fields (`Field`), and by the user's forces.
// One thread a particle. Reads positions and displacements of its neighbours, forces. Writes the acceleration of its own
// particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read> ring_offsets: array<u32>;
@group(0) @binding(4) var<storage, read> ring_corners: array<vec2u>;
@group(0) @binding(5) var<storage, read_write> particle_accelerations: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> status: Status;
@group(0) @binding(7) var<storage, read> forces: array<vec4f>;

const TAU = 6.28318530717958647692;

fn air_velocity(x: vec3f) -> vec3f {
    let time = f32(status.steps) * params.dt;
    let phase = TAU * (params.gust_frequency * time - dot(params.gust_wave, x));
    let swing = 0.5 * (sin(phase) + sin(2.3 * phase + 1.0));
    let wind = params.wind_velocity * (1.0 + params.gust * swing);
    if by_thread(u32(params.turbulence > 0.0), status.steps) == 1u {
        return wind + noise((x - params.wind_velocity * time) * params.turbulence_scale) * params.turbulence;
    }
    return wind;
}

// Three numbers from −1 to 1 that look random, for each cell (Jarzynski, Olano 2020, `pcg3d`).
fn random(cell: vec3f) -> vec3f {
    var v = bitcast<vec3u>(vec3i(cell)) * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> vec3u(16u);
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    return vec3f(v >> vec3u(8u)) * (1.0 / 8388608.0) - vec3f(1.0);
}

// A smooth noise of a place, −1 to 1 in each direction: values at the corners of unit cells, blended.
fn noise(place: vec3f) -> vec3f {
    let p = clamp(place, vec3f(-1e6), vec3f(1e6));
    let cell = floor(p);
    let f = p - cell;
    let s = f * f * (vec3f(3.0) - f * 2.0);
    var along: array<vec3f, 4>;
    for (var k = 0u; k < 4u; k++) {
        let corner = cell + vec3f(0.0, f32(k & 1u), f32(k >> 1u));
        let start = random(corner);
        along[k] = opaque(start + (random(corner + vec3f(1.0, 0.0, 0.0)) - start) * s.x, params.zero);
    }
    let low = opaque(along[0] + (along[1] - along[0]) * s.y, params.zero);
    let high = opaque(along[2] + (along[3] - along[2]) * s.y, params.zero);
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

// The acceleration by drag and lift.
fn aerodynamics(i: u32) -> vec3f {
    let x0 = positions[i];
    let d0 = displacements[i].xyz;
    var force = vec3f();
    var rate = 0.0;
    let end = ring_offsets[i + 1u];
    for (var corner = ring_offsets[i]; corner < end; corner++) {
        let others = ring_corners[corner];
        let x1 = positions[others.x].xyz;
        let x2 = positions[others.y].xyz;
        let center = (x0.xyz + x1 + x2) / 3.0;
        let travel = d0 + displacements[others.x].xyz + displacements[others.y].xyz;
        let v = travel / (3.0 * params.h) - air_velocity(center);
        let area_normal = cross_product(x1 - x0.xyz, x2 - x0.xyz, params.zero);
        let speed = length(v);
        let double_area = length(area_normal);
        if speed == 0.0 || double_area == 0.0 {
            continue;
        }
        let along = v / speed;
        var n = area_normal / double_area;
        if dot(n, along) < 0.0 {
            n = -n;
        }
        let facing = dot(n, along);
        let pressure = 0.5 * double_area * speed * speed * facing;
        let push = along * params.drag + (n - along * facing) * params.lift;
        force -= push * (pressure / 3.0);
        rate += double_area * speed * (params.drag + params.lift) / 6.0;
    }
    // The implicit step of the drag, which cannot turn the motion round however light the cloth.
    return force * (x0.w / (1.0 + rate * x0.w * params.h));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn accelerations(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    var a = vec3f();
    if by_thread(params.wind, i) == 1u {
        a = aerodynamics(i);
    }
    for (var k = 0u; k < by_thread(params.field_count, i); k++) {
        a += field_acceleration(params.fields[k], positions[i].xyz);
    }
    if by_thread(params.forces, i) == 1u {
        a += opaque(forces[i].xyz * positions[i].w, params.zero);
    }
    particle_accelerations[i] = vec4f(a, 0.0);
}
