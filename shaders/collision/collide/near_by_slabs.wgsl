// The search for colliders of a scene, by slabs (slabs.wgsl).

// Slabs along an axis whose masks are read. For a point with a longer reach the axis excludes nothing, which limits the
// loops.
const MOST_SLABS = 8u;

// Returns the first collider from index `first` on that is near, or NONE.
fn near_from(first: u32, x: vec3f, reach: f32) -> u32 {
    if !SEVERAL {
        return select(NONE, 0u, first == 0u && is_near(0u, x, reach));
    }
    // Exceeds the rounding error of `is_near`.
    let wide = vec3f(1.00001 * reach);
    let low = slabs_of(x - wide);
    let counts = vec3u(slabs_of(x + wide) - low) + 1u;
    let words = mask_words();
    let count = collider_count();
    var remaining = NONE << (first % 32u);
    for (var word = first / 32u; word < words; word++) {
        var mask = remaining & mask_of(0u, u32(low.x), counts.x, word);
        mask &= mask_of(1u, u32(low.y), counts.y, word);
        mask &= mask_of(2u, u32(low.z), counts.z, word);
        while mask != 0u {
            let index = 32u * word + firstTrailingBit(mask);
            if index < count && is_near(index, x, reach) {
                return index;
            }
            mask &= mask - 1u;
        }
        remaining = NONE;
    }
    return NONE;
}

// Returns the colliders that may be in `count` consecutive slabs.
fn mask_of(axis: u32, first: u32, count: u32, word: u32) -> u32 {
    if count > MOST_SLABS {
        return NONE;
    }
    var mask = collider_data[mask_at(axis, first % SLABS, word)];
    for (var k = 1u; k < count; k++) {
        mask |= collider_data[mask_at(axis, (first + k) % SLABS, word)];
    }
    return mask;
}
