// velocity: the end of a substep, x += d; the displacement stays as the velocity (Macklin et al. 2016, alg. 1, lines 15–17).
// velocity_predict: the same, then predict of the next substep (the pass Advance): half the dispatches and half the bytes
// of the two.
// velocity_tether: that for free particles, then solve_tethers.wgsl. The pins are still where the substep began, and will be there and their
// displacement. Few pins also stand in a buffer of their own, so that they can move in the same pass (AdvanceTethered); many are moved by
// velocity_pinned, after it (AdvanceFree, AdvancePinned).
// One thread a particle, or a pinned one. Writes position, displacement and residual of its own particle.

@group(0) @binding(0) var<uniform> uniform_params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;

// Of velocity_tether:
// For each particle its first tether · 16 + how many it has.
@group(0) @binding(4) var<storage, read> tether_runs: array<u32>;
// Two a row: anchor, length as bits; anchor, length as bits.
@group(0) @binding(5) var<storage, read> tethers: array<vec4u>;
// Where the substep began, and where the next will.
@group(0) @binding(6) var<uniform> uniform_anchors: array<Anchor, MOST_ANCHORS>;
@group(0) @binding(7) var<storage, read_write> next_anchors: array<Anchor>;

// Of velocity_pinned:
@group(0) @binding(4) var<storage, read> pins: array<u32>;

// The loops over rows of tethers and over anchors are written out by src/gpu/unroll.rs: real GPUs would keep what a loop indexes in memory.
// The most that any particle has.
override MOST_TETHERS: u32 = 1u;
// Two of these to a row.
override TETHER_ROWS: u32 = 1u;
// Whether every particle has so many, one after another.
override ALL_TETHERED: bool = false;
// How many anchors there are; 0 where they are too many for their buffer.
override ANCHORS: u32 = 0u;

// Of the uniform buffers: see the prelude.
var<private> params: Params;
var<private> anchors: array<Anchor, MOST_ANCHORS>;

fn load_moved(i: u32) -> Motion {
    return integrated(Motion(positions[i], displacements[i].xyz, unpacked(residuals[i])), params.velocity_factor, params.zero);
}

fn store(i: u32, motion: Motion) {
    positions[i] = motion.position;
    displacements[i] = vec4f(motion.displacement, 0.0);
    residuals[i] = packed(motion.residual, params.zero);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn velocity(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    let i = thread_index(id);
    if i < params.particle_count {
        store(i, load_moved(i));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn velocity_predict(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    let i = thread_index(id);
    if i < params.particle_count {
        store(i, predicted(load_moved(i), params.gravity_step, params.zero));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn velocity_tether(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    anchors = uniform_anchors;
    let i = thread_index(id);
    if i >= params.particle_count {
        return;
    }
    let begun = predicted(load_moved(i), params.gravity_step, params.zero);
    var motion = begun;
    let run = tether_run(i);
    { const k = 0u; 
        let two = tethers[run.x + k];
        motion.displacement = pulled_by(anchor_at(two.x), bitcast<f32>(two.y), motion, 2u * k < run.y);
        // Compilers know the first.
        let second = 2u * k + 1u < MOST_TETHERS && 2u * k + 1u < run.y;
        motion.displacement = pulled_by(anchor_at(two.z), bitcast<f32>(two.w), motion, second);
     }

    if motion.position.w == 0.0 {
        if ANCHORS == 0u {
            return;
        }
        motion = begun;
        next_anchors[anchor_place(i)] = Anchor(motion.position.xyz, i, motion.displacement, 0u);
    }
    store(i, motion);
}

// The row of the first tether of a particle, and how many it has.
fn tether_run(i: u32) -> vec2u {
    if ALL_TETHERED {
        return vec2u(i * TETHER_ROWS, MOST_TETHERS);
    }
    let run = tether_runs[i];
    // Every particle has an even number of them, two a row.
    return vec2u(run >> 5u, run & 15u);
}

// The first that is it, as below.
fn anchor_place(particle: u32) -> u32 {
    var place = 0u;
    { const k = 0u; 
        let other = ANCHORS - 1u - k;
        place = select(place, other, anchors[other].particle == particle);
     }

    return place;
}

fn anchor_at(particle: u32) -> Anchor {
    if ANCHORS == 0u {
        return Anchor(positions[particle].xyz, particle, displacements[particle].xyz, 0u);
    }
    // The first that is it: behind the pins there may be some that are no more.
    var anchor: Anchor;
    { const k = 0u; 
        let other = ANCHORS - 1u - k;
        let it = k == 0u || anchors[other].particle == particle;
        anchor.position = select(anchor.position, anchors[other].position, it);
        anchor.displacement = select(anchor.displacement, anchors[other].displacement, it);
     }

    return anchor;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn velocity_pinned(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    let place = thread_index(id);
    if place < params.pin_count {
        let particle = pins[place];
        store(particle, predicted(load_moved(particle), params.gravity_step, params.zero));
    }
}

// shaders/common/params.wgsl

// shaders/common/xpbd.wgsl

// shaders/common/particle.wgsl
