//! Forces of tethers and constraints, from the values that the backends keep.

use crate::error::{Error, Result};
use crate::scene::TetherForce;
use crate::sim::controls::Controls;

impl Controls {
    /// Forces of the taut tethers, from the displacement of each \[m\] in a substep of `h` \[s\].
    pub fn tether_forces(&self, tether_displacements: &[f32], h: f32) -> Vec<TetherForce> {
        let mut forces = Vec::new();
        if !self.settings.tethers {
            return forces;
        }
        for (particle, (&run, &w)) in (0..).zip(self.compiled.tether_runs.iter().zip(&self.inverse_masses)) {
            let (first, count) = ((run >> 4) as usize, (run & 15) as usize);
            let rows = self.tether_rows.iter().zip(tether_displacements).skip(first).take(count);
            let taut = rows.filter(|&(_, &displacement)| displacement > 0.0 && w > 0.0);
            forces.extend(taut.map(|(row, displacement)| TetherForce {
                particle,
                anchor: row.anchor,
                force: displacement / (w * h * h),
            }));
        }
        forces
    }

    /// `Ok` if mean forces of this kind are recorded.
    pub fn check_mean_forces(&self, kind: usize) -> Result<()> {
        let count = self.compiled.kinds.len();
        if kind >= count {
            let (what, index, count) = ("read_mean_forces_of".into(), kind as u64, count as u64);
            return Err(Error::IndexOutOfRange { what, target: "kind", index, count });
        }
        if !self.settings.mean_forces {
            let (what, needed) = ("read_mean_forces", "Settings::mean_forces = true");
            return Err(Error::NotEnabled { what, needed });
        }
        Ok(())
    }

    /// Mean force \[N\] of each constraint of a kind, from the sums of λ over a step of n substeps of h \[s\]. 0 if no
    /// step has run.
    pub fn mean_forces(&self, kind: usize, sums: &[f32], (h, substeps): (f32, u32)) -> Vec<f32> {
        let compiled = &self.compiled.kinds[kind];
        let unit = h * h * substeps as f32;
        let force = |sum: f32| if unit > 0.0 { sum / unit } else { 0.0 };
        compiled.coloring.unsort(&compiled.info.lambdas(sums)).into_iter().map(force).collect()
    }
}
