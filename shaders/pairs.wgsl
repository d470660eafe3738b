// Lists the pairs of elements that may touch before the next search: nearer than thickness + margin, or one of them so fast that
// only the time of impact can tell. The twin is `search` in src/reference/contacts.rs.
// Three passes, by the kind of pair. One thread an element that looks for others, in the cells around it, or around its way where it is
// fast. Reads the sorted elements. Writes pairs, in any order: what follows adds up whole numbers.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> elements: array<vec4u>;
// Where the next cell begins.
@group(0) @binding(5) var<storage, read> cells: array<u32>;
@group(0) @binding(6) var<storage, read> sorted: array<vec4u>;
// place at rest (bits), contact material and body
@group(0) @binding(7) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> pairs: array<vec4u>;
@group(0) @binding(9) var<storage, read_write> contact_status: ContactStatus;

// The kind of pair: `PairKind` in src/collide/pair.rs.
override KIND: u32 = 0u;

// Rows of a sorted element: see search.wgsl.
override ROWS: u32 = 1u;

// An element that looks for others: a segment, near which are the centers of those that it may meet.
struct Element {
    particles: vec3u,
    center: vec3f,
    // A particle or an edge where it is to be, or, where it is fast, the way of its center.
    segment: array<vec3f, 2>,
    is_fast: bool,
    // Its row in contact_particles; only of particles.
    contact: vec4u,
}

// An element as it was sorted.
struct Other {
    center: vec3f,
    particles: vec3u,
    is_fast: bool,
    // of an edge, from its center to its second particle
    half: vec3f,
}

// Others that are near, in runs of 32 places among the sorted: the first place, and a bit for each. What costs much is done only once many
// are found: software drivers run through all of a loop's body in each of its turns, and write what is private lane by lane.
const RUNS = 24u;
var<private> found: array<vec2u, RUNS>;

fn element(particles: vec3u, arity: u32) -> Element {
    var x: array<vec3f, 3>;
    var there: array<vec3f, 3>;
    for (var k = 0u; k <= min(arity, 2u); k++) {
        x[k] = positions[particles[k]].xyz;
        there[k] = opaque(x[k] + displacements[particles[k]].xyz, params.zero);
    }
    var contact = vec4u();
    if KIND == PARTICLES {
        contact = contact_particles[particles.x];
    }
    let way = array(center(there[0], there[1], there[2], arity), center(x[0], x[1], x[2], arity));
    if contact_status.horizon == 0u
        && is_fast(way[0], way[1], contact_status.drift, contact_params.margin, params.zero) {
        return Element(particles, way[0], way, true, contact);
    }
    return Element(particles, way[0], array(there[0], there[select(0u, 1u, arity == 1u)]), false, contact);
}

fn other_at(place: u32) -> Other {
    let row = sorted[ROWS * place];
    let first = row.w & 0x7fffffffu;
    let fast = row.w != first;
    if KIND == PARTICLES {
        return Other(bitcast<vec3f>(row.xyz), vec3u(first), fast, vec3f());
    }
    let more = sorted[ROWS * place + 1u];
    if KIND == EDGES {
        return Other(bitcast<vec3f>(row.xyz), vec3u(first, more.ww), fast, bitcast<vec3f>(more.xyz));
    }
    return Other(bitcast<vec3f>(row.xyz), vec3u(first, more.xy), fast, vec3f());
}

// The particles of the pair of two elements.
fn pair_of(query: Element, other: Other) -> vec4u {
    if KIND == EDGES {
        return vec4u(query.particles.xy, other.particles.xy);
    }
    return vec4u(query.particles.x, other.particles);
}

fn place_at_rest(row: vec4u) -> vec3f {
    return bitcast<vec3f>(row.xyz);
}

// Whether a pair may come nearer than so much before the list is made anew.
fn may_meet(particles: vec4u, reach: f32) -> bool {
    let x0 = positions[particles.x].xyz;
    let d0 = displacements[particles.x].xyz;
    var p: Four;
    var d: Four;
    for (var k = 1u; k < select(4u, 2u, KIND == PARTICLES); k++) {
        let i = particles[k];
        d[k] = opaque(displacements[i].xyz - d0, params.zero);
        p[k] = opaque(opaque(positions[i].xyz - x0, params.zero) + d[k], params.zero);
    }
    let way = opaque1(max(f32(contact_status.horizon), 1.0) * approach(KIND, d), params.zero);
    return closest(KIND, p, params.zero).distance < reach + way;
}

// Whether an element is to be found by this one: each pair once, by the fast one, else by the one that is higher up in z, so that what is
// slow need not look there at all.
fn finds(query: Element, other: Other) -> bool {
    if KIND == VERTEX_TRIANGLE {
        return all(query.particles.xxx != other.particles);
    }
    if query.is_fast != other.is_fast {
        return query.is_fast;
    }
    if query.center.z != other.center.z {
        return query.center.z > other.center.z;
    }
    let lower = query.particles.x < other.particles.x;
    if KIND == PARTICLES {
        return lower;
    }
    return lower || query.particles.x == other.particles.x && query.particles.y < other.particles.y;
}

// How far apart two particles, or what they belong to, are kept, by their rows in contact_particles.
fn thickness_of(left: vec4u, right: vec4u) -> f32 {
    return bitcast<f32>(contact_params.materials[left.w & 0xffu].x)
        + bitcast<f32>(contact_params.materials[right.w & 0xffu].x);
}

// Whether two particles of a body are neighbours in it, and so are no pair.
fn are_neighbours(left: vec4u, right: vec4u) -> bool {
    let apart = length(opaque(place_at_rest(right) - place_at_rest(left), params.zero));
    return (left.w >> 8u) == (right.w >> 8u) && apart < 1.5 * thickness_of(left, right);
}

// The second look, with few loads: whether an element is to be found, and the gap of edges, that of particles at rest.
fn is_near(query: Element, other: Other) -> bool {
    if !finds(query, other) {
        return false;
    }
    if KIND == PARTICLES {
        return !are_neighbours(query.contact, contact_particles[other.particles.x]);
    }
    if KIND != EDGES {
        return true;
    }
    if any(query.particles.xxyy == other.particles.xyxy) {
        return false;
    }
    let first = opaque(other.center - query.segment[0], params.zero);
    let along = opaque(query.segment[1] - query.segment[0], params.zero);
    let p = Four(vec3f(), along, opaque(first - other.half, params.zero), opaque(first + other.half, params.zero));
    return query.is_fast || closest(KIND, p, params.zero).distance < contact_params.reach;
}

fn list(query: Element, other: Other) {
    let particles = pair_of(query, other);
    let first = contact_particles[particles.x];
    let third = contact_particles[particles.z];
    let left = first.w & 0xffu;
    let right = third.w & 0xffu;
    if left == UNTOUCHABLE || right == UNTOUCHABLE
        || !touch(contact_params.materials[left], contact_params.materials[right]) {
        return;
    }
    let thickness = thickness_of(first, third);
    if KIND != PARTICLES && (first.w >> 8u) == (third.w >> 8u) {
        let origin = place_at_rest(first);
        let rest = Four(
            vec3f(),
            place_at_rest(contact_particles[particles.y]) - origin,
            place_at_rest(third) - origin,
            place_at_rest(contact_particles[particles.w]) - origin,
        );
        if closest(KIND, rest, params.zero).distance < thickness {
            return;
        }
    }
    if !may_meet(particles, thickness + contact_params.margin) {
        return;
    }
    let slot = atomicAdd(&contact_status.pair_count, 1u);
    if slot < contact_params.pair_capacity {
        pairs[slot] = pack(KIND, particles);
    } else {
        atomicAdd(&contact_status.lost, 1u);
    }
}

// Which type of element is looked for; `Contacting::elements` has them.
const PARTNER = array(0u, 2u, 1u);

// How far the center of another is from its particles, at most: among all near, or among all.
fn radius_near(query: Element) -> f32 {
    if KIND == PARTICLES {
        return 0.0;
    }
    let edge = bitcast<f32>(atomicLoad(&contact_status.edge_radius));
    let triangle = bitcast<f32>(atomicLoad(&contact_status.triangle_radius));
    if query.is_fast {
        return select(edge, triangle, KIND == VERTEX_TRIANGLE);
    }
    let cell = coarse_at(query.center, inverse_coarse(contact_params.reach, max(2.0 * edge, triangle), params.zero));
    let word = contact_params.tables * contact_params.table_size + COARSE_WORDS * cell;
    return bitcast<f32>(cells[word + select(8u, 9u, KIND == VERTEX_TRIANGLE)]);
}

fn look_around(query: Element) {
    let kind = PARTNER[KIND];
    let radius = radius_near(query);
    let scale = inverse_cell(contact_params.reach, contact_params.radii[kind], params.zero);
    // An edge that is fast is where the way of its center is, give or take its own radius.
    let reach = (contact_params.reach + radius) + select(0.0, radius, KIND == EDGES && query.is_fast);
    var low = cell_at(min(query.segment[0], query.segment[1]) - 1.001 * reach, scale);
    var high = cell_at(max(query.segment[0], query.segment[1]) + 1.001 * reach, scale);
    if KIND != VERTEX_TRIANGLE && !query.is_fast {
        high.z = cell_at(query.center, scale).z;
    }
    var size = vec3u(high - low) + 1u;
    // Each below 2³², and their product far from the end of f32.
    if f32(size.x) * f32(size.y) * f32(size.z) > f32(MOST_CELLS) {
        low = cell_at(query.segment[0], scale) - 1;
        size = vec3u(3u);
        atomicAdd(&contact_status.lost, 1u);
    }
    let table = select(0u, kind, contact_params.tables > 1u) * contact_params.table_size;
    let size_of_table = contact_params.table_size;
    // As many turns as it takes to look at all that is near, RUNS at a time; then k, x and how many of a row are done stay.
    var looked = 0u;
    var k = 0u;
    var x = 0u;
    var done = 0u;
    while k < size.y * size.z {
        var runs = 0u;
        while k < size.y * size.z && runs < RUNS {
            let row = low + vec3i(0, vec2i(vec2u(k % size.y, k / size.y)));
            let first = hash_cell(row, size_of_table);
            while x < size.x && runs < RUNS {
                // The cells of a row lie one after another, or where the table ends in two parts.
                let entry = (first + x) & (size_of_table - 1u);
                let part = min(size.x - x, size_of_table - entry);
                var start = 0u;
                if table + entry > 0u {
                    start = cells[table + entry - 1u];
                }
                var end = cells[table + entry + part - 1u];
                let first_x = row.x + i32(x);
                // No thread looks at more than it may.
                looked += select(0u, end - start, done == 0u);
                if looked > MOST_OTHERS {
                    end = start;
                }
                start += done;
                let count = min(end - min(start, end), 32u);
                var bits = 0u;
                for (var n = 0u; n < count; n++) {
                    let middle = bitcast<vec3f>(sorted[ROWS * (start + n)].xyz);
                    let cell = cell_at(middle, scale);
                    let apart = from_segment(query.segment, middle, params.zero);
                    // Other cells may have the same entry.
                    if all(cell.yz == row.yz) && cell.x >= first_x && cell.x < first_x + i32(part)
                        && dot(apart, apart) < reach * reach {
                        bits |= 1u << n;
                    }
                }
                if bits != 0u {
                    found[runs] = vec2u(start, bits);
                    runs += 1u;
                }
                let more = start + count < end;
                done = select(0u, done + count, more);
                x += select(part, 0u, more);
            }
            if x >= size.x {
                x = 0u;
                k += 1u;
            }
        }
        var run = 0u;
        var bits = found[0].y;
        var stays = 0u;
        while run < runs {
            let n = firstTrailingBit(bits);
            if is_near(query, other_at(found[run].x + n)) {
                stays |= 1u << n;
            }
            bits &= bits - 1u;
            if bits == 0u {
                found[run].y = stays;
                stays = 0u;
                run += 1u;
                bits = found[min(run, RUNS - 1u)].y;
            }
        }
        run = 0u;
        bits = found[0].y;
        while run < runs {
            if bits != 0u {
                list(query, other_at(found[run].x + firstTrailingBit(bits)));
                bits &= bits - 1u;
            }
            while bits == 0u && run < runs {
                run += 1u;
                bits = found[min(run, RUNS - 1u)].y;
            }
        }
    }
    if looked > MOST_OTHERS {
        atomicAdd(&contact_status.lost, 1u);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn pairs_list(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if atomicLoad(&contact_status.stale) == 0u {
        return;
    }
    if KIND == VERTEX_TRIANGLE {
        if i < contact_params.alone_end {
            look_around(element(elements[i].xyz, 0u));
        }
        return;
    }
    // In the order of the cells, so that neighbouring threads look into the same ones: particles, then edges.
    let lone = select(contact_params.alone_first, 0u, contact_params.level == 1u);
    let first = select(0u, contact_params.alone_end - lone, KIND == EDGES);
    let place = first + i;
    let end = select(contact_params.alone_end, contact_params.query_end, KIND == EDGES) - lone;
    if place < end {
        look_around(element(other_at(place).particles, select(0u, 1u, KIND == EDGES)));
    }
}
