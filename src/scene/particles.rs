//! Particles of a scene: bodies and grids of them, and changes of single particles after a builder has added them.

use super::{Grid, Scene, TetheredBody};
use crate::error::{Error, Result, check_finite};
use std::ops::Range;

/// A point mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Particle {
    /// Position \[m\].
    pub position: [f32; 3],
    /// Velocity [m/s].
    pub velocity: [f32; 3],
    /// Inverse mass [1/kg]; 0 = permanently pinned.
    pub inverse_mass: f32,
}

impl Default for Particle {
    fn default() -> Self {
        Self { position: [0.0; 3], velocity: [0.0; 3], inverse_mass: 1.0 }
    }
}

impl Scene {
    /// Declares a range of particles as one body, for [`crate::Settings::body_damping`] and [`Scene::renumber`]. The
    /// builders declare their own bodies.
    ///
    /// # Errors
    /// A particle does not exist or belongs to another body.
    pub fn add_body(&mut self, particles: Range<u32>) -> Result<()> {
        if particles.is_empty() {
            return Err(Error::Empty { what: "the particle range of a body" });
        }
        self.check_particle("body", particles.end - 1)?;
        let is_cut = |tied: &&TetheredBody| is_cut(&particles, &tied.particles);
        if let Some(tied) = self.tethered_bodies.iter().find(is_cut) {
            return Err(Error::RepeatedIndex {
                what: "the lists of bodies and of tethered particles".into(),
                target: "particle",
                index: tied.particles.start.max(particles.start),
            });
        }
        match self.bodies.iter().find(|body| body.start < particles.end && particles.start < body.end) {
            None => self.bodies.push(particles),
            Some(body) => {
                let index = body.start.max(particles.start);
                return Err(Error::RepeatedIndex { what: "the list of bodies".into(), target: "particle", index });
            }
        }
        Ok(())
    }

    /// Declares a range of particles as a grid with the given number of columns, row after row. Constraints between its
    /// particles can then be solved in tiles ([`crate::Settings::execution`]). [`crate::ClothGrid`] declares its own
    /// grid. A grid changes the speed and the order of the solve, not its constraints.
    ///
    /// # Errors
    /// A particle does not exist or belongs to another grid, or the last row is incomplete.
    pub fn add_grid(&mut self, particles: Range<u32>, columns: u32) -> Result<()> {
        if particles.is_empty() {
            return Err(Error::Empty { what: "the particle range of a grid" });
        }
        self.check_particle("grid", particles.end - 1)?;
        let count = particles.len() as u32;
        if columns == 0 || !count.is_multiple_of(columns) {
            return Err(Error::invalid("columns of a grid", f64::from(columns), "a divisor of its particles"));
        }
        let end = |grid: &Grid| grid.first + grid.columns * grid.rows;
        match self.grids.iter().find(|grid| grid.first < particles.end && particles.start < end(grid)) {
            None => {
                let place = self.grids.partition_point(|grid| grid.first < particles.start);
                self.grids.insert(place, Grid { first: particles.start, columns, rows: count / columns });
                Ok(())
            }
            Some(grid) => {
                let index = grid.first.max(particles.start);
                Err(Error::RepeatedIndex { what: "the list of grids".into(), target: "particle", index })
            }
        }
    }

    /// Pins a particle. Until it is released, it moves at its own velocity (0 by default) or to a target
    /// ([`crate::Solver::set_target`]).
    ///
    /// # Errors
    /// The particle does not exist, is in reserve for tears or is a follower.
    pub fn pin(&mut self, particle: u32) -> Result<()> {
        self.check_particle("pin", particle)?;
        self.check_in_use("pin", particle)?;
        self.check_no_follower("pin", particle, 1)?;
        self.pinned[particle as usize] = true;
        Ok(())
    }

    /// Sets the initial position of a particle \[m\]. Rest lengths and tethers keep the shape in which it was added.
    /// Its followers move when a solver is created; [`Scene::positions`] returns their old positions.
    ///
    /// # Errors
    /// The particle does not exist or is a follower, or the position is not finite.
    pub fn set_position(&mut self, particle: u32, position: [f32; 3]) -> Result<()> {
        self.check_particle("set_position", particle)?;
        check_finite(|| format!("position of particle {particle}"), position)?;
        self.check_no_follower("position", particle, 1)?;
        self.positions[particle as usize] = position;
        Ok(())
    }

    /// Sets the initial velocity of a particle [m/s].
    ///
    /// # Errors
    /// The particle does not exist or is a follower, or the velocity is not finite.
    pub fn set_velocity(&mut self, particle: u32, velocity: [f32; 3]) -> Result<()> {
        self.check_particle("set_velocity", particle)?;
        check_finite(|| format!("velocity of particle {particle}"), velocity)?;
        self.check_no_follower("velocity", particle, 1)?;
        self.check_in_use("set_velocity", particle)?;
        self.velocities[particle as usize] = velocity;
        Ok(())
    }

    /// Sets the mass of a particle \[kg\]. A pinned particle has this mass after its release; a particle pinned by an
    /// inverse mass of 0 becomes free. Groups ([`crate::ShapeMatching`]) keep the masses of their descriptor.
    ///
    /// # Errors
    /// The particle does not exist or is a follower, or the mass is not finite or less than 1e-12 kg.
    pub fn set_mass(&mut self, particle: u32, mass: f32) -> Result<()> {
        self.check_particle("set_mass", particle)?;
        self.check_no_follower("set_mass", particle, 1)?;
        self.check_in_use("set_mass", particle)?;
        self.inverse_masses[particle as usize] = invert_mass(|| format!("mass of particle {particle}"), mass)?;
        Ok(())
    }
}

/// Returns `Ok` if an inverse mass [1/kg] is in 0 to `MAX_INVERSE_MASS`.
pub(super) fn check_inverse_mass(what: impl FnOnce() -> String, value: f32) -> Result<()> {
    if (0.0..=MAX_INVERSE_MASS).contains(&value) { Ok(()) } else { Err(Error::invalid(what(), value, "0 to 1e12")) }
}

/// The inverse [1/kg] of a mass \[kg\] that a builder has computed.
pub(crate) fn invert_mass(what: impl Fn() -> String, mass: f32) -> Result<f32> {
    if mass > 0.0 && mass.is_finite() {
        check_inverse_mass(|| format!("inverse {}", what()), 1.0 / mass)?;
        return Ok(1.0 / mass);
    }
    Err(Error::invalid(what(), mass, "finite and greater than 0"))
}

/// The greatest inverse mass [1/kg].
const MAX_INVERSE_MASS: f32 = 1e12;

/// Returns true if two ranges overlap and neither contains the other.
pub(super) fn is_cut(a: &Range<u32>, b: &Range<u32>) -> bool {
    let overlap = a.start < b.end && b.start < a.end;
    let within = |a: &Range<u32>, b: &Range<u32>| b.start <= a.start && a.end <= b.end;
    overlap && !within(a, b) && !within(b, a)
}
