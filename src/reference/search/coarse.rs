//! The coarse grid of a search, which is periodic: bounds of the motion and the size of the elements in each cell.

use super::cell_at;
use crate::geometry::vector::length;
use crate::reference::Reference;
use glam::Vec3;
use std::collections::HashMap;

/// Maximum number of samples of a swept path in the coarse grid, and how much coarser their quanta are.
const MOST_STEPS: f32 = 256.0;
pub(super) const COARSER: f32 = 4096.0;

/// Componentwise minimum and maximum.
type Bounds = [[i32; 3]; 2];

/// Bounds of the displacements in each cell of the coarse grid, in multiples of a quantum \[m\].
pub(super) struct Spread {
    pub cells: HashMap<[i32; 3], Bounds>,
    quantum: f32,
    inverse_quantum: f32,
}

impl Spread {
    /// A displacement relative to the drift, in quanta.
    fn quanta(&self, d: Vec3) -> [i32; 3] {
        (d * self.inverse_quantum).to_array().map(|quanta| quanta.clamp(-1e9, 1e9).round_ties_even() as i32)
    }

    /// The union of the bounds of several cells.
    fn bounds(&self, cells: impl Iterator<Item = [i32; 3]>) -> Bounds {
        let mut bounds = [[i32::MAX; 3], [i32::MIN; 3]];
        cells.filter_map(|cell| self.cells.get(&cell)).for_each(|own| widen(&mut bounds, own));
        bounds
    }

    /// The union of the bounds of the 2×2×2 cells at the lowest corner of a cell; `size` cells per axis.
    pub fn about(&self, cell: [i32; 3], size: u32) -> Bounds {
        self.bounds((0..8).map(|k| turned(cell, [k % 2 - 1, (k / 2) % 2 - 1, k / 4 - 1], size)))
    }

    /// Upper bound of the difference between a displacement relative to the drift and those within the bounds \[m\].
    pub fn extent_against(&self, [low, high]: Bounds, d: Vec3) -> f32 {
        let own = self.quanta(d);
        self.length_of(|k| (high[k].wrapping_sub(own[k]) as u32).max(own[k].wrapping_sub(low[k]) as u32))
    }

    fn length_of(&self, quanta: impl Fn(usize) -> u32) -> f32 {
        length(Vec3::from(std::array::from_fn(|axis| quanta(axis) as f32)) * self.quantum)
    }
}

/// Extends bounds by others.
fn widen([low, high]: &mut Bounds, other: &Bounds) {
    (0..3).for_each(|k| (low[k], high[k]) = (low[k].min(other[0][k]), high[k].max(other[1][k])));
}

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

    /// Bounds of displacements relative to the drift in each coarse cell, from pairs of position and displacement.
    pub(super) fn spread(&self, coarser: f32, moving: impl Iterator<Item = (Vec3, Vec3)>) -> Spread {
        let params = &self.contact_params;
        let scale = self.coarse_scale();
        let (quantum, inverse_quantum) = (params.quantum * coarser, params.inverse_quantum / coarser);
        let mut spread = Spread { cells: HashMap::new(), quantum, inverse_quantum };
        for (place, d) in moving {
            let quanta = spread.quanta(d - self.contacts.drift);
            let cell = coarse_at(place, scale, params.coarse);
            widen(spread.cells.entry(cell).or_insert([quanta; 2]), &[quanta; 2]);
        }
        spread
    }

    /// Upper bound of the difference between the displacements in a cell and its neighbours \[m\].
    pub(super) fn extent(&self, spread: &Spread, cell: [i32; 3]) -> f32 {
        let [low, high] = spread.bounds(around(cell, self.contact_params.coarse));
        spread.length_of(|k| high[k].wrapping_sub(low[k]) as u32)
    }

    /// Points on the swept path of a fast particle, at most two reaches apart (at most [`MOST_STEPS`] steps).
    pub(super) fn steps(&self, end: Vec3, displacement: Vec3) -> impl Iterator<Item = Vec3> {
        let travel = displacement - self.contacts.drift;
        let count = (length(travel) / (2.0 * self.contact_params.reach)).ceil().clamp(1.0, MOST_STEPS);
        let step = travel / count;
        (0..=count as u32).map(move |k| end - step * k as f32)
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
