// Distance: C = |x₀ − x₁| − L₀, ∇₀C = n = (x₀ − x₁)/|x₀ − x₁|, ∇₁C = −n (Müller et al. 2007, §4.1). The twin of
// src/constraints/distance.rs. Parameters: L₀.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let difference = p[0] - p[1];
    let l = length(difference);
    let n = direction_of(difference, l);
    return Evaluation(l - parameter(record, 0u), Points(n, -n));
}

// What the projections apply, for a kind whose C is a number: ∇C Δλ for each particle.

struct Evaluation {
    c: f32,
    grad: Points,
}

fn impulses_of(place: u32, record: Record, material: ScaledMaterial, p: Points, d: Points, w: Weights) -> Points {
    let evaluation = evaluate(record, p);
    var weighted = 0.0;
    var travel = 0.0;
    { const k = 0u; 
        let grad = evaluation.grad[k];
        if UNIT_GRADIENTS {
            weighted += select(0.0, w[k], any(grad != vec3f()));
        } else {
            weighted += w[k] * dot(grad, grad);
        }
        // The gradients sum to zero, so what all particles travel together counts for nothing.
        if k > 0u {
            travel += dot(grad, d[k] - d[0]);
        }
     }
{ const k = 1u; 
        let grad = evaluation.grad[k];
        if UNIT_GRADIENTS {
            weighted += select(0.0, w[k], any(grad != vec3f()));
        } else {
            weighted += w[k] * dot(grad, grad);
        }
        // The gradients sum to zero, so what all particles travel together counts for nothing.
        if k > 0u {
            travel += dot(grad, d[k] - d[0]);
        }
     }

    var lambda = 0.0;
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = lambdas[place];
    }
    var delta = delta_lambda(evaluation.c, weighted, travel, lambda, material);
    if UNILATERAL {
        delta = unilateral(delta, lambda);
    }
    if KEEP_LAMBDA {
        lambdas[place] = lambda + delta;
    }
    var impulses: Points;
    { const k = 0u; 
        impulses[k] = evaluation.grad[k] * delta;
     }
{ const k = 1u; 
        impulses[k] = evaluation.grad[k] * delta;
     }

    return impulses;
}

// Projects constraints of a kind with a fixed number of particles, in storage buffers.
//
// project: one thread a constraint of one colour. Reads and writes the displacements of its particles, which no other constraint of the
// colour names.
// split: one thread a constraint that is solved by mass splitting. Writes its own impulses; gather.wgsl applies them.

// Of split:
@group(0) @binding(6) var<storage, read> shares: array<f32>;
@group(0) @binding(7) var<storage, read_write> impulses: array<vec4f>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn project(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    let record = load(place);
    solve(place, record, particles_of(record), materials[word(record, ARITY)]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn split(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= span.count {
        return;
    }
    let place = span.first + i;
    let record = load(place);
    var x: Positions;
    var d: Points;
    { const k = 0u; 
        let particle = word(record, k);
        let own = positions[particle];
        x[k] = vec4f(own.xyz, own.w * shares[ARITY * i + k]);
        d[k] = displacements[particle].xyz;
     }
{ const k = 1u; 
        let particle = word(record, k);
        let own = positions[particle];
        x[k] = vec4f(own.xyz, own.w * shares[ARITY * i + k]);
        d[k] = displacements[particle].xyz;
     }

    let given = project_constraint(place, record, materials[word(record, ARITY)], x, d);
    { const k = 0u; 
        impulses[ARITY * i + k] = vec4f(given[k], 0.0);
     }
{ const k = 1u; 
        impulses[ARITY * i + k] = vec4f(given[k], 0.0);
     }

}

// A record as it lies in memory, for the passes that read all of it.

alias Record = array<vec4u, ROWS>;

fn load(place: u32) -> Record {
    var record: Record;
    { const k = 0u; 
        record[k] = records[place * ROWS + k];
     }

    return record;
}

fn word(record: Record, index: u32) -> u32 {
    return record[index / 4u][index % 4u];
}

// The parameters of the kind, after particles and material.
fn parameter(record: Record, index: u32) -> f32 {
    return bitcast<f32>(word(record, ARITY + 1u + index));
}

// Projects a constraint whose particles lie in the given slots.

alias Slots = array<u32, ARITY>;

fn solve(place: u32, record: Record, slots: Slots, material: ScaledMaterial) {
    var x: Positions;
    var d: Points;
    { const k = 0u; 
        x[k] = position_at(slots[k]);
        d[k] = displacement_at(slots[k]);
     }
{ const k = 1u; 
        x[k] = position_at(slots[k]);
        d[k] = displacement_at(slots[k]);
     }

    let moved = projected(place, record, material, x, d);
    { const k = 0u; 
        set_displacement(slots[k], moved[k]);
     }
{ const k = 1u; 
        set_displacement(slots[k], moved[k]);
     }

}

fn particles_of(record: Record) -> Slots {
    var particles: Slots;
    { const k = 0u; 
        particles[k] = word(record, k);
     }
{ const k = 1u; 
        particles[k] = word(record, k);
     }

    return particles;
}

// The particles of a scene in storage buffers: the slot of a particle is its index.

fn position_at(particle: u32) -> vec4f {
    return positions[particle];
}

fn displacement_at(particle: u32) -> vec3f {
    return displacements[particle].xyz;
}

fn set_displacement(particle: u32, d: vec3f) {
    displacements[particle] = vec4f(d, 0.0);
}

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
    { const k = 0u; 
        w[k] = x[k].w;
        p[k] = shrunk(relative_to_first(k, x[k].xyz, x[0].xyz, d[k]));
        travels[k] = shrunk(d[k]);
     }
{ const k = 1u; 
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
    { const k = 0u; 
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
     }
{ const k = 1u; 
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
     }

    return moved;
}

// What the projections of a kind with a fixed number of particles share: their bindings and types. `ARITY` and `ROWS` are of the kind's
// descriptor. How a record is read each says for itself: `Record`, `parameter`.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// ROWS vec4s a constraint: particles, material, parameters. vec4s rather than a struct: one load instead of four.
@group(0) @binding(3) var<storage, read> records: array<vec4u>;
@group(0) @binding(4) var<storage, read> materials: array<ScaledMaterial>;
@group(0) @binding(5) var<storage, read_write> lambdas: array<f32>;

override KEEP_LAMBDA: bool = false;

// For passes that scale nothing, and have multipliers of a scene: what shaders/instancing/instances.wgsl has for an instance.

fn shrunk(v: vec3f) -> vec3f {
    return v;
}

fn grown(w: f32) -> f32 {
    return w;
}

fn place_of_lambda(place: u32, count: u32) -> u32 {
    return place;
}

const ARITY = 2u;
const ROWS = 1u;
const LAMBDAS = 1u;
const UNIT_GRADIENTS = true;
const UNILATERAL = false;
const MOST_PARTICLES = 256u;
const LEAF_FACTOR = 2.0;
const LEAST_LEAF = 0.0001;

// shaders/common/params.wgsl

// shaders/common/xpbd.wgsl
