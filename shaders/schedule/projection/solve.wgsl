// The XPBD projection of one constraint of a kind with a fixed number of particles, for all schedules. It is called with the positions at the
// start of the substep (xyz, inverse mass) and the displacements d of its particles; the kind's own file evaluates C and ∇C (`evaluate`), and
// scalar.wgsl or vector.wgsl turns them into impulses ∇C Δλ. The pass says where x and d lie (`position_at`, `displacement_at`,
// `set_displacement`), where λ lies (`place_of_lambda`), and how much larger than its asset an instance is (`shrunk`, `grown`).

alias Points = array<vec3f, ARITY>;
alias Weights = array<f32, ARITY>;
alias Positions = array<vec4f, ARITY>;

// ∇C Δλ of each particle.
fn project_constraint(place: u32, record: Record, material: ScaledMaterial, x: Positions, d: Points) -> Points {
    var travels: Points;
    var p: Points;
    var w: Weights;
    for (var k = 0u; k < ARITY; k++) {
        w[k] = x[k].w;
        p[k] = shrunk(relative_to_first(k, x[k].xyz, x[0].xyz, d[k]));
        travels[k] = shrunk(d[k]);
    }
    return impulses_of(place_of_lambda(place, LAMBDAS), record, material, p, travels, w);
}

// The displacements after the projection: d + w ∇C Δλ.
fn projected(place: u32, record: Record, material: ScaledMaterial, x: Positions, d: Points) -> Points {
    let impulses = project_constraint(place, record, material, x, d);
    var moved: Points;
    for (var k = 0u; k < ARITY; k++) {
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
    }
    return moved;
}
