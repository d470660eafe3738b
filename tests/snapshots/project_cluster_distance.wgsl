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

// Projects the constraints of clusters (src/schedule/clusters.rs): one workgroup a cluster of one layer, which shares no particle with the others of the
// layer. It keeps the particles in workgroup memory and solves the constraints in rounds, with a barrier after each; no two constraints of a
// round name the same particle. Reads and writes the displacements of the particles of the cluster.

// For each cluster a head of 8 words: where its particles stand, how many, where its rounds stand, how many, where the local particles of its
// constraints stand, its first record; then all that these point to.
@group(0) @binding(6) var<storage, read> clusters: array<u32>;

const HEAD = 8u;

// A mask of rounds has so many bits.
const MOST_ROUNDS = 64u;

// x and w; d.
var<workgroup> places: array<vec4f, MOST_PARTICLES>;
var<workgroup> moves: array<vec4f, MOST_PARTICLES>;
// The first constraint of each round, and behind the last.
var<workgroup> bounds: array<u32, MOST_ROUNDS + 1u>;

// What memory has of a constraint.
struct Constraint {
    record: Record,
    // The local places of its particles, a byte each.
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
    // While a round is solved, what the next one takes is on its way: memory is slower than a round.
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
