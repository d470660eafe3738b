//! Steps that a solver or instances submit themselves.

use super::instances::Instances;
use super::solver::Solver;
use wgpu::{CommandEncoder, Device, Queue};

/// The dispatches of a submission: many enough to amortize it, few enough for drivers that end a long one.
const DISPATCHES: usize = 20_000;

/// Records and submits steps of so many dispatches each.
fn submit(
    (device, queue): (&Device, &Queue),
    (steps, dispatches): (u32, usize),
    mut encode: impl FnMut(&mut CommandEncoder, u32),
) {
    let most = (DISPATCHES / dispatches.max(1)).max(1) as u32;
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
        let dispatches = self.plan().step(self.settings().substeps, 0).count();
        let (device, queue) = (self.device.clone(), self.queue.clone());
        submit((&device, &queue), (steps, dispatches), |encoder, steps| self.encode(encoder, steps));
    }
}

impl Instances {
    /// Records steps and submits them to the queue, for programs that submit nothing else with them. It does not wait.
    pub fn step(&self, steps: u32) {
        let dispatches = self.dispatches_per_step() as usize;
        submit((&self.device, &self.queue), (steps, dispatches), |encoder, steps| self.encode(encoder, steps));
    }
}
