//! Pair list of self-collision: the passes that validate it and that search for pairs.
//!
//! - The *drift* is the mean displacement of sampled particles; all motion is measured relative to it.
//! - The *predicted path* of a particle continues its motion since its last search. The pair list is valid as long as
//!   each particle stays within half the margin of its path.
//! - The *horizon* is the number of substeps for which a search is valid, if particles stay on their paths.
//! - The *reach* is the search distance: thickness, margin, and the possible approach within the horizon.
//! - The *excess* of an element is its displacement beyond half the margin. An element with an excess, or at the
//!   surface level one faster than most, is *fast*: the search uses its *swept path* in this substep.
//! - A *level* contains elements of similar size, or particles with swept paths of similar length. Each level has its
//!   own grid.
//! - The *coarse grid* stores bounds of motion and size, to find the reach of each element.

mod coarse;

use self::coarse::{COARSER, around, coarse_at};
use super::Reference;
use super::contacts::Contacts;
use crate::collision::pair::{PairKind, approach, closest, pack};
use crate::geometry::vector::{dot, length};
use crate::schedule::contacts::{UNTOUCHABLE, center};
use crate::sim::contact_params::{PACES, WAS_CUT};
use glam::Vec3;
use std::collections::{BTreeSet, HashMap};

/// State of the pair list: valid, expired for some particles, or expired for all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Staleness {
    #[default]
    Holds,
    Worn,
    All,
}

/// State of a particle at its last search: predicted position, displacement, number of the substep, horizon, and
/// predicted displacement per substep.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrackedParticle {
    pub place: Vec3,
    pub displacement: Vec3,
    searched: u32,
    horizon: u32,
    pace: Vec3,
}

impl TrackedParticle {
    /// Predicted motion since the search.
    pub fn way(&self, now: u32) -> Vec3 {
        self.pace * now.wrapping_sub(self.searched) as f32
    }

    fn here(&self, now: u32) -> Vec3 {
        self.place + self.way(now)
    }

    /// Squared distance of x + d from the predicted path.
    fn aside(&self, x: Vec3, d: Vec3, now: u32) -> f32 {
        let moved = ((x - self.place) + d) - self.way(now);
        dot(moved, moved)
    }
}

/// Vector from a point to the nearest point of a segment.
pub(super) fn from_segment([start, end]: [Vec3; 2], place: Vec3) -> Vec3 {
    let along = end - start;
    let square = dot(along, along);
    let share = if square > 0.0 { dot(place - start, along) / square } else { 0.0 };
    (start + along * share.clamp(0.0, 1.0)) - place
}

/// 1/(2√3): see `shaders/collision/validate_pairs.wgsl`.
const SLOW: f32 = 0.28;
/// Maximum number of particles that are sampled for the drift.
const SAMPLES: usize = 64;
/// Maximum number of cells that a query visits.
const MOST_CELLS: f32 = 4096.0;

/// An element of the search.
#[derive(Clone, Copy)]
struct Element {
    /// Index among the elements.
    index: u32,
    particles: [u32; 3],
    of: u32,
    /// Center; of a fast particle whose level is that of its swept path, the middle of the path.
    center: Vec3,
    /// Vector from the center of an edge to its second particle.
    half: Vec3,
    /// The predicted particle or edge; of a fast element, the swept path of its center.
    segment: [Vec3; 2],
    is_fast: bool,
    /// True if the element queries the grid.
    looks: bool,
    /// Number of substeps for which its search is valid.
    horizon: u32,
    /// Level by size; `way_level` is that of a particle among particles, by half of its swept path.
    level: u32,
    way_level: u32,
    /// Search distance \[m\] for particles of elements of its level, and of further levels.
    reach: f32,
    wide_reach: f32,
    /// Distance of the particles of a fast edge from its center \[m\]; else 0.
    way_half: f32,
}

impl Element {
    /// The grid of elements of type `of` at the level of this element.
    fn grid(&self, of: u32) -> Grid {
        Grid { of, level: if of == 0 { self.way_level } else { self.level } }
    }

    /// True if the element queries a grid: one of its own level or above. Among particles, all query level 0, and only
    /// fast particles query the levels above.
    fn looks_into(&self, grid: Grid) -> bool {
        let own = self.grid(grid.of).level;
        match (grid.of, grid.level) {
            (0, 0) => true,
            (0, level) => own > 0 && level >= own,
            (_, level) => level >= own,
        }
    }

    /// Search distance for the particles of the elements in a grid \[m\].
    fn gap(&self, grid: Grid) -> f32 {
        if grid.of == 0 || grid == self.grid(grid.of) { self.reach } else { self.wide_reach }
    }
}

/// The grid of the elements of a type and a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Grid {
    of: u32,
    level: u32,
}

impl Reference {
    pub(super) fn validate_pairs(&mut self, i: usize) {
        let was_cut = self.contacts.corrections[i][3] < 0;
        self.contacts.corrections[i] = [0, 0, 0, if was_cut { WAS_CUT } else { 0 }];
        let params = &self.contact_params;
        if self.controls.compiled.contact_elements.material(i as u32) == UNTOUCHABLE {
            return;
        }
        let (x, d) = (self.positions[i], self.displacements[i]);
        let only_particles = params.level == 1;
        let is_expired = only_particles && self.is_expired(i);
        let contacts = &mut self.contacts;
        let own = &contacts.watched[i];
        let since = contacts.now.wrapping_sub(own.searched);
        let half = 0.5 * params.margin;
        let aside = own.aside(x, d, contacts.now);
        let horizon = if only_particles { own.horizon } else { contacts.horizon };
        // True for NaN, too.
        let mut stale = aside.is_nan() || aside > half * half || since > horizon;
        if !only_particles {
            stale |= own.aside(x, own.displacement, contacts.now) > half * half;
        } else {
            let against = (d - contacts.drift).abs();
            let most = against.x.max(against.y).max(against.z);
            contacts.hurried |= most.is_nan() || most > SLOW * (params.reach + params.margin);
            if is_expired {
                contacts.worn.insert(coarse_at(x + d, params.inverse_coarse(0.0), params.coarse));
            }
        }
        if stale && contacts.stale == Staleness::Holds {
            contacts.stale = Staleness::Worn;
        }
    }

    /// True if a particle takes part in a partial search: it deviates from its predicted path, or 2/3 of its horizon
    /// are over.
    fn is_expired(&self, i: usize) -> bool {
        let own = &self.contacts.watched[i];
        let half = 0.5 * self.contact_params.margin;
        let aside = own.aside(self.positions[i], self.displacements[i], self.contacts.now);
        let since = self.contacts.now.wrapping_sub(own.searched);
        aside.is_nan() || aside > 0.5 * (half * half) || 3 * since > 2 * own.horizon
    }

    pub(super) fn search(&mut self) {
        if self.contacts.stale == Staleness::Holds {
            return;
        }
        let count = self.positions.len();
        let samples = count.min(SAMPLES);
        let stride = count / samples;
        // Non-finite displacements are excluded; `velocity` quarantines the particle.
        let finite = (0..samples).map(|k| self.displacements[k * stride]).filter(|d| d.is_finite());
        let sum = finite.fold(Vec3::ZERO, |sum, d| sum + d);
        let anchored = self.contact_params.anchored == 1;
        self.contacts.drift = if anchored { Vec3::ZERO } else { sum / samples as f32 };
        self.contacts.searches += 1;
        let elements = if self.contact_params.level == 1 { self.gather_worn() } else { self.all_elements() };
        self.contacts.worn.clear();
        let params = self.contact_params;
        let mut cells: HashMap<(Grid, [i32; 3]), Vec<Element>> = HashMap::new();
        // The grids of level 0 are always queried.
        let mut grids: BTreeSet<Grid> = (0..3).map(|of| Grid { of, level: 0 }).collect();
        for element in elements.iter().filter(|element| element.index >= params.insert_first) {
            let grid = element.grid(element.of);
            grids.insert(grid);
            cells.entry((grid, self.cell(element.center, grid))).or_default().push(*element);
        }
        let mut pairs = std::mem::take(&mut self.contacts.pairs);
        for query in elements.iter().filter(|element| element.looks && element.index < params.query_end) {
            let partners = self.partners(query.index, query.of);
            let is_partner = |grid: &&Grid| partners.contains(&Some(grid.of)) && query.looks_into(**grid);
            for &grid in grids.iter().filter(is_partner) {
                let reach = self.reach(query, grid);
                let (low, high) = self.range(query, grid, reach);
                for x in low[0]..=high[0] {
                    for y in low[1]..=high[1] {
                        for z in low[2]..=high[2] {
                            let others = cells.get(&(grid, [x, y, z]));
                            pairs.extend(
                                others.into_iter().flatten().filter_map(|other| self.pair(query, other, reach)),
                            );
                        }
                    }
                }
            }
        }
        let lost = pairs.len().saturating_sub(params.pair_capacity as usize);
        pairs.truncate(params.pair_capacity as usize);
        self.contacts.lost += lost as u32;
        self.contacts.overfull = lost > 0;
        self.contacts.pairs = pairs;
    }

    /// The elements of surfaces and the isolated particles; every search covers all of them.
    fn all_elements(&mut self) -> Vec<Element> {
        let now = self.contacts.now;
        for i in 0..self.positions.len() {
            let displacement = self.displacements[i];
            let place = self.positions[i] + displacement;
            let before = self.contacts.watched[i];
            // The pull of constraints on a particle held by contacts does not move it: predict from the average
            // velocity.
            let pace = if self.contacts.stale == Staleness::All {
                displacement
            } else {
                (place - before.place) / now.wrapping_sub(before.searched) as f32
            };
            let pace = self.contact_params.kept_pace(pace);
            self.contacts.watched[i] = TrackedParticle { place, displacement, searched: now, horizon: 0, pace };
        }
        self.contacts.radii = self.radii();
        self.contacts.sizes = self.sizes();
        self.contacts.wide_excess = self.wide_excess();
        let mut counts = [0; PACES as usize];
        self.contacts.fastest = 0.0;
        for i in self.particles().collect::<Vec<_>>() {
            let speed = self.speed([i as u32; 3]);
            self.contacts.fastest = self.contacts.fastest.max(speed);
            counts[self.contact_params.pace_class(speed) as usize] += 1;
        }
        self.contacts.slow = self.contact_params.slow(counts);
        let (slow, fastest) = (self.contacts.slow, self.contacts.fastest);
        // A third of the horizon that the coarse grid allows, to limit the reach of fast elements.
        self.contacts.horizon =
            self.contact_params.horizon(self.contact_params.margin, 2.0 * slow, 6.0 * fastest, self.coarse_scale());
        self.contacts.speeds = self.speeds();
        self.contacts.pairs.clear();
        (0..self.contact_params.insert_end).map(|index| self.element(index)).collect()
    }

    /// Largest predicted displacement per substep of the particles of an element, relative to the drift \[m\].
    fn speed(&self, particles: [u32; 3]) -> f32 {
        let speed = |i: u32| length(self.contacts.watched[i as usize].pace - self.contacts.drift);
        particles.into_iter().map(speed).fold(0.0, f32::max)
    }

    /// Largest excess of the particles of an element over half the margin in this substep, relative to the drift \[m\].
    fn excess(&self, particles: [u32; 3]) -> f32 {
        let travel = |i: u32| length(self.contacts.watched[i as usize].displacement - self.contacts.drift);
        (particles.into_iter().map(travel).fold(0.0, f32::max) - 0.5 * self.contact_params.margin).max(0.0)
    }

    /// Largest excess of elements of levels above 0 in this substep \[m\].
    fn wide_excess(&self) -> f32 {
        let wide = self.sized().filter(|&(_, of, _, square)| self.contact_params.size_level(square, of) > 0);
        wide.map(|(particles, ..)| self.excess(particles)).fold(0.0, f32::max)
    }

    /// The particles that search anew and those near them. Removes the pairs of the former from the list.
    fn gather_worn(&mut self) -> Vec<Element> {
        let (params, now) = (self.contact_params, self.contacts.now);
        let scale = self.coarse_scale();
        let all = self.searches_all();
        let particles: Vec<usize> = self.particles().collect();
        for &i in &particles {
            let displacement = self.displacements[i];
            let place = self.positions[i] + displacement;
            if all || self.is_expired(i) {
                let pace = displacement;
                self.contacts.watched[i] = TrackedParticle { place, displacement, searched: now, horizon: 0, pace };
            }
        }
        let looks = |contacts: &Contacts, i: u32| contacts.watched[i as usize].searched == now;
        let mut pairs = std::mem::take(&mut self.contacts.pairs);
        pairs.retain(|&[a, b, ..]| !all && !looks(&self.contacts, a) && !looks(&self.contacts, b));
        self.contacts.pairs = pairs;
        let moving: Vec<_> = particles
            .iter()
            .map(|&i| (self.contacts.watched[i].here(now), self.contacts.watched[i].displacement))
            .collect();
        let spread = self.spread(1.0, moving.iter().copied());
        let fastest = moving.iter().map(|&(_, d)| length(d - self.contacts.drift)).fold(0.0, f32::max);
        let far = moving.iter().filter(|&&(_, d)| all && self.is_fast(d));
        let through = self.spread(COARSER, far.flat_map(|&(end, d)| self.steps(end, d).map(move |place| (place, d))));
        let differs = |cell: &[i32; 3]| self.extent(&through, *cell) > params.margin;
        let crossed: BTreeSet<[i32; 3]> = through.cells.keys().copied().filter(differs).collect();
        // Particles outside of the 2×2×2 cells at the nearest corner are 1.5 reaches away, except for rounding to
        // cells.
        let gap = 0.99 * (0.5 * params.reach + params.gap);
        let (mut further, mut about) = (HashMap::new(), HashMap::new());
        let mut elements = Vec::new();
        for ((index, &i), &(center, d)) in (0..).zip(&particles).zip(&moving) {
            let cell = coarse_at(center, scale, params.coarse);
            let looks = looks(&self.contacts, i as u32);
            if !looks && !around(cell, params.coarse).any(|cell| self.contacts.worn.contains(&cell)) {
                continue;
            }
            let further =
                *further.entry(cell).or_insert_with(|| params.horizon(gap, self.extent(&spread, cell), 0.0, scale));
            // Half the edge of a cell.
            let corner = coarse_at(center + 1.5 * params.reach, scale, params.coarse);
            let about = *about.entry(corner).or_insert_with(|| spread.about(corner, params.coarse));
            let extent = spread.extent_against(about, d - self.contacts.drift);
            let speed = length(d - self.contacts.drift);
            let horizon = params.horizon(params.gap, extent, speed + fastest, scale).min(further);
            if looks {
                self.contacts.watched[i].horizon = horizon;
            }
            let is_fast = all && horizon == 0 && self.is_fast(d);
            let segment = if is_fast { [center, center - (d - self.contacts.drift)] } else { [center; 2] };
            let (center, way_level) = if is_fast
                && self.steps(center, d).any(|place| crossed.contains(&coarse_at(place, scale, params.coarse)))
            {
                self.middle_of_way(center, d)
            } else {
                (center, 0)
            };
            let particles = [i as u32; 3];
            // A partial search extends the reach instead of the swept path.
            let reach = if horizon == 0 && !all { 2.0 * params.reach } else { params.reach_within(horizon, extent) };
            elements.push(Element {
                index,
                particles,
                of: 0,
                center,
                half: Vec3::ZERO,
                segment,
                is_fast,
                looks,
                horizon,
                level: 0,
                way_level,
                reach,
                wide_reach: reach,
                way_half: 0.0,
            });
        }
        elements
    }

    fn searches_all(&self) -> bool {
        self.contacts.stale == Staleness::All || self.contacts.hurried || self.contacts.overfull
    }

    /// The particles that can have contacts, in the order of their elements.
    fn particles(&self) -> impl Iterator<Item = usize> {
        let elements = &self.controls.compiled.contact_elements.elements[..self.contact_params.alone_end as usize];
        elements.iter().map(|element| element[0] as usize)
    }

    /// By type, maximum distance of the center of an element from its particles.
    fn radii(&self) -> [f32; 3] {
        let mut radii = [0f32; 3];
        for (_, of, _, square) in self.sized() {
            radii[of as usize] = radii[of as usize].max(square.sqrt());
        }
        radii
    }

    /// Particles, types, centers and squared sizes of the elements in the grid.
    fn sized(&self) -> impl Iterator<Item = ([u32; 3], u32, Vec3, f32)> {
        (self.contact_params.insert_first..self.contact_params.insert_end).map(|index| {
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
    fn middle_of_way(&self, end: Vec3, displacement: Vec3) -> (Vec3, u32) {
        let half = (displacement - self.contacts.drift) * 0.5;
        (end - half, self.contact_params.way_level(dot(half, half)))
    }

    fn element(&self, index: u32) -> Element {
        let contacts = &self.contacts;
        let [a, b, c, of] = self.controls.compiled.contact_elements.elements[index as usize];
        let particles = [a, b, c];
        let there = particles.map(|i| contacts.watched[i as usize].place);
        let d = particles.map(|i| contacts.watched[i as usize].displacement);
        let moved = center(d, of);
        let (center, speed) = (center(there, of), self.speed(particles));
        let goes_far = d.into_iter().any(|d| self.is_fast(d));
        let is_fast = goes_far || speed > contacts.slow;
        // Relative to the others, which moved with the drift.
        let start = center - (moved - contacts.drift);
        let segment = if is_fast { [center, start] } else { [there[0], there[1]] };
        let [fast_near, excess_near] = self.speed_near(center);
        let others = match (is_fast, of) {
            (true, _) => contacts.fastest,
            // Triangles do not query: a particle must find them at any speed.
            (false, 0) => fast_near.max(contacts.slow),
            (false, _) => contacts.slow,
        };
        // A fast edge may turn while its center moves: extend the reach by the change of its half vector, and by the
        // half length.
        let is_way = is_fast && of == 1;
        let turn = if is_way { 0.5 * length(d[1] - d[0]) } else { 0.0 };
        let half = there[1] - center;
        let way_half = if is_way { length(half) } else { 0.0 };
        let level = self.contact_params.size_level(square_size(there, center), of);
        // Particles near triangles and fast elements also cover contacts that stop short of the predicted position.
        let excess = match (is_fast, of) {
            (true, _) if level > 0 => contacts.wide_excess,
            (true, _) => excess_near.max(self.speed_near(start)[1]),
            (false, 0) => excess_near,
            (false, _) => 0.0,
        };
        let horizon = contacts.horizon;
        // 0 · ∞ would be NaN.
        let way = |nearer: f32| if horizon == 0 { 0.0 } else { horizon as f32 * nearer };
        let reach = (self.contact_params.reach + way(speed + others)) + (turn + excess);
        // Elements of further levels may have any speed.
        let far = self.contact_params.reach + way(speed + contacts.fastest);
        let wide_reach = far + (turn + contacts.wide_excess);
        let looks = true;
        let (center, way_level) = if of == 0 && goes_far { self.middle_of_way(center, d[0]) } else { (center, 0) };
        Element {
            index,
            particles,
            of,
            center,
            half,
            segment,
            is_fast,
            looks,
            horizon,
            level,
            way_level,
            reach,
            wide_reach,
            way_half,
        }
    }

    /// The element types that an element queries.
    fn partners(&self, index: u32, of: u32) -> [Option<u32>; 2] {
        let params = &self.contact_params;
        match (params.level, of) {
            (2, 1) => [Some(1), None],
            (2, _) => [Some(2), (index >= params.alone_first).then_some(0)],
            _ => [Some(0), None],
        }
    }

    fn cell(&self, center: Vec3, grid: Grid) -> [i32; 3] {
        cell_at(center, self.contact_params.inverse_cells[grid.level as usize][grid.of as usize])
    }

    /// Search distance from the segment of an element to the centers of others.
    fn reach(&self, query: &Element, grid: Grid) -> f32 {
        let radius = if grid.of == 0 {
            self.contact_params.way_radius(grid.level)
        } else if grid.level == 0 && !query.is_fast {
            self.radius_near(query.center, grid.of)
        } else {
            self.contact_params.radius_in_level(grid.level, grid.of, self.contacts.radii[grid.of as usize])
        };
        (query.gap(grid) + radius) + query.way_half
    }

    /// The range of cells that an element queries.
    fn range(&mut self, query: &Element, grid: Grid, reach: f32) -> ([i32; 3], [i32; 3]) {
        let [a, b] = query.segment;
        let reach = 1.001 * reach;
        let (low, mut high) = (self.cell(a.min(b) - reach, grid), self.cell(a.max(b) + reach, grid));
        // Elements of the same grid with a larger z find this one themselves.
        let own = query.grid(query.of);
        if own == grid && !query.is_fast && (own.of > 0 || self.contact_params.level != 1 || self.searches_all()) {
            high[2] = self.cell(query.center, grid)[2];
        }
        let sizes: [f32; 3] = std::array::from_fn(|k| high[k].wrapping_sub(low[k]) as u32 as f32 + 1.0);
        if sizes[0] * sizes[1] * sizes[2] <= MOST_CELLS {
            return (low, high);
        }
        self.contacts.lost += 1;
        let here = self.cell(a, grid);
        (here.map(|k| k - 1), here.map(|k| k + 1))
    }

    /// The pair of two elements, if they may come into contact before the next search.
    fn pair(&self, query: &Element, other: &Element, near: f32) -> Option<[u32; 4]> {
        let (params, contact_elements) = (&self.contact_params, &self.controls.compiled.contact_elements);
        let [start, end] = query.segment;
        let apart = from_segment(query.segment, other.center);
        if dot(apart, apart) >= near * near {
            return None;
        }
        if query.of == 1 && !query.is_fast {
            let [middle, along] = [other.center - start, end - start];
            let p = [Vec3::ZERO, along, middle - other.half, middle + other.half];
            if closest(PairKind::Edges, p).distance >= query.gap(other.grid(1)) {
                return None;
            }
        }
        if query.grid(query.of) == other.grid(other.of) {
            // List each pair once. In different grids only one element queries the other. In the same grid the only one
            // that queries, or the fast one, lists the pair, else the one with the larger z.
            let higher = (other.center.z, query.particles) < (query.center.z, other.particles);
            let found = if query.is_fast == other.is_fast { higher } else { query.is_fast };
            if other.looks && !found {
                return None;
            }
        }
        let [a, b, _] = query.particles;
        let [c, d, e] = other.particles;
        let (kind, particles) = match (query.of, other.of) {
            (0, 0) => (PairKind::Particles, [a, c, c, c]),
            (0, _) => (PairKind::VertexTriangle, [a, c, d, e]),
            _ => (PairKind::Edges, [a, b, c, d]),
        };
        let shared = match kind {
            PairKind::Particles => false,
            PairKind::VertexTriangle | PairKind::Crossing => a == c || a == d || a == e,
            PairKind::Edges => a == c || a == d || b == c || b == d,
        };
        let (left, right) = (contact_elements.material(a), contact_elements.material(particles[2]));
        if shared || !params.touch(left, right) {
            return None;
        }
        let thickness = params.radius(left) + params.radius(right);
        let reach = thickness + params.margin;
        if contact_elements.body(a) == contact_elements.body(particles[2]) {
            let rest = particles.map(|i| contact_elements.rest(i) - contact_elements.rest(a));
            let least = if kind == PairKind::Particles { 1.5 * thickness } else { thickness };
            if closest(kind, rest).distance < least {
                return None;
            }
        }
        let apart = |of: &dyn Fn(&TrackedParticle) -> Vec3| {
            let all = particles.map(|i| of(&self.contacts.watched[i as usize]));
            all.map(|one| one - all[0])
        };
        // Extrapolate from each particle's last search.
        let now = self.contacts.now;
        let p = apart(&|watched| watched.here(now));
        let d = apart(&|watched| watched.displacement);
        let horizon = query.horizon as f32;
        if params.level == 1 {
            // Relative motion is a straight line from the start of the substep on. (At the surface level, truncation
            // may bend it.)
            let nearest = from_segment([p[1] + d[1] * horizon, p[1] - d[1]], Vec3::ZERO);
            return (length(nearest) < reach).then(|| pack(kind, particles));
        }
        let way = approach(kind, d) + horizon * approach(kind, apart(&|watched| watched.pace));
        if closest(kind, p).distance >= reach + way {
            return None;
        }
        Some(pack(kind, particles))
    }
}

/// Squared maximum distance of the particles of an element from its center.
fn square_size(x: [Vec3; 3], center: Vec3) -> f32 {
    x.into_iter().map(|x| dot(x - center, x - center)).fold(0.0, f32::max)
}

/// The grid cell of a point.
pub(super) fn cell_at(place: Vec3, inverse_cell: f32) -> [i32; 3] {
    (place * inverse_cell).to_array().map(|component| component.floor().clamp(-1e9, 1e9) as i32)
}

#[cfg(test)]
mod tests;
