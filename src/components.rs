//! Connected components: union-find, in which the lowest particle of a set stands for it, so that sets are in the order of insertion.

/// What hangs together by constraints, which name particles: the particles of each body, ascending, in the order of the first of them.
pub(crate) fn components<'a>(named: impl Iterator<Item = &'a [u32]>, particle_count: usize) -> Vec<Vec<u32>> {
    let mut parents: Vec<u32> = (0..particle_count as u32).collect();
    for particles in named {
        particles.windows(2).for_each(|pair| unite(&mut parents, pair[0], pair[1]));
    }
    let mut bodies: Vec<Vec<u32>> = Vec::new();
    let mut body_of = vec![0; particle_count];
    for particle in 0..particle_count as u32 {
        let root = root(&mut parents, particle);
        if root == particle {
            body_of[particle as usize] = bodies.len();
            bodies.push(Vec::new());
        }
        bodies[body_of[root as usize]].push(particle);
    }
    bodies
}

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
