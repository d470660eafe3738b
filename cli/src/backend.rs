//! A scene file on the GPU or on the CPU reference.

use supple::gpu::Context;
use supple::scene_file::SceneFile;
use supple::{Simulation, wgpu};

/// A running scene file.
pub struct Backend {
    pub simulation: Box<dyn Simulation>,
    /// `None` on the CPU.
    gpu: Option<Context>,
}

impl Backend {
    pub fn on_cpu(file: &SceneFile) -> anyhow::Result<Self> {
        Ok(Self { simulation: Box::new(file.reference()?), gpu: None })
    }

    pub fn on_gpu(file: &SceneFile) -> anyhow::Result<Self> {
        let gpu = Context::new(supple::required_limits_with(&file.scene, &file.settings))?;
        let simulation = Box::new(file.solver(&gpu.device, &gpu.queue)?);
        let mut backend = Self { simulation, gpu: Some(gpu) };
        // Computes the normals of the initial state.
        backend.run(0)?;
        Ok(backend)
    }

    /// Waits for the steps, so that lists of contacts grow by their counts and progress is that of the work.
    fn run(&mut self, steps: u32) -> anyhow::Result<()> {
        self.simulation.step(steps);
        if let Some(gpu) = &self.gpu {
            gpu.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: None })?;
        }
        Ok(())
    }

    /// Runs the step that ends at a time \[s\], with the targets and colliders of the scene. Returns the number of tears that
    /// had no copy left.
    pub fn step(&mut self, file: &SceneFile, time: f64) -> anyhow::Result<u32> {
        for (particle, position) in file.targets_at(time) {
            self.simulation.set_target(particle, position)?;
        }
        for (collider, pose) in file.collider_poses_at(time) {
            self.simulation.move_collider(collider, pose)?;
        }
        self.run(1)?;
        if !file.scene.can_tear() {
            return Ok(0);
        }
        Ok(self.simulation.tear()?.refused)
    }
}
