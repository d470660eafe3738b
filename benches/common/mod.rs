//! What the benches share: the time of passes, and where results go.

#[path = "../../examples/common/measure.rs"]
#[allow(dead_code, reason = "each bench uses its own part of it")]
pub mod measure;

use std::time::Instant;
use supple::gpu::{Context, Timestamps};
use supple::{Pass, Solver, wgpu};

/// Milliseconds of the passes, by timestamps where the adapter has them.
pub fn time(gpu: &Context, solver: &mut Solver, passes: &[Pass], repeats: usize) -> f64 {
    let device = &gpu.device;
    let timestamps = Timestamps::new(device, &gpu.queue, 1).ok();
    let start = Instant::now();
    let mut encoder = device.create_command_encoder(&Default::default());
    let writes = timestamps.as_ref().map(|timestamps| timestamps.writes(0));
    solver.encode_passes(&mut encoder, (0..repeats).flat_map(|_| passes.iter().copied()), writes);
    let asked = timestamps.as_ref().map(|timestamps| timestamps.request(&mut encoder));
    gpu.queue.submit([encoder.finish()]);
    let waited = device.poll(wgpu::PollType::wait_indefinitely()).is_ok();
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let taken = asked.filter(|_| waited).and_then(|mut asked| asked.try_take().ok().flatten());
    taken.map_or(wall, |intervals| intervals[0].milliseconds()) / repeats as f64
}

/// Writes a report to `benches/results/<name of the adapter><suffix>.md`.
pub fn write_results(suffix: &str, adapter: &str, text: &str) -> std::io::Result<()> {
    let name: String =
        adapter.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let name = name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results");
    std::fs::create_dir_all(folder)?;
    std::fs::write(format!("{folder}/{name}{suffix}.md"), text)?;
    println!("wrote benches/results/{name}{suffix}.md");
    Ok(())
}
