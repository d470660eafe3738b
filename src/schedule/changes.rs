//! Changes of the parameters of constraints at run time.

use super::chains::chain_kinds;
use super::compiled_kind::CompiledKind;
use crate::constraints::plasticity::{NO_SEGMENT, PlasticRow};
use crate::constraints::{Kind, Measure, StretchShear};
use crate::error::{Error, Result};
use crate::scene::ConstraintSet;
use std::collections::BTreeMap;

impl CompiledKind {
    /// The places of the records of `count` constraints from `first` on.
    pub fn places_of(&self, first: u32, count: usize) -> Result<Vec<usize>> {
        let end = u64::from(first) + count as u64;
        if end > self.len() as u64 {
            let index = u64::from(first).max(self.len() as u64);
            let (what, count) = ("set_constraint".into(), self.len() as u64);
            return Err(Error::IndexOutOfRange { what, target: self.info.name, index, count });
        }
        let mut places = vec![0; count];
        for (place, &constraint) in self.coloring.order.iter().enumerate() {
            // Wraps to a large number below `first`.
            if let Some(own) = places.get_mut(constraint.wrapping_sub(first) as usize) {
                *own = place;
            }
        }
        Ok(places)
    }

    /// The parameters of a constraint that replaces the one of the same index in `set`, which must have the same particles.
    pub fn parameters_of<K: Kind>(
        &self,
        index: u32,
        constraint: &K,
        place: usize,
        set: &ConstraintSet,
    ) -> Result<Vec<u32>> {
        constraint.check(index as usize)?;
        // Not those of the record, which names the copies of torn vertices.
        let (points, orientations) = set.members_of(index as usize);
        let (name, mut own) = (self.info.name, [&*points, orientations].concat());
        let mut given = constraint.particles().to_vec();
        // Members of a group may be given in any order.
        if self.info.is_group() {
            given.sort_unstable();
            own.sort_unstable();
        }
        if let Some((new, _)) = given.iter().zip(&own).find(|(new, old)| new != old) {
            let what = format!("particle or orientation of {name} constraint {index}");
            return Err(Error::invalid(what, *new, "unchanged"));
        }
        if given.len() != own.len() {
            let what = "new and old particles of a constraint";
            return Err(Error::LengthMismatch { what, left: given.len(), right: own.len() });
        }
        let mut words = Vec::new();
        constraint.write_parameters(&mut words);
        if self.plastic_at(index).is_some() {
            self.info.check_yields(index, &words)?;
        }
        // M is computed from the members, which do not change.
        if self.info.is_group() {
            words[0] = self.record(place)[self.info.material_word() + 1];
        }
        Ok(words)
    }

    /// The index of a constraint in `plastic`.
    pub fn plastic_at(&self, constraint: u32) -> Option<usize> {
        self.plastic.binary_search_by_key(&constraint, |row| row.constraint).ok()
    }

    /// Sets the rest value of a constraint from its parameters if it is plastic, and returns its index in `plastic`.
    pub fn set_plastic_rest(&mut self, constraint: u32, parameters: &[u32]) -> Option<usize> {
        let place = self.plastic_at(constraint)?;
        let count = self.info.plastic.map_or(0, Measure::rest_words);
        let rest = &mut self.plastic[place].rest[..count];
        rest.iter_mut().zip(parameters).for_each(|(rest, &word)| *rest = f32::from_bits(word));
        Some(place)
    }
}

/// Notes the plastic segments of each plastic joint of rods, with which it breaks.
pub(super) fn link_joints(kinds: &mut [CompiledKind]) {
    let [joints, segments] = chain_kinds();
    if kinds[joints].plastic.is_empty() || kinds[segments].plastic.is_empty() {
        return;
    }
    let frame = |row: &PlasticRow| kinds[segments].record(row.place as usize)[StretchShear::INFO.point_count()];
    let by_frame: BTreeMap<u32, u32> =
        (0..).zip(&kinds[segments].plastic).map(|(index, row)| (frame(row), index)).collect();
    let joints = &mut kinds[joints];
    for index in 0..joints.plastic.len() {
        let place = joints.plastic[index].place as usize;
        let frames = [joints.record(place)[0], joints.record(place)[1]];
        joints.plastic[index].segments = frames.map(|frame| by_frame.get(&frame).copied().unwrap_or(NO_SEGMENT));
    }
}
