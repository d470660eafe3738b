// Shapes by their signed distance; the twin of `sample` in src/collide/shape.rs.

const SPHERE = 1u;
const CAPSULE = 2u;
const BOX = 3u;

struct Sample {
    normal: vec3f,
    distance: f32,
}

// The shapes that a scene has, a bit each: others are not compiled.
override SHAPES: u32 = 0xffffffffu;

fn is_shape(c: Collider, shape: u32) -> bool {
    return (SHAPES & (1u << shape)) != 0u && c.shape == shape;
}

// The distance of a point, in the collider's frame.
fn sample(c: Collider, p: vec3f) -> Sample {
    if is_shape(c, SPHERE) {
        return ball(p, c.size.x);
    }
    if is_shape(c, CAPSULE) {
        return ball(vec3f(p.x, p.y - clamp(p.y, -c.size.y, c.size.y), p.z), c.size.x);
    }
    if is_shape(c, BOX) {
        return cuboid(p, c.size);
    }
    return Sample(vec3f(0.0, 1.0, 0.0), p.y);
}

fn ball(p: vec3f, radius: f32) -> Sample {
    let l = length(p);
    if l > 0.0 {
        return Sample(p / l, l - radius);
    }
    // Across the axis of a capsule.
    return Sample(vec3f(1.0, 0.0, 0.0), l - radius);
}

fn cuboid(p: vec3f, size: vec3f) -> Sample {
    let beyond = abs(p) - size;
    let side = select(vec3f(1.0), vec3f(-1.0), p < vec3f());
    let outside = max(beyond, vec3f());
    let l = length(outside);
    if l > 0.0 {
        return Sample(outside * side / l, l);
    }
    // Inside: the nearest face.
    if beyond.x >= beyond.y && beyond.x >= beyond.z {
        return Sample(vec3f(side.x, 0.0, 0.0), beyond.x);
    }
    if beyond.y >= beyond.z {
        return Sample(vec3f(0.0, side.y, 0.0), beyond.y);
    }
    return Sample(vec3f(0.0, 0.0, side.z), beyond.z);
}
