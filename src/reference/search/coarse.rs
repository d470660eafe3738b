//! The coarse grid of a search, which repeats itself: what its cells know of all that is in and around them.

use super::cell_at;
use crate::geometry::vector::length;
use crate::reference::Reference;
use glam::Vec3;
use std::collections::HashMap;

/// In how many steps, at most, a way is told to the coarse grid, and in how much coarser quanta.
const MOST_STEPS: f32 = 256.0;
pub(super) const COARSER: f32 = 4096.0;

/// The least and the largest along each axis.
type Bounds = [[i32; 3]; 2];

/// The bounds of the displacements in each cell of the coarse grid, in multiples of a quantum \[m\].
pub(super) struct Spread {
    pub cells: HashMap<[i32; 3], Bounds>,
    quantum: f32,
    inverse_quantum: f32,
}

impl Spread {
    /// A displacement against the drift in quanta.
    fn quanta(&self, d: Vec3) -> [i32; 3] {
        (d * self.inverse_quantum).to_array().map(|quanta| quanta.clamp(-1e9, 1e9).round_ties_even() as i32)
    }

    /// The bounds of several cells together.
    fn bounds(&self, cells: impl Iterator<Item = [i32; 3]>) -> Bounds {
        let mut bounds = [[i32::MAX; 3], [i32::MIN; 3]];
        cells.filter_map(|cell| self.cells.get(&cell)).for_each(|own| widen(&mut bounds, own));
        bounds
    }

    /// Those of the eight cells about the lowest corner of one, of so many along each axis.
    pub fn about(&self, cell: [i32; 3], size: u32) -> Bounds {
        self.bounds((0..8).map(|k| turned(cell, [k % 2 - 1, (k / 2) % 2 - 1, k / 4 - 1], size)))
    }

    /// How differently from one displacement against the drift, which is within some bounds, others within them may be, at most \[m\].
    pub fn extent_against(&self, [low, high]: Bounds, d: Vec3) -> f32 {
        let own = self.quanta(d);
        self.length_of(|k| (high[k].wrapping_sub(own[k]) as u32).max(own[k].wrapping_sub(low[k]) as u32))
    }

    fn length_of(&self, quanta: impl Fn(usize) -> u32) -> f32 {
        length(Vec3::from(std::array::from_fn(|axis| quanta(axis) as f32)) * self.quantum)
    }
}

/// Bounds with others.
fn widen([low, high]: &mut Bounds, other: &Bounds) {
    (0..3).for_each(|k| (low[k], high[k]) = (low[k].min(other[0][k]), high[k].max(other[1][k])));
}

impl Reference {
    /// 1/the edge of a cell [1/m].
    pub(super) fn coarse_scale(&self) -> f32 {
        let [_, edge, triangle] = self.contacts.radii;
        let radius = |of, largest| self.contact_params.radius_in_level(0, of, largest);
        self.contact_params.inverse_coarse((2.0 * radius(1, edge)).max(radius(2, triangle)))
    }

    /// By type and cell how far the centers of elements of level 0 are from their particles, at most \[m\].
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

    /// How far the center of an element of a type and of level 0 is from its particles, at most, among all near a place.
    pub(super) fn radius_near(&self, place: Vec3, of: u32) -> f32 {
        let cell = coarse_at(place, self.coarse_scale(), self.contact_params.coarse);
        let sizes = around(cell, self.contact_params.coarse).filter_map(|cell| self.contacts.sizes.get(&(of, cell)));
        sizes.copied().fold(0.0, f32::max)
    }

    /// Of level 0 by cell of the coarse grid the largest speed of triangles, and excess of all that may be in it.
    pub(super) fn speeds(&self) -> HashMap<[i32; 3], [f32; 2]> {
        let scale = self.coarse_scale();
        let mut speeds: HashMap<_, [f32; 2]> = HashMap::new();
        for (particles, of, center, square) in self.sized() {
            // A shot that stands alone looks for all others itself, and not as far around its way as that is long.
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
                // What is larger than the grid meets itself again.
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

    /// The largest speed of the triangles near a place, and excess of these and edges.
    pub(super) fn speed_near(&self, place: Vec3) -> [f32; 2] {
        let cell = coarse_at(place, self.coarse_scale(), self.contact_params.coarse);
        let speeds = around(cell, self.contact_params.coarse).filter_map(|cell| self.contacts.speeds.get(&cell));
        speeds.fold([0.0; 2], |most, near| [most[0].max(near[0]), most[1].max(near[1])])
    }

    /// The bounds of displacements against the drift in each cell of the coarse grid, of places and displacements.
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

    /// How differently the particles of neighbouring cells move, at most \[m\].
    pub(super) fn extent(&self, spread: &Spread, cell: [i32; 3]) -> f32 {
        let [low, high] = spread.bounds(around(cell, self.contact_params.coarse));
        spread.length_of(|k| high[k].wrapping_sub(low[k]) as u32)
    }

    /// The way of a particle that is fast, in steps of twice the reach at most.
    pub(super) fn steps(&self, end: Vec3, displacement: Vec3) -> impl Iterator<Item = Vec3> {
        let travel = displacement - self.contacts.drift;
        let count = (length(travel) / (2.0 * self.contact_params.reach)).ceil().clamp(1.0, MOST_STEPS);
        let step = travel / count;
        (0..=count as u32).map(move |k| end - step * k as f32)
    }
}

/// The cell of the coarse grid that a place is in, of so many along each axis.
pub(super) fn coarse_at(place: Vec3, scale: f32, size: u32) -> [i32; 3] {
    cell_at(place, scale).map(|k| k.rem_euclid(size as i32))
}

/// A cell of the coarse grid and those around it.
pub(super) fn around(cell: [i32; 3], size: u32) -> impl Iterator<Item = [i32; 3]> {
    (0..27).map(move |k| turned(cell, [k % 3 - 1, (k / 3) % 3 - 1, k / 9 - 1], size))
}

/// The cell at an offset from one: the grid repeats itself.
fn turned(cell: [i32; 3], offset: [i32; 3], size: u32) -> [i32; 3] {
    std::array::from_fn(|axis| (cell[axis] + offset[axis]).rem_euclid(size as i32))
}
