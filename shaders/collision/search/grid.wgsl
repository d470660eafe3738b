// Searches the grids for elements near an element. The pass declares `cells` and `volumes`, and a function
// `test(query: Query, other: u32)` for each element that is found.

struct Query {
    // Index and type of the element that searches; the type that it searches for, and the indices of these elements.
    index: u32,
    own_type: u32,
    other_type: u32,
    others: vec2u,
    // It finds elements whose volumes come nearer to the segment than `reach` and the difference of their paths.
    segment: array<vec3f, 2>,
    reach: f32,
    path: vec3f,
}

// Maximum number of loop iterations of a thread: one per empty cell, one per element, and another if that is near. Mesa's
// llvmpipe ends all loops after 65 535 iterations of eight threads together, so a search also checks that its loops have
// reached their ends.
const MOST_ITERATIONS = 40000u;
var<private> loop_iterations: u32;

// Elements that were found. They are tested together, so that the threads of a subgroup run the expensive tests at the
// same time.
const CANDIDATES = 32u;
var<private> candidates: array<u32, CANDIDATES>;

// Searches the grids of its own level and of those above; a triangle only those above. Of two elements of the same type and
// level, the one with the larger z finds the other. Returns false if it ends before it has tested all of them.
fn search(query: Query) -> bool {
    let own = volumes[2u * query.index].w >> LEVEL_SHIFT;
    var level = own + select(0u, 1u, query.own_type == TRIANGLE);
    var is_complete = true;
    while level < LEVELS {
        let radius = atomicLoad(&contact_status.radii[LEVELS * query.other_type + level]);
        if radius != 0u {
            let is_ordered = level == own && query.own_type == query.other_type;
            is_complete = search_level(query, level, bitcast<f32>(radius), is_ordered) && is_complete;
        }
        level += 1u;
    }
    return is_complete && level >= LEVELS;
}

// Searches the grid of a level, whose largest volume has the given radius with its path. Returns false if it ends before it
// has tested all elements.
fn search_level(query: Query, level: u32, radius: f32, is_ordered: bool) -> bool {
    let own_z = center_of(query.index).z;
    let reach = query.reach + length(query.path) + radius;
    let inverse = contact_params.inverse_level_radius;
    let low = cell_at(min(query.segment[0], query.segment[1]) - reach, level, inverse);
    var high = cell_at(max(query.segment[0], query.segment[1]) + reach, level, inverse);
    if is_ordered {
        high.z = cell_at(vec3f(own_z), level, inverse).z;
    }
    let size = vec3u(high - low) + 1u;
    let cell_count = size.x * size.y * size.z;
    // A sphere around the segment.
    let middle = 0.5 * (query.segment[0] + query.segment[1]);
    let around = 1.001 * (query.reach + 0.5 * length(query.segment[1] - query.segment[0]));
    var cell = low;
    var visited = 0u;
    var link = 0u;
    var is_complete = true;
    while (link != 0u || visited < cell_count) && loop_iterations <= MOST_ITERATIONS {
        var count = 0u;
        // One loop over cells and elements, so that the threads of a subgroup do not wait for the longest list of each
        // cell.
        while count < CANDIDATES && (link != 0u || visited < cell_count) && loop_iterations <= MOST_ITERATIONS {
            loop_iterations += 1u;
            if link == 0u {
                cell = low + vec3i(vec3u(visited % size.x, (visited / size.x) % size.y, visited / (size.x * size.y)));
                link = cells[hash_cell(cell, level, query.other_type, contact_params.table_size)];
                visited += 1u;
            }
            if link != 0u {
                let index = link - 1u;
                let row = volumes[2u * index];
                let other = bitcast<vec3f>(row.xyz);
                link = row.w & ((1u << LEVEL_SHIFT) - 1u);
                // Other cells, levels and types may share an entry.
                let is_here = (row.w >> LEVEL_SHIFT) == level && index >= query.others.x && index < query.others.y
                    && all(cell_at(other, level, inverse) == cell);
                let is_before = other.z < own_z || (other.z == own_z && index < query.index);
                let apart = other - middle;
                let near = around + motion_bound(query, path_of(index));
                candidates[count] = index;
                count += select(0u, 1u, is_here && dot(apart, apart) < near * near && (is_before || !is_ordered));
            }
        }
        loop_iterations += 1u + count;
        var k = 0u;
        while k < count {
            if is_near(query, candidates[k]) {
                test(query, candidates[k]);
            }
            k += 1u;
        }
        is_complete = is_complete && k >= count;
    }
    return is_complete && link == 0u && visited >= cell_count;
}

// Returns the center of the volume of an element.
fn center_of(index: u32) -> vec3f {
    return bitcast<vec3f>(volumes[2u * index].xyz);
}

// Returns the path of an element, and the radius of its volume.
fn path_of(index: u32) -> vec4f {
    return bitcast<vec4f>(volumes[2u * index + 1u]);
}

// Returns the radius of the volume of another element, with its motion relative to the element that searches.
fn motion_bound(query: Query, path: vec4f) -> f32 {
    return path.w + length(path.xyz - query.path);
}

fn is_near(query: Query, other: u32) -> bool {
    let apart = from_segment(query.segment, center_of(other), params.zero);
    let near = query.reach + motion_bound(query, path_of(other));
    return dot(apart, apart) < near * near;
}
