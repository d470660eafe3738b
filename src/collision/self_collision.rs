//! How particles are kept from passing through each other.

use crate::error::{Error, Result};

/// How particles are kept from passing through each other.
///
/// A search on a grid lists the pairs that could come nearer than their thickness plus a margin for as long as all go on as they
/// move. In every substep is looked at whether they do, up to half the margin, between particles up to three tenths of it; only where they do
/// not is searched again: between particles around those that do not, between surfaces everywhere. So no pair that meets is left out, however fast
/// it is, but for what would take too long, which is counted ([`super::ContactReport::lost`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfCollision {
    /// What is kept apart from what.
    pub level: SelfCollisionLevel,
    /// The margin of the search, in thicknesses, 0.05 to 10. More makes searches rarer and lists longer.
    pub margin: f32,
    /// Sweeps over the contacts in a substep, 1 to 64.
    pub iterations: u32,
    /// Room for pairs, by particle, 1 to 256. Pairs that find no room are lost, and counted in
    /// [`super::ContactReport::lost`].
    pub pairs_per_particle: u32,
}

impl Default for SelfCollision {
    fn default() -> Self {
        Self { level: SelfCollisionLevel::Particles, margin: 0.9, iterations: 1, pairs_per_particle: 12 }
    }
}

/// What is kept apart from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelfCollisionLevel {
    /// Particles from particles, as balls: fast, and closed where the thickness is more than 1/√2 of the spacing of the
    /// particles in squares. Particles of one body that are nearer than one and a half thicknesses at rest do not see each other.
    #[default]
    Particles,
    /// Vertices from triangles and edges from edges, whatever the spacing, and as balls particles that are in neither, such as those
    /// of the lattices of soft bodies. Elements of one body that are nearer than
    /// their thickness at rest do not see each other. What all contacts together cannot part is stopped before it crosses, held
    /// particles too: they stay behind their targets where something is in the way that cannot give way. This comes after colliders, within which
    /// it may leave what they push against others. What is entangled nonetheless is
    /// parted where the line of intersection can become shorter, but for what is made so that it crosses itself.
    Surfaces,
}

impl SelfCollision {
    /// The same by vertices, triangles and edges.
    pub fn surfaces() -> Self {
        let level = SelfCollisionLevel::Surfaces;
        Self { level, margin: 0.5, iterations: 4, pairs_per_particle: 48 }
    }

    pub(crate) fn check(&self) -> Result<()> {
        if !(0.05..=10.0).contains(&self.margin) {
            return Err(Error::invalid("margin of the self-collision", self.margin, "0.05 to 10 thicknesses"));
        }
        for (what, count, most, range) in [
            ("iterations of the self-collision", self.iterations, 64, "1 to 64"),
            ("pairs per particle of the self-collision", self.pairs_per_particle, 256, "1 to 256"),
        ] {
            if !(1..=most).contains(&count) {
                return Err(Error::invalid(what, f64::from(count), range));
            }
        }
        Ok(())
    }
}
