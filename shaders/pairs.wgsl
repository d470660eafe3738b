// Lists the pairs of elements that may touch before the next search: nearer than thickness + margin, or one of them so fast that
// only the time of impact can tell. The twin is `search` in src/reference/contacts.rs.
// One thread an element that looks for others: in the cells around it, or around its way where it is fast. Reads the sorted
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

// How many cells an element looks into that moves fast, and how many others any element looks at.
const MOST_CELLS = 4096u;
const MOST_OTHERS = 8192u;
// Pairs that a thread keeps before it writes them.
const ROOM = 16u;

struct Element {
    index: u32,
    row: vec4u,
    center: vec3f,
    // at the start of the substep
    start: vec3f,
    is_fast: bool,
}

var<private> found: array<vec4u, ROOM>;
var<private> found_count: u32;

fn flush() {
    let first = atomicAdd(&contact_status.pair_count, found_count);
    for (var k = 0u; k < found_count; k++) {
        if first + k < contact_params.pair_capacity {
            pairs[first + k] = found[k];
        } else {
            atomicAdd(&contact_status.lost, 1u);
        }
    }
    found_count = 0u;
}

fn is_fast(center: vec3f, start: vec3f) -> bool {
    let travel = opaque(opaque(center - start, params.zero) - contact_status.drift, params.zero);
    let half = 0.5 * contact_params.margin;
    return dot(travel, travel) > half * half;
}

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
    return Element(index, row, end, start, is_fast(end, start));
}

fn place_at_rest(row: vec4u) -> vec3f {
    return bitcast<vec3f>(row.xyz);
}

fn consider(query: Element, index: u32, other_center: vec3f) {
    let row = elements[index];
    var fast = query.is_fast;
    if query.row.w == row.w {
        // Each pair once: the fast one finds the slow one, else the first the second.
        let start = center(positions[row.x].xyz, positions[row.y].xyz, positions[row.z].xyz, row.w);
        let other_fast = is_fast(other_center, start);
        if select(fast, query.index < index, fast == other_fast) == false {
            return;
        }
    }
    var kind = EDGES;
    var particles = vec4u(query.row.xy, row.xy);
    var shared_ = query.row.x == row.x || query.row.x == row.y || query.row.y == row.x || query.row.y == row.y;
    if query.row.w == 0u {
        if row.w == 0u {
            kind = PARTICLES;
            particles = vec4u(query.row.x, row.xxx);
            shared_ = false;
        } else {
            kind = VERTEX_TRIANGLE;
            particles = vec4u(query.row.x, row.xyz);
            shared_ = any(row.xyz == vec3u(query.row.x));
        }
    }
    if shared_ {
        return;
    }
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
    let reach = thickness + contact_params.margin;
    if !fast && length(query.center - other_center) >= reach + contact_params.radii[row.w] {
        return;
    }
    if (first.w >> 8u) == (third.w >> 8u) {
        let origin = place_at_rest(first);
        let rest = Four(
            vec3f(),
            place_at_rest(contact_particles[particles.y]) - origin,
            place_at_rest(third) - origin,
            place_at_rest(contact_particles[particles.w]) - origin,
        );
        let least = select(thickness, 2.0 * thickness, kind == PARTICLES);
        if closest(kind, rest, params.zero).distance < least {
            return;
        }
    }
    if !fast {
        let x0 = positions[particles.x].xyz;
        let d0 = displacements[particles.x].xyz;
        var p: Four;
        for (var k = 1u; k < 4u; k++) {
            let i = particles[k];
            p[k] = opaque(positions[i].xyz - x0, params.zero) + opaque(displacements[i].xyz - d0, params.zero);
        }
        if closest(kind, p, params.zero).distance >= reach {
            return;
        }
    }
    found[found_count] = pack(kind, particles);
    found_count += 1u;
    if found_count == ROOM {
        flush();
    }
}

fn look_around(query: Element, kind: u32) {
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
        }
    }
    let table = select(0u, kind, contact_params.tables > 1u) * contact_params.table_size;
    var looked = 0u;
    for (var k = 0u; k < size.x * size.y * size.z; k++) {
        let cell = low + vec3i(vec3u(k % size.x, (k / size.x) % size.y, k / (size.x * size.y)));
        let entry = table + hash_cell(cell, contact_params.table_size);
        var place = 0u;
        if entry > 0u {
            place = cells[entry - 1u];
        }
        let end = cells[entry];
        for (; place < end; place++) {
            let other = sorted[place];
            // Another cell may have the same entry.
            if all(cell_at(other.xyz, scale) == cell) {
                looked += 1u;
                if looked > MOST_OTHERS {
                    atomicAdd(&contact_status.lost, 1u);
                    return;
                }
                consider(query, bitcast<u32>(other.w), other.xyz);
            }
        }
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn pairs_list(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if atomicLoad(&contact_status.stale) == 0u || i >= contact_params.query_end {
        return;
    }
    found_count = 0u;
    let query = element_at(i);
    if contact_params.level == 1u {
        look_around(query, 0u);
    } else if query.row.w == 1u {
        look_around(query, 1u);
    } else {
        look_around(query, 2u);
        if i >= contact_params.alone_first {
            look_around(query, 0u);
        }
    }
    if found_count > 0u {
        flush();
    }
}
