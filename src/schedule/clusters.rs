//! Clusters: constraints among a few hundred particles that a workgroup solves in workgroup memory.
//!
//! A *cluster* has at most [`MOST_PARTICLES`] particles. It grows along the constraints of a kind, so that most
//! constraints lie within one cluster. A workgroup loads the displacements of its particles, solves the constraints by
//! *rounds* (the colours within the cluster) with a barrier after each, and stores the displacements.
//!
//! Constraints across cluster borders form the clusters of a second *layer*, around these borders, then of further
//! layers. Each layer is one dispatch. Constraints of no layer are coloured. (Compare the vertex-reuse partitions of
//! Ton-That, Kry, Andrews 2023.)

use crate::geometry::grouped;
use crate::scene::ConstraintSet;
use crate::schedule::coloring::{HUB_DEGREE, Span};
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum number of particles of a cluster: a local index has 8 bits, and 32 bytes per particle fill 8 KiB of
/// workgroup memory.
pub(crate) const MOST_PARTICLES: usize = 256;

/// Maximum number of layers. Meshes need three or four; sets that do not shrink (random constraints) are coloured
/// instead.
const MOST_LAYERS: usize = 6;

/// Owner of a particle that is in no cluster of the layer.
const NOBODY: u32 = u32::MAX;

/// Words of the header of a cluster: offset and number of particles, offset and number of rounds, offset of the local
/// indices, first record, two words of padding.
pub(crate) const HEAD: usize = 8;

/// The constraints of one kind that are solved in clusters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clustering {
    /// GPU data: the headers of all clusters, then for each its particles, its rounds (first record, count) and, per
    /// record, the local indices of its particles in one byte each.
    pub words: Vec<u32>,
    /// The clusters of each layer; never empty.
    pub layers: Vec<Span>,
    /// The records of each layer.
    pub records: Vec<Span>,
    /// The constraints in the order of their records.
    pub order: Vec<u32>,
}

/// A complete cluster.
struct Cluster {
    particles: Vec<u32>,
    /// By round.
    constraints: Vec<Vec<u32>>,
}

impl Clustering {
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Clusters the constraints of a set, except those in `taken`. `first_record` is the number of records before them.
    pub fn new(set: &ConstraintSet, particle_count: usize, first_record: usize, taken: &[u32]) -> Self {
        if set.info.is_group() || set.len() == taken.len() {
            return Self::default();
        }
        let mut grower = Grower::new(set, particle_count, taken);
        let mut layers = Vec::new();
        while layers.len() < MOST_LAYERS && !grower.rest.is_empty() {
            let before = grower.rest.len();
            let layer = grower.grow_layer();
            if layer.is_empty() || before - grower.rest.len() < before.div_ceil(4) {
                break;
            }
            layers.push(layer);
        }
        Self::of_layers(set, &layers, particle_count, first_record as u32)
    }

    fn of_layers(set: &ConstraintSet, layers: &[Vec<Cluster>], particle_count: usize, first_record: u32) -> Self {
        let mut clustering = Self::default();
        let cluster_count: usize = layers.iter().map(Vec::len).sum();
        clustering.words.resize(cluster_count * HEAD, 0);
        let mut local = vec![0u8; particle_count];
        let mut index = 0;
        for layer in layers {
            let first = (index as u32, clustering.order.len() as u32);
            for cluster in layer {
                for (place, &particle) in (0u8..=u8::MAX).zip(&cluster.particles) {
                    local[particle as usize] = place;
                }
                let particles_at = clustering.words.len() as u32;
                clustering.words.extend(&cluster.particles);
                let rounds_at = clustering.words.len() as u32;
                let record = first_record + clustering.order.len() as u32;
                let mut next = record;
                for round in &cluster.constraints {
                    clustering.words.extend([next, round.len() as u32]);
                    next += round.len() as u32;
                }
                let locals_at = clustering.words.len() as u32;
                for &constraint in cluster.constraints.iter().flatten() {
                    let mut bytes = [0; 4];
                    for (byte, &particle) in bytes.iter_mut().zip(set.entities_of(constraint)) {
                        *byte = local[particle as usize];
                    }
                    clustering.words.push(u32::from_le_bytes(bytes));
                    clustering.order.push(constraint);
                }
                let [particles, rounds] = [cluster.particles.len() as u32, cluster.constraints.len() as u32];
                let head = [particles_at, particles, rounds_at, rounds, locals_at, record, 0, 0];
                clustering.words[index * HEAD..][..HEAD].copy_from_slice(&head);
                index += 1;
            }
            let span = |first: u32, end: usize| Span { first, count: end as u32 - first };
            clustering.layers.push(span(first.0, index));
            let Span { first, count } = span(first.1, clustering.order.len());
            clustering.records.push(Span { first: first + first_record, count });
        }
        clustering
    }
}

/// Grows layers of clusters from the remaining constraints of a set.
struct Grower<'a> {
    set: &'a ConstraintSet,
    /// Constraints that are in no layer yet, ascending.
    rest: Vec<u32>,
    /// By constraint: true if it is in `rest`.
    is_left: Vec<bool>,
    particle_count: usize,
}

impl<'a> Grower<'a> {
    fn new(set: &'a ConstraintSet, particle_count: usize, taken: &[u32]) -> Self {
        let mut is_left = vec![true; set.len()];
        taken.iter().for_each(|&constraint| is_left[constraint as usize] = false);
        let mut degree = vec![0usize; particle_count];
        let all = 0..set.len() as u32;
        for constraint in all.clone().filter(|&constraint| is_left[constraint as usize]) {
            set.entities_of(constraint).iter().for_each(|&particle| degree[particle as usize] += 1);
        }
        // Constraints of hubs are solved by mass splitting (`src/schedule/coloring.rs`).
        for constraint in all.clone() {
            let hub = set.entities_of(constraint).iter().any(|&particle| degree[particle as usize] > HUB_DEGREE);
            is_left[constraint as usize] &= !hub;
        }
        let rest = all.filter(|&constraint| is_left[constraint as usize]).collect();
        Self { set, rest, is_left, particle_count }
    }

    /// By particle, the remaining constraints that contain it: offsets and constraints.
    fn neighbours(&self) -> (Vec<u32>, Vec<u32>) {
        let of =
            |&constraint: &u32| self.set.entities_of(constraint).iter().map(move |&particle| (particle, constraint));
        grouped(self.particle_count, self.rest.iter().flat_map(of))
    }

    /// Clusters that share no particle. Each grows breadth-first from a seed next to the previous clusters, up to its
    /// capacity; further seeds fill the remaining capacity.
    fn grow_layer(&mut self) -> Vec<Cluster> {
        let (offsets, constraints) = self.neighbours();
        let mut growth = Growth {
            offsets,
            constraints,
            owner: vec![NOBODY; self.particle_count],
            seen: vec![false; self.set.len()],
            waiting: None,
            border: VecDeque::new(),
            all: 0..self.particle_count as u32,
        };
        let mut used = vec![0u64; self.particle_count];
        let mut layer: Vec<Cluster> = Vec::new();
        loop {
            let (particles, mut chosen) = self.grow_cluster(&mut growth, layer.len() as u32);
            if chosen.is_empty() {
                break;
            }
            chosen.sort_unstable();
            let (constraints, left) = rounds(self.set, &chosen, &mut used);
            left.into_iter().for_each(|constraint| self.is_left[constraint as usize] = true);
            layer.push(Cluster { particles, constraints });
        }
        let is_left = &self.is_left;
        self.rest.retain(|&constraint| is_left[constraint as usize]);
        layer
    }

    /// The particles and constraints of cluster `index` of a layer; empty if no constraint is free.
    fn grow_cluster(&mut self, growth: &mut Growth, index: u32) -> (Vec<u32>, Vec<u32>) {
        let (mut particles, mut chosen) = (Vec::new(), Vec::new());
        while let Some(seed) = growth.next_seed() {
            let unowned = growth.owner[seed as usize] == NOBODY;
            let mut near = growth.around(seed).iter().filter(|_| unowned);
            let free = |constraint: &&u32| self.is_free(**constraint, &growth.owner, index);
            let Some(&first) = near.find(free) else { continue };
            if particles.len() + self.set.info.arity > MOST_PARTICLES {
                growth.waiting = Some(seed);
                break;
            }
            let (particle_count, constraint_count) = (particles.len(), chosen.len());
            let is_complete = self.grow_from(growth, first, index, &mut particles, &mut chosen);
            if !is_complete && particle_count > 0 {
                // This seed's constraints do not fit: undo them and start a new cluster with the seed.
                particles.drain(particle_count..).for_each(|particle| growth.release(particle));
                chosen.drain(constraint_count..).for_each(|constraint: u32| self.is_left[constraint as usize] = true);
                growth.waiting = Some(seed);
                break;
            }
        }
        (particles, chosen)
    }

    /// Adds constraints to cluster `index`, breadth-first from the constraint `first`. Returns false if the cluster is
    /// full before all of them are added.
    fn grow_from(
        &mut self,
        growth: &mut Growth,
        first: u32,
        index: u32,
        particles: &mut Vec<u32>,
        chosen: &mut Vec<u32>,
    ) -> bool {
        let mut is_complete = true;
        let mut wave = VecDeque::from([first]);
        while let Some(constraint) = wave.pop_front() {
            if !self.is_free(constraint, &growth.owner, index) {
                continue;
            }
            let named = self.set.entities_of(constraint);
            let new = named.iter().filter(|&&particle| growth.owner[particle as usize] == NOBODY);
            if particles.len() + new.clone().count() > MOST_PARTICLES {
                is_complete = false;
                growth.border.extend(new);
                continue;
            }
            self.is_left[constraint as usize] = false;
            chosen.push(constraint);
            for &particle in named {
                if std::mem::replace(&mut growth.owner[particle as usize], index) == NOBODY {
                    particles.push(particle);
                    growth.extend(&mut wave, particle);
                }
            }
        }
        is_complete
    }

    /// True if a constraint remains and no other cluster owns any of its particles.
    fn is_free(&self, constraint: u32, owner: &[u32], cluster: u32) -> bool {
        let mut named = self.set.entities_of(constraint).iter();
        self.is_left[constraint as usize]
            && named.all(|&particle| [NOBODY, cluster].contains(&owner[particle as usize]))
    }
}

/// The state of a layer that grows.
struct Growth {
    /// Constraints of particle p: `constraints[offsets[p]..offsets[p + 1]]`.
    offsets: Vec<u32>,
    constraints: Vec<u32>,
    /// The cluster of each particle, or [`NOBODY`].
    owner: Vec<u32>,
    /// By constraint: true if it was in a wave.
    seen: Vec<bool>,
    /// The seed of the next cluster, if the last one had no capacity for it.
    waiting: Option<u32>,
    /// Seeds next to clusters.
    border: VecDeque<u32>,
    /// All other seeds.
    all: Range<u32>,
}

impl Growth {
    fn next_seed(&mut self) -> Option<u32> {
        self.waiting.take().or_else(|| self.border.pop_front()).or_else(|| self.all.next())
    }

    fn around(&self, particle: u32) -> &[u32] {
        let particle = particle as usize;
        &self.constraints[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }

    /// Adds the constraints of a particle to a wave, except those that were in one.
    fn extend(&mut self, wave: &mut VecDeque<u32>, particle: u32) {
        let particle = particle as usize;
        let around = &self.constraints[self.offsets[particle] as usize..self.offsets[particle + 1] as usize];
        let seen = &mut self.seen;
        wave.extend(around.iter().filter(|&&other| !std::mem::replace(&mut seen[other as usize], true)));
    }

    /// Removes a particle from its cluster.
    fn release(&mut self, particle: u32) {
        self.owner[particle as usize] = NOBODY;
        for place in self.offsets[particle as usize]..self.offsets[particle as usize + 1] {
            self.seen[self.constraints[place as usize] as usize] = false;
        }
    }
}

/// Colours constraints in the order of insertion, so that later ones are satisfied best. `used` is a mask of colours by
/// particle. Returns the rounds, and the constraints that found no colour.
pub(crate) fn rounds(set: &ConstraintSet, constraints: &[u32], used: &mut [u64]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let (mut rounds, mut left): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
    for &constraint in constraints {
        let named = set.entities_of(constraint);
        let round = (!named.iter().fold(0, |mask, &particle| mask | used[particle as usize])).trailing_zeros();
        if round == u64::BITS {
            left.push(constraint);
            continue;
        }
        named.iter().for_each(|&particle| used[particle as usize] |= 1 << round);
        rounds.resize(rounds.len().max(round as usize + 1), Vec::new());
        rounds[round as usize].push(constraint);
    }
    (rounds, left)
}

#[cfg(test)]
mod tests;
