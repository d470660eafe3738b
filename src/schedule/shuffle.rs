//! Random orders of colours.

/// Element `turn` of a random permutation of 0 .. `count` (Fisher, Yates), for at most 64 colours.
pub(super) fn shuffled(turn: usize, count: usize, seed: u32) -> usize {
    let mut order: [u8; 64] = std::array::from_fn(|place| place as u8);
    let mut random = seed;
    for left in (1..count.min(order.len())).rev() {
        random = mix(random);
        order.swap(left, (random % (left as u32 + 1)) as usize);
    }
    order.get(turn).map_or(turn, |&place| usize::from(place))
}

/// A pseudorandom number for each number (Wellons 2018, `lowbias32`).
pub(super) fn mix(number: u32) -> u32 {
    let mut mixed = number.wrapping_add(0x9e37_79b9);
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x7feb_352d);
    mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x846c_a68b);
    mixed ^ (mixed >> 16)
}
