//! Followers: particles without mass that are where four others say, for surfaces that are drawn but not simulated.

use super::{Particle, Scene};
use crate::error::{Error, Result, check_finite};
use glam::Vec3;

/// A particle that is where four others say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Follower {
    pub particle: u32,
    pub sources: [u32; 4],
    /// Of sum 1.
    pub weights: [f32; 4],
}

impl Follower {
    /// Σ w x, in the frame of the first source, so that rounding is that of the differences.
    pub fn place(&self, x: impl Fn(u32) -> Vec3) -> Vec3 {
        let origin = x(self.sources[0]);
        let offset = (1..4).fold(Vec3::ZERO, |sum, k| sum + (x(self.sources[k]) - origin) * self.weights[k]);
        origin + offset
    }
}

/// Whether a particle is one of the followers, which are in ascending order.
pub(crate) fn follows(followers: &[Follower], particle: u32) -> bool {
    followers.binary_search_by_key(&particle, |follower| follower.particle).is_ok()
}

impl Scene {
    /// `Ok` if none of `count` particles from `first` on is a follower.
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
            positions[follower.particle as usize] = place.into();
        }
    }

    /// Adds a particle without mass that follows four others: it is wherever Σ `weights`\[k\] x(`sources`\[k\]) is at the end of
    /// a step. For surfaces that are drawn but not simulated: what is tied to one is held as by a pin, where it was at the end of the step
    /// before, and does not pull at its sources.
    ///
    /// # Errors
    /// The sources must exist and follow nothing themselves, the weights must be at most 1000 either way and have the sum 1 (to
    /// 1e-3).
    pub fn add_follower(&mut self, sources: [u32; 4], weights: [f32; 4]) -> Result<u32> {
        let what = || format!("follower {}", self.followers.len());
        for source in sources {
            self.check_particle(&what(), source)?;
            if follows(&self.followers, source) {
                return Err(Error::invalid(format!("source of {}", what()), source, "a particle that follows nothing"));
            }
        }
        if let Some(weight) = weights.into_iter().find(|weight| !(-1e3..=1e3).contains(weight)) {
            return Err(Error::invalid(format!("weight of {}", what()), weight, "-1000 to 1000"));
        }
        let sum: f32 = weights.iter().sum();
        if !(0.999..=1.001).contains(&sum) {
            return Err(Error::invalid(format!("sum of the weights of {}", what()), sum, "1"));
        }
        self.check_room("particles", 1)?;
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
