// Heightfield: signed distance of a point from the plane of the triangle below it. Returns the normal (xyz) and the
// distance (w) [m]. If `ends` is false, the ground continues level beyond the border. If it is true, the ground ends at
// the border, and points beyond are measured from the plane of the nearest triangle. `data` is the index of the first
// height in `collider_data`. Counterpart: `sample_heights` in src/collision/baked/heightfield.rs, with the same
// operations in the same order.

fn heightfield_sample(data: u32, columns: u32, rows: u32, spacing: f32, ends: bool, p: vec3f) -> vec4f {
    let zero = params.zero;
    let limit = vec3f(f32(columns - 1u), f32(rows - 1u), 0.0);
    let place = place_on_grid(limit, spacing, p);
    let inside = clamp(place, vec3f(), limit);
    let corner = min(vec2u(inside.xy), vec2u(columns - 2u, rows - 2u));
    let used = select(inside, place, ends);
    let t = opaque(used - vec3f(vec2f(corner), 0.0), zero);
    let first = data + corner.y * columns + corner.x;
    let h00 = data_at(first);
    let h10 = data_at(first + 1u);
    let h01 = data_at(first + columns);
    let h11 = data_at(first + columns + 1u);
    var base = h00;
    var rise = vec3f(h10 - h00, h01 - h00, 0.0);
    var along = t;
    if opaque1(t.x + t.y, zero) > 1.0 {
        base = h11;
        rise = vec3f(h11 - h01, h11 - h10, 0.0);
        along = opaque(t - 1.0, zero);
    }
    rise = opaque(rise, zero);
    let climb = opaque(rise * along, zero);
    let height = opaque1(opaque1(base + climb.x, zero) + climb.y, zero);
    let slope = select(opaque(rise / spacing, zero), vec3f(), place != used);
    let across = vec3f(-slope.x, 1.0, -slope.y);
    let n = opaque(across / length(across), zero);
    return vec4f(n, opaque1(p.y - height, zero) * n.y);
}

// Returns the horizontal position of a point relative to the first grid vertex, in cells.
fn place_on_grid(limit: vec3f, spacing: f32, p: vec3f) -> vec3f {
    let zero = params.zero;
    return opaque(opaque(vec3f(p.xz, 0.0) / spacing, zero) + 0.5 * limit, zero);
}

// Returns the horizontal distance of a point from the border [m]; 0 inside, and within the tolerance: a few roundings of
// a coordinate. `far` has the greatest coordinates of the collider's positions. Counterpart: `beyond_border` in
// src/collision/baked/heightfield.rs.
fn heightfield_beyond(columns: u32, rows: u32, spacing: f32, far: vec3f, p: vec3f) -> f32 {
    let zero = params.zero;
    let limit = vec3f(f32(columns - 1u), f32(rows - 1u), 0.0);
    let place = place_on_grid(limit, spacing, p);
    let over = abs(opaque(place - clamp(place, vec3f(), limit), zero));
    let half = opaque1(0.5 * f32(max(columns, rows) - 1u) * spacing, zero);
    let tolerance = min(opaque1(4e-7 * max(max(half, far.x), max(far.y, far.z)), zero) / spacing, 0.1);
    return select(opaque1(length(over) * spacing, zero), 0.0, max(over.x, over.y) <= tolerance);
}
