// Instances with colliders: each substep ends with the response of each particle to the colliders
// (shaders/collision/collide/response.wgsl). A dispatch runs some substeps of a step, since loops of a thread are
// limited (`InstancePool::substeps_per_dispatch` in src/instancing/colliders.rs).
// Positions are in world space, so colliders and distances need no scale.
// The slots are read from the asset: the binding of `live` holds the colliders. Between the constraints of a substep
// and its end, the first row of a particle in `motions` holds its restitution.

@group(0) @binding(7) var<storage, read> collider_rows: ColliderRows;
@group(0) @binding(11) var<uniform> contact_params: ContactParams;
@group(0) @binding(12) var<uniform> part: Part;

// The substeps of a dispatch; counterpart: `PartRow` in src/gpu/instance_colliders.rs.
struct Part {
    first: u32,
    count: u32,
    // 1 if they end the step
    is_last: u32,
    padding: u32,
}

// First row of the substep.
var<private> first_row: u32;

fn slot_of(index: u32) -> u32 {
    return asset[LIVE_AT + index];
}

fn begins_step() -> bool {
    return by_thread(part.first, first_particle) == 0u;
}

fn ends_step() -> bool {
    return by_thread(part.is_last, first_particle) == 1u;
}

fn substep_count() -> u32 {
    return part.count;
}

// Adds the restitution of the substep to the displacement, as in apply_restitution.wgsl.
fn rebounded(k: u32, motion: Motion) -> Motion {
    var next = motion;
    if RESTITUTES {
        next.displacement = motion.displacement + bounce_of(first_particle + k);
    }
    return next;
}

fn removes_overlap() -> bool {
    return true;
}

fn bounce_of(i: u32) -> vec3f {
    return bitcast<vec3f>(motions[2u * i].xyz);
}

fn add_bounce(i: u32, bounce: vec3f) {
    motions[2u * i] = bitcast<vec4u>(vec4f(opaque(bounce_of(i) + bounce, params.zero), 0.0));
}

// Forces on colliders are not recorded.
fn note_push(i: u32, index: u32, w: f32, displacement: vec3f, normal: f32, arm: vec3f) {
}

fn collider_count() -> u32 {
    return min(contact_params.collider_count, arrayLength(&collider_rows.rows));
}

fn collider_at(index: u32) -> Collider {
    return collider_rows.rows[first_row + index];
}

fn bound_at(index: u32) -> ColliderBound {
    let at = first_row + index;
    let center = offset_of(collider_rows.rows[at].frame);
    let up = collider_rows.rows[at].frame.rows[1].xyz;
    return ColliderBound(center, up, collider_rows.rows[at].near, collider_rows.rows[at].above);
}

fn data_at(at: u32) -> f32 {
    return collider_rows.data[at];
}

// Returns the first collider from index `first` on that is near, or NONE.
fn near_from(first: u32, x: vec3f, reach: f32) -> u32 {
    let count = collider_count();
    var index = first;
    while index < count && !is_near(index, x, reach) {
        index++;
    }
    return select(NONE, index, index < count);
}

// The particles of a thread: bounds of their positions, and of the components of their displacements.
struct Bounds {
    low: vec3f,
    high: vec3f,
    reach: f32,
}

// Returns false if `is_near` is false for each of these particles. Tolerances for rounding as there.
fn is_any_near(own: Bounds) -> bool {
    let count = collider_count();
    var index = 0u;
    while index < count && !is_near_bounds(bound_at(index), own) {
        index++;
    }
    return index < count;
}

fn is_near_bounds(bound: ColliderBound, own: Bounds) -> bool {
    let low = own.low - bound.center;
    let high = own.high - bound.center;
    let apart = clamp(vec3f(), low, high);
    let height = dot(select(low, high, bound.up < vec3f()), bound.up);
    let near = 1.001 * (bound.near + own.reach);
    let size = sum_of_components(low) + sum_of_components(high);
    return dot(apart, apart) <= near * near && height <= 1.001 * (bound.above + 1.001 * own.reach) + 8e-6 * size;
}

// Resolves the contacts of the particles of a thread with all colliders. Nothing is far from all of them.
fn collide_own(substep: u32, thread: u32) {
    first_row = (part.first + substep) * contact_params.collider_count;
    var own = Bounds(vec3f(FAR), vec3f(-FAR), 0.0);
    for (var k = thread; k < ASSET_PARTICLES; k += THREADS) {
        let x = position_at(k);
        let reach = sum_of_components(moves[moves_at + k]);
        if x.w != 0.0 {
            own.low = min(own.low, x.xyz);
            own.high = max(own.high, x.xyz);
            // Not a maximum, because that of a NaN may be NaN.
            if reach > own.reach {
                own.reach = reach;
            }
        }
        if RESTITUTES {
            motions[2u * (first_particle + k)] = vec4u();
        }
    }
    let end = select(0u, ASSET_PARTICLES, own.low.x <= own.high.x && is_any_near(own));
    for (var k = thread; k < end; k += THREADS) {
        collide_particle(k);
    }
}

fn collide_particle(k: u32) {
    let i = first_particle + k;
    let x = position_at(k);
    let material = material_of(asset[CONTACTS_AT + k]);
    if x.w == 0.0 || material == UNTOUCHABLE {
        return;
    }
    // As in collide.wgsl: the residual is no motion.
    let rest = unpacked(motions[2u * i + 1u]).position;
    let unknown = Exit(UNKNOWN, vec3f(), 0.0);
    let d = opaque(moves[moves_at + k] - rest, params.zero);
    let start = Moving(x.xyz, d, vec3f(), false, unknown, ColliderFriction());
    var scale = vec2f(1.0);
    if SCALED {
        let word = asset[CONTACTS_AT + ASSET_PARTICLES + k];
        scale = mean_scale(vec2u(word & 0xffffu, word >> 16u), 1u);
    }
    let side = contact_side(material, contact_params.materials[material], scale, params.zero);
    let particle = collide_with_all(i, side, x.w, rest, start);
    if particle.was_met {
        keep_position(k, vec4f(particle.x, x.w));
        moves[moves_at + k] = opaque(particle.d + rest, params.zero);
    }
}
