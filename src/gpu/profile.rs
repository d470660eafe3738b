//! Where the GPU's time goes: a frame with each run of equal passes between two timestamps.

use super::readback::Readback;
use super::solver::Solver;
use super::timestamps::{Interval, Timestamps};
use crate::error::Result;
use crate::kinds::KINDS;
use crate::plan::{Pass, SearchPass};

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

/// What a pass is called in profiles: what its pipeline is called, with the kind of its constraints where it has one; the sort for crossings
/// has one name.
pub fn pass_name(pass: &Pass) -> String {
    let of_kind = |what: &str, kind: usize| format!("{what}_{}", KINDS[kind].name);
    let name = match *pass {
        Pass::Project { kind, .. } => return of_kind("project", kind),
        Pass::Tiles { kind, .. } => return of_kind("project_tile", kind),
        Pass::Patches { kind, .. } => return of_kind("project_patch", kind),
        Pass::Stars { kind, .. } => return of_kind("project_stars", kind),
        Pass::Split { kind, .. } => return of_kind("split", kind),
        Pass::GatherChunks { kind } => return of_kind("gather_chunks", kind),
        Pass::GatherHubs { kind } => return of_kind("gather_hubs", kind),
        Pass::Whole | Pass::WholeSweep { .. } => "whole",
        Pass::Halos { .. } => "halos",
        Pass::Targets => "targets",
        Pass::Start => "start",
        Pass::Accelerations => "accelerations",
        Pass::Predict => "predict",
        Pass::SaveDisplacements => "save_displacements",
        Pass::RestoreMomentum => "restore_momentum",
        Pass::Tether => "tether",
        Pass::Watch => "watch",
        Pass::Search(part) => match part {
            SearchPass::Clear => "search_clear",
            SearchPass::Gather => "search_gather",
            SearchPass::Prune => "search_prune",
            SearchPass::Bound => "search_bound",
            SearchPass::Horizon => "search_horizon",
            SearchPass::Count => "search_count",
            SearchPass::SumBlocks => "search_sum_blocks",
            SearchPass::ScanBlocks => "search_scan_blocks",
            SearchPass::Starts => "search_starts",
            SearchPass::Fill => "search_fill",
            SearchPass::Pairs => "search_pairs",
            SearchPass::VertexPairs => "search_vertex_pairs",
            SearchPass::EdgePairs => "search_edge_pairs",
            SearchPass::Ready => "search_ready",
        },
        Pass::Contacts => "contacts",
        Pass::Untangle => "untangle",
        Pass::Separate => "separate",
        Pass::Settle { .. } => "settle",
        Pass::Divide { .. } => "divide",
        Pass::Truncate { .. } => "truncate",
        Pass::ForgetTouches => "forget_touches",
        Pass::Carry => "carry",
        Pass::Collide => "collide",
        Pass::CollideAdvance => "collide_advance",
        Pass::Bounce => "bounce",
        Pass::Arrive => "arrive",
        Pass::ColliderForces => "collider_forces",
        Pass::Sort(_) => "sort_crossings",
        Pass::ClearCrossings => "clear_crossings",
        Pass::FindCrossings => "find_crossings",
        Pass::Velocity => "velocity",
        Pass::Advance => "advance",
        Pass::AdvanceTethered => "advance_tethered",
        Pass::AdvanceFree => "advance_free",
        Pass::AdvancePinned => "advance_pinned",
        Pass::BodyDamping => "body_damping",
        Pass::Finish => "finish",
        Pass::Follow => "follow",
        Pass::Normals => "normals",
    };
    name.to_owned()
}
