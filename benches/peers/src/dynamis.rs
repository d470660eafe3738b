//! Soft bodies of dynamis, on the same GPU as supple.
//!
//! dynamis solves XPBD constraints by averaged Jacobi. Its own cloth is limited to 64 × 64 particles, so both rows use
//! the constraints of the workload.

use crate::drape::{DT, Drape, Link, Simulation, Ready, SUBSTEPS, State};
use anyhow::{Result, anyhow, ensure};
use dynamis::{GpuContext, GpuRequest, PhysicsConfig, SoftBodyDesc, SoftBodyHandle, SoftElement, WarmupBudget, World};
use supple::wgpu;

/// 20 substeps of one sweep, without damping.
pub fn same(drape: &Drape) -> Result<Ready> {
    let config =
        PhysicsConfig { soft_substeps: SUBSTEPS, soft_iterations: 1, damping: 0.0, ..PhysicsConfig::default() };
    ready(drape, config, "20 substeps, undamped")
}

/// The default settings of dynamis.
pub fn default(drape: &Drape) -> Result<Ready> {
    ready(drape, PhysicsConfig::default(), "its settings at their defaults")
}

fn ready(drape: &Drape, config: PhysicsConfig, note: &str) -> Result<Ready> {
    let gpu = open()?;
    let adapter = gpu.adapter_info().name;
    let element = |link: Link| {
        let [first, second] = link.particles;
        SoftElement::distance(first, second, link.rest_length).compliance(link.compliance)
    };
    let elements: Vec<SoftElement> = drape.links().into_iter().map(element).collect();
    let constraints = elements.len();
    let body = SoftBodyDesc::new(drape.positions(), elements).inverse_masses(drape.inverse_masses());
    let mut world = World::new(gpu, config);
    let handle = world.add_soft_body(body);
    world.warmup(WarmupBudget::All);
    Ok(Ready {
        simulation: Box::new(Cloth { world, handle }),
        constraints,
        substeps: config.soft_substeps,
        iterations: config.soft_iterations,
        note: format!("dynamis 0.7: the constraints of the workload, all at once and averaged; {note}; {adapter}"),
    })
}

/// Opens the adapter that supple chooses, by name. Rejects CPU adapters, on which dynamis takes seconds per frame.
fn open() -> Result<GpuContext> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = supple::gpu::choose_adapter(&instance, None)?.get_info();
    ensure!(adapter.device_type != wgpu::DeviceType::Cpu, "runs on GPUs only, and {} is a CPU adapter", adapter.name);
    pollster::block_on(GpuContext::open(&GpuRequest::adapter_named(adapter.name))).map_err(|error| anyhow!("{error}"))
}

struct Cloth {
    world: World,
    handle: SoftBodyHandle,
}

impl Simulation for Cloth {
    fn run_frame(&mut self) -> Result<Option<f64>> {
        self.world.step(DT);
        self.world.gpu().device().poll(wgpu::PollType::wait_indefinitely())?;
        Ok(None)
    }

    fn state(&mut self) -> Result<State> {
        // dynamis does not expose velocities.
        Ok(State { positions: self.world.soft_body_positions(self.handle), velocities: None })
    }
}
