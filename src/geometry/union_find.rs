//! Connected components by union-find. The root of a set is its lowest particle, so components are in ascending order
//! of their lowest particles.

/// The connected components of sets of particles: the particles of each component in ascending order, components in the
/// order of their lowest particles.
pub(crate) fn components<'a>(sets: impl Iterator<Item = &'a [u32]>, particle_count: usize) -> Vec<Vec<u32>> {
    let mut parents: Vec<u32> = (0..particle_count as u32).collect();
    for particles in sets {
        particles.windows(2).for_each(|pair| unite(&mut parents, pair[0], pair[1]));
    }
    let mut components: Vec<Vec<u32>> = Vec::new();
    let mut component_of = vec![0; particle_count];
    for particle in 0..particle_count as u32 {
        let root = root(&mut parents, particle);
        if root == particle {
            component_of[particle as usize] = components.len();
            components.push(Vec::new());
        }
        components[component_of[root as usize]].push(particle);
    }
    components
}

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
