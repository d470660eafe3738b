// Convex hull: the plane with the largest distance to a point. Returns its normal (xyz) and the distance (w) [m].
// `data` is the index of its planes, four numbers each: normal and offset; there are at least four planes.
// Counterpart: `sample_hull` in src/collision/baked/hull.rs.

fn hull_sample(data: u32, count: u32, p: vec3f) -> vec4f {
    var best = hull_plane(data, p);
    for (var i = 1u; i < count; i++) {
        let plane = hull_plane(data + 4u * i, p);
        if plane.w > best.w {
            best = plane;
        }
    }
    return best;
}

fn hull_plane(at: u32, p: vec3f) -> vec4f {
    let n = vec3f(data_at(at), data_at(at + 1u), data_at(at + 2u));
    return vec4f(n, opaque1(dot(n, p), params.zero) - data_at(at + 3u));
}
