// Distance: C = |x₀ − x₁| − L₀, ∇₀C = n = (x₀ − x₁)/|x₀ − x₁|, ∇₁C = −n (Müller et al. 2007, §4.1). Parameters: L₀.
// Counterpart: src/constraints/distance.rs.

fn evaluate(record: Record, p: Points) -> Evaluation {
    let difference = p[0] - p[1];
    let l = length(difference);
    let n = direction_of(difference, l);
    return Evaluation(l - parameter(record, 0u), Points(n, -n));
}

// Computes the impulses ∇C Δλ of a kind whose C is a scalar.

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
        // The gradients sum to zero, so the common displacement cancels.
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
        // The gradients sum to zero, so the common displacement cancels.
        if k > 0u {
            travel += dot(grad, d[k] - d[0]);
        }
     }

    var lambda = 0.0;
    if KEEP_LAMBDA && by_thread(span.first_iteration, place) == 0u {
        lambda = lambdas[place];
    }
    var delta = delta_lambda(evaluation.c, weighted, travel, lambda, material_of_kind(material, OVER_RELAXED));
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
// The current place of a particle, for kinds without orientations.

// Returns the position of particle k relative to x₀.
fn placed(k: u32, x: vec3f, x0: vec3f, d: vec3f) -> vec3f {
    return shrunk(relative_to_first(k, x, x0, d));
}

// Projects constraints of a kind with a fixed number of particles, in storage buffers.
//
// - project: one thread per constraint of one colour. Reads and writes the displacements of its particles; the
//   constraints of a colour share no particle.
// - split: one thread per constraint that is solved by mass splitting. Writes its own impulses; gather.wgsl applies
//   them.

// split only:
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

// The record of a constraint, for passes that load all of it.

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

// Returns a parameter of the kind; parameters follow particles and material.
fn parameter(record: Record, index: u32) -> f32 {
    return bitcast<f32>(word(record, ARITY + 1u + index));
}

// Projects a constraint whose particles are in the given slots.

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

// Accessors of particles in storage buffers: the slot of a particle is its index.

fn position_at(particle: u32) -> vec4f {
    return positions[particle];
}

fn displacement_at(particle: u32) -> vec3f {
    return displacements[particle].xyz;
}

fn set_displacement(particle: u32, d: vec3f) {
    displacements[particle] = vec4f(d, 0.0);
}

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
    { const k = 0u; 
        w[k] = x[k].w;
        p[k] = placed(k, x[k].xyz, x[0].xyz, d[k]);
        travels[k] = shrunk(d[k]);
     }
{ const k = 1u; 
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
    { const k = 0u; 
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
     }
{ const k = 1u; 
        moved[k] = d[k] + impulses[k] * grown(x[k].w);
     }

    return moved;
}

// Bindings of the projections of a kind with a fixed number of particles. The host defines `ARITY` and `ROWS`; the
// including pass defines `Record` and `parameter`.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
// ROWS rows per constraint: particles, material, parameters. A row is one load, a struct would be several.
@group(0) @binding(3) var<storage, read> records: array<vec4u>;
@group(0) @binding(4) var<storage, read> materials: array<ScaledMaterial>;
@group(0) @binding(5) var<storage, read_write> lambdas: array<f32>;

override KEEP_LAMBDA: bool = false;

// Scale and λ index of scenes. instances.wgsl defines these functions for instances.

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
const POINTS = 2u;
const ROWS = 1u;
const LAMBDAS = 1u;
const UNIT_GRADIENTS = true;
const UNILATERAL = false;
const OVER_RELAXED = false;
const MOST_PARTICLES = 256u;

// shaders/common/params.wgsl

// shaders/common/xpbd.wgsl
