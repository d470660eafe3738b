//! Tethers (long-range attachments): the distance of a particle from a pin is at most the geodesic distance over the
//! rest shape.
//!
//! Each free particle is connected to its nearest pins by a unilateral distance constraint (Kim, Chentanez,
//! Müller-Fischer: *Long Range Attachments: A Method to Simulate Inextensible Clothing in Computer Games*, SCA 2012). A
//! sweep of local constraints propagates a correction by about one particle; a tether acts over its whole length in one
//! pass.

use super::tearing::TearableCloth;
use super::{Scene, TetheredBody};
use crate::error::{Error, Result, check_positive};

/// Parameters of the tethers of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tethers {
    /// Tethers per particle, to its nearest pins, 1 to 8.
    pub per_particle: u32,
    /// The ratio of a tether's length to the geodesic distance: 1 allows no stretch, 1.05 five per cent.
    ///
    /// In wind, the motion of cloth with taut tethers depends on the substep: with more substeps it flutters less. A
    /// scale of 1.03 or no tethers reduces this effect.
    ///
    /// A tether is rigid, so at 1 even an elastic material does not stretch away from its pins. For rubber, omit
    /// tethers, or set 1 plus the intended strain.
    pub scale: f32,
}

/// The greatest number of tethers per particle.
pub(super) const MAX_PER_PARTICLE: u32 = 8;

impl Default for Tethers {
    fn default() -> Self {
        Self { per_particle: 2, scale: 1.0 }
    }
}

impl Tethers {
    pub(crate) fn check(&self) -> Result<()> {
        check_positive("scale of tethers", self.scale)?;
        if !(1..=MAX_PER_PARTICLE).contains(&self.per_particle) {
            return Err(Error::invalid("tethers per particle", f64::from(self.per_particle), "1 to 8"));
        }
        Ok(())
    }
}

impl Scene {
    /// Tethers particles that were added individually. Each is connected to its nearest pins, along the
    /// [`Distance`](crate::Distance) constraints and the triangles among the particles. The rest length of a distance
    /// constraint counts as material length, so add longer springs after this call, which reads only constraints that
    /// exist already. It reads them from the last one backwards, so a call soon after they were added is fast. The builders
    /// tether their own particles.
    ///
    /// # Errors
    /// - A particle does not exist or belongs to another tethered range.
    /// - No distance constraint connects two of the particles.
    /// - [`Error::Unsupported`]: a particle belongs to a cloth that tears.
    /// - A body ([`Scene::add_body`]) overlaps the range without one containing the other.
    /// - [`Tethers`] is out of range.
    pub fn add_tethers(&mut self, particles: std::ops::Range<u32>, tethers: Tethers) -> Result<()> {
        tethers.check()?;
        if particles.is_empty() {
            return Err(Error::Empty { what: "the particle range of tethers" });
        }
        self.check_particle("add_tethers", particles.end - 1)?;
        let tears = |cloth: &TearableCloth| cloth.vertices.start < particles.end && particles.start < cloth.copies.end;
        if self.tearable.iter().any(tears) {
            let instead = "its tethers must follow the tears: use the field tethers of ClothGrid or ClothMesh";
            return Err(Error::Unsupported { what: "add_tethers to a cloth that tears".into(), instead });
        }
        let overlaps = |other: &std::ops::Range<u32>| other.start < particles.end && particles.start < other.end;
        let tied = self.tethered_bodies.iter().map(|body| &body.particles).find(|body| overlaps(body));
        let cut = self.bodies.iter().find(|body| super::particles::is_cut(body, &particles));
        for (other, what) in
            [(tied, "the list of tethered particles"), (cut, "the lists of bodies and of tethered particles")]
        {
            if let Some(other) = other {
                let index = other.start.max(particles.start);
                return Err(Error::RepeatedIndex { what: what.into(), target: "particle", index });
            }
        }
        let edges = 0..self.distance_count();
        let is_own = |particle: &u32| particles.contains(particle);
        // The last constraints come first, because they often belong to these particles.
        if !self.distances(edges.clone()).rev().any(|distance| distance.particles.iter().all(is_own)) {
            return Err(Error::Empty { what: "the set of distance constraints among tethered particles" });
        }
        let triangles = 0..self.triangles.len() as u32;
        self.tethered_bodies.push(TetheredBody { particles, triangles, edges, tethers });
        Ok(())
    }
}

/// A tether in the layout of the shaders.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct TetherRow {
    /// The pin at its end. Tethers are recomputed when pins change.
    pub anchor: u32,
    /// Its length \[m\].
    pub length: f32,
}

/// The force of a taut tether.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetherForce {
    /// The particle, which is pulled towards `anchor`; the anchor is pulled the opposite way.
    pub particle: u32,
    /// The pinned particle at the other end.
    pub anchor: u32,
    /// Force \[N\], greater than 0.
    pub force: f32,
}
