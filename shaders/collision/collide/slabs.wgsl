// Slabs: space is divided into slabs of equal width along each axis, SLABS of which repeat. Each has a mask of the
// colliders that it may contain in the step. A particle can only be in contact with colliders of the slabs within its
// reach, along all three axes.
// `collider_data` holds the inverse width [1/m], the number of words for a mask of all colliders, the masks by axis,
// slab and word, and the data of the shapes. The including file declares it as an array of u32.
// Counterpart: src/collision/slabs.rs.

const SLABS = 64u;
const MASKS_AT = 2u;

fn mask_words() -> u32 {
    return collider_data[1];
}

// Returns the index of the data of the shapes.
fn shapes_at() -> u32 {
    return MASKS_AT + 3u * SLABS * mask_words();
}

// Returns the slabs of points, not yet reduced to SLABS. Both the multiplication and the limits are monotonic, so
// rounding separates no overlapping intervals.
fn slabs_of(points: vec3f) -> vec3i {
    let inverse_width = bitcast<f32>(collider_data[0]);
    return vec3i(clamp(floor(points * inverse_width), vec3f(-1e9), vec3f(1e9)));
}

fn mask_at(axis: u32, slab: u32, word: u32) -> u32 {
    return MASKS_AT + (axis * SLABS + slab) * mask_words() + word;
}
