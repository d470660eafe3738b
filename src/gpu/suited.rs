//! Which execution suits a GPU: a rule, so that a scene is solved in the same order in every run. `fastest.rs` measures instead.

use crate::scene::Scene;
use crate::settings::Execution;

/// Up to so many particles [`Execution::Halos`] is what suits a GPU, and from so many on, in grids, [`Execution::Tiles`]: on an NVIDIA H200
/// halos, patches and tiles take 0.35, 0.54 and 1.36 ms a frame for 10 000 particles, 0.57, 0.64 and 1.46 ms for 100 000, 6.8, 3.9 and 2.6 ms for a million.
const HALOS_UP_TO: usize = 1 << 17;
const TILES_FROM: usize = 1 << 19;

/// What [`Execution::Auto`] tries on GPUs, best first.
pub(super) fn suited(scene: &Scene) -> &'static [Execution] {
    let count = scene.particle_count();
    let in_grids: u64 = scene.grids.iter().map(|grid| u64::from(grid.columns) * u64::from(grid.rows)).sum();
    if count <= HALOS_UP_TO {
        &[Execution::Halos, Execution::Patches]
    } else if count >= TILES_FROM && 2 * in_grids >= count as u64 {
        &[Execution::Tiles]
    } else {
        &[Execution::Patches]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClothGrid, ClothMesh, Fabric};

    #[test]
    fn what_suits_a_gpu_goes_by_size_and_grids() {
        let grid = |columns, rows| {
            let mut scene = Scene::new();
            let fabric = Fabric { bending: crate::Bending::None, ..Fabric::default() };
            scene.add_cloth_grid(&ClothGrid { columns, rows, fabric, tethers: None, ..ClothGrid::default() }).unwrap();
            scene
        };
        assert_eq!(suited(&grid(316, 316)), [Execution::Halos, Execution::Patches]);
        assert_eq!(suited(&grid(400, 400)), [Execution::Patches]);
        assert_eq!(suited(&grid(800, 800)), [Execution::Tiles]);
        // The same mesh, of which nobody says that it is a grid.
        let cloth = grid(800, 800);
        let (positions, triangles) = (cloth.positions(), cloth.triangles());
        let mut scene = Scene::new();
        scene.add_cloth_mesh(&ClothMesh { positions, triangles, fabric: Fabric::default(), tethers: None }).unwrap();
        assert_eq!(suited(&scene), [Execution::Patches]);
    }
}
