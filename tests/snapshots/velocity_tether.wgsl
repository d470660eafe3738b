// Ends a substep: x += d; the displacement remains as the velocity (Macklin et al. 2016, alg. 1, lines 15–17).
//
// - velocity: only that.
// - velocity_predict (pass IntegrateAndPredict): also predicts the next substep, which halves dispatches and memory
//   traffic.
// - velocity_tether (passes IntegrateTethered, IntegrateFree): velocity_predict of free particles, then
//   solve_tethers.wgsl. It evaluates pins at their next position and displacement. Up to MOST_ANCHORS pins are read
//   from a copy and are moved in the same dispatch.
// - velocity_pinned (pass IntegratePinned): velocity_predict of the pins afterwards, if there are more.
//
// One thread per particle (velocity_pinned: per pin). Writes position, displacement and residual of its own particle;
// velocity_tether also writes the copy of its own pin for the next substep.

@group(0) @binding(0) var<uniform> uniform_params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> residuals: array<vec4u>;

// velocity_tether only:
// per particle: first tether · 16 + number of tethers
@group(0) @binding(4) var<storage, read> tether_runs: array<u32>;
// two tethers per row: pin, length (bits); pin, length (bits)
@group(0) @binding(5) var<storage, read> tethers: array<vec4u>;
// Pins at the start of this substep, and at the start of the next one.
@group(0) @binding(6) var<uniform> uniform_anchors: array<Anchor, MOST_ANCHORS>;
@group(0) @binding(7) var<storage, read_write> next_anchors: array<Anchor>;

// velocity_pinned only:
@group(0) @binding(4) var<storage, read> pins: array<u32>;

// src/gpu/shader.rs unrolls the loops over tether rows and anchors, because GPUs keep indexed arrays in memory.
// Largest number of tethers of a particle.
override MOST_TETHERS: u32 = 1u;
// Rows of two tethers.
override TETHER_PAIRS: u32 = 1u;
// True if every particle has MOST_TETHERS tethers, stored one after another.
override ALL_TETHERED: bool = false;
// Number of anchors; 0 if the pins exceed MOST_ANCHORS.
override ANCHORS: u32 = 0u;

// Copies of the uniform buffers, see shaders/common/params.wgsl.
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
        // The first comparison is constant.
        let second = 2u * k + 1u < MOST_TETHERS && 2u * k + 1u < run.y;
        motion.displacement = pulled_by(anchor_at(two.z), bitcast<f32>(two.w), motion, second);
     }

    if motion.position.w == 0.0 {
        if ANCHORS == 0u {
            return;
        }
        motion = begun;
        let place = anchor_place(i);
        if place < ANCHORS {
            next_anchors[place] = Anchor(motion.position.xyz, i, motion.displacement, 0u);
        }
    }
    store(i, motion);
}

// Returns the first tether row of a particle, and its number of tethers.
fn tether_run(i: u32) -> vec2u {
    if ALL_TETHERED {
        return vec2u(i * TETHER_PAIRS, MOST_TETHERS);
    }
    let run = tether_runs[i];
    // Tethers of a particle are padded to an even number.
    return vec2u(run >> 5u, run & 15u);
}

// Returns the first anchor of this particle; ANCHORS if it is in reserve for a tear and no pin.
fn anchor_place(particle: u32) -> u32 {
    var place = ANCHORS;
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
    // Returns the first match: entries behind the pins may be outdated.
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
