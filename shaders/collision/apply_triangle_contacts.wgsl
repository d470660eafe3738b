// Moves the particles of triangles that are in contact with colliders. A particle follows the contact that moves it most:
// the mean of several would leave each of them unresolved. Together they may move a triangle farther than its own contact
// would. So the contact takes from a particle no more than its approach; the rest is recovery, and no particle rebounds.
// Counterpart: src/reference/triangles.rs.
//
// One thread per particle. Reads the contacts of its triangles. Writes position or recovery, displacement and collider
// contact of its own particle.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> displacements: array<vec4f>;
@group(0) @binding(3) var<storage, read> corner_offsets: array<u32>;
// Corners of triangles by particle: 4 times the triangle, plus the corner.
@group(0) @binding(4) var<storage, read> corners: array<u32>;
@group(0) @binding(5) var<storage, read> triangle_contacts: array<TriangleContact>;
@group(0) @binding(6) var<storage, read_write> collider_contacts: array<ColliderContact>;
@group(0) @binding(7) var<storage, read_write> status: Status;
@group(0) @binding(8) var<storage, read> residuals: array<vec4u>;

override NOTES_IMPULSES: bool = true;
// True with surfaces: see collide.wgsl.
override RECOVERS_BY_DISPLACEMENT: bool = false;

// The barycentric weight of a corner in a contact.
fn weight_of(contact: TriangleContact, corner: u32) -> f32 {
    if corner == 0u {
        return opaque1(1.0 - contact.weight_1, params.zero) - contact.weight_2;
    }
    return select(contact.weight_2, contact.weight_1, corner == 1u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn apply_triangle_contacts(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i >= params.particle_count || positions[i].w == 0.0 {
        return;
    }
    let zero = params.zero;
    var most = 0.0;
    var b = 0.0;
    var contact: TriangleContact;
    for (var at = corner_offsets[i]; at < corner_offsets[i + 1u]; at++) {
        let code = corners[at];
        if triangle_contacts[code >> 2u].owner == 0u {
            continue;
        }
        let own = triangle_contacts[code >> 2u];
        let weight = opaque1(weight_of(own, code & 3u), zero);
        let size = opaque1(weight * length(opaque(own.impulse + opaque(own.normal * own.recovery, zero), zero)), zero);
        if size > most {
            most = size;
            b = weight;
            contact = own;
        }
    }
    if most == 0.0 {
        return;
    }
    let x = positions[i];
    let scale = opaque1(x.w * b, zero);
    let push = opaque1(contact.normal_impulse * scale, zero);
    let motion = opaque(displacements[i].xyz - unpacked(residuals[i]).position, zero);
    let approach = contact.carried - opaque1(dot(contact.normal, motion), zero);
    let kept = select(1.0, clamp(opaque1(approach, zero) / push, 0.0, 1.0), push > 0.0);
    let d = opaque(displacements[i].xyz + opaque(contact.impulse * opaque1(scale * kept, zero), zero), zero);
    let rest = opaque1(push - opaque1(push * kept, zero), zero);
    let away = opaque(contact.normal * opaque1(opaque1(contact.recovery * scale, zero) + rest, zero), zero);
    if RECOVERS_BY_DISPLACEMENT {
        let whole = opaque(d + away, zero);
        displacements[i] = vec4f(whole, 0.0);
        let sum = opaque(collider_contacts[i].recovery.xyz + away, zero);
        collider_contacts[i].recovery = vec4f(sum, length(whole));
    } else {
        displacements[i] = vec4f(d, 0.0);
        positions[i] = vec4f(opaque(x.xyz + away, zero), x.w);
    }
    if NOTES_IMPULSES {
        let share = opaque1(opaque1(b / params.h, zero) * kept, zero);
        let normal = opaque1(contact.normal_impulse * share, zero);
        push_on(i, contact.owner - 1u, opaque(contact.impulse * -share, zero), normal, contact.arm);
    }
}
