// Finds the contact of each triangle of a surface with the collider into which it is deepest: what passes between its
// particles. apply_triangle_contacts.wgsl moves the particles.
// Counterpart: src/reference/triangles.rs.
//
// One thread per triangle, for the colliders near it in sequence. Reads the motion of its three particles, and
// colliders. Writes only its own contact. shaders/collision/collide/ holds the shapes and the storage of colliders.

@group(0) @binding(0) var<uniform> uniform_params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> residuals: array<vec4u>;
@group(0) @binding(6) var<storage, read> collider_data: array<u32>;
@group(0) @binding(7) var<storage, read> contact_particles: array<vec4u>;
// Three particles, and the edges that are borders: `TriangleView.borders`.
@group(0) @binding(8) var<storage, read> triangles: array<vec4u>;
@group(0) @binding(9) var<storage, read_write> triangle_contacts: array<TriangleContact>;

// Copy of the uniform buffer, see shaders/common/params.wgsl.
var<private> params: Params;

// A triangle in a substep: positions, displacements without the residual, residuals, inverse masses.
struct Triangle {
    x: Corners,
    d: Corners,
    rest: Corners,
    w: vec3f,
    side: ContactSide,
    borders: u32,
}

fn triangle_at(index: u32) -> Triangle {
    let row = triangles[index];
    var triangle: Triangle;
    for (var k = 0u; k < 3u; k++) {
        let position = positions[row[k]];
        let rest = unpacked(residuals[row[k]]).position;
        triangle.x[k] = position.xyz;
        triangle.w[k] = position.w;
        triangle.rest[k] = rest;
        triangle.d[k] = opaque(displacements[row[k]].xyz - rest, params.zero);
    }
    triangle.borders = row.w;
    let material = material_of(contact_particles[row.x].w);
    triangle.side.material = material;
    if material != UNTOUCHABLE {
        triangle.side = contact_side(material, contact_params.materials[material], element_scale(row.xyz, 3u), params.zero);
    }
    return triangle;
}

// The contact with one collider; `owner` is 0 without a contact.
struct Candidate {
    contact: TriangleContact,
    // The displacement along the normal that ends the contact [m].
    depth: f32,
}

// Normals are opposite if the cosine of their angle is less.
const OPPOSITE = -0.9;

fn contact_with(index: u32, triangle: Triangle) -> Candidate {
    let zero = params.zero;
    let c = collider_at(index);
    let own = contact_params.materials[triangle.side.material];
    let may_meet = (c.flags & DISABLED) == 0u && touch(own, contact_params.materials[c.material]);
    if c.shape == HALF_SPACE || !may_meet {
        return Candidate();
    }
    let keep = triangle.side.radius + c.margin;
    var start: Corners;
    var displacement: Corners;
    var locals: Corners;
    for (var k = 0u; k < 3u; k++) {
        let motion = relative_motion(c, triangle.x[k], triangle.rest[k], triangle.d[k], zero);
        start[k] = motion.start;
        displacement[k] = motion.displacement;
        locals[k] = turned_into(c.frame, opaque(start[k] + displacement[k], zero), zero);
    }
    var side = 1.0;
    if (c.flags & TWO_SIDED) != 0u {
        let center = turned_into(c.frame, mixed(vec3f(1.0 / 3.0), start), zero);
        side = select(1.0, -1.0, sample(c, center, keep).distance < 0.0);
    }
    let view = TriangleView(c, keep, side, triangle.borders);
    let deepest = deepest_point(view, locals);
    let weighted = opaque(opaque(deepest.weights * deepest.weights, zero) * triangle.w, zero);
    let inverse_mass = opaque1(opaque1(weighted.x + weighted.y, zero) + weighted.z, zero);
    // Far from the collider, squared lengths are infinite.
    if !deepest.is_met || inverse_mass == 0.0 || !is_finite(vec3f(deepest.depth)) {
        return Candidate();
    }
    // World space from here on.
    let normal = turned_out_of(c.frame, deepest.normal, zero);
    let motion = mixed(deepest.weights, displacement);
    // The contact ends the approach; the rest of its depth is overlap, which is no velocity.
    let push = opaque1(clamp(-opaque1(dot(normal, motion), zero), 0.0, deepest.depth), zero);
    let recovered = min(deepest.depth - push, contact_params.recovery);
    let relative = opaque(motion - c.surface_step, zero);
    let slip = opaque(relative - opaque(normal * opaque1(dot(normal, relative), zero), zero), zero);
    let coefficients = contact_params.friction[triangle.side.material * 16u + c.material].xy;
    let friction = scaled_friction(coefficients, triangle.side.friction, zero);
    let l = length(slip);
    var share = 1.0;
    if !(l <= opaque1(friction.x * push, zero)) {
        share = opaque1(friction.y * push, zero) / l;
    }
    let change = opaque(opaque(normal * push, zero) - opaque(slip * share, zero), zero);
    let arm = opaque(mixed(deepest.weights, start) + motion, zero);
    let carried = opaque1(dot(normal, opaque(mixed(deepest.weights, triangle.d) - motion, zero)), zero);
    let weights = deepest.weights.yz;
    let impulse = change / inverse_mass;
    let contact = TriangleContact(impulse, index + 1u, normal, weights.x, arm, weights.y, push / inverse_mass, recovered / inverse_mass, carried);
    return Candidate(contact, deepest.depth);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn collide_triangles(@builtin(global_invocation_id) id: vec3u) {
    params = uniform_params;
    let t = thread_index(id);
    if t >= arrayLength(&triangles) {
        return;
    }
    let triangle = triangle_at(t);
    let zero = params.zero;
    let center = opaque(opaque(opaque(triangle.x[0] + triangle.x[1], zero) + triangle.x[2], zero) * (1.0 / 3.0), zero);
    var reach = 0.0;
    for (var k = 0u; k < 3u; k++) {
        reach = max(reach, sum_of_components(triangle.x[k] - center) + sum_of_components(triangle.d[k]));
    }
    var best = Candidate();
    // Depth in a collider on the other side: between two, the triangle has the same depth in both.
    var against = 0.0;
    if triangle.side.material != UNTOUCHABLE && any(triangle.w != vec3f()) {
        var index = first_near(center, reach);
        while index != NONE {
            let own = contact_with(index, triangle);
            let is_opposite = own.depth > 0.0 && best.depth > 0.0 && dot(own.contact.normal, best.contact.normal) < OPPOSITE;
            if own.depth > best.depth {
                against = select(0.0, best.depth, is_opposite);
                best = own;
            } else if is_opposite {
                against = max(against, own.depth);
            }
            index = next_near(index, center, reach);
        }
    }
    if best.contact.owner == 0u {
        triangle_contacts[t].owner = 0u;
        return;
    }
    if against > 0.0 {
        let share = opaque1(opaque1(0.5 * (best.depth - against), zero) / best.depth, zero);
        best.contact.impulse = opaque(best.contact.impulse * share, zero);
        best.contact.normal_impulse = opaque1(best.contact.normal_impulse * share, zero);
        best.contact.recovery = opaque1(best.contact.recovery * share, zero);
    }
    triangle_contacts[t] = best.contact;
}
