//! Pair list of self-collision: the passes that validate it and that search for pairs.
//!
//! - The *drift* is the mean displacement of sampled particles; all motion is measured relative to it.
//! - The *predicted path* of a particle continues its mean motion since the last search. The pair list is valid as long
//!   as each particle stays within half the margin of its path.
//! - The *horizon* is the number of substeps for which a search is valid, if particles stay on their paths.
//! - A list is *incomplete* if a search has lost a pair, or a substep a contact. Surfaces then use no list: all
//!   particles stand still, and the next substep searches again. With growing lists only searches lose pairs.
//! - The *reach* is the search distance: thickness, margin, and the possible approach within the horizon.
//! - The *excess* of an element is its displacement beyond half the margin. An element with an excess, or one faster
//!   than most, is *fast*: the search uses its *swept path* in this substep.
//! - A *level* contains elements of similar size, or particles with swept paths of similar length. Each level has its
//!   own grid.
//! - The *coarse grid* stores the largest speeds and sizes nearby, to find the reach of each element.

mod coarse;
mod elements;
mod pairs;

pub(super) use self::elements::cell_at;
use self::elements::{Element, Grid};
use super::Reference;
use crate::geometry::vector::dot;
use crate::schedule::contacts::UNTOUCHABLE;
use crate::sim::contact_params::{SPEED_CLASSES, WAS_CUT};
use glam::Vec3;
use std::collections::{BTreeSet, HashMap};

/// State of the pair list: valid, expired, never searched since positions were reset, or incomplete.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Staleness {
    #[default]
    Holds,
    Expired,
    Reset,
    Incomplete,
}

/// State of a particle at the last search: position and displacement at the end of that substep, and the displacement
/// per substep that is predicted for the following substeps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrackedParticle {
    pub place: Vec3,
    pub displacement: Vec3,
    pub predicted: Vec3,
}

impl TrackedParticle {
    /// Squared distance of x + d from the predicted path, `since` substeps after the search.
    fn deviation(&self, x: Vec3, d: Vec3, since: u32) -> f32 {
        let moved = ((x - self.place) + d) - self.predicted * since as f32;
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

/// Maximum number of particles that are sampled for the drift.
const SAMPLES: usize = 64;
/// Maximum number of cells that a query visits.
const MOST_CELLS: f32 = 4096.0;

/// The sorted elements by grid and cell.
type Cells = HashMap<(Grid, [i32; 3]), Vec<Element>>;

impl Reference {
    pub(super) fn validate_pairs(&mut self, i: usize) {
        let count = &mut self.contacts.counts[i];
        *count = if *count < 0 { WAS_CUT } else { 0 };
        if self.contacts.stale == Staleness::Incomplete && self.contact_params.level == 2 {
            self.limit_displacement(i);
        }
        if self.controls.compiled.contact_elements.material(i as u32) == UNTOUCHABLE {
            return;
        }
        let (x, d) = (self.positions[i], self.displacements[i]);
        let contacts = &mut self.contacts;
        let own = &contacts.tracked[i];
        let since = contacts.since_search();
        let half = 0.5 * self.contact_params.margin;
        let end = own.deviation(x, d, since);
        // Contacts may have moved the particle at the end of the last substep.
        let start = own.deviation(x, own.displacement, since);
        // True for NaN, too.
        let is_expired = end.is_nan() || end > half * half || start > half * half || since > contacts.horizon;
        if is_expired && contacts.stale == Staleness::Holds {
            contacts.stale = Staleness::Expired;
        }
    }

    /// Limits a displacement to half the margin. Without paths of many cells the next search succeeds, so that bodies
    /// that are pulled violently do not stand still for ever.
    fn limit_displacement(&mut self, i: usize) {
        let (d, half) = (self.displacements[i], 0.5 * self.contact_params.margin);
        let square = dot(d, d);
        if square.is_nan() || square > half * half {
            let share = half / square.sqrt();
            self.displacements[i] = if share > 0.0 { d * share } else { Vec3::ZERO };
            self.contacts.truncated = self.contacts.truncated.wrapping_add(1);
        }
    }

    pub(super) fn search(&mut self) {
        if self.contacts.stale == Staleness::Holds {
            return;
        }
        if self.contacts.stale == Staleness::Incomplete {
            self.contacts.stale = Staleness::Expired;
        }
        self.contacts.searches += 1;
        self.track();
        self.measure_motion();
        let elements: Vec<Element> = (0..self.contact_params.insert_end).map(|index| self.element(index)).collect();
        let (cells, grids) = self.sorted(&elements);
        let mut pairs = std::mem::take(&mut self.contacts.pairs);
        pairs.clear();
        for query in &elements[..self.contact_params.query_end as usize] {
            let partners = self.partners(query.index, query.of);
            let is_partner = |grid: &&Grid| partners.contains(&Some(grid.of)) && query.searches(**grid);
            for &grid in grids.iter().filter(is_partner) {
                let reach = self.reach(query, grid);
                let (low, high) = self.range(query, grid, reach);
                for x in low[0]..=high[0] {
                    for y in low[1]..=high[1] {
                        for z in low[2]..=high[2] {
                            let others = cells.get(&(grid, [x, y, z])).into_iter().flatten();
                            pairs.extend(others.filter_map(|other| self.pair(query, other, reach)));
                        }
                    }
                }
            }
        }
        self.contacts.most_pairs = self.contacts.most_pairs.max(pairs.len() as u32);
        let capacity = self.capacity(self.controls.capacities.pairs);
        self.contacts.lose(pairs.len().saturating_sub(capacity));
        pairs.truncate(capacity);
        if self.contacts.stale == Staleness::Incomplete && self.contact_params.level == 2 {
            pairs.clear();
        }
        self.contacts.pairs = pairs;
    }

    /// The greatest length of a list of this capacity: none if it grows.
    pub(super) fn capacity(&self, capacity: u32) -> usize {
        if self.controls.capacities.is_fixed { capacity as usize } else { usize::MAX }
    }

    /// Writes the drift and the tracked particles.
    fn track(&mut self) {
        // Neither followers nor particles in reserve.
        let particles = &self.controls.compiled.contact_elements.elements[..self.contact_params.particle_end as usize];
        let samples = particles.len().min(SAMPLES);
        let stride = particles.len() / samples.max(1);
        // Non-finite displacements are excluded; `velocity` quarantines the particle.
        let sampled = (0..samples).map(|k| self.displacements[particles[k * stride][0] as usize]);
        let finite = sampled.filter(|d| d.is_finite());
        let sum = finite.fold(Vec3::ZERO, |sum, d| sum + d);
        let contacts = &mut self.contacts;
        contacts.drift = if self.contact_params.anchored == 1 { Vec3::ZERO } else { sum / samples.max(1) as f32 };
        let since = contacts.since_search() as f32;
        for (i, tracked) in contacts.tracked.iter_mut().enumerate() {
            let displacement = self.displacements[i];
            let place = self.positions[i] + displacement;
            // Contacts stop most of the motion of a substep, so the mean motion is the better prediction.
            let is_reset = contacts.stale == Staleness::Reset;
            let predicted = if is_reset { displacement } else { (place - tracked.place) / since };
            let predicted = self.contact_params.rounded_prediction(predicted);
            *tracked = TrackedParticle { place, displacement, predicted };
        }
        contacts.searched = contacts.now;
    }

    /// Writes the sizes and speeds of the elements, and the horizon.
    fn measure_motion(&mut self) {
        self.contacts.radii = self.radii();
        self.contacts.sizes = self.sizes();
        self.contacts.wide_excess = self.wide_excess();
        let mut counts = [0; SPEED_CLASSES as usize];
        let mut fastest = 0f32;
        for element in &self.controls.compiled.contact_elements.elements[..self.contact_params.particle_end as usize] {
            let speed = self.speed([element[0]; 3]);
            fastest = fastest.max(speed);
            counts[self.contact_params.speed_class(speed) as usize] += 1;
        }
        let slow = self.contact_params.slow(counts);
        self.contacts.horizon = self.contact_params.horizon(slow, fastest, self.coarse_scale());
        (self.contacts.slow, self.contacts.fastest) = (slow, fastest);
        self.contacts.speeds = self.speeds();
    }

    /// The elements by grid and cell, and the grids in use. The grids of level 0 are always in use.
    fn sorted(&self, elements: &[Element]) -> (Cells, BTreeSet<Grid>) {
        let mut cells = Cells::new();
        let mut grids: BTreeSet<Grid> = (0..3).map(|of| Grid { of, level: 0 }).collect();
        for element in &elements[self.contact_params.sphere_first as usize..] {
            let grid = element.grid(element.of);
            grids.insert(grid);
            cells.entry((grid, self.cell(element.center, grid))).or_default().push(*element);
        }
        (cells, grids)
    }
}

#[cfg(test)]
mod tests;
