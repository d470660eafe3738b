// The edges that pass through triangles at the end of a step.
//
// crossings_clear: one thread a particle. Forgets those of the last step.
// crossings_find: one thread an edge. Looks through the triangles that the last search has put into the cells near where the edge then
//   was: what is near has since gone on at its pace, but for the margin once for the way in the substep and once for both deviations. Writes
//   crossings, in any order: what follows adds up whole numbers.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> contact_params: ContactParams;
@group(0) @binding(2) var<storage, read> positions: array<vec4f>;
// three particles, type; then by edge the third corners of its triangles
@group(0) @binding(3) var<storage, read> elements: array<vec4u>;
// Where the next cell begins.
@group(0) @binding(4) var<storage, read> cells: array<u32>;
// Two rows a sorted element: see search/surfaces.wgsl.
@group(0) @binding(5) var<storage, read> sorted: array<vec4u>;
@group(0) @binding(6) var<storage, read> contact_particles: array<vec4u>;
@group(0) @binding(7) var<storage, read> watched: array<Watched>;
// By particle, the marks of the bodies that it has one with; then eight words a crossing: edge, triangle, wings.
@group(0) @binding(8) var<storage, read_write> tangles: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> contact_status: ContactStatus;

const TRIANGLE = 2u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn crossings_clear(@builtin(global_invocation_id) id: vec3u) {
    let i = thread_index(id);
    if i < params.particle_count {
        atomicStore(&tangles[i], 0u);
    }
    if i == 0u {
        atomicStore(&contact_status.crossing_count, 0u);
    }
}

// Whether an edge and a triangle of one body cross or nearly touch at rest already.
fn is_so_at_rest(particles: array<u32, 5>, thickness: f32) -> bool {
    let origin = bitcast<vec3f>(contact_particles[particles[0]].xyz);
    var p: Five;
    for (var k = 1u; k < 5u; k++) {
        p[k] = bitcast<vec3f>(contact_particles[particles[k]].xyz) - origin;
    }
    let first = closest(VERTEX_TRIANGLE, Four(p[0], p[2], p[3], p[4]), params.zero).distance;
    let second = closest(VERTEX_TRIANGLE, Four(p[1], p[2], p[3], p[4]), params.zero).distance;
    return crossing(p, params.zero).is_there || min(first, second) < thickness;
}

fn look_at(edge: vec2u, wings: vec2u, triangle: vec3u) {
    let particles = array(edge.x, edge.y, triangle.x, triangle.y, triangle.z);
    let origin = positions[edge.x].xyz;
    var p: Five;
    for (var k = 1u; k < 5u; k++) {
        p[k] = opaque(positions[particles[k]].xyz - origin, params.zero);
    }
    let first = contact_particles[edge.x];
    let second = contact_particles[triangle.x];
    let left = first.w & 0xffu;
    let right = second.w & 0xffu;
    if !crossing(p, params.zero).is_there || any(edge.xxx == triangle) || any(edge.yyy == triangle)
        || left == UNTOUCHABLE || right == UNTOUCHABLE
        || !touch(contact_params.materials[left], contact_params.materials[right]) {
        return;
    }
    let thickness = thickness_between(contact_params.materials[left], contact_params.materials[right]);
    if (first.w >> 8u) == (second.w >> 8u) && is_so_at_rest(particles, thickness) {
        return;
    }
    let place = atomicAdd(&contact_status.crossing_count, 1u);
    for (var k = 0u; k < 5u; k++) {
        atomicOr(&tangles[particles[k]], mark_of(select(first, second, k < 2u)));
    }
    // Room for as many as particles.
    if place < params.particle_count {
        let row = params.particle_count + 8u * place;
        for (var k = 0u; k < 5u; k++) {
            atomicStore(&tangles[row + k], particles[k]);
        }
        atomicStore(&tangles[row + 5u], wings.x);
        atomicStore(&tangles[row + 6u], wings.y);
    } else {
        atomicAdd(&contact_status.lost, 1u);
    }
}

// How far a particle was taken to go in a substep at the last search, and how far the triangles near a place, at most.
fn speed_at_search(particle: u32) -> f32 {
    return speed_of(watched[particle], contact_params.quantum, contact_status.drift, params.zero);
}

fn speed_near(place: vec3f) -> f32 {
    let cell = coarse_index(coarse_at(place, contact_status.sorted_scale, contact_params.coarse), contact_params.coarse);
    return bitcast<f32>(cells[contact_params.tables * contact_params.table_size + COARSE_WORDS * cell + 1u]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn crossings_find(@builtin(global_invocation_id) id: vec3u) {
    let edge = contact_params.alone_end + thread_index(id);
    if edge >= contact_params.query_end {
        return;
    }
    let ends = elements[edge].xy;
    let wings = elements[contact_params.insert_end + thread_index(id)].xy;
    // A rope has no inside that a triangle could be out of.
    if wings.x == NO_WING {
        return;
    }
    let a = watched[ends.x].place.xyz;
    let b = watched[ends.y].place.xyz;
    // One more than have gone by, but none where the list would not hold any longer.
    let since = f32(min(contact_status.now - contact_status.searched, contact_status.horizon));
    let speed = max(speed_at_search(ends.x), speed_at_search(ends.y));
    let reach = contact_params.reach + contact_status.sorted_radius + since * (speed + speed_near(0.5 * (a + b)));
    let scale = contact_params.inverse_cells[TRIANGLE];
    let low = cell_at(min(a, b) - 1.001 * reach, scale);
    let size = vec3u(cell_at(max(a, b) + 1.001 * reach, scale) - low) + 1u;
    if f32(size.x) * f32(size.y) * f32(size.z) > f32(MOST_CELLS) {
        atomicAdd(&contact_status.lost, 1u);
        return;
    }
    let table = select(0u, TRIANGLE, contact_params.tables > 1u) * contact_params.table_size;
    let size_of_table = contact_params.table_size;
    var looked = 0u;
    for (var k = 0u; k < size.y * size.z; k++) {
        let row = low + vec3i(0, vec2i(vec2u(k % size.y, k / size.y)));
        let first = hash_cell(row, size_of_table);
        var x = 0u;
        while x < size.x {
            // The cells of a row lie one after another, or where the table ends in two parts.
            let entry = (first + x) & (size_of_table - 1u);
            let part = min(size.x - x, size_of_table - entry);
            var start = 0u;
            if table + entry > 0u {
                start = cells[table + entry - 1u];
            }
            var end = cells[table + entry + part - 1u];
            let first_x = row.x + i32(x);
            looked += end - start;
            if looked > MOST_OTHERS {
                end = start;
            }
            while start < end {
                // A light first look, as software drivers run through all of a loop's body in each of its turns.
                let count = min(end - start, 32u);
                var bits = 0u;
                for (var n = 0u; n < count; n++) {
                    let middle = bitcast<vec3f>(sorted[2u * (start + n)].xyz);
                    let cell = cell_at(middle, scale);
                    let apart = from_segment(array(a, b), middle, params.zero);
                    // Other cells may have the same entry.
                    if all(cell.yz == row.yz) && cell.x >= first_x && cell.x < first_x + i32(part)
                        && dot(apart, apart) < reach * reach {
                        bits |= 1u << n;
                    }
                }
                while bits != 0u {
                    let place = 2u * (start + firstTrailingBit(bits));
                    bits &= bits - 1u;
                    look_at(ends, wings, vec3u(sorted[place].w & 0x7fffffffu, sorted[place + 1u].xy));
                }
                start += count;
            }
            x += part;
        }
    }
    if looked > MOST_OTHERS {
        atomicAdd(&contact_status.lost, 1u);
    }
}
