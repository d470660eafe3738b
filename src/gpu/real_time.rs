//! Steps that are due in real time.

use super::instances::Instances;
use super::solver::Solver;
use crate::error::{Error, Result};

/// The default of [`Solver::set_catch_up_limit`].
const CATCH_UP_LIMIT: u32 = 4;

/// The real time that is not yet simulated.
#[derive(Debug, Clone, Copy)]
pub(super) struct RealTime {
    /// At most a step \[s\].
    pub left: f32,
    /// The most steps of [`RealTime::advance`].
    catch_up_limit: u32,
}

impl Default for RealTime {
    fn default() -> Self {
        Self { left: 0.0, catch_up_limit: CATCH_UP_LIMIT }
    }
}

impl RealTime {
    fn advance(&mut self, real_seconds: f32, dt: f32) -> u32 {
        self.left += if real_seconds.is_finite() { real_seconds.max(0.0) } else { 0.0 };
        let due = (self.left / dt).floor();
        // Whole steps beyond the most are dropped; the fraction is kept.
        self.left = (self.left - due * dt).clamp(0.0, dt);
        (due as u32).min(self.catch_up_limit)
    }

    fn set_catch_up_limit(&mut self, steps: u32) -> Result<()> {
        if steps == 0 {
            return Err(Error::invalid("catch-up limit of advance", 0.0, "at least 1 step"));
        }
        self.catch_up_limit = steps;
        Ok(())
    }
}

impl Solver {
    /// Returns the number of steps of `dt` that are due after another `real_seconds`, at most the catch-up limit, 4 by default
    /// ([`Solver::set_catch_up_limit`]). Further whole steps are dropped; the remaining fraction of a step is kept for the next call, see
    /// [`Solver::interpolation`]. A NaN, infinite or negative time counts as 0.
    #[must_use = "encode as many steps"]
    pub fn advance(&mut self, real_seconds: f32) -> u32 {
        self.real_time.advance(real_seconds, self.controls.settings.dt)
    }

    /// Sets the most steps that one call of [`Solver::advance`] returns, at least 1. Default: 4.
    ///
    /// A program whose frames take longer than so many steps runs slower than real time. A higher limit keeps up after longer
    /// pauses, but a frame that is slow because of its steps makes the next one slower still. With
    /// 1, the simulation slows down as soon as a frame takes longer than `dt`.
    ///
    /// # Errors
    /// [`crate::Error::InvalidValue`] for 0.
    pub fn set_catch_up_limit(&mut self, steps: u32) -> Result<()> {
        self.real_time.set_catch_up_limit(steps)
    }

    /// The fraction f of the next step that real time has reached, 0 to 1. For smooth motion, draw at x − (1 − f) dt v.
    pub fn interpolation(&self) -> f32 {
        self.real_time.left / self.controls.settings.dt
    }
}

impl Instances {
    /// Returns the number of steps of `dt` that are due after another `real_seconds`, as [`Solver::advance`] does.
    #[must_use = "encode as many steps"]
    pub fn advance(&mut self, real_seconds: f32) -> u32 {
        self.real_time.advance(real_seconds, self.settings().dt)
    }

    /// Sets the most steps that one call of [`Instances::advance`] returns: see [`Solver::set_catch_up_limit`].
    ///
    /// # Errors
    /// [`crate::Error::InvalidValue`] for 0.
    pub fn set_catch_up_limit(&mut self, steps: u32) -> Result<()> {
        self.real_time.set_catch_up_limit(steps)
    }

    /// The fraction of the next step that real time has reached, as [`Solver::interpolation`].
    pub fn interpolation(&self) -> f32 {
        self.real_time.left / self.settings().dt
    }
}
