//! Connected components by union-find. The root of a set is its lowest particle, so sets are in order of insertion.

/// Merges the sets of two particles.
pub(crate) fn unite(parents: &mut [u32], a: u32, b: u32) {
    let [a, b] = [root(parents, a), root(parents, b)];
    parents[a.max(b) as usize] = a.min(b);
}

/// Returns the root of the set of a particle; halves the paths on the way.
pub(crate) fn root(parents: &mut [u32], mut particle: u32) -> u32 {
    while parents[particle as usize] != particle {
        let above = parents[parents[particle as usize] as usize];
        parents[particle as usize] = above;
        particle = above;
    }
    particle
}
