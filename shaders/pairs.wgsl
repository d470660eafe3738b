// Lists the pairs of elements that may touch before the next search: nearer than thickness + margin, or one of them so fast that
// only the time of impact can tell. The twin is `search` in src/reference/contacts.rs.
// Three passes, by the kind of pair. One thread an element that looks for others: in the cells around it, or around its way where it is fast. Reads the sorted
// elements. Writes pairs, in any order: what follows adds up whole numbers.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
@group(0) @binding(3) var<storage, read> displacements: array<vec4f>;
@group(0) @binding(4) var<storage, read> elements: array<vec4u>;
// Where the next cell begins.
@group(0) @binding(5) var<storage, read> cells: array<u32>;
@group(0) @binding(6) var<storage, read> sorted: array<vec4f>;
// place at rest (bits), contact material and body
@group(0) @binding(7) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> pairs: array<vec4u>;
@group(0) @binding(9) var<storage, read_write> contact_status: ContactStatus;

// How many cells an element looks into that moves fast, and how many others any element looks at: bounds of a thread's time.
const MOST_CELLS = 4096u;
const MOST_OTHERS = 8192u;
// The kind of pair: `PairKind` in src/collide/pair.rs.
override KIND: u32 = 0u;

struct Element {
    index: u32,
    row: vec4u,
    center: vec3f,
    // at the start of the substep
    start: vec3f,
    is_fast: bool,
}

// Others that are near, by their place among the sorted. They are looked at one by one only once all are found: software drivers
// run through all of a loop's body in each of its turns.
// NEAR of them at most, which src/gpu/contacts.rs says by the level.
var<private> near: array<u32, NEAR>;
var<private> near_count: u32;

fn element_at(index: u32) -> Element {
    let row = elements[index];
    let x = array(positions[row.x].xyz, positions[row.y].xyz, positions[row.z].xyz);
    let start = center(x[0], x[1], x[2], row.w);
    let d = array(displacements[row.x].xyz, displacements[row.y].xyz, displacements[row.z].xyz);
    let end = center(
        opaque(x[0] + d[0], params.zero),
        opaque(x[1] + d[1], params.zero),
        opaque(x[2] + d[2], params.zero),
        row.w,
    );
    let fast = contact_status.horizon == 0u
        && is_fast(end, start, contact_status.drift, contact_params.margin, params.zero);
    return Element(index, row, end, start, fast);
}

fn place_at_rest(row: vec4u) -> vec3f {
    return bitcast<vec3f>(row.xyz);
}

// The particles of the pair of two elements.
fn pair_of(query: vec4u, other: vec4u) -> vec4u {
    if KIND == VERTEX_TRIANGLE {
        return vec4u(query.x, other.xyz);
    }
    if KIND == EDGES {
        return vec4u(query.xy, other.xy);
    }
    return vec4u(query.x, other.xxx);
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

// The first look, at what most others fail.
fn is_near(query: Element, entry: vec4f) -> bool {
    let other = bitcast<u32>(entry.w);
    let index = other & 0x7fffffffu;
    if KIND != VERTEX_TRIANGLE {
        // Each pair once: the fast one finds the slow one, else the first the second.
        let other_fast = other != index;
        if select(query.is_fast, query.index < index, query.is_fast == other_fast) == false {
            return false;
        }
    }
    let row = elements[index];
    let particles = pair_of(query.row, row);
    if KIND == VERTEX_TRIANGLE && any(row.xyz == vec3u(particles.x)) {
        return false;
    }
    if KIND == EDGES
        && (particles.x == particles.z || particles.x == particles.w || particles.y == particles.z || particles.y == particles.w) {
        return false;
    }
    return may_meet(particles, contact_params.thickness + contact_params.margin);
}

fn list(query: Element, entry: vec4f) {
    let particles = pair_of(query.row, elements[bitcast<u32>(entry.w) & 0x7fffffffu]);
    let first = contact_particles[particles.x];
    let third = contact_particles[particles.z];
    let left = first.w & 0xffu;
    let right = third.w & 0xffu;
    if left == UNTOUCHABLE || right == UNTOUCHABLE
        || !touch(contact_params.materials[left], contact_params.materials[right]) {
        return;
    }
    let thickness =
        bitcast<f32>(contact_params.materials[left].x) + bitcast<f32>(contact_params.materials[right].x);
    if (first.w >> 8u) == (third.w >> 8u) {
        let origin = place_at_rest(first);
        let rest = Four(
            vec3f(),
            place_at_rest(contact_particles[particles.y]) - origin,
            place_at_rest(third) - origin,
            place_at_rest(contact_particles[particles.w]) - origin,
        );
        let least = select(thickness, 2.0 * thickness, KIND == PARTICLES);
        if closest(KIND, rest, params.zero).distance < least {
            return;
        }
    }
    if !may_meet(particles, thickness + contact_params.margin) {
        return;
    }
    let place = atomicAdd(&contact_status.pair_count, 1u);
    if place < contact_params.pair_capacity {
        pairs[place] = pack(KIND, particles);
    } else {
        atomicAdd(&contact_status.lost, 1u);
    }
}

// From a place to the nearest point of an element's way, where it is fast, else to where it is to be.
fn from_way(query: Element, place: vec3f) -> vec3f {
    let way = opaque(query.start - query.center, params.zero);
    let square = opaque1(dot(way, way), params.zero);
    var share = 0.0;
    if query.is_fast && square > 0.0 {
        share = clamp(opaque1(dot(opaque(place - query.center, params.zero), way), params.zero) / square, 0.0, 1.0);
    }
    return opaque(query.center + opaque(way * share, params.zero), params.zero) - place;
}

// Which type of element is looked for; `Contacting::elements` has them.
const PARTNER = array(0u, 2u, 1u);

fn look_around(query: Element) {
    let kind = PARTNER[KIND];
    let scale = contact_params.inverse_cells[kind];
    let here = cell_at(query.center, scale);
    var low = here - 1;
    var size = vec3u(3u);
    if query.is_fast {
        let there = cell_at(query.start, scale);
        let wide = abs(here - there) + 3;
        // Each below 2³¹, and their product far from the end of f32.
        if f32(wide.x) * f32(wide.y) * f32(wide.z) <= f32(MOST_CELLS) {
            low = min(here, there) - 1;
            size = vec3u(wide);
        } else {
            atomicAdd(&contact_status.lost, 1u);
        }
    }
    let table = select(0u, kind, contact_params.tables > 1u) * contact_params.table_size;
    let size_of_table = contact_params.table_size;
    let reach = (contact_params.thickness + 2.0 * contact_params.margin) + contact_params.radii[kind];
    var looked = 0u;
    near_count = 0u;
    for (var k = 0u; k < size.y * size.z; k++) {
        let row = low + vec3i(0, vec2i(vec2u(k % size.y, k / size.y)));
        let first = hash_cell(row, size_of_table);
        // The cells of a row lie in one run, or where the table ends in two.
        for (var x = 0u; x < size.x;) {
            let entry = (first + x) & (size_of_table - 1u);
            let run = min(size.x - x, size_of_table - entry);
            var place = 0u;
            if table + entry > 0u {
                place = cells[table + entry - 1u];
            }
            var end = cells[table + entry + run - 1u];
            let first_x = row.x + i32(x);
            // No thread looks at more than it may.
            looked += end - place;
            if looked > MOST_OTHERS {
                end = place;
            }
            for (; place < end; place++) {
                let other = sorted[place];
                let cell = cell_at(other.xyz, scale);
                // Other cells may have the same entry.
                if all(cell.yz == row.yz) && cell.x >= first_x && cell.x < first_x + i32(run) {
                    let apart = from_way(query, other.xyz);
                    // Of two slow ones of one type the first finds the second.
                    let finds = KIND == VERTEX_TRIANGLE || query.is_fast || query.index < bitcast<u32>(other.w);
                    if finds && dot(apart, apart) < reach * reach {
                        near[min(near_count, NEAR - 1u)] = place;
                        near_count += 1u;
                    }
                }
            }
            x += run;
        }
    }
    if near_count > NEAR || looked > MOST_OTHERS {
        atomicAdd(&contact_status.lost, 1u);
    }
    var count = 0u;
    for (var k = 0u; k < min(near_count, NEAR); k++) {
        let place = near[k];
        if is_near(query, sorted[place]) {
            near[count] = place;
            count += 1u;
        }
    }
    for (var k = 0u; k < count; k++) {
        list(query, sorted[near[k]]);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn pairs_list(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    let first = select(select(0u, contact_params.alone_first, KIND == PARTICLES), contact_params.alone_end, KIND == EDGES);
    let only = contact_params.level == 1u;
    let end = select(contact_params.alone_end, contact_params.query_end, KIND == EDGES);
    let index = select(first, 0u, only) + i;
    if atomicLoad(&contact_status.stale) == 0u || index >= end {
        return;
    }
    // In the order of the cells where they are all of one type, so that neighbouring threads look into the same ones.
    look_around(element_at(select(index, bitcast<u32>(sorted[i].w) & 0x7fffffffu, only)));
}
