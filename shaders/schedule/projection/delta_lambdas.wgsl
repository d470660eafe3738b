
// Returns Δλ of the three components of a constraint, and adds it to the multipliers if they are kept. By component, `s` is C,
// `weighted` is Σ w|∇C|², and `travel` is ∇C·(x − x_prev). Part of vector.wgsl and components.wgsl.
fn delta_lambdas(place: u32, s: vec3f, weighted: vec3f, travel: vec3f, material: ScaledMaterial) -> vec3f {
    var lambda = vec3f();
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = vec3f(lambdas[3u * place], lambdas[3u * place + 1u], lambdas[3u * place + 2u]);
    }
    let own = material_of_kind(material, OVER_RELAXED);
    let delta = vec3f(
        delta_lambda(s.x, weighted.x, travel.x, lambda.x, own),
        delta_lambda(s.y, weighted.y, travel.y, lambda.y, own),
        delta_lambda(s.z, weighted.z, travel.z, lambda.z, own),
    );
    if KEEP_LAMBDA {
        lambdas[3u * place] = lambda.x + delta.x;
        lambdas[3u * place + 1u] = lambda.y + delta.y;
        lambdas[3u * place + 2u] = lambda.z + delta.z;
    }
    return delta;
}
