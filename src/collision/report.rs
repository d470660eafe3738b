//! What can be read of contacts.

/// What particles have done to a collider in a step, on average over its time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ColliderForce {
    /// \[N\]
    pub force: [f32; 3],
    /// About the collider's position \[N m\].
    pub torque: [f32; 3],
}

/// What has been counted of contacts between particles, since the start, the last reset or the last change of
/// [`crate::Settings::self_collision`] where nothing else is said. Contacts with colliders are not in it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct ContactReport {
    /// Pairs in the list.
    pub pairs: u32,
    /// Pairs that met in the last substep.
    pub contacts: u32,
    /// The most pairs that were in it.
    pub most_pairs: u32,
    /// The most pairs that met in a substep.
    pub most_contacts: u32,
    /// Pairs and contacts that found no room, for which [`super::SelfCollision::pairs_per_particle`] can be raised or the margin
    /// lowered; and elements that had more than 16 384 others around them, or a way of more than 4096 cells in a substep.
    pub lost: u32,
    /// By how much of their thickness two things overlapped at the start of a substep, at most \[m\].
    pub deepest: f32,
    /// Searches.
    pub searches: u32,
    /// How often the way of a particle was cut, as it would have passed through something after all corrections, or would have left, from
    /// where it was stuck, to where nothing was sought. Only between surfaces.
    pub truncated: u32,
    /// Edges that passed through triangles at the end of the last step, as far as rounded arithmetic tells. The solver is parting them. `None`
    /// unless the level is [`super::SelfCollisionLevel::Surfaces`]: at the level of particles edges may cross, and nothing counts them
    /// ([`crate::scene::count_intersections`] does on the host).
    pub crossings: Option<u32>,
}
