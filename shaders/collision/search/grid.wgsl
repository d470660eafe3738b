// Searches the grids for elements near an element. The pass declares `cells` and `volumes`, and a function
// `test(query: Query, other: u32)` for each element that is found.

struct Query {
    // Index and type of the element that searches; the type that it searches for, and the indices of these elements.
    index: u32,
    kind: u32,
    other_kind: u32,
    others: vec2u,
    // It finds elements whose volumes come nearer to the segment than `reach` and the difference of their paths.
    segment: array<vec3f, 2>,
    reach: f32,
    path: vec3f,
}

// Maximum number of elements that a thread tests.
const MOST_OTHERS = 32768u;

// Elements that were found. They are tested together, so that the threads of a subgroup run the expensive tests at the
// same time.
const CANDIDATES = 32u;
var<private> candidates: array<u32, CANDIDATES>;

// Searches the grids of the own level and of those above. Of two elements of the same type and level, the one with the
// larger z finds the other. Of two types at the same level, `finds_equals` says whether this one finds the other.
// Returns false if there are too many.
fn search(query: Query, finds_equals: bool) -> bool {
    let own = volumes[2u * query.index].w >> LEVEL_SHIFT;
    var tested = 0u;
    for (var level = own + select(1u, 0u, finds_equals); level < LEVELS; level++) {
        let radius = atomicLoad(&contact_status.radii[LEVELS * query.other_kind + level]);
        if radius != 0u && tested <= MOST_OTHERS {
            let is_ordered = level == own && query.kind == query.other_kind;
            tested = search_level(query, level, bitcast<f32>(radius), is_ordered, tested);
        }
    }
    return tested <= MOST_OTHERS;
}

// Searches the grid of a level, whose largest volume has the given radius with its path. Returns the number of elements
// tested so far.
fn search_level(query: Query, level: u32, radius: f32, is_ordered: bool, before: u32) -> u32 {
    let own_z = center_of(query.index).z;
    let reach = query.reach + length(query.path) + radius;
    let level_radius = contact_params.level_radius;
    let low = cell_at(min(query.segment[0], query.segment[1]) - reach, level, level_radius);
    var high = cell_at(max(query.segment[0], query.segment[1]) + reach, level, level_radius);
    if is_ordered {
        high.z = cell_at(vec3f(own_z), level, level_radius).z;
    }
    let size = vec3u(high - low) + 1u;
    let cell_count = size.x * size.y * size.z;
    // A sphere around the centers of all volumes that are near enough.
    let middle = 0.5 * (query.segment[0] + query.segment[1]);
    let around = 1.001 * (reach + 0.5 * length(query.segment[1] - query.segment[0]));
    var tested = before;
    var cell = low;
    var visited = 0u;
    var link = 0u;
    while (link != 0u || visited < cell_count) && tested <= MOST_OTHERS {
        var count = 0u;
        // One loop over cells and elements, so that the threads of a subgroup do not wait for the longest list of each
        // cell.
        while count < CANDIDATES && (link != 0u || visited < cell_count) && tested <= MOST_OTHERS {
            while link == 0u && visited < cell_count {
                cell = low + vec3i(vec3u(visited % size.x, (visited / size.x) % size.y, visited / (size.x * size.y)));
                link = cells[hash_cell(cell, level, query.other_kind, contact_params.table_size)];
                visited += 1u;
            }
            if link != 0u {
                let index = link - 1u;
                let row = volumes[2u * index];
                let other = bitcast<vec3f>(row.xyz);
                link = row.w & ((1u << LEVEL_SHIFT) - 1u);
                tested += 1u;
                // Other cells, levels and types may share an entry.
                let is_here = (row.w >> LEVEL_SHIFT) == level && index >= query.others.x && index < query.others.y
                    && all(cell_at(other, level, level_radius) == cell);
                let is_before = other.z < own_z || (other.z == own_z && index < query.index);
                let apart = other - middle;
                candidates[count] = index;
                count += select(0u, 1u, is_here && dot(apart, apart) < around * around && (is_before || !is_ordered));
            }
        }
        for (var k = 0u; k < count; k++) {
            if is_near(query, candidates[k]) {
                test(query, candidates[k]);
            }
        }
    }
    return tested;
}

// Returns the center of the volume of an element.
fn center_of(index: u32) -> vec3f {
    return bitcast<vec3f>(volumes[2u * index].xyz);
}

// Returns the path of an element, and the radius of its volume.
fn path_of(index: u32) -> vec4f {
    return bitcast<vec4f>(volumes[2u * index + 1u]);
}

fn is_near(query: Query, other: u32) -> bool {
    let path = path_of(other);
    let apart = from_segment(query.segment, center_of(other), params.zero);
    let near = query.reach + path.w + length(path.xyz - query.path);
    return dot(apart, apart) < near * near;
}
