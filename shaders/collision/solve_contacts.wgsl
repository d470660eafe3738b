// Solves all contacts at once by mass splitting (Tonge, Benevolenski, Voroshilov 2012): a particle with n contacts
// counts as n particles of 1/n of its mass. Both multipliers of a contact change in each iteration:
//
//   λ_n ← max(0, λ_n + (c₀ − n·Σ b d)/W)        W = Σ wₖ nₖ bₖ², where nₖ is the number of contacts of particle k
//   λ_t ← λ_t − (offset + tangential part of Σ b d)/W, shortened to the friction cone
//
// Correction: Δxₖ = wₖ bₖ (n Δλ_n + Δλ_t). All iterations but the last over-relax the quotients. They also add a part of the
// change in the iteration before: the heavy ball method (Polyak 1964).
// One thread per contact. Reads displacements and corrections. Writes the multipliers, and in the last iteration the
// contact for the next substep. Adds corrections of its particles with atomics, in whole quanta: the sum does not depend
// on the order.
// Until apply_corrections.wgsl, a particle has two sums of corrections, 0 and 1. An iteration reads one, which contains all
// iterations before. To the other it adds the corrections of the iteration before and its own.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> contacts: array<ActiveContact>;
@group(0) @binding(6) var<storage, read_write> corrections: array<atomic<i32>>;
@group(0) @binding(7) var<storage, read_write> contact_status: ContactStatus;
// The last iteration writes it for the next substep.
@group(0) @binding(8) var<storage, read_write> previous: array<PreviousContact>;
@group(0) @binding(9) var<uniform> iteration: ContactIteration;

struct ContactIteration {
    // 1 in the last iteration of a substep, else 0.
    is_last: u32,
    // Index of the sum that it completes; it reads the other.
    sum: u32,
    // 1 if the corrections of the iteration before are in one of the sums, 0 if they have been applied.
    continues: u32,
}

// Factors of the quotients, and of the change in the iteration before: see src/collision/self_collision.rs.
const CORRECTION = 1.8;
const HEAVY_BALL = 0.4;

@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_contacts(@builtin(global_invocation_id) id: vec3u) {
    let place = thread_index(id);
    let found = atomicLoad(&contact_status.contact_count);
    let ends_substep = by_thread(iteration.is_last, place) == 1u;
    if place == 0u {
        contact_status.most_contacts = max(contact_status.most_contacts, found);
    }
    if place >= used_count(found, arrayLength(&contacts)) {
        if ends_substep && found > arrayLength(&contacts) && place < arrayLength(&previous) {
            // The lists of contacts of the next substep find no contact here.
            previous[place] = PreviousContact();
        }
        return;
    }
    var own = contacts[place];
    let particles = pair_particles(own.pair);
    let kind = pair_kind(own.pair);
    let members = member_count(kind);
    let masses = masses_of(own.weights, particles, members);
    let weight = masses.sum;
    let motion = motion_of(own.weights, particles);
    var change = vec3f();
    // Not if all particles are pinned, or one is not finite.
    if weight > 0.0 && length(motion) < 1e30 {
        change = solve(place, own, particles, motion, weight, ends_substep);
    } else if ends_substep {
        previous[place] = ended(own, own.offset, SLIDES);
    }
    for (var k = 0u; k < members; k++) {
        let weighted = opaque1(masses.w[k] * own.weights[k], params.zero);
        add_corrections(particles[k], own.change, change, weighted, masses.most[k]);
    }
    contacts[place].change = change;
}

// Changes the multipliers of a contact, and writes them. Returns the change, a displacement times mass.
fn solve(place: u32, own: ActiveContact, particles: vec4u, motion: vec3f, weight: f32, ends_substep: bool) -> vec3f {
    let kind = pair_kind(own.pair);
    let step = opaque1(select(CORRECTION, 1.0, ends_substep) / weight, params.zero);
    let normal = own.plane.xyz;
    // The part of the last change that is added again, along the normal and across it.
    let carried = opaque(own.change * select(HEAVY_BALL, 0.0, ends_substep), params.zero);
    let carried_along = opaque1(dot(normal, carried), params.zero);
    let carried_across = opaque(carried - opaque(normal * carried_along, params.zero), params.zero);
    let along = opaque1(dot(normal, motion), params.zero);
    let depth = opaque1(own.plane.w - along, params.zero);
    let pressing = opaque1(own.normal_lambda + opaque1(depth * step, params.zero), params.zero);
    let normal_lambda = max(opaque1(pressing + carried_along, params.zero), 0.0);
    let friction = pair_friction(kind, particles);
    let slip = opaque(own.offset + opaque(motion - opaque(normal * along, params.zero), params.zero), params.zero);
    let holding = opaque(own.friction_lambda - opaque(slip * step, params.zero), params.zero);
    let sticking = opaque(holding + carried_across, params.zero);
    let most_friction = opaque1(friction.x * normal_lambda, params.zero);
    let l = length(sticking);
    let slides = !(l <= most_friction);
    var share = 1.0;
    if kind == CROSSING {
        // An intersection has no friction.
        share = 0.0;
    } else if slides {
        share = opaque1(friction.y * normal_lambda, params.zero) / l;
    }
    let friction_lambda = opaque(sticking * opaque1(share, params.zero), params.zero);
    let push = opaque(normal * opaque1(normal_lambda - own.normal_lambda, params.zero), params.zero);
    if ends_substep {
        let largest = opaque1(most_friction * weight, params.zero);
        previous[place] = anchored(own, particles, slides, largest);
    }
    contacts[place].normal_lambda = normal_lambda;
    contacts[place].friction_lambda = friction_lambda;
    return opaque(push + opaque(friction_lambda - own.friction_lambda, params.zero), params.zero);
}

// Adds the corrections of a particle by two changes of the multipliers: those of the iteration before and of this one.
fn add_corrections(particle: u32, before: vec3f, change: vec3f, weighted: f32, most: f32) {
    let factor = opaque1(weighted * contact_params.inverse_quantum, params.zero);
    var quanta = rounded(change, factor, most);
    if by_thread(iteration.continues, particle) == 1u {
        quanta += rounded(before, factor, most);
    }
    let word = sum_word(particle, iteration.sum, params.particle_count);
    atomicAdd(&corrections[word], quanta.x);
    atomicAdd(&corrections[word + 1u], quanta.y);
    atomicAdd(&corrections[word + 2u], quanta.z);
}

// Returns a correction in whole quanta, at most `most` on each axis.
fn rounded(change: vec3f, factor: f32, most: f32) -> vec3i {
    return vec3i(round(clamp(opaque(change, params.zero) * factor, vec3f(-most), vec3f(most))));
}

// Inverse masses of the particles of a contact; W; the limit of each correction, which keeps the sum of all within i32
// [quanta].
struct Masses {
    w: vec4f,
    sum: f32,
    most: vec4f,
}

fn masses_of(weights: vec4f, particles: vec4u, members: u32) -> Masses {
    var masses: Masses;
    for (var k = 0u; k < members; k++) {
        let w = positions[particles[k]].w;
        let n = f32(contacts_of(atomicLoad(&corrections[4u * particles[k] + 3u])));
        let b = weights[k];
        masses.w[k] = w;
        masses.most[k] = contact_params.most_quanta / n;
        masses.sum = opaque1(masses.sum, params.zero)
            + opaque1(opaque1(w * n, params.zero) * opaque1(b * b, params.zero), params.zero);
    }
    return masses;
}

// Returns Σ b d.
fn motion_of(weights: vec4f, particles: vec4u) -> vec3f {
    let d0 = corrected(particles.x);
    var d: Four;
    for (var k = 1u; k < most_members(); k++) {
        d[k] = opaque(corrected(particles[k]) - d0, params.zero);
    }
    return weighted_sum(weights, d, params.zero);
}

// Returns the displacement of a particle with its corrections so far.
fn corrected(particle: u32) -> vec3f {
    let word = sum_word(particle, 1u - iteration.sum, params.particle_count);
    let sum = vec3i(atomicLoad(&corrections[word]), atomicLoad(&corrections[word + 1u]), atomicLoad(&corrections[word + 2u]));
    return opaque(displacements[particle].xyz + opaque(vec3f(sum) * contact_params.quantum, params.zero), params.zero);
}

// Returns the contact for the next substep. `flag` is SLIDES or 0.
fn ended(own: ActiveContact, offset: vec3f, flag: u32) -> PreviousContact {
    return PreviousContact(without_marks(own.pair), own.weights.yzw, own.distance, offset, own.next | flag);
}

// Returns the contact with its friction anchor. `largest` is the offset that friction at its limit holds [m]: the anchor
// of a contact that slides moves along.
fn anchored(own: ActiveContact, particles: vec4u, slides: bool, largest: f32) -> PreviousContact {
    if slides {
        let share = min(opaque1(largest / max(length(own.offset), 1e-30), params.zero), 1.0);
        return ended(own, own.offset * share, SLIDES);
    }
    let moved = weighted_sum(own.weights, relative_positions(particles), params.zero);
    return ended(own, opaque(own.offset - moved, params.zero), 0u);
}
