// Distance: C = |x₀ − x₁| − L₀, ∇₀C = n = (x₀ − x₁)/|x₀ − x₁|, ∇₁C = −n (Müller et al. 2007, §4.1). The twin of
// src/kinds/distance.rs.
//
// project_distance: one thread a constraint of one colour. Reads and writes the displacements of its two particles, which
// no other constraint of the colour names.
// split_distance: one thread an overflow constraint. Writes its own impulses; gather_hubs.wgsl applies them.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// particle 0, particle 1, material, L₀ as bits. One vec4 rather than a struct: one load instead of four.
@group(0) @binding(3) var<storage, read> records: array<vec4u>;
@group(0) @binding(4) var<storage, read> materials: array<ScaledMaterial>;
@group(0) @binding(5) var<storage, read_write> lambdas: array<f32>;
@group(0) @binding(6) var<storage, read> shares: array<f32>;
@group(0) @binding(7) var<storage, read_write> impulses: array<vec4f>;

override KEEP_LAMBDA: bool = false;

struct Projection {
    x: array<vec4f, 2>,
    d: array<vec3f, 2>,
    // ∇₀C; ∇₁C is its negative.
    n: vec3f,
    delta_lambda: f32,
}

fn solve(place: u32, record: vec4u, share: vec2f) -> Projection {
    let x0 = positions[record.x];
    let x1 = positions[record.y];
    let d0 = displacements[record.x].xyz;
    let d1 = displacements[record.y].xyz;
    // Both in the frame of x₀, so that the difference keeps its precision.
    let difference = d0 - ((x1.xyz - x0.xyz) + d1);
    let l = length(difference);
    var n = vec3f();
    var weighted = 0.0;
    if l > 0.0 {
        n = difference / l;
    }
    // An l that overflows leaves no direction either.
    if any(n != vec3f()) {
        weighted = x0.w * share.x + x1.w * share.y;
    }
    let c = l - bitcast<f32>(record.w);
    let travel = dot(-n, d1 - d0);
    var lambda = 0.0;
    if KEEP_LAMBDA && span.first_iteration == 0u {
        lambda = lambdas[place];
    }
    let delta = delta_lambda(c, weighted, travel, lambda, materials[record.z]);
    if KEEP_LAMBDA {
        lambdas[place] = lambda + delta;
    }
    return Projection(array(x0, x1), array(d0, d1), n, delta);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_distance(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    let record = records[place];
    let p = solve(place, record, vec2f(1.0));
    displacements[record.x] = vec4f(p.d[0] + p.n * (p.x[0].w * p.delta_lambda), 0.0);
    displacements[record.y] = vec4f(p.d[1] - p.n * (p.x[1].w * p.delta_lambda), 0.0);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn split_distance(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    let p = solve(place, records[place], vec2f(shares[2u * i], shares[2u * i + 1u]));
    impulses[2u * i] = vec4f(p.n * p.delta_lambda, 0.0);
    impulses[2u * i + 1u] = vec4f(-p.n * p.delta_lambda, 0.0);
}
