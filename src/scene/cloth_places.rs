//! Particles of a cloth by their place in its grid.

use super::Cloth;
use crate::error::{Error, Result};
use std::ops::Range;

impl Cloth {
    /// The corners of a grid: first row and first column, first row and last column, last row and first column, last row
    /// and last column. Columns run along [`super::ClothGrid::column_axis`], rows along [`super::ClothGrid::row_axis`].
    ///
    /// ```
    /// # fn main() -> supple::Result<()> {
    /// let mut scene = supple::Scene::new();
    /// let cloth = scene.add_cloth_grid(&supple::ClothGrid::default())?;
    /// let [left, right, ..] = cloth.corners()?;
    /// scene.pin(left)?;
    /// scene.pin(right)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoGrid`] for a mesh and for a cloth that is cut out of a grid.
    pub fn corners(&self) -> Result<[u32; 4]> {
        let [columns, rows] = self.grid("corners")?;
        Ok([(0, 0), (0, columns - 1), (rows - 1, 0), (rows - 1, columns - 1)]
            .map(|(row, column)| self.particles.start + row * columns + column))
    }

    /// The particles of a row of a grid, from the first column to the last. Row 0 begins at [`super::ClothGrid::origin`].
    ///
    /// # Errors
    /// [`Error::NoGrid`]; [`Error::IndexOutOfRange`] from the number of rows on.
    pub fn row(&self, row: u32) -> Result<Range<u32>> {
        let [columns, rows] = self.grid("rows")?;
        check("row", row, rows)?;
        let first = self.particles.start + row * columns;
        Ok(first..first + columns)
    }

    /// The particles of a column of a grid, from the first row to the last.
    ///
    /// # Errors
    /// [`Error::NoGrid`]; [`Error::IndexOutOfRange`] from the number of columns on.
    pub fn column(&self, column: u32) -> Result<impl ExactSizeIterator<Item = u32> + Clone + use<>> {
        let [columns, _] = self.grid("columns")?;
        check("column", column, columns)?;
        Ok((self.particles.start + column..self.particles.end).step_by(columns as usize))
    }

    /// The particles on the border of a grid, once around from the first corner: the first row, the last column, the last
    /// row backwards, the first column backwards.
    ///
    /// # Errors
    /// [`Error::NoGrid`].
    pub fn border(&self) -> Result<Vec<u32>> {
        let [columns, rows] = self.grid("borders")?;
        let mut border: Vec<u32> = self.row(0)?.collect();
        border.extend(self.column(columns - 1)?.skip(1));
        let mut back: Vec<u32> = self.row(rows - 1)?.rev().skip(1).collect();
        back.extend((1..rows - 1).rev().map(|row| self.particles.start + row * columns));
        border.append(&mut back);
        Ok(border)
    }

    fn grid(&self, what: &'static str) -> Result<[u32; 2]> {
        self.grid.ok_or(Error::NoGrid { what })
    }
}

fn check(target: &'static str, index: u32, count: u32) -> Result<()> {
    if index < count {
        return Ok(());
    }
    let what = "cloth grid".into();
    Err(Error::IndexOutOfRange { what, target, index: index.into(), count: count.into() })
}

#[cfg(test)]
mod tests {
    use crate::{ClothGrid, ClothMesh, Error, Fabric, Particle, Scene};

    #[test]
    fn the_places_of_a_grid_are_those_of_its_positions() {
        let mut scene = Scene::new();
        scene.add_particle(Particle { position: [9.0; 3], velocity: [0.0; 3], inverse_mass: 1.0 }).unwrap();
        let grid = ClothGrid { columns: 4, rows: 3, ..ClothGrid::default() };
        let cloth = scene.add_cloth_grid(&grid).unwrap();
        let place = |particle: u32| scene.positions()[particle as usize];
        let corners = cloth.corners().unwrap().map(place);
        assert_eq!(corners, [[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]);
        assert_eq!(cloth.row(2).unwrap(), 9..13);
        assert!(cloth.row(1).unwrap().all(|particle| place(particle)[2] == 0.0));
        let column: Vec<u32> = cloth.column(3).unwrap().collect();
        assert_eq!(column, [4, 8, 12]);
        assert!(column.iter().all(|&particle| place(particle)[0] == 1.0));
        assert_eq!(cloth.border().unwrap(), [1, 2, 3, 4, 8, 12, 11, 10, 9, 5]);
    }

    #[test]
    fn places_outside_a_grid_are_errors() {
        let mut scene = Scene::new();
        let cloth = scene.add_cloth_grid(&ClothGrid { columns: 4, rows: 3, ..ClothGrid::default() }).unwrap();
        assert!(matches!(cloth.row(3), Err(Error::IndexOutOfRange { target: "row", index: 3, count: 3, .. })));
        assert!(matches!(cloth.column(4).map(drop), Err(Error::IndexOutOfRange { index: 4, count: 4, .. })));
        let (positions, triangles) = ([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0, 2, 1]]);
        let fabric = Fabric::default();
        let mesh = ClothMesh { positions: &positions, triangles: &triangles, fabric, tethers: None };
        let cloth = scene.add_cloth_mesh(&mesh).unwrap();
        assert!(matches!(cloth.corners(), Err(Error::NoGrid { what: "corners" })));
        assert!(cloth.border().is_err() && cloth.row(0).is_err() && cloth.column(0).is_err());
    }
}
