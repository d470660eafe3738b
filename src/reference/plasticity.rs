//! Plastic flow of constraints. Counterpart: `shaders/schedule/flow.wgsl`.

use super::Reference;
use crate::constraints::plasticity::strains;
use crate::constraints::{Function, Kind, MAX_ARITY, Measure, PlasticStrain, kind_index};
use crate::error::Result;
use crate::schedule::chains::chain_kinds;
use glam::Vec3;

impl Reference {
    /// See [`crate::Solver::read_plastic_strains`].
    ///
    /// # Errors
    /// None.
    pub fn read_plastic_strains<K: Kind>(&self) -> Result<Vec<PlasticStrain>> {
        let kind = kind_index(K::INFO);
        Ok(strains(&self.controls.compiled.kinds[kind].plastic, &self.plastic[kind], K::INFO.plastic))
    }

    pub(super) fn flow(&mut self, kind: usize) {
        let compiled = &mut self.controls.compiled.kinds[kind];
        let (info, size) = (compiled.info, compiled.info.record_words);
        let Some(measure) = info.plastic else { return };
        let first_word = info.arity + 1;
        let [joints, segments] = chain_kinds();
        for index in 0..compiled.plastic.len() {
            let (row, state) = (&compiled.plastic[index], self.plastic[kind][index]);
            let record = &mut compiled.records[row.place as usize * size..][..size];
            write_rest(&mut record[first_word..], row.rest_at(state, measure), measure);
            let first = self.positions[record[0] as usize];
            let mut p = [Vec3::ZERO; MAX_ARITY];
            for k in 0..info.arity {
                let x = self.positions[record[k] as usize];
                p[k] = if k < info.point_count() { x - first } else { x };
            }
            let parameters = &record[first_word..];
            let c = match info.function {
                Function::Components(evaluate) => {
                    evaluate(parameters, &p[..info.arity], &mut [[Vec3::ZERO; 3]; MAX_ARITY])
                }
                _ => Vec3::X * info.evaluate(parameters, &[], &p[..info.arity], &mut [Vec3::ZERO; MAX_ARITY]),
            };
            let elastic = measure.elastic(c, parameters, row, &state);
            let mut state = row.flowed(state, elastic, self.params.dt);
            if kind == joints {
                let is_broken =
                    |&own: &u32| self.plastic[segments].get(own as usize).is_some_and(|own| own.is_broken == 1);
                state.is_broken |= u32::from(row.segments.iter().any(is_broken));
            }
            write_rest(&mut record[first_word..], row.rest_at(state, measure), measure);
            record[info.arity] = row.material_at(state);
            self.plastic[kind][index] = state;
        }
    }
}

/// Writes a rest value into the parameters of a record.
fn write_rest(parameters: &mut [u32], rest: [f32; 4], measure: Measure) {
    parameters[..measure.rest_words()].copy_from_slice(&rest.map(f32::to_bits)[..measure.rest_words()]);
}
