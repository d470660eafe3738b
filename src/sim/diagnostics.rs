//! Counters of faults.

/// Counters since the start or the last reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagnostics {
    /// Steps that have run.
    pub steps: u32,
    /// Quarantined particles, each counted once a step: their position would have become NaN or infinite, so they stay at rest at
    /// their last finite position in that step. A follower also counts when a change of positions places it anew.
    pub non_finite_count: u32,
    /// The lowest index of a particle that was quarantined. From the number of particles on: that of an orientation of a rod, plus
    /// this number. [`crate::Instances::owner`] names the instance.
    pub first_non_finite: Option<u32>,
    /// Contacts of a particle with more than two colliders in a step, whose forces are not counted: one a substep and collider, or two if surfaces
    /// are kept apart.
    pub lost_collider_contacts: u32,
}
