//! What the benches share: the time of passes, and where results go.

#[path = "../../examples/common/measure.rs"]
#[allow(dead_code, reason = "each bench uses its own part of it")]
pub mod measure;

use std::time::Instant;
use supple::gpu::Context;
use supple::{Pass, Solver, wgpu};

/// Milliseconds of the passes, by timestamps where the adapter has them.
pub fn time(gpu: &Context, solver: &mut Solver, passes: &[Pass], repeats: usize) -> f64 {
    let device = &gpu.device;
    let timed = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let set = timed.then(|| {
        device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 })
    });
    let writes = set.as_ref().map(|query_set| wgpu::ComputePassTimestampWrites {
        query_set,
        beginning_of_pass_write_index: Some(0),
        end_of_pass_write_index: Some(1),
    });
    let start = Instant::now();
    let mut encoder = device.create_command_encoder(&Default::default());
    solver.encode_passes(&mut encoder, (0..repeats).flat_map(|_| passes.iter().copied()), writes);
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: false })
    };
    let staging = set.as_ref().map(|set| {
        let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
        let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        encoder.resolve_query_set(set, 0..2, &resolved, 0);
        encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, 16);
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| {});
        staging
    });
    gpu.queue.submit([encoder.finish()]);
    let waited = device.poll(wgpu::PollType::wait_indefinitely()).is_ok();
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let ticks = staging.filter(|_| waited).and_then(|staging| {
        let view = staging.get_mapped_range(..).ok()?;
        let [begin, end]: [u64; 2] = bytemuck::pod_read_unaligned(&view);
        Some(end.saturating_sub(begin) as f64 * f64::from(gpu.queue.get_timestamp_period()) * 1e-6)
    });
    ticks.unwrap_or(wall) / repeats as f64
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
