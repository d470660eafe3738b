//! The elements of a search: their levels, their swept paths, and the cells that they visit.

use super::MOST_CELLS;
use crate::geometry::vector::{dot, length};
use crate::reference::Reference;
use crate::schedule::contacts::center;
use glam::Vec3;

/// An element of the search.
#[derive(Clone, Copy)]
pub(super) struct Element {
    /// Index among the elements.
    pub index: u32,
    pub particles: [u32; 3],
    pub of: u32,
    /// Center; of a fast particle whose level is that of its swept path, the middle of the path.
    pub center: Vec3,
    /// Vector from the center of an edge to its second particle.
    pub half: Vec3,
    /// The predicted particle or edge; of a fast element, the swept path of its center.
    pub segment: [Vec3; 2],
    pub is_fast: bool,
    /// Level by size; `path_level` is that of a particle among particles, by half of its swept path.
    pub level: u32,
    pub path_level: u32,
    /// Search distance \[m\] for particles of elements of its level, and of further levels.
    pub reach: f32,
    pub wide_reach: f32,
    /// Distance of the particles of a fast edge from its center \[m\]; else 0.
    pub path_half: f32,
}

impl Element {
    /// The grid of elements of type `of` at the level of this element.
    pub fn grid(&self, of: u32) -> Grid {
        Grid { of, level: if of == 0 { self.path_level } else { self.level } }
    }

    /// True if the element queries a grid: one of its own level or above. Among particles, all query level 0, and only
    /// fast particles query the levels above.
    pub fn searches(&self, grid: Grid) -> bool {
        let own = self.grid(grid.of).level;
        match (grid.of, grid.level) {
            (0, 0) => true,
            (0, level) => own > 0 && level >= own,
            (_, level) => level >= own,
        }
    }

    /// Search distance for the particles of the elements in a grid \[m\].
    pub fn gap(&self, grid: Grid) -> f32 {
        if grid.of == 0 || grid == self.grid(grid.of) { self.reach } else { self.wide_reach }
    }
}

/// The grid of the elements of a type and a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Grid {
    pub of: u32,
    pub level: u32,
}

impl Reference {
    /// Largest predicted displacement per substep of the particles of an element, relative to the drift \[m\].
    pub(super) fn speed(&self, particles: [u32; 3]) -> f32 {
        let speed = |i: u32| length(self.contacts.tracked[i as usize].predicted - self.contacts.drift);
        particles.into_iter().map(speed).fold(0.0, f32::max)
    }

    /// Largest excess of the particles of an element over half the margin in this substep, relative to the drift \[m\].
    pub(super) fn excess(&self, particles: [u32; 3]) -> f32 {
        let travel = |i: u32| length(self.contacts.tracked[i as usize].displacement - self.contacts.drift);
        (particles.into_iter().map(travel).fold(0.0, f32::max) - 0.5 * self.contact_params.margin).max(0.0)
    }

    /// Largest excess of elements of levels above 0 in this substep \[m\].
    pub(super) fn wide_excess(&self) -> f32 {
        let wide = self.sized().filter(|&(_, of, _, square)| self.contact_params.size_level(square, of) > 0);
        wide.map(|(particles, ..)| self.excess(particles)).fold(0.0, f32::max)
    }

    /// By type, maximum distance of the center of an element from its particles.
    pub(super) fn radii(&self) -> [f32; 3] {
        let mut radii = [0f32; 3];
        for (_, of, _, square) in self.sized() {
            radii[of as usize] = radii[of as usize].max(square.sqrt());
        }
        radii
    }

    /// Particles, types, centers and squared sizes of the elements in the grid.
    pub(super) fn sized(&self) -> impl Iterator<Item = ([u32; 3], u32, Vec3, f32)> {
        (self.contact_params.sphere_first..self.contact_params.insert_end).map(|index| {
            let [a, b, c, of] = self.controls.compiled.contact_elements.elements[index as usize];
            let x = [a, b, c].map(|i| self.positions[i as usize] + self.displacements[i as usize]);
            let center = center(x, of);
            ([a, b, c], of, center, square_size(x, center))
        })
    }

    /// True if the displacement exceeds half the margin in the substep, relative to the drift.
    fn is_fast(&self, displacement: Vec3) -> bool {
        let travel = displacement - self.contacts.drift;
        let half = 0.5 * self.contact_params.margin;
        dot(travel, travel) > half * half
    }

    /// Middle of the swept path of a fast particle, and its level among particles.
    pub(super) fn middle_of_path(&self, end: Vec3, displacement: Vec3) -> (Vec3, u32) {
        let half = (displacement - self.contacts.drift) * 0.5;
        (end - half, self.contact_params.path_level(dot(half, half)))
    }

    pub(super) fn element(&self, index: u32) -> Element {
        let contacts = &self.contacts;
        let [a, b, c, of] = self.controls.compiled.contact_elements.elements[index as usize];
        let particles = [a, b, c];
        let there = particles.map(|i| contacts.tracked[i as usize].place);
        let d = particles.map(|i| contacts.tracked[i as usize].displacement);
        let moved = center(d, of);
        let center = center(there, of);
        let moves_far = d.into_iter().any(|d| self.is_fast(d));
        let is_fast = moves_far || self.speed(particles) > contacts.slow;
        // Relative to the others, which moved with the drift.
        let start = center - (moved - contacts.drift);
        // A fast edge may turn while its center moves: extend the reach by the change of its half vector, and by the
        // half length.
        let has_path = is_fast && of == 1;
        let half = there[1] - center;
        let mut element = Element {
            index,
            particles,
            of,
            center,
            half,
            segment: if is_fast { [center, start] } else { [there[0], there[1]] },
            is_fast,
            level: self.contact_params.size_level(square_size(there, center), of),
            path_level: 0,
            reach: 0.0,
            wide_reach: 0.0,
            path_half: if has_path { length(half) } else { 0.0 },
        };
        let turn = if has_path { 0.5 * length(d[1] - d[0]) } else { 0.0 };
        [element.reach, element.wide_reach] = self.reaches(&element, turn);
        if of == 0 && moves_far {
            (element.center, element.path_level) = self.middle_of_path(center, d[0]);
        }
        element
    }

    /// Search distances \[m\] for particles of elements of the same level, and of further levels, which may have any
    /// speed.
    fn reaches(&self, own: &Element, turn: f32) -> [f32; 2] {
        let contacts = &self.contacts;
        let speed = self.speed(own.particles);
        let [fast_near, excess_near] = self.speed_near(own.center);
        let others = match (own.is_fast, own.of) {
            (true, _) => contacts.fastest,
            // Triangles do not query: a particle must find them at any speed.
            (false, 0) => fast_near.max(contacts.slow),
            (false, _) => contacts.slow,
        };
        // Particles near triangles and fast elements also cover contacts that stop short of the predicted position.
        let excess = match (own.is_fast, own.of) {
            (true, _) if own.level > 0 => contacts.wide_excess,
            (true, _) => excess_near.max(self.speed_near(own.segment[1])[1]),
            (false, 0) => excess_near,
            (false, _) => 0.0,
        };
        // 0 · ∞ would be NaN.
        let path = |nearer: f32| if contacts.horizon == 0 { 0.0 } else { contacts.horizon as f32 * nearer };
        let reach = self.contact_params.reach;
        [
            (reach + path(speed + others)) + (turn + excess),
            (reach + path(speed + contacts.fastest)) + (turn + contacts.wide_excess),
        ]
    }

    /// The element types that an element queries.
    pub(super) fn partners(&self, index: u32, of: u32) -> [Option<u32>; 2] {
        let params = &self.contact_params;
        match (params.level, of) {
            (2, 1) => [Some(1), None],
            (2, _) => [Some(2), (index >= params.sphere_first).then_some(0)],
            _ => [Some(0), None],
        }
    }

    pub(super) fn cell(&self, center: Vec3, grid: Grid) -> [i32; 3] {
        cell_at(center, self.contact_params.inverse_cells[grid.level as usize][grid.of as usize])
    }

    /// Search distance from the segment of an element to the centers of others.
    pub(super) fn reach(&self, query: &Element, grid: Grid) -> f32 {
        let radius = if grid.of == 0 {
            self.contact_params.path_radius(grid.level)
        } else if grid.level == 0 && !query.is_fast {
            self.radius_near(query.center, grid.of)
        } else {
            self.contact_params.radius_in_level(grid.level, grid.of, self.contacts.radii[grid.of as usize])
        };
        (query.gap(grid) + radius) + query.path_half
    }

    /// The range of cells that an element queries.
    pub(super) fn range(&mut self, query: &Element, grid: Grid, reach: f32) -> ([i32; 3], [i32; 3]) {
        let [a, b] = query.segment;
        let reach = 1.001 * reach;
        let (low, mut high) = (self.cell(a.min(b) - reach, grid), self.cell(a.max(b) + reach, grid));
        // Elements of the same grid with a larger z find this one themselves.
        let own = query.grid(query.of);
        if own == grid && !query.is_fast {
            high[2] = self.cell(query.center, grid)[2];
        }
        let sizes: [f32; 3] = std::array::from_fn(|k| high[k].wrapping_sub(low[k]) as u32 as f32 + 1.0);
        if sizes[0] * sizes[1] * sizes[2] <= MOST_CELLS {
            return (low, high);
        }
        self.contacts.lose(1);
        let here = self.cell(a, grid);
        (here.map(|k| k - 1), here.map(|k| k + 1))
    }
}

/// Squared maximum distance of the particles of an element from its center.
fn square_size(x: [Vec3; 3], center: Vec3) -> f32 {
    x.into_iter().map(|x| dot(x - center, x - center)).fold(0.0, f32::max)
}

/// The grid cell of a point.
pub(in crate::reference) fn cell_at(place: Vec3, inverse_cell: f32) -> [i32; 3] {
    (place * inverse_cell).to_array().map(|component| component.floor().clamp(-1e9, 1e9) as i32)
}
