//! What a scene keeps of the constraints of a kind.

use super::{Scene, Skins};
use crate::coloring::Coloring;
use crate::cooked::split_at_once;
use crate::kinds::{KindInfo, group};

/// The constraints of one kind, as records; see [`crate::kinds`].
#[derive(Debug, Clone)]
pub(crate) struct ConstraintSet {
    pub info: &'static KindInfo,
    pub words: Vec<u32>,
    /// The members of groups, and their details.
    pub rows: Vec<[u32; 4]>,
    /// How many members the groups have in all.
    pub slot_count: u32,
}

impl ConstraintSet {
    pub fn len(&self) -> usize {
        self.words.len() / self.info.record_words
    }

    pub fn records(&self) -> impl Iterator<Item = &[u32]> {
        self.words.chunks_exact(self.info.record_words)
    }

    /// The particles of a constraint, of a kind that has a fixed number of them.
    pub fn particles_of(&self, constraint: u32) -> &[u32] {
        &self.words[constraint as usize * self.info.record_words..][..self.info.arity]
    }

    /// Gives other names to all particles that are named.
    pub fn rename(&mut self, rename: impl Fn(&mut u32)) {
        let Self { info, words, rows, .. } = self;
        for record in words.chunks_exact_mut(info.record_words) {
            record[..info.arity].iter_mut().for_each(&rename);
            let members = if info.is_group() { group::member_rows(record) } else { 0..0 };
            for member in members.step_by(group::MEMBER_ROWS) {
                rename(&mut rows[member][0]);
                let details = group::detail_rows(&rows[member..]);
                rows[details].iter_mut().flatten().for_each(&rename);
            }
        }
    }

    /// How many constraints no colour takes.
    pub fn overflow_count(&self, scene: &Scene, skins: &Skins) -> u32 {
        let (split, particle_count) = (split_at_once(self, scene), scene.particle_count());
        if split.is_empty()
            && !self.info.is_group()
            && Coloring::surely_fits(&self.particles(), self.info.arity, particle_count)
        {
            return 0;
        }
        self.coloring(particle_count, &[], &skins.constraints_of(self), &split).0.overflow.count
    }

    /// The particles of all constraints, of kinds that have a fixed number of them.
    fn particles(&self) -> Vec<u32> {
        let mut particles = Vec::with_capacity(self.len() * self.info.arity);
        self.records().for_each(|record| particles.extend_from_slice(&record[..self.info.arity]));
        particles
    }

    /// Colours the constraints that are neither in `clustered`, which come first, nor in `split`, which come last; and the number of colours
    /// before those of `skin`. No colour contains constraints of `skin` and others.
    pub fn coloring(&self, particle_count: usize, clustered: &[u32], skin: &[u32], split: &[u32]) -> (Coloring, usize) {
        const OUTSIDE: usize = 0;
        const SKIN: usize = 1;
        const TAKEN: usize = 2;
        let mut part_of = vec![OUTSIDE; self.len()];
        skin.iter().for_each(|&constraint| part_of[constraint as usize] = SKIN);
        clustered.iter().chain(split).for_each(|&constraint| part_of[constraint as usize] = TAKEN);
        let parts = [OUTSIDE, SKIN].map(|part| {
            let names: Vec<u32> =
                (0..self.len() as u32).filter(|&constraint| part_of[constraint as usize] == part).collect();
            (self.colored(particle_count, &names), names)
        });
        (Coloring::joined(clustered, &parts, split), parts[OUTSIDE].0.colors.len())
    }

    /// Colours some constraints, of which the first is number 0.
    fn colored(&self, particle_count: usize, constraints: &[u32]) -> Coloring {
        if !self.info.is_group() {
            let mut particles = Vec::with_capacity(constraints.len() * self.info.arity);
            constraints.iter().for_each(|&constraint| particles.extend_from_slice(self.particles_of(constraint)));
            return Coloring::greedy(&particles, self.info.arity, particle_count);
        }
        let (mut particles, mut offsets) = (Vec::new(), vec![0]);
        for &constraint in constraints {
            let record = &self.words[constraint as usize * self.info.record_words..][..self.info.record_words];
            particles.extend(self.info.particles(record, &self.rows));
            offsets.push(particles.len());
        }
        Coloring::greedy_groups(&particles, &offsets, particle_count)
    }
}
