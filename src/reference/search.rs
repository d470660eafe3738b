//! Pair list of self-collision: the passes that validate it and that search for pairs.
//!
//! - The *drift* is the mean displacement of sampled particles; all motion is measured relative to it.
//! - The *predicted path* of a particle continues its mean motion since the last search. The pair list is valid as long
//!   as each particle stays within half the margin of its path.
//! - The *horizon* is the number of substeps for which a search is valid, if particles stay on their paths.
//! - A list is *incomplete* if a search has lost a pair, or a substep a contact. Surfaces then use no list: all
//!   particles stand still, and the next substep searches again. With growing lists none is lost.

mod pairs;

use super::Reference;
use crate::geometry::vector::{dot, length};
use crate::schedule::contacts::UNTOUCHABLE;
use crate::sim::contact_params::{MOST_SUBSTEPS, MOST_TRAVEL, WAS_CUT};
use glam::Vec3;

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

    /// Limits a displacement to half the margin, so that the next search finds fewer pairs: bodies that are pulled violently
    /// do not stand still for ever.
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
        self.begin_search();
        let mut pairs = std::mem::take(&mut self.contacts.pairs);
        pairs.clear();
        self.list_pairs(&mut pairs);
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

    /// Writes the drift, the horizon and the tracked particles.
    fn begin_search(&mut self) {
        // Neither followers nor particles in reserve.
        let particles = &self.controls.compiled.contact_elements.elements[..self.contact_params.particle_end as usize];
        let samples = particles.len().min(SAMPLES);
        let stride = particles.len() / samples.max(1);
        // Non-finite displacements are excluded; `velocity` quarantines the particle.
        let sampled = (0..samples).map(|k| self.displacements[particles[k * stride][0] as usize]);
        let finite = sampled.filter(|d| d.is_finite());
        let sum = finite.fold(Vec3::ZERO, |sum, d| sum + d);
        let anchored = self.contact_params.anchored == 1;
        let drift = if anchored { Vec3::ZERO } else { sum / samples.max(1) as f32 };
        let contacts = &mut self.contacts;
        let is_reset = contacts.stale == Staleness::Reset;
        let since = if is_reset { 0 } else { contacts.since_search() };
        // The horizon adapts to the motion: particles that are faster than predicted end the list.
        let valid = since.min(MOST_SUBSTEPS);
        contacts.horizon = (valid + valid / 2 + 1).min(MOST_SUBSTEPS);
        let fastest = MOST_TRAVEL * self.contact_params.margin / contacts.horizon as f32;
        for (i, tracked) in contacts.tracked.iter_mut().enumerate() {
            let displacement = self.displacements[i];
            let place = self.positions[i] + displacement;
            // Contacts stop most of the motion of a substep, so the mean motion is the better prediction.
            let predicted = if is_reset { displacement } else { (place - tracked.place) / since as f32 };
            let predicted = limited(predicted, contacts.drift, fastest);
            *tracked =
                TrackedParticle { place, displacement, predicted: self.contact_params.rounded_prediction(predicted) };
        }
        contacts.searches += 1;
        contacts.last_drift = std::mem::replace(&mut contacts.drift, drift);
    }
}

/// A predicted displacement that is at most `fastest` relative to the drift of the last search, so that a search does not
/// reach far. A particle that is faster ends the list earlier.
fn limited(predicted: Vec3, drift: Vec3, fastest: f32) -> Vec3 {
    let own = predicted - drift;
    drift + own * (fastest / length(own).max(1e-30)).min(1.0)
}

#[cfg(test)]
mod tests;
