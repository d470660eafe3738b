//! The constraints of one kind in a scene.

use super::{MaterialId, Scene};
use crate::constraints::plasticity::{Measure, PlasticRow};
use crate::constraints::{Distance, Kind, KindInfo, Plasticity, group, kind_index};
use crate::error::{Error, Result};
use crate::geometry::check_exists;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The constraints of one kind, as records; see [`crate::constraints`].
#[derive(Debug, Clone)]
pub(crate) struct ConstraintSet {
    pub info: &'static KindInfo,
    pub words: Vec<u32>,
    /// Member rows and detail rows of groups.
    pub rows: Vec<[u32; 4]>,
    /// Total number of group members.
    pub slot_count: u32,
    /// By constraint.
    pub plastic: BTreeMap<u32, Plasticity>,
}

impl ConstraintSet {
    pub fn len(&self) -> usize {
        self.words.len() / self.info.record_words
    }

    pub fn records(&self) -> impl Iterator<Item = &[u32]> {
        self.words.chunks_exact(self.info.record_words)
    }

    /// The particles of a constraint of a kind that is not a group.
    pub fn points_of(&self, constraint: u32) -> &[u32] {
        &self.entities_of(constraint)[..self.info.point_count()]
    }

    /// The set with orientations numbered after the `particle_count` particles of the scene.
    pub fn with_entities(&self, particle_count: usize) -> Cow<'_, Self> {
        if self.info.orientations == 0 {
            return Cow::Borrowed(self);
        }
        let mut set = self.clone();
        for record in set.words.chunks_exact_mut(self.info.record_words) {
            record[self.info.point_count()..self.info.arity].iter_mut().for_each(|own| *own += particle_count as u32);
        }
        Cow::Owned(set)
    }

    /// The entities of a constraint of a kind that is not a group.
    pub fn entities_of(&self, constraint: u32) -> &[u32] {
        &self.words[constraint as usize * self.info.record_words..][..self.info.arity]
    }

    /// The particles and the orientations of a constraint of any kind.
    pub fn members_of(&self, constraint: usize) -> (Cow<'_, [u32]>, &[u32]) {
        let record = &self.words[constraint * self.info.record_words..][..self.info.record_words];
        if self.info.is_group() {
            let members = group::member_rows(record).step_by(group::MEMBER_ROWS);
            return (members.map(|member| self.rows[member][0]).collect::<Vec<_>>().into(), &[]);
        }
        let (points, orientations) = record[..self.info.arity].split_at(self.info.point_count());
        (points.into(), orientations)
    }

    /// The words of the records in the order of `order`.
    pub fn records_in(&self, order: &[u32]) -> Vec<u32> {
        let record =
            |&constraint: &u32| &self.words[constraint as usize * self.info.record_words..][..self.info.record_words];
        order.iter().flat_map(record).copied().collect()
    }

    /// The plastic constraints, in order. `places` has the place of the record of each constraint, `broken_material`
    /// is the material of broken ones.
    pub fn plastic_rows(&self, places: &[u32], broken_material: u32) -> Vec<PlasticRow> {
        let row = |(&constraint, plasticity): (&u32, &Plasticity)| {
            let record = &self.words[constraint as usize * self.info.record_words..];
            let materials = [record[self.info.arity], broken_material];
            let mut rest = [0.0; 4];
            let words = self.info.plastic.map_or(0, Measure::rest_words);
            rest[..words]
                .iter_mut()
                .zip(&record[self.info.arity + 1..])
                .for_each(|(rest, &word)| *rest = f32::from_bits(word));
            PlasticRow::new(constraint, places[constraint as usize], materials, rest, plasticity)
        };
        self.plastic.iter().map(row).collect()
    }

    /// Applies `rename` to every particle index.
    pub fn rename(&mut self, rename: impl Fn(&mut u32)) {
        let Self { info, words, rows, .. } = self;
        for record in words.chunks_exact_mut(info.record_words) {
            record[..info.point_count()].iter_mut().for_each(&rename);
            let members = if info.is_group() { group::member_rows(record) } else { 0..0 };
            for member in members.step_by(group::MEMBER_ROWS) {
                rename(&mut rows[member][0]);
                let details = group::detail_rows(&rows[member..]);
                rows[details].iter_mut().flatten().for_each(&rename);
            }
        }
    }
}

impl Scene {
    /// The entry of the material table of a constraint, for [`crate::Solver::set_material`]: the stiffness of ropes, rods, soft bodies and
    /// gases while a simulation runs. `index` is its index among those of its kind. Equal materials of builders share an entry, also
    /// those of other parts; segments of different lengths have different ones.
    ///
    /// # Errors
    /// The constraint must exist.
    pub fn material_of<K: Kind>(&self, index: u32) -> Result<MaterialId> {
        let set = &self.constraints[kind_index(K::INFO)];
        let what = || format!("material_of a {} constraint", K::INFO.name);
        check_exists(what, "constraint", &[index], set.len())?;
        Ok(MaterialId(set.words[index as usize * K::INFO.record_words + K::INFO.material_word()]))
    }

    pub(super) fn distance_count(&self) -> u32 {
        self.kind_count(Distance::INFO)
    }

    /// `Ok` if groups of a kind may get `more` members: rows are numbered with 29 bits.
    pub(super) fn check_members(&self, info: &KindInfo, more: u64) -> Result<()> {
        let rows = self.constraints[kind_index(info)].rows.len() as u64 + more * group::MEMBER_ROWS as u64;
        let limit = u64::from(u32::MAX / 8);
        if rows <= limit {
            return Ok(());
        }
        Err(Error::TooLarge { what: "rows of groups, two per member", count: rows, limit })
    }

    pub(super) fn kind_count(&self, info: &KindInfo) -> u32 {
        self.constraints[kind_index(info)].len() as u32
    }
}
