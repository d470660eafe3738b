//! The passes of contacts between particles: contacts, separate, settle, divide, truncate; and what all of contacts leave for each other.

use super::Reference;
use super::search::{Staleness, TrackedParticle, from_segment};
use crate::collision::ContactReport;
use crate::collision::pair::{Contact, PairKind, closest, cuts, meet, unpack, weighted};
use crate::geometry::vector::{dot, length};
use crate::schedule::plan::ROUNDS;
use crate::sim::contact_params::WAS_CUT;
use glam::Vec3;
use std::collections::{HashMap, HashSet};

/// What the passes leave for each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Contacts {
    pub watched: Vec<TrackedParticle>,
    /// Substeps since the start.
    pub now: u32,
    pub drift: Vec3,
    /// By type, how far the center of an element is from its particles, at most \[m\].
    pub radii: [f32; 3],
    /// The same, of those of level 0, by type and cell of the coarse grid.
    pub sizes: HashMap<(u32, [i32; 3]), f32>,
    /// How far most go in a substep, at most, and how far any goes, against the drift \[m\]; of triangles of level 0 by cell of the coarse
    /// grid, and how far what may be in it travels in this one beyond half the margin.
    pub slow: f32,
    pub fastest: f32,
    pub speeds: HashMap<[i32; 3], [f32; 2]>,
    /// How far beyond half the margin elements of levels above 0 travel in the substep of the search, at most \[m\].
    pub wide_excess: f32,
    pub stale: Staleness,
    /// Whether anything is so fast that all is to be searched at once.
    pub hurried: bool,
    /// Whether pairs found no room: then the next search is for all.
    pub overfull: bool,
    /// Coarse cells in which particles are to look for others.
    pub worn: HashSet<[i32; 3]>,
    /// Substeps for which the list holds, if nothing is deflected. Of particles alone each has its own.
    pub horizon: u32,
    pub pairs: Vec<[u32; 4]>,
    /// Those that meet, as pairs lie in the list.
    pub active: Vec<([u32; 4], Contact)>,
    /// By particle: the sum of its corrections in quanta, and how many contacts it has; see [`WAS_CUT`].
    pub corrections: Vec<[i32; 4]>,
    pub searches: u32,
    pub most_pairs: u32,
    pub most_contacts: u32,
    pub lost: u32,
    pub deepest: f32,
    pub truncated: u32,
    /// Whether any way was cut in the round before.
    pub has_cut: bool,
    /// Edges, triangles that they passed through at the end of the last step, and wings.
    pub crossings: Vec<[u32; 7]>,
    /// By particle: the marks of the bodies that it has a crossing with.
    pub tangled: Vec<u32>,
}

impl Contacts {
    pub fn new(particle_count: usize) -> Self {
        let corrections = vec![[0; 4]; particle_count];
        let watched = vec![TrackedParticle::default(); particle_count];
        Self { watched, corrections, stale: Staleness::All, tangled: vec![0; particle_count], ..Self::default() }
    }
}

impl Reference {
    /// See [`crate::Solver::read_contacts`].
    pub fn contact_report(&self) -> ContactReport {
        let Contacts { searches, most_pairs, most_contacts, lost, deepest, truncated, .. } = self.contacts;
        let (pairs, contacts) = (self.contacts.pairs.len() as u32, self.contacts.active.len() as u32);
        let counts_crossings = self.controls.settings.keeps_surfaces_apart();
        let crossings = counts_crossings.then_some(self.contacts.crossings.len() as u32);
        ContactReport { pairs, contacts, most_pairs, most_contacts, lost, deepest, searches, truncated, crossings }
    }

    /// How far apart the elements of a pair are kept.
    pub(super) fn thickness(&self, particles: [u32; 4]) -> f32 {
        let contact_elements = &self.controls.compiled.contact_elements;
        let [a, b] = [particles[0], particles[2]].map(|i| self.contact_params.radius(contact_elements.material(i)));
        a + b
    }

    /// The particles of a pair at the start of the substep, in the frame of the first.
    pub(super) fn points(&self, particles: [u32; 4]) -> [Vec3; 4] {
        let x0 = self.positions[particles[0] as usize];
        particles.map(|i| self.positions[i as usize] - x0)
    }

    pub(super) fn ready(&mut self) {
        self.contacts.stale = Staleness::Holds;
        self.contacts.hurried = false;
        self.contacts.now = self.contacts.now.wrapping_add(1);
        self.contacts.most_pairs = self.contacts.most_pairs.max(self.contacts.pairs.len() as u32);
        self.contacts.active.clear();
        self.contacts.has_cut = false;
    }

    pub(super) fn find_contacts(&mut self) {
        let params = self.contact_params;
        for place in 0..self.contacts.pairs.len() {
            let (kind, particles) = unpack(self.contacts.pairs[place]);
            let p = self.points(particles);
            let d = particles.map(|i| self.displacements[i as usize]);
            let thickness = self.thickness(particles);
            let relative = std::array::from_fn(|k| d[k] - d[0]);
            let Some(contact) = meet(kind, p, relative, thickness, params.recovery) else { continue };
            if self.is_tangled(kind, particles) {
                continue;
            }
            if self.contacts.active.len() == params.contact_capacity as usize {
                self.contacts.lost += 1;
                continue;
            }
            for k in members(kind) {
                self.contacts.corrections[particles[k] as usize][3] += 1;
            }
            let gap = closest(kind, p).distance;
            self.contacts.deepest = self.contacts.deepest.max(thickness - gap);
            self.contacts.active.push((self.contacts.pairs[place], contact));
        }
    }

    /// Each particle counts as so many as it has contacts, of as much less mass: see `Split` in `src/schedule/compiled.rs`.
    pub(super) fn separate(&mut self) {
        let params = self.contact_params;
        self.contacts.most_contacts = self.contacts.most_contacts.max(self.contacts.active.len() as u32);
        for place in 0..self.contacts.active.len() {
            let (pair, contact) = self.contacts.active[place];
            let (kind, particles) = unpack(pair);
            let d = particles.map(|i| self.displacements[i as usize]);
            let w = particles.map(|i| self.controls.inverse_masses[i as usize]);
            let slip = weighted(contact.weights, [Vec3::ZERO, d[1] - d[0], d[2] - d[0], d[3] - d[0]]);
            let along = dot(contact.normal, slip);
            let depth = contact.c0 - along;
            let mut weight = 0.0;
            // Of one contact, so that the sum of all does not wrap around.
            let mut most = [0.0; 4];
            for k in members(kind) {
                let (b, n) = (contact.weights[k], self.contacts.corrections[particles[k] as usize][3] & (WAS_CUT - 1));
                most[k] = (2e9 / n as f32).min(1e9);
                weight += (w[k] * n as f32) * (b * b);
            }
            if !(depth > 0.0 && weight > 0.0) {
                continue;
            }
            let contact_elements = &self.controls.compiled.contact_elements;
            let [statics, kinetic, ..] =
                params.friction(contact_elements.material(particles[0]), contact_elements.material(particles[2]));
            let slip = slip - contact.normal * along;
            let l = length(slip);
            let mut share = if l <= statics * depth { 1.0 } else { kinetic * depth / l };
            if kind == PairKind::Crossing {
                // Nothing is to hold it there.
                share = 0.0;
            }
            let change = (contact.normal * depth - slip * share) / weight;
            for k in members(kind) {
                let quanta = change * ((w[k] * contact.weights[k]) * params.inverse_quantum);
                let sum = &mut self.contacts.corrections[particles[k] as usize];
                for (sum, quanta) in sum.iter_mut().zip(quanta.to_array()) {
                    *sum = sum.wrapping_add(quanta.clamp(-most[k], most[k]).round_ties_even() as i32);
                }
            }
        }
    }

    pub(super) fn divide(&mut self, round: u32) {
        // What was not in the way of each other may be so now that some ways were cut; else all has been looked at.
        if round > 0 && !std::mem::take(&mut self.contacts.has_cut) {
            return;
        }
        let excused = round + 1 < ROUNDS;
        for place in 0..self.contacts.pairs.len() {
            let (kind, particles) = unpack(self.contacts.pairs[place]);
            let thickness = self.thickness(particles);
            let e = particles.map(|i| self.displacements[i as usize] - self.contacts.drift);
            let Some(cuts) = cuts(kind, self.points(particles), e, thickness, excused) else { continue };
            if self.is_tangled(kind, particles) {
                continue;
            }
            for k in members(kind) {
                let [cut, ..] = &mut self.contacts.corrections[particles[k] as usize];
                // Positive numbers are in the order of their bits.
                *cut = (*cut).max(cuts[k].to_bits() as i32);
            }
        }
    }

    pub(super) fn truncate(&mut self, i: usize) {
        let [cut, .., count] = &mut self.contacts.corrections[i];
        let cut = f32::from_bits(std::mem::take(cut) as u32);
        if cut > 0.0 {
            // No number of contacts.
            *count = -1;
            let drift = self.contacts.drift;
            self.displacements[i] = drift + (self.displacements[i] - drift) * (1.0 - cut);
            self.contacts.truncated += 1;
            self.contacts.has_cut = true;
        }
    }

    pub(super) fn settle(&mut self, i: usize) {
        let [x, y, z, count] = &mut self.contacts.corrections[i];
        let was_cut = self.contact_params.level != 1 && *count >= WAS_CUT;
        let sum = Vec3::new(*x as f32, *y as f32, *z as f32);
        [*x, *y, *z] = [0; 3];
        if sum == Vec3::ZERO {
            return;
        }
        let d = self.displacements[i] + sum * self.contact_params.quantum;
        self.displacements[i] = if was_cut { self.within_reach(i, d) } else { d };
    }

    /// What could not be parted in the substep before is stuck, and is not to be shot out to where the list of pairs does not reach: it stays beside
    /// the way that the list reckons with, by no more than half the margin.
    fn within_reach(&mut self, i: usize, d: Vec3) -> Vec3 {
        let contacts = &mut self.contacts;
        let own = &contacts.watched[i];
        // The substep counts already.
        let end = (own.place - self.positions[i]) + own.way(contacts.now.wrapping_sub(1));
        let start = end - (own.displacement - contacts.drift);
        let aside = -from_segment([start, end], d);
        let (half, far) = (0.5 * self.contact_params.margin, length(aside));
        if far <= half {
            return d;
        }
        contacts.truncated += 1;
        d - aside * (1.0 - half / far)
    }
}

/// The places of a pair at which there are particles of its own.
fn members(kind: PairKind) -> impl Iterator<Item = usize> {
    match kind {
        PairKind::Particles => 0..2,
        _ => 0..4,
    }
}
