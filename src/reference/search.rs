//! Pair list of self-collision: the passes that validate it and that search for pairs.
//!
//! - The *drift* is the mean displacement of sampled particles; all motion is measured relative to it.
//! - The *predicted path* of a particle continues its mean motion since the last search. The pair list is valid as long
//!   as each particle stays within half the margin of its path.
//! - The *horizon* is the number of substeps after that of the search for which its list is valid, if particles stay on
//!   their paths.
//! - A list is *incomplete* if a search has lost a pair, or a substep a contact. Surfaces then use no list: all
//!   particles stand still, and the next substep searches again. With growing lists none is lost.

mod pairs;

use super::Reference;
use crate::geometry::vector::{dot, length};
use crate::sim::contact_params::{
    FAST, LEAST_DRIFT, MOST_MASS, MOST_SUBSTEPS, MOST_TRAVEL, MOST_TRAVEL_IF_FAST, OUTLIER, WAS_CUT,
};
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

/// State of a particle at the last search: position and displacement at the end of that substep. `predicted` is the
/// displacement per substep in the following substeps, relative to the drift.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrackedParticle {
    pub place: Vec3,
    pub displacement: Vec3,
    pub predicted: Vec3,
}

impl TrackedParticle {
    /// Squared distance of x + d from the predicted path, `since` substeps after the search.
    fn deviation(&self, x: Vec3, d: Vec3, drift: Vec3, since: u32) -> f32 {
        let moved = ((x - self.place) + d) - (self.predicted + drift) * since as f32;
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
        if !self.contact_params.collides(self.controls.compiled.contact_elements.material(i as u32)) {
            return;
        }
        let (x, d) = (self.positions[i], self.displacements[i]);
        let contacts = &mut self.contacts;
        let own = &contacts.tracked[i];
        let since = contacts.since_search();
        let half = 0.5 * self.contact_params.margin;
        let end = own.deviation(x, d, contacts.drift, since);
        // Contacts may have moved the particle at the end of the last substep.
        let start = own.deviation(x, own.displacement, contacts.drift, since);
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
        let motion = self.mean_motion();
        let held = self.contact_params.holds_particles == 1;
        let truncation_frame = if held { Vec3::ZERO } else { self.motion_of_center() };
        let contacts = &mut self.contacts;
        let is_reset = contacts.stale == Staleness::Reset;
        let since = if is_reset { 0 } else { contacts.since_search() };
        // The horizon adapts to the motion: particles that leave their predicted paths end the list.
        let valid = since.min(MOST_SUBSTEPS);
        contacts.horizon = (valid + valid / 2 + 1).min(MOST_SUBSTEPS);
        let margin_per_substep = self.contact_params.margin / contacts.horizon as f32;
        for (i, tracked) in contacts.tracked.iter_mut().enumerate() {
            let displacement = self.displacements[i];
            let place = self.positions[i] + displacement;
            // Contacts stop most of the motion of a substep, so the mean motion is the better prediction.
            let predicted = if is_reset { displacement } else { (place - tracked.place) / since as f32 };
            let predicted = self.contact_params.rounded_prediction(motion.limited(predicted, margin_per_substep));
            *tracked = TrackedParticle { place, displacement, predicted };
        }
        contacts.searches += 1;
        contacts.drift = motion.drift;
        contacts.truncation_frame = truncation_frame;
    }

    /// The motion of a sample of particles, without followers and particles in reserve. A single sample that differs by more than
    /// `OUTLIER` times the spread is left out: it may be a fast particle. With pins or colliders a slow drift counts as 0,
    /// because the particles that they hold do not move with it.
    fn mean_motion(&self) -> Motion {
        let samples = self.samples().map(|(displacement, _)| displacement);
        let (mut limit, mut drift, mut mean_square) = (3e38, Vec3::ZERO, 0.0);
        for _ in 0..2 {
            let used = samples.clone().filter(|&own| dot(own - drift, own - drift) <= limit);
            let share = used.clone().count().max(1) as f32;
            let mean = used.clone().fold(Vec3::ZERO, |sum, own| sum + own) / share;
            mean_square = used.fold(0.0, |sum, own| sum + dot(own - mean, own - mean)) / share;
            (limit, drift) = (OUTLIER * OUTLIER * mean_square, mean);
        }
        let slow = LEAST_DRIFT * self.contact_params.margin;
        if self.contact_params.holds_particles == 1 && dot(drift, drift) < slow * slow {
            drift = Vec3::ZERO;
        }
        Motion { drift, spread: mean_square.sqrt() }
    }

    /// The displacement of the center of mass of the sample.
    fn motion_of_center(&self) -> Vec3 {
        let add = |(sum, mass), (displacement, own): (Vec3, f32)| (sum + displacement * own, mass + own);
        let (sum, mass) = self.samples().fold((Vec3::ZERO, 0.0), add);
        sum / f32::max(mass, 1e-30)
    }

    /// Displacement and mass of a sample of particles.
    fn samples(&self) -> impl Iterator<Item = (Vec3, f32)> + Clone {
        let particles = &self.controls.compiled.contact_elements.elements[..self.contact_params.particle_end as usize];
        let count = particles.len().min(SAMPLES);
        let stride = particles.len() / count.max(1);
        (0..count).map(move |k| {
            let particle = particles[k * stride][0] as usize;
            let (d, w) = (self.displacements[particle], self.controls.inverse_masses[particle]);
            // Non-finite displacements are excluded; `velocity` quarantines the particle.
            (if d.is_finite() { d } else { Vec3::ZERO }, if w > 0.0 { (1.0 / w).min(MOST_MASS) } else { 0.0 })
        })
    }
}

/// The mean displacement of a sample of particles, and the root of the mean square of the differences from it.
#[derive(Debug, Clone, Copy)]
struct Motion {
    drift: Vec3,
    spread: f32,
}

impl Motion {
    /// A predicted displacement relative to the drift, limited so that a search does not reach far: see
    /// [`MOST_TRAVEL`].
    fn limited(self, predicted: Vec3, margin_per_substep: f32) -> Vec3 {
        let own = predicted - self.drift;
        let speed = length(own).max(1e-30);
        let travel = if speed > FAST * self.spread { MOST_TRAVEL_IF_FAST } else { MOST_TRAVEL };
        own * (travel * margin_per_substep / speed).min(1.0)
    }
}

#[cfg(test)]
mod tests;
