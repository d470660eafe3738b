//! Mass splitting: solves constraints that share particles in parallel.

use super::coloring::{Coloring, Span};
use super::compiled::check_loop;
use super::compiled_kind::CompiledKind;
use super::trees::Trees;
use crate::constraints::group;
use crate::error::Result;
use crate::scene::{ConstraintSet, Scene};
use crate::schedule::skins::Skins;
use crate::settings::Sweep;

/// Number of contributions that one thread sums for a particle.
const CHUNK: u32 = 64;

/// Data of *mass splitting* (Tonge, Benevolenski, Voroshilov 2012). It solves the overflow of a colouring, and in a
/// Jacobi sweep all constraints of a kind.
///
/// A particle with n of these constraints counts as n particles with 1/n of its mass, one in each constraint. All
/// constraints are then independent and projected in parallel; the particle moves to the mean of its parts. Momentum is
/// conserved and the particles do not overshoot. It takes three dispatches for any number of constraints: project the
/// parts, sum the impulses in chunks, sum the chunks. The order of summation is fixed, so the result is deterministic.
#[derive(Debug, Clone, Default)]
pub(crate) struct Split {
    /// The split records: all from the first one on.
    pub span: Span,
    /// n for each particle of each split record; groups store it in the rows of their members.
    pub shares: Vec<f32>,
    /// Indices of impulses, grouped by particle.
    pub slots: Vec<u32>,
    /// Ranges of `slots`: first, count.
    pub chunks: Vec<[u32; 2]>,
    /// Particle, first chunk, chunk count, 0.
    pub hubs: Vec<[u32; 4]>,
}

impl Split {
    pub fn is_empty(&self) -> bool {
        self.hubs.is_empty()
    }
}

/// The constraints of a kind that a Gauss-Seidel sweep solves by mass splitting besides the overflow: inequalities at
/// crowded particles, which trees cannot solve.
pub(crate) fn split_at_once(set: &ConstraintSet, scene: &Scene) -> Vec<u32> {
    if set.info.unilateral { Trees::new(set, scene, 0, &[]).order } else { Vec::new() }
}

impl ConstraintSet {
    /// Number of constraints without a colour.
    pub fn overflow_count(&self, scene: &Scene, skins: &Skins) -> u32 {
        let (split, entity_count) = (split_at_once(self, scene), scene.entity_count());
        let set = self.with_entities(scene.particle_count());
        if split.is_empty()
            && !self.info.is_group()
            && Coloring::surely_fits(&set.entities(), self.info.arity, entity_count)
        {
            return 0;
        }
        set.coloring(entity_count, &[], &skins.constraints_of(self), &split).0.overflow.count
    }

    /// The entities of all constraints of a kind with fixed arity.
    fn entities(&self) -> Vec<u32> {
        let mut particles = Vec::with_capacity(self.len() * self.info.arity);
        self.records().for_each(|record| particles.extend_from_slice(&record[..self.info.arity]));
        particles
    }

    /// Colours the constraints that are neither in `clustered` (ordered first) nor in `split` (ordered last). Constraints
    /// in `skin` have colours of their own, after the others. Returns the colouring, and the number of colours before
    /// those of `skin`.
    pub fn coloring(&self, particle_count: usize, clustered: &[u32], skin: &[u32], split: &[u32]) -> (Coloring, usize) {
        const OUTSIDE: usize = 0;
        const SKIN: usize = 1;
        const TAKEN: usize = 2;
        let mut part_of = vec![OUTSIDE; self.len()];
        skin.iter().for_each(|&constraint| part_of[constraint as usize] = SKIN);
        clustered.iter().chain(split).for_each(|&constraint| part_of[constraint as usize] = TAKEN);
        let parts = [OUTSIDE, SKIN].map(|part| {
            let subset: Vec<u32> =
                (0..self.len() as u32).filter(|&constraint| part_of[constraint as usize] == part).collect();
            (self.colored(particle_count, &subset), subset)
        });
        (Coloring::joined(clustered, &parts, split), parts[OUTSIDE].0.colors.len())
    }

    /// Colours a subset of the constraints; in the result they are numbered within the subset.
    fn colored(&self, particle_count: usize, subset: &[u32]) -> Coloring {
        if !self.info.is_group() {
            let mut particles = Vec::with_capacity(subset.len() * self.info.arity);
            subset.iter().for_each(|&constraint| particles.extend_from_slice(self.entities_of(constraint)));
            return Coloring::greedy(&particles, self.info.arity, particle_count);
        }
        let (mut particles, mut offsets) = (Vec::new(), vec![0]);
        for &constraint in subset {
            let record = &self.words[constraint as usize * self.info.record_words..][..self.info.record_words];
            particles.extend(self.info.entities(record, &self.rows));
            offsets.push(particles.len());
        }
        Coloring::greedy_groups(&particles, &offsets, particle_count)
    }
}

impl CompiledKind {
    /// The indices of the impulses of a record, in the order of its particles.
    pub fn slots(&self, place: usize) -> std::ops::Range<usize> {
        let (first, count) = if self.info.is_group() {
            (self.record(place)[2] as usize, self.record(place)[1] as usize)
        } else {
            ((place - self.split.span.first as usize) * self.info.arity, self.info.arity)
        };
        first..first + count
    }

    /// Number of impulses.
    pub fn impulse_count(&self) -> usize {
        if self.info.is_group() { self.slot_count as usize } else { self.split.shares.len() }
    }

    /// Prepares mass splitting of the constraints that the sweep solves in parallel.
    pub fn split(&mut self, particle_count: usize, sweep: Sweep) -> Result<()> {
        self.split = Split::default();
        self.split.span = match sweep {
            Sweep::GaussSeidel => self.coloring.overflow,
            Sweep::Jacobi => Span { first: 0, count: self.len() as u32 },
        };
        if self.split.span.count == 0 && !self.info.is_group() {
            return Ok(());
        }
        // Counting sort of the slots by particle.
        let mut counts = vec![0u32; particle_count];
        self.each_slot(|particle, _| counts[particle as usize] += 1);
        let mut next: Vec<u32> =
            counts.iter().scan(0, |sum, &count| Some(std::mem::replace(sum, *sum + count))).collect();
        let firsts = next.clone();
        let mut slots = vec![0; counts.iter().sum::<u32>() as usize];
        self.each_slot(|particle, slot| {
            slots[next[particle as usize] as usize] = slot;
            next[particle as usize] += 1;
        });
        let mut split = std::mem::take(&mut self.split);
        split.slots = slots;
        for (particle, (&first, &count)) in (0..).zip(firsts.iter().zip(&counts)).filter(|(_, (_, count))| **count > 0)
        {
            let first_chunk = split.chunks.len() as u32;
            split.chunks.extend((0..count).step_by(CHUNK as usize).map(|at| [first + at, CHUNK.min(count - at)]));
            let chunk_count = split.chunks.len() as u32 - first_chunk;
            check_loop("constraints at one particle", chunk_count.into(), CHUNK.into())?;
            split.hubs.push([particle, first_chunk, chunk_count, 0]);
        }
        self.split = split;
        self.write_shares(&counts);
        Ok(())
    }

    /// Calls `each` with the particle and the slot, for every particle of every split record.
    fn each_slot(&self, mut each: impl FnMut(u32, u32)) {
        for place in self.split.span.range() {
            let particles = self.info.entities(self.record(place), &self.rows);
            particles.zip(self.slots(place)).for_each(|(particle, slot)| each(particle, slot as u32));
        }
    }

    fn write_shares(&mut self, counts: &[u32]) {
        if !self.info.is_group() {
            let mut shares = vec![0.0; self.split.span.count as usize * self.info.arity];
            self.each_slot(|particle, slot| shares[slot as usize] = counts[particle as usize] as f32);
            self.split.shares = shares;
            return;
        }
        let split = self.split.span.range();
        for place in 0..self.len() {
            let members = group::member_rows(self.record(place));
            for row in self.rows[members].iter_mut().step_by(group::MEMBER_ROWS) {
                let share = if split.contains(&place) { counts[row[0] as usize] as f32 } else { 1.0 };
                row[1] = share.to_bits();
            }
        }
    }
}
