// A unit vector perpendicular to n.
fn perpendicular(n: vec3f) -> vec3f {
    let size = abs(n);
    var axis = vec3f(0.0, 0.0, 1.0);
    if size.x <= size.y && size.x <= size.z {
        axis = vec3f(1.0, 0.0, 0.0);
    } else if size.y <= size.z {
        axis = vec3f(0.0, 1.0, 0.0);
    }
    return normalize(axis - n * dot(n, axis));
}
