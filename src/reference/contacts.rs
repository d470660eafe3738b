//! Contacts of self-collision: finding and solving contacts, division planes and truncation; state between the passes.

use super::Reference;
use super::search::{Staleness, TrackedParticle, from_segment};
use crate::collision::ContactReport;
use crate::collision::pair::{Contact, NEAREST, PairKind, SEPARATION, closest, cuts, meet, unpack, weighted};
use crate::collision::self_collision::{CORRECTION, HEAVY_BALL};
use crate::geometry::vector::{dot, length};
use crate::schedule::plan::DIVISION_ROUNDS;
use crate::sim::capacities::Capacities;
use crate::sim::contact_params::WAS_CUT;
use glam::{IVec3, Vec3};
use std::collections::HashMap;

/// State that the passes of contacts share.
#[derive(Debug, Clone, Default)]
pub(super) struct Contacts {
    pub tracked: Vec<TrackedParticle>,
    /// Number of substeps since the start.
    pub now: u32,
    /// The drift of the last search.
    pub drift: Vec3,
    /// Truncation shortens displacements relative to this: the displacement of the center of mass of the sample, or 0 if
    /// `ContactParams::holds_particles` is 1.
    pub truncation_frame: Vec3,
    pub stale: Staleness,
    /// The substep of the last search, and the number of substeps for which its list is valid, if no particle is
    /// deflected.
    pub searched: u32,
    pub horizon: u32,
    pub pairs: Vec<[u32; 4]>,
    /// The contacts of this substep, in the order of the pair list.
    pub active: Vec<ActiveContact>,
    /// Number of contacts found in this substep, beyond the capacity too.
    pub found_contacts: u32,
    /// The contacts of the previous substep, by pair.
    pub previous: HashMap<[u32; 4], ActiveContact>,
    /// By particle: two sums of its corrections \[quanta\]. The iterations complete them in turn: see
    /// `shaders/collision/solve_contacts.wgsl`.
    pub corrections: Vec<[IVec3; 2]>,
    /// By particle: its number of contacts; see [`WAS_CUT`].
    pub counts: Vec<i32>,
    /// By particle: the shares by which the rounds of division planes truncate its displacement.
    pub cuts: Vec<[f32; DIVISION_ROUNDS as usize]>,
    pub searches: u32,
    pub most_pairs: u32,
    pub most_contacts: u32,
    pub lost: u32,
    pub deepest: f32,
    /// Contacts deeper than half their thickness.
    pub deep_contacts: u32,
    pub truncated: u32,
    /// Number of substeps in which all particles stood still.
    pub halted: u32,
    /// True if the last round of division planes has truncated a displacement.
    pub has_cut: bool,
    /// Intersections at the end of the last step: edge, triangle, and the wings of the edge.
    pub crossings: Vec<[u32; 7]>,
    /// By particle: bit mask of the bodies that it intersects.
    pub tangled: Vec<u32>,
}

/// A contact in a substep. Counterpart: `ActiveContact` in `shaders/common/pair.wgsl`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ActiveContact {
    pub pair: [u32; 4],
    pub contact: Contact,
    /// Tangential offset of the contact points since they began to stick \[m\]. The last iteration replaces it by the
    /// friction anchor: the offset in the next substep is `offset` if the contact slides, else `offset` + Σ b x.
    pub offset: Vec3,
    pub slides: bool,
    /// Multipliers of the normal constraint and of friction \[kg m\].
    pub normal_lambda: f32,
    pub friction_lambda: Vec3,
    /// Change of the multipliers in the iteration before, a displacement times mass \[kg m\].
    pub change: Vec3,
    /// Distance that the contact keeps: the thickness, or less if the elements were nearer when they met \[m\].
    pub distance: f32,
}

impl ActiveContact {
    /// The tangential offset of the contact points since they began to stick, a substep later.
    fn anchored_offset(&self, p: [Vec3; 4], normal: Vec3) -> Vec3 {
        let moved = if self.slides { Vec3::ZERO } else { weighted(self.contact.weights, p) };
        let offset = self.offset + moved;
        offset - normal * dot(normal, offset)
    }
}

impl Contacts {
    pub fn new(particle_count: usize) -> Self {
        let corrections = vec![[IVec3::ZERO; 2]; particle_count];
        let cuts = vec![Default::default(); particle_count];
        let tracked = vec![TrackedParticle::default(); particle_count];
        Self {
            tracked,
            corrections,
            counts: vec![0; particle_count],
            cuts,
            stale: Staleness::Reset,
            tangled: vec![0; particle_count],
            ..Self::default()
        }
    }

    /// Counts lost pairs or contacts, and marks the list as incomplete.
    pub fn lose(&mut self, count: usize) {
        if count > 0 {
            self.lost = self.lost.wrapping_add(count as u32);
            self.stale = Staleness::Incomplete;
        }
    }

    /// Number of substeps since the last search.
    pub fn since_search(&self) -> u32 {
        self.now.wrapping_sub(self.searched)
    }
}

impl Reference {
    /// The counters of self-collision.
    pub(super) fn contact_report(&self) -> ContactReport {
        let Contacts { searches, most_pairs, most_contacts, lost, deepest, deep_contacts, truncated, halted, .. } =
            self.contacts;
        let counts_crossings = self.controls.settings.keeps_surfaces_apart();
        let Capacities { pairs: pair_capacity, contacts: contact_capacity, growths, .. } = self.controls.capacities;
        ContactReport {
            pairs: self.contacts.pairs.len() as u32,
            contacts: self.contacts.active.len() as u32,
            most_pairs,
            most_contacts,
            pair_capacity,
            contact_capacity,
            growths,
            lost,
            halted,
            deepest,
            deep_contacts,
            searches,
            truncated,
            crossings: counts_crossings.then_some(self.contacts.crossings.len() as u32),
        }
    }

    /// Positions of a pair at the start of the substep, relative to the first particle.
    pub(super) fn points(&self, particles: [u32; 4]) -> [Vec3; 4] {
        let x0 = self.positions[particles[0] as usize];
        particles.map(|i| self.positions[i as usize] - x0)
    }

    pub(super) fn finish_search(&mut self) {
        if self.contacts.stale != Staleness::Holds {
            self.contacts.searched = self.contacts.now;
        }
        if self.contacts.stale != Staleness::Incomplete {
            self.contacts.stale = Staleness::Holds;
        }
        self.contacts.now = self.contacts.now.wrapping_add(1);
        self.contacts.found_contacts = 0;
        let ended = std::mem::take(&mut self.contacts.active);
        let anchored = ended.into_iter().filter(|contact| unpack(contact.pair).0 != PairKind::Crossing);
        self.contacts.previous = anchored.map(|contact| (contact.pair, contact)).collect();
        self.contacts.has_cut = false;
    }

    pub(super) fn find_contacts(&mut self) {
        let params = self.contact_params;
        let capacity = self.capacity(self.controls.capacities.contacts);
        for place in 0..self.contacts.pairs.len() {
            let (kind, particles) = unpack(self.contacts.pairs[place]);
            let p = self.points(particles);
            let d = particles.map(|i| self.displacements[i as usize]);
            let thickness = self.thickness(kind, particles);
            let relative = std::array::from_fn(|k| d[k] - d[0]);
            let Some(contact) = meet(kind, p, relative, thickness, params.recovery) else { continue };
            if self.is_tangled(kind, particles) {
                continue;
            }
            let start = closest(kind, p).distance;
            let overlap = thickness - start;
            self.contacts.deepest = self.contacts.deepest.max(overlap);
            self.contacts.deep_contacts =
                self.contacts.deep_contacts.wrapping_add(u32::from(overlap > 0.5 * thickness));
            self.contacts.found_contacts += 1;
            if self.contacts.active.len() == capacity {
                self.contacts.lose(1);
                continue;
            }
            for k in members(kind) {
                self.contacts.counts[particles[k] as usize] += 1;
            }
            let pair = self.contacts.pairs[place];
            let previous = self.contacts.previous.get(&pair);
            let kept = previous.map_or(start.max(NEAREST * thickness), |previous| previous.distance);
            let distance = (kept + SEPARATION * params.recovery).min(thickness);
            let c0 = contact.c0.min(distance - dot(contact.normal, weighted(contact.weights, p)));
            let contact = Contact { c0, ..contact };
            let offset = previous.map_or(Vec3::ZERO, |previous| previous.anchored_offset(p, contact.normal));
            let active = ActiveContact { pair, contact, offset, distance, slides: true, ..ActiveContact::default() };
            self.contacts.active.push(active);
        }
    }

    /// Solves all contacts once, with friction, and completes one of the two sums of corrections. A particle with n
    /// contacts takes part in each with 1/n of its mass: see `Split` in `src/schedule/split.rs`.
    pub(super) fn solve_contacts(&mut self, is_last: bool, sum: usize, continues: bool) {
        let found = self.contacts.found_contacts;
        self.contacts.most_contacts = self.contacts.most_contacts.max(found);
        if found as usize > self.contacts.active.len() && self.contact_params.level == 2 {
            // Which contacts a full list contains depends on the order: surfaces use none, and stand still.
            self.contacts.active.clear();
        }
        for place in 0..self.contacts.active.len() {
            self.solve_contact(place, is_last, sum, continues);
        }
    }

    /// The displacement of a particle with a sum of its corrections.
    fn corrected(&self, i: usize, sum: usize) -> Vec3 {
        self.displacements[i] + self.contacts.corrections[i][sum].as_vec3() * self.contact_params.quantum
    }

    fn solve_contact(&mut self, place: usize, is_last: bool, sum: usize, continues: bool) {
        let active = self.contacts.active[place];
        let contact = active.contact;
        let (kind, particles) = unpack(active.pair);
        let d = particles.map(|i| self.corrected(i as usize, 1 - sum));
        let w = particles.map(|i| self.controls.inverse_masses[i as usize]);
        let mut weight = 0.0;
        // Limit of one correction, so that the sum of all cannot overflow.
        let mut most = [0.0; 4];
        for k in members(kind) {
            let (b, n) = (contact.weights[k], self.contacts.counts[particles[k] as usize] & (WAS_CUT - 1));
            most[k] = self.contact_params.most_quanta / n as f32;
            weight += (w[k] * n as f32) * (b * b);
        }
        let motion = weighted(contact.weights, [Vec3::ZERO, d[1] - d[0], d[2] - d[0], d[3] - d[0]]);
        // Not if all particles are pinned, or one is not finite.
        let solved = if weight > 0.0 && length(motion) < 1e30 {
            self.solved(&active, motion, weight, is_last)
        } else {
            ActiveContact { change: Vec3::ZERO, ..active }
        };
        for k in members(kind) {
            let factor = (w[k] * contact.weights[k]) * self.contact_params.inverse_quantum;
            let rounded = |change: Vec3| {
                (change * factor).map(|quanta| quanta.clamp(-most[k], most[k]).round_ties_even()).as_ivec3()
            };
            let sum = &mut self.contacts.corrections[particles[k] as usize][sum];
            let before = if continues { rounded(active.change) } else { IVec3::ZERO };
            *sum = sum.wrapping_add(before + rounded(solved.change));
        }
        self.contacts.active[place] = solved;
    }

    /// A contact with the multipliers after an iteration. `motion` is Σ b d.
    fn solved(&self, active: &ActiveContact, motion: Vec3, weight: f32, is_last: bool) -> ActiveContact {
        let ActiveContact { contact, offset, .. } = *active;
        let (kind, particles) = unpack(active.pair);
        let (correction, part) = if is_last { (1.0, 0.0) } else { (CORRECTION, HEAVY_BALL) };
        let step = correction / weight;
        let carried = active.change * part;
        let carried_along = dot(contact.normal, carried);
        let along = dot(contact.normal, motion);
        let normal_lambda = (active.normal_lambda + (contact.c0 - along) * step + carried_along).max(0.0);
        let [statics, kinetic] = self.pair_friction(kind, particles);
        let slip = offset + (motion - contact.normal * along);
        let sticking = active.friction_lambda - slip * step + (carried - contact.normal * carried_along);
        let (most_friction, l) = (statics * normal_lambda, length(sticking));
        let sticks = l <= most_friction;
        // An intersection has no friction.
        let share = match (kind, sticks) {
            (PairKind::Crossing, _) => 0.0,
            (_, true) => 1.0,
            (_, false) => kinetic * normal_lambda / l,
        };
        let friction_lambda = sticking * share;
        let change =
            contact.normal * (normal_lambda - active.normal_lambda) + (friction_lambda - active.friction_lambda);
        let anchor = if !is_last {
            offset
        } else if !sticks {
            // Friction at its limit holds no larger offset: the anchor moves along.
            offset * (most_friction * weight / length(offset).max(1e-30)).min(1.0)
        } else {
            offset - weighted(contact.weights, self.points(particles))
        };
        ActiveContact { offset: anchor, slides: !sticks, normal_lambda, friction_lambda, change, ..*active }
    }

    /// Raises the capacities of growing lists, when the GPU does so if the counters have arrived. The lists themselves
    /// are as long as they need to be.
    pub(super) fn grow_contacts(&mut self) {
        let needed = [self.contacts.most_pairs, self.contacts.most_contacts];
        let capacities = &mut self.controls.capacities;
        *capacities = capacities.grown(needed, [u64::MAX; 2]).unwrap_or(*capacities);
    }

    pub(super) fn build_division_planes(&mut self, round: u32) {
        // Only truncations of the previous round can create new conflicts.
        if round > 0 && !std::mem::take(&mut self.contacts.has_cut) {
            return;
        }
        let excused = round + 1 < DIVISION_ROUNDS;
        for place in 0..self.contacts.pairs.len() {
            let (kind, particles) = unpack(self.contacts.pairs[place]);
            let thickness = self.thickness(kind, particles);
            let e = particles.map(|i| self.truncated(i as usize, round));
            let Some(cuts) = cuts(kind, self.points(particles), e, thickness, excused) else { continue };
            if self.is_tangled(kind, particles) {
                continue;
            }
            for k in members(kind) {
                let cut = &mut self.contacts.cuts[particles[k] as usize][round as usize];
                *cut = cut.max(cuts[k]);
                self.contacts.has_cut = true;
            }
        }
    }

    /// The displacement of a particle in the frame of truncation, truncated by the rounds before `round`.
    fn truncated(&self, i: usize, round: u32) -> Vec3 {
        let cuts = &self.contacts.cuts[i][..round as usize];
        let left = cuts.iter().fold(1.0, |left, &cut| left * (1.0 - cut));
        (self.displacements[i] - self.contacts.truncation_frame) * left
    }

    /// Truncates a displacement by the shares of all rounds. If a pair or a contact was lost, all particles stand still:
    /// then nothing crosses, whichever pairs are missing.
    pub(super) fn truncate_displacement(&mut self, i: usize) {
        let stands_still = self.contacts.stale == Staleness::Incomplete;
        let count = self.contacts.cuts[i].iter().filter(|&&cut| cut > 0.0).count();
        if !stands_still && count == 0 {
            return;
        }
        let truncated = self.contacts.truncation_frame + self.truncated(i, DIVISION_ROUNDS);
        self.displacements[i] = if stands_still { Vec3::ZERO } else { truncated };
        // Not a count: marks the particle as truncated.
        self.contacts.counts[i] = -1;
        self.contacts.cuts[i] = Default::default();
        let count = if stands_still { 1 } else { count };
        self.contacts.truncated = self.contacts.truncated.wrapping_add(count as u32);
        self.contacts.halted += u32::from(stands_still && i == 0);
    }

    /// Adds the sum of its corrections to each displacement.
    pub(super) fn apply_corrections(&mut self) {
        for i in 0..self.particle_count() {
            let was_cut = self.contact_params.level != 1 && self.contacts.counts[i] >= WAS_CUT;
            let d = self.corrected(i, 0);
            let [sum, _] = std::mem::take(&mut self.contacts.corrections[i]);
            if sum != IVec3::ZERO {
                self.displacements[i] = if was_cut { self.within_reach(i, d) } else { d };
            }
        }
    }

    /// Limits the deviation of a particle that was truncated in the previous substep: it stays within half the margin
    /// of its predicted path, where the pair list is valid.
    fn within_reach(&mut self, i: usize, d: Vec3) -> Vec3 {
        let contacts = &mut self.contacts;
        let own = &contacts.tracked[i];
        // `now` already counts this substep.
        let since = contacts.since_search().wrapping_sub(1);
        let end = (own.place - self.positions[i]) + (own.predicted + contacts.drift) * since as f32;
        let start = end - (own.displacement - contacts.truncation_frame);
        let aside = -from_segment([start, end], d);
        let (half, far) = (0.5 * self.contact_params.margin, length(aside));
        if far <= half {
            return d;
        }
        contacts.truncated += 1;
        d - aside * (1.0 - half / far)
    }
}

/// The indices of a pair that name distinct particles.
fn members(kind: PairKind) -> impl Iterator<Item = usize> {
    match kind {
        PairKind::Particles => 0..2,
        _ => 0..4,
    }
}
