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

// Projects the constraints of clusters (src/schedule/clusters.rs) in workgroup memory.
// One workgroup per cluster of one layer; clusters of a layer share no particle. The constraints are solved in rounds
// with a barrier after each; constraints of a round share no particle. Reads and writes the displacements of the
// particles of the cluster.

// A head of 8 words per cluster: start and number of its particles, start and number of its rounds, start of the
// local particle indices of its constraints, first record. The arrays follow the heads.
@group(0) @binding(6) var<storage, read> clusters: array<u32>;

const HEAD = 8u;

// Largest number of rounds of a cluster.
const MOST_ROUNDS = 64u;

// x and w; d
var<workgroup> places: array<vec4f, MOST_PARTICLES>;
var<workgroup> moves: array<vec4f, MOST_PARTICLES>;
// First constraint of each round, and the end of the last round.
var<workgroup> bounds: array<u32, MOST_ROUNDS + 1u>;

// A constraint as stored.
struct Constraint {
    record: Record,
    // Local indices of its particles, one byte each.
    locals: u32,
}

fn constraint_at(place: u32, locals_at: u32) -> Constraint {
    return Constraint(load(place), clusters[locals_at + place]);
}

fn position_at(slot: u32) -> vec4f {
    return places[slot];
}

fn displacement_at(slot: u32) -> vec3f {
    return moves[slot].xyz;
}

fn set_displacement(slot: u32, d: vec3f) {
    moves[slot] = vec4f(d, 0.0);
}

fn slots_of(constraint: Constraint) -> Slots {
    var slots: Slots;
    { const k = 0u; 
        slots[k] = (constraint.locals >> (8u * k)) & 255u;
     }
{ const k = 1u; 
        slots[k] = (constraint.locals >> (8u * k)) & 255u;
     }

    return slots;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn project_cluster(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.x + group.y * 65535u;
    if index >= span.count {
        return;
    }
    let head = HEAD * (span.first + index);
    let particles_at = clusters[head];
    let particle_count = clusters[head + 1u];
    let rounds_at = clusters[head + 2u];
    let round_count = clusters[head + 3u];
    let locals_at = clusters[head + 4u] - clusters[head + 5u];
    // Loads for the next round are issued while a round is solved, to hide their latency.
    var place = clusters[head + 5u] + thread;
    var next = constraint_at(place, locals_at);
    if thread < round_count {
        bounds[thread] = clusters[rounds_at + 2u * thread];
        if thread + 1u == round_count {
            bounds[round_count] = bounds[thread] + clusters[rounds_at + 2u * thread + 1u];
        }
    }
    for (var k = thread; k < particle_count; k += WORKGROUP_SIZE) {
        let particle = clusters[particles_at + k];
        places[k] = positions[particle];
        moves[k] = displacements[particle];
    }
    var material = materials[word(next.record, ARITY)];
    workgroupBarrier();
    for (var round = 0u; round < round_count; round++) {
        let end = bounds[round + 1u];
        let own = next;
        let own_place = place;
        place = end + thread;
        next = constraint_at(min(place, bounds[round_count] - 1u), locals_at);
        if own_place < end {
            solve(own_place, own.record, slots_of(own), material);
        }
        for (var more = own_place + WORKGROUP_SIZE; more < end; more += WORKGROUP_SIZE) {
            let other = constraint_at(more, locals_at);
            solve(more, other.record, slots_of(other), materials[word(other.record, ARITY)]);
        }
        material = materials[word(next.record, ARITY)];
        workgroupBarrier();
    }
    for (var k = thread; k < particle_count; k += WORKGROUP_SIZE) {
        displacements[clusters[particles_at + k]] = moves[k];
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
