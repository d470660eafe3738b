//! Checks of the particles that an object names.

use crate::error::{Error, Result};

/// Returns `Ok` if all particles exist and differ. `what` names the object in the error.
pub(crate) fn check_particles(what: impl Fn() -> String, particles: &[u32], particle_count: usize) -> Result<()> {
    // Up to 4 particles are compared pairwise, more are hashed.
    if particles.len() > 4 {
        return check_many(what, particles, particle_count);
    }
    for (position, &particle) in particles.iter().enumerate() {
        check_exists(&what, particle, particle_count)?;
        if particles[..position].contains(&particle) {
            return Err(Error::RepeatedIndex { what: what(), particle });
        }
    }
    Ok(())
}

fn check_many(what: impl Fn() -> String, particles: &[u32], particle_count: usize) -> Result<()> {
    let mut seen = std::collections::HashSet::with_capacity(particles.len());
    for &particle in particles {
        check_exists(&what, particle, particle_count)?;
        if !seen.insert(particle) {
            return Err(Error::RepeatedIndex { what: what(), particle });
        }
    }
    Ok(())
}

/// Returns `Ok` if the particle exists.
pub(crate) fn check_exists(what: &impl Fn() -> String, particle: u32, particle_count: usize) -> Result<()> {
    if (particle as usize) < particle_count {
        return Ok(());
    }
    let (index, count) = (particle.into(), particle_count as u64);
    Err(Error::IndexOutOfRange { what: what(), target: "particle", index, count })
}
