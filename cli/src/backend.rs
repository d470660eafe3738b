//! The solver or the CPU reference, behind the same calls.

use supple::gpu::Context;
use supple::scene_file::SceneFile;
use supple::{ColliderForce, ColliderId, ContactReport, Diagnostics, Pose, Reference, Solver, wgpu};

/// One of the two backends.
pub enum Backend {
    Gpu(Box<(Context, Solver)>),
    Cpu(Box<Reference>),
}

impl Backend {
    pub fn on_cpu(file: &SceneFile) -> anyhow::Result<Self> {
        Ok(Self::Cpu(Box::new(file.reference()?)))
    }

    pub fn on_gpu(file: &SceneFile) -> anyhow::Result<Self> {
        let gpu = Context::new(supple::required_limits_with(&file.scene, &file.settings))?;
        let solver = file.solver(&gpu.device, &gpu.queue)?;
        let mut backend = Self::Gpu(Box::new((gpu, solver)));
        // Computes the normals of the initial state.
        backend.run(0)?;
        Ok(backend)
    }

    /// Waits for the steps, so that lists of contacts grow by their counts and progress is that of the work.
    fn run(&mut self, steps: u32) -> anyhow::Result<()> {
        match self {
            Self::Gpu(backend) => {
                let (gpu, solver) = &mut **backend;
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                solver.encode(&mut encoder, steps);
                let submission_index = Some(gpu.queue.submit([encoder.finish()]));
                gpu.device.poll(wgpu::PollType::Wait { submission_index, timeout: None })?;
            }
            Self::Cpu(reference) => reference.step(steps),
        }
        Ok(())
    }

    /// Runs the step that ends at a time \[s\], with the targets and colliders of the scene. Returns the number of tears that
    /// had no copy left.
    pub fn step(&mut self, file: &SceneFile, time: f64) -> anyhow::Result<u32> {
        for (particle, position) in file.targets_at(time) {
            self.set_target(particle, position)?;
        }
        for (collider, pose) in file.collider_poses_at(time) {
            self.move_collider(collider, pose)?;
        }
        self.run(1)?;
        if !file.scene.can_tear() {
            return Ok(0);
        }
        let tears = match self {
            Self::Gpu(backend) => backend.1.tear()?,
            Self::Cpu(reference) => reference.tear()?,
        };
        Ok(tears.refused)
    }

    fn set_target(&mut self, particle: u32, position: [f32; 3]) -> supple::Result<()> {
        match self {
            Self::Gpu(backend) => backend.1.set_target(particle, position),
            Self::Cpu(reference) => reference.set_target(particle, position),
        }
    }

    fn move_collider(&mut self, collider: ColliderId, pose: Pose) -> supple::Result<()> {
        match self {
            Self::Gpu(backend) => backend.1.move_collider(collider, pose),
            Self::Cpu(reference) => reference.move_collider(collider, pose),
        }
    }

    pub fn contacts(&self) -> supple::Result<ContactReport> {
        match self {
            Self::Gpu(backend) => backend.1.read_contacts(),
            Self::Cpu(reference) => reference.read_contacts(),
        }
    }

    pub fn collider_forces(&self) -> supple::Result<Vec<ColliderForce>> {
        match self {
            Self::Gpu(backend) => backend.1.read_collider_forces(),
            Self::Cpu(reference) => reference.read_collider_forces(),
        }
    }

    pub fn positions(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(backend) => backend.1.read_positions(),
            Self::Cpu(reference) => reference.read_positions(),
        }
    }

    pub fn velocities(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(backend) => backend.1.read_velocities(),
            Self::Cpu(reference) => reference.read_velocities(),
        }
    }

    /// Unit normals; empty without surfaces.
    pub fn normals(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(backend) => backend.1.read_normals(),
            Self::Cpu(reference) => reference.read_normals(),
        }
    }

    /// λ of all constraints of a kind, in the order of the scene.
    pub fn lambdas(&self, kind: usize) -> supple::Result<Vec<f32>> {
        let solver = match self {
            Self::Cpu(reference) => return reference.read_lambdas_of(kind),
            Self::Gpu(backend) if backend.1.settings().keep_lambdas => &backend.1,
            Self::Gpu(_) => return Ok(Vec::new()),
        };
        solver.read_lambdas_of(kind)
    }

    /// The counters of non-finite positions and of lost contacts with colliders.
    pub fn diagnostics(&self) -> supple::Result<Diagnostics> {
        match self {
            Self::Gpu(backend) => backend.1.read_diagnostics(),
            Self::Cpu(reference) => reference.read_diagnostics(),
        }
    }
}
