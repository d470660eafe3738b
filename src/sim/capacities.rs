//! Capacities of the lists of self-collision, and the rule by which they grow.

use crate::collision::SelfCollision;

/// Largest capacity of a list: contacts are found by 32-bit numbers of threads.
const MOST: u64 = u32::MAX as u64 / 64;

/// Capacity of the contact list for a capacity of the pair list.
pub(crate) fn contact_capacity(pairs: u64) -> u64 {
    pairs.div_ceil(2).max(64)
}

/// Capacities of the pair list and of the contact list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Capacities {
    pub pairs: u32,
    pub contacts: u32,
    /// The number of times that a list has grown.
    pub growths: u32,
    /// True if the lists do not grow.
    pub is_fixed: bool,
}

impl Capacities {
    /// The capacities at the start.
    pub fn new(particle_count: usize, own: Option<SelfCollision>) -> Self {
        let pairs = own.map_or(0, |own| u64::from(own.pairs_per_particle) * particle_count as u64);
        let is_fixed = own.is_some_and(|own| own.fixed_capacity);
        let capacity = |count: u64| count.min(MOST) as u32;
        Self { pairs: capacity(pairs), contacts: capacity(contact_capacity(pairs)), growths: 0, is_fixed }
    }

    /// Larger capacities if one of the lists needs more than three quarters of its entries: twice its need, at most
    /// `most`. Lists thus grow before they are full, unless the need jumps.
    pub fn grown(self, [pairs, contacts]: [u32; 2], most: [u64; 2]) -> Option<Self> {
        let grown = |capacity: u32, needed: u32, most: u64| {
            let is_short = u64::from(needed) * 4 > u64::from(capacity) * 3;
            let larger = (2 * u64::from(needed)).min(most).min(MOST) as u32;
            if is_short { larger.max(capacity) } else { capacity }
        };
        let pairs = grown(self.pairs, pairs, most[0]);
        // The list of contacts follows that of pairs, as at the start.
        let follows = contact_capacity(pairs.into()).min(most[1]) as u32;
        let contacts = grown(self.contacts, contacts, most[1]).max(follows);
        let is_larger = pairs > self.pairs || contacts > self.contacts;
        (is_larger && !self.is_fixed).then_some(Self { pairs, contacts, growths: self.growths + 1, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: [u64; 2] = [u64::MAX; 2];

    #[test]
    fn lists_grow_before_they_are_full_and_up_to_the_limit() {
        let start = Capacities::new(10, Some(SelfCollision { pairs_per_particle: 20, ..SelfCollision::surfaces() }));
        assert_eq!(start, Capacities { pairs: 200, contacts: 100, growths: 0, is_fixed: false });
        let once = Capacities { growths: 1, ..start };
        assert_eq!(start.grown([150, 75], ANY), None);
        assert_eq!(start.grown([151, 75], ANY), Some(Capacities { pairs: 302, contacts: 151, ..once }));
        assert_eq!(start.grown([0, 76], ANY), Some(Capacities { contacts: 152, ..once }));
        let limited = Capacities { pairs: 3000, contacts: 700, ..once };
        assert_eq!(start.grown([5000, 0], [3000, 700]), Some(limited));
        // A limit below the capacity does not shrink it.
        assert_eq!(start.grown([5000, 5000], [100, 10]), None);
        assert_eq!(Capacities { is_fixed: true, ..start }.grown([5000, 5000], ANY), None);
        assert!(start.grown([u32::MAX; 2], ANY).is_some_and(|grown| u64::from(grown.pairs) == MOST));
    }
}
