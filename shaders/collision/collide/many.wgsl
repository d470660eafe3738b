// Loops over the colliders near a point, in the order of their indices. Slabs (slabs.wgsl) exclude most of the others.

// Returns the first collider that is near, or NONE.
fn first_near(x: vec3f, reach: f32) -> u32 {
    return near_from(0u, x, reach);
}

fn next_near(before: u32, x: vec3f, reach: f32) -> u32 {
    return near_from(before + 1u, x, reach);
}

fn near_from(first: u32, x: vec3f, reach: f32) -> u32 {
    if !SEVERAL {
        return select(NONE, 0u, first == 0u && is_near(0u, x, reach));
    }
    let low = slabs_of(x - vec3f(reach));
    let spans = min(vec3u(slabs_of(x + vec3f(reach)) - low), vec3u(SLABS - 1u));
    let words = mask_words();
    var left = NONE << (first % 32u);
    for (var word = first / 32u; word < words; word++) {
        var mask = left & marked(0u, u32(low.x), spans.x, word);
        mask &= marked(1u, u32(low.y), spans.y, word);
        mask &= marked(2u, u32(low.z), spans.z, word);
        while mask != 0u {
            let index = 32u * word + firstTrailingBit(mask);
            if is_near(index, x, reach) {
                return index;
            }
            mask &= mask - 1u;
        }
        left = NONE;
    }
    return NONE;
}

// Returns the mask of the colliders in the slabs first, ..., first + span.
fn marked(axis: u32, first: u32, span: u32, word: u32) -> u32 {
    var mask = collider_data[mask_at(axis, first % SLABS, word)];
    for (var k = 1u; k <= span; k++) {
        mask |= collider_data[mask_at(axis, (first + k) % SLABS, word)];
    }
    return mask;
}
