//! GPU time of the passes of a frame: timestamps around each run of equal passes.

use super::readback::Readback;
use super::solver::Solver;
use super::timestamps::{Interval, Timestamps};
use crate::constraints::KINDS;
use crate::error::Result;
use crate::schedule::plan::Pass;

/// GPU time of the passes of some steps; created by [`Solver::encode_profiled`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// The runs in order of execution.
    pub runs: Vec<Run>,
}

/// Consecutive passes of the same name, such as the colours of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// See [`pass_name`].
    pub name: String,
    /// Number of passes.
    pub passes: usize,
    /// Time of execution.
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

    /// Time from the beginning of the first pass to the end of the last \[ms\]. An unprofiled frame takes less time:
    /// profiled runs do not overlap.
    pub fn milliseconds(&self) -> f64 {
        self.runs.iter().map(|run| run.interval.end).fold(0.0, f64::max)
    }
}

impl Solver {
    /// Records steps as [`Solver::encode`] does, with the same result, but each run of passes of one name as a separate
    /// compute pass between two timestamps. For profiling only: each call creates GPU objects, and the GPU idles
    /// between runs.
    ///
    /// # Errors
    /// [`crate::Error::NoTimestamps`] if the device was requested without [`wgpu::Features::TIMESTAMP_QUERY`];
    /// [`crate::Error::Gpu`]. Nothing is recorded then.
    pub fn encode_profiled(&mut self, encoder: &mut wgpu::CommandEncoder, steps: u32) -> Result<Readback<Profile>> {
        let passes: Vec<Pass> = self.passes_of(steps).collect();
        let runs: Vec<&[Pass]> = passes.chunk_by(|a, b| pass_name(a) == pass_name(b)).collect();
        let timestamps = Timestamps::new(&self.device, &self.queue, runs.len())?;
        if steps > 0 {
            self.grow_contacts(encoder);
        }
        for (index, run) in runs.iter().enumerate() {
            self.ping_pong = self.record(encoder, run.iter().copied(), Some(timestamps.writes(index)));
        }
        self.record_with_outputs(encoder, std::iter::empty(), None);
        self.finish_steps(encoder, steps);
        let names: Vec<(String, usize)> = runs.iter().map(|run| (pass_name(&run[0]), run.len())).collect();
        Ok(timestamps.request_as(encoder, move |intervals| {
            let runs = names.iter().cloned().zip(intervals);
            Profile { runs: runs.map(|((name, passes), interval)| Run { name, passes, interval }).collect() }
        }))
    }
}

/// The name of a pass in profiles: the variant of `Pass` in snake case, followed by the kind of its constraints.
#[doc(hidden)]
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
