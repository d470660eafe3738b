// Distance: C = |x₀ − x₁| − L₀, ∇₀C = n = (x₀ − x₁)/|x₀ − x₁|, ∇₁C = −n (Müller et al. 2007, §4.1). The twin of
// src/kinds/distance.rs. Parameters: L₀.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let difference = p[0] - p[1];
    let l = length(difference);
    // Not a branch, which drivers of GPUs keep, so that they solve no two links of a tile side by side.
    let n = select(vec3f(), difference, l > 0.0) / select(1.0, l, l > 0.0);
    return Evaluation(l - parameter(record, 0u), Points(n, -n));
}
