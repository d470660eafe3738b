//! `supple bake`: simulates a scene file and writes its results.
//!
//! The first sample is the initial state. With `--every K` the samples are the steps 0, K, 2 K, … up to N: N/K + 1 of them.
//! Samples are written as they are computed, to a temporary file that is renamed once it is complete. An interrupt ends the
//! simulation after the current step, and temporary files are removed.

mod outputs;
mod warnings;

use crate::backend::Backend;
use crate::console;
use crate::interrupt;
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use outputs::Outputs;
use std::path::PathBuf;
use supple::constraints::KINDS;
use supple::scene_file::SceneFile;

#[derive(clap::Args, Debug)]
#[command(after_help = "\
Without an output option, positions go to positions.npy. NumPy arrays are float32 of shape (samples, particles, 3); \
the array of --lambda has the shape (samples, constraints). The first sample is the initial state.

OBJ, PC2, MDD and USD contain the surfaces, ropes and rods of the scene, y up, in m. One sample is one frame of PC2 and USD: \
for 24 frames per second, set dt of the scene to 1/24 s, or to 1/48 s with --every 2.")]
pub struct Arguments {
    /// The scene file; docs/scene.md describes the format
    scene: PathBuf,
    /// Steps to simulate
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(..=1_000_000_000))]
    frames: u32,
    /// Write every K-th step
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Simulate on the CPU reference
    #[arg(long)]
    reference: bool,
    /// Positions [m] as a NumPy array
    #[arg(long, value_name = "FILE.npy")]
    out: Option<PathBuf>,
    /// Velocities [m/s] as a NumPy array
    #[arg(long, value_name = "FILE.npy")]
    velocities: Option<PathBuf>,
    /// λ after the last substep of each sample as a NumPy array, 0 at the start; λ/h² is the force along ∇C
    #[arg(long, value_name = "FILE.npy")]
    lambda: Option<PathBuf>,
    /// The kind of constraint whose λ is written
    #[arg(long, value_name = "KIND", default_value = "distance", value_parser = kind_names())]
    lambda_kind: String,
    /// Contacts, one line of JSON per sample: counts, and the poses, forces [N] and torques [N m] of colliders, averaged
    /// over the last step
    #[arg(long, value_name = "FILE.jsonl")]
    contacts: Option<PathBuf>,
    /// A folder of OBJ files, one per sample, with texture coordinates and normals
    #[arg(long, value_name = "FOLDER")]
    obj: Option<PathBuf>,
    /// A PC2 point cache; vertices in the order of the mesh files of the scene. "{part}" in the name writes one per part
    #[arg(long, value_name = "FILE.pc2")]
    pc2: Option<PathBuf>,
    /// An MDD point cache; vertices as for --pc2
    #[arg(long, value_name = "FILE.mdd")]
    mdd: Option<PathBuf>,
    /// A USD stage: meshes and curves with points, normals, velocities and texture coordinates
    #[arg(long, value_name = "FILE.usda")]
    usd: Option<PathBuf>,
    /// Write the samples of the USD stage to value clips, one file each, in the folder FILE_clips
    #[arg(long, requires = "usd")]
    usd_clips: bool,
    /// Write only this part to OBJ, PC2, MDD and USD
    #[arg(long, value_name = "NAME")]
    part: Option<String>,
}

fn kind_names() -> clap::builder::PossibleValuesParser {
    KINDS.iter().map(|info| info.name).collect::<Vec<_>>().into()
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut file = SceneFile::read(&arguments.scene).with_context(|| arguments.scene.display().to_string())?;
    for hint in &file.hints {
        console::warn(hint);
    }
    file.settings.keep_lambdas |= arguments.lambda.is_some();
    let shapes = outputs::shapes(arguments, &file)?;
    outputs::check(arguments, &shapes)?;
    let mut backend = if arguments.reference { Backend::on_cpu(&file)? } else { Backend::on_gpu(&file)? };
    interrupt::watch()?;
    let mut outputs = Outputs::create(arguments, &file, &backend, shapes)?;
    // The progress bar is hidden without a terminal.
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} steps, {per_sec}, {eta} left")?;
    let progress = ProgressBar::new(arguments.frames.into()).with_style(style);
    let mut refused_tears = 0;
    for step in 0..=arguments.frames {
        interrupt::check(|| format!("before step {step} of {}", arguments.frames))?;
        let time = f64::from(step) * f64::from(file.settings.dt);
        if step > 0 {
            refused_tears += u64::from(backend.step(&file, time)?);
            progress.inc(1);
        }
        if step % arguments.every == 0 {
            outputs.write(step, &file, &backend)?;
        }
    }
    progress.finish_and_clear();
    let finished = outputs.finish();
    finished.and(warnings::print(&file, &backend, refused_tears))
}
