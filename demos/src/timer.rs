//! GPU time of the solver in a window.

use supple::gpu::{Context, Interval, Profile, Readback, Timestamps};
use supple::{Solver, wgpu};

/// GPU time of the solver, by timestamps.
pub struct Timer {
    pass: Timestamps,
    pending: Option<Pending>,
    /// The last measured step [ms].
    pub milliseconds: Option<f64>,
}

/// Timings in flight.
enum Pending {
    Pass(Readback<Vec<Interval>>),
    Runs(Readback<Profile>),
}

impl Timer {
    /// `None` without timestamp support.
    pub fn new(gpu: &Context) -> Option<Self> {
        let pass = Timestamps::new(&gpu.device, &gpu.queue, 1).ok()?;
        Some(Self { pass, pending: None, milliseconds: None })
    }

    /// Records a step, timed as a whole or pass by pass.
    pub fn encode(
        &mut self,
        solver: &mut Solver,
        encoder: &mut wgpu::CommandEncoder,
        profiles: bool,
    ) -> supple::Result<()> {
        if self.pending.is_some() {
            solver.encode(encoder, 1);
        } else if profiles {
            self.pending = Some(Pending::Runs(solver.encode_profiled(encoder, 1)?));
        } else {
            solver.encode_timed(encoder, 1, Some(self.pass.writes(0)));
            self.pending = Some(Pending::Pass(self.pass.request(encoder)));
        }
        Ok(())
    }

    /// Collects the timings that arrived since the last frame; returns a profile if one was requested.
    pub fn collect(&mut self) -> supple::Result<Option<Profile>> {
        let (come, profile) = match &mut self.pending {
            None => return Ok(None),
            Some(Pending::Pass(pass)) => (pass.try_take()?.map(|intervals| intervals[0].milliseconds()), None),
            Some(Pending::Runs(runs)) => {
                let profile = runs.try_take()?;
                (profile.as_ref().map(Profile::milliseconds), profile)
            }
        };
        if come.is_some() {
            (self.pending, self.milliseconds) = (None, come);
        }
        Ok(profile)
    }
}
