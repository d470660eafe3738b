//! Steps that a solver submits itself.

use super::solver::Solver;

/// The dispatches of a submission: many enough to amortize it, few enough for drivers that end a long one.
const DISPATCHES: usize = 20_000;

impl Solver {
    /// Records steps and submits them to the queue, for programs that submit nothing else with them. It does not wait.
    pub fn step(&mut self, steps: u32) {
        let dispatches = self.plan().step(self.settings().substeps, 0).count();
        let most = (DISPATCHES / dispatches.max(1)).max(1) as u32;
        let mut left = steps;
        loop {
            let now = left.min(most);
            let mut encoder = self.device.create_command_encoder(&Default::default());
            self.encode(&mut encoder, now);
            self.queue.submit([encoder.finish()]);
            left -= now;
            if left == 0 {
                return;
            }
        }
    }
}
