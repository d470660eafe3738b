//! The table of all runs.

use crate::common::figure;
use crate::common::measure::median;
use crate::drape::{Drape, Init, Line};
use crate::peers::{Peer, SUPPLE};
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write as _;

/// One run of one peer.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    pub name: String,
    pub round: u32,
    /// The mean number of processors that other processes used, if the system reports it.
    pub others_cores: Option<f64>,
    #[serde(flatten)]
    pub line: Line,
}

/// The runs of a peer, or its error.
pub struct Outcome {
    pub peer: &'static Peer,
    pub runs: Vec<Run>,
    /// The reason why the peer did not run, or did not finish.
    pub fault: Option<String>,
}

impl Outcome {
    pub fn new(peer: &'static Peer) -> Self {
        Self { peer, runs: Vec::new(), fault: None }
    }

    /// The median of a value over the rounds, if all rounds have it.
    fn median(&self, figure: impl Fn(&Line) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.runs.iter().map(|run| figure(&run.line)).collect();
        values.filter(|values| !values.is_empty()).map(median)
    }

    /// The median ratio of the frame times of this peer and another one in the same round.
    fn ratio(&self, to: &Outcome) -> Option<f64> {
        let pairs = self
            .runs
            .iter()
            .flat_map(|run| to.runs.iter().filter(|other| other.round == run.round).map(move |other| (run, other)));
        let ratios: Vec<f64> =
            pairs.map(|(run, other)| run.line.ms_per_frame_median / other.line.ms_per_frame_median).collect();
        (!ratios.is_empty()).then(|| median(ratios))
    }

    fn row(&self, supple: Option<&Outcome>) -> String {
        let name = self.peer.name;
        let Some(run) = self.runs.first() else {
            let fault = self.fault.as_deref().unwrap_or("not run");
            return format!("| {name} | not run: {} | | | | | | | |", fault.replace('|', "/"));
        };
        let best = self.runs.iter().map(|run| run.line.ms_min).fold(f64::INFINITY, f64::min);
        let (line, fault) = (&run.line, self.fault.as_ref().map(|fault| format!("; then: {fault}")));
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} / {} | {} / {} | {} × {}; {}{} |",
            figure(self.median(|line| Some(line.ms_per_frame_median))),
            figure(self.median(|line| line.gpu_ms_per_frame)),
            figure(supple.and_then(|supple| self.ratio(supple))),
            figure(Some(best)),
            figure(self.median(|line| line.user_ms_per_frame)),
            percent(self.median(|line| line.mean_strain)),
            percent(self.median(|line| line.max_strain)),
            percent(self.median(|line| line.mean_strain_late)),
            percent(self.median(|line| line.max_strain_late)),
            line.substeps,
            line.iterations,
            line.note.replace('|', "/"),
            fault.unwrap_or_default(),
        )
    }
}

/// The table with its explanation.
pub fn markdown(adapter: &str, drape: &Drape, frames: u32, repeat: u32, outcomes: &[Outcome]) -> Result<String> {
    let supple = outcomes.iter().find(|outcome| outcome.peer.name == SUPPLE);
    let cores = std::thread::available_parallelism()?;
    let loads: Vec<f64> =
        outcomes.iter().flat_map(|outcome| &outcome.runs).filter_map(|run| run.others_cores).collect();
    let init = if drape.init == Init::Hang { "hanging" } else { "flat" };
    let mut text = format!(
        "Adapter: {adapter}. CPU: {}, {cores} threads. Cloth of {n} × {n} particles, hung by two corners, {init} at the start, {} constraints; \
         {frames} frames of 1/60 s. Medians over {repeat} rounds; in each, all play one after the other.",
        cpu().as_deref().unwrap_or("unknown"),
        drape.links().len(),
        n = drape.n,
    );
    if !loads.is_empty() {
        let most = loads.iter().copied().fold(0.0, f64::max);
        write!(text, " Meanwhile others took {:.1} of the processors, {most:.1} at most.", median(loads))?;
    }
    write!(
        text,
        "\n\n| peer | ms a frame | of these on the GPU | to supple | best frame ms | CPU ms a frame | structural strain after {:.1} s, mean / max | \
         over the last frames, mean / max | substeps × sweeps; what it is |\n|---|---|---|---|---|---|---|---|---|\n",
        f64::from(frames) / 60.0
    )?;
    for outcome in outcomes {
        writeln!(text, "{}", outcome.row(supple))?;
    }
    Ok(text)
}

/// Formats a strain. A diverged simulation has none, or a negative one.
fn percent(strain: Option<f64>) -> String {
    match strain {
        Some(strain) if strain >= 0.0 => format!("{} %", figure(Some(strain * 100.0))),
        _ => "–".into(),
    }
}

fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let model = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(model.trim_start_matches([' ', '\t', ':']).to_owned())
}
