//! Where the GPU's time goes: a frame with each run of equal passes between two timestamps.

use super::readback::Readback;
use super::solver::Solver;
use super::timestamps::{Interval, Timestamps};
use crate::constraints::KINDS;
use crate::error::Result;
use crate::schedule::plan::Pass;

/// How long the passes of some steps took on the GPU; made by [`Solver::encode_profiled`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// In the order in which they ran.
    pub runs: Vec<Run>,
}

/// Passes of the same name that followed one another, as the colours of a kind do.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// See [`pass_name`].
    pub name: String,
    /// How many there were.
    pub passes: usize,
    /// When they ran.
    pub interval: Interval,
}

impl Profile {
    /// Time by name \[ms\], in the order in which the names first appear.
    pub fn by_name(&self) -> Vec<(&str, f64)> {
        let mut sums: Vec<(&str, f64)> = Vec::new();
        for Run { name, interval, .. } in &self.runs {
            match sums.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += interval.milliseconds(),
                None => sums.push((name, interval.milliseconds())),
            }
        }
        sums
    }

    /// From the beginning of the first pass to the end of the last \[ms\]. It is more than an unprofiled frame takes: each run has
    /// to end before the next begins.
    pub fn milliseconds(&self) -> f64 {
        self.runs.iter().map(|run| run.interval.end).fold(0.0, f64::max)
    }
}

impl Solver {
    /// Records steps as [`Solver::encode`] does, with the same result, but each run of passes of one name as a compute pass of its
    /// own between two timestamps. For profilers: it makes objects in every call, and the GPU is idle for a moment between
    /// the runs.
    ///
    /// # Errors
    /// [`crate::Error::NoTimestamps`] where the device was requested without [`wgpu::Features::TIMESTAMP_QUERY`];
    /// [`crate::Error::Gpu`]. Nothing is recorded then.
    pub fn encode_profiled(&mut self, encoder: &mut wgpu::CommandEncoder, steps: u32) -> Result<Readback<Profile>> {
        let first = self.steps;
        let substeps = self.controls.settings.substeps;
        let passes: Vec<Pass> =
            (0..steps).flat_map(|step| self.controls.plan.step(substeps, first.wrapping_add(step))).collect();
        let runs: Vec<&[Pass]> = passes.chunk_by(|a, b| pass_name(a) == pass_name(b)).collect();
        let timestamps = Timestamps::new(&self.device, &self.queue, runs.len())?;
        for (index, run) in runs.iter().enumerate() {
            self.encode_passes(encoder, run.iter().copied(), Some(timestamps.writes(index)));
        }
        if steps > 0 {
            self.recorded_substep = self.controls.settings.substep();
        }
        let names: Vec<(String, usize)> = runs.iter().map(|run| (pass_name(&run[0]), run.len())).collect();
        Ok(timestamps.request_as(encoder, move |intervals| {
            let runs = names.iter().cloned().zip(intervals);
            Profile { runs: runs.map(|((name, passes), interval)| Run { name, passes, interval }).collect() }
        }))
    }
}

/// The name of a pass in profiles: the variant of [`Pass`] in snake case, with the kind of its constraints behind it.
pub fn pass_name(pass: &Pass) -> String {
    let variant = |debug: String| {
        let name = debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned();
        name.char_indices().fold(String::new(), |snake, (place, c)| {
            let between = if c.is_uppercase() && place > 0 { "_" } else { "" };
            snake + between + &c.to_lowercase().to_string()
        })
    };
    let name = variant(format!("{pass:?}"));
    match *pass {
        Pass::Search(part) => format!("search_{}", variant(format!("{part:?}"))),
        _ => pass.kind().map_or(name.clone(), |kind| format!("{name}_{}", KINDS[kind].name)),
    }
}
