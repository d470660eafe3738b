// Wind and air drag on the triangles around a particle; `Wind` in src/settings.rs has the law and its source.
// One thread a particle. Reads positions, displacements of its neighbours. Writes the acceleration of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read> ring_offsets: array<u32>;
@group(0) @binding(4) var<storage, read> ring_corners: array<vec2u>;
@group(0) @binding(5) var<storage, read_write> accelerations: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> status: Status;

const TAU = 6.28318530717958647692;

fn air_velocity(x: vec3f) -> vec3f {
    let time = f32(status.steps) * params.dt;
    let phase = TAU * (params.gust_frequency * time - dot(params.gust_wave, x));
    let swing = 0.5 * (sin(phase) + sin(2.3 * phase + 1.0));
    return params.wind_velocity * (1.0 + params.gust * swing);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn aerodynamics(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
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
    accelerations[i] = vec4f(force * (x0.w / (1.0 + rate * x0.w * params.h)), 0.0);
}
