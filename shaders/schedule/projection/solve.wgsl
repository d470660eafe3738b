// XPBD projection of one constraint of a kind with a fixed number of particles, for all schedules.
// Input: positions at the start of the substep (xyz, inverse mass) and displacements d. The file of the kind
// evaluates C and ∇C (`evaluate`); scalar.wgsl, vector.wgsl or components.wgsl computes the impulses ∇C Δλ and the
// current places (`placed`).
// The including pass defines the access to x and d (`position_at`, `displacement_at`, `set_displacement`) and to λ
// (`place_of_lambda`), and the scale of an instance (`shrunk`, `grown`).

alias Points = array<vec3f, ARITY>;
alias Weights = array<f32, ARITY>;
alias Positions = array<vec4f, ARITY>;

// Returns ∇C Δλ of each particle.
fn project_constraint(place: u32, record: Record, material: ScaledMaterial, x: Positions, d: Points) -> Points {
    var travels: Points;
    var p: Points;
    var w: Weights;
    for (var k = 0u; k < ARITY; k++) {
        w[k] = x[k].w;
        p[k] = placed(k, x[k].xyz, x[0].xyz, d[k]);
        travels[k] = shrunk(d[k]);
    }
    return impulses_of(place_of_lambda(place, LAMBDAS), record, material, p, travels, w);
}

// Returns the displacements after the projection: d + w ∇C Δλ.
fn projected(place: u32, record: Record, material: ScaledMaterial, x: Positions, d: Points) -> Points {
    let impulses = project_constraint(place, record, material, x, d);
    var moved: Points;
    for (var k = 0u; k < ARITY; k++) {
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
    }
    return moved;
}
