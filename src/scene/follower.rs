//! Followers: massless particles whose positions are weighted sums of four others, for render surfaces.

use super::{Particle, Scene};
use crate::error::{Error, Result, check_finite};
use glam::Vec3;

/// A massless particle at the weighted mean of four others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Follower {
    pub particle: u32,
    pub sources: [u32; 4],
    /// The weights; their sum is 1.
    pub weights: [f32; 4],
}

impl Follower {
    /// The position Σ w x, computed relative to the first source for precision.
    pub fn place(&self, x: impl Fn(u32) -> Vec3) -> Vec3 {
        let origin = x(self.sources[0]);
        let offset = (1..4).fold(Vec3::ZERO, |sum, k| sum + (x(self.sources[k]) - origin) * self.weights[k]);
        origin + offset
    }
}

/// Returns true if the particle is in the sorted list of followers.
pub(crate) fn follows(followers: &[Follower], particle: u32) -> bool {
    followers.binary_search_by_key(&particle, |follower| follower.particle).is_ok()
}

impl Scene {
    /// Returns `Ok` if none of `count` particles from `first` on is a follower.
    pub(crate) fn check_no_follower(&self, what: &str, first: u32, count: u32) -> Result<()> {
        let place = self.followers.partition_point(|follower| follower.particle < first);
        match self.followers.get(place) {
            Some(follower) if follower.particle - first < count => {
                Err(Error::Follower { what: what.into(), particle: follower.particle })
            }
            _ => Ok(()),
        }
    }

    /// Sets the positions of all followers from those of their sources.
    pub(crate) fn place_followers(&mut self) {
        let positions = &mut self.positions;
        for follower in &self.followers {
            let place = follower.place(|source| Vec3::from(positions[source as usize]));
            // The weighted sum of finite positions may overflow.
            if place.is_finite() {
                positions[follower.particle as usize] = place.into();
            }
        }
    }

    /// Adds a massless particle that follows four others: at the end of each step its position is Σ `weights`\[k\]
    /// x(`sources`\[k\]). Use followers for surfaces that are rendered but not simulated.
    ///
    /// For constraints, a follower is a pin at its position of the previous step; they exert no force on its sources.
    ///
    /// # Errors
    /// - A source does not exist, is a follower or is in reserve for tears.
    /// - A weight exceeds 1000 in magnitude, or the sum of the weights differs from 1 by more than 1e-3.
    pub fn add_follower(&mut self, sources: [u32; 4], weights: [f32; 4]) -> Result<u32> {
        let what = || format!("follower {}", self.followers.len());
        for source in sources {
            self.check_particle(&what(), source)?;
            self.check_in_use(&what(), source)?;
            if follows(&self.followers, source) {
                return Err(Error::invalid(
                    format!("source of {}", what()),
                    source,
                    "a particle that is not a follower",
                ));
            }
        }
        if let Some(weight) = weights.into_iter().find(|weight| !(-1e3..=1e3).contains(weight)) {
            return Err(Error::invalid(format!("weight of {}", what()), weight, "-1000 to 1000"));
        }
        let sum: f32 = weights.iter().sum();
        if !(0.999..=1.001).contains(&sum) {
            return Err(Error::invalid(format!("sum of the weights of {}", what()), sum, "1"));
        }
        self.check_capacity("particles", 1)?;
        let follower = Follower { particle: 0, sources, weights };
        let place = follower.place(|source| Vec3::from(self.positions[source as usize]));
        check_finite(|| format!("place of {}", what()), place.into())?;
        Ok(self.push_follower(sources, weights))
    }

    pub(super) fn push_follower(&mut self, sources: [u32; 4], weights: [f32; 4]) -> u32 {
        let particle = self.positions.len() as u32;
        let follower = Follower { particle, sources, weights };
        let position = follower.place(|source| Vec3::from(self.positions[source as usize])).into();
        self.push_particle(Particle { position, velocity: [0.0; 3], inverse_mass: 0.0 });
        self.followers.push(follower);
        particle
    }
}
