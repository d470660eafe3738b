//! Connected components by union-find. The lowest particle of a set is its root, so that the sets are in the order of insertion.

/// Makes one set of those of two particles.
pub(crate) fn unite(parents: &mut [u32], a: u32, b: u32) {
    let [a, b] = [root(parents, a), root(parents, b)];
    parents[a.max(b) as usize] = a.min(b);
}

/// The root of a particle in a forest, whose paths are halved on the way.
pub(crate) fn root(parents: &mut [u32], mut particle: u32) -> u32 {
    while parents[particle as usize] != particle {
        let above = parents[parents[particle as usize] as usize];
        parents[particle as usize] = above;
        particle = above;
    }
    particle
}
