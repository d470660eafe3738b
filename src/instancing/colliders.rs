//! Loop iterations of instances with colliders. The shader is `shaders/instancing/parts/collide.wgsl`.

use crate::error::{Error, Result};
use crate::instancing::asset::MOST_THREADS;
use crate::instancing::pool::InstancePool;
use crate::schedule::compiled::MAX_LOOP;

/// Iterations of conservative advancement, and one more; `MOST_ADVANCES` in `shaders/collision/collide/response.wgsl`.
const SWEEP: u64 = 25;

/// Samples of a particle at a collider besides those of its sweep.
const SAMPLES: u64 = 4;

/// Iterations of the search along an axis for an exit, and two more; `MARCHES` in
/// `shaders/collision/collide/exits.wgsl`.
const MARCH: u64 = 34;

impl InstancePool {
    /// Number of threads of an instance with colliders, for this subgroup width.
    pub fn threads_with_colliders(&self, subgroup: usize) -> usize {
        let iterations = |threads| self.loop_iterations(threads, 1, self.contact_iterations(threads));
        self.asset.threads(self.has_tiles(), subgroup, iterations)
    }

    /// Number of substeps that one dispatch runs with colliders. Results do not depend on it.
    ///
    /// The search for an exit takes many iterations, and is counted for every particle. A substep that may exceed the
    /// limit by that alone is a dispatch of its own.
    pub fn substeps_per_dispatch(&self, threads: usize) -> u32 {
        let extra = self.contact_iterations(threads) + self.exit_iterations(threads);
        let [one, two] = [1, 2].map(|substeps| self.loop_iterations(threads, substeps, extra));
        let further = MAX_LOOP.saturating_sub(one) / (two - one).max(1);
        let most = self.controls.settings.substeps;
        u32::try_from(1 + further).map_or(most, |count| count.min(most))
    }

    /// `Ok` if the loop iterations of a thread in a substep with colliders are within the limit.
    pub fn check_collider_iterations(&self) -> Result<()> {
        if self.controls.colliders.is_empty() {
            return Ok(());
        }
        let count = self.loop_iterations(MOST_THREADS, 1, self.contact_iterations(MOST_THREADS));
        if count <= MAX_LOOP {
            return Ok(());
        }
        let what = "loop iterations of a thread that runs a substep of an instance with colliders";
        Err(Error::TooLarge { what, count, limit: MAX_LOOP })
    }

    /// Iterations of a thread in a substep by contacts with colliders. A particle sweeps along one collider, and reads
    /// the bounds of all once, and twice more for the gap between two colliders.
    fn contact_iterations(&self, threads: usize) -> u64 {
        let own = &self.controls.colliders;
        let (count, planes) = (own.len() as u64, u64::from(own.most_planes()));
        let particles = self.particle_count().div_ceil(threads) as u64;
        let bounds = if count > 1 { 3 * (count + 3) } else { count + 3 };
        let sweep = SWEEP + planes * (SWEEP + SAMPLES);
        // The bounds of all particles of the thread come first.
        2 + particles + count + particles * (4 + bounds + sweep)
    }

    /// Iterations of a thread in a substep by exits: those of one collider, and as many again for exits that are
    /// blocked.
    fn exit_iterations(&self, threads: usize) -> u64 {
        let own = &self.controls.colliders;
        let (count, planes) = (own.len() as u64, u64::from(own.most_planes()));
        let exits = if count > 1 { (planes + 1).max(7) } else { 0 };
        let particles = self.particle_count().div_ceil(threads) as u64;
        particles * 2 * exits * (MARCH + 2 * (count + 3) + planes)
    }
}
