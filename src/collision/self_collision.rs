//! Settings of contacts between particles and between surfaces.

use crate::error::{Error, Result};

/// Factors of the correction of a contact, and of the change of its multipliers in the iteration before: the heavy ball
/// method (Polyak 1964). With mass splitting it converges for corrections below 2 (1 + `HEAVY_BALL`).
pub(crate) const CORRECTION: f32 = 1.8;
pub(crate) const HEAVY_BALL: f32 = 0.4;

/// Settings of contacts between particles or between surfaces.
///
/// A grid search lists all pairs whose distance can fall below their thickness plus a margin at their mean velocities
/// since the last search. Each substep compares the motion with this prediction. A new search runs if a deviation
/// exceeds half the margin. So no contact is missed at any speed, except for those that
/// [`super::ContactReport::lost`] counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfCollision {
    /// The elements that collide.
    pub level: SelfCollisionLevel,
    /// Margin of the search, 0.05 to 10, in thicknesses: in multiples of the geometric mean of those of all particles, without
    /// their scales. A greater margin makes searches rarer and lists longer.
    pub margin: f32,
    /// Sweeps over the contacts per substep, 1 to 64. `None`: 4 between particles, 6 between surfaces, and 10 if the scene
    /// has shape matching, since stacks of rigid bodies rock for seconds with fewer.
    pub iterations: Option<u32>,
    /// Capacity of the pair list per particle at the start, 1 to 256. The list of contacts has half as many entries.
    ///
    /// A list that is more than three quarters full is replaced by a larger one. The GPU does so at the next
    /// [`crate::Solver::encode`] after the count has arrived at the host. If the list is full earlier, pairs are lost
    /// ([`super::ContactReport::lost`]): surfaces then stand still ([`super::ContactReport::halted`]), particles pass
    /// through each other.
    pub pairs_per_particle: u32,
    /// True: the lists keep their capacity. The memory does not grow, and a full list is full in each run alike.
    pub fixed_capacity: bool,
}

impl Default for SelfCollision {
    fn default() -> Self {
        Self {
            level: SelfCollisionLevel::Particles,
            margin: 0.5,
            iterations: None,
            pairs_per_particle: 12,
            fixed_capacity: false,
        }
    }
}

/// The elements that collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelfCollisionLevel {
    /// Particles with particles, as spheres: fast. On a square grid, the surface is closed if the thickness exceeds
    /// 1/√2 of the particle spacing. Particles of one body do not collide if their rest distance is less than 1.5
    /// thicknesses.
    #[default]
    Particles,
    /// Vertices with triangles and edges with edges, at any particle spacing. Particles of neither, such as lattice
    /// particles of soft bodies, collide as spheres, also with the points of ropes and rods. Elements of one body do not
    /// collide if their rest distance is less than 1.05 thicknesses, spheres if it is less than 1.5 thicknesses.
    ///
    /// Displacements that the contacts cannot separate are truncated before they cross, also those of pinned particles,
    /// which then lag behind their targets. Truncation follows the colliders, so a particle that others hold back may
    /// remain inside a collider. While pairs are missing because a list is full, all particles stand still.
    ///
    /// Existing intersections are resolved where the intersection contour can become shorter. Intersections of the rest
    /// shape are kept.
    Surfaces,
}

impl SelfCollision {
    /// The default settings for [`SelfCollisionLevel::Surfaces`].
    pub fn surfaces() -> Self {
        let level = SelfCollisionLevel::Surfaces;
        Self { level, pairs_per_particle: 48, ..Self::default() }
    }

    /// The sweeps over the contacts of a scene with or without shape matching.
    pub(crate) fn sweeps(&self, matches_shapes: bool) -> u32 {
        self.iterations.unwrap_or(match self.level {
            _ if matches_shapes => 10,
            SelfCollisionLevel::Particles => 4,
            SelfCollisionLevel::Surfaces => 6,
        })
    }

    pub(crate) fn check(&self) -> Result<()> {
        if !(0.05..=10.0).contains(&self.margin) {
            return Err(Error::invalid("margin of the self-collision", self.margin, "0.05 to 10 thicknesses"));
        }
        for (what, count, most, range) in [
            ("iterations of the self-collision", self.iterations.unwrap_or(1), 64, "1 to 64"),
            ("pairs per particle of the self-collision", self.pairs_per_particle, 256, "1 to 256"),
        ] {
            if !(1..=most).contains(&count) {
                return Err(Error::invalid(what, f64::from(count), range));
            }
        }
        Ok(())
    }
}
