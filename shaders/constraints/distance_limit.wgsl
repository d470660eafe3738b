// Distance limit: C = s (|x₀ − x₁| − L) ≤ 0; s is the sign of the parameter ±L (Provot 1995 for s = 1). Parameters:
// ±L. Counterpart: src/constraints/distance_limit.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let limit = parameter(record, 0u);
    let difference = p[0] - p[1];
    let l = length(difference);
    let n = direction_of(difference, l);
    if limit < 0.0 {
        return Evaluation(-limit - l, Points(-n, n));
    }
    return Evaluation(l - limit, Points(n, -n));
}
