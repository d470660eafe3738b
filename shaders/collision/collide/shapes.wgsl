// Shapes by their signed distance; the twin of `sample` in src/collision/shape.rs. HALF_SPACE is 0, in the prelude.

const SPHERE = 1u;
const CAPSULE = 2u;
const BOX = 3u;
const HULL = 4u;
const HEIGHTFIELD = 5u;
const FIELD = 6u;

struct Sample {
    normal: vec3f,
    distance: f32,
    // No point of the surface is nearer than this.
    sure: f32,
}

// The shapes that a scene has, a bit each: others are not compiled.
override SHAPES: u32 = 0xffffffffu;

fn is_shape(c: Collider, shape: u32) -> bool {
    return (SHAPES & (1u << shape)) != 0u && c.shape == shape;
}

// The distance of a point that keeps so much from it, in the collider's frame.
fn sample(c: Collider, p: vec3f, keep: f32) -> Sample {
    if is_shape(c, SPHERE) {
        return ball(p, c.size.x);
    }
    if is_shape(c, CAPSULE) {
        return ball(vec3f(p.x, p.y - clamp(p.y, -c.size.y, c.size.y), p.z), c.size.x);
    }
    if is_shape(c, BOX) {
        return cuboid(p, c.size);
    }
    if is_shape(c, HULL) {
        return sampled(hull_sample(c.data, c.counts.x, p));
    }
    if is_shape(c, HEIGHTFIELD) {
        let overlap = bitcast<f32>(c.counts.z);
        if overlap > 0.0 {
            let beyond = heightfield_beyond(c.counts.x, c.counts.y, c.size.x, overlap, p);
            if beyond > 0.0 {
                return beside(beyond, keep);
            }
        }
        return over(heightfield_sample(c.data, c.counts.x, c.counts.y, c.size.x, overlap > 0.0, p), c.size, keep);
    }
    if is_shape(c, FIELD) {
        let origin = vec3f(collider_data[c.data], collider_data[c.data + 1u], collider_data[c.data + 2u]);
        return sampled(field_sample(c.data + 3u, c.counts, origin, c.size.x, p));
    }
    return Sample(vec3f(0.0, 1.0, 0.0), p.y, p.y);
}

fn sampled(it: vec4f) -> Sample {
    return Sample(it.xyz, it.w, it.w);
}

// The distance to the plane below is that to the ground only where nothing steeper is near. Away from it the height counts by the
// steepest slope, but for a share of the spacing: otherwise nothing would get down to a plain that has a cliff somewhere.
fn over(it: vec4f, size: vec3f, keep: f32) -> Sample {
    let zero = params.zero;
    let distance = opaque1(it.w, zero);
    let near = keep + size.y;
    let sure = min(distance, opaque1(opaque1(distance / it.y, zero) * size.z, zero));
    return Sample(it.xyz, select(distance, max(sure, near), distance > near), sure);
}

// Beyond the border of ground that ends there: a normal of zero, as nothing pushes, and the distance that leads a path into the border,
// a little beyond it so that the path does not stop there.
fn beside(beyond: f32, keep: f32) -> Sample {
    let zero = params.zero;
    let sure = opaque1(beyond + keep, zero);
    return Sample(vec3f(), opaque1(sure + opaque1(2e-3 * keep, zero), zero), sure);
}

fn ball(p: vec3f, radius: f32) -> Sample {
    let l = length(p);
    if l > 0.0 {
        return Sample(p / l, l - radius, l - radius);
    }
    // Across the axis of a capsule.
    return Sample(vec3f(1.0, 0.0, 0.0), l - radius, l - radius);
}

fn cuboid(p: vec3f, size: vec3f) -> Sample {
    let beyond = abs(p) - size;
    let side = select(vec3f(1.0), vec3f(-1.0), p < vec3f());
    let outside = max(beyond, vec3f());
    let l = length(outside);
    if l > 0.0 {
        return Sample(outside * side / l, l, l);
    }
    // Inside: the nearest face.
    if beyond.x >= beyond.y && beyond.x >= beyond.z {
        return Sample(vec3f(side.x, 0.0, 0.0), beyond.x, beyond.x);
    }
    if beyond.y >= beyond.z {
        return Sample(vec3f(0.0, side.y, 0.0), beyond.y, beyond.y);
    }
    return Sample(vec3f(0.0, 0.0, side.z), beyond.z, beyond.z);
}
