// Convex hull: the plane that the point is furthest out of. xyz is its normal, w the distance to it [m]. The twin of `sample_hull`
// in src/collision/baked/hull.rs. `data` is where its planes begin, four numbers each: normal and offset; there are at least four.

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
    let n = vec3f(collider_data[at], collider_data[at + 1u], collider_data[at + 2u]);
    return vec4f(n, opaque1(dot(n, p), params.zero) - collider_data[at + 3u]);
}
