//! Steps that a solver or instances submit themselves.

use super::instances::Instances;
use super::solver::Solver;
use wgpu::{CommandEncoder, Device, Queue};

/// The most dispatches of a submission: many enough to amortize it, few enough for drivers that end a long one.
const DISPATCHES: u64 = 20_000;

/// The most substeps of a submission, times particles: 70 ms on an H200 ([figures](../../docs/performance.md#instances)).
const PARTICLE_SUBSTEPS: u64 = 200_000_000;

/// The work of a step.
struct Work {
    dispatches: u64,
    particle_substeps: u64,
}

/// Records and submits steps.
fn submit(
    (device, queue): (&Device, &Queue),
    (steps, work): (u32, Work),
    mut encode: impl FnMut(&mut CommandEncoder, u32),
) {
    let by_work = PARTICLE_SUBSTEPS / work.particle_substeps.max(1);
    let most = (DISPATCHES / work.dispatches.max(1)).min(by_work).max(1) as u32;
    let mut left = steps;
    loop {
        let now = left.min(most);
        let mut encoder = device.create_command_encoder(&Default::default());
        encode(&mut encoder, now);
        queue.submit([encoder.finish()]);
        left -= now;
        if left == 0 {
            return;
        }
    }
}

impl Solver {
    /// Records steps and submits them to the queue, for programs that submit nothing else with them. It does not wait.
    pub fn step(&mut self, steps: u32) {
        let substeps = self.settings().substeps;
        let work = Work {
            dispatches: self.plan().step(substeps, 0).count() as u64,
            particle_substeps: u64::from(self.particle_count()) * u64::from(substeps),
        };
        let (device, queue) = (self.device.clone(), self.queue.clone());
        submit((&device, &queue), (steps, work), |encoder, steps| self.encode(encoder, steps));
    }
}

impl Instances {
    /// Records steps and submits them to the queue, for programs that submit nothing else with them. It does not wait.
    pub fn step(&self, steps: u32) {
        let particles = u64::from(self.particle_count()) * u64::from(self.len());
        let work = Work {
            dispatches: u64::from(self.dispatches_per_step()),
            particle_substeps: particles * u64::from(self.settings().substeps),
        };
        submit((&self.device, &self.queue), (steps, work), |encoder, steps| self.encode(encoder, steps));
    }
}
