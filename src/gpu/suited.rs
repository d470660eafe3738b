//! The execution that [`Execution::Auto`] stands for on a GPU: a rule, so that results repeat. `fastest.rs` measures instead.

use crate::scene::Scene;
use crate::settings::Execution;

/// From so many particles on, if half of them lie in grids, tiles are faster than clusters (docs/performance.md).
const TILES_FROM: usize = 1 << 19;

/// The execution for a scene.
pub(super) fn suited(scene: &Scene) -> Execution {
    let count = scene.particle_count();
    let in_grids: u64 = scene.grids.iter().map(|grid| u64::from(grid.columns) * u64::from(grid.rows)).sum();
    if count >= TILES_FROM && 2 * in_grids >= count as u64 { Execution::Tiles } else { Execution::Clusters }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClothGrid, ClothMesh, Fabric};

    #[test]
    fn large_grids_run_in_tiles_and_all_other_scenes_in_clusters() {
        let grid = |columns, rows| {
            let mut scene = Scene::new();
            let fabric = Fabric { bending: crate::Bending::None, ..Fabric::default() };
            scene.add_cloth_grid(&ClothGrid { columns, rows, fabric, tethers: None, ..ClothGrid::default() }).unwrap();
            scene
        };
        assert_eq!(suited(&grid(400, 400)), Execution::Clusters);
        let cloth = grid(800, 800);
        assert_eq!(suited(&cloth), Execution::Tiles);
        // The same mesh, not added as a grid.
        let (positions, triangles) = (cloth.positions(), cloth.triangles());
        let mut scene = Scene::new();
        scene.add_cloth_mesh(&ClothMesh { positions, triangles, fabric: Fabric::default(), tethers: None }).unwrap();
        assert_eq!(suited(&scene), Execution::Clusters);
    }
}
