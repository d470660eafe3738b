// Draws the demos: sky, ground, two-sided surfaces, colliders, ropes, particles and lines. All but sky and lines are
// shaded with one shadow map.

struct Frame {
    view_projection: mat4x4f,
    light_projection: mat4x4f,
    eye: vec3f,
    // 0: surfaces in their own colour, 1: surfaces coloured by strain
    color_view: u32,
    // Unit vector towards the light.
    light: vec3f,
    // Height of the ground.
    ground: f32,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;
@group(0) @binding(3) var<storage, read> strains: array<f32>;
@group(0) @binding(4) var<storage, read> points: array<vec4f>;
// rgb: colour of the front; a: weight of this colour on the back and on ropes.
@group(0) @binding(5) var<storage, read> tints: array<vec4f>;
// Texture coordinates [m]; above 1e8 without a pattern.
@group(0) @binding(6) var<storage, read> uvs: array<vec2f>;

const SKY = vec3f(0.55, 0.62, 0.70);

// Returns the fraction of the light that reaches a point: the mean of 3 × 3 samples of the shadow map.
fn light_visibility(world: vec3f, normal: vec3f) -> f32 {
    let clip = frame.light_projection * vec4f(world + normal * 0.004, 1.0);
    let uv = clip.xy * vec2f(0.5, -0.5) + 0.5;
    let texel = 1.0 / vec2f(textureDimensions(shadow_map));
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            sum += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + vec2f(f32(x), f32(y)) * texel * 1.5, clip.z - 0.0015);
        }
    }
    // Points outside the shadow map are lit.
    let inside = all(uv > vec2f(0.0)) && all(uv < vec2f(1.0)) && clip.z < 1.0;
    return select(1.0, sum / 9.0, inside);
}

// If true, `tone_mapped` encodes sRGB (approximated by the power 1/2.2), for render targets without an sRGB format.
override ENCODE_SRGB: bool = false;

fn tone_mapped(color: vec3f) -> vec4f {
    // Tone mapping by Narkowicz (2015), an approximation of ACES.
    let mapped = clamp(color * (2.51 * color + 0.03) / (color * (2.43 * color + 0.59) + 0.14), vec3f(0.0), vec3f(1.0));
    return vec4f(select(mapped, pow(mapped, vec3f(1.0 / 2.2)), ENCODE_SRGB), 1.0);
}

struct Surface {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) strain: f32,
    @location(3) tint: vec4f,
    @location(4) uv: vec2f,
}

@vertex
fn surface_vertex(@builtin(vertex_index) index: u32, @location(0) position: vec4f, @location(1) normal: vec4f) -> Surface {
    // The buffers of strains, tints and texture coordinates have one element until they are set.
    let strain = strains[min(index, arrayLength(&strains) - 1u)];
    let tint = tints[min(index, arrayLength(&tints) - 1u)];
    let uv = uvs[min(index, arrayLength(&uvs) - 1u)];
    return Surface(frame.view_projection * vec4f(position.xyz, 1.0), position.xyz, normal.xyz, strain, tint, uv);
}

@vertex
fn shadow_vertex(@location(0) position: vec4f) -> @builtin(position) vec4f {
    return frame.light_projection * vec4f(position.xyz, 1.0);
}

// Blue at a strain of 0 or less, then green and yellow, red from 10 %.
fn strain_color(strain: f32) -> vec3f {
    let t = clamp(strain * 10.0, 0.0, 1.0) * 3.0;
    let low = mix(vec3f(0.05, 0.12, 0.55), vec3f(0.05, 0.5, 0.25), clamp(t, 0.0, 1.0));
    let middle = mix(low, vec3f(0.8, 0.6, 0.05), clamp(t - 1.0, 0.0, 1.0));
    return mix(middle, vec3f(0.75, 0.03, 0.03), clamp(t - 2.0, 0.0, 1.0));
}

// Shades a point of a surface of the given base colour. `n` is the normal on the side of the eye; `through` is the
// fraction of the light from the other side that is transmitted.
fn shaded(base: vec3f, world: vec3f, n: vec3f, through: f32) -> vec4f {
    let view = normalize(frame.eye - world);
    let facing = dot(n, frame.light);
    let direct = (max(facing, 0.0) + max(-facing, 0.0) * through) * light_visibility(world, n);
    let sky = 0.5 + 0.5 * n.y;
    let half_way = normalize(frame.light + view);
    let sheen = pow(1.0 - max(dot(n, view), 0.0), 3.0) * 0.10 + pow(max(dot(n, half_way), 0.0), 24.0) * 0.08 * max(facing, 0.0);
    let ambient = mix(vec3f(0.10, 0.09, 0.085), SKY * 0.40, sky);
    return tone_mapped(base * (ambient + direct * vec3f(1.75, 1.65, 1.5)) + sheen * (0.3 + direct));
}

// Returns the share of a stripe of the given width about each multiple of `period`, blurred over a pixel.
fn stripe(place: f32, period: f32, width: f32, pixel: f32) -> f32 {
    let distance = abs(fract(place / period + 0.5) - 0.5) * period;
    return 1.0 - smoothstep(0.5 * width - 0.7 * pixel, 0.5 * width + 0.7 * pixel, distance);
}

// The colour of a checked cloth at a point of its texture [m]: bands of two colours, and threads where they are wider
// than a pixel. Warp and weft mix where bands cross.
fn checked(place: vec2f) -> vec3f {
    let pixel = fwidth(place);
    var color = vec3f(0.50, 0.44, 0.34);
    for (var axis = 0; axis < 2; axis++) {
        let wide = stripe(place[axis], 0.25, 0.085, pixel[axis]);
        let narrow = stripe(place[axis] + 0.125, 0.25, 0.016, pixel[axis]);
        color = mix(color, vec3f(0.50, 0.035, 0.04), 0.55 * wide);
        color = mix(color, vec3f(0.025, 0.05, 0.16), 0.7 * narrow);
    }
    let threads = stripe(place.x, 0.008, 0.003, pixel.x) + stripe(place.y, 0.008, 0.003, pixel.y);
    return color * (1.0 - 0.12 * threads * (1.0 - smoothstep(0.002, 0.004, max(pixel.x, pixel.y))));
}

@fragment
fn surface_fragment(in: Surface, @builtin(front_facing) is_front: bool) -> @location(0) vec4f {
    // `fwidth` needs uniform control flow, so the pattern is computed for all fragments.
    let pattern = checked(in.uv);
    let geometric = normalize(in.normal) * select(-1.0, 1.0, is_front);
    let back = mix(vec3f(0.55, 0.36, 0.13), in.tint.rgb, in.tint.a);
    var base = select(back, in.tint.rgb, is_front);
    if in.uv.x < 1e8 {
        base = pattern * select(0.8, 1.0, is_front);
    }
    if frame.color_view == 1u {
        base = strain_color(in.strain);
    }
    // Cloth transmits 18 % of the light from its far side.
    return shaded(base, in.world, geometric, 0.18);
}

struct Solid {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec3f,
}

@vertex
fn solid_vertex(@location(0) position: vec4f, @location(1) normal: vec4f) -> Solid {
    return Solid(frame.view_projection * position, position.xyz, normal.xyz, vec3f(0.30, 0.31, 0.32));
}

@fragment
fn solid_fragment(in: Solid) -> @location(0) vec4f {
    let geometric = normalize(in.normal);
    let front = dot(geometric, frame.eye - in.world) >= 0.0;
    return shaded(in.color, in.world, select(-geometric, geometric, front), 0.0);
}

// Returns the position and normal of a vertex of a tube around a rope segment: twelve sides of two triangles each.
// `particles` are the particle before the segment, its two ends, and the particle after it. A ring depends only on its
// particle and the particles beside it, so adjacent segments share their ring.
fn tube_corner(index: u32, particles: vec4u, radius: f32) -> array<vec3f, 2> {
    let corner = index % 6u;
    let at_end = corner == 2u || corner == 4u || corner == 5u;
    let side = index / 6u + select(0u, 1u, corner == 1u || corner == 3u || corner == 5u);
    let here = points[select(particles.y, particles.z, at_end)].xyz;
    let from_place = points[select(particles.x, particles.y, at_end)].xyz;
    let to_place = points[select(particles.z, particles.w, at_end)].xyz;
    let along = normalize(to_place - from_place);
    // The ring starts perpendicular to a fixed direction. Ropes are rarely parallel to it, so tubes rarely twist.
    let across = normalize(cross(along, vec3f(0.31, 0.88, 0.36)));
    let angle = f32(side % 12u) * (6.2831853 / 12.0);
    let normal = across * cos(angle) + cross(along, across) * sin(angle);
    return array(here + normal * radius, normal);
}

@vertex
fn tube_vertex(@builtin(vertex_index) index: u32, @location(0) particles: vec4u, @location(1) radius: f32) -> Solid {
    let corner = tube_corner(index, particles, radius);
    let tint = tints[min(particles.y, arrayLength(&tints) - 1u)];
    let color = mix(vec3f(0.36, 0.22, 0.09), tint.rgb, tint.a);
    return Solid(frame.view_projection * vec4f(corner[0], 1.0), corner[0], corner[1], color);
}

@vertex
fn tube_shadow_vertex(
    @builtin(vertex_index) index: u32,
    @location(0) particles: vec4u,
    @location(1) radius: f32,
) -> @builtin(position) vec4f {
    return frame.light_projection * vec4f(tube_corner(index, particles, radius)[0], 1.0);
}

// Returns the position and normal of a vertex of a sphere at a particle: eight bands of twelve sides each.
fn ball_corner(index: u32, particle: u32, radius: f32) -> array<vec3f, 2> {
    let corner = index % 6u;
    let band = index / 72u + select(0u, 1u, corner == 2u || corner == 4u || corner == 5u);
    let side = (index / 6u) % 12u + select(0u, 1u, corner == 1u || corner == 3u || corner == 5u);
    let down = f32(band) * (3.1415927 / 8.0);
    let around = f32(side % 12u) * (6.2831853 / 12.0);
    let normal = vec3f(sin(down) * cos(around), cos(down), sin(down) * sin(around));
    return array(points[particle].xyz + normal * radius, normal);
}

@vertex
fn ball_vertex(@builtin(vertex_index) index: u32, @location(0) particles: vec4u, @location(1) radius: f32) -> Solid {
    let corner = ball_corner(index, particles.x, radius);
    return Solid(frame.view_projection * vec4f(corner[0], 1.0), corner[0], corner[1], vec3f(0.05, 0.055, 0.06));
}

@vertex
fn ball_shadow_vertex(
    @builtin(vertex_index) index: u32,
    @location(0) particles: vec4u,
    @location(1) radius: f32,
) -> @builtin(position) vec4f {
    return frame.light_projection * vec4f(ball_corner(index, particles.x, radius)[0], 1.0);
}

struct Ground {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
}

@vertex
fn ground_vertex(@builtin(vertex_index) index: u32) -> Ground {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    let world = vec3f(corner.x * 40.0, frame.ground, corner.y * 40.0);
    return Ground(frame.view_projection * vec4f(world, 1.0), world);
}

@fragment
fn ground_fragment(in: Ground) -> @location(0) vec4f {
    let cell = abs(fract(in.world.xz) - 0.5);
    let width = fwidth(in.world.xz);
    let edge = smoothstep(vec2f(0.5) - width * 1.5, vec2f(0.5), cell);
    let line = max(edge.x, edge.y) * 0.25;
    let light = 0.55 + 0.45 * light_visibility(in.world, vec3f(0.0, 1.0, 0.0));
    let base = vec3f(0.42, 0.425, 0.43) * (1.0 - line) * light;
    let far = smoothstep(3.0, 16.0, distance(in.world.xz, vec2f(0.0)));
    return tone_mapped(mix(base, SKY * 0.8, far));
}

@vertex
fn sky_vertex(@builtin(vertex_index) index: u32) -> Ground {
    let corner = vec2f(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return Ground(vec4f(corner, 1.0, 1.0), vec3f(corner, 0.0));
}

@fragment
fn sky_fragment(in: Ground) -> @location(0) vec4f {
    return tone_mapped(mix(SKY * 0.8, vec3f(0.16, 0.27, 0.46), clamp(in.world.y, 0.0, 1.0)));
}

struct Line {
    @builtin(position) clip: vec4f,
    @location(0) color: vec4f,
    @location(1) across: f32,
}

// A camera-facing band between two particles: one instance per constraint, six vertices.
@vertex
fn line_vertex(
    @builtin(vertex_index) index: u32,
    @location(0) particles: vec2u,
    @location(1) color: vec4f,
    @location(2) width: f32,
) -> Line {
    let from_end = points[particles.x].xyz;
    let to_end = points[particles.y].xyz;
    let corner = select(index, index - 2u, index > 2u);
    let side = f32(corner & 1u) * 2.0 - 1.0;
    let world = select(from_end, to_end, corner >= 2u);
    let along = to_end - from_end;
    let across = cross(along, frame.eye - world);
    let offset = across * (side * 0.5 * width / max(length(across), 1e-12));
    return Line(frame.view_projection * vec4f(world + offset, 1.0), color, side);
}

@fragment
fn line_fragment(in: Line) -> @location(0) vec4f {
    // Darker towards the edges, like a cylinder.
    return tone_mapped(in.color.rgb * (1.0 - 0.6 * in.across * in.across));
}
