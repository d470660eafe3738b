// Normal of a surface at a particle: the normalised area-weighted sum of the normals of the triangles around it. normals.wgsl
// and instances_normals.wgsl include it and define the bindings, `position_at`, `ring_of` and `corner_at`. Counterpart: `normal` in src/schedule/rings.rs.

fn normal_of(i: u32) -> vec3f {
    let x = position_at(i).xyz;
    var sum = vec3f();
    let ring = ring_of(i);
    for (var corner = ring.x; corner < ring.y; corner++) {
        let others = corner_at(corner);
        sum += cross_product(position_at(others.x).xyz - x, position_at(others.y).xyz - x, params.zero);
    }
    let l = length(sum);
    if l > 0.0 {
        return sum / l;
    }
    return vec3f(0.0, 1.0, 0.0);
}
