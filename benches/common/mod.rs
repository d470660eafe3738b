//! Shared by the benches: frame times, number formatting, and output files.

#[path = "../../demos/src/measure.rs"]
#[allow(dead_code, reason = "each bench uses its own part of it")]
pub mod measure;

use std::time::Instant;
use supple::gpu::{Context, Timestamps};
use supple::wgpu;

/// The name of an adapter as used in file names.
pub fn file_name(adapter: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = adapter.chars().map(plain).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Writes a report to `benches/results/<name of the adapter><suffix>.md`. Outside of cargo, as in `benches/gpu/run.sh`, nothing is written.
#[allow(dead_code, reason = "the peers write theirs where they are told to")]
pub fn write_results(suffix: &str, adapter: &str, text: &str) -> std::io::Result<()> {
    let name = file_name(adapter);
    let Ok(package) = std::env::var("CARGO_MANIFEST_DIR") else { return Ok(()) };
    let folder = format!("{package}/benches/results");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(format!("{folder}/{name}{suffix}.md"), text)?;
    println!("wrote benches/results/{name}{suffix}.md");
    Ok(())
}

/// The error type of the benches.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// The times of a frame \[ms\].
#[allow(dead_code, reason = "each bench uses its own part of it")]
pub struct Frame {
    /// CPU time to record the frame, including `finish`.
    pub recording: f64,
    /// Wall-clock time from the start of recording to the end of the GPU work.
    pub wall: f64,
    /// GPU time by timestamps around the compute pass; `None` without timestamp support.
    pub gpu: Option<f64>,
}

/// Runs the commands that `encode` records, with optional timestamps.
pub fn run_frame(
    gpu: &Context,
    timestamps: Option<&Timestamps>,
    encode: impl FnOnce(&mut wgpu::CommandEncoder, Option<wgpu::ComputePassTimestampWrites<'_>>),
) -> Result<Frame, Fault> {
    let start = Instant::now();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encode(&mut encoder, timestamps.map(|timestamps| timestamps.writes(0)));
    let commands = encoder.finish();
    let recording = start.elapsed().as_secs_f64() * 1e3;
    // The readback request is not part of the frame.
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let asked = timestamps.map(|timestamps| timestamps.request(&mut encoder));
    gpu.queue.submit([commands, encoder.finish()]);
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let taken = asked.map(|mut asked| asked.try_take()).transpose()?.flatten();
    Ok(Frame { recording, wall, gpu: taken.map(|intervals| intervals[0].milliseconds()) })
}

/// The median of the GPU times; `None` unless all frames have one.
#[allow(dead_code, reason = "each bench uses its own part of this")]
pub fn median_gpu(frames: &[Frame]) -> Option<f64> {
    frames.iter().map(|frame| frame.gpu).collect::<Option<_>>().map(measure::median)
}

/// The entries whose names are on the command line; none if there is no such name.
#[allow(dead_code, reason = "each bench uses its own part of this")]
pub fn named<T: Copy>(arguments: &[String], entries: &[(&'static str, T)]) -> Option<Vec<(&'static str, T)>> {
    let given = |(name, _): &&(&str, T)| arguments.iter().any(|argument| argument == name);
    let found: Vec<_> = entries.iter().filter(given).copied().collect();
    (!found.is_empty()).then_some(found)
}

/// Formats a value with three digits, or a dash for none.
pub fn figure(value: impl Into<Option<f64>>) -> String {
    match value.into() {
        None => "–".into(),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) if value >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}
