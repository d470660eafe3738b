//! The coarse grid of a search, which is periodic: bounds of the motion and the size of the elements in each cell.

use super::elements::cell_at;
use crate::reference::Reference;
use glam::Vec3;
use std::collections::HashMap;

impl Reference {
    /// 1/edge of a cell [1/m].
    pub(super) fn coarse_scale(&self) -> f32 {
        let [_, edge, triangle] = self.contacts.radii;
        let radius = |of, largest| self.contact_params.radius_in_level(0, of, largest);
        self.contact_params.inverse_coarse((2.0 * radius(1, edge)).max(radius(2, triangle)))
    }

    /// By type and cell, maximum distance of the center of an element of level 0 from its particles \[m\].
    pub(super) fn sizes(&self) -> HashMap<(u32, [i32; 3]), f32> {
        let scale = self.coarse_scale();
        let mut sizes: HashMap<_, f32> = HashMap::new();
        let small = self.sized().filter(|&(_, of, _, square)| self.contact_params.size_level(square, of) == 0);
        for (_, of, center, square) in small {
            let largest = sizes.entry((of, coarse_at(center, scale, self.contact_params.coarse))).or_default();
            *largest = largest.max(square.sqrt());
        }
        sizes
    }

    /// Maximum distance of the center of an element from its particles, among those of a type and level 0 near a point.
    pub(super) fn radius_near(&self, place: Vec3, of: u32) -> f32 {
        let cell = coarse_at(place, self.coarse_scale(), self.contact_params.coarse);
        let sizes = around(cell, self.contact_params.coarse).filter_map(|cell| self.contacts.sizes.get(&(of, cell)));
        sizes.copied().fold(0.0, f32::max)
    }

    /// By coarse cell, for level 0: the largest speed of triangles, and the largest excess of the elements that may
    /// enter it.
    pub(super) fn speeds(&self) -> HashMap<[i32; 3], [f32; 2]> {
        let scale = self.coarse_scale();
        let mut speeds: HashMap<_, [f32; 2]> = HashMap::new();
        for (particles, of, center, square) in self.sized() {
            // An isolated fast particle searches for itself, within a smaller radius than its path is long.
            if of == 0 || self.contact_params.size_level(square, of) > 0 {
                continue;
            }
            let mut widen = |place: Vec3, which: usize, by: f32| {
                let largest = speeds.entry(coarse_at(place, scale, self.contact_params.coarse)).or_default();
                largest[which] = largest[which].max(by);
            };
            if of == 2 {
                widen(center, 0, self.speed(particles));
            }
            let excess = self.excess(particles);
            if excess > 0.0 {
                let [low, high] = [center - excess, center + excess].map(|corner| cell_at(corner, scale));
                // Visit each cell of the periodic grid at most once.
                let last =
                    |axis: usize| high[axis].min(low[axis].saturating_add(self.contact_params.coarse as i32 - 1));
                for z in low[2]..=last(2) {
                    for y in low[1]..=last(1) {
                        for x in low[0]..=last(0) {
                            widen((Vec3::new(x as f32, y as f32, z as f32) + 0.5) / scale, 1, excess);
                        }
                    }
                }
            }
        }
        speeds
    }

    /// The largest speed of the triangles near a point, and the largest excess of triangles and edges there.
    pub(super) fn speed_near(&self, place: Vec3) -> [f32; 2] {
        let cell = coarse_at(place, self.coarse_scale(), self.contact_params.coarse);
        let speeds = around(cell, self.contact_params.coarse).filter_map(|cell| self.contacts.speeds.get(&cell));
        speeds.fold([0.0; 2], |most, near| [most[0].max(near[0]), most[1].max(near[1])])
    }
}

/// The coarse cell of a point; `size` cells per axis.
pub(super) fn coarse_at(place: Vec3, scale: f32, size: u32) -> [i32; 3] {
    cell_at(place, scale).map(|k| k.rem_euclid(size as i32))
}

/// A coarse cell and its 26 neighbours.
pub(super) fn around(cell: [i32; 3], size: u32) -> impl Iterator<Item = [i32; 3]> {
    (0..27).map(move |k| turned(cell, [k % 3 - 1, (k / 3) % 3 - 1, k / 9 - 1], size))
}

/// The cell at an offset from another, in the periodic grid.
fn turned(cell: [i32; 3], offset: [i32; 3], size: u32) -> [i32; 3] {
    std::array::from_fn(|axis| (cell[axis] + offset[axis]).rem_euclid(size as i32))
}
