// Draws the cloth and the cube of `embed.rs`. A vertex of the cloth is a particle.

struct Frame {
    view_projection: mat4x4f,
    // The time by which the picture is behind the last step [s].
    lag: f32,
}

@group(0) @binding(0) var<uniform> frame: Frame;

struct Out {
    @builtin(position) clip: vec4f,
    @location(0) normal: vec3f,
    @location(1) texture: vec2f,
}

@vertex
fn cloth(
    @location(0) position: vec4f,
    @location(1) normal: vec4f,
    @location(2) velocity: vec4f,
    @location(3) texture: vec2f,
) -> Out {
    let place = position.xyz - frame.lag * velocity.xyz;
    return Out(frame.view_projection * vec4f(place, 1.0), normal.xyz, texture);
}

@vertex
fn cube(@builtin(vertex_index) i: u32) -> Out {
    let face = i / 6u;
    let corner = array(vec2f(-1, -1), vec2f(1, -1), vec2f(-1, 1), vec2f(-1, 1), vec2f(1, -1), vec2f(1, 1))[i % 6u];
    let side = f32(face % 2u) * 2.0 - 1.0;
    let p = array(vec3f(side, corner), vec3f(corner.x, side, corner.y), vec3f(corner, side))[face / 2u];
    let n = array(vec3f(side, 0, 0), vec3f(0, side, 0), vec3f(0, 0, side))[face / 2u];
    return Out(frame.view_projection * vec4f(p * 0.345 + vec3f(0.0, -0.9, 0.1), 1.0), n, vec2f());
}

fn lit(color: vec3f, normal: vec3f) -> vec4f {
    return vec4f(color * (0.55 + 0.45 * dot(normalize(normal), normalize(vec3f(0.4, 0.8, 0.6)))), 1.0);
}

// The cloth is a single surface with the normal of its front: on the back the normal points the other way.
@fragment
fn checker(in: Out, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    let cell = vec2i(floor(in.texture * 6.0));
    let color = select(vec3f(0.35, 0.6, 0.85), vec3f(0.05, 0.2, 0.5), (cell.x + cell.y) % 2 == 0);
    return lit(color, select(-in.normal, in.normal, is_front));
}

@fragment
fn plain(in: Out) -> @location(0) vec4f {
    return lit(vec3f(0.8, 0.45, 0.1), in.normal);
}
