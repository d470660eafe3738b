//! Plasticity of constraints.

use super::Scene;
use crate::constraints::{BendTwist, Kind, Measure, Plasticity, StretchShear, kind_index};
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::ops::Range;

impl Scene {
    /// Lets distances, hinges, or segments and joints of rods yield and break. `constraints` are indices among those of their kind, as the
    /// builders return them; a constraint has the last plasticity that it was given. [`crate::Solver::reset`] restores the rest
    /// values. `Instances` do not support it.
    ///
    /// A rigid constraint stretches only by the error of a sweep. Give it a compliance to yield at a force: α F/L₀ is its strain
    /// under the force F. Tethers do not yield or break: add none.
    ///
    /// A segment of a rod that breaks takes its joints with it, so the rod comes apart. A joint that breaks turns freely from then on.
    ///
    /// # Errors
    /// The constraints must exist and be of a kind that can yield, and the parameters in range. A constraint of a length must
    /// have a rest length above 0.
    pub fn set_plasticity<K: Kind>(&mut self, constraints: Range<u32>, plasticity: Plasticity) -> Result<()> {
        plasticity.check(K::INFO)?;
        let set = &mut self.constraints[kind_index(K::INFO)];
        if constraints.end as usize > set.len() && !constraints.is_empty() {
            return Err(Error::IndexOutOfRange {
                what: format!("end of the range {constraints:?} in set_plasticity"),
                target: K::INFO.name,
                index: constraints.end.into(),
                count: set.len() as u64,
            });
        }
        for constraint in constraints.clone() {
            let first = constraint as usize * set.info.record_words + set.info.material_word() + 1;
            set.info.check_yields(constraint, &set.words[first..])?;
        }
        set.plastic.extend(constraints.clone().map(|constraint| (constraint, plasticity)));
        if K::INFO.plastic == Some(Measure::Stretch) && plasticity.rupture < f32::INFINITY {
            self.break_joints_with(constraints);
        }
        Ok(())
    }

    /// Gives the joints of segments that may break a plasticity, so that they break with them.
    fn break_joints_with(&mut self, segments: Range<u32>) {
        let set = &self.constraints[kind_index(StretchShear::INFO)];
        let frames: BTreeSet<u32> =
            segments.map(|segment| set.entities_of(segment)[StretchShear::INFO.point_count()]).collect();
        let joints = &mut self.constraints[kind_index(BendTwist::INFO)];
        let is_theirs = |joint: &u32| joints.entities_of(*joint).iter().any(|frame| frames.contains(frame));
        let theirs: Vec<u32> = (0..joints.len() as u32).filter(is_theirs).collect();
        for joint in theirs {
            joints.plastic.entry(joint).or_default();
        }
    }
}
