//! The constraints within the closed surfaces of [`Pressure`] constraints.
//!
//! Skin and gas act against each other even at rest. In Gauss-Seidel, each constraint of a skin is evaluated after the
//! corrections of previous ones, so their torques do not cancel. In a fixed order of colours the surface gains angular
//! momentum in each substep. Mass splitting evaluates all constraints at the same positions, so the torques cancel to
//! rounding.

use super::ConstraintSet;
use crate::constraints::{Kind, Pressure, kind_index};
use crate::geometry::grouped;

/// The closed surfaces of each particle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skins {
    offsets: Vec<u32>,
    surfaces: Vec<u32>,
}

impl Skins {
    /// Builds the map from the constraints of all kinds, in the order of [`crate::constraints::KINDS`].
    pub fn new(sets: &[ConstraintSet], particle_count: usize) -> Self {
        let set = &sets[kind_index(Pressure::INFO)];
        if set.len() == 0 {
            return Self::default();
        }
        let members = (0u32..).zip(set.records()).flat_map(|(surface, record)| {
            set.info.particles(record, &set.rows).map(move |particle| (particle, surface))
        });
        let members: Vec<(u32, u32)> = members.collect();
        let (offsets, surfaces) = grouped(particle_count, members.iter().copied());
        Self { offsets, surfaces }
    }

    fn surfaces_of(&self, particle: u32) -> &[u32] {
        match (self.offsets.get(particle as usize), self.offsets.get(particle as usize + 1)) {
            (Some(&first), Some(&end)) => &self.surfaces[first as usize..end as usize],
            _ => &[],
        }
    }

    /// The constraints of a kind whose particles all belong to one surface, in ascending order; empty for group kinds.
    pub fn constraints_of(&self, set: &ConstraintSet) -> Vec<u32> {
        if self.surfaces.is_empty() || set.info.is_group() {
            return Vec::new();
        }
        let is_inside = |&constraint: &u32| {
            let particles = set.particles_of(constraint);
            let of_all = |surface| particles.iter().all(|&particle| self.surfaces_of(particle).contains(surface));
            self.surfaces_of(particles[0]).iter().any(of_all)
        };
        (0..set.len() as u32).filter(is_inside).collect()
    }
}
