//! Seams: particles that distance constraints of rest length 0 hold together. Elements that meet at a seam have no contact
//! with each other, like elements with a common particle.

use crate::constraints::{Distance, Kind, kind_index};
use crate::geometry::{root, unite};
use crate::sim::controls::Controls;

impl Controls {
    /// Finds the seams again; returns true if they have changed. Without any seam so far, `seams` stays empty.
    pub fn renew_seams(&mut self) -> bool {
        let kind = kind_index(Distance::INFO);
        let is_closed = |index: u32, rest_length: f32| match self.changed_constraints.get(&(kind, index)) {
            Some(changed) => is_zero(&changed.current),
            None => rest_length == 0.0,
        };
        let all = (0..).zip(self.scene.distances(0..self.scene.constraint_count_of(Distance::INFO) as u32));
        let closed = all.filter(|(index, own)| is_closed(*index, own.rest_length)).map(|(_, own)| own.particles);
        let mut closed = closed.peekable();
        if closed.peek().is_none() && self.seams.is_empty() {
            return false;
        }
        let count = self.scene.particle_count() as u32;
        let mut parents: Vec<u32> = (0..count).collect();
        closed.for_each(|[a, b]| unite(&mut parents, a, b));
        let seams = (0..count).map(|particle| root(&mut parents, particle)).collect();
        std::mem::replace(&mut self.seams, seams) != self.seams
    }

    /// Prepares for the first seam, if parameters of constraints close it; returns true then.
    pub fn begin_seams(&mut self, kind: usize, parameters: &[Vec<u32>]) -> bool {
        let begins = self.seams.is_empty()
            && kind == kind_index(Distance::INFO)
            && parameters.iter().any(|parameters| is_zero(parameters));
        if begins {
            self.seams = (0..self.scene.particle_count() as u32).collect();
        }
        begins
    }

    /// True if particles of both lists are at one seam.
    pub fn are_sewn(&self, first: &[u32], second: &[u32]) -> bool {
        let seam = |particle: &u32| self.seams[*particle as usize];
        !self.seams.is_empty() && first.iter().any(|own| second.iter().any(|other| seam(own) == seam(other)))
    }
}

/// True if the parameters of a distance constraint have the rest length 0.
pub(super) fn is_zero(parameters: &[u32]) -> bool {
    f32::from_bits(parameters[0]) == 0.0
}
