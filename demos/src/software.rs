//! A smaller demo for the window on a software adapter.

use super::Demo;
use super::measure::columns_at_rate;
use std::time::Instant;
use supple::gpu::Context;
use supple::{Solver, wgpu};

/// Makes the demo with as many columns and rows.
pub type Resized = Box<dyn Fn(u32) -> supple::Result<Demo>>;

/// Columns and rows of the demo that is measured.
const MEASURED: u32 = 64;

/// On a software adapter, replaces a demo that can be resized by one that plays at about 15 pictures per second there, if
/// it is smaller.
pub fn shrink(gpu: &Context, demo: &mut Demo) -> supple::Result<()> {
    let is_software = gpu.adapter.get_info().device_type == wgpu::DeviceType::Cpu;
    let Some(resized) = demo.resized.take().filter(|_| is_software) else { return Ok(()) };
    let columns = columns_at_rate(MEASURED, step_seconds(gpu, &resized(MEASURED)?)?);
    let smaller = resized(columns)?;
    let [count, all] = [&smaller, demo].map(|demo| demo.scene.particle_count());
    if count < all {
        let note = format!("software adapter: {count} particles instead of {all}\n--columns and --rows set the size");
        eprintln!("{note}");
        *demo = Demo { note, ..smaller };
    }
    Ok(())
}

/// The least time of three steps [s]. The first step, before them, compiles shaders.
fn step_seconds(gpu: &Context, demo: &Demo) -> supple::Result<f64> {
    let mut solver = Solver::new(&gpu.device, &gpu.queue, &demo.scene, demo.settings)?;
    let mut least = f64::INFINITY;
    for step in 0..4 {
        let start = Instant::now();
        solver.step(1);
        solver.read_diagnostics()?;
        if step > 0 {
            least = least.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(least)
}
