// Signed distances of the shapes. Counterpart: `sample` in src/collision/shape.rs. HALF_SPACE is in
// shaders/common/contacts.wgsl.

const SPHERE = 1u;
const CAPSULE = 2u;
const BOX = 3u;
const HULL = 4u;
const HEIGHTFIELD = 5u;
const FIELD = 6u;

struct Sample {
    normal: vec3f,
    distance: f32,
    // Lower bound of the distance to the surface.
    sure: f32,
}

// Mask of the shapes in a scene; others are not compiled.
override SHAPES: u32 = 0xffffffffu;

fn is_shape(c: Collider, shape: u32) -> bool {
    return (SHAPES & (1u << shape)) != 0u && c.shape == shape;
}

// Returns the signed distance of a point, in the frame of the collider. `keep` is the distance that the particle
// keeps.
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
        let ends = c.counts.z == 1u;
        if ends {
            let far = max(abs(c.position), abs(c.target_position));
            let beyond = heightfield_beyond(c.counts.x, c.counts.y, c.size.x, far, p);
            if beyond > 0.0 {
                return beside(beyond, keep);
            }
        }
        return over(heightfield_sample(c.data, c.counts.x, c.counts.y, c.size.x, ends, p), c.size, keep);
    }
    if is_shape(c, FIELD) {
        let origin = vec3f(data_at(c.data), data_at(c.data + 1u), data_at(c.data + 2u));
        return sampled(field_sample(c.data + 3u, c.counts, origin, c.size.x, p));
    }
    return Sample(vec3f(0.0, 1.0, 0.0), p.y, p.y);
}

fn sampled(it: vec4f) -> Sample {
    return Sample(it.xyz, it.w, it.w);
}

// Bounds the distance to a heightfield. Above `near` the distance to the plane is reduced by the steepest slope,
// because steeper ground may be nearer. It stays at least `near`, or a cliff anywhere would stop particles above a
// plain.
fn over(it: vec4f, size: vec3f, keep: f32) -> Sample {
    let zero = params.zero;
    let distance = opaque1(it.w, zero);
    let near = keep + size.y;
    let sure = min(distance, opaque1(opaque1(distance / it.y, zero) * size.z, zero));
    return Sample(it.xyz, select(distance, max(sure, near), distance > near), sure);
}

// Beyond the border of ground that ends there: the normal is 0, because nothing pushes. The distance leads a path
// just beyond the border, so that it does not stop there.
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
    // At the center of a sphere or on the axis of a capsule: a direction across the axis.
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
