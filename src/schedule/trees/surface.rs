//! Links that belong to surfaces and grids.

use crate::geometry::grouped;
use crate::scene::{Grid, Scene};

/// By particle, its neighbours in the triangles of a scene, ascending: offsets and particles.
pub(super) struct Surface {
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Surface {
    pub fn new(scene: &Scene) -> Self {
        let corners = |&[a, b, c]: &[u32; 3]| [(a, b), (a, c), (b, a), (b, c), (c, a), (c, b)];
        let (offsets, mut neighbours) = grouped(scene.particle_count(), scene.triangles.iter().flat_map(corners));
        offsets.windows(2).for_each(|ends| neighbours[ends[0] as usize..ends[1] as usize].sort_unstable());
        Self { offsets, neighbours }
    }

    pub fn around(&self, particle: u32) -> &[u32] {
        &self.neighbours[self.offsets[particle as usize] as usize..self.offsets[particle as usize + 1] as usize]
    }

    /// True if two particles are opposite corners of two triangles that share an edge.
    pub fn bends(&self, a: u32, b: u32) -> bool {
        let [around, others] = [a, b].map(|particle| self.around(particle));
        let is_shared = |particle: &u32| others.binary_search(particle).is_ok();
        let mut shared: Vec<u32> = around.iter().copied().filter(is_shared).collect();
        shared.dedup();
        shared.len() >= 2 && around.binary_search(&b).is_err()
    }
}

/// True if a link connects two particles of a grid at most two columns and two rows apart, as springs of cloth do.
pub(super) fn in_grid(grids: &[Grid], [a, b]: [u32; 2]) -> bool {
    let after = grids.partition_point(|grid| grid.first <= a);
    let Some(grid) = after.checked_sub(1).map(|place| grids[place]) else { return false };
    let place = |particle: u32| {
        let local = particle.wrapping_sub(grid.first);
        (u64::from(local) < u64::from(grid.columns) * u64::from(grid.rows))
            .then(|| [local % grid.columns, local / grid.columns])
    };
    let (Some(a), Some(b)) = (place(a), place(b)) else { return false };
    a[0].abs_diff(b[0]) <= 2 && a[1].abs_diff(b[1]) <= 2
}
