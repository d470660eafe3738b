//! Cloth cut out of a woven grid: a subset of the cells with their constraints.

use super::cloth_links::Links;
use super::{Cloth, ClothGrid, Scene, Topology};
use crate::error::{Error, Result};
use std::collections::HashSet;

/// A cloth cut out of a grid; see [`Scene::add_cloth_grid_where`].
#[derive(Debug, Clone, PartialEq)]
pub struct CutCloth {
    /// The cloth. Its particles are the corners of kept cells, row by row.
    pub cloth: Cloth,
    /// The particle of each grid point, indexed by row · columns + column; `None` if no adjacent cell is kept.
    pub points: Vec<Option<u32>>,
}

impl Scene {
    /// Adds the cells of a rectangular cloth for which `keep(column, row)` is true. The corners of cell (column, row)
    /// are the points (column, row) to (column + 1, row + 1), so there are columns − 1 by rows − 1 cells.
    ///
    /// - Structural constraints: along the sides of kept cells. Shear constraints: along their diagonals.
    /// - Bend constraints: by the fabric's [`crate::Bending`]. Springs connect every second point of a line if kept
    ///   sides join both to the point between. Hinges and isometric bends are those of a mesh, which is softer
    ///   ([`Cloth::soft_hinges`]).
    /// - Mass: each kept cell gives a quarter of its mass to each corner.
    /// - Tethers follow paths around holes and notches.
    ///
    /// The particles are a grid for [`crate::Execution::Tiles`] only if all cells are kept.
    ///
    /// ```
    /// use supple::{ClothGrid, Scene};
    ///
    /// // A disc with a radius of about 1 m, pinned at the first particle of its middle row.
    /// let mut scene = Scene::new();
    /// let grid = ClothGrid { columns: 33, rows: 33, ..ClothGrid::default() };
    /// let inside = |column: u32, row: u32| (column as f32 - 15.5).hypot(row as f32 - 15.5) < 16.0;
    /// let disc = scene.add_cloth_grid_where(&grid, inside)?;
    /// let first = disc.points[16 * 33..].iter().flatten().next();
    /// scene.pin(*first.unwrap())?;
    /// # Ok::<(), supple::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Scene::add_cloth_grid`]; [`Error::Empty`] if no cell is kept.
    pub fn add_cloth_grid_where(
        &mut self,
        grid: &ClothGrid,
        mut keep: impl FnMut(u32, u32) -> bool,
    ) -> Result<CutCloth> {
        let all = grid.points()?;
        let kept: Vec<(u32, u32)> = grid.cells().filter(|&(row, column)| keep(column, row)).collect();
        if kept.is_empty() {
            return Err(Error::Empty { what: "list of the kept cells of a cloth grid" });
        }
        if kept.len() == grid.cells().count() {
            let cloth = self.add_cloth_grid(grid)?;
            return Ok(CutCloth { points: cloth.particles.clone().map(Some).collect(), cloth });
        }
        let cut = Cut::new(grid, &kept);
        let map = |list: Vec<[u32; 2]>| -> Vec<[u32; 2]> {
            list.into_iter().map(|link| link.map(|p| cut.vertex[p as usize])).collect()
        };
        let triangles: Vec<[u32; 3]> = kept
            .iter()
            .flat_map(|&cell| grid.cell_triangles(cell))
            .map(|triangle| triangle.map(|point| cut.vertex[point as usize]))
            .collect();
        let positions: Vec<[f32; 3]> = cut.points.iter().map(|&point| all[point as usize]).collect();
        let Topology { hinges, report, .. } = Topology::new(&positions, &triangles)?;
        let links = Links {
            structural: map(cut.sides(grid).collect()),
            shear: map(cut.diagonals(grid).collect()),
            bend: map(cut.next_but_one(grid).collect()),
            hinges,
            areas: cut.areas.clone(),
            lines: None,
            rows: Some(grid.column_axis.into()),
            texture: None,
            report,
        };
        let cloth = self.push_cloth(&positions, &triangles, links, &grid.fabric_along_rows(), grid.tethers)?;
        let first = cloth.particles.start;
        let points = cut.vertex.iter().map(|&vertex| (vertex != NONE).then(|| first + vertex)).collect();
        Ok(CutCloth { cloth, points })
    }
}

/// No vertex.
const NONE: u32 = u32::MAX;

/// The kept part of a grid.
struct Cut {
    /// The vertex of each grid point, or [`NONE`].
    vertex: Vec<u32>,
    /// The grid point of each vertex.
    points: Vec<u32>,
    /// Area per vertex \[m²\].
    areas: Vec<f32>,
    /// Sides and diagonals of the kept cells, as ascending grid points.
    links: HashSet<[u32; 2]>,
}

impl Cut {
    fn new(grid: &ClothGrid, kept: &[(u32, u32)]) -> Self {
        let mut cells_at = vec![0u8; grid.columns as usize * grid.rows as usize];
        let mut links = HashSet::with_capacity(4 * kept.len());
        for &cell in kept {
            let [a, b, d, e] = grid.cell_corners(cell);
            [a, b, d, e].into_iter().for_each(|corner| cells_at[corner as usize] += 1);
            links.extend([[a, b], [d, e], [a, d], [b, e], [a, e], [b, d]]);
        }
        let mut cut = Self { vertex: vec![NONE; cells_at.len()], points: Vec::new(), areas: Vec::new(), links };
        let quarter = 0.25 * grid.cell_area();
        for (point, count) in (0..).zip(cells_at).filter(|&(_, count)| count > 0) {
            cut.vertex[point as usize] = cut.points.len() as u32;
            cut.points.push(point);
            cut.areas.push(f32::from(count) * quarter);
        }
        cut
    }

    fn has(&self, link: &[u32; 2]) -> bool {
        self.links.contains(link)
    }

    fn sides(&self, grid: &ClothGrid) -> impl Iterator<Item = [u32; 2]> {
        grid.links(0, 1).chain(grid.links(1, 0)).filter(|link| self.has(link))
    }

    fn diagonals(&self, grid: &ClothGrid) -> impl Iterator<Item = [u32; 2]> {
        grid.links(1, 1).chain(grid.links(1, -1)).filter(|link| self.has(link))
    }

    fn next_but_one(&self, grid: &ClothGrid) -> impl Iterator<Item = [u32; 2]> {
        grid.links(0, 2).chain(grid.links(2, 0)).filter(|&[from, to]| {
            let middle = from.midpoint(to);
            self.has(&[from, middle]) && self.has(&[middle, to])
        })
    }
}
