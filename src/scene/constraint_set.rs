//! The constraints of one kind in a scene.

use crate::constraints::{KindInfo, group};

/// The constraints of one kind, as records; see [`crate::constraints`].
#[derive(Debug, Clone)]
pub(crate) struct ConstraintSet {
    pub info: &'static KindInfo,
    pub words: Vec<u32>,
    /// Member rows and detail rows of groups.
    pub rows: Vec<[u32; 4]>,
    /// Total number of group members.
    pub slot_count: u32,
}

impl ConstraintSet {
    pub fn len(&self) -> usize {
        self.words.len() / self.info.record_words
    }

    pub fn records(&self) -> impl Iterator<Item = &[u32]> {
        self.words.chunks_exact(self.info.record_words)
    }

    /// The particles of a constraint of a kind that is not a group.
    pub fn particles_of(&self, constraint: u32) -> &[u32] {
        &self.words[constraint as usize * self.info.record_words..][..self.info.arity]
    }

    /// Applies `rename` to every particle index.
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
}
