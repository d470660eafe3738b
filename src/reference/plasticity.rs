//! Plastic flow of constraints. Counterpart: `shaders/schedule/flow.wgsl`.

use super::Reference;
use crate::constraints::plasticity::strains;
use crate::constraints::{Kind, MAX_ARITY, Measure, PlasticStrain, kind_index};
use crate::error::Result;
use glam::Vec3;

impl Reference {
    /// See [`crate::Solver::read_plastic_strains`].
    ///
    /// # Errors
    /// None.
    pub fn read_plastic_strains<K: Kind>(&self) -> Result<Vec<PlasticStrain>> {
        let kind = kind_index(K::INFO);
        Ok(strains(&self.controls.compiled.kinds[kind].plastic, &self.plastic[kind]))
    }

    pub(super) fn flow(&mut self, kind: usize) {
        let compiled = &mut self.controls.compiled.kinds[kind];
        let (info, size) = (compiled.info, compiled.info.record_words);
        let Some(measure) = info.plastic else { return };
        for (row, state) in compiled.plastic.iter().zip(&mut self.plastic[kind]) {
            let record = &mut compiled.records[row.place as usize * size..][..size];
            record[info.arity + 1] = row.rest_at(*state, measure).to_bits();
            let first = self.positions[record[0] as usize];
            let mut p = [Vec3::ZERO; MAX_ARITY];
            for k in 0..info.arity {
                p[k] = self.positions[record[k] as usize] - first;
            }
            let parameters = &record[info.arity + 1..];
            let c = info.evaluate(parameters, &[], &p[..info.arity], &mut [Vec3::ZERO; MAX_ARITY]);
            let unit = if measure == Measure::Angle { f32::from_bits(parameters[1]) } else { row.rest };
            *state = row.flowed(*state, c / unit, self.params.dt);
            record[info.arity + 1] = row.rest_at(*state, measure).to_bits();
            record[info.arity] = row.material_at(*state);
        }
    }
}
