//! Checks of a compiled scene against limits of the GPU.

use super::compiled::{CompiledScene, MAX_LOOP};
use crate::constraints::group;
use crate::error::{Error, Result};
use crate::scene::{Scene, TetherGraph, rows_of};
use crate::settings::Settings;

/// Tether rows are numbered with 28 bits.
const MOST_TETHERS: u64 = 1 << 28;

impl CompiledScene {
    /// `Ok` if the number of tethers of a scene is within the limit.
    pub fn check_tethers(scene: &Scene) -> Result<()> {
        let rows = TetherGraph::runs(scene)
            .map(|(_, count, per_particle)| u64::from(count) * u64::from(rows_of(per_particle)));
        let (count, limit) = (rows.sum(), MOST_TETHERS);
        if count <= limit { Ok(()) } else { Err(Error::TooLarge { what: "tethers", count, limit }) }
    }

    /// `Ok` if the damping of every body, and the restored momentum of every skin, stays within the limit of loop
    /// iterations: three loops over its particles.
    pub fn check_bodies(&self, settings: &Settings) -> Result<()> {
        let damped = if settings.body_damping > 0.0 { &self.bodies[..] } else { &[] };
        let limit = MAX_LOOP / 3 * group::THREADS as u64;
        for (what, rows) in
            [("particles of a body that is damped", damped), ("particles of closed surfaces", &self.skins.rows)]
        {
            let count = rows.iter().map(|&[_, count]| u64::from(count)).max().unwrap_or(0);
            if count > limit {
                return Err(Error::TooLarge { what, count, limit });
            }
        }
        Ok(())
    }
}
