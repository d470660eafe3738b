//! Targets of pinned particles.

use crate::error::{Error, Result, check_finite};
use crate::sim::controls::Controls;
use crate::sim::params::Target;
use std::ops::Range;

impl Controls {
    /// `Ok` if the particles can have these targets.
    pub fn check_targets(&self, what: &str, targets: &[(u32, [f32; 3])]) -> Result<()> {
        for &(particle, position) in targets {
            self.scene.check_particle(what, particle)?;
            check_finite(|| format!("target of particle {particle}"), position)?;
            self.scene.check_no_follower(what, particle, 1)?;
            self.check_not_skinned(what, particle)?;
            if !self.is_pinned(particle) {
                return Err(Error::NotPinned { particle });
            }
        }
        Ok(())
    }

    /// An upper bound of the number of targets after [`Controls::set_targets`].
    pub fn most_targets_with(&self, targets: &[(u32, [f32; 3])]) -> usize {
        let new = targets.iter().filter(|(particle, _)| !self.target_of.contains_key(particle)).count();
        self.targets.len() + new
    }

    /// Sets the positions of pinned particles at the end of the next step and of later ones; returns the range in
    /// `targets` that contains all of them. The targets must have been checked.
    pub fn set_targets(&mut self, targets: &[(u32, [f32; 3])]) -> Range<usize> {
        let (mut first, mut end) = (usize::MAX, 0);
        for &(particle, position) in targets {
            let place = self.put_target(particle, position);
            (first, end) = (first.min(place), end.max(place + 1));
        }
        first.min(end)..end
    }

    /// Sets a target; returns its index in `targets`.
    pub(super) fn put_target(&mut self, particle: u32, position: [f32; 3]) -> usize {
        let place = *self.target_of.entry(particle).or_insert(self.targets.len());
        if place == self.targets.len() {
            self.targets.push(Target::default());
        }
        self.targets[place] = Target { position, particle };
        place
    }

    /// Removes the targets of particles; returns those that had one.
    pub fn clear_targets(&mut self, particles: &[u32]) -> Result<Vec<u32>> {
        particles.iter().try_for_each(|&particle| self.scene.check_particle("clear_targets", particle))?;
        Ok(particles.iter().copied().filter(|&particle| self.remove_target(particle)).collect())
    }

    /// Removes the target of a particle; false if it has none.
    pub(super) fn remove_target(&mut self, particle: u32) -> bool {
        let Some(place) = self.target_of.remove(&particle) else { return false };
        self.targets.swap_remove(place);
        if let Some(moved) = self.targets.get(place) {
            self.target_of.insert(moved.particle, place);
        }
        true
    }

    pub(super) fn clear_all_targets(&mut self) {
        self.targets.clear();
        self.target_of.clear();
    }

    /// Sets the targets of the particles from `first` on to the given positions; returns their indices in `targets`.
    pub fn move_targets(&mut self, first: u32, positions: &[[f32; 3]]) -> Vec<usize> {
        let end = first + positions.len() as u32;
        let places: Vec<usize> = self.target_of.range(first..end).map(|(_, &place)| place).collect();
        for &place in &places {
            let target = &mut self.targets[place];
            target.position = positions[(target.particle - first) as usize];
        }
        places
    }
}
