// Types and functions shared by the collision passes: parameters, colliders, and the state that only the GPU writes.

// Units are documented at `ContactParams` in src/sim/contact_params.rs.
struct ContactParams {
    collider_count: u32,
    substeps: u32,
    recovery: f32,
    level: u32,
    margin: f32,
    quantum: f32,
    inverse_quantum: f32,
    most_quanta: f32,
    largest_thickness: f32,
    table_size: u32,
    inverse_level_radius: f32,
    holds_particles: u32,
    sphere_first: u32,
    particle_end: u32,
    edge_end: u32,
    element_end: u32,
    prediction_quantum: f32,
    inverse_prediction_quantum: f32,
    padding: vec2u,
    // half the thickness (bits), groups, mask of touched groups, 1 if an element of it can collide
    materials: array<vec4u, 16>,
    // by pair of materials: static and kinetic friction, restitution, 0
    friction: array<vec4f, 256>,
}

// Counterpart: `ColliderRow` in src/collision/colliders.rs.
struct Collider {
    position: vec3f,
    shape: u32,
    rotation: vec4f,
    target_position: vec3f,
    flags: u32,
    target_rotation: vec4f,
    size: vec3f,
    bound: f32,
    surface_velocity: vec3f,
    margin: f32,
    counts: vec3u,
    data: u32,
    // `interpolated` in collider_poses.wgsl writes all members below except `material`.
    near: f32,
    above: f32,
    material: u32,
    substep: u32,
    frame: ColliderFrame,
    travel: ColliderFrame,
    surface_step: vec3f,
    padding: u32,
}

// Rows of a 3×3 matrix; the fourth components are an offset. Counterpart: `ColliderFrame` in
// src/collision/collider_frame.rs.
struct ColliderFrame {
    rows: array<vec4f, 3>,
}

const MOVING = 1u;
const TWO_SIDED = 2u;
const DISABLED = 4u;
// The other shapes are in shaders/collision/collide/shapes.wgsl.
const HALF_SPACE = 0u;
const UNTOUCHABLE = 127u;
// Flag beside the contact material: a particle of edges without triangles.
const CORD = 128u;

// State that only the GPU writes. Counterpart: `ContactStatus` in src/gpu/contacts/status.rs.
struct ContactStatus {
    // Mean displacement of a sample of particles in the substep of the last search [m]. Paths are relative to it.
    drift: vec3f,
    // Substeps since the start.
    now: u32,
    // Truncation shortens displacements relative to this: the displacement of the center of mass of the sample, or 0 if
    // `ContactParams::holds_particles` is 1. So bodies that stop each other keep their momentum.
    truncation_frame: vec3f,
    // HOLDS, EXPIRED, RESET or INCOMPLETE: the state of the pair list.
    stale: atomic<u32>,
    // The substep of the last search, and the number of substeps for which its list holds.
    searched: u32,
    horizon: u32,
    // Edges that intersect triangles at the end of the last step.
    crossing_count: atomic<u32>,
    // Pairs that the last search has found, those of them in the list, and contacts found in this substep.
    found_count: atomic<u32>,
    pair_count: u32,
    contact_count: atomic<u32>,
    searches: u32,
    // Largest numbers found, beyond the capacities too.
    most_pairs: u32,
    most_contacts: u32,
    // Pairs, contacts and intersections beyond the capacities, and searches that exceeded MOST_ITERATIONS.
    lost: atomic<u32>,
    // Largest overlap at the start of a substep [m] (bits of a positive f32).
    deepest: atomic<u32>,
    // Number of truncated displacements.
    truncated: atomic<u32>,
    // Substeps in which all particles stood still.
    halted: u32,
    // Contacts deeper than half their thickness at the start of a substep.
    deep_contacts: atomic<u32>,
    // 1 + the last round of build_division_planes in this substep that has truncated a displacement, or 0.
    cut_round: atomic<u32>,
    // The largest radius of a volume with its path, by type and level (bits of a positive f32), or 0 without any. See
    // shaders/collision/search/volume.wgsl.
    radii: array<atomic<u32>, 3u * LEVELS>,
    padding: u32,
}

// Indirect dispatches, three words each: one per `SearchPass` (src/schedule/plan.rs); find_contacts and
// build_division_planes; resolve_intersections; solve_contacts, apply_corrections and note_contacts.
const SEARCH_PASSES = 4u;
const CONTACTS_SIZE = 3u * SEARCH_PASSES;
const RESOLVE_SIZE = CONTACTS_SIZE + 3u;
const SOLVE_SIZE = RESOLVE_SIZE + 3u;

// States of the pair list: valid; expired; never searched since positions were reset; a pair of the last search or a
// contact of this substep was lost.
const HOLDS = 0u;
const EXPIRED = 1u;
const RESET = 2u;
const INCOMPLETE = 3u;

// Contacts of a particle with colliders. The members are rows because software drivers load and store struct members
// one by one.
struct ColliderContact {
    // Restitution: added to the displacement after the particle has moved. The fourth word is the displacement along the
    // normal of the collider of `owner` in the substep [m].
    bounce: vec4f,
    // Part of the displacement that removes overlap with colliders and is not velocity; w is the length of the whole
    // displacement.
    recovery: vec4f,
    // Friction with one collider in the substep. Displacement by friction [m]; 1 + the index of the collider, or 0, and
    // IMPACT.
    friction: vec3f,
    owner: u32,
    impulses: array<ColliderImpulse, 2>,
}

// Impulse of a particle on a collider in this step.
struct ColliderImpulse {
    // Impulse (bits), and the index of the collider + 1, or 0 if unused.
    impulse: vec4u,
    // Moment of the impulse about the position of the collider; sum of the normal impulses.
    moment: vec4f,
}

// The contact of a triangle with a collider, for its three particles.
struct TriangleContact {
    // Displacement of the contact point by the contact and by friction, times its effective mass [kg m].
    impulse: vec3f,
    // 1 + the index of the collider, or 0 without a contact.
    owner: u32,
    // Outward normal of the collider.
    normal: vec3f,
    // Barycentric weights of the second and of the third corner.
    weight_1: f32,
    // Offset of the contact point from the collider [m].
    arm: vec3f,
    weight_2: f32,
    // The normal part of `impulse` [kg m].
    normal_impulse: f32,
    // Displacement along the normal that removes overlap of the start of the substep, times the same mass [kg m].
    recovery: f32,
    // Displacement of the collider along the normal at the contact point [m].
    carried: f32,
}

// Returns true if two contact materials collide with each other.
fn touch(a: vec4u, b: vec4u) -> bool {
    return (a.y & b.z) != 0u && (b.y & a.z) != 0u;
}

// Returns the contact material of a particle. `word` is the last word of its row in contact_particles.
fn material_of(word: u32) -> u32 {
    return word & UNTOUCHABLE;
}

// True if particles have scales of thickness and friction. Counterpart: src/collision/scale.rs.
override SCALED: bool = false;

const SCALE_STEPS = 32768.0;

// Returns the mean scales of an element, from the sums of the steps of its particles.
fn mean_scale(sum: vec2u, count: u32) -> vec2f {
    let share = select(select(1.0 / 3.0, 0.5, count == 2u), 1.0, count == 1u);
    return (vec2f(sum) * (1.0 / SCALE_STEPS)) * share;
}

// Returns coefficients of friction, times a factor.
fn scaled_friction(coefficients: vec2f, factor: f32, zero: u32) -> vec2f {
    if !SCALED {
        return coefficients;
    }
    let own = opaque1(factor, zero);
    return vec2f(opaque1(coefficients.x * own, zero), opaque1(coefficients.y * own, zero));
}

// A particle or triangle in contacts with colliders. Counterpart: `ContactSide` in src/reference/contact_sides.rs.
struct ContactSide {
    material: u32,
    // Half the thickness [m].
    radius: f32,
    // Factor of the coefficients of friction.
    friction: f32,
}

// `row` is that of the material, `scale` the mean scales of the particles.
fn contact_side(material: u32, row: vec4u, scale: vec2f, zero: u32) -> ContactSide {
    let radius = bitcast<f32>(row.x);
    if !SCALED {
        return ContactSide(material, radius, 1.0);
    }
    return ContactSide(material, opaque1(radius * opaque1(scale.x, zero), zero), sqrt(opaque1(scale.y, zero)));
}

// Rotates v by a unit quaternion.
fn rotate(q: vec4f, v: vec3f, zero: u32) -> vec3f {
    let t = opaque(cross_product(q.xyz, v, zero) * 2.0, zero);
    return opaque(v + opaque(t * q.w, zero), zero) + cross_product(q.xyz, t, zero);
}

fn frame_at(position: vec3f, rotation: vec4f, zero: u32) -> ColliderFrame {
    let x = opaque(rotate(rotation, vec3f(1.0, 0.0, 0.0), zero), zero);
    let y = opaque(rotate(rotation, vec3f(0.0, 1.0, 0.0), zero), zero);
    let z = opaque(rotate(rotation, vec3f(0.0, 0.0, 1.0), zero), zero);
    return ColliderFrame(array(vec4f(x, position.x), vec4f(y, position.y), vec4f(z, position.z)));
}

fn offset_of(frame: ColliderFrame) -> vec3f {
    return vec3f(frame.rows[0].w, frame.rows[1].w, frame.rows[2].w);
}

// Rotates a world direction into the frame.
fn turned_into(frame: ColliderFrame, v: vec3f, zero: u32) -> vec3f {
    return opaque(vec3f(dot(frame.rows[0].xyz, v), dot(frame.rows[1].xyz, v), dot(frame.rows[2].xyz, v)), zero);
}

// Rotates a direction of the frame into the world.
fn turned_out_of(frame: ColliderFrame, v: vec3f, zero: u32) -> vec3f {
    let x = opaque(frame.rows[0].xyz * v.x, zero);
    let y = opaque(frame.rows[1].xyz * v.y, zero);
    return opaque(opaque(x + y, zero) + opaque(frame.rows[2].xyz * v.z, zero), zero);
}

// The motion of a point in a substep relative to a collider, in world space. `start` has moved with the collider to the
// end of the substep; `displacement` is the rest of the displacement.
struct RelativeMotion {
    start: vec3f,
    displacement: vec3f,
}

// `rest` is the residual of the position x, which the displacement d does not include. Counterpart:
// `ColliderRow::relative_motion` in src/collision/colliders.rs.
fn relative_motion(c: Collider, x: vec3f, rest: vec3f, d: vec3f, zero: u32) -> RelativeMotion {
    let place = opaque(opaque(x - offset_of(c.frame), zero) + rest, zero);
    let turn = turned_into(c.travel, place, zero);
    return RelativeMotion(opaque(place + turn, zero), opaque(d - opaque(turn + offset_of(c.travel), zero), zero));
}

// Returns the frame of a collider after a share of the step. Counterpart: `ColliderFrame::after` in
// src/collision/collider_frame.rs.
fn frame_after(c: Collider, share: f32, zero: u32) -> ColliderFrame {
    if (c.flags & MOVING) == 0u {
        return frame_at(c.position, c.rotation, zero);
    }
    let moved = c.position + opaque(opaque(c.target_position - c.position, zero) * share, zero);
    var goal = c.target_rotation;
    if opaque(vec3f(dot(c.rotation.xyz, goal.xyz)), zero).x + c.rotation.w * goal.w < 0.0 {
        goal = -goal;
    }
    let axis = opaque(c.rotation.xyz + opaque(opaque(goal.xyz - c.rotation.xyz, zero) * share, zero), zero);
    let w = opaque(vec3f(c.rotation.w + opaque(vec3f((goal.w - c.rotation.w) * share), zero).x), zero).x;
    let l = sqrt(opaque(vec3f(dot(axis, axis)), zero).x + w * w);
    if l == 0.0 {
        return frame_at(moved, c.rotation, zero);
    }
    return frame_at(moved, vec4f(axis / l, w / l), zero);
}
