// Sampled distance field: trilinear interpolation inside the grid; outside, a lower bound of the distance to the
// surface in the grid. Returns the normal (xyz) and the distance (w) [m]. `data` is the index of its samples: x
// fastest, then y, then z. Counterpart: `sample_field` in src/collision/baked/field.rs, with the same operations in
// the same order.

fn field_sample(data: u32, dims: vec3u, origin: vec3f, cell: f32, p: vec3f) -> vec4f {
    let zero = params.zero;
    let place = opaque(opaque(p - origin, zero) / cell, zero);
    let limit = vec3f(dims - 1u);
    let inside = clamp(place, vec3f(), limit);
    let corner = min(vec3u(inside), dims - 2u);
    let t = opaque(inside - vec3f(corner), zero);
    let up = dims.x;
    let back = dims.x * dims.y;
    let first = data + corner.z * back + corner.y * up + corner.x;
    let low = corners(first, up, back);
    let high = corners(first + 1u, up, back);

    // Along x, then y, then z; the differences give the gradient.
    let rise = opaque4(high - low, zero);
    let along = opaque4(low + opaque4(rise * t.x, zero), zero);
    let climb = opaque4(vec4f(along.yw, rise.yw) - vec4f(along.xz, rise.xz), zero);
    let across = opaque4(vec4f(along.xz, rise.xz) + opaque4(climb * t.y, zero), zero);
    let near = vec3f(across.x, across.z, climb.x);
    let step = opaque(vec3f(across.y, across.w, climb.y) - near, zero);
    let mixed = opaque(near + opaque(step * t.z, zero), zero);
    var distance = mixed.x;
    var gradient = opaque(vec3f(mixed.yz, step.x) / cell, zero);

    let beyond = opaque(opaque(place - inside, zero) * cell, zero);
    let outside = opaque1(dot(beyond, beyond), zero);
    if outside > 0.0 {
        // Seen from the clamped point, the surface is at a right or obtuse angle to `beyond`, so squared distances
        // add.
        let above = max(mixed.x, 0.0);
        let far = sqrt(outside + opaque1(above * above, zero));
        let weight = select(1.0, above / far, above > 0.0);
        // The distance does not depend on a clamped coordinate.
        let slope = select(gradient, vec3f(), beyond != vec3f());
        gradient = opaque(opaque(slope * weight, zero) + opaque(beyond / far, zero), zero);
        distance = min(mixed.x, 0.0) + far;
    }
    let size = length(gradient);
    if size > 1e-6 {
        return vec4f(gradient / size, distance);
    }
    return vec4f(0.0, 1.0, 0.0, distance);
}

// Returns four samples at one x.
fn corners(first: u32, up: u32, back: u32) -> vec4f {
    return vec4f(
        data_at(first),
        data_at(first + up),
        data_at(first + back),
        data_at(first + back + up),
    );
}

fn opaque4(v: vec4f, zero: u32) -> vec4f {
    return bitcast<vec4f>(bitcast<vec4u>(v) ^ vec4u(zero));
}
