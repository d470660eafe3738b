//! The solver or the CPU reference, behind the same calls.

use supple::gpu::Context;
use supple::scene_file::SceneFile;
use supple::{ColliderForce, ColliderId, ContactReport, Pose, Reference, Solver};

/// One of the two backends.
pub enum Backend {
    Gpu(Box<(Context, Solver)>),
    Cpu(Box<Reference>),
}

impl Backend {
    pub fn on_gpu(file: &SceneFile) -> anyhow::Result<Self> {
        let gpu = Context::new(supple::required_limits_with(&file.scene, &file.settings))?;
        let solver = file.solver(&gpu.device, &gpu.queue)?;
        Ok(Self::Gpu(Box::new((gpu, solver))))
    }

    pub fn step(&mut self) {
        match self {
            Self::Gpu(backend) => {
                let (gpu, solver) = &mut **backend;
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                solver.encode(&mut encoder, 1);
                gpu.queue.submit([encoder.finish()]);
            }
            Self::Cpu(reference) => reference.step(1),
        }
    }

    pub fn set_target(&mut self, particle: u32, position: [f32; 3]) -> supple::Result<()> {
        match self {
            Self::Gpu(backend) => backend.1.set_target(particle, position),
            Self::Cpu(reference) => reference.set_target(particle, position),
        }
    }

    pub fn move_collider(&mut self, collider: ColliderId, pose: Pose) -> supple::Result<()> {
        match self {
            Self::Gpu(backend) => backend.1.move_collider(collider, pose),
            Self::Cpu(reference) => reference.move_collider(collider, pose),
        }
    }

    pub fn contacts(&self) -> supple::Result<ContactReport> {
        match self {
            Self::Gpu(backend) => backend.1.read_contacts(),
            Self::Cpu(reference) => Ok(reference.read_contacts().unwrap()),
        }
    }

    pub fn collider_forces(&self) -> supple::Result<Vec<ColliderForce>> {
        match self {
            Self::Gpu(backend) => backend.1.read_collider_forces(),
            Self::Cpu(reference) => Ok(reference.read_collider_forces().unwrap()),
        }
    }

    pub fn positions(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(backend) => backend.1.read_positions(),
            Self::Cpu(reference) => Ok(reference.read_positions().unwrap()),
        }
    }

    pub fn velocities(&self) -> supple::Result<Vec<[f32; 3]>> {
        match self {
            Self::Gpu(backend) => backend.1.read_velocities(),
            Self::Cpu(reference) => Ok(reference.read_velocities().unwrap()),
        }
    }

    /// λ of all constraints of a kind, in the order of the scene.
    pub fn lambdas(&self, kind: usize) -> supple::Result<Vec<f32>> {
        let solver = match self {
            Self::Cpu(reference) => return Ok(reference.read_lambdas_of(kind).unwrap()),
            Self::Gpu(backend) if backend.1.settings().keep_lambdas => &backend.1,
            Self::Gpu(_) => return Ok(Vec::new()),
        };
        solver.read_lambdas_of(kind)
    }

    /// The number of collider contacts beyond two colliders per particle and step.
    pub fn lost_collider_contacts(&self) -> supple::Result<u32> {
        match self {
            Self::Gpu(backend) => Ok(backend.1.read_diagnostics()?.lost_collider_contacts),
            Self::Cpu(reference) => Ok(reference.read_diagnostics().unwrap().lost_collider_contacts),
        }
    }

    /// The number of positions that became non-finite, and the first such particle if it is known.
    pub fn non_finite(&self) -> supple::Result<(u32, Option<u32>)> {
        match self {
            Self::Gpu(backend) => {
                let diagnostics = backend.1.read_diagnostics()?;
                Ok((diagnostics.non_finite_count, diagnostics.first_non_finite))
            }
            Self::Cpu(reference) => Ok((reference.read_diagnostics().unwrap().non_finite_count, None)),
        }
    }
}
