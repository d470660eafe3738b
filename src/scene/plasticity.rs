//! Plasticity of constraints.

use super::Scene;
use crate::constraints::{Kind, Plasticity, kind_index};
use crate::error::{Error, Result};
use std::ops::Range;

impl Scene {
    /// Lets distance or hinge constraints yield and break. `constraints` are indices among those of their kind, as the
    /// builders return them; a constraint has the last plasticity that it was given. [`crate::Solver::reset`] restores the rest
    /// values. `Instances` do not support it.
    ///
    /// A rigid constraint stretches only by the error of a sweep. Give it a compliance to yield at a force: α F/L₀ is its strain
    /// under the force F.
    ///
    /// # Errors
    /// The constraints must exist and be of a kind that can yield, and the parameters in range. A constraint of a length must
    /// have a rest length above 0.
    pub fn set_plasticity<K: Kind>(&mut self, constraints: Range<u32>, plasticity: Plasticity) -> Result<()> {
        plasticity.check(K::INFO)?;
        let set = &mut self.constraints[kind_index(K::INFO)];
        if constraints.start > constraints.end || constraints.end as usize > set.len() {
            return Err(Error::IndexOutOfRange {
                what: format!("end of the range {constraints:?} in set_plasticity"),
                target: K::INFO.name,
                index: constraints.end.into(),
                count: set.len() as u64,
            });
        }
        for constraint in constraints.clone() {
            set.check_yields(constraint)?;
        }
        set.plastic.extend(constraints.map(|constraint| (constraint, plasticity)));
        Ok(())
    }
}
